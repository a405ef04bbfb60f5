"""Bands hold the share of samples that they say, and come from errors on data that the weights did not know."""

import math
from dataclasses import replace

import numpy as np
import pytest

import narxbench
from narxbench import NarxbenchError
from narxbench._identification.data.arrangement import N_PARTS, Arrangement
from narxbench._identification.trust.bands import BAND, Unseen, unseen_errors
from narxbench._model.records import Record

QUICK = {"decimation": 1, "effort": 0.3, "degree": 2}


@pytest.fixture(scope="module")
def data():
    return narxbench.load_system("S1").simulate(1600, snr_db=30)


@pytest.fixture(scope="module")
def identification(data):
    u, y = np.array(data)[:, :800]
    return narxbench.identify(input=u, output=y, test="25%", y_lags=2, u_lags=2, **QUICK)


@pytest.mark.parametrize("steps", [None, 1])
@pytest.mark.parametrize("confidence", [0.5, 0.9])
def test_a_band_holds_its_share_of_fresh_samples(identification, data, steps, confidence):
    u, y = np.array(data)[:, 800:]
    lower, upper = identification.bands(u, y, confidence, steps=steps)
    first = identification.model.initial_samples
    assert np.mean((lower <= y) & (y <= upper)) == pytest.approx(confidence, abs=0.06)
    np.testing.assert_allclose((lower + upper) / 2, identification.model.predict(u, y, steps), rtol=1e-12, atol=1e-12)
    assert (lower[:first] == y[:first]).all() and (upper[:first] == y[:first]).all()
    assert (upper[first:] > lower[first:]).all()


def test_the_result_tells_width_and_coverage_of_the_test_data(identification, data):
    reported = identification.to_dict()["bands"]
    u, y = np.array(data)[:, 600:800]
    lower, upper = identification.bands(u, y, reported["confidence"])
    first = identification.model.initial_samples
    assert reported["free_run"]["half_width"] == pytest.approx((upper - lower)[-1] / 2)
    assert reported["free_run"]["test_coverage"] == np.mean(((lower <= y) & (y <= upper))[first:])
    assert reported["one_step"]["parts"] == N_PARTS
    recording = replace(identification.recording, records=identification.recording.known)
    without_test = replace(identification, recording=recording).to_dict()["bands"]
    assert without_test["free_run"] == {**reported["free_run"], "test_coverage": None}


def test_how_much_wider_than_the_quantile_a_band_is():
    """Compare independent samples with four parts of which one is ten times as wrong as the others."""
    errors = np.abs(np.random.default_rng(1).normal(size=(8, 500)))
    assert Unseen(tuple(np.sort(errors, axis=1))).half_width(0.9) == pytest.approx(np.quantile(errors, 0.9), rel=0.03)
    errors = errors[:4] * [[1.0], [1.0], [1.0], [10.0]]
    assert Unseen(tuple(np.sort(errors, axis=1))).half_width(0.9) > 1.3 * np.quantile(errors, 0.9)


def test_records_of_the_role_selection_are_judged_by_the_whole_model(data):
    u, y = data
    frames = [{"u": u[i : i + 400], "y": y[i : i + 400]} for i in (0, 400)]
    roles = {"data 1": "estimation", "data 2": "selection"}
    identification = narxbench.identify(frames, input="u", output="y", roles=roles, y_lags=2, u_lags=2, **QUICK)
    errors = np.abs(y[400:800] - identification.model.predict(u[400:800], y[400:800]))
    (part,) = identification.unseen["free_run"].parts
    expected = np.sort(errors[identification.model.initial_samples :])
    np.testing.assert_allclose(part, expected, rtol=1e-12, atol=1e-14)


class TwoWeights:
    """Models y(k) = a y(k-1): the weights without part 0 let y explode, the others are right."""

    def __init__(self, model, record):
        self.searched, self.model = [record], model
        self.turns = Arrangement([record], 1, 1, n_parts=2)

    def unknowing(self, part):
        return replace(self.model, coefficients=(3.0 if part == 0 else 0.5,))


def test_a_run_that_diverges_has_infinite_errors():
    model = narxbench.Model(terms=("y(k-1)",), coefficients=(0.5,), inputs=(), output="y")
    y = 0.5 ** np.arange(61.0)
    unseen = unseen_errors(TwoWeights(model, Record("all", np.zeros((61, 0)), y)), model)
    assert np.isinf(unseen.parts[0]).all() and (unseen.parts[1] == 0).all()
    assert unseen.half_width(BAND) is None


@pytest.mark.parametrize(("option", "value"), [("confidence", 1), ("confidence", "x"), ("steps", 2)])
def test_other_bands_are_refused(identification, data, option, value):
    with pytest.raises(NarxbenchError, match=f"{option}: found"):
        identification.bands(*data, **{option: value})


def test_a_band_needs_finite_errors(identification, data):
    part, lost = np.arange(1.0, 11.0), np.full(10, math.inf)
    assert Unseen(()).half_width(0.9) is Unseen((part, lost)).half_width(0.9) is None
    assert Unseen((part,)).half_width(0.5) == 6.0
    without = replace(identification, unseen={kind: Unseen((lost,)) for kind in identification.unseen})
    with pytest.raises(NarxbenchError, match=r"no band holds 0\.9"):
        without.bands(*data)
    reported = without.to_dict()["bands"]["free_run"]
    assert reported["half_width"] is None and reported["test_coverage"] is None
