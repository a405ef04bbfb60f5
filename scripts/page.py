"""Write the pages of a study."""

from pathlib import Path
from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.steps import settings_of
from narxbench._studies.paper.page import study_pages


def main(job: Any) -> None:
    """Write the pages, each under its name."""
    settings = settings_of(job)["study"]
    above = Path(job.output[0]).parent.name != settings["study"]
    pages = study_pages(job.input, settings, above=above, document_only=len(job.output) == 1)
    for path in job.output:
        write_atomically(path, pages[Path(path).name])
