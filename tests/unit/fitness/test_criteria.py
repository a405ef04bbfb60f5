import math

import numpy as np
import pytest

import narxbench
from narxbench._fitness.criteria import canonical_criterion, criterion_families, parse_criterion


@pytest.mark.parametrize(
    ("name", "penalty"),
    [
        ("bic", lambda n: n * math.log(200)),
        ("aic-6.5", lambda n: 6.5 * n),
        ("aicc", lambda n: 2 * n * 200 / (200 - n - 1)),
        ("hq", lambda n: 2 * n * math.log(math.log(200))),
        ("ebic-1", lambda n: n * math.log(200) + 2 * math.log(math.comb(9, n))),
        ("ebic-0.25", lambda n: n * math.log(200) + math.log(math.comb(9, n)) / 2),
        ("ebicl-2", lambda n: n * math.log(200) + 4 * n * math.log(9)),
    ],
)
def test_penalties_are_those_of_the_literature(name, penalty):
    penalties = parse_criterion(name).penalties
    np.testing.assert_allclose(penalties(200, 9), [penalty(n) for n in range(10)], rtol=1e-14, atol=1e-14)
    # Samples that say the same count once, and J grows with all of them.
    np.testing.assert_allclose(penalties(600, 9, 3.0), 3 * penalties(200, 9), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("samples", [1, 2, 3, 20])
@pytest.mark.parametrize("family", criterion_families())
def test_more_terms_never_cost_less_and_nothing_is_nan(family, samples):
    # Up to half of the candidates: of larger structures there are fewer, which extended BIC rewards.
    penalties = parse_criterion(family.example).penalties(samples, 30)[:16]
    assert not np.isnan(penalties).any() and penalties.tolist() == sorted(penalties)


@pytest.mark.parametrize("rho", [2.0, 6.5, 0.1, 1e-300, 1e22, 123456789.125])
def test_a_canonical_name_means_the_same(rho):
    name = canonical_criterion(f"aic-{rho!r}")
    assert parse_criterion(name).number == rho and canonical_criterion(name) == name


@pytest.mark.parametrize("family", criterion_families())
def test_every_criterion_has_a_name_and_can_compare_sets_of_candidates(family):
    criterion = parse_criterion(family.example)
    assert (criterion.name, type(criterion)) == (family.example, family) and "{" not in criterion.title
    assert parse_criterion(criterion.across_candidates().name) == criterion.across_candidates()


def test_a_structure_with_more_terms_than_the_criterion_allows_has_no_finite_fitness():
    u, y = narxbench.load_system("S1").simulate(400, snr_db=30)
    problem = narxbench.StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=8, criterion="aicc")
    assert problem.evaluate(problem.terms[:6]).status == "finite"
    large = problem.evaluate(problem.terms[:7])
    assert (large.status, large.fitness) == ("large", math.inf) and math.isfinite(large.sse)
    assert len(narxbench.search(problem, algorithm="ga", seed=1, evaluations=200).terms) <= 6


def test_criteria_that_mean_the_same_give_the_same_problem():
    u, y = narxbench.load_system("S1").simulate(400, snr_db=30)
    options = {"n_u": 2, "n_y": 2, "degree": 2, "n_validation": 100}
    digests = set()
    for text in ("aic-2", "aic-02", "aic-2e0"):
        problem = narxbench.StructureProblem(u, y, criterion=text, **options)
        assert problem.criterion == "aic-2"
        digests.add(problem.digest)
    assert len(digests) == 1
