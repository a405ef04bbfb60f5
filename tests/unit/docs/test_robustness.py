"""The table of promises names tests that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SECTION = (ROOT / "docs/robustness.md").read_text(encoding="utf-8").partition("## Promises\n")[2]
ROWS = re.findall(r"^\| (?!Promise)([^|]+) \| ([^|]+) \|[^|]*\|$", SECTION.partition("\n## ")[0], re.MULTILINE)


def test_the_table_has_rows():
    assert len(ROWS) > 8


@pytest.mark.parametrize(("promise", "tests"), ROWS)
def test_each_promise_names_tests_that_exist(promise, tests):
    references = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", tests)
    assert references and len(references) == tests.count("`") // 2, promise
    for file, name in references:
        text = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(rf"^ *def {name}\(", text, re.MULTILINE), f"{file} has no {name}"
