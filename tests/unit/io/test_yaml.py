"""YAML: what is read, what is refused and where, and that no text does anything else."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from narxbench._io.errors import NarxbenchError
from narxbench._io.yaml import read_mapping, read_value

quick = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
# The keys of YAML have at most 1024 characters, of which JSON writes up to twelve for one.
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=80), inner, max_size=4),
    max_leaves=12,
)
PIECES = ["a: ", "- ", "? ", ": ", ", ", "\n", "  ", "\t", "|\n ", ">-\n ", "&x ", "*x", "!!int ", "--- ", "\\u"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-9223372036854775808", -(2**63)),
        ("[-.5, 2., +1.5E+3]", [-0.5, 2.0, 1500.0]),
        ("[true, False, null, ~, ]", [True, False, None, None]),
        ("[on, off, yes, no, y]", ["on", "off", "yes", "no", "y"]),
        ("[2018-01-01, 190:20:30, 0x10]", ["2018-01-01", "190:20:30", "0x10"]),
        ("[1_000, .inf, .nan]", ["1_000", ".inf", ".nan"]),
        ("['1', \"true\", 'null']", ["1", "true", "null"]),
        ("|\n  two\n  lines\n", "two\nlines\n"),
        ("? 1\n: {a: [b, {c: d}]}\nkey:\n", {1: {"a": ["b", {"c": "d"}]}, "key": None}),
        ("%YAML 1.2\n---\na: 1\n...\n", {"a": 1}),
        ("", None),
    ],
)
def test_values(text: str, value: Any) -> None:
    assert repr(read_value(text, "text")) == repr(value)


def test_a_byte_order_mark_and_windows_lines_are_no_mistakes(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_bytes("\ufeffa: 1\r\nb: 'é'\r\n".encode())
    assert read_mapping(tmp_path / "mine.yaml") == {"a": 1, "b": "é"}


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
