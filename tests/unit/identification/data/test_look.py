"""A look at measured data: facts that were put in come out, and nothing needs a chosen output."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter
from tests.lookups import item_with, names_of, values_of
from tests.readings import look, nothing

import narxbench
from narxbench import NarxbenchError

RNG = np.random.default_rng(20)
SAMPLES = 2000
INPUT = RNG.choice([0.0, 2.0, 5.0], SAMPLES // 4).repeat(4)
NOISE = RNG.standard_normal((SAMPLES, 2))


@pytest.fixture(scope="module")
def data():
    """Return a held input of three levels, a constant one, an input without effect, and a slow output with noise."""
    y = lfilter([0.0, 0.0, 0.0, 0.2], [1.0, -0.8], INPUT) + lfilter([0.1], [1.0, -0.8], NOISE[:, 0])
    return {"valve": INPUT, "lamp": np.full(SAMPLES, 7.0), "idle": NOISE[:, 1], "level [m]": y}


@pytest.fixture(scope="module")
def whole(data):
    return narxbench.look(data, "level", input=["valve", "lamp", "idle"], test="20%", sampling_time=0.5)


def test_facts_are_those_of_the_known_samples(whole, data):
    level, valve, lamp, idle = whole.signals
    before_test = slice(0, 1600)
    before, test = data["level [m]"][before_test], data["level [m]"][1600:]
    assert (level.name, level.unit, level.samples, level.levels) == ("level", "m", 1600, len(np.unique(before)))
    assert (level.low, level.high, level.test_range) == (before.min(), before.max(), (test.min(), test.max()))
    assert (level.mean, level.deviation) == (before.mean(), before.std())
    assert (valve.low, valve.high, valve.levels) == (0.0, 5.0, 3)
    assert valve.at_high == np.mean(INPUT[before_test] == 5.0) and valve.at_low == np.mean(INPUT[before_test] == 0.0)
    assert valve.changes == np.count_nonzero(np.diff(INPUT[before_test])) and valve.longest_rest % 4 == 0
    assert (lamp.changes, lamp.longest_rest, lamp.noise, lamp.reach) == (0, 1600, 0.0, None)
    # White noise changes as fast as white noise, and a slow signal hardly more than by its noise.
    assert idle.noise == pytest.approx(1.0, abs=0.1) and level.noise < 0.5 * level.deviation


def test_a_series_needs_no_input_and_is_to_have_a_test(whole):
    series = look((nothing(300), NOISE[:300, 0]))
    assert item_with(series.checks, name="evidence").status == "fine"
    assert item_with(series.checks, name="no_test").status == "look" and "no_test" not in names_of(whole.checks)


def test_without_an_output_all_columns_of_numbers_are_signals():
    y = NOISE[:300, 0].copy()
    y[70] += 50
    frame = pd.DataFrame(
        {"t [s]": np.arange(300) / 8, "place": ["here"] * 300, "u": NOISE[:300, 1], "y": y, "none": np.nan}
    )
    overview = narxbench.look(frame)
    assert names_of(overview.signals) == ["u", "y"]
    assert not overview.has_output and overview.checks == ()
    assert overview.recording.sampling_time == 0.125 and not overview.spectra.coherences
    assert overview.signal_checks["u"][0].status == "fine"
    (outliers,) = overview.signal_checks["y"]
    assert outliers.values["samples"] == [["data", 71, pytest.approx(50, rel=0.1)]]
    assert "Look: y outliers" in repr(overview)
    for arguments in ({"data": frame, "input": "u"}, {"data": {"place": ["here"] * 30}}):
        with pytest.raises(NarxbenchError, match="output: missing"):
            narxbench.look(**arguments)
    # Columns of numbers as names are chosen by their names.
    assert names_of(narxbench.look(pd.DataFrame({7: y, 1: y + 1})).signals) == ["7", "1"]


def test_it_is_plain_data(whole, data):
    # Also of signals that are constant, tiny and as large as they may be.
    extreme = {"y": NOISE[:12, 1], "zero": np.zeros(12), "tiny": 1e-150 * NOISE[:12, 0], "huge": np.full(12, 1e69)}
    alone = [narxbench.look(extreme, name) for name in extreme]
    together = narxbench.look(extreme, "y", input=["zero", "tiny", "huge"])
    for overview in (whole, narxbench.look(data), *alone, together):
        plain = overview.to_dict()
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain
        assert names_of(plain["signals"]) == names_of(overview.signals)
        assert all(values_of(overview.checks, "text"))


def test_spectra_show_a_sine_and_what_is_coherent():
    sine = np.sin(2 * math.pi * np.arange(SAMPLES) / 16)
    of_sine = look((nothing(SAMPLES), sine + 1e6)).spectra
    assert of_sine.frequencies[np.argmax(of_sine.powers["out"])] == 1 / 16
    assert of_sine.powers["out"].sum() == pytest.approx(1.0)
    y = np.convolve(NOISE[:, 0], [0.0, 1.0, 0.5])[:SAMPLES] + 0.1 * NOISE[:, 1]
    assert look((NOISE[:, 0], y)).spectra.coherences["a"].mean() > 0.95
    # Unrelated signals exceed the limit of chance at one frequency of twenty.
    exceeding = []
    for seed in range(20):
        spectra = look(np.random.default_rng(seed).standard_normal((2, SAMPLES))).spectra
        exceeding.append(np.mean(spectra.coherences["a"] > spectra.chance))
    assert 0.03 < np.mean(exceeding) < 0.08
    assert look((NOISE[:30, 0], y[:30])).spectra is None


def test_values_without_powers_are_refused():
    for size, words in ((1e300, r"found values up to 1e\+300; needed: units"), (1e-170, "found a signal with values")):
        with pytest.raises(NarxbenchError, match=words):
            narxbench.look([0.0, size] * 20, [1.0, 2.0] * 20)
