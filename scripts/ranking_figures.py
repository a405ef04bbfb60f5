"""Draw the figures of a comparison of methods."""

from pathlib import Path
from typing import Any

from narxbench.analysis.frames import read_frames
from narxbench.io.files import write_atomically
from narxbench.pipeline.steps import as_script
from narxbench.report.leaderboard_figures import leaderboard_figures


def main(job: Any) -> None:
    """Write every figure in each form."""
    files = leaderboard_figures(read_frames(job.input))
    for path in job.output:
        write_atomically(path, files[Path(path).name])


as_script(main, globals())
