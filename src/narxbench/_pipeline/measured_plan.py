"""A study of measured data as files and jobs."""

import os
from itertools import product

from threadpoolctl import threadpool_limits

from narxbench._identification.estimate import measured_estimate
from narxbench._identification.search.scan import FORWARD, Scan
from narxbench._io.files import canonical_json, sha256
from narxbench._io.resources import refuse
from narxbench._pipeline.plan import StudyPlan, digests, files_in
from narxbench._studies.measured.settings import MeasuredStudy, load_measured
from narxbench._study.layers import COMMAND_LINE, Layers

# The files that the last step writes next to the page.
NEXT_TO_PAGE = "model.json identification.json validation.csv terms.csv tried.csv model.c model.py model.m"
NEXT_TO_PAGE += " model_sysidentpy.py"


class MeasuredPlan(StudyPlan):
    """The files and jobs of a study of measured data."""

    study: MeasuredStudy
    scan: Scan
    rules = ("measured",)

    def __init__(self, layers: Layers) -> None:
        # With more threads BLAS sums in an order that depends on their number, and they wait for those of other jobs.
        threadpool_limits(1, user_api="blas")
        # The profiles of clusters put seeds together; here each has a job of its own.
        kept_layers = []
        for source, layer in layers:
            if source != COMMAND_LINE or "seeds_per_job" not in layer:
                kept_layers.append((source, layer))
        study, self.scan = load_measured(kept_layers)
        super().__init__(study, {})
        self.estimate = measured_estimate(self.scan)
        refuse(self.estimate)
        self.page, self.kept_results = f"{self.reports}/report.html", [f"{self.reports}/identification.json"]
        # Parameters that all jobs share: of reading, and of the search.
        self.method, self.forward, self.criterion = study.identification.method, FORWARD, study.identification.criterion
        self.job = {"reading": study.reading, "identification": study.identification.model_dump(mode="json")}
        names = [configuration.name for configuration in self.scan.configurations]
        self.configurations = dict(zip(map(_short, names), names, strict=True))
        self.ranking, self.choice = f"{self.data}/ranking.json", f"{self.data}/choice.json"
        n_resamples = max(map(self.scan.n_resamples, self.scan.configurations))
        self.briefs = files_in(f"{self.data}/brief", self.configurations, "json")
        self.searches = self._thorough_searches()
        self.resampled = files_in(f"{self.data}/resampled", range(1, 1 + n_resamples), "json")
        self.input_files = list(map(os.path.normpath, study.files))
        steps = [*self.briefs, self.ranking, *self.searches, self.choice, *self.resampled]
        self.sources = [(self.page, [*self.input_files, *steps])]
        self.from_summaries = [self.page, *(f"{self.reports}/{name}" for name in NEXT_TO_PAGE.split())]
        self.data_digest = sha256(canonical_json(digests(self.input_files)))[:16]

    def _thorough_searches(self) -> list[str]:
        """Return the files of the thorough searches: by rank, then by part of the data and seed."""
        files = []
        for rank, (part, seed) in product(range(1, 1 + self.scan.n_finalists), self.scan.jobs()):
            files.append(f"{self.data}/thorough/rank-{rank}/part-{part}/seed-{seed}.json")
        return files


def _short(name: str) -> str:
    """Return the name of a configuration for a file; with many lags its own name is too long."""
    return name if len(name) <= 100 else f"{name[:80]}-{sha256(name)[:16]}"
