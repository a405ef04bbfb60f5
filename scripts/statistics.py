"""Compute the statistics over the runs of all cells."""

import logging
from collections.abc import Sequence

from narxbench import statistics, tables
from narxbench.files import canonical_json, write_atomically


def write_statistics(cells: Sequence[str], all_statistics: str, recovery: str, search_comparison: str) -> None:
    """Write all statistics as JSON, and recovery rates and comparisons of searches as CSV."""
    found = statistics.analyse(tables.load_cells(cells))
    write_atomically(all_statistics, canonical_json(found))
    write_atomically(recovery, statistics.recovery_csv(found["recovery"]))
    write_atomically(search_comparison, statistics.search_comparison_csv(found["comparisons"]))


if __name__ == "__main__":
    # Snakemake defines this name before it runs the script.
    job = globals()["snakemake"]
    logging.basicConfig(filename=job.log[0])
    logging.captureWarnings(True)
    write_statistics(**dict(job.input.items()), **dict(job.output.items()))
