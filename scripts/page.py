"""Write the page of a study."""

import os
from pathlib import Path
from typing import Any

from narxbench.io.files import write_atomically
from narxbench.pipeline.steps import as_script
from narxbench.report.page import study_page


def main(job: Any) -> None:
    """Write the page."""
    folder = os.path.relpath(f"reports/{job.params.settings['study']}", Path(job.output[0]).parent)
    write_atomically(job.output[0], study_page(job.input, job.params.settings, "" if folder == "." else f"{folder}/"))


as_script(main, globals())
