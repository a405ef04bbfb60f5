"""Write what a step depends on besides its input files."""

from typing import Any

from narxbench._pipeline.definitions import write_definition


def main(job: Any) -> None:
    """Write the definition in the place of a former one."""
    write_definition(job.output[0], job.params.content)
