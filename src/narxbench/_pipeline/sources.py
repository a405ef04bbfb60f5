"""The data sets and runs that each summary of a study represents, and whether these are what it was made of.

Snakemake makes a summary again if a run file is younger. It does not see a run file that is missing beside its summary,
nor another content under an older date. So summaries name what they were made of: the digest of the data set, and the
seal of each run (:mod:`narxbench._study.runs`). The step that judges runs checks these. Later only files are read that
changed after the summary did, by the time of change that the system keeps, which no program can set.
"""

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from narxbench._io.errors import NarxbenchError
from narxbench._io.files import read_bytes, read_json, sha256
from narxbench._pipeline.data_sets import changed_data, check_data_sets, is_simulated
from narxbench._pipeline.plan import Plan, data_files
from narxbench._study.runs import read_sealed, seals_of_runs

Value = TypeVar("Value")
# Failed runs in the text of a summary, or one in that of scores.
_FAILURE = re.compile(rb'"failures":|"failure":"[^"]')


class Sources:
    """The summaries of a study, with what each represents.

    Parameters
    ----------
    plan : Plan
        The study.
    folder : str
        The prefix that a workflow which uses this one as a module gives to results, or "" without one.
    summary, problem, runs : str
        The paths of summaries, data sets (without suffix) and run files, with their wildcards.
    """

    def __init__(self, plan: Plan, folder: str, *, summary: str, problem: str, runs: str) -> None:
        self.folder = folder
        # The paths of this and of what it has are those without the folder, as in the manifest.
        # By summary: the data sets with their simulations, and the run files with their seeds.
        self._stands_for: dict[str, tuple[dict[str, Mapping[str, Any]], dict[str, list[int]]]] = {}
        for row in plan.jobs:
            data_of_summary, runs_of_summary = self._stands_for.setdefault(summary.format_map(row), ({}, {}))
            posed = plan.problems["{scenario}/{data_seed}/{system}/{snr}".format_map(row)]
            seeds = plan.block(row["seeds"])
            data_sets = data_files(problem.format_map(row), posed, seeds)
            data_of_summary.update(dict.fromkeys(data_sets, posed.simulation))
            runs_of_summary[runs.format_map(row)] = seeds

    @property
    def summaries(self) -> list[str]:
        """The summaries."""
        return [*self._stands_for]

    def at(self, path: str) -> str:
        """Return where a file of the study is."""
        return f"{self.folder}{path}"

    def files(self, results: Iterable[str] = ()) -> dict[str, str]:
        """Return where each data set, each run file and each of some results is.

        All depend on code, settings and versions alone, so that they have the same bytes everywhere. They are in the
        order of causes.
        """
        data_sets = chain.from_iterable(data_sets for data_sets, _ in self._stands_for.values())
        runs = chain.from_iterable(runs for _, runs in self._stands_for.values())
        return {path: self.at(path) for path in (*data_sets, *runs, *results)}

    def lost(self) -> list[str]:
        """Return the files that are missing although a summary of them exists, so that nothing else needs them.

        To make all run files inputs of one job would cost Snakemake a time that grows with the square of their number.
        """
        lost: dict[str, None] = {}
        for summary, (data_sets, runs) in self._stands_for.items():
            if os.path.exists(self.at(summary)):
                lost.update(dict.fromkeys(path for path in (*data_sets, *runs) if not os.path.exists(self.at(path))))
        return [*lost]

    def exist(self) -> bool:
        """Return whether there is a data set, or a run file."""
        return any(map(os.path.exists, self.files().values()))

    def check(self) -> None:
        """Raise NarxbenchError if a data set or a run file was changed after it was summed up."""
        changed: dict[str, None] = {}
        changed_runs: list[str] = []
        for summary, (data_sets, runs) in self._stands_for.items():
            path = self.at(summary)
            changed.update(dict.fromkeys(_changed_data_sets(path, self._placed(data_sets))))
            changed_runs += _changed_runs(path, self._placed(runs))
        # Runs are compared with their data sets: these come first.
        if changed:
            raise changed_data([*changed])
        if changed_runs:
            raise _changed_since_summed_up(changed_runs)

    def check_all(self) -> str:
        """Return how many data sets and run files are what the digests say that others name, whatever their dates.

        Data sets are compared with their simulations, run files with their seals, their data sets and their summaries.
        NarxbenchError names the first that differs.
        """
        digests: dict[str, str] = {}  # of each data set
        n_runs = 0
        for summary, (data_sets, runs) in self._stands_for.items():
            simulations = self._placed(data_sets)
            for path, simulation in simulations.items():
                if path not in digests and os.path.exists(path):
                    check_data_sets([path], simulation)
                    digests[path] = sha256(read_bytes(path))
            if digests.keys() >= simulations.keys():
                of_data = {digests[path] for path in simulations}
                n_runs += _check_run_files(self.at(summary), self._placed(runs), of_data)
        return f"{len(digests)} data sets and {n_runs} run files are what their settings, seals and summaries say."

    def failures(self) -> list[str]:
        """Return the reason of each run that has failed, by the summaries that there are."""
        reasons = []
        for path in map(self.at, self._stands_for):
            # Most have none, which their text says sooner than their content.
            if os.path.exists(path) and _FAILURE.search(read_bytes(path)):
                reasons += _failures_in(read_json(path))
        return reasons

    def _placed(self, by_path: Mapping[str, Value]) -> dict[str, Value]:
        """Return a mapping by paths as one by where these files are."""
        return {self.at(path): value for path, value in by_path.items()}


