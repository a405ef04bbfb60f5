"""Errors that follow from what is known in time are told from noise."""

import numpy as np
import pytest

from narxbench._identification.trust.avoidable import avoidable_share
from narxbench._identification.trust.errors import avoidable_error
from narxbench._identification.trust.validation import Case
from narxbench._model.narx import Model
from narxbench._model.records import Record
from narxbench._numerics.random_streams import generator

COUNT = 600
U = generator(purpose="input of avoidable errors").standard_normal((COUNT, 1))
NOISE = generator(purpose="noise of avoidable errors").standard_normal(COUNT)
TRUE = {"terms": ("y(k-1)", "u(k-1)", "u(k-1)^2"), "coefficients": (0.8, 0.5, 0.3)}
LINEAR = {"terms": ("y(k-1)", "u(k-1)"), "coefficients": (0.8, 0.5)}


def model(terms, coefficients, inputs=("u",)):
    return Model(terms=terms, coefficients=coefficients, inputs=inputs, output="y")


def share_of(predicting, noise, count=COUNT):
    y = model(**TRUE).predict(U, np.zeros(1), samples=COUNT) + noise * NOISE
    return avoidable_share([Case(Record("r", U[:count], y[:count], "test"), predicting, {})], None)


@pytest.mark.parametrize("noise", [0.5, 3.0])
def test_noise_is_not_avoidable(noise):
    assert share_of(model(**TRUE), noise) < 0.05


def test_a_missing_square_is_avoidable():
    assert share_of(model(**LINEAR), 0.1) > 0.8
    assert 0.1 < share_of(model(**LINEAR), 1.5) < 0.8


def test_a_short_record_and_a_run_that_diverges_do_not_tell():
    assert share_of(model(**LINEAR), 0.1, count=30) is None
    assert share_of(model(("y(k-1)", "u(k-1)"), (3.0, 1.0)), 0.1) is None


@pytest.mark.parametrize(("weight", "is_avoidable"), [(0.9, False), (0.3, True)])
def test_a_series_is_foretold_from_its_last_outputs(weight, is_avoidable):
    y = np.zeros(COUNT)
    for k in range(1, COUNT):
        y[k] = 0.9 * y[k - 1] + NOISE[k]
    record = Record("r", np.empty((COUNT, 0)), y, "test")
    share = avoidable_share([Case(record, model(("y(k-1)",), (weight,), ()), {})], 2)
    assert (share > 0.2) is is_avoidable


def test_the_error_that_is_left_is_relative_to_what_can_be_foreseen():
    assert avoidable_error(0.7, 0.0) == 0.0
    assert avoidable_error(0.5, 1.0) == pytest.approx(0.5)
    # Half of the variance is noise: an error of a tenth of the whole is more of the rest.
    assert avoidable_error(0.5**0.5, 0.02) == pytest.approx((0.01 / 0.51) ** 0.5)
