"""Write the page of a study."""

from typing import Any

from narxbench.io.files import write_atomically
from narxbench.pipeline.steps import as_script
from narxbench.report.study_page import study_page


def main(job: Any) -> None:
    """Write the page."""
    write_atomically(job.output[0], study_page(job.input, job.params.settings, job.params.folder))


as_script(main, globals())
