"""What every algorithm must do, whichever it is: an added algorithm is tested by being there."""

import itertools
import math

import numpy as np
import pytest

from narxbench import NarxbenchError, StructureProblem, load_system, search
from narxbench.algorithms.registry import algorithm_names, settings_model

OPTIONS = {
    "upso2d": {
        "velocity_bound": [1.0],
        "random_weights": ["per_particle"],
        "self_feedback": ["literal", "none"],
        "restart_count": ["reset_by_improvement"],
        "ring_radius": [2],
        "initial_positions": ["uniform_cardinality"],
        "shared_random_weights": [False],
        "first_self_feedback": ["positive", "negative"],
        "negative_likelihood": ["cumulative", "shifted"],
        "equal_likelihood": ["random"],
        "learning_set": ["exemplar"],
    },
    "stepwise": {"start": ["random"], "initial_positions": ["bernoulli"]},
    "ga": {
        "selection": ["linear_rank", "tournament"],
        "crossover": ["two_point", "uniform"],
        "elitism": [True],
        "generation_gap": [0.5],
        "divergent_fitness": [1e10],
        "initial_positions": ["uniform_cardinality"],
    },
}
# What makes an algorithm whose beginning is deterministic draw from the first evaluation on.
RANDOM = {"stepwise": {"start": "random"}}

every_algorithm = pytest.mark.parametrize("algorithm", algorithm_names())


def same(a, b):
    return (a.terms, a.fitness, a.coefficients, a.history) == (b.terms, b.fitness, b.coefficients, b.history)


@every_algorithm
def test_result_is_consistent(small_problem, algorithm):
    result = search(small_problem, algorithm=algorithm, seed=1, evaluations=700)
    again = small_problem.evaluate(result.terms)
    assert (result.fitness, result.sse, result.coefficients) == (again.fitness, again.sse, again.coefficients)
    assert [t for t in small_problem.terms if t in result.terms] == result.terms
    evaluations, best = zip(*result.history, strict=True)
    assert list(evaluations) == sorted(set(evaluations)) and evaluations[0] >= 1 and evaluations[-1] <= 700
    assert all(b < a for a, b in itertools.pairwise(best))
    assert best[-1] == result.fitness


@every_algorithm
def test_seed_and_axes_determine_every_draw(small_problem, algorithm):
    def run(seed, **other):
        return search(
            small_problem, algorithm=algorithm, seed=seed, evaluations=300, **RANDOM.get(algorithm, {}), **other
        )

    np.random.seed(1)
    state = np.random.get_state()[1].copy()
    first = run(1)
    assert (np.random.get_state()[1] == state).all()
    np.random.seed(2)
    assert same(first, run(1))
    assert first.history != run(2).history
    assert first.history != run(1, axes={"system": "S9"}).history


@every_algorithm
@pytest.mark.parametrize("evaluations", [1, 2, 7, 17, 29, 31, 81, 100])
def test_a_run_is_the_beginning_of_a_longer_run(small_problem, algorithm, evaluations):
    """Also below one population; only 2D-UPSO knows its budget, and not in its first swarm."""
    short = search(small_problem, algorithm=algorithm, seed=1, evaluations=evaluations)
    assert short.evaluations == evaluations
    if algorithm != "upso2d" or evaluations <= 30:
        long = search(small_problem, algorithm=algorithm, seed=1, evaluations=300)
        assert short.history == [point for point in long.history if point[0] <= evaluations]


@every_algorithm
def test_two_candidates(algorithm):
    u, y = load_system("S1").simulate(300)
    problem = StructureProblem(u, y, n_u=1, n_y=0, degree=1, n_validation=100)
    result = search(problem, algorithm=algorithm, seed=1, evaluations=200)
    assert result.fitness == min(problem.evaluate(t).fitness for t in (["1"], ["u(k-1)"], ["1", "u(k-1)"]))


@every_algorithm
def test_settings_have_descriptions_and_defaults_and_are_checked(small_problem, algorithm):
    model = settings_model(algorithm)
    model()
    assert all(field.description for field in model.model_fields.values())
    with pytest.raises(NarxbenchError, match=r"search\(algorithm='.*'\): .*swarm_sizes"):
        search(small_problem, algorithm=algorithm, seed=1, evaluations=100, swarm_sizes=3)


@pytest.mark.parametrize(
    ("algorithm", "name", "value"),
    [(a, n, v) for a, options in OPTIONS.items() for n, values in options.items() for v in values],
)
def test_every_option_matters(small_problem, algorithm, name, value):
    # Two settings matter only beside another.
    others = {"equal_likelihood": {"velocity_bound": 1.0}, "initial_positions": RANDOM.get(algorithm, {})}.get(name, {})
    default = search(small_problem, algorithm=algorithm, seed=1, evaluations=600, **others)
    found = search(small_problem, algorithm=algorithm, seed=1, evaluations=600, **{**others, name: value})
    assert default.settings[name] != value and found.settings[name] == value
    assert math.isfinite(found.fitness)
    assert found.history != default.history


@pytest.mark.parametrize(("algorithm", "population"), [("upso2d", 30), ("ga", 80)])
def test_the_first_population_may_be_free(small_problem, algorithm, population):
    for free in (True, False):
        found = search(small_problem, algorithm=algorithm, seed=1, evaluations=600, count_initial_evaluations=not free)
        assert found.evaluations == 600 + population * free


def test_the_best_individual_of_the_last_generation(small_problem):
    """The best of all generations is in the history all the same; what differs is which structure is the run's."""
    ever, last = (
        search(small_problem, algorithm="ga", seed=1, evaluations=600, mutation_probability=0.3, result=result)
        for result in ("best_ever", "last_generation")
    )
    assert last.history == ever.history and last.fitness > ever.fitness


@pytest.mark.parametrize(
    ("algorithm", "settings"), [("upso2d", {}), ("ga", {"selection": "tournament", "elitism": True}), ("stepwise", {})]
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
        ({"algorithm": "upso"}, "did you mean 'upso2d'"),
        ({"algorithm": "objective"}, "algorithm: found 'objective'; allowed: 'ga', 'stepwise', 'upso2d'"),
        ({"seed": -1}, "seed: found -1"),
        ({"seed": True}, "seed"),
        ({"evaluations": 0}, "evaluations: found 0"),
    ],
)
def test_bad_arguments(small_problem, arguments, message):
    with pytest.raises(NarxbenchError, match=message):
        search(small_problem, **{"seed": 1, **arguments})
