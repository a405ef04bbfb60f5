"""What every algorithm must do, whichever it is: an added algorithm is tested by being there."""

import itertools
import math

import numpy as np
import pytest

from narxbench import NarxbenchError, StructureProblem, load_system, search
from narxbench.algorithms.search import algorithm_names, settings_model
from narxbench.algorithms.objective import Objective

OPTIONS = {
    "upso2d": {
        "velocity_bound": [None, 1.0],
        "random_weights": ["per_element", "per_particle"],
        "self_feedback": ["range_normalised", "literal", "none"],
        "restart_count": ["literal", "reset_by_improvement"],
        "ring_radius": [1, 2],
        "initial_positions": ["bernoulli", "uniform_cardinality"],
        "count_initial_evaluations": [True, False],
        "shared_random_weights": [True, False],
        "first_self_feedback": ["none", "positive", "negative"],
        "negative_likelihood": ["zero", "cumulative", "shifted"],
        "equal_likelihood": ["canonical", "random"],
        "learning_set": ["difference", "exemplar"],
    },
    "stepwise": {"start": ["empty", "random"], "initial_positions": ["bernoulli", "uniform_cardinality"]},
    "ga": {
        "selection": ["proportional", "linear_rank", "tournament"],
        "crossover": ["one_point", "two_point", "uniform"],
        "elitism": [False, True],
        "generation_gap": [1.0, 0.5],
        "divergent_fitness": [None, 1e10],
        "result": ["best_ever", "last_generation"],
        "initial_positions": ["bernoulli", "uniform_cardinality"],
        "count_initial_evaluations": [True, False],
    },
}
# What makes an algorithm whose beginning is deterministic draw from the first evaluation on.
RANDOM = {"stepwise": {"start": "random"}}
# Settings that matter only beside others.
OTHERS = {"result": {"mutation_probability": 0.3}, "equal_likelihood": {"velocity_bound": 1.0}}
every_algorithm = pytest.mark.parametrize("algorithm", algorithm_names())


def same(a, b):
    return (a.terms, a.fitness, a.coefficients, a.history) == (b.terms, b.fitness, b.coefficients, b.history)


def test_the_two_algorithms_are_there():
    assert {"ga", "upso2d"} <= set(algorithm_names())


@every_algorithm
def test_result_is_consistent(small_problem, algorithm):
    result = search(small_problem, algorithm=algorithm, seed=1, evaluations=700)
    again = small_problem.evaluate(result.terms)
    assert result.evaluations == 700
    assert (result.fitness, result.coefficients) == (again.fitness, again.coefficients)
    assert [t for t in small_problem.terms if t in result.terms] == result.terms
    spent, best = zip(*result.history, strict=True)
    assert list(spent) == sorted(set(spent)) and spent[0] >= 1 and spent[-1] <= 700
    assert all(b < a for a, b in itertools.pairwise(best))
    assert best[-1] == result.fitness


@every_algorithm
def test_seeds_reproduce_and_differ(small_problem, algorithm):
    settings = RANDOM.get(algorithm, {})
    first, again, other = (
        search(small_problem, algorithm=algorithm, seed=s, evaluations=300, **settings) for s in (1, 1, 2)
    )
    assert same(first, again)
    assert first.history != other.history


@every_algorithm
def test_axes_make_other_draws(small_problem, algorithm):
    settings = RANDOM.get(algorithm, {})
    first = search(small_problem, algorithm=algorithm, seed=1, evaluations=300, **settings)
    other = search(small_problem, algorithm=algorithm, seed=1, evaluations=300, axes={"system": "S9"}, **settings)
    assert first.history != other.history


@every_algorithm
def test_global_random_state_has_no_part(small_problem, algorithm):
    np.random.seed(1)
    first = search(small_problem, algorithm=algorithm, seed=3, evaluations=300)
    state = np.random.get_state()[1].copy()
    np.random.seed(2)
    assert same(first, search(small_problem, algorithm=algorithm, seed=3, evaluations=300))
    np.random.seed(1)
    assert (np.random.get_state()[1] == state).all()


@every_algorithm
@pytest.mark.parametrize("evaluations", [1, 7, 29, 31, 81, 100])
def test_budget_is_spent_exactly(small_problem, algorithm, evaluations):
    result = search(small_problem, algorithm=algorithm, seed=1, evaluations=evaluations)
    assert result.evaluations == evaluations


