"""The regressor: scikit-learn's own checks, and its figures against those of ``identify``."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn")

from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.utils.estimator_checks import parametrize_with_checks

import narxbench
from narxbench import NarxbenchError, NarxRegressor

SMALL = {"decimation": 1, "degree": 2, "y_lags": 2, "u_lags": 2, "effort": 0.05}
LEAST = SMALL | {"degree": 1, "y_lags": 1, "u_lags": 1, "noise": "narx"}
HOURS = pd.date_range("2026-01-01", periods=401, freq="h")

# Checks that cannot hold where each prediction starts from those before it.
EXPECTED = {
    "check_methods_sample_order_invariance": "The order of the samples is that of time.",
    "check_methods_subset_invariance": "A free run on a part of the samples starts anew at its first one.",
}


@pytest.mark.slow
@parametrize_with_checks(
    [NarxRegressor(**LEAST)],
    expected_failed_checks=lambda estimator: EXPECTED,
    xfail_strict=True,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    u, y = narxbench.load_system("S1").simulate(400, snr_db=40)
    return u[:, None], y


@pytest.fixture(scope="module")
def fitted(data):
    return NarxRegressor(**SMALL).fit(*data)


def test_its_model_is_that_of_identify(data, fitted):
    u, y = data
    identification = narxbench.identify(input=u, output=y, **SMALL)
    assert fitted.model_.terms == identification.model.terms
    assert fitted.model_.coefficients == identification.model.coefficients
    assert fitted.identification_.to_dict() == identification.to_dict()
    assert fitted.get_params() | SMALL == fitted.get_params()


def test_predictions_start_from_the_outputs_that_are_given_or_from_the_mean(data, fitted):
    u, y = data
    first = fitted.model_.initial_samples
    from_outputs = fitted.predict(u, y_initial=y[:first])
    assert from_outputs.tolist() == fitted.predict(u, y).tolist() == fitted.model_.predict(u, y[:first]).tolist()
    with pytest.raises(NarxbenchError):
        fitted.predict(u, y[: first - 1])
    predicted = fitted.predict(u)
    assert predicted.tolist() == fitted.model_.predict(u, np.full(first, y.mean())).tolist()
    for count in (1, first, first + 1):
        assert fitted.predict(u[:count]).tolist() == predicted[:count].tolist()


def test_the_score_is_that_of_the_free_run(data, fitted):
    u, y = data
    first, rrse = fitted.model_.initial_samples, fitted.model_.score(u, y).rrse
    assert fitted.score(u, y) == pytest.approx(1 - rrse**2, rel=1e-12) and 0.9 < fitted.score(u, y) < 1
    assert fitted.score(u, y[:, None]) == fitted.score(u, y)
    with pytest.raises(NarxbenchError):
        fitted.score(u[: first + 1], y[: first + 1])


def test_a_forecast_goes_on_after_the_record(data, fitted):
    u, y = data
    forecast = fitted.forecast(u[:300], y[:300], u[300:310])
    np.testing.assert_array_equal(forecast, fitted.model_.forecast(u[:300], y[:300], u[300:310]))
    frame, output = pd.DataFrame(u, HOURS[:400]), pd.Series(y, HOURS[:400])
    banded = fitted.forecast(frame[:300], output[:300], frame[300:310], confidence=0.9)
    assert list(banded.index) == list(HOURS[300:310])
    np.testing.assert_array_equal(banded["forecast"], forecast)
    assert (banded["lower"] < forecast).all() and (forecast < banded["upper"]).all()
    np.testing.assert_array_equal(fitted.forecast(u[:300], y[:300], steps=1), forecast[:1])


def test_truth_values_are_numbers():
    switch = np.random.default_rng(1).random((300, 1)) < 0.5
    y = np.r_[0.0, switch[:-1, 0]] + np.r_[0.0, 0.0, 0.5 * switch[:-2, 0]]
    numbers, truth = NarxRegressor(**LEAST).fit(switch.astype(float), y), NarxRegressor(**LEAST).fit(switch.tolist(), y)
    assert truth.model_.coefficients == numbers.model_.coefficients
    np.testing.assert_array_equal(numbers.predict(switch, y), numbers.predict(switch.astype(float), y))
    # An output that is on or off is one of numbers too.
    assert NarxRegressor(**LEAST).fit(switch, switch[:, 0]).model_.output == "y"


@pytest.mark.parametrize(
    ("index", "groups", "words"),
    [
        (HOURS.delete(250), np.arange(400) >= 250, f"gap between {HOURS[249]} and {HOURS[251]}; lags count rows"),
        ([np.arange(400) // 200, HOURS[:400]], np.arange(400) // 200, "has 2 levels; lags count rows: give groups"),
    ],
)
def test_an_uneven_index_is_warned_of(data, index, groups, words):
    frame = pd.DataFrame({"u": data[0][:, 0]}, index)
    with pytest.warns(UserWarning, match=words):
        NarxRegressor(**LEAST).fit(frame, data[1])
    NarxRegressor(**LEAST).fit(frame, data[1], groups=groups)


def test_groups_are_experiments(data):
    u, y = data
    groups = np.repeat(["a", "b"], [150, 250])
    regressor = NarxRegressor(**SMALL).fit(u, y, groups=groups)
    parts = [{"u": u[:150, 0], "y": y[:150]}, {"u": u[150:, 0], "y": y[150:]}]
    assert regressor.identification_.to_dict() == narxbench.identify(parts, "y", input="u", **SMALL).to_dict()
    wrong = {"are together": np.tile(["a", "b"], 200), r"\(3,\); needed: \(400,\)": [1, 1, 2]}
    for words, groups in wrong.items():
        with pytest.raises(NarxbenchError, match=words):
            NarxRegressor(**SMALL).fit(u, y, groups=groups)


def test_without_inputs(data):
    _, y = data
    fitted = NarxRegressor(**SMALL).fit(None, y)
    model = narxbench.identify(None, y, **SMALL).model
    assert fitted.model_ == model and np.isfinite(fitted.score(None, y))
    predicted = fitted.predict(None, y[:10], samples=30)
    assert predicted.tolist() == model.predict(None, y[:10], samples=30).tolist()
    with pytest.raises(NarxbenchError, match="samples: found null"):
        fitted.predict(None, y[:10])


@pytest.mark.slow
def test_a_grid_with_types_of_numpy(data):
    grid = [{"degree": np.array([1, 2]), "y_lags": [range(1, 3)]}, {"y_lags": [np.array([1])], "u_lags": [(1, 2)]}]
    search = GridSearchCV(NarxRegressor(**SMALL), grid, cv=TimeSeriesSplit(2), error_score="raise").fit(*data)
    assert search.best_params_["degree"] == 2 and search.best_score_ > 0.9


def test_names_of_a_frame_name_the_inputs(data):
    u, y = data
    frame = pd.DataFrame({"valve": u[:, 0], "y": np.roll(u[:, 0], 7)})
    regressor = NarxRegressor(**SMALL | {"u_lags": {"valve": 2, "y": [1]}}).fit(frame, pd.Series(y, name="y"))
    assert regressor.model_.inputs == ("valve", "y") and regressor.model_.output == "y_"
    assert regressor.n_features_in_ == 2 and regressor.feature_names_in_.tolist() == ["valve", "y"]
