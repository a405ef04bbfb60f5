"""Run one method on one problem with each seed of a job, and write the runs."""

from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.data_sets import check_data_sets
from narxbench._study.runs import by_seed, run_seeds


def main(job: Any) -> None:
    """Write the run file."""
    data = by_seed(job.params.seeds, job.input.data)
    check_data_sets(data.values(), job.simulation)
    write_atomically(job.output[0], run_seeds(data, **job.params.run))
