"""The study of the paper: all its systems, SNRs, methods and criteria on one realisation of the data."""

from typing import Literal

import pydantic

from narxbench._io.settings import Mistake, SettingsError
from narxbench._study.settings import Absent, Study


class PaperStudy(Study):
    """A study whose page has the paper's tables, figures and claims."""

    kind: Literal["paper"]
    """The paper's tables, figures and claims."""
    variations: Absent = None
    scenarios: Absent = None

    @pydantic.model_validator(mode="after")
    def _one_data_set(self) -> "PaperStudy":
        if len(self.data.seeds) > 1:
            text = f"found {len(self.data.seeds)} seeds; allowed: one, for the paper's tables show one data set"
            raise SettingsError([Mistake(("data", "seeds"), text)])
        return self
