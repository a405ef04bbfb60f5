"""Methods that add and drop terms, held against plain regressions, all subsets, and the packages that have them."""

import itertools

import numpy as np
import pytest
from tests.regression import terms_at
from threadpoolctl import threadpool_limits

from narxbench import NarxbenchError, StructureProblem, load_system, search
from narxbench._algorithms import (
    adaptive_lasso,
    aols,
    fastcan,
    forward_regression,
    iterative_ofr,
    osf,
    stlsq,
    sysidentpy_fit,
)
from narxbench._algorithms.forward_regression import nested
from narxbench._algorithms.objective import CountedObjective, view_of
from narxbench._algorithms.term_changes import predicted
from narxbench._algorithms.training import Products, products, whole_record

S1 = ["y(k-1)", "u(k-1)", "y(k-1)*u(k-1)", "u(k-1)^2"]


def squares_left(columns, y, terms):
    """Return the sum of squared residuals of a least-squares fit."""
    design = columns[:, list(terms)]
    return float(((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2).sum())


def press_of(columns, y, terms):
    """Return the sum of squared errors of the prediction of each row from all others."""
    design, rows, total = columns[:, list(terms)], np.arange(len(y)), 0.0
    for k in rows:
        total += float(y[k] - design[k] @ np.linalg.lstsq(design[rows != k], y[rows != k])[0]) ** 2
    return total


def products_of(columns, y):
    return Products(columns.T @ columns, columns.T @ y, float(y @ y), len(y))


@pytest.fixture
def data(rng):
    """Return columns that are much alike, and an output of three of them with noise."""
    columns = rng.normal(size=(60, 9)) @ rng.normal(size=(9, 9))
    return columns, columns[:, [1, 4, 7]] @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=60)


def forward(columns, y, steps, first=-1):
    order, explained = np.empty(steps, np.int64), np.empty(steps)
    entered = forward_regression.forward(columns.T @ columns, columns.T @ y, first, order, explained)
    return order[:entered].tolist(), y @ y - explained[:entered].cumsum()


def forward_by_press(columns, y, steps, first=-1):
    order, press = np.empty(steps, np.int64), np.empty(steps)
    gram, moments = columns.T @ columns, columns.T @ y
    entered = iterative_ofr.forward_by_press(gram, moments, columns.copy(), y.copy(), first, order, press)
    return order[:entered].tolist(), press[:entered]


@pytest.mark.parametrize("first", [-1, 4])
@pytest.mark.parametrize(("way", "left"), [(forward, squares_left), (forward_by_press, press_of)])
def test_the_term_that_leaves_the_least_enters(data, way, left, first):
    order, values = way(*data, 8, first)
    expected: list[int] = []
    for step in range(8):
        candidates = {first} if step == 0 and first >= 0 else {*range(9)} - {*expected}
        expected.append(min(candidates, key=lambda j: left(*data, [*expected, j])))
        assert values[step] == pytest.approx(left(*data, expected), rel=1e-6)
    assert order == expected


def test_what_depends_on_earlier_terms_never_enters_and_of_equal_ones_the_first(rng):
    columns = rng.normal(size=(30, 5))
    columns[:, 2] = 0.0
    columns[:, 4] = columns[:, 0] - 2.0 * columns[:, 1]
    order, _ = forward(columns, rng.normal(size=30), 5)
    assert len(order) == 3 and 2 not in order and len({0, 1, 4} & {*order}) == 2
    assert forward(columns, rng.normal(size=30), 5, first=2)[0] == []
    columns = np.outer(np.ones(50), [1.0, 0.7, 0.49, 0.1])
    columns[:, 3] = np.arange(50.0) % 2
    assert forward(columns, np.full(50, 0.7), 4)[0] == [0, 3]


@pytest.mark.parametrize("terms", [[], [4], [1, 3, 8], [0, 2, 3, 5, 7, 8]])
def test_predicted_changes_are_those_of_least_squares(data, terms):
    columns, y = data
    position = np.zeros(9, np.uint8)
    position[terms] = 1
    inner = products_of(columns, y)
    members, flips, swaps = predicted(inner.gram, inner.moments, inner.energy, 300.0, 5.0, position)
    before = squares_left(columns, y, terms)
    assert members.tolist() == terms and swaps.shape == (len(terms), 9)
    for term in range(9):
        changed = {*terms} ^ {term}
        expected = 300.0 * np.log(squares_left(columns, y, changed) / before) + 5.0 * (len(changed) - len(terms))
        np.testing.assert_allclose(flips[term], expected, rtol=1e-7, atol=1e-7)
        for row, dropped in enumerate(terms):
            after = squares_left(columns, y, {*terms} - {dropped} | {term})
            expected = np.inf if term in terms else 300.0 * np.log(after / before)
            np.testing.assert_allclose(swaps[row, term], expected, rtol=1e-7, atol=1e-7)


