"""Estimate the model of the structure that was chosen, and write its report."""

from pathlib import Path
from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.steps import settings_of
from narxbench._report.model_page import write_report
from narxbench._studies.measured.jobs import conclusion, scan_of


def main(job: Any) -> None:
    """Write the page, the model, its numbers and its programs."""
    identification = conclusion(scan_of(**settings_of(job)), job.input.choice, list(job.input.resampled))
    write_report(identification, Path(job.output[0]).parent)
    for path in filter(lambda path: not Path(path).exists(), job.output):
        write_atomically(path, "# There is no such program of this model: see report.html.\n")
