"""The checks of all algorithms let honest ones pass, and find each breach that a single run does not show."""

import re

import pytest
from tests.tiers import mostly_slow
from tests.unit.algorithms.plugins import SOURCE, install_text
from tests.unit.algorithms.plugins.cheats import CHEATS, HONEST
from tests.unit.algorithms.plugins.climbing import climb

from narxbench._algorithms import conformance, random_search
from narxbench._algorithms.registry import AlgorithmUnavailableError, algorithm, packaged_names

BREACHES = [name for name, cheat in CHEATS.items() if cheat.check]
# With 1001 candidate terms each of these takes one to four minutes: here they choose from 286.
SLOW_WITH_MANY = ("adaptive_lasso", "sysidentpy_aols")


def failures(name):
    return [outcome for outcome in conformance.check(name) if not outcome.passed]


def first_failure(name):
    return next(outcome for outcome in conformance.check(name) if not outcome.passed)


def check_only(monkeypatch, *names):
    """Leave out all other checks: those of a whole run cost seconds each."""
    monkeypatch.setattr(conformance, "_CHECKS", {name: conformance._CHECKS[name] for name in names})


def several_hundred_candidates():
    u, y = conformance._SYSTEM.simulate(800, snr_db=40)
    problem = conformance._problem(u, y, n_u=5, n_y=5, degree=3)
    assert len(problem.terms) == 286
    return problem


@pytest.mark.ci
@pytest.mark.slow
@pytest.mark.parametrize("name", packaged_names())
def test_an_algorithm_of_this_package(monkeypatch, name):
    try:
        _ = algorithm(name).versions
    except AlgorithmUnavailableError as error:
        pytest.skip(str(error))
    # How fast the machine is does not matter here.
    monkeypatch.setattr(conformance, "TIME_LIMIT", 900.0)
    if not algorithm(name).in_process:
        # Twelve long runs are compared: of algorithms of other packages, which are slow, 500 evaluations are enough.
        monkeypatch.setattr(conformance, "LONG", 500)
    if name in SLOW_WITH_MANY:
        monkeypatch.setattr(conformance, "many_candidates", several_hundred_candidates)
    assert failures(name) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", HONEST)
def test_an_honest_algorithm_of_another_package(plugins, name):
    assert failures(name) == []


def test_a_corner_case_may_be_refused(plugins, monkeypatch):
    check_only(monkeypatch, "corner cases")
    ((_, passed, text),) = conformance.check("honest_mean")
    words = r"; refused: zero output: .*ValueError: no output \(honest_mean\.py, line \d+\)$"
    assert passed and re.search(words, text)


@pytest.mark.parametrize("name", mostly_slow(BREACHES, "early"))
def test_a_breach_is_found(plugins, monkeypatch, name):
    check_only(monkeypatch, "declaration", "settings", "runs", CHEATS[name].check)
    failure = first_failure(name)
    assert failure.name == CHEATS[name].check
    assert re.search(CHEATS[name].message, failure.text), failure.text
    assert failure.text.endswith(f"; why: {conformance._CHECKS[failure.name].reason}")


@pytest.mark.slow
def test_a_run_that_fails_ends_the_checks(plugins):
    *_, last = conformance.check("raises")
    assert (last.name, last.passed) == ("runs", False)


@pytest.mark.parametrize(
    ("document", "about", "words"),
    [
        ("Text.", "reference=' '", r"ABOUT\.reference: found ' '; allowed: the source, in one line"),
        ("", "reference='One'", "the module has no docstring"),
    ],
)
@pytest.mark.slow
def test_a_declaration_that_says_nothing(monkeypatch, tmp_path, document, about, words):
    source = SOURCE.replace("What it is.", document).replace("reference='None'", about)
    install_text(monkeypatch, tmp_path, {"silent": "silent"}, "silent", silent=source)
    failure = first_failure("silent")
    assert failure.name == "declaration"
    assert re.search(words, failure.text), failure.text


def memory(problem, objective, rng, settings, runs=[]):  # noqa: B006
    runs.append(objective)
    return climb(objective, lambda below: (rng.integers(below) + len(runs)) % below)


@pytest.mark.slow
def test_a_breach_in_this_process(monkeypatch):
    monkeypatch.setattr(random_search, "run", memory)
    check_only(monkeypatch, "runs", "same seed")
    failure = first_failure("random_search")
    assert failure.name == "same seed"
    assert "a run made again after other runs differs from evaluation 1 on" in failure.text
