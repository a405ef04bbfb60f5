"""Versions, and digests of code that words and layout do not change."""

import sys
from pathlib import Path

import pytest

from narxbench._algorithms.registry import packaged_names
from narxbench._study.provenance import algorithm_digest, code_digest, versions

CODE = '''"""A module."""

A = 1  # a remark
class Settings:
    size: int = 3
    """A field."""
def double(x, y=None):
    """Return twice x."""
    return 2 * x
'''
SAME = [("A module.", "The module."), ('    """Return twice x."""\n', ""), ("A field.", "The size.")]
SAME += [("# a remark", ""), ("class", "\n\nclass"), ("A = 1", "A  =  (1)")]
MEANT = [("A = 1", "A = 2"), ("A = 1", "A = 1.0"), ("2 * x", "x * 2"), ("size: int", "size: float")]
MEANT += [("x, y=None", "x, y=0"), ("x, y=None", "x, *, y=None")]


@pytest.mark.parametrize(("old", "new"), SAME + MEANT)
def test_digests_are_of_what_code_does(tmp_path: Path, old: str, new: str) -> None:
    (tmp_path / "a.py").write_text(CODE)
    (tmp_path / "b.py").write_text(CODE.replace(old, new))
    assert (code_digest(tmp_path / "a.py") != code_digest(tmp_path / "b.py")) == ((old, new) in MEANT)


def test_runs_name_their_code_and_python() -> None:
    assert len({algorithm_digest(name) for name in packaged_names()}) == len(packaged_names())
    assert versions()["python"] == ".".join(map(str, sys.version_info[:2]))
