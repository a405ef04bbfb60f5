"""Write which combinations of the settings exist."""

from typing import Any

from narxbench._io.files import write_atomically


def main(job: Any) -> None:
    """Write the table."""
    write_atomically(job.output[0], job.params.table)
