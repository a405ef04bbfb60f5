"""The page with the paper's tables and figures as it prints them: each value of the paper above the run's."""

from collections.abc import Iterator
from typing import Any

from narxbench._report.table import ARROWS
from narxbench._report.templating import to_html
from narxbench._studies.paper.printed import NUMERALS, ValueTable, explain_command, term_names
from narxbench._studies.paper.published import RUNS
from narxbench._studies.paper.report_page import figure_notes, figures
from narxbench._studies.paper.site import Material
from narxbench._studies.paper.tables import final_structures, settings_table, shared_criterion, systems_table

_PAGE = "as_printed"


def printed_page(material: Material) -> str:
    """Return the page of tables I to VII, of what the run has besides, of figures 1 and 2, and final structures."""
    settings, criterion = material.settings, shared_criterion(material.settings)
    structures = []
    for system in settings["systems"]:
        table = final_structures(system, material.summaries, criterion, settings, material.published)
        structures.append({"html": to_html(table), "files": _files(material, table.name)})
    tables = list(_value_tables(material))
    values = {
        "status": material.status,
        "kept": material.kept,
        "arrows": ARROWS,
        "systems": {"html": to_html(systems_table(material.systems)), "files": _files(material, "table_1")},
        "settings_table": {"html": to_html(settings_table(settings)), "files": _files(material, "table_2")},
        "paper_tables": [table for table in tables if table["numeral"]],
        "further_tables": [table for table in tables if not table["numeral"]],
        "structures": structures,
        "figures": figures(material),
        "figure_notes": figure_notes(material),
        "paper_runs": RUNS,
        "run_command": material.command,
    }
    return material.site.page(_PAGE, values)


def _files(material: Material, name: str) -> dict[str, str]:
    """Return the base of the addresses of a table's files, and the command that makes them."""
    target = f"reports/{material.settings['study']}/tables/{name}.csv"
    return {"address": f"{material.site.folder(_PAGE)}tables/{name}", "command": material.command(target)}


def _value_tables(material: Material) -> Iterator[dict[str, Any]]:
    """Yield the tables of values that have any of the run, with what a page says of each."""
    for name, table in material.values.items():
        if not table.values:
            continue
        marks = [mark for condition in table.conditions for mark in condition.marks.values()]
        yield {
            "name": name,
            "numeral": NUMERALS.get(name, ""),
            "table": table,
            "terms": term_names(table),
            "n_values": len(table.values),
            "lower": marks.count("lower"),
            "higher": marks.count("higher"),
            "roles": _kept_roles(table),
            "explain": explain_command(_first_with_values(table), "r"),
            "files": _files(material, name),
        }


def _kept_roles(table: ValueTable) -> list[str]:
    """Return the interpretations of which values of a table are kept."""
    roles: dict[str, None] = {}
    for condition in table.conditions:
        roles |= dict.fromkeys(condition.kept)
    return list(roles)


def _first_with_values(table: ValueTable) -> tuple[str, float, str, str]:
    """Return the first condition of a table that the run has."""
    return next(condition.place for condition in table.conditions if condition.run)
