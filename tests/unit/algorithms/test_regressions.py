"""Methods that add and drop terms, held against plain regressions, all subsets, and the packages that have them."""

import itertools
from unittest.mock import Mock

import numpy as np
import pytest
from tests.regression import numbers_of, terms_at
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
from narxbench._algorithms.training import Products, products, whole_record

S1 = load_system("S1").terms


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
def test_the_best_term_enters(data, way, left, first):
    order, values = way(*data, 8, first)
    expected: list[int] = []
    for step in range(8):
        candidates = {first} if step == 0 and first >= 0 else {*range(9)} - {*expected}
        expected.append(min(candidates, key=lambda j: left(*data, [*expected, j])))
        assert values[step] == pytest.approx(left(*data, expected), rel=1e-6)
    assert order == expected


def test_floating_sets_are_never_worse_than_forward_regression_and_more_often_the_best(rng):
    n_optimal = {"floating": 0, "forward": 0}
    for _ in range(12):
        columns = rng.normal(size=(60, 8)) @ rng.normal(size=(8, 8))
        y = columns @ rng.normal(size=8) + rng.normal(size=60)
        _, squares = forward(columns, y, 6)
        for terms, left_by_forward in zip(osf.floating(products_of(columns, y), 6), squares, strict=True):
            left, subsets = squares_left(columns, y, terms), itertools.combinations(range(8), len(terms))
            lowest = min(squares_left(columns, y, subset) for subset in subsets)
            assert left <= left_by_forward * (1.0 + 1e-6)
            n_optimal["floating"] += left < lowest * (1.0 + 1e-6)
            n_optimal["forward"] += left_by_forward < lowest * (1.0 + 1e-6)
    assert n_optimal["floating"] > n_optimal["forward"] > 12


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
    design = columns[:, numbers_of(small_problem, result.terms)]
    np.testing.assert_allclose(whole.coefficients, np.linalg.lstsq(design, y[2:], rcond=None)[0], rtol=1e-6)
    assert (result.evaluations, result.coefficients) == (1, whole.coefficients)
    assert result.coefficients != small_problem.evaluate(result.terms).coefficients


@pytest.fixture(scope="module")
def many_terms():
    """Return a view of S4, which has 23 terms."""
    return StructureProblem(*load_system("S4").simulate(1000, snr_db=40), n_u=5, n_y=5, degree=2, n_validation=300)


def test_of_paths_with_other_first_terms_that_of_the_best_free_run_is_chosen(many_terms):
    """Each term of the best model begins a path."""
    view = view_of(many_terms)
    columns, y, whole = view.training_regressors(), view.training_outputs(), whole_record(view)

    def of_path(first):
        structures = nested(np.array(forward_by_press(columns, y, 30, first)[0]), 66)
        values = whole.evaluate_positions(structures)[0]
        return float(values.min()), structures[values.argmin()]

    result = search(many_terms, algorithm="iterative_ofr", seed=1, max_terms=30)
    value, best = of_path(-1)
    firsts = {*forward_by_press(columns, y, 30)[0]}
    for _ in range(3):
        value, best = min(map(of_path, sorted(firsts)), key=lambda pair: pair[0])
        firsts |= {*np.flatnonzero(best).tolist()}
    assert result.terms == terms_at(many_terms, np.flatnonzero(best))
    assert value < of_path(-1)[0] - 10.0


# ---- Methods of other packages, which are in the extra 'methods'.


@pytest.fixture(scope="module", params=[("S1", 40), ("billings-ex36", 20)], ids=str)
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
def test_a_fit_that_fails_gives_no_structure_and_says_why(rng, capfd, monkeypatch):
    selection = pytest.importorskip("sysidentpy.model_structure_selection")
    u, y = rng.uniform(-1.0, 1.0, (2, 300))
    orders = {"n_u": 2, "n_y": 2, "degree": 2, "n_validation": 100, "rescaled": False}
    ways = {1e200: "squares of the candidate terms overflow", 1.0: "LinAlgError: no words"}
    monkeypatch.setattr(selection.FROLS, "fit", Mock(side_effect=np.linalg.LinAlgError("no words")))
    for factor, reason in ways.items():
        assert not np.any(sysidentpy(view_of(StructureProblem(u, factor * y, **orders))).position)
        assert capfd.readouterr().err == f"SysIdentPy: FROLS: {reason}\n"
    monkeypatch.setattr(selection.FROLS, "fit", lambda model, **_: vars(model).update(final_model=[], theta=[np.nan]))
    assert not np.any(sysidentpy(view_of(StructureProblem(u, y, **orders))).position)
    assert capfd.readouterr().err == "SysIdentPy: FROLS: weights that are not finite\n"


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
