"""A study of measured data as files and jobs; what the rules ask of any study is answered as in the other plan."""

import os
from collections.abc import Sequence
from pathlib import Path

from narxbench.identification.scan import BESIDE, Scan
from narxbench.identification.study import MeasuredStudy, load_measured
from narxbench.io.files import sha256
from narxbench.pipeline.estimate import measured_estimate, refuse
from narxbench.pipeline.plan import StudyPlan

# What the last step writes beside the page.
BESIDE_PAGE = "model.json identification.json validation.csv terms.csv tried.csv model.c model.py model.m"
BESIDE_PAGE += " model_sysidentpy.py"


class MeasuredPlan(StudyPlan):
    """The files and jobs of a study of measured data.

    Parameters
    ----------
    overlays : sequence of paths
        Files of ``--configfile``.
    command_line : sequence of str
        ``KEY=VALUE`` of ``--config``.

    Raises
    ------
    NarxbenchError
        One line for each mistake in the settings, or in the data.
    """

    def __init__(self, overlays: Sequence[str | Path], command_line: Sequence[str] = ()) -> None:
        # The profiles of clusters put seeds together; here each has a job of its own.
        settings = [text for text in command_line if not text.startswith("seeds_per_job=")]
        self.study: MeasuredStudy
        self.scan: Scan
        study, self.scan = load_measured([*map(os.path.relpath, overlays)], settings)
        super().__init__(study)
        self.estimate = measured_estimate(self.scan)
        refuse(self.estimate)
        self.left_out: dict[str, str] = {}
        self.page = f"{self.reports}/report.html"
        self.ranking = f"{self.data}/ranking.json"
        self.choice = f"{self.data}/choice.json"
        # Parameters that all jobs share: what is read, and how it is searched.
        self.job = {
            "reading": self.study.reading,
            "identification": self.study.identification.model_dump(mode="json"),
        }
        self.configurations = {_short(c.name): c.name for c in self.scan.configurations}

    # Names of files

    def data_files(self) -> list[str]:
        """Return the files of data."""
        return [os.path.normpath(path) for path in self.study.files]

    def briefs(self) -> list[str]:
        """Return the files of the brief searches, in the order of the configurations."""
        return [f"{self.data}/brief/{name}.json" for name in self.configurations]

    def thorough(self) -> list[str]:
        """Return the files of the thorough searches, one for each rank, part and seed."""
        ranks, jobs = range(1, self.scan.n_finalists + 1), self.scan.jobs()
        return [
            f"{self.data}/thorough/rank-{rank}/part-{part}/seed-{seed}.json" for rank in ranks for part, seed in jobs
        ]

    def resampled(self) -> list[str]:
        """Return the files of the searches of resampled data, as many as the time allows in any configuration."""
        count = max(map(self.scan.n_resamples, self.scan.configurations))
        return [f"{self.data}/resampled/{number}.json" for number in range(1, count + 1)]

    def report_files(self) -> list[str]:
        """Return the page, and what is beside it."""
        return [self.page, *(f"{self.reports}/{name}" for name in BESIDE_PAGE.split())]

    def searches(self) -> list[str]:
        """Return the files of all steps before the report."""
        return [*self.briefs(), self.ranking, *self.thorough(), self.choice, *self.resampled()]

    def results(self) -> list[str]:
        """Return the data and every file that depends on them, code, settings and versions alone."""
        return [*self.data_files(), *self.searches(), *self.report_files()]

    def given(self) -> list[str]:
        """Return the files of data."""
        return self.data_files()

    def algorithms(self) -> list[str]:
        """Return the algorithm of the searches."""
        return [self.study.identification.method]

    def from_summaries(self) -> list[str]:
        """Return the report, which stands for the searches that it is made of."""
        return self.report_files()

    def lost(self) -> list[str]:
        """Return the searches that are missing beside the report, so that nothing else asks for them."""
        made = os.path.exists(self.page)
        return [path for path in self.searches() if made and not os.path.exists(path)]

    def kept_files(self) -> dict[str, str]:
        """Return the reference results that the repository keeps of this study, each with what it is a copy of."""
        made = [f"{self.reports}/identification.json", self.manifest]
        return {f"{self.kept}/{Path(path).name}": path for path in made}

    def timing_logs(self) -> dict[str, list[str]]:
        """Return the logs of the steps, by step."""
        steps = {
            "brief_search": self.briefs(),
            "rank_configurations": [self.ranking],
            "thorough_search": self.thorough(),
            "choose_structure": [self.choice],
            "resample": self.resampled(),
        }
        logs = {step: [self._log(step, path) for path in files] for step, files in steps.items()}
        return {**logs, "conclude": [f"{self.logs}/conclude.log"]}

    def _log(self, step: str, path: str) -> str:
        inner = Path(path).relative_to(self.data).with_suffix(".log").parts[1:]
        return "/".join([self.logs, step, *inner]) if inner else f"{self.logs}/{step}.log"

    # Parameters of jobs

    def code(self, script: str) -> str:
        """Return a digest of all code that a script depends on, that of the search algorithm included."""
        method = self.study.identification.method
        searching = {
            "choose_structure": BESIDE,
            **dict.fromkeys(("brief_search", "thorough_search", "resample"), method),
        }
        return self._digest(script, searching.get(script))


def _short(name: str) -> str:
    # Many lags make a name that is too long for a file.
    return name if len(name) <= 100 else f"{name[:80]}-{sha256(name)[:16]}"
