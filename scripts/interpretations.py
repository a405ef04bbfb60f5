"""Write the document on what each interpretation of the paper does to its results."""

from pathlib import Path
from typing import Any

from narxbench._io.files import write_atomically
from narxbench._studies.paper.claims import load_claims
from narxbench._studies.paper.frames import read_frame
from narxbench._studies.paper.interpretations.document import interpretations_report
from narxbench._studies.paper.published import load_published
from narxbench._study.design_choices import load_design_choices


def main(job: Any) -> None:
    """Write document, figures and tables."""
    frame, choices = read_frame("conditions", job.input.conditions), load_design_choices(job.input.choices)
    published, claims = load_published(job.input.published, job.input.system_terms), load_claims(job.input.claims)
    files = interpretations_report(frame, choices, published, claims)
    for path in job.output:
        write_atomically(path, files[str(Path(path).relative_to(Path(job.output[0]).parent))])
