"""Write the paper's tables and the tidy tables of all cells."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.step import step

from narxbench import tables
from narxbench.io.files import write_atomically
from narxbench.analysis.published import load_published
from narxbench.model.system import load_system


def write_table(table: tables.Table, csv: str, md: str, tex: str) -> None:
    """Write one table in its three forms."""
    write_atomically(csv, tables.to_csv(table))
    write_atomically(md, tables.to_markdown(table))
    write_atomically(tex, tables.to_latex(table))


def table_test_systems(systems: Sequence[str]) -> tables.Table:
    """Return the table of the systems that the given YAML files describe."""
    return tables.systems_table(load_system(Path(path).stem, Path(path).parent) for path in systems)


def table_search_settings(searches: Mapping[str, Mapping[str, Any]], runs: int, evaluations: int) -> tables.Table:
    """Return the table of search settings."""
    return tables.settings_table(searches, runs, evaluations)


def table_fitness(system: str, cells: Sequence[str], published: str, system_terms: str) -> tables.Table:
    """Return the table of the fitness functions on one system from files of cells."""
    return tables.fitness_table(system, tables.load_cells(cells), load_published(published, system_terms))


def table_comparison(
    system: str, criterion: str, cells: Sequence[str], published: str, system_terms: str
) -> tables.Table:
    """Return the comparison of searches on one system under one criterion from files of cells."""
    known = load_published(published, system_terms)
    return tables.comparison_table(system, tables.load_cells(cells), known, criterion)


def tidy_tables(
    cells: Sequence[str], published: str, system_terms: str, selection_frequency: str, cell_summaries: str
) -> None:
    """Write all candidate terms of all cells, and one row for each cell."""
    loaded = tables.load_cells(cells)
    known = load_published(published, system_terms)
    write_atomically(selection_frequency, tables.selection_frequency_csv(loaded, known))
    write_atomically(cell_summaries, tables.cells_csv(loaded))


if __name__ == "__main__":
    # Snakemake defines this name before it runs the script.
    job = globals()["snakemake"]
    with step(job.log[0], job.input.get("cells", ()), job.params.get("definitions", ())):
        given = dict(job.input.items())
        if job.rule == "tidy_tables":
            tidy_tables(**given, **dict(job.output.items()))
        else:
            build = {
                "table_test_systems": table_test_systems,
                "table_search_settings": table_search_settings,
                "table_fitness": table_fitness,
                "table_comparison": table_comparison,
            }[job.rule]
            settings = {name: value for name, value in job.params.items() if name not in ("code", "definitions")}
            write_table(build(**given, **settings), **dict(job.output.items()))
