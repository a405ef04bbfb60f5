r"""Text files of measured data become frames of pandas.

This module finds where the samples begin: the separator (``,`` ``;`` tab or runs of blanks), the header block of an
instrument, names and units, the decimal mark. pandas reads the samples. Tables of the project itself are read by
:mod:`narxbench._io.csv`, which allows one form only.
"""

import csv
import io
import re
import sys
import warnings
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from narxbench._io.csv import rows_of
from narxbench._io.decimals import MARKS, marks_of, settled_mark
from narxbench._io.encodings import BEGINNING, check_encoding
from narxbench._io.errors import FieldError, FileError, did_you_mean, is_whole_number, show
from narxbench._io.fields import MISSING, is_missing, is_numeric, is_value
from narxbench._io.headers import SAMPLE_ROWS, Header, find_header, has_fields, header_notes, sample_form
from narxbench._io.units import split_names

# In the order in which they are preferred where two fit equally well.
SEPARATORS = (";", "\t", ",", " ")
# What ``read`` may say of a text, in the words of pandas.read_csv.
OPTIONS = ("sep", "decimal", "header", "skiprows", "encoding")
_WORDS_OF_SEPARATORS = {"tab": "\t", "\\t": "\t", "blank": " ", "\\s+": " "}
# The line above a table by which spreadsheets learn the separator.
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
# No column has such a name.
_TRUE_OR_FALSE = ("true", "false")
# The most columns of a table: a line with more separators does not hold measured data.
_MOST_COLUMNS = 10_000
# Bytes of the beginning of a text that has long lines: as many rows of this many numbers with all their digits.
_LONG_BEGINNING = SAMPLE_ROWS * _MOST_COLUMNS * len(f"{-sys.float_info.min!r},")
_MISSING = sorted({form(word) for word in MISSING for form in (str, str.upper, str.capitalize)} | {"NaN", "NaT"})
# Older versions of pandas read the last digit of some numbers wrong by default.
_EXACT: Mapping[str, Any] = {} if pd.__version__ >= "3.1" else {"float_precision": "round_trip"}


class _TableLayout(NamedTuple):
    """Where the samples of a table are, and the names, units and notes above them."""

    first_sample: int  # its line, counted from 0
    separator: str
    names: Sequence[str] = ()  # none where there is no header
    units: Sequence[str] = ()
    notes: Sequence[str] = ()


