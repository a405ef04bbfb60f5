"""Write the tables of a comparison of methods, and the answer in a few lines."""

from pathlib import Path
from typing import Any

from narxbench.analysis.frames import read_frames
from narxbench.experiment.contributions import load_contributions
from narxbench.io.files import write_atomically
from narxbench.pipeline.steps import as_script
from narxbench.report.leaderboard_answer import answer_lines
from narxbench.report.leaderboard_tables import leaderboard_tables, read_cost
from narxbench.report.tables import table_files


def main(job: Any) -> None:
    """Write every table in each form, and the answer."""
    frames, cost = read_frames(job.input), read_cost(job.input.cost)
    others = [found.method for found in load_contributions(job.input.contributed)]
    files = table_files(leaderboard_tables(frames, cost, others))
    files["answer.md"] = "\n".join(f"- {line}" for line in answer_lines(frames, cost, others)) + "\n"
    for path in job.output:
        write_atomically(path, files[Path(path).name])


as_script(main, globals())
