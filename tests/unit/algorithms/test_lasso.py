import numpy as np
import pytest

from narxbench import StructureProblem, load_system, search
from narxbench.algorithms import lasso
from narxbench.algorithms.objective import CountedObjective, view_of

pytest.importorskip("sklearn")


def found(problem, **settings):
    objective = CountedObjective(problem, 6000)
    result = lasso.run(view_of(problem), objective, np.random.default_rng(1), lasso.Settings(**settings))
    return np.asarray(result.position), objective


def test_the_best_structure_of_the_path(small_problem):
    position, objective = found(small_problem)
    # The path begins with one term and grows; with and without the constant.
    assert 2 <= objective.evaluations <= 400
    assert objective.known_fitness(position) == objective.best_fitness == objective.trace().min()
    assert [t for t, chosen in zip(small_problem.terms, position, strict=True) if chosen] == load_system("S1").terms


def test_a_shorter_path_has_fewer_structures(small_problem):
    whole, part = found(small_problem)[1], found(small_problem, smallest_penalty=0.5)[1]
    assert 0 < part.evaluations < whole.evaluations


def test_a_constant_output_is_the_constant_term():
    u = np.random.default_rng(1).uniform(-1.0, 1.0, 300)
    problem = StructureProblem(u, np.full(300, 0.7), n_u=2, n_y=2, degree=2, n_validation=100)
    position, objective = found(problem)
    assert (np.flatnonzero(position).tolist(), objective.evaluations) == ([0], 1)


@pytest.mark.slow
def test_in_a_process_of_its_own(small_problem):
    result = search(small_problem, algorithm="lasso", seed=1)
    assert result.terms == load_system("S1").terms
    assert (search(small_problem, algorithm="lasso", seed=2).history, result.evaluations < 400) == (
        result.history,
        True,
    )
