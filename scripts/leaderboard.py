"""Write the page of a comparison of methods, and its answer in a line."""

import os
from pathlib import Path
from typing import Any

from narxbench._io.files import write_atomically
from narxbench._studies.methods.answer import answer_line
from narxbench._studies.methods.frames import read_frames
from narxbench._studies.methods.page import leaderboard_page
from narxbench._studies.methods.repeats import read_repeats
from narxbench._studies.methods.views import Comparison, read_cost


def main(job: Any) -> None:
    """Write the page."""
    study = job.params.study
    folder = os.path.relpath(f"reports/{study['study']}", Path(job.output[0]).parent)
    cost, repeats = read_cost(job.input.cost), read_repeats(job.input.repeats)
    comparison = Comparison(read_frames(job.input), study, cost, repeats, job.params.added)
    page = leaderboard_page(
        comparison,
        left_out=job.params.left_out,
        folder="" if folder == "." else f"{folder}/",
        paper=Path("reports/report.html").is_file(),
    )
    write_atomically(job.output[0], page)
    write_atomically(job.output.answer, f"{answer_line(comparison)}\n")
