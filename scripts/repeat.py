"""Make one run of a method again in a fresh process, and write whether it is the same."""

from typing import Any

from narxbench.io.files import write_atomically
from narxbench.pipeline.steps import as_script
from narxbench.studies.methods.repeats import repeat


def main(job: Any) -> None:
    """Write what came of it."""
    wanted = job.params.repeat
    write_atomically(job.output[0], repeat(job.input.run, job.input.data[0], seed=wanted["seed"], run=wanted["run"]))


as_script(main, globals())
