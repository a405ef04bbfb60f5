"""Run files that were changed after a summary took them: by their seals, which the summary keeps.

A run file carries a digest of its content, its seal (:mod:`narxbench._study.runs`). The step that judges runs checks it
and keeps one of each run. Later only files are read that changed after the summary did, by the time of change that the
system keeps, which no program can set. A file that is younger than its summary is left to Snakemake, which summarises
again.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from narxbench._io.errors import NarxbenchError
from narxbench._io.files import read_json
from narxbench._study.runs import read_sealed, seals_of_runs


def changed_runs(summary: str, seeds_by_file: Mapping[str, Sequence[int]]) -> list[str]:
    """Return the run files that a summary stands for whose runs are not those that it summed up.

    Each file must have the runs of its own seeds, method and criterion, which its path names: that of another seed has
    a seal that the summary keeps, too.
    """
    try:
        summarised = os.stat(summary)
    except OSError:
        return []
    suspects = [path for path in seeds_by_file if _may_differ(path, summarised)]
    if not suspects:
        return []
    kept = read_json(summary).get("seals", {})
    return [path for path in suspects if not has_seals(path, seeds_by_file[path], kept)]


def _may_differ(path: str, summarised: os.stat_result) -> bool:
    """Return whether a run file changed after its summary although its date says that it did not."""
    try:
        run = os.stat(path)
    except OSError:
        return False
    return run.st_ctime_ns > summarised.st_ctime_ns and run.st_mtime_ns <= summarised.st_mtime_ns


def has_seals(path: str, seeds: Sequence[int], kept: Mapping[str, str]) -> bool:
    """Return whether a file has the runs of its seeds, with the seals that a summary keeps; a damaged file has not."""
    method, criterion = Path(path).parts[-3:-1]
    try:
        seals = seals_of_runs(read_sealed(path))
    except (NarxbenchError, KeyError, TypeError):
        return False
    names = [f"{method}/{criterion}/{seed}" for seed in seeds]
    return [*seals] == names and seals.items() <= kept.items()


def changed_since_summed_up(paths: Sequence[str]) -> NarxbenchError:
    """Return the error that run files were changed after they were summed up."""
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return NarxbenchError(f"{paths[0]}{more}: changed since it was summed up; delete it and run again")


def check_run_files(summary: str, seeds_by_file: Mapping[str, Sequence[int]], data_sha256: Collection[str]) -> int:
    """Return how many run files there are; raise NarxbenchError for one that is not what its path and others say.

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
        if not has_seals(path, seeds_by_file[path], seals_of_runs(record) if kept is None else kept):
            raise changed_since_summed_up([path])
    return len(paths)
