"""Compare the reproduced values with the published ones."""

from collections.abc import Sequence

from scripts.step import step

from narxbench import compare, tables
from narxbench.io.files import write_atomically
from narxbench.analysis.published import load_published


def write_comparison(
    cells: Sequence[str], published: str, system_terms: str, rows: str, csv: str, md: str, tex: str
) -> None:
    """Write a row for each published value, and the overview of the agreement in three forms."""
    comparisons = compare.compare(load_published(published, system_terms), tables.load_cells(cells))
    overview = compare.agreement_table(compare.agreement(comparisons))
    write_atomically(rows, compare.comparison_csv(comparisons))
    write_atomically(csv, tables.to_csv(overview))
    write_atomically(md, tables.to_markdown(overview))
    write_atomically(tex, tables.to_latex(overview))


if __name__ == "__main__":
    # Snakemake defines this name before it runs the script.
    job = globals()["snakemake"]
    with step(job.log[0], job.input.cells, job.params.definitions):
        write_comparison(**dict(job.input.items()), **dict(job.output.items()))
