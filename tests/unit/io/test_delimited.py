"""Files of measured data: every form of the same numbers reads the same, and mistakes have line and column."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from narxbench._io.delimited import read_delimited
from narxbench._io.errors import FieldError, NarxbenchError

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
    table = read_delimited(_file(tmp_path, text.replace("\n", ends)), [0, 2])
    assert table.names == names
    assert table.numbers([0, 1, 2]).tobytes() == np.array(rows).tobytes()


def test_lines_of_numbers_are_no_header_of_the_last_one(tmp_path):
    # With another separator the first two would have more fields than the last, and texts.
    table = read_delimited(_file(tmp_path, "0,0;0,0;0,0\n0,0;0,0;0,0\n5e-324;0,0;0,0"), [0, 2])
    assert table.names is None
    assert table.numbers([0, 1, 2]).tolist() == [[0.0] * 3, [0.0] * 3, [5e-324, 0.0, 0.0]]


def _line(fields, separator, is_quoted):
    if is_quoted:
        fields = [f'"{field}"' for field in fields]
    return separator.join(fields)


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("above", ["", "Logger of the plant\nStation, north\n\n"])
def test_blanks_inside_dates_do_not_separate(tmp_path: Path, separator: str, above: str) -> None:
    lines = [separator.join(["Date/Time", "Wind Speed (m/s)", "Active Power (kW)"])]
    for minute in range(40):
        lines.append(separator.join([f"01 01 2018 00:{minute:02d}", f"{minute}.5", f"{minute}.25"]))
    table = read_delimited(_file(tmp_path, above + "\n".join(lines)), None)
    assert len(table.names) == 3
    assert table.numbers([1, 2]).tolist()[3] == [3.5, 3.25]


def test_missing_fields_lines_and_trailing_separators(tmp_path: Path) -> None:
    text = "a;b;\n1;NaN;\n\n3;-;\n;n/a;\nnull;5;\n 6 ; 7\n;;\n8;9;\n"
    table = read_delimited(_file(tmp_path, text.replace(" 7\n", " 7;\n")), None)
    expected = [1, math.nan, 3, math.nan, math.nan, 6, math.nan, 8]
    np.testing.assert_array_equal(table.numbers([0])[:, 0], expected)
    assert np.isfinite(table.numbers([1])[:, 0]).tolist() == [False, False, False, False, True, True, False, True]
    assert table.place(2) == "line 4"


UTF_16 = "\ufeffu\tGröße{0}1\t2,5{0}3\t4,5{0}"


@pytest.mark.parametrize(
    ("content", "columns", "options", "names", "numbers"),
    [
        ("# u y\n1 2\n3 4\n", None, {}, ("u", "y"), [[1, 2], [3, 4]]),
        ("1,2\n3,4\n", [0, 1], {}, None, [[1, 2], [3, 4]]),
        ("1,2\n3,4\n", [0, 1], {"header": False}, None, [[1, 2], [3, 4]]),
        ("1,2\n3,4\n", [0, 1], {"header": True}, ("1", "2"), [[3, 4]]),
        # Text next to the columns of numbers makes no header.
        ("on,1.5,2\noff,2.5,3\n", [1, 2], {}, None, [[1.5, 2], [2.5, 3]]),
        ("y\n1,5\n2,5\n", None, {}, ("y",), [[1.5], [2.5]]),
        ('"1,5","2,5"\n"3,5","4,5"\n', [0, 1], {"separator": ",", "decimal": ","}, None, [[1.5, 2.5], [3.5, 4.5]]),
        (UTF_16.format("\n").encode("utf-16-le"), None, {}, ("u", "Größe"), [[1, 2.5], [3, 4.5]]),
        (UTF_16.format("\r\n").encode("utf-16-be"), None, {}, ("u", "Größe"), [[1, 2.5], [3, 4.5]]),
    ],
)
def test_headers_separators_and_encodings(tmp_path, content, columns, options, names, numbers):
    table = read_delimited(_file(tmp_path, content), columns, **options)
    assert table.names == names
    np.testing.assert_array_equal(table.numbers(columns or range(len(table.columns))), numbers)


@pytest.mark.parametrize("text", ["5,123;4,999", "u;y\n5,123;4,999\n-1,001;2,345", "u\ty\n999\t1\n1,000\t2"])
def test_three_digits_after_each_comma_ask(tmp_path: Path, text: str) -> None:
    path = _file(tmp_path, text)
    table = read_delimited(path, [0, 1])
    with pytest.raises(FieldError, match=r"with a decimal comma or \d+ with commas between thousands") as error:
        table.decimal_mark([0, 1])
    assert (error.value.field, error.value.source) == ("decimal", str(path))
    assert read_delimited(path, [0, 1], decimal=",").numbers([0]).max() < 1000


@pytest.mark.parametrize("number", ["0,5", "12,34", "0,125", "1234,567", "1,5e3"])
def test_one_number_of_another_form_settles_the_decimal_mark(tmp_path: Path, number: str) -> None:
    table = read_delimited(_file(tmp_path, f"t;y\n{number};5,123\n9;4,999\n"), None)
    np.testing.assert_array_equal(table.numbers([1]), [[5.123], [4.999]])


def test_what_was_found_out_about_the_form_is_reported(tmp_path: Path) -> None:
    assert read_delimited(_file(tmp_path, "u;y\n1;2\n"), None, separator=";").guesses == ()
    assert read_delimited(_file(tmp_path, "1,2\n3,4\n"), [0, 1], header=False).guesses == ()
    reported = {
        "u;y\n1;2\n": ["a semicolon", "the first line was taken"],
        "1\t2\n3\t4\n": ["a tab", "no header"],
        "# u y\n1 2\n3 4\n": ["blanks", "the comment above"],
    }
    for text, words in reported.items():
        guesses = read_delimited(_file(tmp_path, text), [0, 1]).guesses
        for word, guess in zip(words, guesses, strict=True):
            assert word in guess


def test_a_column_of_truth_values_is_one_of_numbers(tmp_path: Path) -> None:
    table = read_delimited(_file(tmp_path, "u;on\n1;TRUE\n2;false\n3;\n4;1\n"), None)
    np.testing.assert_array_equal(table.numbers([1])[:, 0], [1, 0, np.nan, 1])
    assert table.number_notes([1]) == ["true and false were read as 1 and 0: column on."]
    table = read_delimited(_file(tmp_path, "u;on\n1;2\n2;false\n"), None)
    with pytest.raises(NarxbenchError, match="line 3, column on: found 'false'"):
        table.numbers([1])


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *(("1.234,5", 1234.5), ("1,234.5", 1234.5), ("1.234.567", 1234567), ("1,234,567", 1234567)),
        *(("1'234.5", 1234.5), ("1\u202f234,5", 1234.5), ("1 234.5", 1234.5), ("-12,345,678.25e-3", None)),
        *(("1.23.456", None), ("12,34.5", None), ("0,123.4", None), ("1,234,56", None), ("1.234,567.8", None)),
    ],
)
def test_thousands_in_groups(tmp_path: Path, text: str, number: float | None) -> None:
    table = read_delimited(_file(tmp_path, f"u;y\n7;{text}\n8;12\n"), None)
    if number is None:
        with pytest.raises(NarxbenchError, match="line 2, column y: found"):
            table.numbers([1])
        return
    assert table.numbers([1])[:, 0].tolist() == [number, 12]
    assert "between groups of three digits" in " ".join(table.number_notes([1]))


def test_the_decimal_mark_says_what_three_digits_after_a_comma_are(tmp_path: Path) -> None:
    path = _file(tmp_path, "u;y\n1;5,123\n2;4,999\n")
    assert read_delimited(path, None, decimal=",").numbers([1]).max() == 5.123
    assert read_delimited(path, None, decimal=".").numbers([1]).max() == 5123
    # Points stay decimal points, whatever the number of digits after them.
    assert read_delimited(_file(tmp_path, "u;y\n1;5.123\n2;4.999\n"), None).numbers([1]).max() == 5.123
