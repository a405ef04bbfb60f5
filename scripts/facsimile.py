"""Write the paper's tables and figures as it prints them, and the final structures."""

from pathlib import Path
from typing import Any

from narxbench._io.files import write_atomically
from narxbench._model.system import load_system
from narxbench._pipeline.steps import settings_of
from narxbench._studies.paper.facsimile import facsimile_tables
from narxbench._studies.paper.facsimile_figures import facsimile_figures
from narxbench._studies.paper.frames import load_summaries, read_frames
from narxbench._studies.paper.published import load_published
from narxbench._study.design_choices import load_design_choices
from narxbench._study.table_files import table_files


def main(job: Any) -> None:
    """Write every table and every figure in each form."""
    frames, settings = read_frames(job.input), settings_of(job)["study"]
    published = load_published(job.input.published, job.input.system_terms)
    systems = [load_system(Path(path).stem) for path in job.input.systems]
    summaries, choices = load_summaries(job.input.summaries), load_design_choices(job.input.choices)
    tables = facsimile_tables(frames["values"], summaries, settings, systems, published, choices)
    files = table_files(tables) | facsimile_figures(frames, settings)
    for path in job.output:
        write_atomically(path, files[Path(path).name])
