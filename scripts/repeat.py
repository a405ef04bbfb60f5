"""Make one run of a method again in a fresh process, and write whether it is the same."""

from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.steps import as_script
from narxbench._studies.methods.repeats import repeat


def main(job: Any) -> None:
    """Write the first difference of the two runs, if there is one."""
    text = repeat(job.input.run, job.input.data[0], seed=job.params.repeat["seed"], run=job.params.repeat["run"])
    write_atomically(job.output[0], text)


as_script(main, globals())
