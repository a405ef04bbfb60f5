"""A study of measured data."""

import os
from typing import Any

from threadpoolctl import threadpool_limits

from narxbench._identification.estimate import measured_estimate
from narxbench._identification.search.scan import FORWARD, Scan
from narxbench._io.files import sha256
from narxbench._io.resources import refuse
from narxbench._pipeline.plan import StudyPlan
from narxbench._studies.measured.settings import MeasuredStudy, load_measured
from narxbench._study.layers import Layers

# The steps of an identification, each with the algorithm that it runs.
_SEARCHES = ("brief_search", "thorough_search", "resample")


class MeasuredPlan(StudyPlan):
    """Answers to the rules about a study of measured data."""

    study: MeasuredStudy
    scan: Scan

    def __init__(self, layers: Layers) -> None:
        # With more threads BLAS sums in an order that depends on their number, and they wait for those of other jobs.
        threadpool_limits(1, user_api="blas")
        study, self.scan = load_measured(layers)
        super().__init__(study, {})
        self.estimate = measured_estimate(self.scan)
        refuse(self.estimate)
        self.input_files = list(map(os.path.normpath, study.files))
        self._define_steps()
        names = [configuration.name for configuration in self.scan.configurations]
        self.configurations = dict(zip(map(_short, names), names, strict=True))
        self.ranks = range(1, 1 + self.scan.n_finalists)
        self.jobs = self.scan.jobs()  # part and seed of each thorough search of a rank
        self.resamples = range(1, 1 + max(map(self.scan.n_resamples, self.scan.configurations)))

    def _define_steps(self) -> None:
        """Define the steps: all have the settings of reading and of the search, and the data."""
        identification = self.study.identification
        settings = {"reading": self.study.reading, "identification": identification.model_dump(mode="json")}
        algorithms: dict[str, Any] = dict.fromkeys(_SEARCHES, identification.method)
        algorithms |= {"choose_structure": FORWARD, "rank_configurations": None, "conclude": None}
        for step, algorithm_name in algorithms.items():
            self.define(
                f"steps/{step}",
                step,
                settings=settings,
                files=self.input_files,
                algorithm_name=algorithm_name,
                criterion=identification.criterion,
            )


def _short(name: str) -> str:
    """Return the name of a configuration for a file; with many lags its own name is too long."""
    return name if len(name) <= 100 else f"{name[:80]}-{sha256(name)[:16]}"
