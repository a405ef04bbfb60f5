"""A study of measured data as files and jobs."""

import os

from threadpoolctl import threadpool_limits

from narxbench.identification.estimate import measured_estimate
from narxbench.identification.search.scan import FORWARD, Scan
from narxbench.io.files import canonical_json, sha256
from narxbench.io.resources import refuse
from narxbench.pipeline.plan import StudyPlan, digests
from narxbench.studies.measured.settings import MeasuredStudy, load_measured
from narxbench.study.layers import COMMAND_LINE, Layers

# What the last step writes next to the page.
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
        own = [each for each in layers if each[0] != COMMAND_LINE or "seeds_per_job" not in each[1]]
        study, self.scan = load_measured(own)
        super().__init__(study, {})
        self.estimate = measured_estimate(self.scan)
        refuse(self.estimate)
        self.page, self.kept_results = f"{self.reports}/report.html", [f"{self.reports}/identification.json"]
        # Parameters that all jobs share: what is read, and how it is searched.
        self.method, self.forward, self.criterion = study.identification.method, FORWARD, study.identification.criterion
        self.job = {"reading": study.reading, "identification": study.identification.model_dump(mode="json")}
        self.configurations = {_short(c.name): c.name for c in self.scan.configurations}
        self.ranking, self.choice = f"{self.data}/ranking.json", f"{self.data}/choice.json"
        resamples = range(1, 1 + max(map(self.scan.n_resamples, self.scan.configurations)))
        ranks = range(1, 1 + self.scan.n_finalists)
        searches = [f"rank-{rank}/part-{part}/seed-{seed}" for rank in ranks for part, seed in self.scan.jobs()]
        self.briefs = [f"{self.data}/brief/{name}.json" for name in self.configurations]
        self.searches = [f"{self.data}/thorough/{name}.json" for name in searches]
        self.resampled = [f"{self.data}/resampled/{number}.json" for number in resamples]
        self.given = [os.path.normpath(path) for path in study.files]
        made = [*self.briefs, self.ranking, *self.searches, self.choice, *self.resampled]
        self.sources = [(self.page, [*self.given, *made])]
        self.from_summaries = [self.page, *(f"{self.reports}/{name}" for name in NEXT_TO_PAGE.split())]
        self.data_digest = sha256(canonical_json(digests(self.given)))[:16]


def _short(name: str) -> str:
    # Many lags make a name that is too long for a file.
    return name if len(name) <= 100 else f"{name[:80]}-{sha256(name)[:16]}"