def test_predictions_of_dependent_columns():
    gram, moments = np.ones((2, 2)), np.array([2.0, 2.0])
    # The second column gives nothing next to the first, and costs its penalty; in its place it gives the same.
    _, flips, swaps = predicted(gram, moments, 8.0, 10.0, 1.0, np.array([1, 0], np.uint8))
    np.testing.assert_allclose(flips, [10.0 * np.log(2.0) - 1.0, 1.0])
    np.testing.assert_allclose(swaps, [[np.inf, 0.0]], atol=1e-12)
    # Together one of them is left out: to drop that one changes only the penalty.
    assert predicted(gram, moments, 8.0, 10.0, 1.0, np.ones(2, np.uint8))[1].min() == -1.0


@pytest.mark.parametrize("at_once", [1, 3])
def test_aols_takes_what_explains_most_by_itself(data, at_once):
    order: list[int] = []
    while len(order) < 6:
        candidates = {*range(9)} - {*order}
        order += sorted(candidates, key=lambda j: squares_left(*data, [*order, j]))[:at_once]
    assert aols.entered(products_of(*data), at_once, 6) == order[:6]


def test_floating_sets_are_made_of_the_best_changes_and_never_worse_than_forward_regression(rng, data):
    sets, terms = osf.Sets(products_of(*data)), [0, 2, 5]
    assert sets.score(terms) == pytest.approx(1 - squares_left(*data, terms) / (data[1] @ data[1]))
    assert sets.to_enter(terms) == min({*range(9)} - {*terms}, key=lambda j: squares_left(*data, [*terms, j]))
    assert sets.to_leave(terms) == min(terms, key=lambda j: squares_left(*data, {*terms} - {j}))
    n_optimal = {"floating": 0, "forward": 0}
    for _ in range(12):
        columns = rng.normal(size=(60, 8)) @ rng.normal(size=(8, 8))
        sets = osf.Sets(products_of(columns, columns @ rng.normal(size=8) + rng.normal(size=60)))
        entered: list[int] = []
        for terms in osf.floating(sets, 6):
            entered.append(sets.to_enter(entered))
            assert len({*terms}) == len(terms) == len(entered)
            assert sets.score(terms) >= sets.score(entered) - 1e-9
            optimum = max(sets.score(list(subset)) for subset in itertools.combinations(range(8), len(terms)))
            n_optimal["floating"] += sets.score(terms) > optimum - 1e-9
            n_optimal["forward"] += sets.score(entered) > optimum - 1e-9
    assert n_optimal["floating"] > n_optimal["forward"]


def test_stlsq_drops_what_is_below_the_threshold_until_nothing_is(data):
    columns, y = data[0] / np.linalg.norm(data[0], axis=0), data[1]
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


@pytest.mark.parametrize("method", ["aols", "frols", "iterative_ofr", "osf", "stlsq"])
def test_the_free_run_over_all_samples_chooses_among_structures_with_weights_of_all_samples(small_problem, method):
    result = search(small_problem, algorithm=method, seed=1)
    assert {*result.terms} >= {*S1}
    whole = whole_record(view_of(small_problem)).evaluate(result.terms)
    columns, y = view_of(small_problem).training_regressors(), small_problem.training_y
    design = columns[:, [small_problem.terms.index(term) for term in result.terms]]
    np.testing.assert_allclose(whole.coefficients, np.linalg.lstsq(design, y[2:], rcond=None)[0], rtol=1e-6)
    assert (result.evaluations, result.coefficients) == (1, whole.coefficients)
    assert result.coefficients != small_problem.evaluate(result.terms).coefficients


@pytest.mark.parametrize("selection", ["press", "err"])
def test_other_first_terms_lead_to_a_better_structure(selection):
    """S4 has 23 terms, and the one that explains most of the output is not the best to begin with."""
    u, y = load_system("S4").simulate(2000, snr_db=40)
    problem = StructureProblem(u, y, n_u=5, n_y=5, degree=2)
    result = search(problem, algorithm="iterative_ofr", seed=1, rows="estimation", selection=selection)
    view = view_of(problem)
    path = nested(np.array(forward(view.regressors(), view.outputs(), 30)[0]), 66)
    assert result.fitness < problem.evaluate_positions(path)[0].min() - 10.0
    # All paths end before the budget does.
    assert 31 * 30 <= result.evaluations < 6000


def test_over_all_samples_no_path_has_a_better_free_run(small_problem):
    iterative = search(small_problem, algorithm="iterative_ofr", seed=1, first_terms="all", max_terms=6)
    frols = search(small_problem, algorithm="frols", seed=1, max_terms=6)
    view = view_of(small_problem)
    columns, y, whole = view.training_regressors(), view.training_outputs(), whole_record(view)
    paths = [forward_by_press(columns, y, 6, first)[0] for first in range(15)]
    for result, orders in ((iterative, paths), (frols, [forward(columns, y, 6)[0]])):
        structures = np.concatenate([nested(np.array(order), 15) for order in orders])
        values = whole.evaluate_positions(structures)[0]
        assert result.terms == terms_at(small_problem, np.flatnonzero(structures[values.argmin()]))


# ---- Methods of other packages, which are in the extra 'methods'.


