"""Search the configuration of a rank thoroughly with one seed, on all data or without a part."""

from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.steps import settings_of
from narxbench._studies.measured.jobs import scan_of, thorough_search


def main(job: Any) -> None:
    """Write the result of the search."""
    scan = scan_of(**settings_of(job))
    search = {name: int(job.wildcards[name]) for name in ("rank", "part", "seed")}
    write_atomically(job.output[0], thorough_search(scan, job.input.ranking, **search))
