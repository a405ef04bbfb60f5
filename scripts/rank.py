"""Rank the methods of a study, and test their differences."""

from typing import Any

from narxbench._io.csv import write_table
from narxbench._io.files import write_atomically
from narxbench._pipeline.steps import settings_of
from narxbench._studies.methods.ranking import rank_study


def main(job: Any) -> None:
    """Write every frame."""
    frames = rank_study(list(job.input.scores), **settings_of(job))
    for name, path in job.output.items():
        write_atomically(path, write_table(frames[name]))
