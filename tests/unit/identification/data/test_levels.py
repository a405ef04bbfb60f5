"""Identification with little effort where the data are unusual: levels, units, seasons, inputs that are not used."""

import warnings

import numpy as np
import pytest
from tests.lookups import item_with
from tests.tiers import mostly_slow

import narxbench
from narxbench import Model, NarxbenchError

TERMS = ("y(k-1)", "u(k-1)", "u(k-1)^2")
SYSTEM = narxbench.System("X", "y(k) = 0.8*y(k-1) + 0.5*u(k-1) + 0.1*u(k-1)^2", n_u=1, n_y=1, degree=2)
U, Y = SYSTEM.simulate(400, snr_db=35)
QUICK = {"decimation": 1, "degree": 2, "y_lags": 2, "u_lags": 2, "effort": 0.1}


def identify_strictly(u, y):
    """Identify a model, where a warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return narxbench.identify(u, y, test="20%", **QUICK)


@pytest.fixture(scope="module")
def plain():
    identification = identify_strictly(U, Y)
    # Signals about zero are taken as they are.
    assert identification.model.terms == TERMS and identification.model.offsets is None
    return identification


def error_of(identification):
    return identification.to_dict()["metrics"]["test"]["free_run"]["rrse"]


@pytest.mark.parametrize(
    ("u_level", "y_level"), mostly_slow([(0.0, 1e6), (0.0, -1e7), (1e7, 0.0), (-1e5, 1e9)], (0.0, -1e7), (-1e5, 1e9))
)
def test_a_level_changes_neither_terms_nor_errors(plain, u_level, y_level):
    identification = identify_strictly(U + u_level, Y + y_level)
    model = identification.model
    assert model.terms == TERMS and model.offsets == (y_level, u_level)
    assert model.coefficients == pytest.approx(plain.model.coefficients, rel=1e-4)
    assert error_of(identification) == pytest.approx(error_of(plain), rel=1e-3)


@pytest.mark.parametrize(
    ("u_unit", "y_unit"), mostly_slow([(1e-150, 1e-150), (1e-150, 1.0), (1e30, 1.0)], (1e-150, 1e-150), (1e30, 1.0))
)
def test_a_unit_changes_neither_terms_nor_errors(plain, u_unit, y_unit):
    identification = identify_strictly(U * u_unit, Y * y_unit)
    assert identification.model.terms == TERMS
    assert error_of(identification) == pytest.approx(error_of(plain), rel=1e-6)


def test_only_inputs_that_a_model_uses_must_stay_in_their_range():
    data = {"u": U, "clock": np.arange(400.0), "y": Y}
    reading = {"data": data, "input": ["u", "clock"], "output": "y", "test": "20%"}
    results = narxbench.identify(**reading, **QUICK), narxbench.look(**reading)
    texts = [item_with(result.checks, name="test-range").text for result in results]
    assert ["clock" in text for text in texts] == [False, True]


def test_a_series_is_judged_over_the_season_after_which_it_repeats_itself():
    draws, months = np.random.default_rng(2), np.arange(144)
    passengers = (5 + np.sin(np.pi * months / 6)) * np.exp(0.01 * months + 0.02 * draws.normal(size=144))
    walk = np.cumsum(draws.normal(size=200))
    for series, seasons in ((passengers, [12]), (walk, [])):
        identification = narxbench.identify(None, series, decimation=1, degree=1, y_lags=2, effort=0.1)
        errors = item_with(identification.summary, name="errors")
        assert errors.values["seasons"] == seasons
        assert ("repeats itself after 12 samples" in errors.text) == (errors.values["steps"] == 12) == bool(seasons)


MODEL = Model(("y(k-1)", "u(k-1)"), (0.5, 1.0), ("u",), "y", units={"u": "V", "y": "cm"}, sampling_time=0.1)


def samples_of_model(step=0.1, input="u [V]", output="y [cm]"):
    """Return samples of a model that are this many seconds apart, in columns of these names."""
    u = np.sin(np.arange(40) ** 1.5)
    return {"t [s]": step * np.arange(40), input: u, output: MODEL.predict(u, [0.0])}


def test_data_of_other_units_or_samplings_are_refused_where_both_are_known():
    def compare(data, **reading):
        return narxbench.compare({"model": MODEL}, data, **reading)

    for data, words in (
        (samples_of_model(output="y [m]"), "data: column y: found in m; needed: in cm, as for the model"),
        (samples_of_model(input="u [mV]"), "data: column u: found in mV; needed: in V, as for the model"),
        (samples_of_model(0.2), r"time: found samples 200 ms apart; needed: 100 ms, as for the model"),
    ):
        with pytest.raises(NarxbenchError, match=words):
            compare(data)
    compare(samples_of_model(input="u", output="y"))
    # The user knows better than the name of a column.
    compare(samples_of_model(output="y [centimetres]"), units={"y": "cm"})
    # The clock may drift, and samples may have no time.
    compare(samples_of_model(0.1005))
    compare(samples_of_model(0.2), time=False)
    # New weights are for the sampling time of the new data.
    assert narxbench.refit(MODEL, samples_of_model(0.2)).sampling_time == pytest.approx(0.2)
    with pytest.raises(NarxbenchError, match="found in m; needed: in cm"):
        narxbench.refit(MODEL, samples_of_model(output="y [m]"))


def test_columns_that_are_named_stand_for_the_inputs_of_all_models_in_order():
    model = Model(("y(k-1)", "u1(k-1)", "u2(k-1)"), (0.5, 1.0, 1.0), ("v", "u"), "y", units={"v": "A"})
    models = {"one": MODEL, "other": model}
    data = samples_of_model(input="a [V]") | {"b [A]": np.ones(40)}
    narxbench.compare(models, data, input=["a", "b"])
    with pytest.raises(NarxbenchError, match=r"column b: found in A; needed: in V"):
        narxbench.compare(models, data, input=["b", "a"])
    with pytest.raises(NarxbenchError, match=r"input: found 1; needed: 2, for u, v"):
        narxbench.compare(models, data, input=["a"])
