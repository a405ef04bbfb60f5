"""Draw the paper's figures."""

from collections.abc import Sequence

from scripts.step import step

from narxbench import plots, tables
from narxbench.io.files import write_atomically
from narxbench.analysis.published import load_published


def figure_convergence(cells: Sequence[str], snr_db: float, pdf: str, svg: str) -> None:
    """Draw the convergence of every search on every system at one SNR."""
    _write(plots.convergence(tables.load_cells(cells), snr_db), pdf, svg)


def figure_term_frequency(
    cells: Sequence[str], published: str, system_terms: str, snr_db: float, pdf: str, svg: str
) -> None:
    """Draw the selection frequency of every candidate term at one SNR."""
    known = load_published(published, system_terms)
    _write(plots.term_frequency(tables.load_cells(cells), snr_db, known), pdf, svg)


def _write(figure: dict[str, bytes], pdf: str, svg: str) -> None:
    write_atomically(pdf, figure["pdf"])
    write_atomically(svg, figure["svg"])


if __name__ == "__main__":
    # Snakemake defines this name before it runs the script.
    job = globals()["snakemake"]
    with step(job.log[0], job.input.cells, job.params.definitions):
        draw = {"figure_convergence": figure_convergence, "figure_term_frequency": figure_term_frequency}[job.rule]
        draw(**dict(job.input.items()), snr_db=job.params.snr_db, **dict(job.output.items()))
