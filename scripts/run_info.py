"""Write machine, commit and time spent."""

from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.run_info import run_info


def main(job: Any) -> None:
    """Write the facts that would make the page differ from one rebuild to the next."""
    write_atomically(job.output[0], run_info(job.params.logs, job.params.files))
