"""Take a picture of the first screen of the page."""

from typing import Any

from narxbench.io.files import write_atomically
from narxbench.pipeline.steps import as_script
from narxbench.report.screenshot import screenshot


def main(job: Any) -> None:
    """Write the picture."""
    write_atomically(job.output[0], screenshot(job.input[0]))


as_script(main, globals())
