"""Simulate a system and write its data set."""

from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.steps import as_script
from narxbench._study.data_sets import simulated_csv


def main(job: Any) -> None:
    """Write the data set."""
    write_atomically(job.output[0], simulated_csv(**job.params.simulation))


as_script(main, globals())
