"""A study of measured data as files and jobs."""

import os
from functools import cached_property
from itertools import chain
from pathlib import Path

from threadpoolctl import threadpool_limits

from narxbench.experiment.layers import COMMAND_LINE, Layers
from narxbench.identification.search.scan import FORWARD, Scan
from narxbench.identification.study import MeasuredStudy, load_measured
from narxbench.io.files import canonical_json, sha256
from narxbench.pipeline.estimate import measured_estimate, refuse
from narxbench.pipeline.plan import StudyPlan

# What the last step writes next to the page.
NEXT_TO_PAGE = "model.json identification.json validation.csv terms.csv tried.csv model.c model.py model.m"
NEXT_TO_PAGE += " model_sysidentpy.py"


class MeasuredPlan(StudyPlan):
    """The files and jobs of a study of measured data."""

    rules = ("measured",)

    def __init__(self, layers: Layers) -> None:
        # With more threads BLAS sums in an order that depends on their number, and they wait for those of other jobs.
        threadpool_limits(1, user_api="blas")
        # The profiles of clusters put seeds together; here each has a job of its own.
        own = [each for each in layers if each[0] != COMMAND_LINE or "seeds_per_job" not in each[1]]
        self.study: MeasuredStudy
        self.scan: Scan
        study, self.scan = load_measured(own)
        super().__init__(study)
        self.estimate = measured_estimate(self.scan)
        refuse(self.estimate)
        self.page = f"{self.reports}/report.html"
        # Parameters that all jobs share: what is read, and how it is searched.
        self.job = {
            "reading": self.study.reading,
            "identification": self.study.identification.model_dump(mode="json"),
        }
        self.configurations = {_short(c.name): c.name for c in self.scan.configurations}
        self.ranking, self.choice = f"{self.data}/ranking.json", f"{self.data}/choice.json"
        resamples = range(1, 1 + max(map(self.scan.n_resamples, self.scan.configurations)))
        searches = [
            f"rank-{rank}/part-{part}/seed-{seed}"
            for rank in range(1, self.scan.n_finalists + 1)
            for part, seed in self.scan.jobs()
        ]
        # What each step before the report makes.
        self.made = {
            "brief_search": [f"{self.data}/brief/{name}.json" for name in self.configurations],
            "rank_configurations": [self.ranking],
            "thorough_search": [f"{self.data}/thorough/{name}.json" for name in searches],
            "choose_structure": [self.choice],
            "resample": [f"{self.data}/resampled/{number}.json" for number in resamples],
        }

    def given(self) -> list[str]:
        """Return the files of data."""
        return [os.path.normpath(path) for path in self.study.files]

    def sources(self, summed_only: bool = False) -> list[str]:
        """Return the data and all searches; the report stands for them."""
        is_made = not summed_only or os.path.exists(self.at(self.page))
        return [*self.given(), *chain(*self.made.values())] if is_made else []

    def from_summaries(self) -> list[str]:
        """Return the page, and what is next to it."""
        return [self.page, *(f"{self.reports}/{name}" for name in NEXT_TO_PAGE.split())]

    def kept_results(self) -> list[str]:
        """Return what was found."""
        return [f"{self.reports}/identification.json"]

    def timing_logs(self) -> dict[str, list[str]]:
        """Return the logs of the steps, by step."""
        logs = {step: [self._log(step, path) for path in files] for step, files in self.made.items()}
        return {**logs, "conclude": [f"{self.logs}/conclude.log"]}

    def _log(self, step: str, path: str) -> str:
        # Results in a folder have their logs in one that is named after the step.
        inner = Path(path).relative_to(self.data).with_suffix(".log").parts[1:]
        return "/".join([self.logs, step, *inner]) if inner else f"{self.logs}/{step}.log"

    @cached_property
    def _data_digest(self) -> str:
        return sha256(canonical_json(self.digests(self.given())))[:16]

    def code(self, script: str) -> str:
        """Return a digest of all code that a script depends on, that of the search algorithm included."""
        searching = dict.fromkeys(("brief_search", "thorough_search", "resample"), self.study.identification.method)
        name = {**searching, "choose_structure": FORWARD}.get(script)
        return f"{self._code(script, name)}; data {self._data_digest}"


def _short(name: str) -> str:
    # Many lags make a name that is too long for a file.
    return name if len(name) <= 100 else f"{name[:80]}-{sha256(name)[:16]}"
