"""Choose a structure from all structures that the searches found."""

from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.steps import settings_of
from narxbench._studies.measured.jobs import choice, scan_of


def main(job: Any) -> None:
    """Write the choice."""
    briefs, searches = list(job.input.briefs), list(job.input.searches)
    write_atomically(job.output[0], choice(scan_of(**settings_of(job)), briefs, job.input.ranking, searches))
