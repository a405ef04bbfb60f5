"""AOLS, orthogonal floating search, STLSQ and stability selection, held against plain regressions."""

from itertools import combinations

import numpy as np
import pytest

from narxbench import StructureProblem, load_system, search
from narxbench.algorithms import aols, osf, stability_selection, stlsq
from narxbench.algorithms.objective import view_of
from narxbench.algorithms.training import Products, WholeRecordJudge, products, whole_record

NAMES = ("aols", "osf", "stlsq", "stability_selection")


def of(columns, y):
    return Products(columns.T @ columns, columns.T @ y, float(y @ y), len(y))


def left(columns, y, terms):
    """Return the sum of squared residuals of a least-squares fit."""
    terms = list(terms)
    return float(((y - columns[:, terms] @ np.linalg.lstsq(columns[:, terms], y, rcond=None)[0]) ** 2).sum())


@pytest.fixture
def data(rng):
    """Return columns that are much alike, and an output of three of them with noise."""
    columns = rng.normal(size=(80, 9)) @ rng.normal(size=(9, 9))
    return columns, columns[:, [1, 4, 7]] @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=80)


def test_products_are_those_of_the_columns(data):
    columns, y = data
    found, terms = of(columns, y), np.array([0, 3, 8])
    assert found.residual(terms) == pytest.approx(left(columns, y, terms))
    position = np.isin(np.arange(9), terms).astype(np.uint8)
    assert found.bic()(position) == pytest.approx(80 * np.log(left(columns, y, terms)) + 3 * np.log(80))
    assert of(np.column_stack([columns, columns[:, 0]]), y).residual(np.array([0, 9])) == np.inf


def test_rows_are_all_or_those_that_estimate(small_problem):
    view = view_of(small_problem)
    columns, y = view.training_regressors(), view.training_outputs()
    whole, part = products(view), products(view, "estimation")
    np.testing.assert_allclose(whole.gram, columns.T @ columns, atol=1e-9)
    np.testing.assert_allclose(whole.moments, columns.T @ y, atol=1e-9)
    assert whole.energy == pytest.approx(y @ y) and whole.n_rows == len(y) > part.n_rows == view.n_rows
    np.testing.assert_array_equal(part.gram, view.gram)


def test_the_judge_of_the_whole_record_keeps_the_best(small_problem, rng):
    view = view_of(small_problem)
    judge, positions = WholeRecordJudge(view), rng.integers(0, 2, (30, len(view.terms)), np.uint8)
    expected = whole_record(view).evaluate_positions(positions)[0]
    np.testing.assert_array_equal(
        np.concatenate([judge.evaluate(positions[:10]), judge.evaluate(positions[10:])]), expected
    )
    np.testing.assert_array_equal(judge.best_position, positions[expected.argmin()])


@pytest.mark.parametrize("at_once", [1, 3])
def test_aols_takes_what_explains_most_by_itself(data, at_once):
    columns, y = data
    order: list[int] = []
    while len(order) < 6:
        before = left(columns, y, order) if order else float(y @ y)
        gains = {j: before - left(columns, y, [*order, j]) for j in range(9) if j not in order}
        order += sorted(gains, key=lambda j: -gains[j])[:at_once]
    assert aols.entered(of(columns, y), at_once, 6) == order[:6]


def test_aols_keeps_the_largest_weights_of_what_has_entered(data):
    columns, y = data
    found = of(columns, y)
    structures = aols.structures(found, aols.Settings(at_once=3, max_terms=8))
    assert structures.sum(axis=1).tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    # Two steps of three.
    order = aols.entered(found, 3, 6)
    weights = np.linalg.lstsq(columns[:, order], y, rcond=None)[0] * np.linalg.norm(columns[:, order], axis=0)
    largest = np.array(order)[np.argsort(-abs(weights))[:2]]
    assert np.flatnonzero(structures[1]).tolist() == sorted(largest)


def test_entering_and_leaving_terms_are_the_best_ones(data):
    columns, y = data
    sets, terms = osf.Sets(of(columns, y)), [0, 2, 5]
    assert sets.score(terms) == pytest.approx(1 - left(columns, y, terms) / (y @ y))
    assert sets.to_enter(terms) == min({*range(9)} - {*terms}, key=lambda j: left(columns, y, [*terms, j]))
    assert sets.to_leave(terms) == min(terms, key=lambda j: left(columns, y, [t for t in terms if t != j]))