@pytest.fixture(scope="module", params=[("S1", 40), ("S3", 20), ("billings-ex36", 20)], ids=str)
def view(request):
    name, snr_db = request.param
    u, y = load_system(name).simulate(600, snr_db=snr_db)
    return view_of(StructureProblem(u, y, n_u=3, n_y=3, degree=3, n_validation=200))


def sysidentpy(view, **settings):
    pytest.importorskip("sysidentpy")
    return sysidentpy_fit.fitted(view, "FROLS", **settings)


def test_packages_have_the_same_terms(view):
    selection = pytest.importorskip("sysidentpy.model_structure_selection")
    pytest.importorskip("fastcan")
    columns, y = view.training_regressors(), view.training_outputs()
    for length in (4, 12):
        frols = sysidentpy(view, order_selection=False, n_terms=length)
        terms = np.flatnonzero(frols.position)
        assert terms.tolist() == sorted(forward(columns, y, length)[0])
        weights = np.linalg.lstsq(columns[:, terms], y, rcond=None)[0]
        assert frols.coefficients == pytest.approx(weights, rel=1e-6, abs=1e-9)
    ours = aols.structures(products(view), aols.Settings(at_once=3, max_terms=8))
    for k in range(1, 9):
        model = selection.AOLS(k=k, L=3)
        model.max_lag = 0
        # Columns of equal length, which the package does not scale.
        _, terms, _ = model.aols(columns / np.linalg.norm(columns, axis=0), y[:, None])
        assert sorted(terms) == np.flatnonzero(ours[k - 1]).tolist()
    with threadpool_limits(1):
        order = fastcan.entered(columns[:, 1:], y, 8)
    # Forward regression after the constant.
    assert (1 + np.array(order)).tolist() == forward(columns, y, 9, first=0)[0][1:]


@pytest.mark.parametrize("orders", [{"n_u": 0, "n_y": 2}, {"n_u": 2, "n_y": 0}])
def test_models_without_input_or_past_outputs(orders):
    u, y = load_system("S1").simulate(300, snr_db=40)
    view = view_of(StructureProblem(u, y, **orders, degree=2, n_validation=100))
    frols = sysidentpy(view, order_selection=False, n_terms=3)
    expected = forward(view.training_regressors(), view.training_outputs(), 3)[0]
    assert np.flatnonzero(frols.position).tolist() == sorted(expected)


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize(
    ("factor", "theta", "reason"),
    [
        (1e200, None, "squares of the candidate terms overflow"),
        (1.0, np.linalg.LinAlgError("no words"), "LinAlgError: no words"),
        (1.0, [np.nan, 1.0], "weights that are not finite"),
    ],
)
def test_a_fit_that_fails_gives_no_structure_and_says_why(factor, theta, reason, rng, capfd, monkeypatch):
    def fit(model, **_):
        if isinstance(theta, Exception):
            raise theta
        model.final_model, model.theta = [], theta

    selection = pytest.importorskip("sysidentpy.model_structure_selection")
    monkeypatch.setattr(selection.FROLS, "fit", fit)
    u, y = rng.uniform(-1.0, 1.0, (2, 300))
    view = view_of(StructureProblem(u, factor * y, n_u=2, n_y=2, degree=2, n_validation=100, rescaled=False))
    assert not np.any(sysidentpy(view).position)
    assert capfd.readouterr().err == f"SysIdentPy: FROLS: {reason}\n"


@pytest.mark.parametrize(
    ("inputs", "factors", "segments", "words"),
    [
        (2, [(0, 1), (1, 1), (2, 1)], [range(2, 100)], "SysIdentPy: inputs: found 2; allowed: one at most"),
        (1, [(0, 1), (0, 2), (1, 1), (1, 2)], [range(2, 50), range(52, 100)], "stretches of samples: found 2"),
        (1, [(0, 1), (0, 2), (1, 0), (1, 1)], [range(2, 100)], "candidate terms: found 15; allowed: all products"),
        (1, [(0, 2), (1, 1), (1, 2)], [range(2, 100)], "candidate terms: found 10"),
    ],
)
def test_what_sysidentpy_cannot_be_given_is_reported(rng, inputs, factors, segments, words):
    monomials = [m for size in range(3) for m in itertools.combinations_with_replacement(factors, size)]
    rows, u, y = np.concatenate(segments), rng.normal(size=(100, inputs)), rng.normal(size=100)
    view = view_of(StructureProblem.of_records(u, y, monomials, rows=rows, segments=segments))
    with pytest.raises(NarxbenchError, match=words):
        sysidentpy(view)


def test_adaptive_lasso_returns_the_best_structure_of_its_path(small_problem):
    pytest.importorskip("sklearn")
    objective = CountedObjective(small_problem, 6000)
    view, settings = view_of(small_problem), adaptive_lasso.Settings()
    position = np.asarray(adaptive_lasso.run(view, objective, np.random.default_rng(1), settings).position)
    # The path begins with one term and grows; with and without the constant.
    assert 2 <= objective.evaluations <= 400
    assert objective.known_fitness(position) == objective.best_fitness == objective.trace().min()
    assert terms_at(small_problem, np.flatnonzero(position)) == S1
