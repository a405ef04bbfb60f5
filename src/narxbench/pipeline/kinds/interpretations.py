"""A study of interpretations as files: a document with figures and tables, which is its page too."""

from collections.abc import Sequence
from typing import ClassVar

from narxbench.pipeline.plan import DESIGN_CHOICES, HERE, REFERENCE
from narxbench.pipeline.simulated import SimulatedPlan

# What pages say of the interpretations, as frames.
OVERVIEWS = "nearness claim_overview role_verdicts found effects_overview"
_TABLES = f"{OVERVIEWS} deviances effects claims contests gaps values"
_FIGURES = "published_reproduced claims effects ranking gaps"


class InterpretationsPlan(SimulatedPlan):
    """Every condition is compared with the published values."""

    rules: ClassVar[Sequence[str]] = ("data", "search", "analysis", "report")
    frame_names = "conditions"
    # The conditions that the document is about, where they are not those of this study.
    kept_conditions = ""

    def _declare(self) -> None:
        folder = f"{self.reports}/interpretations"
        figures = [f"{folder}/{name}.svg" for name in _FIGURES.split()]
        self.documents = [f"{folder}.md", *figures, *(f"{folder}/{name}.csv" for name in _TABLES.split())]
        # What the document and the page are made of.
        self.read = {
            "conditions": self.kept_conditions or self.frames()["conditions"],
            "choices": DESIGN_CHOICES,
            "published": f"{REFERENCE}/published_tables.csv",
            "system_terms": f"{REFERENCE}/system_terms.csv",
            "claims": f"{REFERENCE}/claims.yaml",
        }
        self.page_files = {"document": f"{folder}.md", "document_figures": figures, "about": f"{HERE}CITATION.cff"}
        self.kept_results = [self.read["conditions"]]
