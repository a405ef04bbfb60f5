"""The files of a table: CSV, Markdown and LaTeX."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd

from narxbench.io.csv import guarded
from narxbench.report.table import Table
from narxbench.report.templating import rendered

TEMPLATES = Path(__file__).parent / "templates"


def to_csv(table: Table) -> str:
    """Return the data with numbers at full precision and empty fields for what is missing.

    A column KEY with published values is followed by these, KEY_published, and by whether the two differ clearly,
    KEY_different. Texts are :func:`narxbench.io.csv.guarded`.
    """
    compared = {key for found in table.comparisons for key in found}
    shown = {}
    for place, column in enumerate(table.columns):
        values = table.data[column.key]
        shown[column.key] = values.map("{:g}".format) if column.kind == "snr" else values
        if column.key in compared:
            found = [row[place] for row in table.compared_rows()]
            shown[f"{column.key}_published"] = pd.Series([each and each.published for each in found], values.index)
            verdicts = [each and str(each.different).lower() for each in found]
            shown[f"{column.key}_different"] = pd.Series(verdicts, values.index)
    fields = pd.DataFrame(shown).map(lambda value: guarded(value) if isinstance(value, str) else value)
    return str(fields.to_csv(index=False, lineterminator="\n"))


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
    lines = [1 + any(row) for row in table.compared_rows()]
    heights = [[sum(lines[row : row + span]) for span in spans] for row, spans in enumerate(table.spans())]
    environment = "table" if table.width == "narrow" else "table*"
    given = {"environment": environment, "spec": spec, "label": label, "heights": heights}
    return rendered("table.tex.j2", {"table": table, **given}, TEMPLATES)


def table_files(tables: Mapping[str, Table]) -> dict[str, str]:
    """Return the content of the files of all tables by file name: CSV, Markdown and LaTeX of each."""
    forms = {"csv": to_csv, "md": to_markdown, "tex": to_latex}
    return {f"{name}.{suffix}": form(table) for name, table in tables.items() for suffix, form in forms.items()}
