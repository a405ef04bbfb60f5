"""Run files that were changed after a summary took them: by their seals, which the summary keeps.

A run file carries a digest of its content, its seal (:mod:`narxbench._study.runs`). The step that judges runs checks it
and keeps one of each run. Later only files are read that changed after the summary did, by the time of change that the
system keeps, which no program can set. A file that is younger than its summary is left to Snakemake, which summarises
again.
"""

import os
from collections.abc import Mapping, Sequence

from narxbench._io.errors import NarxbenchError
from narxbench._io.files import read_json
from narxbench._study.runs import read_sealed, seals_of_runs


def changed_runs(summary: str, files: Sequence[str]) -> list[str]:
    """Return the run files, of the data sets or runs that a summary stands for, whose seals are not those it keeps."""
    try:
        summarised = os.stat(summary)
    except OSError:
        return []
    suspects = [path for path in files if path.endswith(".json") and _may_differ(path, summarised)]
    if not suspects:
        return []
    kept = read_json(summary).get("seals", {})
    return [path for path in suspects if not _has_seals(path, kept)]


def _may_differ(path: str, summarised: os.stat_result) -> bool:
    """Return whether a run file changed after its summary although its date says that it did not."""
    try:
        run = os.stat(path)
    except OSError:
        return False
    return run.st_ctime_ns > summarised.st_ctime_ns and run.st_mtime_ns <= summarised.st_mtime_ns


def _has_seals(path: str, kept: Mapping[str, str]) -> bool:
    """Return whether all runs of a file have the seals that a summary keeps; a damaged file has not."""
    try:
        seals = seals_of_runs(read_sealed(path))
    except (NarxbenchError, KeyError, TypeError):
        return False
    return seals.items() <= kept.items()
