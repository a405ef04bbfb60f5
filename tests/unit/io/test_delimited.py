"""Files of measured data: every form of the same numbers reads the same, and mistakes are told by line and column."""

import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from narxbench.io.delimited import read_delimited
from narxbench.io.errors import NarxbenchError

quick = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-999, 999).map(float)


def _file(folder: Path, content: str | bytes) -> Path:
    path = folder / "d.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


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
    tmp_path: Path,
    rows: list[tuple[float, ...]],
    separator: str,
    comma: bool,
    header: bool,
    quoted: bool,
    ends: str,
    above: str,
    below: str,
) -> None:
    comma = comma and separator != ","
    quoted = quoted and separator != " \t "  # a tab then is the separator, and blanks follow a quote
    lines = [[repr(value).replace(".", "," if comma else ".") for value in row] for row in rows]
    lines = [["in", "out", "T_1"]] * header + lines
    lines = [[f'"{field}"' for field in line] for line in lines] if quoted else lines
    text = above + "\n".join(separator.join(line) for line in lines) + below
    table = read_delimited(_file(tmp_path, text.replace("\n", ends)), [0, 2])
    assert table.names == (("in", "out", "T_1") if header else None)
    mark = table.decimal_mark([0, 1, 2])
    assert np.column_stack([table.numbers(i, mark) for i in range(3)]).tobytes() == np.array(rows).tobytes()


def test_missing_fields_lines_and_trailing_separators(tmp_path: Path) -> None:
    text = "a;b;\n1;NaN;\n\n3;-;\n;n/a;\nnull;5;\n 6 ; 7\n;;\n8;9;\n"
    table = read_delimited(_file(tmp_path, text.replace(" 7\n", " 7;\n")), None)
    expected = [1, math.nan, 3, math.nan, math.nan, 6, math.nan, 8]
    np.testing.assert_array_equal(table.numbers(0), expected)
    assert np.isfinite(table.numbers(1)).tolist() == [False, False, False, False, True, True, False, True]
    assert table.place(2) == "line 4"


def test_header_in_a_comment(tmp_path: Path) -> None:
    path = tmp_path / "d.txt"
    np.savetxt(path, np.arange(6.0).reshape(3, 2), header="u y")
    table = read_delimited(path, None)
    assert table.names == ("u", "y")
    np.testing.assert_array_equal(table.numbers(1), [1, 3, 5])


@pytest.mark.parametrize(("header", "names"), [(None, None), (True, ("1", "2")), (False, None)])
def test_a_first_line_of_numbers_is_a_sample_unless_said_otherwise(
    tmp_path: Path, header: bool | None, names: tuple[str, ...] | None
) -> None:
    table = read_delimited(_file(tmp_path, "1,2\n3,4\n5,6\n"), [0, 1], header=header)
    assert table.names == names
    assert len(table.columns[0]) == (2 if names else 3)


def test_text_beside_the_wanted_columns_does_not_make_a_header(tmp_path: Path) -> None:
    table = read_delimited(_file(tmp_path, "on,1.5,2\noff,2.5,3\n"), [1, 2])
    assert table.names is None
    np.testing.assert_array_equal(table.numbers(1), [1.5, 2.5])


def test_commas_between_decimal_points_and_a_single_column(tmp_path: Path) -> None:
    table = read_delimited(_file(tmp_path, "y\n1,5\n2,5\n"), None)
    np.testing.assert_array_equal(table.numbers(0, table.decimal_mark([0])), [1.5, 2.5])
    table = read_delimited(_file(tmp_path, '"1,5","2,5"\n"3,5","4,5"\n'), [0, 1])
    np.testing.assert_array_equal(table.numbers(1, ","), [2.5, 4.5])


@pytest.mark.parametrize(
    ("content", "wanted", "message"),
    [
        ("u,y\n1,2\n1,x\n", None, "line 3, column y: found 'x'; allowed: a finite number"),
        ("u,y\n1,2\n1,inf\n", None, "line 3, column y: found 'inf'"),
        ("u,y\n1,2\n1,1e999\n", None, "line 3, column y: found '1e999'"),
        ("u,y\n1,2\n1,1_000\n", None, "line 3, column y: found '1_000'"),
        ("u,y\n1,2\n1,٣\n", None, "line 3, column y: found '٣'"),
        ("# one\nu;y\n1;2\n1;1.234,5\n", None, "line 4, column y: found '1.234,5'"),
        ('u,y\n1,2\n1,"1,234"\n', None, "line 3, column y: found '1,234'"),
        ("u;y\n1;999\n1;1,234\n", None, "line 3, column y: found '1,234', which may be a decimal comma or group"),
        ("u;y\n1,5;2\n1;2.5\n", None, "line 2, column u: found '1,5'"),
        ("u,y\n1,2\n1\n", None, "line 3: found 1 fields; allowed: 2"),
        ("u,y\n1,2\n1,2,3\n", None, "line 3: found 3 fields; allowed: 2"),
        ('u,y\n1,2\n"1,2\n3,4\n', None, "line 3: not CSV"),
        ('u,y\n1,2\n"1"x,2\n3,4\n', None, "line 3: not CSV"),
        ("1.5,x\n1,2\n", [0, 1], "line 1: found 'x' beside numbers"),
        ("u,y\n", None, "found no samples below the header"),
        ("# u,y\n\n", None, "found no samples"),
        ("", None, "found no samples"),
        (b"u,y\n1,2\n\xe9,3\n", None, "line 3: found the byte 0xe9, which is not text in UTF-8"),
        ("u,y\n1,2\n".encode("utf-16"), None, "line 1: found the byte 0xff"),
        (b"u,y\n1,2\n\0\0\0", None, "line 3: found the byte 0x00"),
        ("u,y\n" + "1," * 10**6, None, "line 2: found 1000001 fields; allowed: 2"),
        ("x" * 10**6, [0], "field larger than field limit"),
        ("u,y\n" + "," * (10**7 + 1), None, "line 2: found 10000001 characters; allowed: up to 10000000"),
        ("abc,def\n" * 30, None, "found no number in 30 lines; needed: columns of numbers"),
    ],
)
def test_mistakes_are_told_in_one_line(
    tmp_path: Path, content: str | bytes, wanted: list[int] | None, message: str
) -> None:
    path = _file(tmp_path, content)
    with pytest.raises(NarxbenchError) as caught:
        table = read_delimited(path, wanted)
        columns = range(len(table.columns))
        mark = table.decimal_mark(columns)
        for column in columns:
            table.numbers(column, mark)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 400 + len(str(path))


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, found in (
        (tmp_path / "pipe", "not a regular file"),
        (tmp_path, "directory"),
        (tmp_path / "no", "No such"),
    ):
        with pytest.raises(NarxbenchError, match=found):
            read_delimited(path, None)
