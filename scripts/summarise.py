"""Summarise the runs of one condition."""

from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.steps import as_script
from narxbench._study.runs import by_seed
from narxbench._study.summary import summarise


def main(job: Any) -> None:
    """Write the summary."""
    data = by_seed(job.params.seeds, job.input.data)
    write_atomically(job.output[0], summarise(list(job.input.runs), data, **job.params.condition))


as_script(main, globals())
