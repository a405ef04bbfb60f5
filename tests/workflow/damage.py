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
            stream = io.StringIO()
            yaml = YAML(typ="safe", pure=True)
            yaml.dump(_with_other_values(draw, yaml.load(content.decode())), stream)
            return stream.getvalue().encode()
        if kind < 7 and name.endswith(".csv"):
            return _with_other_cells(draw, content)
    except ValueError:  # it was damaged before
        pass
    return _with_other_bytes(draw, content)


def _with_other_bytes(draw: st.DrawFn, content: bytes) -> bytes:
    start = draw(st.integers(0, len(content)))
    end = min(len(content), start + draw(st.sampled_from([0, 1, 10, 100])))
    lines = content.split(b"\n")
    line = draw(st.integers(0, len(lines) - 1))
    changed = [
        content[:start],
        content[start:],
        content[:start] + content[end:],
        content[:start] + draw(PIECES) + content[end:],
        content[:start] + draw(st.binary(min_size=1, max_size=4)) + content[end:],
        b"\n".join([*lines[:line], *lines[line + 1 :]]),
        b"\n".join([*lines[:line], lines[line], *lines[line:]]),
        b"\n".join(lines[: line + 1]),
    ]
    return draw(st.sampled_from(changed))


def _with_other_cells(draw: st.DrawFn, content: bytes) -> bytes:
    rows = list(csv.reader(io.StringIO(content.decode())))
    for _ in range(draw(st.integers(1, 3))):
        row = draw(st.integers(0, len(rows) - 1))
        column = draw(st.integers(0, max(0, len(rows[row]) - 1)))
        if rows[row][column:]:
            cell, kind = draw(CELLS | st.sampled_from([each[column] for each in rows if each[column:]])), draw(_KINDS)
            if kind == "cell":
                rows[row][column] = cell
            elif kind == "column":
                rows = [rows[0], *([*each[:column], cell, *each[column + 1 :]] for each in rows[1:])]
            elif kind == "without":
                rows = [each for i, each in enumerate(rows) if i == 0 or each[column:][:1] != [cell]]
            else:
                rows = [each[:column] + each[column + 1 :] for each in rows]
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue().encode()


_KINDS = st.sampled_from(["cell", "cell", "column", "without", "narrower"])


def _with_other_values(draw: st.DrawFn, value: Any) -> Any:
    for _ in range(draw(st.integers(1, 3))):
        inner = value
        while isinstance(inner, dict | list) and inner:
            key = draw(st.sampled_from(sorted(inner, key=str) if isinstance(inner, dict) else range(len(inner))))
            if isinstance(inner[key], dict | list) and inner[key] and draw(st.integers(0, 3)):
                inner = inner[key]
                continue
            if draw(st.booleans()):
                inner[key] = deepcopy(draw(VALUES))
            elif draw(st.booleans()):
                del inner[key]
            else:
                inner[key] = [inner[key]]
            break
    return value
