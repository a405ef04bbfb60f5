"""Which structure is selected: under which noise model, before which simple models, and what is tried besides."""

import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter
from tests.lookups import item_with, names_of, values_of
from tests.tiers import mostly_slow

import narxbench

QUICK = {"decimation": 1, "effort": 0.05}
OF_ONE_LAG = {**QUICK, "degree": 1, "y_lags": 1, "u_lags": 1}


# The noise model.


def noisy(noise_model, samples=1500, size=0.5):
    """Return input and output of y(k) = 0.8 y(k-1) + u(k-1) with noise of a kind."""
    rng = np.random.default_rng(len(noise_model))
    u, e = rng.standard_normal((2, samples)) * [[1.0], [size]]
    noise = {"narx": e, "narmax": lfilter([1.0, 0.7], [1.0], e), "ararx": lfilter([1.0], [1.0, -0.8], e)}
    y = lfilter([1.0], [1.0, -0.8], np.r_[0.0, u[:-1]] + noise.get(noise_model, 0.0))
    return u, y + e * (noise_model == "noe")


@pytest.mark.parametrize("noise_model", mostly_slow(["narx", "narmax", "ararx", "noe"], "noe"))
def test_the_noise_model_of_the_data_is_chosen(noise_model):
    u, y = noisy(noise_model)
    identification = narxbench.identify(u, y, **OF_ONE_LAG)
    model = identification.model
    choice = item_with(identification.notes, name="noise_model").values
    assert choice["chosen"] == model.noise_model == noise_model and choice["tied"] >= 1
    assert set(names_of(choice["best"])) >= {"narx", noise_model}
    assert set(model.terms) == {"y(k-1)", "u(k-1)"}
    # Weights under the noise model of the data have no bias.
    weight = item_with(identification.weights, term="y(k-1)")
    assert abs(weight["coefficient"] - 0.8) < 4 * weight["standard_error"] < 0.2


# Simple models that compete with the sparse one.


def competition(identification):
    return item_with(identification.summary, name="competitors")


@pytest.mark.parametrize("number", mostly_slow([1, 2, 3], 2))
def test_no_competitor_of_a_series_as_good_one_step_ahead_is_better_farther_ahead(number):
    """The level of a slow series gains little in one step, and much farther ahead."""
    y, e = np.full(700, 20.0), np.random.default_rng(number).standard_normal(700)
    for k in range(2, 700):
        y[k] = 0.06 + 1.6 * y[k - 1] - 0.603 * y[k - 2] + 0.1 * e[k]
    note = competition(narxbench.identify({"y": y}, "y", degree=1, y_lags=3, **QUICK))
    ahead = {row["name"]: row["ahead"] for row in note.values["rows"] if "ahead" in row}
    assert len(ahead) > 1 and note.values["steps_ahead"] > 10
    assert ahead[note.values["selected"]] <= 1.05 * min(ahead.values())


def errors_of(note):
    """Return the error of each of the models that a note compares, by name."""
    return pd.DataFrame(note.values["rows"]).set_index("name")["rrse"]


@pytest.mark.parametrize("system", ["S1", "S2"])
def test_a_sparse_nonlinear_truth_is_selected(system):
    u, y = narxbench.load_system(system).simulate(400, snr_db=30)
    identification = narxbench.identify(u, y, degree=2, y_lags=2, u_lags=2, **QUICK)
    assert list(identification.models) == ["sparse"]
    note = competition(identification)
    errors = errors_of(note)
    assert note.values["selected"] == "sparse" and errors["sparse"] <= 1.05 * errors.min()


def test_where_nothing_beats_the_last_value_it_is_selected(rng, tmp_path):
    experiments = []
    for level in rng.standard_normal(8):
        experiments.append({"u": rng.standard_normal(40), "y": level + 0.1 * rng.standard_normal(40)})
    identification = narxbench.identify(experiments, "y", input="u", noise="narx", **OF_ONE_LAG)
    assert list(identification.models) == ["last value", "sparse"]
    assert identification.model.equation().startswith("y(k) = 1 y(k-1)")
    note, sparse = competition(identification), identification.models["sparse"]
    errors = errors_of(note)
    assert note.status == "look" and errors["sparse"] > 1.05 * errors["last value"]
    cost = f"its RRSE is {errors['last value']:.3g}, that of the sparse model"
    assert cost in narxbench.write_report(identification, tmp_path).read_text().replace("&nbsp;", " ")
    assert narxbench.Model.load(tmp_path / "model_sparse.json").coefficients == sparse.coefficients
    run = identification.model.predict(experiments[0]["u"], experiments[0]["y"])
    assert set(run) == {experiments[0]["y"][0]}


# Other settings are tried before they are advised.


def attempts_of(data, **settings):
    """Return what was tried for a model of some data that one should not predict with as it is."""
    identification = narxbench.identify(data, "y", input="u", **{**OF_ONE_LAG, "noise": "narx", **settings})
    return item_with(identification.summary, name="to_predict").values["attempts"]


def test_fixed_settings_are_freed():
    u, y = narxbench.load_system("S1").simulate(300, snr_db=40)
    # A pattern that matches no candidate of the scanned lags: that attempt has no error.
    settings = {"u_lags": [9], "exclude": ["*u(k-9)^2*"], "degree": 2}
    tried = attempts_of({"u": u, "y": y}, **settings)
    assert values_of(tried["rows"], "settings") == [["y_lags", "u_lags"], ["degree"], ["decimation"]]
    assert values_of(tried["rows"], "value") == ["auto"] * 3 and tried["rows"][0]["rrse"] is None
    # What was scanned is compared by the best of each value.
    tried = attempts_of({"u": u, "y": y}, u_lags=[4], degree=[1, 2], effort=0.2, test="25%")
    assert tried["rows"][0]["settings"] == ["degree"] and tried["rows"][0]["value"] in (1, 2)
    assert tried["better"]["settings"] == ["y_lags", "u_lags"] and tried["better"]["rrse"] < 0.9 * tried["error"]


def test_lags_of_the_seasons_of_an_output_with_inputs_are_tried(rng):
    y = 10.0 + np.sin(2 * np.pi * np.arange(240) / 12) + 0.1 * rng.standard_normal(240)
    tried = attempts_of({"u": rng.standard_normal(240), "y": y}, y_lags="auto")
    last = tried["rows"][-1]
    assert last["settings"][0] == "y_lags" and last["value"].startswith("1,2,3,12,13")


def test_other_settings_are_not_tried_where_the_error_is_small():
    u, y = narxbench.load_system("S1").simulate(300, snr_db=60)
    settings = {"degree": 2, "y_lags": 1, "u_lags": 1, "decimation": 1, "effort": 0.3}
    to_predict = narxbench.identify(u, y, **settings).summary[0]
    # Without a test one should look all the same.
    assert (to_predict.name, to_predict.status, to_predict.values["attempts"]) == ("to_predict", "look", None)
    # There is nothing to try where nothing is fixed, and time for one configuration only.
    u, y = noisy("narx", samples=300, size=2.0)
    to_predict = narxbench.identify(u, y, effort=1e-9, noise="narx").summary[0]
    assert not to_predict.values["noise"] and to_predict.values["attempts"] is None
