"""Simulate a system and write its data set."""

from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.data_sets import simulated


def main(job: Any) -> None:
    """Write the data set."""
    write_atomically(job.output[0], simulated(job.output[0], job.params.simulation))
