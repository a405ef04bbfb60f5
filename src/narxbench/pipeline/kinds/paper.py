"""A study of the paper's kind as files: its tables and figures, and six pages."""

from narxbench.pipeline.kinds.interpretations import OVERVIEWS, InterpretationsPlan
from narxbench.pipeline.plan import HERE, REFERENCE


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
        self.kept_results += self.frames("metrics", "agreement_values").values()
        self.page_files |= {
            **self.frames(),
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
