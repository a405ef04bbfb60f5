"""The summary of a cell, for runs whose numbers are easy to work out by hand."""

import math

import pytest

from narxbench.experiment.summary import summarise
from narxbench.io.files import canonical_json
from narxbench.experiment.runs import History, ProblemSize, Run, RunAxes
from narxbench.model.system import load_system

TRUE = load_system("S1").terms
SPURIOUS = "u(k-2)"
OPTIONS = {
    "evaluations": 400,
    "threshold": 0.75,
    "confidence": 0.95,
    "bootstrap_samples": 100,
}


def make_run(seed, terms, fitness, history=None, **changes):
    improvements = [(100, fitness)] if history is None else history
    content = {
        "axes": RunAxes(system="S1", snr_db="40", search="mine", criterion="bic", seed=seed),
        "algorithm": "ga",
        "settings": {"a": 1},
        "problem": ProblemSize(
            n_u=2, n_y=2, degree=2, n_terms=15, n_validation=300, estimation="all", error="one_step"
        ),
        "data_sha256": "d",
        "versions": {"python": "3"},
        "evaluations": 400,
        "fitness": fitness,
        "sse": None if fitness is None else 1.0,
        "terms": terms,
        "coefficients": [0.0] * len(terms),
        "history": History(evaluations=[e for e, _ in improvements], fitness=[j for _, j in improvements]),
    }
    return Run(**{**content, **changes})


@pytest.fixture
def runs():
    return [
        make_run(1, TRUE, -40.0, [(2, -10.0), (100, -40.0)]),
        make_run(2, [*TRUE, SPURIOUS], -30.0, [(1, -20.0), (201, -30.0)]),
        make_run(3, TRUE[:3], -20.0, [(1, -20.0)]),
        make_run(4, TRUE[::-1], -40.0, [(4, -12.0), (400, -40.0)]),
    ]


def summary(runs, problem, **changes):
    return summarise(runs, problem, load_system("S1"), **{"true_fitness": [-50.0] * len(runs), **OPTIONS, **changes})


def test_counts_and_structures(runs, small_problem):
    cell = summary(runs, small_problem)
    count = {entry["term"]: entry["count"] for entry in cell["terms"]}
    assert list(count) == small_problem.terms
    assert {term: n for term, n in count.items() if n} == {**dict.fromkeys(TRUE[:3], 4), TRUE[3]: 3, SPURIOUS: 1}
    assert {entry["term"] for entry in cell["terms"] if entry["system_term"]} == set(TRUE)
    spurious = next(entry for entry in cell["terms"] if entry["term"] == SPURIOUS)
    # Wilson's interval for 1 of 4.
    z2 = 1.959963985**2
    half = math.sqrt(z2) * math.sqrt(0.25 * 0.75 / 4 + z2 / 64) / (1 + z2 / 4)
    assert spurious["frequency"] == 0.25
    assert (spurious["low"], spurious["high"]) == pytest.approx(
        ((0.25 + z2 / 8) / (1 + z2 / 4) - half, (0.25 + z2 / 8) / (1 + z2 / 4) + half)
    )
    assert cell["spurious_ratio"]["value"] == 1 / 15
    assert (cell["spurious_frequency_max"]["value"], cell["spurious_frequency_max"]["term"]) == (0.25, SPURIOUS)
    assert (cell["runs"], cell["exact_runs"], cell["cardinality"]) == (4, 2, [4, 5, 3, 4])
    assert cell["fitness"] == [-40.0, -30.0, -20.0, -40.0]
    assert (set(cell["final_structure"]), cell["final_is_exact"]) == (set(TRUE), True)
    assert cell["best_run"]["seed"] == 1
    assert (cell["system"], cell["snr_db"], cell["search"], cell["criterion"]) == ("S1", 40.0, "mine", "bic")


def test_threshold_decides_the_final_structure(runs, small_problem):
    cell = summary(runs, small_problem, threshold=0.76)
    assert (set(cell["final_structure"]), cell["final_is_exact"]) == (set(TRUE[:3]), False)


def test_convergence(runs, small_problem):
    curve = summary(runs, small_problem)["convergence"]
    assert curve["evaluations"] == list(range(2, 401, 2))
    at = {evaluations: i for i, evaluations in enumerate(curve["evaluations"])}
    # The last run has no finite J before its fourth evaluation.
    assert (curve["mean"][at[2]], curve["low"][at[2]], curve["high"][at[2]]) == (None, -20.0, -10.0)
    assert curve["mean"][at[4]] == (-10 - 20 - 20 - 12) / 4
    assert (curve["low"][at[4]], curve["high"][at[4]]) == (-20.0, -12.0)
    assert curve["mean"][at[100]] == (-40 - 20 - 20 - 12) / 4
    assert curve["mean"][at[200]] == curve["mean"][at[100]]
    assert curve["mean"][at[202]] == (-40 - 30 - 20 - 12) / 4
    assert curve["mean"][at[400]] == (-40 - 30 - 20 - 40) / 4
    assert (curve["low"][at[400]], curve["high"][at[400]]) == (-40.0, -30.0)


def test_few_evaluations_give_one_point_each(small_problem):
    runs = [make_run(1, TRUE, -1.0, [(1, -1.0)], evaluations=3)]
    assert summary(runs, small_problem, evaluations=3)["convergence"]["evaluations"] == [1, 2, 3]


def test_runs_that_found_nothing(small_problem):
    runs = [make_run(seed, [], None, []) for seed in (1, 2, 3, 4)]
    cell = summary(runs, small_problem)
    assert cell["best_run"] is None
    assert cell["fitness"] == [None] * 4
    assert (cell["final_structure"], cell["exact_runs"]) == ([], 0)
    assert cell["spurious_frequency_max"]["term"] is None
    assert set(cell["convergence"]["mean"]) == {None}
    canonical_json(cell)


def test_order_of_runs_changes_no_number(runs, small_problem):
    kept = ("terms", "exact_runs", "final_structure", "best_run", "spurious_ratio", "convergence")
    one, other = summary(runs, small_problem), summary([runs[0], runs[2], runs[1], runs[3]], small_problem)
    assert [one[key] for key in kept[:4]] == [other[key] for key in kept[:4]]
    assert one["spurious_ratio"]["value"] == other["spurious_ratio"]["value"]
    assert one["convergence"] == other["convergence"]


def test_data_of_their_own(runs, small_problem):
    own = [run.model_copy(update={"data_sha256": digest}) for run, digest in zip(runs, "abcd", strict=True)]
    cell = summary(own, small_problem, true_fitness=[-41.0, -31.0, math.inf, -40.0])
    assert (cell["realisations"], cell["true_fitness"]) == (4, [-41.0, -31.0, None, -40.0])
    assert summary(runs, small_problem)["realisations"] == 1
