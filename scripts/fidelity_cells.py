"""Collect the cells of the sensitivity experiment in one table."""

from collections.abc import Sequence
from typing import Any

from scripts.step import step

from narxbench.analysis.multiverse_frame import ReadingCell, write_cells
from narxbench.io.files import read_sealed, write_atomically
from narxbench.analysis.published import Published, load_published

DIGITS = 6  # decimals of J, of which whole units matter


def collect(cells: Sequence[str], published: str, system_terms: str, output: str) -> None:
    """Write one row for each cell file."""
    known = load_published(published, system_terms)
    found = map(read_sealed, cells)
    write_atomically(output, write_cells(reading_cell(cell, known) for cell in found))


def reading_cell(cell: dict[str, Any], published: Published) -> ReadingCell:
    """Return a cell file's content with the counts of its system terms in label order, and J rounded."""
    axes = cell["axes"]
    labels = published.labels(axes["system"], list(cell["counts"]))
    by_label = {label: cell["counts"][term] for term, label in labels.items()}
    same = ("runs", "evaluations", "spurious", "nu_max", "exact_runs", "cardinality", "last_improvement")
    rounded = ("true_fitness", "best_fitness", "median_fitness", "third_fitness")
    return ReadingCell(
        **{name: axes[name] for name in ("algorithm", "choices", "data_seed", "system", "criterion")},
        snr_db=float(axes["snr_db"]),
        nu=tuple(by_label.values()),
        curve=tuple(map(_rounded, cell["curve"])),
        **{name: cell[name] for name in same},
        **{name: _rounded(cell[name]) for name in rounded},
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


if __name__ == "__main__":
    # Snakemake defines this name before it runs the script.
    job = globals()["snakemake"]
    with step(job.log[0]):
        collect(**dict(job.input.items()), output=job.output[0])
