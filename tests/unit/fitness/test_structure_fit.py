"""Fits of one structure under the noise model that its noise calls for."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.signal import lfilter
from tests.regression import parse_terms

from narxbench._fitness.prediction_error import PredictionErrors
from narxbench._fitness.structure_fit import NoiseFilters, fit_noise_model, fit_structure, noise_criterion
from narxbench._model.noise_models import NOISE_NAMES, Ararmax, Ararx, BoxJenkins, Distribution, Narmax, Narx, Noe
from narxbench._numerics.random_streams import generator

TERMS = parse_terms(("y(k-1)", "u(k-1)"))
WEIGHTS = (0.8, 0.5)
# C(q) and D(q) of noise that is not white.
FILTERS = {"narmax": ([1.0, 0.8], [1.0]), "ararx": ([1.0], [1.0, -0.8])}


def errors_of(kind, samples=1200):
    """Return the prediction errors of y(k) = 0.8 y(k-1) + 0.5 u(k-1) with noise of a kind."""
    rng = generator(purpose="fits of one structure", kind=kind)
    u = rng.standard_normal(samples)
    if kind == "tails":
        e = 0.3 * rng.standard_t(3, samples)
    else:
        e = 0.3 * rng.standard_normal(samples)
    moving_average, autoregression = FILTERS.get(kind, ([1.0], [1.0]))
    noise = lfilter(moving_average, autoregression, np.r_[0.0, e[1:]])
    if kind == "noe":
        y = lfilter([0.0, 0.5], [1.0, -0.8], u) + e
    else:
        y = lfilter([0.0, 0.5], [1.0, -0.8], u) + lfilter([1.0], [1.0, -0.8], noise)
    stretches = np.array([[1, samples]])
    return PredictionErrors(SimpleNamespace(training_u=u[:, None], training_y=y, stretches=stretches, monomials=TERMS))


@pytest.mark.parametrize(
    "noise_model",
    [
        *(Narx(), Narmax(ma_lags=(1, 2)), Ararx((1, 2)), Ararmax((1,), (1, 2)), Noe(), BoxJenkins(is_integrated=True)),
        *(BoxJenkins((1,), distribution=Distribution(3.0)), BoxJenkins((1,), (1,), is_integrated=True)),
    ],
)
def test_a_filter_at_a_place_belongs_to_one_family(noise_model):
    filters = NoiseFilters(NOISE_NAMES, largest_order=2)
    options = {"is_integrated": noise_model.is_integrated, "distribution": noise_model.distribution}
    assert filters.noise_model(noise_model.place, noise_model.ar_lags, noise_model.ma_lags, **options) == noise_model


@pytest.mark.parametrize(
    ("kind", "noise_model"),
    [("narx", Narx()), ("narmax", Narmax(ma_lags=(1,))), ("ararx", Ararx((1,))), ("noe", Noe())],
)
def test_the_noise_model_of_the_data_is_found(kind, noise_model):
    errors = errors_of(kind)
    fit = fit_structure(errors, [0, 1], NOISE_NAMES)
    assert fit.noise_model == noise_model
    np.testing.assert_allclose(errors.coefficients(fit), WEIGHTS, atol=0.05)
    plain = errors.fit(Narx(), [0, 1])
    assert noise_criterion(errors, fit) <= noise_criterion(errors, plain)


def test_heavy_tails_are_found_where_they_are_allowed():
    errors = errors_of("tails")
    assert not fit_structure(errors, [0, 1], NOISE_NAMES).noise_model.distribution.is_gaussian
    assert fit_structure(errors, [0, 1], NOISE_NAMES, tails=False).noise_model.distribution.is_gaussian


def test_only_families_that_are_allowed_are_fitted():
    errors = errors_of("narmax")
    assert fit_structure(errors, [0, 1], ["noe"]).noise_model == Noe()
    orders = [len(fit_structure(errors, [0, 1], ["ararx"], largest_order=n).noise_model.ar_lags) for n in (1, 8)]
    assert orders[0] == 1 < orders[1]


@pytest.mark.parametrize(
    "noise_model", [Narmax(ma_lags=(1,)), Ararx((1, 2)), Noe(), Ararx((1,), (), False, Distribution(4.0))]
)
def test_a_fit_hangs_little_on_where_it_begins(noise_model):
    errors = errors_of("narmax")
    anew = fit_noise_model(errors, [0, 1], noise_model)
    following = fit_noise_model(errors, [0, 1], noise_model, anew)
    assert anew.noise_model == following.noise_model == noise_model
    np.testing.assert_allclose(following.weights, anew.weights, rtol=1e-3)
    assert following.objective <= anew.objective * (1 + 1e-9) or following.objective == pytest.approx(anew.objective)
