"""The files of a table: CSV, Markdown and LaTeX."""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from typing import Any

import pandas as pd

from narxbench._io.csv import guarded
from narxbench._report.table import Table
from narxbench._report.templating import rendered

TEMPLATES = Path(__file__).parent / "templates"


def to_csv(table: Table) -> str:
    """Return the data with numbers at full precision; a missing value is an empty field.

    Two columns follow a column KEY that has published values: KEY_published has these, and KEY_different says whether
    the two differ clearly. Texts are :func:`narxbench._io.csv.guarded`.
    """
    compared_columns = set(chain.from_iterable(table.comparisons))
    fields = {}
    for place, column in enumerate(table.columns):
        values = table.data[column.key]
        fields[column.key] = values.map("{:g}".format) if column.kind == "snr" else values
        if column.key in compared_columns:
            published, verdicts = _compared_fields(table, place)
            fields[f"{column.key}_published"] = pd.Series(published, values.index)
            fields[f"{column.key}_different"] = pd.Series(verdicts, values.index)
    return str(pd.DataFrame(fields).map(_guarded_field).to_csv(index=False, lineterminator="\n"))


def _compared_fields(table: Table, place: int) -> tuple[list[float | None], list[str | None]]:
    """Return the published values of a column, and whether they differ clearly; None in rows without any."""
    published: list[float | None] = []
    verdicts: list[str | None] = []
    for row in table.compared_rows():
        comparison = row[place]
        published.append(comparison and comparison.published)
        verdicts.append(comparison and str(comparison.different).lower())
    return published, verdicts


def _guarded_field(value: Any) -> Any:
    """Return a field so that a text in it is no formula of a spreadsheet."""
    return guarded(value) if isinstance(value, str) else value


def to_markdown(table: Table) -> str:
    """Return the table as GitHub-flavoured Markdown; caption in bold above, notes below."""
    return rendered("table.md.j2", {"table": table}, TEMPLATES)


def to_latex(table: Table) -> str:
    """Return the table as a LaTeX float that needs the packages booktabs, multirow and adjustbox.

    A table with long texts or many columns spans both columns of the page. One that is too large is scaled down.
    Published values stand below the reproduced ones, in a line of their own.
    """
    table = replace(table, columns=tuple(column for column in table.columns if column.kind != "evidence"))
    kinds = [column.kind for column in table.columns]
    widths = {"equation": r"p{0.7\linewidth}", "prose": rf"p{{{0.8 / max(kinds.count('prose'), 1):.2g}\linewidth}}"}
    spec = "".join(widths.get(column.kind, "l" if column.left else "c") for column in table.columns)
    label = re.sub("[^A-Za-z0-9]+", "-", table.name)
    values = {
        "table": table,
        "environment": "table" if table.width == "narrow" else "table*",
        "spec": spec,
        "label": label,
        "heights": _heights(table),
    }
    return rendered("table.tex.j2", values, TEMPLATES)


def _heights(table: Table) -> list[list[int]]:
    """Return how many lines each merged value spans: a row with published values has two."""
    lines = [1 + any(row) for row in table.compared_rows()]
    heights = []
    for row, spans in enumerate(table.spans()):
        heights.append([sum(lines[row : row + span]) for span in spans])
    return heights


def table_files(tables: Mapping[str, Table]) -> dict[str, str]:
    """Return the content of the files of all tables by file name: CSV, Markdown and LaTeX of each."""
    forms = {"csv": to_csv, "md": to_markdown, "tex": to_latex}
    files = {}
    for (name, table), (suffix, form) in product(tables.items(), forms.items()):
        files[f"{name}.{suffix}"] = form(table)
    return files
