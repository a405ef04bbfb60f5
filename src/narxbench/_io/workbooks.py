"""Sheets of Excel workbooks as text with commas, which is read like any other text."""

import csv
import io
import warnings
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Any

from narxbench._io.errors import FileError
from narxbench._io.extras import require_packages
from narxbench._io.formats import DataFile, part_error


def text_of_sheet(file: DataFile) -> str:
    """Return the sheet of a workbook that its user wants, or the only one that is not empty.

    Empty columns on the left and empty rows at the end are left out.
    """
    require_packages(["openpyxl"], file.path)
    import openpyxl

    try:
        with warnings.catch_warnings():
            # Unknown styles and drawings do not matter here.
            warnings.simplefilter("ignore")
            workbook = openpyxl.load_workbook(io.BytesIO(file.content), read_only=True, data_only=True)
            names = [sheet.title for sheet in workbook.worksheets]
            rows_by_name = {name: _rows(workbook[name]) for name in names if file.part in (None, name)}
    except Exception:  # libraries raise errors of any kind for a damaged file
        problem = "cannot be read: not in the format of Excel, damaged, or encrypted"
        raise FileError(f"{file.path}: {problem}; needed: a whole file, or CSV") from None
    name = _filled_sheet(file, names, rows_by_name)
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows_by_name[name])
    return stream.getvalue()


def _filled_sheet(file: DataFile, names: list[str], rows_by_name: Mapping[str, list[list[str]]]) -> str:
    """Return the name of the only sheet with values among those that were read."""
    if file.part is not None and file.part not in names:
        raise part_error(file, "sheets", names)
    filled_names = [name for name, rows in rows_by_name.items() if rows]
    if not filled_names:
        raise FileError(f"{file.path}: found no cells with values; needed: columns of numbers")
    if len(filled_names) > 1:
        raise part_error(file, "sheets", filled_names)
    return filled_names[0]


def _rows(sheet: Any) -> list[list[str]]:
    rows = [list(map(_text, row)) for row in sheet.iter_rows(values_only=True)]
    while rows and not any(rows[-1]):
        rows.pop()
    if not rows:
        return []
    first = min(_first_filled(row) for row in rows)
    width = max(map(len, rows))
    return [row[first:] + [""] * (width - len(row)) if any(row) else [] for row in rows]


def _first_filled(row: list[str]) -> int:
    """Return the place of the first cell with a value, or the length of a row without any."""
    place = 0
    while place < len(row) and not row[place]:
        place += 1
    return place


def _text(value: Any) -> str:
    """Return the text of a cell in one line, which reads as a number or a time if the cell holds one."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, timedelta):
        return repr(value.total_seconds())
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    return " ".join(str(value).split())
