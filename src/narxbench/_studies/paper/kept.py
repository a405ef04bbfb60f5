"""The results that the repository keeps of the study of interpretations, for the boxes of a run's pages.

They are not part of a run: a page is complete without them, and its boxes name the missing ones.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from narxbench._io.files import read_text
from narxbench._report.markup import read_svg
from narxbench._studies.paper.claims import VERDICTS
from narxbench._studies.paper.frames import UNDECIDED, read_frame
from narxbench._studies.paper.kept_files import FILES
from narxbench._studies.paper.printed import KEPT_ROLES
from narxbench._study.run_record import RunRecord, read_run_record

_FRAMES = {
    "kept_conditions": "conditions",
    "kept_nearness": "nearness",
    "kept_verdicts": "role_verdicts",
    "kept_values": "values",
}
_FIGURES = {"kept_effects", "kept_scatter"}
_JOINT, _ALL_CRITERIA = "joint", "all"


@dataclass(frozen=True)
class KeptResults:
    """The kept results: frames by the names of their files, the document on interpretations, and its figures.

    ``missing`` are the files that this checkout lacks.
    """

    frames: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    record: RunRecord | None = None
    document: str = ""
    figures: Mapping[str, str] = field(default_factory=dict)
    missing: Sequence[str] = tuple(FILES.values())

    @property
    def searches(self) -> int | None:
        """The number of searches behind the kept results, or None where they are missing."""
        conditions = self.frames.get("kept_conditions")
        return None if conditions is None else int(conditions["runs"].sum())

    @property
    def data_seeds(self) -> int | None:
        """The number of data seeds, or None where the conditions are missing."""
        conditions = self.frames.get("kept_conditions")
        return None if conditions is None else int(conditions["data_seed"].nunique())

    @property
    def values(self) -> pd.DataFrame | None:
        """The medians of the values of the paper's tables, or None where they are missing."""
        return self.frames.get("kept_values")

    def differing(self, role: str) -> dict[str, Any] | None:
        """Return how the values under an interpretation differ from the paper's, or None without kept results."""
        nearness = self.frames.get("kept_nearness")
        if nearness is None:
            return None
        is_whole = (nearness["algorithm"] == _JOINT) & (nearness["criteria"] == _ALL_CRITERIA)
        rows = nearness[is_whole & (nearness["role"] == role)].to_dict("records")
        return {str(key): value for key, value in rows[0].items()} if rows else None

    def verdicts(self, role: str) -> dict[str, dict[str, Any]]:
        """Return the majority verdicts under an interpretation by claim, with their counts of data sets."""
        verdicts = self.frames.get("kept_verdicts")
        if verdicts is None:
            return {}
        rows = verdicts[verdicts["role"] == role].to_dict("records")
        return {row["claim"]: {str(key): value for key, value in row.items()} for row in rows}

    def verdict_counts(self, role: str) -> dict[str, int]:
        """Return how many claims have each verdict by majority: holds, undecided and fails."""
        counts = Counter(row["verdict"] for row in self.verdicts(role).values())
        return {word: counts[word] for word in (VERDICTS[True], UNDECIDED, VERDICTS[False])}

    @property
    def roles(self) -> tuple[str, ...]:
        """The interpretations of which values and verdicts are kept."""
        return KEPT_ROLES


def load_kept(files: Mapping[str, Any]) -> KeptResults:
    """Read the kept results from files by name, of which any may be missing."""
    there = {name: files[name] for name in FILES if name in files.keys()}  # noqa: SIM118 - a job's input is no mapping
    frames = {name: read_frame(frame, there[name]) for name, frame in _FRAMES.items() if name in there}
    figures = {}
    for name in _FIGURES & there.keys():
        figures[f"interpretations/{Path(there[name]).name}"] = read_svg(there[name])
    return KeptResults(
        frames=frames,
        record=read_run_record(there["kept_record"]) if "kept_record" in there else None,
        document=read_text(there["kept_document"]) if "kept_document" in there else "",
        figures=figures,
        missing=[file for name, file in FILES.items() if name not in there],
    )
