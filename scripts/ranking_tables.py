"""Write tables and figures of a comparison of methods, and the answer in a few lines."""

from pathlib import Path
from typing import Any

from narxbench._io.files import write_atomically
from narxbench._studies.methods.answer import answer_lines, list_text
from narxbench._studies.methods.figures import leaderboard_figures
from narxbench._studies.methods.frames import read_frames
from narxbench._studies.methods.repeats import read_repeats
from narxbench._studies.methods.tables import leaderboard_tables
from narxbench._studies.methods.views import Comparison, read_cost
from narxbench._study.table_files import table_files


def main(job: Any) -> None:
    """Write every table in each form, every figure, and the answer."""
    cost, repeats = read_cost(job.input.cost), read_repeats(job.input.repeats)
    comparison = Comparison(read_frames(job.input), job.params.study, cost, repeats)
    files: dict[str, str | bytes] = {**table_files(leaderboard_tables(comparison)), **leaderboard_figures(comparison)}
    files["answer.md"] = list_text(answer_lines(comparison))
    for path in job.output:
        write_atomically(path, files[Path(path).name])
