"""Methods that hold nothing out for J, held against plain regressions and simulations over all samples."""

from itertools import combinations

import numpy as np
import pytest
from tests.regression import product, terms_at

from narxbench import StructureProblem, load_system, search
from narxbench._algorithms import aols, ensemble_stlsq, osf, ramss, stability_selection, stlsq
from narxbench._algorithms.objective import view_of
from narxbench._algorithms.training import Products, whole_record


def products_of(columns, y):
    return Products(columns.T @ columns, columns.T @ y, float(y @ y), len(y))


def squared_residuals(columns, y, terms):
    """Return the sum of squared residuals of a least-squares fit."""
    design = columns[:, list(terms)]
    weights = np.linalg.lstsq(design, y, rcond=None)[0]
    return float(((y - design @ weights) ** 2).sum())


@pytest.fixture
def data(rng):
    """Return columns that are much alike, and an output of three of them with noise."""
    columns = rng.normal(size=(80, 9)) @ rng.normal(size=(9, 9))
    return columns, columns[:, [1, 4, 7]] @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=80)


def test_products_are_those_of_the_columns(data):
    columns, y = data
    products, terms = products_of(columns, y), np.array([0, 3, 8])
    squares = squared_residuals(columns, y, terms)
    assert products.residual(terms) == pytest.approx(squares)
    position = np.isin(np.arange(9), terms).astype(np.uint8)
    assert products.bic()(position) == pytest.approx(80 * np.log(squares) + 3 * np.log(80))
    with_a_copy = products_of(np.column_stack([columns, columns[:, 0]]), y)
    assert with_a_copy.residual(np.array([0, 9])) == np.inf


@pytest.mark.parametrize("at_once", [1, 3])
def test_aols_takes_what_explains_most_by_itself(data, at_once):
    columns, y = data
    order: list[int] = []
    while len(order) < 6:
        candidates = {*range(9)} - {*order}
        order += sorted(candidates, key=lambda j: squared_residuals(columns, y, [*order, j]))[:at_once]
    assert aols.entered(products_of(columns, y), at_once, 6) == order[:6]


def test_entering_and_leaving_terms_are_the_best_ones(data):
    columns, y = data
    sets, terms = osf.Sets(products_of(columns, y)), [0, 2, 5]
    assert sets.score(terms) == pytest.approx(1 - squared_residuals(columns, y, terms) / (y @ y))
    assert sets.to_enter(terms) == min({*range(9)} - {*terms}, key=lambda j: squared_residuals(columns, y, [*terms, j]))
    assert sets.to_leave(terms) == min(terms, key=lambda j: squared_residuals(columns, y, {*terms} - {j}))


SEARCHES_FOR_SETS = {
    "floating": lambda sets: osf.floating(sets, 6),
    "oscillating": lambda sets: osf.oscillating(sets, 6, 8),
}


@pytest.mark.parametrize("name", SEARCHES_FOR_SETS)
def test_floating_sets_are_never_worse_than_those_of_forward_regression(rng, name):
    n_optimal = {"floating": 0, "forward": 0}
    for _ in range(12):
        columns = rng.normal(size=(60, 8)) @ rng.normal(size=(8, 8))
        y = columns @ rng.normal(size=8) + rng.normal(size=60)
        sets = osf.Sets(products_of(columns, y))
        forward: list[int] = []
        for terms in SEARCHES_FOR_SETS[name](sets):
            forward.append(sets.to_enter(forward))
            assert len({*terms}) == len(terms) == len(forward)
            assert sets.score(terms) >= sets.score(forward) - 1e-9
            optimum = max(sets.score(list(subset)) for subset in combinations(range(8), len(terms)))
            n_optimal["floating"] += sets.score(terms) > optimum - 1e-9
            n_optimal["forward"] += sets.score(forward) > optimum - 1e-9
    assert n_optimal["floating"] > n_optimal["forward"]


def test_stlsq_drops_what_is_below_the_threshold_until_nothing_is(data):
    columns, y = data
    columns = columns / np.linalg.norm(columns, axis=0)
    rows = stlsq.structures(products_of(columns, y), stlsq.Settings(thresholds=30, smallest=0.01))
    structures = {row.tobytes() for row in rows}
    assert len(structures) == len(rows) > 3
    whole = np.linalg.lstsq(columns, y, rcond=None)[0]
    for threshold in abs(whole).max() * np.geomspace(1.0, 0.01, 30):
        terms = np.arange(9)
        while True:
            kept = terms[abs(np.linalg.lstsq(columns[:, terms], y, rcond=None)[0]) >= threshold]
            if len(kept) in (0, len(terms)):
                break
            terms = kept
        assert np.isin(np.arange(9), terms).astype(np.uint8).tobytes() in structures


def test_stable_terms_are_selected_on_nearly_all_halves(small_problem):
    view = view_of(small_problem)
    settings = stability_selection.Settings(halves=20)
    counts = stability_selection.counts(view, np.random.default_rng(1), settings)
    # The square root of .8 times 15 candidates: three are selected on each half.
    assert counts.sum() == 20 * 3 and counts.max() == 20
    most_counted = terms_at(view, np.argsort(-counts)[:3])
    assert {*most_counted} <= {*load_system("S1").terms}


@pytest.mark.parametrize("choice", ["bic", "free_run"])
@pytest.mark.parametrize("method", [aols, osf, stlsq])
def test_what_chooses_the_number_of_terms(small_problem, method, choice):
    result = search(small_problem, algorithm=method.__name__.rpartition(".")[2], seed=1, choice=choice)
    view = view_of(small_problem)
    position = np.isin(view.terms, result.terms).astype(np.uint8)
    columns, y = view.training_regressors(), view.training_outputs()
    squares = squared_residuals(columns, y, np.flatnonzero(position))
    expected = {
        "bic": len(y) * np.log(squares) + position.sum() * np.log(len(y)),
        "free_run": whole_record(view).evaluate(result.terms).fitness,
    }
    assert method.criterion(view, method.Settings(choice=choice))(position) == pytest.approx(expected[choice])


