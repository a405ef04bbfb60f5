"""A study of interpretations as files: a document with figures and tables, which is its page too."""

from collections.abc import Sequence
from typing import Any, ClassVar

from narxbench.pipeline.plan import ABOUT, DESIGN_CHOICES, REFERENCE
from narxbench.pipeline.simulated import SimulatedPlan

# What pages say of the interpretations, as frames.
OVERVIEWS = "nearness claim_overview role_verdicts found effects_overview"
_TABLES = f"{OVERVIEWS} deviances effects claims contests gaps values"
_FIGURES = "published_reproduced claims effects ranking gaps"


class InterpretationsPlan(SimulatedPlan):
    """Every condition is compared with the published values."""

    rules: ClassVar[Sequence[str]] = ("data", "search", "analysis", "report")
    frame_names = "conditions"

    @property
    def interpretations_frame(self) -> str:
        """The conditions that the document is about."""
        return self.frames()["conditions"]

    def documents(self) -> list[str]:
        """Return what the study of interpretations says: document, figures, tables."""
        folder = f"{self.reports}/interpretations"
        files = [*(f"{name}.svg" for name in _FIGURES.split()), *(f"{name}.csv" for name in _TABLES.split())]
        return [f"{folder}.md", *(f"{folder}/{name}" for name in files)]

    def kept_results(self) -> list[str]:
        """Return the frame that other studies read."""
        return [self.interpretations_frame]

    def page_files(self) -> dict[str, Any]:
        """Return what the page is made of, by name."""
        document, *others = self.documents()
        figures = [path for path in others if path.endswith(".svg")]
        return {"document": document, "document_figures": figures, "about": ABOUT}

    def given(self) -> list[str]:
        """Return the files of the repository, and the recorded inputs, that steps read."""
        published = [f"{REFERENCE}/{name}" for name in ("published_tables.csv", "system_terms.csv", "claims.yaml")]
        own = [path for path in (DESIGN_CHOICES, self.interpretations_frame) if not path.startswith(self.data)]
        return list(dict.fromkeys([*published, *own, *super().given()]))
