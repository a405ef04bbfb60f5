"""The public interface."""

import ast
import doctest
import re
import tomllib
from pathlib import Path

import pytest
from tests.command import python

import narxbench

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


WITH_EXTRAS = ["NarxRegressor", "plot", "write_comparison", "write_look", "write_report"]


@pytest.mark.parametrize("name", [*narxbench.__all__, *WITH_EXTRAS])
def test_every_public_name_is_there_and_has_an_example(name):
    assert name in dir(narxbench)
    (documented,) = doctest.DocTestFinder(recurse=False).find(getattr(narxbench, name), name)
    # The test of the style runs the examples of all modules.
    assert documented.examples


def test_type_checkers_see_the_names_where_they_are_imported_from():
    tree = ast.parse(Path(narxbench.__file__).read_text(encoding="utf-8"))
    (for_type_checkers,) = (node for node in tree.body if isinstance(node, ast.If))
    homes = {}
    for statement in for_type_checkers.body:
        homes |= {alias.name: statement.module for alias in statement.names}
    assert homes.pop("plot") == "narxbench"
    assert homes == narxbench._HOMES
    assert set(narxbench.__all__) | set(WITH_EXTRAS) | {"__version__"} == {*homes, "plot"}


def test_the_version_is_one():
    assert PROJECT["version"] == narxbench.__version__
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {narxbench.__version__}\n" in citation
    # What comes next has no version yet.
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (?!Unreleased\b)(\S+)", changes, re.MULTILINE)
    assert released[0] == narxbench.__version__


@pytest.mark.slow
def test_a_model_needs_nothing_that_takes_long_to_import():
    code = "import sys, numpy, narxbench; u, e = numpy.random.default_rng(1).normal(size=(2, 300));"
    code += "y = numpy.roll(u, 1) + 0.1 * e.cumsum();"
    code += "narxbench.identify(u, y, decimation=1, degree=1, y_lags=1, u_lags=1, effort=0.05);"
    code += "slow = {'scipy.stats', 'scipy.signal', 'scipy.optimize', 'scipy.ndimage', 'matplotlib'};"
    code += "print(sorted(slow & set(sys.modules)))"
    assert python("-c", code).out == "[]\n"


@pytest.mark.parametrize(
    "mistake",
    [
        lambda file: narxbench.load_system("S", file.parent),
        narxbench.Model.load,
        narxbench.read_signals,
        lambda file: narxbench.identify(file.with_name("missing.csv")),
        lambda file: narxbench.Model(("y(k-1)",), (0.5,), (), "y").save(file.parent),
    ],
)
def test_a_file_that_cannot_be_used_is_a_file_error(tmp_path, mistake):
    assert issubclass(narxbench.FileError, narxbench.NarxbenchError) and issubclass(narxbench.FileError, ValueError)
    file = tmp_path / "S.yaml"
    file.write_text("equation: [", encoding="utf-8")
    with pytest.raises(narxbench.FileError):
        mistake(file)
