"""Make one run of a method again in a fresh process, and write whether it is the same."""

from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.data_sets import check_data_sets
from narxbench._studies.methods.repeats import repeat


def main(job: Any) -> None:
    """Write the first difference of the two runs, if there is one."""
    check_data_sets(job.input.data, job.simulation)
    text = repeat(job.input.run[0], job.input.data[0], seed=job.params.seed, run=job.params.run)
    write_atomically(job.output[0], text)
