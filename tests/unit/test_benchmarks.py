"""The benchmarks compare equal errors; nothing here measures time."""

from itertools import compress

import numpy as np
import pytest
from benchmarks import common, evaluation, measured, search
from tests import reference

import narxbench

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


def test_greedy_search_is_the_first_descent_of_the_stepwise_one():
    problem = common.make_problem("S1")[1]
    position, evaluations = search.greedy(problem, None, None, seed=1, evaluations=0)
    result = narxbench.search(problem, algorithm="stepwise", seed=1, evaluations=evaluations)
    assert list(compress(problem.terms, position)) == result.terms


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