@pytest.fixture(scope="module")
def short_problem():
    """Alike outputs with much noise: what has entered first may leave again."""
    u, y = load_system("heater").simulate(160, snr_db=10)
    return StructureProblem(u, y, n_u=3, n_y=2, degree=2, n_validation=40)


def errors(view, terms):
    """Return the mean squared errors of the prediction one step ahead and of the free run over all samples."""
    columns, y = view.training_regressors()[:, terms], view.training_outputs()
    weights, start = np.linalg.lstsq(columns, y, rcond=None)[0], int(view.training_rows[0])
    signals = np.stack([view.training_y, view.training_u])
    with np.errstate(all="ignore"):
        for k in range(start, signals.shape[1]):
            signals[0, k] = 0.0
            for term, weight in zip(terms, weights, strict=True):
                signals[0, k] += weight * product(view.monomials[term], signals, k)
        free_run = float(((signals[0, start:] - y) ** 2).mean())
    if not np.isfinite(free_run):
        free_run = np.inf
    return float(((y - columns @ weights) ** 2).mean()), free_run


def best_entry(view, terms):
    """Return the smallest error of the free run with one more term, and this term."""
    candidates = {*range(len(view.terms))} - {*terms}
    return min((errors(view, sorted([*terms, term]))[1], term) for term in candidates)


def best_removal(view, terms):
    """Return the smallest error of the free run without one of the terms, and this term."""
    return min((errors(view, sorted({*terms} - {term}))[1], term) for term in terms)


def stepwise_terms(view, least_gain, max_terms):
    """Return the terms that enter and stay by the simulation error, and how many left again."""
    terms, error, n_removed = [], np.inf, 0
    while len(terms) < max_terms:
        entered_error, entering = best_entry(view, terms)
        if not entered_error < (1 - least_gain) * error:
            break
        terms, error = [*terms, entering], entered_error
        while len(terms) > 1:
            remaining_error, leaving = best_removal(view, terms)
            if remaining_error > error:
                break
            terms.remove(leaving)
            error, n_removed = remaining_error, n_removed + 1
    return sorted(terms), n_removed


@pytest.mark.parametrize("least_gain", [0.0, 0.01, 0.1])
def test_terms_enter_and_leave_by_the_simulation_error(short_problem, least_gain):
    view = view_of(short_problem)
    terms, n_removed = stepwise_terms(view, least_gain, 6)
    result = search(short_problem, algorithm="semp", seed=1, least_gain=least_gain, max_terms=6)
    assert result.terms == terms_at(view, terms)
    assert result.evaluations == 1
    assert n_removed or least_gain


def test_the_value_of_a_structure_is_that_of_both_errors(short_problem, rng):
    view = view_of(short_problem)
    positions = np.zeros((8, len(view.terms)), np.uint8)
    for position in positions[:-1]:
        position[rng.choice(len(view.terms), 4, replace=False)] = 1
    both = np.array([errors(view, np.flatnonzero(position).tolist()) for position in positions[:-1]])
    expected = np.exp(-2.0 * both / view.training_outputs().var()) @ [0.7, 0.3]
    values = ramss.Judge(view, ramss.Settings(sharpness=2.0, simulation=0.3)).values(positions)
    np.testing.assert_allclose(values[:-1], expected, rtol=1e-6)
    # The empty structure has no weights.
    assert values[-1] == 0.0 and 0.0 < expected.min() < 0.7 * expected.max()


def test_probabilities_rise_for_terms_of_better_structures():
    structures = np.array([[1, 0, 1], [1, 1, 1], [0, 1, 1], [0, 0, 1]], np.uint8)
    probabilities = ramss.stepped(np.full(3, 0.5), structures, np.array([0.8, 0.6, 0.2, 0.4]), 0.9)
    # Means with and without: 0.7 and 0.3; 0.4 and 0.6; 0.5 and none.
    np.testing.assert_allclose(probabilities, 0.5 + np.array([0.4, -0.2, 0.5]) / (10 * 0.4 + 0.1))


@pytest.mark.parametrize("name", ["aols", "osf", "ramss", "semp", "stlsq"])
def test_true_terms_are_found_with_weights_of_all_samples(small_problem, name):
    result = search(small_problem, algorithm=name, seed=1)
    assert {*result.terms} >= {*load_system("S1").terms}
    assert result.coefficients == whole_record(view_of(small_problem)).evaluate(result.terms).coefficients
    assert result.coefficients != small_problem.evaluate(result.terms).coefficients


def test_an_ensemble_counts_the_draws_that_keep_a_term(rng):
    u, y = load_system("S1").simulate(400, snr_db=30)
    problem = StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=100)
    view, settings = view_of(problem), ensemble_stlsq.Settings(draws=30)
    # A threshold below all weights keeps all terms on each draw, one close to the largest weight few of them.
    selected = ensemble_stlsq.counts(view, np.array([1e-12, 3.0]), rng, settings)
    assert selected.shape == (2, 15) and (selected[0] == 30).all() and (selected[1] < 30).any()
    assert set(search(problem, algorithm="ensemble_stlsq", seed=1).terms) == set(load_system("S1").terms)
    # A term must be on a share of the draws.
    settings = {"algorithm": "ensemble_stlsq", "seed": 1, "thresholds": 2, "smallest": 0.02}
    strict, lenient = search(problem, share=1.0, **settings), search(problem, share=0.05, **settings)
    assert len(strict.terms) <= len(lenient.terms)
