"""A table for readers: its columns and its data."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal, NamedTuple, get_args

import pandas as pd

from narxbench._report import formats
from narxbench._report.formats import Form, OutputFormat, escape

_Left = Literal["text", "term", "prose", "evidence", "method", "criterion", "equation", "symbol"]
Kind = _Left | Form | Literal["snr", "p_value", "bias"]

_FORMS: Mapping[str, Callable[[Any], str]] = {
    "method": formats.method_name,
    "criterion": formats.criterion_name,
    "number": formats.number,
    "count": formats.count,
    "significant": formats.significant,
    "share": formats.share,
    "tenths": formats.tenths,
    "frequency": lambda value: formats.rounded(float(value)),
    "snr": formats.snr,
    "fitness": lambda value: formats.fixed(value, 1),
    "p_value": formats.p_value,
    "effect": lambda value: formats.fixed(value, 2),
    "bias": formats.signed,
}
# Kinds of values with their own markup. All others are escaped text.
_MARKUP: Mapping[str, Callable[[str, OutputFormat], str]] = {
    "equation": formats.format_equation,
    **dict.fromkeys(("term", "prose", "evidence"), formats.format_math),
    "symbol": formats.format_symbol,
}
# Widths in rem of row headers on the page, so that a second one can stay in view next to the first.
_WIDTHS = {"criterion": 7.4, "snr": 3.6, "method": 5.2}
# Wider ones would be scaled down too far to be read: in one of the two columns of a page of the class IEEEtran, or in
# both.
_CHARACTERS_OF_A_NARROW_TABLE, _COLUMNS_OF_A_WIDE_TABLE = 80, 20


class Column(NamedTuple):
    """A column: its key in the data, heading, a heading that it shares with its neighbours, and how values are shown.

    Values of the kind ``term`` are terms and their labels, values of ``prose`` and ``evidence`` sentences of this
    project. Symbols in all of them are set as mathematics. The kind ``evidence`` is too long for a printed page and is
    omitted in LaTeX.
    """

    key: str
    heading: str
    group: str = ""
    kind: Kind = "text"
    form: Callable[[Any], str] | None = None
    """How values are written, if not in the way of the kind."""

    @property
    def left(self) -> bool:
        """Whether values are aligned to the left, as text is."""
        return self.kind in get_args(_Left)

    def show(self, value: Any, output_format: OutputFormat) -> str:
        """Return a value as readers see it, escaped for the format."""
        if pd.isna(value):
            return escape(formats.MISSING, output_format)
        if self.kind in _MARKUP:
            return _MARKUP[self.kind](str(value), output_format)
        form = self.form or _FORMS.get(self.kind, str)
        text = escape(form(value), output_format)
        if self.kind == "snr" and output_format == "latex":
            return text.replace(" ", "~")
        return text


def columns(kind: Kind = "text", group: str = "", **headings: str) -> tuple[Column, ...]:
    """Return columns of one kind under a shared heading, from their own headings by key."""
    return tuple(Column(key, heading, group, kind) for key, heading in headings.items())


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows, each a mapping from column to value, with None for missing values."""
    rows: list[dict[str, Any]] = frame.astype(object).where(frame.notna(), None).rename(columns=str).to_dict("records")
    return rows


Mark = Literal["lower", "higher"]
# The arrow of a value that differs clearly from the one it is compared with.
ARROWS: Mapping[str, str] = {"lower": "↓", "higher": "↑"}


@dataclass(frozen=True)
class Table:
    """A table whose ``data`` have a column for each of ``columns`` and perhaps more.

    The first ``row_headers`` columns head their rows. The first ``merged`` of these show a repeated value once.
    ``marks`` has the clearly different values of each row by the key of the column, and is empty without a comparison.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    data: pd.DataFrame
    notes: tuple[str, ...] = ()
    row_headers: int = 1
    merged: int = 0
    marks: tuple[Mapping[str, Mark], ...] = ()

    @classmethod
    def of(
        cls, name: str, caption: str, columns: Sequence[Column], rows: Iterable[Any], **further_fields: Any
    ) -> "Table":
        """Return the table of rows that have a value for each column."""
        data = pd.DataFrame(list(rows), columns=[column.key for column in columns])
        return cls(name, caption, tuple(columns), data, **further_fields)

    @property
    def width(self) -> Literal["narrow", "wide", "dense"]:
        """The width of the table: half of a page, all of it, or, for very many columns, all with less space between."""
        if len(self.columns) > _COLUMNS_OF_A_WIDE_TABLE:
            return "dense"
        characters = 0
        for column, *values in zip(self.columns, *self.rows("plain"), strict=True):
            characters += max(map(len, [column.heading, *values])) + 2
        return "narrow" if characters <= _CHARACTERS_OF_A_NARROW_TABLE else "wide"

    @property
    def values(self) -> pd.DataFrame:
        """The data of the columns, in the order of the columns."""
        return self.data[[column.key for column in self.columns]]

    def rows(self, output_format: OutputFormat) -> list[list[str]]:
        """Return all values as readers see them, escaped for the format."""
        rows = []
        for values in self.values.astype(object).itertuples(index=False, name=None):
            rows.append([column.show(value, output_format) for column, value in zip(self.columns, values, strict=True)])
        keys = [column.key for column in self.columns]
        for row, marks in zip(rows, self.marks, strict=False):
            for key, mark in marks.items():
                place = keys.index(key)
                arrow = escape(ARROWS[mark], output_format)
                row[place] = f"{formats.bold(row[place], output_format)} {arrow}"
        return rows

    def groups(self) -> list[tuple[str, list[tuple[int, Column]]]]:
        """Return neighbouring columns with their places by their shared heading, which may be empty."""
        groups = groupby(enumerate(self.columns), lambda entry: entry[1].group)
        return [(group, list(entries)) for group, entries in groups]

    def spans(self) -> list[list[int]]:
        """Return for each row how many rows each merged value spans, or 0 if it is part of a span above."""
        rows = list(self.values.iloc[:, : self.merged].itertuples(index=False, name=None))
        spans = [[0] * self.merged for _ in range(len(self.data))]
        for column in range(self.merged):
            start = 0
            for index, row in enumerate(rows):
                if row[: column + 1] != rows[start][: column + 1]:
                    start = index
                spans[start][column] += 1
        return spans

    def edges(self) -> Iterator[tuple[float, float | None]]:
        """Yield the left edge and the width in rem of each row header that stays in view.

        The last one may have the width None, which fits the content.
        """
        left = 0.0
        for column in self.columns[: self.row_headers]:
            width = 3.6 if column.key == "system" else None
            width = _WIDTHS.get(column.kind, width)
            yield left, width
            if width is None:
                return
            left += width
