"""Files of measured data: every form of the same numbers reads the same, and mistakes are told by line and column."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from narxbench.io.delimited import read_delimited

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
    assert table.numbers([0, 1, 2]).tobytes() == np.array(rows).tobytes()


def test_missing_fields_lines_and_trailing_separators(tmp_path: Path) -> None:
    text = "a;b;\n1;NaN;\n\n3;-;\n;n/a;\nnull;5;\n 6 ; 7\n;;\n8;9;\n"
    table = read_delimited(_file(tmp_path, text.replace(" 7\n", " 7;\n")), None)
    expected = [1, math.nan, 3, math.nan, math.nan, 6, math.nan, 8]
    np.testing.assert_array_equal(table.numbers([0])[:, 0], expected)
    assert np.isfinite(table.numbers([1])[:, 0]).tolist() == [False, False, False, False, True, True, False, True]
    assert table.place(2) == "line 4"


def test_header_in_a_comment(tmp_path: Path) -> None:
    path = tmp_path / "d.txt"
    np.savetxt(path, np.arange(6.0).reshape(3, 2), header="u y")
    table = read_delimited(path, None)
    assert table.names == ("u", "y")
    np.testing.assert_array_equal(table.numbers([1]), [[1], [3], [5]])


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
    np.testing.assert_array_equal(table.numbers([1]), [[1.5], [2.5]])


def test_commas_between_decimal_points_and_a_single_column(tmp_path: Path) -> None:
    table = read_delimited(_file(tmp_path, "y\n1,5\n2,5\n"), None)
    np.testing.assert_array_equal(table.numbers([0]), [[1.5], [2.5]])
    table = read_delimited(_file(tmp_path, '"1,5","2,5"\n"3,5","4,5"\n'), [0, 1], separator=",", decimal=",")
    np.testing.assert_array_equal(table.numbers([1]), [[2.5], [4.5]])
