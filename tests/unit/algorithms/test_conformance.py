"""The checks of all algorithms let honest ones pass, and find each breach that a single run does not show.

Random problems that were found once, and what the checks of their results find.
"""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.tiers import mostly_slow
from tests.unit.algorithms.plugins import SOURCE, install_text
from tests.unit.algorithms.plugins.cheats import CHEATS, HONEST

from narxbench import NarxbenchError, search
from narxbench._algorithms import conformance
from narxbench._algorithms.random_problems import SIGNALS, RandomProblem, drawn, problem_of, signals, violation
from narxbench._algorithms.registry import AlgorithmUnavailableError, algorithm, packaged_names
from narxbench._algorithms.search import prepared

BREACHES = [name for name, cheat in CHEATS.items() if cheat.check]
# With 1001 candidate terms each of these takes one to four minutes: here they choose from 286.
SLOW_WITH_MANY = ("adaptive_lasso", "sysidentpy_aols")


def failures(name):
    """Return name and text of each check that an algorithm does not pass."""
    return [(title, text) for title, passed, text in conformance.check(name) if not passed]


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
    title, text = failures(name)[0]
    assert title == CHEATS[name].check
    assert re.search(CHEATS[name].message, text), text
    assert text.endswith(f"; why: {conformance._CHECKS[title][1]}")


@pytest.mark.slow
def test_a_declaration_that_says_nothing(monkeypatch, tmp_path):
    source = SOURCE.replace("reference='None'", "reference=' '")
    install_text(monkeypatch, tmp_path, {"silent": "silent"}, "silent", silent=source)
    title, text = failures("silent")[0]
    assert title == "declaration"
    assert text.startswith("ABOUT.reference: found ' '; allowed: the source, in one line")


BASE = RandomProblem(
    number=1,
    u="noise",
    y="response",
    samples=100,
    n_validation=30,
    n_u=2,
    n_y=2,
    degree=2,
    criterion="bic",
    estimation="before_validation",
    error="free_run",
    required_terms="nothing",
    rescaled=False,
    evaluations=100,
)
SMALL = BASE._replace(n_validation=10)
ONE_STEP = SMALL._replace(estimation="all", error="one_step", evaluations=300)
# What was found on random problems once stays a case: the algorithm, the problem, and what it has that is rare.
KEPT = {
    "products that overflow": ("aols", BASE._replace(y="largest")),
    "a ridge that is lost": (
        "stlsq",
        SMALL._replace(number=98, u="impulse", y="very far from zero", samples=43, n_u=3, n_y=3),
    ),
    "J is infinite and e is not": (
        "aols",
        BASE._replace(number=3, u="alternating", y="very far from zero", samples=36, required_terms="output"),
    ),
    "innovations of zeros, and standard errors that overflow": (
        "pem",
        ONE_STEP._replace(number=152, u="smallest", y="outlier", samples=18, n_y=3, degree=4, criterion="ebic-0.5"),
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_was_found_on_random_problems(name):
    algorithm, case = KEPT[name]
    with prepared(algorithm, {}) as runner:
        assert violation(runner, case, time_limit=60.0) == ""


def test_every_random_case_is_a_problem():
    n_problems = 0
    for number in range(1, 31):
        case = drawn(number)
        assert drawn(number) == case
        try:
            problem_of(case)
        except NarxbenchError:
            continue  # its choices exclude each other
        n_problems += 1
    assert n_problems > 20
    for name in (*SIGNALS, "copy", "response"):
        for signal in signals(BASE._replace(u=name if name in SIGNALS else "noise", y=name)):
            assert len(signal) == BASE.samples and np.isfinite(signal).all()


def test_the_checks_find_what_is_wrong_with_a_result():
    result = search(problem_of(BASE), algorithm="stepwise", seed=1, evaluations=100)

    def found(change):
        runner = SimpleNamespace(run=lambda *_, **__: SimpleNamespace(result=change()))
        return violation(runner, BASE)

    def warn():
        np.log(np.zeros(1))
        return result

    assert found(lambda: result) == ""
    assert "divide by zero" in found(warn)
    assert "NaN" in found(lambda: replace(result, details={"a": float("nan")}))
    assert "weights" in found(lambda: replace(result, coefficients=[np.nan] * len(result.terms)))
    assert "no finite J" in found(lambda: replace(result, fitness=np.inf))
    assert "again" in found(lambda: replace(result, fitness=0.0))
