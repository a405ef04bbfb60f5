"""Simulate a system and write its data set."""

from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.data_sets import simulated
from narxbench._pipeline.steps import definition_of


def main(job: Any) -> None:
    """Write the data set."""
    realisation = job.wildcards.get("realisation")
    if realisation is not None:
        realisation = int(realisation)
    write_atomically(job.output[0], simulated(definition_of(job), realisation))
