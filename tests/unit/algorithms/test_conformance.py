"""The checks of all algorithms let honest ones pass, and find each breach that a single run does not show."""

import random
import re

import numpy as np
import pytest
from tests.tiers import mostly_slow
from tests.unit.algorithms.plugins import SOURCE, install_text
from tests.unit.algorithms.plugins.cheats import CHEATS, HONEST
from tests.unit.algorithms.plugins.climbing import climb

from narxbench._algorithms import conformance, random_search
from narxbench._algorithms.registry import AlgorithmUnavailableError, algorithm, packaged_names

BREACHES = [name for name, cheat in CHEATS.items() if cheat.check]
# With 1001 candidate terms each of these takes one to four minutes: here they choose from 286.
SLOW_WITH_MANY = ("ensemble_stlsq", "lasso", "ramss", "sysidentpy_aols", "sysidentpy_metamss", "sysidentpy_osf")


def failures(name):
    return [outcome for outcome in conformance.check(name) if not outcome.passed]


def first_failure(name):
    return next(outcome for outcome in conformance.check(name) if not outcome.passed)


def check_only(monkeypatch, *names):
    """Leave out all other checks: those of a whole run cost seconds each."""
    monkeypatch.setattr(conformance, "_CHECKS", {name: conformance._CHECKS[name] for name in names})


def several_hundred_candidates(suite):
    u, y = conformance._SYSTEM.simulate(800, snr_db=40)
    problem = conformance._problem(u, y, n_u=5, n_y=5, degree=3)
    assert len(problem.terms) == 286
    return f"{len(suite.run(problem, 1, conformance.BUDGETS[-1]).result.terms)} chosen"


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
        monkeypatch.setitem(conformance._CHECKS, "many candidate terms", several_hundred_candidates)
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
    check_only(monkeypatch, "declaration", "settings", "a run", CHEATS[name].check)
    failure = first_failure(name)
    assert failure.name == CHEATS[name].check
    assert re.search(CHEATS[name].message, failure.text), failure.text


@pytest.mark.slow
def test_a_run_that_fails_ends_the_checks(plugins):
    *_, last = conformance.check("raises")
    assert (last.name, last.passed) == ("a run", False)


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


def global_random(problem, objective, rng, settings):
    return climb(objective, random.randrange)


def memory(problem, objective, rng, settings, runs=[]):  # noqa: B006
    runs.append(objective)
    return climb(objective, lambda below: (rng.integers(below) + len(runs)) % below)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("breach", "check", "words"),
    [
        (global_random, "global generators", r"it draws from the global generator of random; allowed: rng"),
        (memory, "same seed", "a run made again after other runs differs from evaluation 1 on"),
    ],
)
def test_a_breach_in_this_process(monkeypatch, breach, check, words):
    monkeypatch.setattr(random_search, "run", breach)
    check_only(monkeypatch, "a run", check)
    failure = first_failure("random_search")
    assert failure.name == check
    assert re.search(words, failure.text), failure.text


def test_synchronous_runs(rng):
    values = rng.integers(0, 5, (2, 1000)).astype(float)
    same = np.concatenate([values[0, :500], values[1, 500:]])
    assert conformance.synchronous(values[1], same) == pytest.approx(0.8, abs=0.05)
    assert conformance.synchronous(*values) == pytest.approx(0.0, abs=0.05)
    assert conformance.synchronous(np.full(1000, np.inf), np.full(1000, np.inf)) == 0.0
    assert conformance.synchronous(values[0, :100], values[0, :100]) == 0.0
