"""Structures that lack a required term have an infinite J; all others have the J of the unconstrained problem."""

import math
from itertools import compress

import numpy as np
import pytest
from tests.reference import factors

from narxbench import StructureProblem, load_system, search
from narxbench._algorithms.search import prepared
from narxbench._fitness.problem import RequiredTerms

KINDS: list[RequiredTerms] = ["linear_output", "output", "input", "linear_output_and_input", "output_and_input"]
FEW_EVALUATIONS = 600
FIRST = 30  # the evaluations of the first swarm, fewer than those of the first population


def is_required(kind: str, term: str) -> bool:
    """Return whether a term is of a required kind."""
    signals = [signal for signal, _ in factors(term)]
    if kind == "linear_output":
        return signals == ["y"]
    return {"output": "y", "input": "u"}[kind] in signals


def is_complete(required_terms: str, terms: list[str]) -> bool:
    """Return whether a structure has a term of each required kind."""
    return all(any(is_required(kind, term) for term in terms) for kind in required_terms.split("_and_"))


def problem_of_s4(required_terms: RequiredTerms = "nothing", criterion: str = "bic") -> StructureProblem:
    u, y = load_system("S4").simulate(500, snr_db=30)
    orders = {"n_u": 5, "n_y": 5, "degree": 2, "n_validation": 150}
    return StructureProblem(u, y, **orders, criterion=criterion, required_terms=required_terms, rescaled=False)


def names(problem: StructureProblem, position: np.ndarray) -> list[str]:
    return list(compress(problem.terms, position))


@pytest.mark.parametrize("kind", KINDS)
def test_j_is_infinite_exactly_without_a_required_term(kind, rng):
    free, constrained = problem_of_s4(), problem_of_s4(kind)
    positions = (rng.random((400, len(free.terms))) < rng.uniform(0.005, 0.1, (400, 1))).astype(np.uint8)
    fitness, sse, weights = free.evaluate_positions(positions)
    complete = np.array([is_complete(kind, names(free, position)) for position in positions])
    finite = np.isfinite(fitness)
    assert (finite & complete).sum() > 30 and (finite & ~complete).sum() > 30

    expected = np.where(complete, fitness, math.inf)
    values = constrained.evaluate_positions(positions)
    for value, value_by_hand in zip(values, (expected, sse, weights), strict=True):
        assert value.tobytes() == value_by_hand.tobytes()


def test_a_linear_output_is_no_product():
    problem = problem_of_s4("linear_output_and_input")
    for terms, status in (
        (["y(k-1)", "u(k-1)"], "finite"),
        (["y(k-1)", "y(k-2)*u(k-1)"], "finite"),
        (["y(k-1)^2", "u(k-1)"], "incomplete"),
        (["y(k-2)*u(k-1)"], "incomplete"),
        (["y(k-1)", "1"], "incomplete"),
        ([], "empty"),
    ):
        evaluation = problem.evaluate(terms)
        assert evaluation.status == status
        assert math.isfinite(evaluation.fitness) == (status == "finite")


@pytest.mark.parametrize("algorithm", ["upso2d", "ga"])
def test_a_search_counts_incomplete_structures(algorithm):
    traces, results = [], []
    for problem in (problem_of_s4(), problem_of_s4("linear_output_and_input")):
        with prepared(algorithm, {"initial_positions": "uniform_cardinality"}) as runner:
            observation = runner.run(problem, seed=1, evaluations=FEW_EVALUATIONS)
        traces.append(observation.trace[:FIRST])
        results.append(observation.result)
    # Both begin with the same structures.
    without, with_requirement = traces
    refused = np.isinf(with_requirement) & np.isfinite(without)
    assert refused.any()
    assert (with_requirement == np.where(refused, math.inf, without)).all()
    assert [result.evaluations for result in results] == [FEW_EVALUATIONS] * 2
    assert math.isfinite(results[1].fitness)
    assert is_complete("linear_output_and_input", results[1].terms)


def test_a_search_ends_at_a_complete_structure():
    # With this penalty the best structures without a requirement have no linear output.
    without, complete = [
        search(problem_of_s4(kind, "aic-256"), algorithm="upso2d", seed=1, evaluations=FEW_EVALUATIONS)
        for kind in ("nothing", "linear_output_and_input")
    ]
    assert not is_complete("linear_output_and_input", without.terms)
    assert is_complete("linear_output_and_input", complete.terms)
    assert complete.fitness == problem_of_s4(criterion="aic-256").evaluate(complete.terms).fitness
