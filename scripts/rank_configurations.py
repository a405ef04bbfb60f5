"""Rank the configurations by the results of the brief searches."""

from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.steps import settings_of
from narxbench._studies.measured.jobs import ranking, scan_of


def main(job: Any) -> None:
    """Write the names of those that are searched thoroughly."""
    write_atomically(job.output[0], ranking(scan_of(**settings_of(job)), list(job.input.briefs)))
