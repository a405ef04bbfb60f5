"""Files of measured data: every form of the same numbers reads the same, and mistakes have line and column."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from narxbench._io.errors import FileError
from narxbench._io.frames import read_frame
from narxbench._io.text_numbers import numbers_of_texts

quick = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-999, 999).map(float)


def _file(folder: Path, content: str | bytes) -> Path:
    path = folder / "d.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def _values(frame: Any, columns: Any = slice(None)) -> Any:
    """Return numbers of a frame, also of columns with unusual ones."""
    values = []
    for _, column in frame.iloc[:, columns].items():
        texts = column.to_numpy()
        if texts.dtype.kind == "O":
            texts, _ = numbers_of_texts(texts, frame.attrs["decimal"], FileError, "d.csv")
        values.append(texts)
    return np.column_stack(values).astype(float)


@given(
    rows=st.lists(st.tuples(numbers, numbers, numbers), min_size=2, max_size=40),
    separator=st.sampled_from([",", ";", "\t", " ", "  ", " \t "]),
    comma=st.booleans(),
    header=st.booleans(),
    quoted=st.booleans(),
    ends=st.sampled_from(["\n", "\r\n", "\r", "\r\r\n"]),
    above=st.sampled_from(["", "\ufeff", "# logger 3\n\n% 5, 6\n"]),
    below=st.sampled_from(["", "\n", "\n \n\n"]),
)
@quick
def test_any_form_of_the_same_numbers_reads_the_same(
    tmp_path, rows, separator, comma, header, quoted, ends, above, below
):
    comma = comma and separator != ","
    quoted = quoted and separator != " \t "  # a tab then is the separator, and blanks follow a quote
    names = ("in", "out", "T_1") if header else None
    lines = [_line(names, separator, quoted)] if header else []
    for row in rows:
        fields = map(repr, row)
        if comma:
            fields = [field.replace(".", ",") for field in fields]
        lines.append(_line(fields, separator, quoted))
    text = above + "\n".join(lines) + below
    frame = read_frame(_file(tmp_path, text.replace("\n", ends)))
    assert frame.attrs["names"] == names
    assert _values(frame).tobytes() == np.array(rows).tobytes()


def _line(fields, separator, is_quoted):
    if is_quoted:
        fields = [f'"{field}"' for field in fields]
    return separator.join(fields)


def test_blanks_inside_dates_do_not_separate(tmp_path: Path) -> None:
    rows = [f"01 01 2018 00:{minute:02d},{minute}.5,{minute}.25\n" for minute in range(40)]
    frame = read_frame(
        _file(tmp_path, "Logger of the plant\n\nDate/Time,Wind Speed (m/s),Power (kW)\n" + "".join(rows))
    )
    assert frame.shape == (40, 3)
    assert _values(frame, [1, 2]).tolist()[3] == [3.5, 3.25]


NAN = math.nan


@pytest.mark.parametrize(
    ("content", "options", "names", "numbers"),
    [
        # Missing fields, blanks, empty lines and separators at the end.
        (
            "a;b\n1;NaN;\n\n3;-;\n;n/a;\nnull;5;\n 6 ; 7;\n;;\n8;9;\n",
            {},
            ("a", "b"),
            [[1, NAN], [NAN, NAN], [3, NAN], [NAN, NAN], [NAN, 5], [6, 7], [NAN, NAN], [8, 9]],
        ),
        ("1;2\n\n3;4\n5;6\n7;8", {}, None, [[1, 2], [NAN, NAN], [3, 4], [5, 6], [7, 8]]),
        ("u;y\n1;2\n3;4;;\n", {}, ("u", "y"), [[1, 2], [3, 4]]),
        ("u;y\n1;2;;\n3;4\n", {}, ("u", "y"), [[1, 2], [3, 4]]),
        # With another separator the first two would have more fields than the last, and texts.
        ("0,0;0,0\n0,0;0,0\n5e-324;0,0", {}, None, [[0, 0], [0, 0], [5e-324, 0]]),
        # The decimal mark says what three digits after a comma are; points stay decimal points.
        ("u;y\n1;5,123\n2;4,999\n", {"decimal": ","}, ("u", "y"), [[1, 5.123], [2, 4.999]]),
        ("u;y\n1;5,123\n2;4,999\n", {"decimal": "."}, ("u", "y"), [[1, 5123], [2, 4999]]),
        ("u;y\n1;5.123\n2;4.999\n", {}, ("u", "y"), [[1, 5.123], [2, 4.999]]),
        # Thousands in groups.
        ("u;y\n7;1'234.5\n8;12\n", {}, ("u", "y"), [[7, 1234.5], [8, 12]]),
        ("u;y\n7;1.234.567\n8;12\n", {}, ("u", "y"), [[7, 1234567], [8, 12]]),
        ("# u y\n1 2\n3 4\n", {}, ("u", "y"), [[1, 2], [3, 4]]),
        ("1,2\n3,4\n", {"header": None}, None, [[1, 2], [3, 4]]),
        ("1,2\n3,4\n", {"header": 0}, ("1", "2"), [[3, 4]]),
        # True and false next to the columns of numbers make no header.
        ("on,1.5,2\noff,2.5,3\n", {"header": None}, None, [[1, 1.5, 2], [0, 2.5, 3]]),
        ('"1,5","2,5"\n"3,5","4,5"\n', {"sep": ",", "decimal": ","}, None, [[1.5, 2.5], [3.5, 4.5]]),
        ("a|b\n1|2\n3|4\n", {"sep": "|"}, ("a", "b"), [[1, 2], [3, 4]]),
        ("\ufeffu\ty\r\n1\t2,5\r\n3\t4,5\r\n".encode("utf-16-be"), {}, ("u", "y"), [[1, 2.5], [3, 4.5]]),
    ],
)
def test_tables_of_many_forms(tmp_path, content, options, names, numbers):
    frame = read_frame(_file(tmp_path, content), read=options)
    assert frame.attrs["names"] == names
    np.testing.assert_array_equal(_values(frame), numbers)


@pytest.mark.parametrize("number", ["0,5", "1234,567"])
def test_one_number_of_another_form_settles_the_decimal_mark(tmp_path: Path, number: str) -> None:
    # It is beyond the lines by which the form is known.
    text = "t;y\n" + "9;4,999\n" * 20_000 + f"{number};5,123\n"
    np.testing.assert_array_equal(_values(read_frame(_file(tmp_path, text)), [1])[-2:], [[4.999], [5.123]])


def test_columns_of_several_types_are_read_as_texts(tmp_path: Path) -> None:
    # pandas reads long files in parts, in which a column may have another type.
    lines = ["1;2"] * 400_000 + ["TRUE;2", "+.5;2"]
    frame = read_frame(_file(tmp_path, "u;y\n" + "\n".join(lines)))
    assert set(map(type, frame["u"])) == {str}
