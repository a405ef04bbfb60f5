"""Compute the statistics over the runs of all cells."""

from collections.abc import Sequence

from scripts.step import step

from narxbench import statistics, tables
from narxbench.io.files import sealed_json, write_atomically


def write_statistics(cells: Sequence[str], all_statistics: str, recovery: str, search_comparison: str) -> None:
    """Write all statistics as JSON, and recovery rates and comparisons of searches as CSV."""
    found = statistics.analyse(tables.load_cells(cells))
    write_atomically(all_statistics, sealed_json({**found, "cells_sha256": tables.cells_digest(cells)}))
    write_atomically(recovery, statistics.recovery_csv(found["recovery"]))
    write_atomically(search_comparison, statistics.search_comparison_csv(found["comparisons"]))


if __name__ == "__main__":
    # Snakemake defines this name before it runs the script.
    job = globals()["snakemake"]
    with step(job.log[0], job.input.cells, job.params.definitions):
        write_statistics(**dict(job.input.items()), **dict(job.output.items()))
