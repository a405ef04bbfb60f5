"""Search a configuration of measured data briefly."""

from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.steps import settings_of
from narxbench._studies.measured.jobs import brief_search, scan_of


def main(job: Any) -> None:
    """Write the result of the search."""
    write_atomically(job.output[0], brief_search(scan_of(**settings_of(job)), job.params.configuration))
