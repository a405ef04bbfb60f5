"""Write the record of a run: command, date, commit, machine and time."""

from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.run_record import run_record


def main(job: Any) -> None:
    """Write what the pages of the study quote, and what differs from one rebuild to the next."""
    write_atomically(job.output[0], run_record(job.logs, job.files).to_json())
