"""Simulate a system and write its data set."""

from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.steps import settings_of
from narxbench._study.data_sets import simulated_csv


def main(job: Any) -> None:
    """Write the data set."""
    realisation = job.wildcards.get("realisation")
    if realisation is not None:
        realisation = int(realisation)
    simulation = settings_of(job)["simulation"]
    write_atomically(job.output[0], simulated_csv(**simulation, realisation=realisation))
