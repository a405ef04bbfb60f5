"""Damage to files, drawn by Hypothesis: to their bytes, to the cells of tables, to the values of JSON and YAML."""

import csv
import io
import json
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st
from ruamel.yaml import YAML

VALUES = st.sampled_from(
    [None, True, 0, -1, 3.5, 1e308, 10**30, "", "x", "nan", "two\nlines", "\x1b", [], [None], ["a", "a"], {}, {"a": 1}]
)
CELLS = st.sampled_from(["", "nan", "inf", "-1", "0", "1e308", "9" * 30, "x", "1;2", '"', "\x00", "\x1b", "{a}", "=1"])
PIECES = st.sampled_from([b"\0", b"\xff", b'"', b"\n", b",", b"|", b"## ", b"{", b"[", b"<", b"-", b"9", b".", b"&a "])
WHOLE = [b"", b"\n", b"null", b"[]", b"{}", b"NaN", b"[" * 100_000, b"a: " * 1000, b"\xff\xfe", b"# x", b"##", b"<svg"]


@st.composite
def damaged(draw: st.DrawFn, content: bytes, name: str) -> bytes:
    """Return the content of a file of this name with some damage."""
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return draw(st.sampled_from(WHOLE) | st.binary(max_size=100))
    try:
        if kind < 7 and name.endswith(".json"):
            return json.dumps(_with_other_values(draw, json.loads(content))).encode()
        if kind < 7 and name.endswith((".yaml", ".cff")):
            stream, yaml = io.StringIO(), YAML(typ="safe", pure=True)
            yaml.dump(_with_other_values(draw, yaml.load(content.decode())), stream)
            return stream.getvalue().encode()
        if kind < 7 and name.endswith(".csv"):
            return _with_other_cells(draw, content)
    except ValueError:  # it was damaged before
        pass
    start = draw(st.integers(0, len(content)))
    end = start + draw(st.sampled_from([0, 1, 10, 100, len(content)]))
    return content[:start] + draw(st.just(b"") | PIECES | st.binary(min_size=1, max_size=4)) + content[end:]


def _with_other_cells(draw: st.DrawFn, content: bytes) -> bytes:
    """Another cell, another column, no column, or a row that is missing or there twice."""
    rows = list(csv.reader(io.StringIO(content.decode())))
    for _ in range(draw(st.integers(1, 3))):
        row = draw(st.integers(0, len(rows) - 1))
        column, kind = draw(st.integers(0, max(0, len(rows[row]) - 1))), draw(st.integers(0, 4))
        if kind == 0:
            rows[row : row + 1] = draw(st.sampled_from([[], [rows[row]] * 2]))
        elif kind == 1:
            rows = [each[:column] + each[column + 1 :] for each in rows]
        elif rows[row][column:]:
            cell = draw(CELLS | st.sampled_from([each[column] for each in rows if each[column:]]))
            for each in rows[row : row + 1] if kind < 4 else rows[1:]:
                each[column : column + 1] = [cell]
        if not rows:
            break
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue().encode()


def _with_other_values(draw: st.DrawFn, value: Any) -> Any:
    for _ in range(draw(st.integers(1, 3))):
        inner = value
        while isinstance(inner, dict | list) and inner:
            key = draw(st.sampled_from(sorted(inner, key=str) if isinstance(inner, dict) else range(len(inner))))
            if isinstance(inner[key], dict | list) and inner[key] and draw(st.integers(0, 3)):
                inner = inner[key]
                continue
            if kind := draw(st.integers(0, 2)):
                inner[key] = deepcopy(draw(VALUES)) if kind == 1 else [inner[key]]
            else:
                del inner[key]
            break
    return value
