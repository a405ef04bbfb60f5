"""Make the frames of a study from the summaries of its conditions."""

from typing import Any

from narxbench._io.csv import write_table
from narxbench._io.files import write_atomically
from narxbench._studies.paper.analysis import analyse
from narxbench._studies.paper.claims import load_claims
from narxbench._studies.paper.frames import conditions_frame, load_summaries
from narxbench._studies.paper.published import load_published


def main(job: Any) -> None:
    """Write every frame."""
    summaries = load_summaries(job.input.summaries)
    published = load_published(job.input.published, job.input.system_terms)
    if [*job.output.keys()] == ["conditions"]:
        frames = {"conditions": conditions_frame(summaries, published)}
    else:
        claims = load_claims(job.input.claims)
        frames = analyse(summaries, published, claims, confidence=job.params.confidence)
    for name, path in job.output.items():
        write_atomically(path, write_table(frames[name]))
