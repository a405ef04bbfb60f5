"""The implementations that the benchmarks compare compute the same errors; nothing here measures time."""

import numpy as np
import pytest
from benchmarks import common, evaluation
from tests import reference

CASES = [("S1", 10), ("S3", 20), ("S4", 33)]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def case(request):
    name, cardinality = request.param
    system, problem, u, y = common.make_problem(name)
    positions = evaluation.structures(problem, y, cardinality, count=3)
    orders = {"n_u": system.n_u, "n_y": system.n_y}
    expected = [reference.evaluate(u, y, evaluation.terms_of(problem, row), **orders)[1] for row in positions]
    assert np.isfinite(expected).all()
    return problem, u, y, positions, expected


@pytest.mark.parametrize("name", evaluation.IMPLEMENTATIONS)
def test_every_implementation_computes_the_same_error(name, case):
    implementation, package, _ = evaluation.IMPLEMENTATIONS[name]
    pytest.importorskip(package, reason=f"{package} is a peer that only the benchmarks need")
    problem, u, y, positions, expected = case
    np.testing.assert_allclose(implementation(problem, u, y)(positions), expected, rtol=evaluation.TOLERANCE)


def test_a_batch_may_hold_structures_of_different_sizes(case):
    problem, u, y, positions, _ = case
    mixed = np.concatenate((positions, evaluation.structures(problem, y, 5, count=2)))
    found = evaluation.numpy_batch(problem, u, y)(mixed)
    np.testing.assert_allclose(found, problem.evaluate_positions(mixed)[1], rtol=evaluation.TOLERANCE)


def test_a_different_error_stops_the_benchmark():
    with pytest.raises(SystemExit, match="FAIL: other on S1"):
        evaluation.check_equal("other", "S1", [1.0, 2.0], [1.0, 2.001])
