"""Summarise the runs of one condition."""

from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.data_sets import check_data_sets
from narxbench._study.runs import by_seed
from narxbench._study.summary import summarise


def main(job: Any) -> None:
    """Write the summary."""
    data = by_seed(job.params.seeds, job.input.data)
    check_data_sets(data.values(), job.simulation)
    run = {name: value for name, value in job.params.run.items() if name not in ("axes", "time_limit")}
    system = job.simulation["system"]
    summary = summarise(list(job.input.runs), data, **run, system=system, threshold=job.params.threshold)
    write_atomically(job.output[0], summary)
