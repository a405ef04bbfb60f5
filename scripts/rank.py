"""Rank the methods of a study, and test their differences."""

from typing import Any

from narxbench._io.csv import write_table
from narxbench._io.files import write_atomically
from narxbench._studies.methods.ranking import rank_study
from narxbench._studies.methods.repeats import read_repeats


def main(job: Any) -> None:
    """Write every frame."""
    unsteady = [method for method, outcome in read_repeats(job.input.repeats).items() if outcome.difference]
    frames = rank_study(list(job.input.scores), unsteady=unsteady, **job.params.ranking)
    for name, path in job.output.items():
        write_atomically(path, write_table(frames[name]))
