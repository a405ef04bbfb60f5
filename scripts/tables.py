"""Write the paper's tables."""

from pathlib import Path
from typing import Any

from narxbench._io.files import write_atomically
from narxbench._model.system import load_system
from narxbench._pipeline.steps import settings_of
from narxbench._studies.paper.claims import load_claims
from narxbench._studies.paper.frames import read_frames
from narxbench._studies.paper.tables import paper_tables
from narxbench._study.table_files import table_files


def main(job: Any) -> None:
    """Write every table in each form."""
    frames = read_frames(job.input)
    claims = load_claims(job.input.claim_texts)
    systems = [load_system(Path(path).stem) for path in job.input.systems]
    files = table_files(paper_tables(frames, settings_of(job)["study"], systems, claims))
    for path in job.output:
        write_atomically(path, files[Path(path).name])
