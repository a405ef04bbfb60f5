"""A study of the paper's kind as files: tables, figures and five pages; and one of interpretations: a document."""

from collections.abc import Sequence
from itertools import product
from typing import ClassVar

from narxbench._pipeline.plan import DESIGN_CHOICES, HERE, REFERENCE, files_in
from narxbench._pipeline.simulated_plan import SimulatedPlan

# The frames of the interpretations that pages show.
OVERVIEWS = "nearness claim_overview role_verdicts found effects_overview"
_TABLES = f"{OVERVIEWS} deviances effects claims contests gaps values"
_FIGURES = "published_reproduced claims effects ranking gaps"


class InterpretationsPlan(SimulatedPlan):
    """The files and jobs of a study of interpretations: every condition is compared with the published values."""

    rules: ClassVar[Sequence[str]] = ("data", "search", "analysis", "report")
    frame_names = "conditions"
    # The file of the conditions in the document, where they are not those of this study.
    kept_conditions = ""

    def _declare(self) -> None:
        folder = f"{self.reports}/interpretations"
        figures = files_in(folder, _FIGURES.split(), "svg")
        self.documents = [f"{folder}.md", *figures, *files_in(folder, _TABLES.split(), "csv")]
        self.document_files = {
            "conditions": self.kept_conditions or self.frames["conditions"],
            "choices": DESIGN_CHOICES,
            "published": f"{REFERENCE}/published_tables.csv",
            "system_terms": f"{REFERENCE}/system_terms.csv",
            "claims": f"{REFERENCE}/claims.yaml",
        }
        self.page_files = {"document": f"{folder}.md", "document_figures": figures, "about": f"{HERE}CITATION.cff"}
        self.kept_results = [self.document_files["conditions"]]


class PaperPlan(InterpretationsPlan):
    """The files and jobs of a study of the paper: pages show findings on interpretations next to its results."""

    rules = ("data", "search", "analysis", "paper", "report")
    frame_names = "conditions metrics selection convergence recovery comparisons gaps agreement_values agreement claims"
    other_pages = "interpretations statistics method provenance"
    kept_conditions = f"{REFERENCE}/interpretations/conditions.csv"

    def _declare(self) -> None:
        super()._declare()
        tables = ["agreement", "claims", "method_comparison", "recovery", "gaps", "test_systems", "method_settings"]
        tables += [f"{kind}_{system}" for kind, system in product(("fitness", "comparison"), self.study.systems)]
        self.tables = self._in_forms("tables", tables, "csv", "md", "tex")
        self.figures = self._in_forms("figures", ["convergence", "term_frequency"], "pdf", "svg")
        names = OVERVIEWS.split()
        overviews = dict(zip(names, files_in(f"{self.reports}/interpretations", names, "csv"), strict=True))
        texts_and_figures = [path for path in self.documents if path.endswith((".md", ".svg"))]
        self.kept_results = [*self.tables["md"], *self.figures["svg"], *texts_and_figures, *overviews.values()]
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
            # The causes of the differences, by the kept results of the study of interpretations.
            "choices": self.document_files["choices"],
            "published": self.document_files["published"],
            "system_terms": self.document_files["system_terms"],
            "interpretations": self.document_files["conditions"],
            "claim_texts": self.document_files["claims"],
            # The answer which method to use, by the reference results of the comparison.
            "answer": f"{REFERENCE}/methods/answer.md",
            "reached": f"{REFERENCE}/methods/ecdf.svg",
            "scored": f"{REFERENCE}/methods/systems.csv",
            "compared": f"{REFERENCE}/methods/manifest.csv",
        }
