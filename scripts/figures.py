"""Draw the paper's figures."""

from pathlib import Path
from typing import Any

from narxbench._io.files import write_atomically
from narxbench._studies.paper.figures import paper_figures
from narxbench._studies.paper.frames import read_frames


def main(job: Any) -> None:
    """Write every figure in each form."""
    frames = read_frames(job.input)
    files = paper_figures(frames, job.params.study)
    for path in job.output:
        write_atomically(path, files[Path(path).name])
