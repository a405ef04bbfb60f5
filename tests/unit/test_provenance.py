import importlib
import itertools
import sys

import pytest

from narxbench.experiment.provenance import code_digest, versions

CODE = '''"""A module."""

A = 1  # a remark


def double(x):
    """Return twice x."""
    return 2 * x
'''


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """The digest of a module with the given code."""
    monkeypatch.syspath_prepend(tmp_path)
    numbers = itertools.count()

    def of(code):
        # One name: it is part of the digest. The folder differs, because the digest of a module is computed once.
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        (folder / "written.py").write_text(code)
        monkeypatch.syspath_prepend(folder)
        importlib.invalidate_caches()
        code_digest.cache_clear()
        return code_digest("written")

    yield of
    code_digest.cache_clear()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("A module.", "The module."),
        ("Return twice x.", "Twice x.\n\n    Longer."),
        ("# a remark", "# another"),
        ("\n\n\n", "\n\n\n\n"),
        ("A = 1", "A  =  1"),
    ],
)
def test_words_and_layout_do_not_change_it(digest, old, new):
    assert digest(CODE.replace(old, new)) == digest(CODE)


@pytest.mark.parametrize(
    ("old", "new"), [("A = 1", "A = 2"), ("2 * x", "x * 2"), ("double(x)", "double(x, y=1)"), ("A = 1", "A = 1.0")]
)
def test_code_changes_it(digest, old, new):
    assert digest(CODE.replace(old, new)) != digest(CODE)


def test_package_covers_its_modules(tmp_path, monkeypatch):
    for name in ("__init__", "inner"):
        (tmp_path / "packed").mkdir(exist_ok=True)
        (tmp_path / f"packed/{name}.py").write_text("A = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = code_digest("packed")
    (tmp_path / "packed/inner.py").write_text("A = 2\n")
    code_digest.cache_clear()
    assert code_digest("packed") != before
    assert "packed" not in sys.modules


def test_unknown_module():
    with pytest.raises(ModuleNotFoundError, match="narxbench_of_old"):
        code_digest("narxbench_of_old")


def test_versions_name_what_computes():
    assert set(versions()) == {"python", "narxbench", "numpy", "numba", "llvmlite"}
    assert versions()["python"] == ".".join(map(str, sys.version_info[:2]))
