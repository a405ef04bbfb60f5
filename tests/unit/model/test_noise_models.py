"""Noise models: names, checks of values and filters; innovations are tested with the predictions of models."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narxbench._io.errors import NarxbenchError
from narxbench._model.noise_models import NOISE_MODELS, NOISE_NAMES, is_stable, noise_model_of

FILTERS = {
    "narx": ((), ()),
    "narmax": ((), (0.5, -0.2)),
    "ararx": ((-0.7, 0.1), ()),
    "ararmax": ((-0.7,), (0.5,)),
    "noe": ((), ()),
    "box-jenkins": ((0.0, 0.4), (0.5,)),
}


def test_every_class_has_its_name():
    assert tuple(NOISE_MODELS) == NOISE_NAMES
    assert set(FILTERS) == set(NOISE_NAMES)


@pytest.mark.parametrize("name", FILTERS)
def test_coefficients_that_are_not_zero_are_free(name):
    autoregression, moving_average = FILTERS[name]
    noise = noise_model_of(name, autoregression, moving_average)
    assert noise == NOISE_MODELS[name](noise.ar_lags, noise.ma_lags)
    assert noise.ar_lags == tuple(lag for lag, weight in enumerate(autoregression, 1) if weight)
    assert noise_model_of(name, is_integrated=True, degrees_of_freedom=4.0).n_parameters == 2


@pytest.mark.parametrize("name", FILTERS)
def test_coefficients_that_a_noise_model_does_not_have(name):
    has_autoregression, has_moving_average = map(bool, FILTERS[name])
    for coefficients, is_allowed in ((((0.5,), ()), has_autoregression), (((), (0.5,)), has_moving_average)):
        if is_allowed:
            noise_model_of(name, *coefficients)
        else:
            with pytest.raises(NarxbenchError):
                noise_model_of(name, *coefficients)


@given(st.lists(st.floats(-2, 2), max_size=5))
def test_a_filter_is_stable_if_its_zeros_lie_inside_the_unit_circle(coefficients):
    radius = max(np.abs(np.roots([1.0, *coefficients])), default=0.0)
    if abs(radius - 1.0) > 1e-6:
        assert is_stable(coefficients) == (radius < 1.0)
