"""Search a resampled data set in the configuration that was chosen."""

from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.steps import settings_of
from narxbench._studies.measured.jobs import resampled_search, scan_of


def main(job: Any) -> None:
    """Write the result of the search."""
    scan = scan_of(**settings_of(job))
    write_atomically(job.output[0], resampled_search(scan, job.input.choice, int(job.wildcards.number)))
