"""A look at measured data: facts that were put in come out, and nothing needs a chosen output."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from tests.lookups import item_with, names_of

import narxbench
from narxbench._identification.data.look import look
from narxbench._identification.data.reading import read_recording
from narxbench._identification.data.spectra import spectra
from narxbench._io.errors import NarxbenchError
from narxbench._numerics.random_streams import generator

RNG = generator(purpose="a look at data")
SAMPLES = 2000
INPUT = RNG.choice([0.0, 2.0, 5.0], SAMPLES // 4).repeat(4)
NOISE = RNG.standard_normal((SAMPLES, 2))


@pytest.fixture(scope="module")
def data():
    """Return a held input of three levels, a constant one, an input without effect, and a slow output with noise."""
    y = np.zeros(SAMPLES)
    for k in range(3, SAMPLES):
        y[k] = 0.8 * y[k - 1] + 0.2 * INPUT[k - 3] + 0.1 * NOISE[k, 0]
    return {"valve": INPUT, "lamp": np.full(SAMPLES, 7.0), "idle": NOISE[:, 1], "level [m]": y}


@pytest.fixture(scope="module")
def whole(data):
    return look(data, "level", input=["valve", "lamp", "idle"], test="20%", sampling_time=0.5)


def test_facts_are_those_of_the_known_samples(whole, data):
    level, valve, lamp, idle = whole.signals
    before_test = slice(0, 1600)
    assert (level.name, level.unit, level.samples, level.levels) == ("level", "m", 1600, 1598)
    assert (level.low, level.high) == (data["level [m]"][before_test].min(), data["level [m]"][before_test].max())
    assert level.test_range == (data["level [m]"][1600:].min(), data["level [m]"][1600:].max())
    assert (valve.low, valve.high, valve.levels) == (0.0, 5.0, 3)
    assert valve.at_high == np.mean(INPUT[before_test] == 5.0) and valve.at_low == np.mean(INPUT[before_test] == 0.0)
    assert valve.changes == np.count_nonzero(np.diff(INPUT[before_test])) and valve.longest_rest % 4 == 0
    assert (lamp.changes, lamp.longest_rest, lamp.noise, lamp.reach) == (0, 1600, 0.0, None)
    # White noise changes as fast as white noise, and a slow signal hardly more than by its noise.
    assert idle.noise == pytest.approx(1.0, abs=0.1) and level.noise < 0.5 * level.deviation


def test_what_can_be_told_apart(whole):
    evidence = item_with(whole.checks, name="evidence")
    inputs = evidence.values["inputs"]
    assert (evidence.status, evidence.values["constant"], evidence.values["idle"]) == ("look", ["lamp"], ["idle"])
    assert inputs["valve"]["delay"] is not None and "no_test" not in names_of(whole.checks)
    # Inputs that change once show no effect by correlation, but may have one.
    step = np.arange(300) > 100
    once = look({"u": step * 1.0, "y": np.convolve(step, 0.9 ** np.arange(80))[:300]}, "y", input="u")
    assert item_with(once.checks, name="evidence").values["idle"] == []
    # Without a test there is advice to keep one.
    assert item_with(once.checks, name="no_test").status == "look"
    assert item_with(look(None, NOISE[:300, 0]).checks, name="evidence").status == "fine"


def test_without_an_output_all_columns_of_numbers_are_signals():
    y = NOISE[:300, 0].copy()
    y[70] += 50
    frame = pd.DataFrame(
        {"t [s]": np.arange(300) / 8, "place": ["here"] * 300, "u": NOISE[:300, 1], "y": y, "none": np.nan}
    )
    overview = look(frame)
    assert names_of(overview.signals) == ["u", "y"]
    assert not overview.has_output and overview.checks == ()
    assert overview.recording.sampling_time == 0.125 and not overview.spectra.coherences
    assert overview.signal_checks["u"][0].status == "fine"
    (outliers,) = overview.signal_checks["y"]
    assert outliers.values["samples"] == [["data", 71, pytest.approx(50, rel=0.1)]]
    assert "Look: y outliers" in repr(overview)
    with pytest.raises(NarxbenchError, match="output: missing"):
        look(frame, input="u")
    with pytest.raises(NarxbenchError, match="output: missing"):
        look({"place": ["here"] * 30})
    # Columns of numbers as names are chosen by their names.
    assert names_of(look(pd.DataFrame({7: y, 1: y + 1})).signals) == ["7", "1"]


def test_unknown_and_former_arguments_are_one_line(data):
    with pytest.raises(NarxbenchError, match=r"separator: found; needed: read={'sep': ';'}, which takes its place"):
        look(data, separator=";")
    with pytest.raises(NarxbenchError, match=r"tme: found; allowed: input, .* \(did you mean 'time'\?\)"):
        look(data, tme=1)


def test_it_is_plain_data(whole, data):
    for overview in (whole, look(data)):
        plain = overview.to_dict()
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain
        assert names_of(plain["signals"]) == names_of(overview.signals)


def test_spectra_show_a_sine_and_what_is_coherent():
    k = np.arange(SAMPLES)
    sine = np.sin(2 * math.pi * k / 16)
    y = np.convolve(NOISE[:, 0], [0.0, 1.0, 0.5])[:SAMPLES] + 0.1 * NOISE[:, 1]
    of_sine = spectra(read_recording({"y": sine + 1e6}, output="y"))
    assert of_sine.frequencies[np.argmax(of_sine.powers["y"])] == 1 / 16
    assert of_sine.powers["y"].sum() == pytest.approx(1.0)
    power = spectra(read_recording({"u": NOISE[:, 0], "y": y}, output="y", input="u"))
    assert power.coherences["u"].mean() > 0.95
    # Unrelated signals exceed the limit of chance at one frequency of twenty.
    exceeding = []
    for seed in range(20):
        unrelated = generator(purpose="unrelated", seed=seed).standard_normal((SAMPLES, 2))
        power = spectra(read_recording({"u": unrelated[:, 0], "y": unrelated[:, 1]}, output="y", input="u"))
        exceeding.append(np.mean(power.coherences["u"] > power.chance))
    assert 0.03 < np.mean(exceeding) < 0.08
    assert spectra(read_recording(input=NOISE[:40], output=y[:40])) is None


@pytest.mark.parametrize("samples", [10, 11, 40, 64])
def test_short_and_constant_records_are_looked_at(samples):
    for y in (NOISE[:samples, 0], np.zeros(samples), np.full(samples, 1e69)):
        overview = narxbench.look({"u": NOISE[:samples, 1], "y": y}, "y", input="u")
        json.dumps(overview.to_dict(), allow_nan=False)
        json.dumps(look({"u": NOISE[:samples, 1], "y": y}).to_dict(), allow_nan=False)


def test_values_without_powers_are_refused():
    with pytest.raises(NarxbenchError, match=r"found values up to 1e\+300; needed: units"):
        look([0.0, 1e300] * 20, [1.0, 2.0] * 20)
