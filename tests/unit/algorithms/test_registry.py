"""Algorithms are found, and one that cannot be used is reported of in one line, without harm to the others."""

import re
import sys

import pytest
from tests.lookups import names_of
from tests.tiers import mostly_slow
from tests.unit.algorithms.plugins import SOURCE, install_text

from narxbench import search
from narxbench._algorithms import registry
from narxbench._algorithms.contract import About
from narxbench._algorithms.isolation import host
from narxbench._algorithms.registry import AlgorithmUnavailableError, algorithm, algorithm_names, packaged_names


@pytest.fixture
def add(monkeypatch, tmp_path):
    """Install an algorithm of this name and source."""

    def added(name, source=SOURCE, distribution="added"):
        install_text(monkeypatch, tmp_path, {name: "added"}, distribution, added=source)
        return algorithm(name)

    return added


def test_the_algorithms_of_this_package():
    names = packaged_names()
    assert {"ga", "stepwise", "upso2d"} <= set(names) <= set(algorithm_names())
    assert not {*names} & {"conformance", "contract", "isolation", "objective", "population", "registry", "search"}
    for name in names:
        packaged = algorithm(name)
        assert packaged.module == f"narxbench._algorithms.{name}"
        assert packaged.in_process == (name in registry.REVIEWED and not packaged.about.requires)


def test_an_installed_algorithm_is_found(plugins):
    for name in {*algorithm_names()} - {*packaged_names()}:
        assert algorithm(name).distribution
    annealing = algorithm("honest_annealing")
    assert (annealing.module, annealing.distribution, annealing.in_process) == (
        "honest.honest_annealing",
        "honest",
        False,
    )
    assert annealing.about.options == {"first_temperature": [50.0]}
    assert annealing.document.startswith("Annealing whose temperature")
    assert "honest_annealing.py" in names_of(annealing.files)
    assert annealing.versions == {"honest": "1.0"}
    assert annealing.schema()["properties"]["first_temperature"]["default"] == 5.0


def test_an_installed_algorithm_is_not_imported_here(plugins, small_problem):
    result = search(small_problem, algorithm="honest_annealing", seed=1, evaluations=50, first_temperature=9.0)
    assert result.settings == {"first_temperature": 9.0}
    assert "honest" not in sys.modules


def test_a_file_in_the_folder_that_nobody_has_reviewed_runs_apart(monkeypatch, tmp_path, small_problem):
    (tmp_path / "dropped.py").write_text(SOURCE)
    monkeypatch.setattr("narxbench._algorithms.__path__", [str(tmp_path)])
    assert packaged_names() == ["dropped"]
    assert not registry.Algorithm("dropped", "narxbench._algorithms.dropped").reviewed


def test_no_installation_changes_what_a_name_of_this_package_means(add):
    assert add("ga").module == "narxbench._algorithms.ga"


BROKEN = {
    "missing": ("import nothing_of_this_name\n", r"ModuleNotFoundError: No module named .* \(added\.py, line 1\)"),
    "fault": ("import math\nmath.sqrt(-1)\n", r"ValueError: .* \(added\.py, line 2\)"),
    "interrupt": ("raise KeyboardInterrupt\n", r"KeyboardInterrupt:  \(added\.py, line 1\)"),
    "crash": ("import ctypes\nctypes.string_at(0)\n", r"its import ends the process \(exit code -11\)"),
    "load": (SOURCE + "\ndef load():\n    1 / 0\n", r"ZeroDivisionError: .* \(added\.py, line \d+\)"),
    "no run": (SOURCE.replace("def run", "def walk"), r"added has no def run\(problem, objective, rng, settings\)"),
    "one name": (SOURCE.replace("'None'", "'None', requires='fastcan'"), "requires: found 'fastcan'; allowed: a list"),
    "no data": (SOURCE.replace("'None'", "'None', options={'a': [object]}"), "TypeError: .*not JSON serializable"),
}


@pytest.mark.parametrize("name", mostly_slow(BROKEN, "fault", "crash", "no run"))
def test_one_that_cannot_be_imported_is_reported_in_one_line(add, small_problem, name):
    source, words = BROKEN[name]
    add("broken", source)
    with pytest.raises(AlgorithmUnavailableError) as failure:
        search(small_problem, algorithm="broken", seed=1, evaluations=10)
    text = str(failure.value)
    assert re.search(f"^algorithm 'broken': cannot be imported: .*{words}", text), text
    assert text.isprintable()
    assert "broken" in algorithm_names()
    assert search(small_problem, algorithm="stepwise", seed=1, evaluations=10).evaluations == 10


@pytest.mark.slow
def test_an_import_that_does_not_end(add, small_problem, monkeypatch):
    monkeypatch.setattr(host, "_START_SECONDS", 2.0)
    add("endless", "while True:\n    pass\n")
    with pytest.raises(AlgorithmUnavailableError, match="cannot be imported: its import takes more than 2 s"):
        search(small_problem, algorithm="endless", seed=1, evaluations=10)


def test_a_distribution_that_is_needed_and_not_there(add, small_problem):
    needing = add("needing", SOURCE.replace("'None'", "'None', requires=('nothing-of-this-name',)"))
    with pytest.raises(AlgorithmUnavailableError) as failure:
        search(small_problem, algorithm="needing", seed=1, evaluations=10)
    assert str(failure.value) == (
        "algorithm 'needing': needs nothing-of-this-name, which is not installed; "
        "python3 -m pip install nothing-of-this-name"
    )
    assert needing.about == About(reference="None", requires=("nothing-of-this-name",))
