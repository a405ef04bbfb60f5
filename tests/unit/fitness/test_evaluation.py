"""The kernel against two oracles: stored values, and plain arithmetic to the last bit."""

import json
import math
from itertools import compress, pairwise
from pathlib import Path

import numpy as np
import pytest
from tests import plain

from narxbench import StructureProblem, load_system, read_signals

VECTORS = Path(__file__).parents[2] / "data" / "vectors"
CASES = json.loads((VECTORS / "fitness_vectors.json").read_text())["cases"]


def problem_of(name, samples, **options):
    system = load_system(name)
    u, y = system.simulate(samples, snr_db=30)
    return u, y, StructureProblem(u, y, n_u=system.n_u, n_y=system.n_y, degree=system.degree, **options)


def names(problem, position):
    return list(compress(problem.terms, position))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['system']}-{len(case['terms'])}")
@pytest.mark.parametrize("criterion", ["bic", "aic-2", "aic-256"])
def test_independent_fitness_values(case, criterion):
    u, y = read_signals(VECTORS / f"{case['system']}.csv")
    orders = {name: case[name] for name in ("n_u", "n_y", "degree")}
    evaluation = StructureProblem(u, y, **orders, criterion=criterion).evaluate(case["terms"])
    if case["sse"] is None:
        assert evaluation.fitness == evaluation.sse == math.inf
    else:
        assert evaluation.fitness == pytest.approx(case[criterion.replace("-", "_")], rel=1e-8)
        assert evaluation.sse == pytest.approx(case["sse"], rel=1e-8)
    np.testing.assert_allclose(evaluation.coefficients, case["coefficients"], rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize(
    ("name", "count", "length", "bounds"),
    [
        ("S1", 1, None, [(350, 500)]),
        ("S2", 1, None, [(350, 500)]),
        ("S3", 1, None, [(350, 500)]),
        ("S4", 1, None, [(350, 500)]),
        ("S4", 4, None, [(350, 387), (387, 425), (425, 462), (462, 500)]),
        ("S4", 3, 20, [(350, 370), (415, 435), (480, 500)]),
        ("S4", 150, 1, list(pairwise(range(350, 501)))),
    ],
)
def test_kernel_gives_the_bytes_of_plain_arithmetic(name, count, length, bounds, rng):
    u, y, problem = problem_of(name, 500, n_validation=150, n_segments=count, segment_length=length)
    assert [(segment.start, segment.stop) for segment in problem.segments] == bounds
    positions = (rng.random((15, len(problem.terms))) < rng.random((15, 1))).astype(np.uint8)
    positions[0] = np.isin(problem.terms, load_system(name).terms)
    fitness, sse, weights = problem.evaluate_positions(positions)
    orders = {"n_u": problem.n_u, "n_y": problem.n_y, "n_validation": 150}
    samples = np.concatenate(problem.segments)
    for position, j, e, w in zip(positions, fitness, sse, weights, strict=True):
        terms = names(problem, position)
        coefficients, expected = plain.evaluate(u, y, terms, **orders, segments=problem.segments)
        assert float(e) == expected or not terms
        assert w[position == 1].tolist() == coefficients
        if math.isfinite(j):
            assert e == pytest.approx(np.sum((y[samples] - problem.predict(terms)) ** 2), rel=1e-9)
            assert j == pytest.approx(len(samples) * math.log(e) + math.log(len(samples)) * len(terms), rel=1e-9)
    assert np.isfinite(fitness).sum() > 3


def test_a_result_does_not_depend_on_its_neighbours(rng):
    u, y = load_system("S1").simulate(900, snr_db=20)
    problem = StructureProblem(u, y, n_u=5, n_y=5, degree=3, n_validation=100)
    sizes = np.array([*rng.integers(1, 287, 40), 0, 1, 286])
    positions = rng.permuted(np.arange(286) < sizes[:, None], axis=1).astype(np.uint8)
    together = problem.evaluate_positions(positions)
    for row, position in enumerate(positions):
        alone = problem.evaluate_positions(position[None])
        for values, value in zip(together, alone, strict=True):
            assert values[row].tobytes() == value[0].tobytes()
    order = rng.permutation(len(positions))
    shuffled = problem.evaluate_positions(positions[order])
    for values, shuffled_values in zip(together, shuffled, strict=True):
        assert values[order].tobytes() == shuffled_values.tobytes()
