"""Versions, and digests of code that words and layout do not change."""

import sys
from pathlib import Path

import pytest

from narxbench.algorithms.registry import algorithm_names
from narxbench.experiment.provenance import algorithm_digest, code_digest, versions

CODE = '''"""A module."""

A = 1  # a remark
B = "x" in {"b", "a"}


class Settings:
    size: int = 3
    """A field."""


def double(x, y=None):
    """Return twice x."""
    return 2 * x
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("A module.", "The module."),
        ('    """Return twice x."""\n', ""),
        ("A field.", "The size."),
        ("# a remark", "# another"),
        ("\n\n\n", "\n\n\n\n"),
        ("A = 1", "A  =  (1)"),
    ],
)
def test_words_and_layout_do_not_change_a_digest(tmp_path: Path, old: str, new: str) -> None:
    (tmp_path / "a.py").write_text(CODE)
    (tmp_path / "b.py").write_text(CODE.replace(old, new))
    assert code_digest(tmp_path / "a.py") == code_digest(tmp_path / "b.py")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("A = 1", "A = 2"),
        ("A = 1", "A = 1.0"),
        ("2 * x", "x * 2"),
        ("x, y=None", "x, y=0"),
        ("x, y=None", "x, *, y=None"),
        ("size: int", "size: float"),
    ],
)
def test_code_changes_a_digest(tmp_path: Path, old: str, new: str) -> None:
    (tmp_path / "a.py").write_text(CODE)
    (tmp_path / "b.py").write_text(CODE.replace(old, new))
    assert code_digest(tmp_path / "a.py") != code_digest(tmp_path / "b.py")


def test_what_runs_name() -> None:
    assert len({algorithm_digest(name) for name in algorithm_names()}) == len(algorithm_names())
    assert versions()["python"] == ".".join(map(str, sys.version_info[:2]))
