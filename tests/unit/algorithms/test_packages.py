"""Methods of other packages: what they find in the terms of a problem, and how it agrees with this project's own."""

import itertools
from itertools import compress

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from narxbench import StructureProblem, load_system
from narxbench._algorithms import adaptive_lasso, aols, fastcan, forward_regression, sysidentpy_fit
from narxbench._algorithms.objective import CountedObjective, view_of
from narxbench._algorithms.training import estimated, products
from narxbench._io.errors import NarxbenchError
from narxbench._model.terms import monomials_of

CASES = list(itertools.product(("S1", "S3", "metamss-s4", "billings-ex36"), (40, 20)))


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def view(request):
    name, snr_db = request.param
    u, y = load_system(name).simulate(600, snr_db=snr_db)
    return view_of(StructureProblem(u, y, n_u=3, n_y=3, degree=3, n_validation=200))


def forward(view, steps, first=-1):
    all_samples, order, explained = products(view), np.empty(steps, np.int64), np.empty(steps)
    assert forward_regression.forward(all_samples.gram, all_samples.moments, first, order, explained) == steps
    return order.tolist()


def sysidentpy(view, method, **settings):
    pytest.importorskip("sysidentpy", reason="SysIdentPy is in the extra 'methods'")
    return sysidentpy_fit.fitted(view, method, **settings)


@pytest.mark.parametrize("length", [4, 12])
def test_frols_of_sysidentpy_has_the_same_terms(view, length):
    frols = sysidentpy(view, "FROLS", order_selection=False, n_terms=length)
    assert np.flatnonzero(frols.position).tolist() == sorted(forward(view, length))
    assert frols.coefficients == pytest.approx(estimated(view, frols.position).coefficients, rel=1e-6, abs=1e-9)


def test_aols_of_sysidentpy_has_the_same_terms_of_columns_of_equal_length(view):
    selection = pytest.importorskip("sysidentpy.model_structure_selection", reason="SysIdentPy is not installed")
    columns, y = view.training_regressors(), view.training_outputs()[:, None]
    ours = aols.structures(products(view), aols.Settings(at_once=3, max_terms=8))
    for k in range(1, 9):
        model = selection.AOLS(k=k, L=3)
        model.max_lag = 0
        _, terms, _ = model.aols(columns / np.linalg.norm(columns, axis=0), y)
        assert sorted(terms) == np.flatnonzero(ours[k - 1]).tolist()


def test_fastcan_is_forward_regression_after_the_constant(view):
    pytest.importorskip("fastcan", reason="fastcan is in the extra 'methods'")
    assert view.terms[0] == "1"
    with threadpool_limits(1):
        order = fastcan.entered(view.training_regressors()[:, 1:], view.training_outputs(), 8)
    assert (1 + np.array(order)).tolist() == forward(view, 9, first=0)[1:]


@pytest.mark.parametrize("orders", [{"n_u": 0, "n_y": 2}, {"n_u": 2, "n_y": 0}])
def test_models_without_input_or_past_outputs(orders):
    u, y = load_system("S1").simulate(300, snr_db=40)
    view = view_of(StructureProblem(u, y, **orders, degree=2, n_validation=100))
    frols = sysidentpy(view, "FROLS", order_selection=False, n_terms=3)
    assert np.flatnonzero(frols.position).tolist() == sorted(forward(view, 3))


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
    assert not np.any(sysidentpy(view, "FROLS").position)
    assert capfd.readouterr().err == f"SysIdentPy: FROLS: {reason}\n"


def of_records(u, y, factors, segments):
    rows = np.concatenate(segments)
    return StructureProblem.of_records(u, y, monomials_of(factors, 2), rows=rows, segments=segments)


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
    view = view_of(of_records(rng.normal(size=(100, inputs)), rng.normal(size=100), factors, segments))
    with pytest.raises(NarxbenchError, match=words):
        sysidentpy(view, "FROLS")


def along_the_path(problem):
    pytest.importorskip("sklearn", reason="scikit-learn is in the extra 'methods'")
    objective = CountedObjective(problem, 6000)
    result = adaptive_lasso.run(view_of(problem), objective, np.random.default_rng(1), adaptive_lasso.Settings())
    return np.asarray(result.position), objective


def test_adaptive_lasso_returns_the_best_structure_of_the_path(small_problem):
    position, objective = along_the_path(small_problem)
    # The path begins with one term and grows; with and without the constant.
    assert 2 <= objective.evaluations <= 400
    assert objective.known_fitness(position) == objective.best_fitness == objective.trace().min()
    assert list(compress(small_problem.terms, position)) == load_system("S1").terms