def _failures_in(summary: Mapping[str, Any]) -> list[str]:
    """Return the reasons of the failed runs in a summary, or in the scores of methods other than references."""
    methods = [method for method in summary.get("methods", ()) if not method["reference"]]
    runs = chain.from_iterable(method["runs"] for method in methods)
    failures = sorted(summary.get("failures", {}).items(), key=lambda item: int(item[0]))
    return [*(reason for _, reason in failures), *(run["failure"] for run in runs if run["failure"])]


def _changed_data_sets(summary: str, simulations: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the data sets of a summary that were changed after it was made, by the simulation of each."""
    suspects = _suspects(summary, simulations)
    if not suspects:
        return []
    # To compare with the digest in the summary is quicker than to simulate. There is one digest for all data sets.
    kept = read_json(summary).get("data_sha256")
    return [path for path in suspects if sha256(read_bytes(path)) != kept and not is_simulated(path, simulations[path])]


def _changed_runs(summary: str, seeds_by_file: Mapping[str, Sequence[int]]) -> list[str]:
    """Return the run files that a summary represents whose runs are not those that it summed up.

    Each file must have the runs of its own seeds, method and criterion, which its path names. A run
    of another seed has a seal that the summary keeps, too.
    """
    suspects = _suspects(summary, seeds_by_file)
    if not suspects:
        return []
    kept = read_json(summary).get("seals", {})
    return [path for path in suspects if not _has_seals(path, seeds_by_file[path], kept)]


def _suspects(summary: str, paths: Iterable[str]) -> list[str]:
    """Return the files that changed after a summary did although their dates say that they did not.

    One with a younger date is left to Snakemake, which makes again what is made of it.
    """
    with suppress(OSError):
        summarised = os.stat(summary)
        return [path for path in paths if _may_differ(path, summarised)]
    return []


def _may_differ(path: str, summarised: os.stat_result) -> bool:
    """Return whether a file changed after its summary although its date says that it did not."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    return status.st_ctime_ns > summarised.st_ctime_ns and status.st_mtime_ns <= summarised.st_mtime_ns


def _has_seals(path: str, seeds: Sequence[int], kept: Mapping[str, str]) -> bool:
    """Return whether a file, which may be damaged, has the runs of its seeds with the seals that a summary keeps."""
    method, criterion = Path(path).parts[-3:-1]
    try:
        seals = seals_of_runs(read_sealed(path))
    except (NarxbenchError, KeyError, TypeError):
        return False
    names = [f"{method}/{criterion}/{seed}" for seed in seeds]
    return [*seals] == names and seals.items() <= kept.items()


def _changed_since_summed_up(paths: Sequence[str]) -> NarxbenchError:
    """Return the error that run files were changed after they were summed up."""
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return NarxbenchError(f"{paths[0]}{more}: changed since it was summed up; delete it and run again")


def _check_run_files(summary: str, seeds_by_file: Mapping[str, Sequence[int]], data_sha256: Collection[str]) -> int:
    """Return how many run files there are, and raise NarxbenchError for one that is not what its path and others say.

    Its seal must fit, and its runs be those of its seeds, made of one of the data sets with the digests
    ``data_sha256``, and have the seals that a summary keeps, if there is one.
    """
    kept = None
    if os.path.exists(summary):
        kept = read_json(summary).get("seals", {})
    paths = [path for path in seeds_by_file if os.path.exists(path)]
    for path in paths:
        record = read_sealed(path)
        for run in record["runs"]:
            if run["data_sha256"] not in data_sha256:
                raise NarxbenchError(f"{path}: made of another data set; delete it and run again")
        if not _has_seals(path, seeds_by_file[path], seals_of_runs(record) if kept is None else kept):
            raise _changed_since_summed_up([path])
    return len(paths)