@every_algorithm
def test_every_structure_divergent(algorithm):
    u, _ = load_system("S1").simulate(300)
    problem = StructureProblem(u, np.zeros(300), n_u=0, n_y=2, degree=2, n_validation=100)
    result = search(problem, algorithm=algorithm, seed=1, evaluations=200)
    assert result.evaluations == 200
    if result.terms:
        assert result.terms == ["1"]
    else:
        assert result.fitness == math.inf and result.history == []


@every_algorithm
def test_one_candidate(algorithm):
    u, y = load_system("S1").simulate(300)
    problem = StructureProblem(u, y, n_u=1, n_y=0, degree=1, n_validation=100)
    result = search(problem, algorithm=algorithm, seed=1, evaluations=200)
    assert result.fitness == min(problem.evaluate(t).fitness for t in (["1"], ["u(k-1)"], ["1", "u(k-1)"]))


@every_algorithm
def test_settings_are_checked(small_problem, algorithm):
    with pytest.raises(NarxbenchError, match=r"search\(algorithm='.*'\): .*swarm_sizes"):
        search(small_problem, algorithm=algorithm, seed=1, evaluations=100, swarm_sizes=3)


@every_algorithm
def test_settings_have_descriptions_and_defaults(algorithm):
    model = settings_model(algorithm)
    model()
    assert all(f.description for f in model.model_fields.values())


@pytest.mark.parametrize(
    ("algorithm", "name", "value"),
    [(a, n, v) for a, options in OPTIONS.items() for n, values in options.items() for v in values],
)
def test_every_reading_runs_and_matters(small_problem, algorithm, name, value):
    default = settings_model(algorithm)().model_dump()[name]
    others = {**RANDOM.get(algorithm, {}), **OTHERS.get(name, {})}
    found = search(small_problem, algorithm=algorithm, seed=1, evaluations=600, **{**others, name: value})
    assert found.settings[name] == value
    assert math.isfinite(found.fitness)
    plain = search(small_problem, algorithm=algorithm, seed=1, evaluations=600, **{**others, name: default})
    if name == "result":
        # The best of all generations is kept in both; what differs is which structure is the run's.
        assert found.history == plain.history and (found.fitness > plain.fitness) == (value != default)
    elif name != "count_initial_evaluations":
        assert (found.history == plain.history) == (value == default)
    else:
        population = 30 if algorithm == "upso2d" else 80
        assert found.evaluations == 600 + (0 if value else population)


@pytest.mark.parametrize(
    ("algorithm", "settings"), [("upso2d", {}), ("ga", {"selection": "tournament", "elitism": True})]
)
def test_known_optimum_is_found(algorithm, settings):
    u, y = load_system("S1").simulate(1000, snr_db=40)
    problem = StructureProblem(u, y, n_u=1, n_y=2, degree=2, n_validation=300)
    assert len(problem.terms) == 10
    everything = np.array([[i >> b & 1 for b in range(10)] for i in range(1024)], np.uint8)
    optimum = problem.evaluate_positions(everything)[0].min()
    assert problem.evaluate(load_system("S1").terms).fitness == optimum
    assert search(problem, algorithm=algorithm, seed=1, **settings).fitness == optimum


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"algorithm": "pso"}, "did you mean"),
        ({"algorithm": "objective"}, "algorithm"),
        ({"seed": -1}, "seed: found -1"),
        ({"seed": True}, "seed"),
        ({"evaluations": 0}, "evaluations: found 0"),
    ],
)
def test_bad_arguments(small_problem, arguments, message):
    with pytest.raises(NarxbenchError, match=message):
        search(small_problem, **{"seed": 1, **arguments})


def test_an_interpreted_algorithm_sees_the_same_objective(small_problem, rng):
    objective = Objective(small_problem, 50)
    positions = (rng.random((40, objective.n_terms)) < 0.5).astype(np.uint8)
    first = objective.evaluate(positions)
    np.testing.assert_array_equal(first, small_problem.evaluate_positions(positions)[0])
    second = objective.evaluate(positions)
    assert objective.remaining == 0
    np.testing.assert_array_equal(second[:10], first[:10])
    assert np.isinf(second[10:]).all()
    assert objective.history()[-1][1] == first.min()
