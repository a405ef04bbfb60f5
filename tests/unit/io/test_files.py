"""Files are whole or not at all; tables, YAML and JSON read back; errors of the system stay what they are."""

import errno
import json
import math
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.lookups import file_names

from narxbench._io.csv import FLAG, INTEGER, NAME, NUMBER, TEXT, list_of, optional, read_table, write_table
from narxbench._io.errors import NarxbenchError, lacks_memory
from narxbench._io.files import canonical_json, read_bytes, read_json, write_atomically, write_folder
from narxbench._io.interruptions import interruptible
from narxbench._io.yaml import read_mapping, read_value

quick = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
finite = st.floats(allow_nan=False, allow_infinity=False)


# Writing.


def _fail(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_a_file_is_whole_with_text_or_bytes_and_the_umask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, before = tmp_path / "deep/file.txt", os.umask(0o027)
    try:
        for content in ("ν\n", "ν\n".encode()):
            write_atomically(path, content)
            assert path.read_bytes() == read_bytes(path, 3) == b"\xce\xbd\n"
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    monkeypatch.setattr(os, "replace", _fail)
    with pytest.raises(NarxbenchError, match=r"file\.txt: cannot be written: No space left"):
        write_atomically(path, "new")
    assert path.read_text() == "ν\n" and file_names(path.parent) == ["file.txt"]


def test_a_folder_is_whole_or_has_no_last_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new folder appears at once; in an old one the last file goes first, and others that are not named stay."""
    folder = tmp_path / "deep/report"
    write_folder(folder, {"page": "1", "model": "1"}, last="page")
    (folder / "notes").write_text("kept")
    (folder / "program").write_text("old")
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", _fail)
        with pytest.raises(NarxbenchError, match=r"report: cannot be written: No space left"):
            write_folder(folder, {"page": "2", "model": "2"}, last="page", obsolete=["program"])
    assert set(file_names(folder)) == {"model", "notes"}
    write_folder(folder, {"page": "2", "model": "2"}, last="page", obsolete=["program"])
    contents = {path.name: path.read_text() for path in folder.iterdir()}
    assert contents == {"page": "2", "model": "2", "notes": "kept"}
    assert file_names(folder.parent) == ["report"]


def test_canonical_json_reads_back_to_the_last_bit(tmp_path: Path) -> None:
    assert canonical_json({"b": 0.1, "a": ["ν"]}) == '{"a":["ν"],"b":0.1}\n'
    with pytest.raises(ValueError, match="Out of range"):
        canonical_json({"a": float("inf")})
    value = {"ν\u2028": [1e-300, -0.0, 0.1 + 0.2, 2**70, None, True, {"": []}]}
    write_atomically(tmp_path / "x.json", canonical_json(value))
    assert repr(read_json(tmp_path / "x.json")) == repr(value) == repr(json.loads(canonical_json(value)))


# Tables.

SCHEMA = {"name": NAME, "note": TEXT, "runs": INTEGER, "snr_db": NUMBER, "fitness": optional(NUMBER), "exact": FLAG}
SCHEMA |= {"nu": list_of(INTEGER), "curve": list_of(optional(NUMBER))}
line = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\r\n"), max_size=8)
rows = st.tuples(
    *(line.filter(bool), line, st.integers(-(10**17), 10**17), finite, finite | st.just(math.nan), st.booleans()),
    *(st.lists(st.integers(0, 40), max_size=4).map(tuple), st.lists(finite, max_size=4).map(tuple)),
)


def test_a_spreadsheet_finds_no_formula(tmp_path: Path) -> None:
    texts = ["=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "'=1", "'", "-1", "+2e3", "a=1"]
    frame = pd.DataFrame({"name": texts, "all": [("=1", "b", "-c")] * 10})
    fields = [line.split(",") for line in write_table(frame).splitlines()[1:]]
    assert fields == [[text, "'=1;b;'-c"] for text in (*(f"'{text}" for text in texts[:6]), "'", "-1", "+2e3", "a=1")]
    (tmp_path / "t.csv").write_text(write_table(frame))
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv", {"name": NAME, "all": list_of(TEXT)}), frame)


@given(values=st.lists(rows, min_size=1, max_size=5))
@quick
def test_every_frame_reads_back_to_the_last_bit(tmp_path: Path, values: list[tuple[object, ...]]) -> None:
    frame = pd.DataFrame(values, columns=list(SCHEMA))
    text = write_table(frame)
    (tmp_path / "t.csv").write_bytes(text.encode())
    table = read_table(tmp_path / "t.csv", SCHEMA)
    pd.testing.assert_frame_equal(table, frame, check_exact=True)
    assert write_table(table) == text


def test_the_text_of_a_table_is_canonical() -> None:
    columns = {
        **{"int": [1, 2], "whole": [50.0, math.nan], "float": [-0.0, 0.1], "flag": [np.True_, np.False_]},
        **{"missing": pd.array([True, None], dtype="boolean"), "tuple": [(1, np.int64(2)), (0.5, math.nan, -0.0)]},
    }
    expected = "int,whole,float,flag,missing,tuple\n1,50,0.0,true,true,1;2\n2,,0.1,false,,0.5;;0.0\n"
    assert write_table(pd.DataFrame(columns)) == expected
    for value in (math.inf, (1.0, -math.inf), "a\nb", "a\r"):
        with pytest.raises(ValueError, match="in a table; allowed"):
            write_table(pd.DataFrame({"x": [value]}))


# YAML.

# The keys of YAML have at most 1024 characters, of which JSON writes up to twelve for one.
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=80), inner, max_size=4),
    max_leaves=12,
)
PIECES = ["a: ", "- ", "? ", ": ", ", ", "\n", "  ", "\t", "|\n ", ">-\n ", "&x ", "*x", "!!int ", "--- ", "\\u"]


YAML = {
    "-9223372036854775808": -(2**63),
    "[-.5, 2., +1.5E+3]": [-0.5, 2.0, 1500.0],
    "[true, False, null, ~, ]": [True, False, None, None],
    "[on, yes, 2018-01-01, 190:20:30, 0x10, 1_000, .inf]": [
        "on",
        "yes",
        "2018-01-01",
        "190:20:30",
        "0x10",
        "1_000",
        ".inf",
    ],
    "['1', \"true\", 'null']": ["1", "true", "null"],
    "|\n  two\n  lines\n": "two\nlines\n",
    "? 1\n: {a: [b, {c: d}]}\nkey:\n": {1: {"a": ["b", {"c": "d"}]}, "key": None},
    "%YAML 1.2\n---\na: 1\r\nb: 'é'\r\n...\n": {"a": 1, "b": "é"},
    "": None,
}


@pytest.mark.parametrize(("text", "value"), YAML.items())
def test_values_of_yaml(text: str, value: Any) -> None:
    assert repr(read_value(text, "text")) == repr(value)


@given(value=json_values)
@quick
def test_json_is_yaml_with_the_same_values(value: Any) -> None:
    try:
        mapping = read_value(json.dumps({"value": value}), "text")
    except NarxbenchError as error:
        assert any(word in str(error) for word in ("64 bits", "surrogate"))
        return
    assert repr(mapping["value"]) == repr(value)


@given(
    data=st.binary(max_size=100)
    | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
    | st.lists(st.sampled_from([*PIECES, *"\x85\u2028abx019.e+-[]{}'\"#%~"])).map(lambda parts: "".join(parts).encode())
)
@settings(quick, max_examples=200)
def test_any_bytes_are_plain_values_or_a_clear_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "any.yaml"
    path.write_bytes(data)
    try:
        # Nothing else than what JSON has, and no half of a surrogate pair.
        json.dumps(read_mapping(path), allow_nan=False, ensure_ascii=False).encode()
    except NarxbenchError as error:
        assert str(error).startswith(f"{path}: ") and str(error).isprintable()


# Errors of the system.


def _raised_from(cause: Exception) -> ImportError:
    error = ImportError("a library cannot be loaded")
    error.__context__ = cause
    return error


def test_lacks_memory() -> None:
    assert lacks_memory(MemoryError()) and lacks_memory(OSError(errno.ENOMEM, "no words"))
    assert lacks_memory(OSError("libsolver.so: failed to map segment from shared object"))
    assert lacks_memory(_raised_from(OSError("libsolver.so: Cannot allocate memory in static TLS block")))
    assert not lacks_memory(_raised_from(OSError(errno.ENOENT, "No such file")))


@pytest.mark.parametrize(
    ("cause", "raised"), [(KeyboardInterrupt(), KeyboardInterrupt), (ValueError(), SystemError), (None, SystemError)]
)
def test_an_interruption_of_compiled_code_stays_what_it_is(cause: Any, raised: type[BaseException]) -> None:
    # Numba wraps what a call of Python raises in two errors of its own.
    error = cause
    for _ in range(2):
        wrapped = SystemError("returned a result with an exception set")
        wrapped.__cause__, error = error, wrapped
    with pytest.raises(raised), interruptible():
        raise error
