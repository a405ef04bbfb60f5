"""Advice is tried: what a check asks for, done as it says, takes away what it warned of."""

import re
import shlex
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter
from tests.command import succeeded
from tests.lookups import item_with, items_by_name

import narxbench

N = 1500
SINGLE_STEP = np.repeat([0.0, 1.0], N // 2)
SEVERAL_STEPS = np.repeat([0.0, 1.0, 0.4, 0.0, 0.7, 0.2], N // 6)


DRAWS = np.random.default_rng(5)
WHITE, OTHER, NOISE = DRAWS.standard_normal((3, N)) * [[1.0], [1.0], [0.02]]
REFERENCE = np.repeat(DRAWS.standard_normal(N // 10), 10)


def first_order(u, pole=0.8, noise=1.0):
    return lfilter([0.0, 1.0 - pole], [1.0, -pole], u) + noise * NOISE[: len(u)]


def loop(extra):
    """Return input and output of a closed loop, with a signal that is added to the input."""
    u, y = np.zeros(N), np.zeros(N)
    for k in range(1, N):
        y[k] = 0.8 * y[k - 1] + 0.5 * u[k - 1] + 5 * NOISE[k]
        u[k] = 0.5 * (REFERENCE[k] - y[k]) + extra[k]
    return {"u": u, "y": y}


def data(u, y, **more):
    return {"u": u, "y": y, **more}


def response(u):
    """Return an input with the output of a process of the first order."""
    return data(u, first_order(u))


def limited(u):
    """Return an input with the output of a slow process whose sensor ends at 0.3."""
    return data(u, np.minimum(first_order(u, 0.9), 0.3))


FINE, CONSTANT = response(WHITE), {**response(WHITE), "b": np.full(N, 4.0)}
FASTER, IS_TEST, SINE = np.repeat(WHITE[: N // 10], 10), np.arange(N) >= 1200, np.sin(0.4 * np.arange(N))
SPOILT = FINE["y"] + np.where(np.isin(np.arange(N), [200, 700, 1200]), 10.0, 0.0)
RAMP = np.linspace(0.0, 5.0, N)
KELVIN = FINE["y"] + np.where(IS_TEST, 293.15, 20.0)
# By advice: the check that gives it, data that it is given on, and data after it was followed.
OF_DATA = {
    "Leave b out": ("evidence", CONSTANT, FINE),
    "record b at several values": ("evidence", CONSTANT, data(WHITE, first_order(WHITE + OTHER), b=OTHER)),
    "Record steps of several sizes": ("evidence", response(SINGLE_STEP), response(SEVERAL_STEPS)),
    "add a signal of your own to u": ("evidence", loop(np.zeros(N)), loop(2 * OTHER)),
    "give it as the input": ("evidence", data(first_order(WHITE), WHITE), FINE),
    "sample faster": ("sampling", data(WHITE[: N // 10], first_order(FASTER)[::10]), response(FASTER)),
    "Look at the data": ("sampling", data(WHITE, np.ones(N)), FINE),
    "measure with a smaller input": ("saturation", limited(WHITE), limited(0.2 * WHITE)),
    "Excite the input at more frequencies": ("excitation", response(SINE), response(SINE + WHITE)),
    "Add the cause as an input": ("drift", data(WHITE, FINE["y"] + RAMP), data(WHITE, FINE["y"] + RAMP, cause=RAMP)),
    "measure with a finer resolution": ("outliers", data(WHITE, np.where(FINE["y"] > 0, 1.0, 0.0)), FINE),
    "are measurement errors": ("outliers", data(WHITE, SPOILT), FINE),
    "estimate from data that cover this range": (
        "test-range",
        response(WHITE + 2 * IS_TEST * WHITE),
        response(3 * WHITE),
    ),
    "in the units of the others": ("test-range", data(WHITE, KELVIN), data(WHITE, FINE["y"] + 20.0)),
}


@cache
def checks_of(advice):
    """Return the check that gives an advice, before and after it was followed."""
    name, *recordings = OF_DATA[advice]
    checks = []
    for signals in recordings:
        inputs = list(filter("y".__ne__, signals))
        checks.append(item_with(narxbench.look(signals, "y", input=inputs, test="20%").checks, name=name))
    return checks


@pytest.mark.parametrize("advice", OF_DATA)
def test_a_check_is_fine_after_its_advice_was_followed(advice):
    before, after = checks_of(advice)
    assert before.status != "fine" and advice in before.advice and advice not in after.advice


def identified(u, y, **settings):
    return narxbench.identify(u, y, **{"decimation": 1, "effort": 0.3, "noise": "narx", **settings})


def errors_of(samples):
    """Return the check of the errors of a model with many terms of this many samples, tested on as many others."""
    u = np.concatenate([WHITE[:samples], OTHER[:400]])
    y = first_order(u, noise=0.0) + 0.3 * np.random.default_rng(4).standard_normal(len(u))
    settings = {"test": (u[samples:], y[samples:]), "degree": 3, "y_lags": 3, "u_lags": 3, "effort": 0.05}
    return items_by_name(identified(u[:samples], y[:samples], **settings).summary)["errors"]


def test_more_data_narrow_the_gap_to_new_data():
    few, many = errors_of(40).values["gap"], errors_of(1000).values["gap"]
    assert few["test"] / few["seen"] > many["test"] / many["seen"]


QUICK = ["--decimation", "1", "--effort", "0.1", "--noise", "narx"]


@pytest.fixture
def command(tmp_path):
    """Return a function that gives a command on some data."""

    def command(signals, *words):
        pd.DataFrame(signals).to_csv(tmp_path / "data.csv", index=False)
        return ["identify", str(tmp_path / "data.csv"), "--input", "u", "--output", "y", *words, *QUICK]

    return command


def advised_options(text):
    """Return the options of the last line of a terminal answer, as they are pasted."""
    advice = " ".join(text[text.index("Next: ") :].split())
    return shlex.split(" ".join(re.findall(r"--[\w-]+ \S+", advice.rstrip(".")))[:200].rstrip(".:"))


def test_data_for_a_test_are_kept_as_the_advice_is_pasted(command):
    words = command(data(WHITE, first_order(WHITE)), "--degree", "1")
    options = advised_options(succeeded(*words))
    assert options == ["--test", "20%"]
    printed = succeeded(*words, *options)
    assert "FINE  To predict" in printed and "No data are kept" not in printed


def test_a_setting_that_is_advised_lowers_the_error_as_it_is_pasted(command):
    u, y = narxbench.load_system("S1").simulate(300, snr_db=40)
    words = command(data(u, y), "--test", "25%")
    printed = succeeded(*words, "--y-lags", "1", "--u-lags", "4-4", "--degree", "1")
    assert "Take --" in printed
    before, promised = map(float, re.findall(r"from (\S+) to (\d\S*?)\.?$", " ".join(printed.split()), re.MULTILINE)[0])
    assert promised < before
    printed = succeeded(*words, "--degree", "1", *advised_options(printed))
    assert float(re.findall(r"^selection, free run +(\S+)", printed, re.MULTILINE)[0]) < before


def steady_states_of(u, y, **settings):
    """Return the check of the steady states of a model of the first order."""
    model = identified(u, y, test="20%", **{"degree": 1, "y_lags": 1, "u_lags": 1, **settings})
    return item_with(model.summary, name="steady_states")


def test_data_that_dwell_at_more_inputs_show_where_it_rests():
    moving, dwelling = np.clip(WHITE, -1, 1), np.repeat(np.linspace(-1, 1, 15), N // 15)
    before = steady_states_of(moving, first_order(moving))
    after = steady_states_of(dwelling, first_order(dwelling))
    assert "Record steady states at more inputs." in before.advice and after.status == "fine"


def test_inputs_that_move_keep_a_model_within_bounds():
    """The process is stable on average, and not where its input is held at the end of its range."""
    process = narxbench.Model(("y(k-1)", "u(k-1)", "y(k-1)*u(k-1)"), (0.8, 0.1, 0.3), ("u",), "y")
    u = np.clip(WHITE, -1, 1)
    check = steady_states_of(u, process.predict(u, [0.0]) + 0.1 * NOISE, degree=2, exclude=["1", "*^2"])
    assert "Use inputs that move" in check.advice
    assert np.abs(process.predict(OTHER.clip(-1, 1), [0.0])).max() < 5.0
    assert np.abs(process.predict(np.ones(200), [0.1])).max() > 1e3


def test_longer_records_have_rows_for_all_candidates():
    settings = {"degree": 2, "y_lags": 5, "u_lags": 5, "effort": 0.01}
    few = identified(WHITE[:50], first_order(WHITE)[:50], **settings)
    enough = identified(WHITE[:400], first_order(WHITE)[:400], **settings)
    assert "Record more samples." in item_with(few.checks, name="evidence").advice
    assert item_with(enough.checks, name="evidence").advice == ""
