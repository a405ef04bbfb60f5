"""Summarise the runs of one condition."""

from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.data_sets import check_data_sets
from narxbench._pipeline.definitions import read_definition, run_definition
from narxbench._pipeline.steps import settings_of
from narxbench._study.runs import by_seed
from narxbench._study.summary import summarise


def main(job: Any) -> None:
    """Write the summary."""
    data = by_seed(job.params.seeds, job.input.data)
    check_data_sets(data.values(), job.input.run[0])
    definition = run_definition(*job.input.run)
    del definition["axes"], definition["time_limit"]
    system = read_definition(job.input.run[0])["settings"]["simulation"]["system"]
    summary = summarise(list(job.input.runs), data, **definition, system=system, **settings_of(job))
    write_atomically(job.output[0], summary)
