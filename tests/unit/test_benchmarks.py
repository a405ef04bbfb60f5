"""The benchmarks compare equal errors; nothing here measures time."""

import re

import numpy as np
import pytest
from benchmarks import common, coverage, evaluation, measured
from tests import reference

CASES = [("S1", 10), ("S3", 20), ("S4", 33)]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def case(request):
    name, cardinality = request.param
    system, problem, u, y = common.make_problem(name)
    positions = evaluation.structures(problem, y, cardinality, count=3)
    orders = {"n_u": system.n_u, "n_y": system.n_y}
    expected = []
    for row in positions:
        _, error = reference.evaluate(u, y, evaluation.terms_of(problem, row), **orders)
        assert np.isfinite(error)
        expected.append(error)
    return problem, u, y, positions, expected


@pytest.mark.parametrize("name", evaluation.IMPLEMENTATIONS)
def test_every_implementation_computes_the_same_error(name, case):
    implementation, package, _ = evaluation.IMPLEMENTATIONS[name]
    pytest.importorskip(package, reason=f"{package} is a peer that only the benchmarks need")
    if package == "sysidentpy" and not hasattr(np, "in1d"):
        pytest.skip("the simulation of this SysIdentPy needs numpy.in1d, which newer versions of NumPy do not have")
    problem, u, y, positions, expected = case
    np.testing.assert_allclose(implementation(problem, u, y)(positions), expected, rtol=evaluation.TOLERANCE)


def test_intervals_of_runs_that_agree():
    chosen = np.tile([True, True, False, False], (40, 1))
    rng = np.random.default_rng(1)
    intervals = coverage.distinct_terms(chosen, rng)
    assert intervals["bootstrap"] == (2, 2)
    assert intervals["exact binomial"] == pytest.approx((4 * 0.0676, 4 * 0.9324), abs=5e-4)
    # No term was chosen once or twice: Chao's number is that of the terms seen.
    assert intervals["over Chao's number"] == pytest.approx((2 * 0.1581, 2), abs=5e-4)
    assert coverage.largest_count(chosen, rng)["Wilson"] == pytest.approx((40 * 0.9124, 40), abs=5e-3)


def test_the_intervals_in_use_cover_as_often_as_they_claim():
    text = (common.ROOT / "benchmarks" / "coverage.md").read_text("utf-8")
    in_use = re.findall(r"^\| smallest[^|]*\|[^|]*\|[ *]*([\d.]+)", text, re.MULTILINE)
    ratio, largest = map(float, in_use)
    # The standard error of a share of 0.95 in 1000 draws is 0.007.
    assert ratio >= 0.95
    assert largest >= 0.93


@pytest.mark.slow
def test_measured_data_are_compared_with_all_packages():
    case = measured.two_records(400, 200)
    identification, outcomes = measured.all_outcomes(case, small=True)
    lines = measured.lines_of(case, outcomes)
    assert measured.main_table([(case, lines)]).count("\n") == 2 + len(lines)
    errors_by_method = {}
    for line in lines:
        errors_by_method.setdefault(line.outcome.method, []).append(line.all_samples)
    methods = [line.outcome.method for line in lines if not line.outcome.hindsight]
    assert methods == ["narxbench", *measured.grid(small=True)] == [*errors_by_method]
    predicted = identification.model.predict(case.test.u, case.test.y)
    assert (lines[0].outcome.predicted == predicted).all()
    first = max(line.outcome.initial for line in lines)
    for line in lines:
        error = measured.rrse(case.test.y, line.outcome.predicted, first)
        assert line.all_samples == pytest.approx(error) and error < 1
    for name in measured.grid(small=True):
        chosen, best = errors_by_method[name]
        assert best <= chosen + 0.01
