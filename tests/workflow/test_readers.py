"""A damaged file that a step reads is named in one line that says what is wrong; never a traceback."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("path", "old", "new", "reported"),
    [
        # Allowed by the schema of each row.
        ("data/tiny/frames/claims.csv", r"(?m)^.*,here,.*\n", "", r"found no row for \('.*', 'here'\); delete it"),
        ("reports/tiny/run.json", r"(?s)\A.*\Z", "{}", "command: .*; not a record of a run of this version, delete it"),
        ("reports/tiny/figures/figure_1.svg", r"(?s)\A.*\Z", "", "not a whole SVG"),
        ("docs/method.md", r"\Z", "\udcff", r"not text in UTF-8 \(byte \d+\)"),
    ],
)
def test_a_damage_is_reported(copy, path, old, new, reported):
    wrong, count = re.subn(old, new, (copy / path).read_text(encoding="utf-8"), count=1)
    assert count
    (copy / path).write_bytes(wrong.encode(errors="surrogateescape"))
    printed = copy.snakemake("--keep-going", code=1)
    lines = re.findall("^narxbench: (?!study |since )(.*)$", printed, re.MULTILINE)
    for line in lines:
        assert Path(path).name in line, printed
    assert re.search(reported, "\n".join(lines)), printed
