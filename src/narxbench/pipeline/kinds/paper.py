"""A study of the paper's kind as files: its tables and figures, and six pages."""

from typing import Any

from narxbench.pipeline.kinds.interpretations import OVERVIEWS, InterpretationsPlan
from narxbench.pipeline.plan import DESIGN_CHOICES, HERE, REFERENCE


class PaperPlan(InterpretationsPlan):
    """What the study of interpretations has found is shown next to the results of the study itself."""

    rules = ("data", "search", "analysis", "paper", "report")
    frame_names = "conditions metrics selection convergence recovery comparisons gaps agreement_values agreement claims"
    figure_names = "convergence term_frequency"
    other_pages = "interpretations statistics method provenance"

    @property
    def table_names(self) -> list[str]:
        """The tables of the study, and those of each system."""
        shared = "agreement claims method_comparison recovery gaps test_systems method_settings"
        return [*shared.split(), *(f"{kind}_{s}" for kind in ("fitness", "comparison") for s in self.study.systems)]

    @property
    def interpretations_frame(self) -> str:
        """The conditions of the study of interpretations, as the repository keeps them."""
        return f"{REFERENCE}/interpretations/conditions.csv"

    def _overviews(self) -> dict[str, str]:
        return {name: f"{self.reports}/interpretations/{name}.csv" for name in OVERVIEWS.split()}

    def kept_results(self) -> list[str]:
        """Return the tables and figures that pages show, the document on the interpretations and some frames."""
        shown = [*self.table_files("md"), *self.figure_files("svg"), *self.documents()]
        frames = self.frames("metrics", "agreement_values").values()
        return [*(path for path in shown if path.endswith((".md", ".svg"))), *self._overviews().values(), *frames]

    def page_files(self) -> dict[str, Any]:
        """Return what the pages are made of, by name."""
        return {
            **super().page_files(),
            **self.frames(),
            **self._overviews(),
            "summaries": self.summaries,
            "system_files": self.system_files(),
            "choices": DESIGN_CHOICES,
            "svg": self.figure_files("svg"),
            "claim_texts": f"{REFERENCE}/claims.yaml",
            "errata": f"{HERE}docs/errata.md",
            "method": f"{HERE}docs/method.md",
            "words": f"{HERE}docs/glossary.md",
            "citation": f"{REFERENCE}/citation.bib",
            # Why the numbers are where they are, as the kept results of the study of interpretations say.
            "interpretations": self.interpretations_frame,
            "published": f"{REFERENCE}/published_tables.csv",
            "system_terms": f"{REFERENCE}/system_terms.csv",
            # Which method to use, as the reference results of the comparison say.
            "answer": f"{REFERENCE}/methods/answer.md",
            "reached": f"{REFERENCE}/methods/ecdf.svg",
            "scored": f"{REFERENCE}/methods/systems.csv",
            "compared": f"{REFERENCE}/methods/manifest.csv",
        }