@pytest.mark.parametrize("way", ["floating", "oscillating"])
def test_floating_sets_are_never_worse_than_those_of_forward_regression(rng, way):
    best = {"exact": 0, "forward": 0}
    for _ in range(12):
        columns = rng.normal(size=(60, 8)) @ rng.normal(size=(8, 8))
        y = columns @ rng.normal(size=8) + rng.normal(size=60)
        sets = osf.Sets(of(columns, y))
        found = osf.floating(sets, 6) if way == "floating" else osf.oscillating(sets, 6, 8)
        forward: list[int] = []
        for terms in found:
            forward.append(sets.to_enter(forward))
            assert len({*terms}) == len(terms) == len(forward)
            assert sets.score(terms) >= sets.score(forward) - 1e-9
            optimum = max(sets.score(list(own)) for own in combinations(range(8), len(terms)))
            best["exact"] += sets.score(terms) > optimum - 1e-9
            best["forward"] += sets.score(forward) > optimum - 1e-9
    assert best["exact"] > best["forward"]


def test_stlsq_drops_what_is_below_the_threshold_until_nothing_is(data):
    columns, y = data
    columns = columns / np.linalg.norm(columns, axis=0)
    structures = stlsq.structures(of(columns, y), stlsq.Settings(thresholds=30, smallest=0.01))
    assert len({row.tobytes() for row in structures}) == len(structures) > 3
    whole = np.linalg.lstsq(columns, y, rcond=None)[0]
    for threshold in abs(whole).max() * np.geomspace(1.0, 0.01, 30):
        terms = np.arange(9)
        while True:
            kept = terms[abs(np.linalg.lstsq(columns[:, terms], y, rcond=None)[0]) >= threshold]
            if len(kept) in (0, len(terms)):
                break
            terms = kept
        assert np.isin(np.arange(9), terms).astype(np.uint8).tobytes() in {row.tobytes() for row in structures}


def test_stable_terms_are_selected_on_nearly_all_halves(small_problem):
    view = view_of(small_problem)
    settings = stability_selection.Settings(halves=20)
    found = stability_selection.counts(view, np.random.default_rng(1), settings)
    # The square root of .8 times 15 candidates: three are selected on each half.
    assert found.sum() == 20 * 3 and found.max() == 20
    true = {view.terms.index(term) for term in load_system("S1").terms}
    assert {*np.argsort(-found)[:3]} <= true


@pytest.mark.parametrize("name", NAMES)
def test_the_weights_are_those_of_least_squares_over_all_samples(small_problem, name):
    result = search(small_problem, algorithm=name, seed=1)
    assert result.terms and result.evaluations == 1
    expected = whole_record(view_of(small_problem)).evaluate(result.terms).coefficients
    assert result.coefficients == expected != small_problem.evaluate(result.terms).coefficients


@pytest.mark.parametrize("name", [name for name in NAMES if name != "stability_selection"])
def test_the_number_of_terms_is_that_of_the_lowest_criterion(name):
    u, y = load_system("S2").simulate(800, snr_db=30)
    problem = StructureProblem(u, y, n_u=3, n_y=3, degree=2, n_validation=300)
    view, lengths = view_of(problem), {}
    module = {"aols": aols, "osf": osf, "stlsq": stlsq}[name]
    for choice in ("bic", "free_run"):
        settings = module.Settings(choice=choice)
        result = search(problem, algorithm=name, seed=1, choice=choice)
        value, lengths[choice] = module.criterion(view, settings), len(result.terms)
        position = np.isin(view.terms, result.terms).astype(np.uint8)
        plain = whole_record(view).evaluate(result.terms).fitness if choice == "free_run" else None
        columns, output = view.training_regressors(), view.training_outputs()
        n = len(output)
        plain = plain or n * np.log(left(columns, output, np.flatnonzero(position))) + position.sum() * np.log(n)
        assert value(position) == pytest.approx(plain)
    # Noise of the output makes further terms predict one step better; they do not simulate better.
    assert lengths["free_run"] <= lengths["bic"]
