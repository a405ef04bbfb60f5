"""The public interface."""

import re
import subprocess
import sys
import tomllib
import types
from importlib.resources import files
from pathlib import Path

import pytest

import narxbench
import narxbench.algorithms as algorithms
from narxbench.io import extras

ROOT = Path(__file__).parents[2]


def test_every_public_name_is_there_and_documented():
    for name in narxbench.__all__:
        assert getattr(narxbench, name).__doc__, name
    assert set(narxbench.__all__) <= set(dir(narxbench))


def test_a_package_is_a_module_and_the_search_a_function():
    assert isinstance(algorithms, types.ModuleType)
    assert callable(narxbench.search)


def test_the_package_is_a_command_and_says_its_version():
    done = subprocess.run([sys.executable, "-m", "narxbench", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"narxbench {narxbench.__version__}\n"


def test_its_types_are_for_others_too():
    assert files("narxbench").joinpath("py.typed").is_file()


def test_the_version_is_one():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == narxbench.__version__
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {narxbench.__version__}\n" in citation
    # What comes next has no version yet.
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (?!Unreleased\b)(\S+)", changes, re.MULTILINE)
    assert released[0] == narxbench.__version__


def test_a_star_import_asks_for_no_extra_and_the_rest_is_there():
    code = "from narxbench import *; import sys; print(sorted({'matplotlib', 'sklearn'} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"
    assert {"NarxRegressor", "plot", "write_comparison", "write_report"} <= set(dir(narxbench))


@pytest.mark.slow
def test_a_model_needs_nothing_that_takes_long_to_import():
    code = "import sys, numpy, narxbench; u = numpy.random.default_rng(1).normal(size=300); y = numpy.roll(u, 1);"
    code += "narxbench.identify(u, y, decimation=1, degree=1, y_lags=1, u_lags=1, resamples=2, effort=0.05);"
    code += "print(sorted({'scipy.stats', 'scipy.signal', 'scipy.ndimage', 'matplotlib'} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"


def test_a_missing_extra_is_one_line_with_the_command(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name in ("jinja2", "sklearn") else name)
    with pytest.raises(narxbench.NarxbenchError) as caught:
        _ = narxbench.write_report
    line = "narxbench.write_report: jinja2 is not installed; needed: python3 -m pip install 'narxbench[report]'"
    assert str(caught.value) == line
    with pytest.raises(narxbench.NarxbenchError, match=r"NarxRegressor.*narxbench\[sklearn\]"):
        _ = narxbench.NarxRegressor
