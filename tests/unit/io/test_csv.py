"""Tables as CSV files: kinds of columns, mistakes with their places, and every frame reads back."""

import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from narxbench._io import csv
from narxbench._io.csv import FLAG, INTEGER, NAME, NUMBER, TEXT, list_of, optional, read_table, write_table

quick = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
SCHEMA = {"name": NAME, "note": TEXT, "runs": INTEGER, "snr_db": NUMBER, "fitness": optional(NUMBER), "exact": FLAG}
SCHEMA |= {"nu": list_of(INTEGER), "curve": list_of(optional(NUMBER))}
finite = st.floats(allow_nan=False, allow_infinity=False)
line = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\r\n"), max_size=8)
rows = st.tuples(
    *(line.filter(bool), line, st.integers(-(10**17), 10**17), finite, finite | st.just(math.nan), st.booleans()),
    *(st.lists(st.integers(0, 40), max_size=4).map(tuple), st.lists(finite, max_size=4).map(tuple)),
)


def test_a_spreadsheet_finds_no_formula(tmp_path: Path) -> None:
    texts = ["=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "'=1", "'", "-1", "+2e3", "a=1"]
    frame = pd.DataFrame({"name": texts, "x": range(-3, 7), "all": [("=1", "b", "-c")] * 10})
    fields = [line.split(",")[0] for line in write_table(frame).splitlines()[1:]]
    assert fields == [*(f"'{text}" for text in texts[:6]), "'", "-1", "+2e3", "a=1"]
    assert write_table(frame).splitlines()[1].endswith(",-3,'=1;b;'-c")
    (tmp_path / "t.csv").write_text(write_table(frame))
    table = read_table(tmp_path / "t.csv", {"name": NAME, "x": INTEGER, "all": list_of(TEXT)})
    pd.testing.assert_frame_equal(table, frame)


@given(values=st.lists(rows, min_size=1, max_size=5))
@quick
def test_every_frame_reads_back_to_the_last_bit(tmp_path: Path, values: list[tuple[object, ...]]) -> None:
    frame = pd.DataFrame(values, columns=list(SCHEMA))
    text = write_table(frame)
    (tmp_path / "t.csv").write_bytes(text.encode())
    table = read_table(tmp_path / "t.csv", SCHEMA)
    pd.testing.assert_frame_equal(table, frame, check_exact=True)
    assert write_table(table) == text


def test_the_text_is_canonical() -> None:
    columns = {
        "int": [1, 2],
        "whole": [50.0, math.nan],
        "float": [-0.0, 0.1],
        "flag": [np.True_, np.False_],
        "missing": pd.array([True, None], dtype="boolean"),
        "text": ["a,b", None],
        "tuple": [(1, np.int64(2)), (0.5, math.nan, -0.0)],
    }
    expected = 'int,whole,float,flag,missing,text,tuple\n1,50,0.0,true,true,"a,b",1;2\n2,,0.1,false,,,0.5;;0.0\n'
    assert write_table(pd.DataFrame(columns)) == expected
    assert write_table(pd.DataFrame(columns).astype({"int": float, "flag": object})) == expected


@pytest.mark.parametrize("value", [math.inf, -math.inf, (1.0, math.inf), "a\nb", "a\r"])
def test_what_cannot_be_read_back_is_not_written(value: object) -> None:
    with pytest.raises(ValueError, match="in a table; allowed"):
        write_table(pd.DataFrame({"x": [value]}))


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (NUMBER, "179769313486231570000e288", sys.float_info.max),
        (optional(INTEGER), "", math.nan),
        (list_of(optional(NUMBER)), "1;;2", (1.0, math.nan, 2.0)),
        (csv.one_of("nu", "r"), "r", "r"),
        (csv.matching(r"\d{1,3}", "a whole number of dB", int), "50", 50),
    ],
)
def test_kinds(tmp_path: Path, kind: csv.Kind, text: str, value: object) -> None:
    (tmp_path / "t.csv").write_text(f"\ufeffx\r\n{text or chr(34) * 2}\r\n", newline="")
    (entry,) = read_table(tmp_path / "t.csv", {"x": kind})["x"].tolist()
    assert repr(entry) == repr(value)
