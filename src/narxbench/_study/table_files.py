"""The files of a table: CSV, Markdown and LaTeX."""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from narxbench._io.csv import guarded
from narxbench._report.table import Table
from narxbench._report.templating import rendered

TEMPLATES = Path(__file__).parent / "templates"


def to_csv(table: Table) -> str:
    """Return the data with numbers at full precision. A missing value is an empty field.

    Where values were compared, a last column ``differs`` names those that differ clearly, as in ``r lower; T3 higher``.
    Texts are :func:`narxbench._io.csv.guarded`.
    """
    fields = {}
    for column in table.columns:
        values = table.data[column.key]
        fields[column.key] = values.map("{:g}".format) if column.kind == "snr" else values
    if table.marks:
        differing = ["; ".join(map(" ".join, marks.items())) for marks in table.marks]
        fields["differs"] = pd.Series(differing, table.data.index)
    return str(pd.DataFrame(fields).map(_guarded_field).to_csv(index=False, lineterminator="\n"))


def _guarded_field(value: Any) -> Any:
    """Return a field so that a text in it is not a formula of a spreadsheet."""
    return guarded(value) if isinstance(value, str) else value


def to_markdown(table: Table) -> str:
    """Return the table as GitHub-flavoured Markdown, with the caption in bold above and the notes below."""
    return rendered("table.md.j2", {"table": table}, TEMPLATES)


def to_latex(table: Table) -> str:
    """Return the table as a LaTeX float that needs the packages booktabs, multirow and adjustbox.

    A table with long texts or many columns spans both columns of the page. One that is too large is scaled down.
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
        "heights": table.spans(),
    }
    return rendered("table.tex.j2", values, TEMPLATES)


def table_files(tables: Mapping[str, Table]) -> dict[str, str]:
    """Return the content of the files of all tables by file name: CSV, Markdown and LaTeX of each."""
    forms = {"csv": to_csv, "md": to_markdown, "tex": to_latex}
    files = {}
    for (name, table), (suffix, form) in product(tables.items(), forms.items()):
        files[f"{name}.{suffix}"] = form(table)
    return files
