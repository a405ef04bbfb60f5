"""A study of the paper's kind as files, its tables, figures and six pages; and one of interpretations, a document."""

from collections.abc import Sequence
from typing import ClassVar

from narxbench.pipeline.plan import DESIGN_CHOICES, HERE, REFERENCE
from narxbench.pipeline.simulated_plan import SimulatedPlan

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
            "conditions": self.kept_conditions or self.frames["conditions"],
            "choices": DESIGN_CHOICES,
            "published": f"{REFERENCE}/published_tables.csv",
            "system_terms": f"{REFERENCE}/system_terms.csv",
            "claims": f"{REFERENCE}/claims.yaml",
        }
        self.page_files = {"document": f"{folder}.md", "document_figures": figures, "about": f"{HERE}CITATION.cff"}
        self.kept_results = [self.read["conditions"]]


class PaperPlan(InterpretationsPlan):
    """What the study of interpretations has found is shown next to the results of the study itself."""

    rules = ("data", "search", "analysis", "paper", "report")
    frame_names = "conditions metrics selection convergence recovery comparisons gaps agreement_values agreement claims"
    other_pages = "interpretations statistics method provenance"
    kept_conditions = f"{REFERENCE}/interpretations/conditions.csv"

    def _declare(self) -> None:
        super()._declare()
        tables = ["agreement", "claims", "method_comparison", "recovery", "gaps", "test_systems", "method_settings"]
        tables += [f"{kind}_{system}" for kind in ("fitness", "comparison") for system in self.study.systems]
        self.tables = self._in_forms("tables", tables, "csv", "md", "tex")
        self.figures = self._in_forms("figures", ["convergence", "term_frequency"], "pdf", "svg")
        overviews = {name: f"{self.reports}/interpretations/{name}.csv" for name in OVERVIEWS.split()}
        shown = [path for path in self.documents if path.endswith((".md", ".svg"))]
        self.kept_results = [*self.tables["md"], *self.figures["svg"], *shown, *overviews.values()]
        self.kept_results += [self.frames["metrics"], self.frames["agreement_values"]]
        self.page_files |= {
            **self.frames,
            **overviews,
            "summaries": self.summaries,
            "system_files": self.system_files,
            "svg": self.figures["svg"],
            "errata": f"{HERE}docs/errata.md",
            "method": f"{HERE}docs/method.md",
            "words": f"{HERE}docs/glossary.md",
            "citation": f"{REFERENCE}/citation.bib",
            # Why the numbers are where they are, as the kept results of the study of interpretations say.
            **{name: self.read[name] for name in ("choices", "published", "system_terms")},
            "interpretations": self.read["conditions"],
            "claim_texts": self.read["claims"],
            # Which method to use, as the reference results of the comparison say.
            "answer": f"{REFERENCE}/methods/answer.md",
            "reached": f"{REFERENCE}/methods/ecdf.svg",
            "scored": f"{REFERENCE}/methods/systems.csv",
            "compared": f"{REFERENCE}/methods/manifest.csv",
        }