def checked_options(read: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checked options ``read``, with the separator as a character, or raise FieldError."""
    options = dict(read)
    for name in options:
        if name not in OPTIONS:
            allowed = f"{', '.join(OPTIONS)}{did_you_mean(name, OPTIONS)}"
            raise FieldError("read", f"found {show(name, kind=False)}; allowed: {allowed}")
    if "sep" in options:
        separator = _WORDS_OF_SEPARATORS.get(str(options["sep"]), options["sep"])
        if not isinstance(separator, str) or len(separator) != 1 or separator.isalnum() or separator in "\n\r\"'.+-":
            raise _wrong_option(options, "sep", "a character such as ',' or ';', tab, blank")
        options["sep"] = separator
    if options.get("decimal", ".") not in MARKS:
        raise _wrong_option(options, "decimal", "'.', ','")
    if not is_whole_number(options.get("skiprows", 0), 0):
        raise _wrong_option(options, "skiprows", "a whole number of lines from 0 on")
    if "header" in options and options["header"] is not None and not is_whole_number(options["header"], 0, 0):
        raise _wrong_option(options, "header", "0 (the first line has the names), none (no line has)")
    if "encoding" in options:
        check_encoding(options["encoding"])
    return options


def _wrong_option(options: Mapping[str, Any], name: str, allowed: str) -> FieldError:
    return FieldError("read", f"{name}: found {show(options[name])}; allowed: {allowed}")


def frame_of_text(path: str, content: bytes, options: Mapping[str, Any], wanted: Collection[str], noun: str) -> Any:
    """Return a text in UTF-8 as a frame, whose index has the lines of the file, counted from 1.

    A column that pandas does not read as numbers has texts. Attributes of the frame: ``names`` and ``units`` of the
    columns (None in a file without a header), the ``decimal`` mark (None if the file does not show it), and ``notes``.

    Comments (``#`` or ``%``) and empty lines at the top and empty lines at the end are left out. A line without
    fields between samples is a row of missing values, unless every second line is empty.

    Parameters
    ----------
    path : str
        The name of the file, for errors.
    content : bytes
        The text.
    options : mapping
        What :func:`checked_options` returns. Without ``skiprows``, the number of lines above the header, the header
        block of an instrument is left out where numbers begin below it.
    wanted : collection of str
        Names of columns: a row that has some of them is the header.
    noun : str
        The word for a line: a spreadsheet has rows.
    """
    lines = _first_lines(content)
    layout = _layout(path, lines, options, wanted, noun)
    content = _without_empty_end(content)
    begin = _offset(content, layout.first_sample)
    if begin >= len(content):
        raise FileError(f"{path}: found no samples below the header; needed: columns of numbers")
    decimal = options.get("decimal") or _usual_mark(lines[layout.first_sample :], layout.separator)
    frame = _parsed(path, content, begin, layout, decimal or ".", noun)
    if decimal is None:
        decimal = _mark_of_texts(frame)
        if decimal == ",":
            frame = _parsed(path, content, begin, layout, ",", noun)
    frame, notes = _checked_rows(path, content, begin, frame, layout, noun)
    if decimal == "," and "decimal" not in options:
        notes.append("the commas in numbers were read as decimal marks.")
    frame.attrs = {"decimal": decimal, "notes": [*layout.notes, *notes], "noun": noun, "names": None, "units": None}
    if layout.names:
        full_names = tuple(map(str.strip, layout.names))
        names, units = split_names(full_names, layout.units)
        frame.columns = pd.Index(full_names, dtype=object)
        frame.attrs |= {"names": names, "units": units}
    return frame


def _first_lines(content: bytes) -> list[str]:
    """Return the whole lines at the beginning of a text."""
    size = BEGINNING if content.count(b"\n", 0, BEGINNING) > SAMPLE_ROWS else _LONG_BEGINNING
    lines = content[:size].decode("utf-8", "replace").split("\n")
    return lines[:-1] if size < len(content) and len(lines) > 1 else lines


def _without_empty_end(content: bytes) -> bytes:
    """Return a text without the lines at its end that have blanks only."""
    end = len(content)
    while (begin := content.rfind(b"\n", 0, end)) >= 0 and not content[begin:end].strip():
        end = begin
    return content[:end]


def _offset(content: bytes, n_lines: int) -> int:
    """Return the place after some lines of a text, or its length if it has fewer."""
    place = 0
    for _ in range(n_lines):
        place = content.find(b"\n", place) + 1
        if place == 0:
            return len(content)
    return place


# The samples, as pandas reads them.


def _parsed(path: str, content: bytes, begin: int, layout: _TableLayout, decimal: str, noun: str) -> pd.DataFrame:
    """Return the lines from ``begin`` on, in columns that are numbered from 0."""
    width_of_first = _width_of_first(path, content, begin, layout, noun)
    width = len(layout.names) or width_of_first
    if width_of_first <= width:
        with suppress(pd.errors.ParserError, pd.errors.ParserWarning):
            return _parsed_in_columns(content, begin, layout.separator, decimal, width)
    # A line has more fields, perhaps empty ones.
    rows = _rows(path, content, begin, layout)
    for line, row in enumerate(rows, layout.first_sample + 1):
        _refuse_other_width(path, row, width, f"{noun} {line}", noun)
    return _parsed_in_columns(content, begin, layout.separator, decimal, max(map(len, rows)))


def _parsed_in_columns(content: bytes, begin: int, separator: str, decimal: str, width: int) -> pd.DataFrame:
    form: dict[str, Any] = {
        "header": None,
        "names": range(width),
        "index_col": False,
        "sep": r"\s+" if separator == " " else separator,
        "decimal": decimal,
        "na_values": _MISSING,
        "keep_default_na": False,
        "skip_blank_lines": False,
        "skipinitialspace": True,
        **_EXACT,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", pd.errors.ParserWarning)
        # In parts, which takes half of the memory, unless they have values of different types.
        warnings.simplefilter("error", pd.errors.DtypeWarning)
        for low_memory in (True, False):
            stream = io.BytesIO(content)
            stream.seek(begin)
            try:
                return pd.read_csv(stream, low_memory=low_memory, **form)
            except pd.errors.DtypeWarning:
                continue
    raise AssertionError("without parts there are none of different types")


def _width_of_first(path: str, content: bytes, begin: int, layout: _TableLayout, noun: str) -> int:
    """Return the number of fields of the first sample, and refuse more than a table has."""
    end = content.find(b"\n", begin)
    line = content[begin : end if end >= 0 else None].decode("utf-8", "replace")
    width = max(1, len(_split(line[:_LONG_BEGINNING], layout.separator)))
    if width > _MOST_COLUMNS:
        found = f"found {width} fields or more; allowed: up to {_MOST_COLUMNS}"
        raise FileError(f"{path}: {noun} {layout.first_sample + 1}: {found}; needed: a text file such as CSV")
    return width


def _rows(path: str, content: bytes, begin: int, layout: _TableLayout) -> list[list[str]]:
    """Return the fields of all lines, or raise the error of the first that is not CSV."""
    lines = content[begin:].decode("utf-8", "replace").split("\n")
    prepared_lines = [_prepared(line, layout.separator) for line in lines]
    return rows_of(path, prepared_lines, layout.first_sample, delimiter=layout.separator, skipinitialspace=True)


def _checked_rows(
    path: str, content: bytes, begin: int, frame: pd.DataFrame, layout: _TableLayout, noun: str
) -> tuple[pd.DataFrame, list[str]]:
    """Return a frame of the width of its first row, numbered by lines, and notes.

    Rows of another width are refused, but for empty ones and for empty fields at their end.
    """
    n_lines = content.count(b"\n", begin) + 1
    if n_lines != len(frame):
        _rows(path, content, begin, layout)
        raise FileError(f"{path}: found {len(frame)} rows in {n_lines} lines; needed: a {noun} for each sample")
    width = len(layout.names) or _width_of_first(path, content, begin, layout, noun)
    is_suspect = frame.iloc[:, width - 1].isna().to_numpy(copy=True)
    for column in range(width, frame.shape[1]):
        is_suspect |= frame[column].notna().to_numpy()
    frame = frame.iloc[:, :width]
    frame.index = pd.RangeIndex(layout.first_sample + 1, layout.first_sample + 1 + len(frame), name=noun)
    if not is_suspect.any():
        return frame, []
    is_empty = np.zeros(len(frame), bool)
    lines = content[begin:].split(b"\n")
    separator = layout.separator.encode()
    for row in np.flatnonzero(is_suspect).tolist():
        line = lines[row]
        is_empty[row] = not line.strip()
        if not is_empty[row] and (separator == b" " or line.count(separator) != width - 1 or b'"' in line):
            fields = _split(line.decode("utf-8", "replace"), layout.separator)
            _refuse_other_width(path, fields, width, f"{noun} {frame.index[row]}", noun)
    return _without_empty_rows(frame, is_empty, bool(layout.names), noun)


def _refuse_other_width(path: str, fields: list[str], width: int, place: str, noun: str) -> None:
    """Raise the error of a row that has not as many fields as the first one."""
    surplus = fields if len(fields) < width else fields[width:]
    if any(map(str.strip, surplus)):
        raise FileError(f"{path}: {place}: found {len(fields)} fields; allowed: {width}, as in the first {noun}")


def _without_empty_rows(
    frame: pd.DataFrame, is_empty: Any, has_names: bool, noun: str
) -> tuple[pd.DataFrame, list[str]]:
    """Leave out the rows without fields below the header, and every second one if all of these are empty."""
    first = int(np.argmin(is_empty)) if has_names else 0
    frame, is_empty = frame.iloc[first:], is_empty[first:]
    if len(frame) > 3 and is_empty[1::2].all() and not is_empty[::2].any():
        return frame.iloc[::2], [f"every second {noun} is empty: these were left out."]
    return frame, []


def _usual_mark(lines: Sequence[str], separator: str) -> str | None:
    """Return the decimal mark under which most of the first samples can be read that have one meaning only."""
    counts: Counter[str] = Counter()
    for line in lines:
        for field in _split(line, separator):
            mark = settled_mark([field])
            if mark is not None:
                counts[mark] += 1
    return counts.most_common(1)[0][0] if counts else None


def _mark_of_texts(frame: pd.DataFrame) -> str | None:
    """Return the decimal mark of a frame whose first samples do not show it, or None if commas may mean two things."""
    texts: list[str] = []
    for name in frame:
        if frame[name].dtype.kind == "O" or frame[name].dtype == "str":
            texts += [text for text in frame[name] if isinstance(text, str) and "," in text]
    mark = settled_mark(texts)
    if mark is None and not any(marks_of(text.strip()) for text in texts):
        mark = "."
    return mark


# The layout: where the samples begin, and the header above them.


def _layout(
    path: str, lines: list[str], options: Mapping[str, Any], wanted: Collection[str], noun: str
) -> _TableLayout:
    """Return where the samples of a table are."""
    first, separator = _begin_of_table(path, lines, options)
    table_header = _header_of_lines(lines[first:], options, wanted, separator)
    if table_header is not None:
        header, separator = table_header
        rows = _split_lines(lines[first:], separator)
        layout = _layout_below(header, rows, first, separator, noun)
    else:
        beginning = lines[first : first + SAMPLE_ROWS]
        separator = separator or _guessed_separator(beginning, options.get("decimal"))
        _refuse_without_numbers(path, beginning, separator)
        layout = _plain_layout(path, lines, first, separator, options, wanted, noun)
    if options.get("header", 0) is None:
        layout = layout._replace(names=())
    return layout


def _begin_of_table(path: str, lines: list[str], options: Mapping[str, Any]) -> tuple[int, str | None]:
    """Return the index of the first line that is not a comment, and the separator as far as it is known."""
    separator, skipped = options.get("sep"), options.get("skiprows", 0)
    for index in range(skipped, len(lines)):
        line = lines[index]
        separator_line = _SEPARATOR_LINE.fullmatch(line)
        if separator_line and separator_line[1] in SEPARATORS:
            separator = separator or separator_line[1]
        elif line.strip() and line.lstrip()[0] not in "#%":
            return index, separator
    below = f" below line {skipped}" if skipped else ""
    raise FileError(f"{path}: found no samples{below}; needed: columns of numbers")


def _header_of_lines(
    lines: list[str], options: Mapping[str, Any], wanted: Collection[str], separator: str | None
) -> tuple[Header, str] | None:
    """Return the header of several lines and the separator below it, or None if there is at most one line."""
    best_rank = (False, False, -1.0)
    best: tuple[Header, str] | None = None
    for candidate in SEPARATORS if separator is None else (separator,):
        if candidate == options.get("decimal") and separator is None:
            continue
        rows = _split_lines(lines, candidate)
        while rows and not has_fields(rows[-1]):
            rows.pop()
        if candidate == " " and _hold_separators(rows):
            continue
        if _has_numbers_only(rows):
            return None
        samples = sample_form(list(filter(has_fields, rows)))
        header = samples and find_header(rows, samples, wanted)
        if not samples or not header:
            continue
        rank = (header.names_row is not None, samples.width > 1, samples.numeric_share)
        if rank > best_rank:
            best_rank, best = rank, None
            if _is_long(header, rows, samples.width, options):
                best = header, candidate
    return best


def _has_numbers_only(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether all rows have as many fields, several, and each of these is a number or missing."""
    rows = list(filter(has_fields, rows))
    return len(set(map(len, rows))) == 1 and len(rows[0]) > 1 and all(map(is_value, chain.from_iterable(rows)))


def _is_long(header: Header, rows: Sequence[Sequence[str]], width: int, options: Mapping[str, Any]) -> bool:
    """Return whether a header has several rows, or more names than the samples have fields.

    With ``skiprows``, its first row has the names.
    """
    if "skiprows" in options and header.names_row != 0:
        return False
    return header.first_sample > 1 or (header.first_sample == 1 and header.names_row == 0 and _width(rows[0]) > width)


def _layout_below(header: Header, rows: Sequence[list[str]], first: int, separator: str, noun: str) -> _TableLayout:
    """Return the layout below a header of several rows, which the first samples follow in ``rows``."""
    samples = list(rows[header.first_sample :])
    names: list[str] = []
    units: list[str] = []
    if header.names_row is not None:
        names = rows[header.names_row]
        # There may be more names than columns, and a separator may end each row.
        width = max(_width(row) for row in [names, *samples])
        names = names[: min(width, max(map(len, samples)))]
    if header.units_row is not None:
        units = rows[header.units_row]
    return _TableLayout(
        first + header.first_sample, separator, names, units, header_notes(header, rows, first + 1, noun)
    )


def _width(row: Sequence[str]) -> int:
    """Return the number of fields of a row without the empty ones at its end."""
    width = len(row)
    while width and not row[width - 1].strip():
        width -= 1
    return width


def _plain_layout(
    path: str,
    lines: list[str],
    first: int,
    separator: str,
    options: Mapping[str, Any],
    wanted: Collection[str],
    noun: str,
) -> _TableLayout:
    """Return the layout of a table whose first row has the names or is the first sample."""
    rows = list(filter(has_fields, _split_lines(lines[first:], separator)))
    if not rows:
        raise FileError(f"{path}: {noun} {first + 1}: found no fields; needed: columns of numbers")
    if "header" in options:
        is_header = options["header"] == 0
    else:
        is_header = _looks_like_header(path, rows, f"{noun} {first + 1}", wanted)
    if is_header:
        return _TableLayout(first + 1, separator, rows[0])
    comments = list(filter(str.strip, lines[options.get("skiprows", 0) : first]))
    if comments:
        # NumPy and others write the header in this way.
        names = _split(comments[-1].lstrip(" #%"), separator)
        if len(names) == len(rows[0]) and not any(map(is_numeric, names)):
            return _TableLayout(first, separator, names)
    return _TableLayout(first, separator)


def _looks_like_header(path: str, rows: Sequence[Sequence[str]], place: str, wanted: Collection[str]) -> bool:
    """Return whether the first row is a header: it has no number where others have one. Doubtful rows are refused."""
    first_row = rows[0]
    short_names, _ = split_names(first_row)
    if not {*map(str.strip, first_row), *short_names}.isdisjoint(wanted):
        return True
    samples = sample_form(rows[1:] or rows)
    columns = sorted(samples.number_columns) if samples else range(len(first_row))
    fields = [first_row[column] for column in columns if column < len(first_row)]
    texts = []
    for field in fields:
        if not is_numeric(field) and not is_missing(field) and field.strip().lower() not in _TRUE_OR_FALSE:
            texts.append(field)
    if not texts:
        return False
    if any(is_numeric(field) and not is_missing(field) for field in fields):
        problem = f"found {show(texts[0], kind=False)} among numbers, so that it may be a header or a wrong sample"
        raise FieldError("read", f"{place}: {problem}; allowed: read header=0 or read header=none", path)
    return True


def _guessed_separator(lines: list[str], decimal: str | None) -> str:
    """Return the separator with which most fields are numbers, or else one that does not occur."""
    best, largest_share = ";", -1.0
    for separator in SEPARATORS:
        rows = [row for row in _split_lines(lines, separator) if row]
        if separator == decimal or not rows:
            continue
        samples = rows[1:] or rows
        usual_width = Counter(map(len, samples)).most_common(1)[0][0]
        if len(rows[0]) < 2 or usual_width < 2:
            continue
        fields = list(chain.from_iterable(samples))
        if separator == " " and _hold_separators(samples):
            continue
        share = sum(map(is_value, fields)) / len(fields)
        # Decimal commas split into whole numbers: "1,5 2,5" is "1", "5 2", "5".
        if share > largest_share:
            best, largest_share = separator, share
    return best


def _hold_separators(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether most rows have a field that is not a number but has another separator, as dates with blanks."""
    n_rows = 0
    for row in rows:
        n_rows += any(not is_value(field) and any(mark in field for mark in ",;") for field in row)
    return 2 * n_rows > len(rows)


def _refuse_without_numbers(path: str, beginning: list[str], separator: str) -> None:
    """Raise NarxbenchError for a beginning without a number, so that no large file of something else is read."""
    fields = chain.from_iterable(_split_lines(beginning, separator))
    if len(beginning) == SAMPLE_ROWS and not any(map(is_value, fields)):
        raise FileError(f"{path}: found no number in {SAMPLE_ROWS} lines; needed: columns of numbers")


def _prepared(line: str, separator: str) -> str:
    """Return a line in which only the separator separates: where it is a blank, tabs become blanks."""
    if separator != " ":
        return line
    return line.replace("\t", " ").strip()


def _split_lines(lines: Sequence[str], separator: str) -> list[list[str]]:
    """Return the fields of lines, none where they cannot be read."""
    return [_split(line, separator) for line in lines]


def _split(line: str, separator: str) -> list[str]:
    """Return the fields of one line, none where they cannot be read."""
    try:
        return next(csv.reader([_prepared(line, separator)], delimiter=separator, skipinitialspace=True), [])
    except csv.Error:
        return []
