"""Checks of data: each finds the fault that is there, and is silent if there is none."""

from pathlib import Path

import numpy as np
import pytest
from scipy.signal import lfilter
from tests.lookups import item_with
from tests.readings import finding, look, nothing, values_of

import narxbench

SYSTEMS = sorted(path.stem for path in (Path(__file__).parents[4] / "config/systems").glob("*.yaml"))
STEP = np.repeat([0.0, 1.0], 50)


def answer(u, pole=0.8, delay=1):
    return lfilter([0.0] * delay + [1.0], [1.0, -pole], u)


def first_order(u, pole=0.8, noise=0.0):
    """Return the output of a system of gain 1 with noise of a fixed draw."""
    return (1.0 - pole) * answer(u, pole) + noise * np.random.default_rng(4).standard_normal(len(u))


def sine(samples, period):
    return np.sin(2 * np.pi * np.arange(samples) / period + 0.3)


# Squares of a Gaussian input have rare values far from all others.
ALARMS = {"diniz-volterra": {"outliers"}, "forty-terms": {"outliers"}}


@pytest.mark.parametrize("name", SYSTEMS)
def test_no_false_alarm_for_systems(name):
    checks = look(narxbench.load_system(name).simulate(1000, snr_db=40)).checks
    alarms = {check.name for check in checks if check.status != "fine"}
    # Some of these systems are as fast as their samples, and none is sampled too fast.
    assert alarms - {"sampling", "no_test"} == ALARMS.get(name, set())
    assert item_with(checks, name="sampling").values["candidates"] == [1]


@pytest.mark.parametrize("duration", [30, 240])
def test_a_held_input_is_reported_by_its_strides(rng, duration):
    u = rng.uniform(-1, 1, 41).repeat(duration)
    y = first_order(u, 1 - 2 / duration)
    # A record that is too short for the stride does not matter.
    sampling = values_of("sampling", (u, y), (u[:12] + 1, y[:12]))
    assert 1 <= sampling["advised"] <= duration and sampling["limit"] == ""
    assert sampling["first_minimum"] / sampling["advised"] <= 30


def test_the_fastest_input_limits_the_stride(rng):
    fast, slow = rng.uniform(-1, 1, 1000).repeat(6), rng.uniform(-1, 1, 12).repeat(500)
    sampling = values_of("sampling", (np.column_stack([slow, fast]), first_order(fast, 0.99)))
    assert sampling["wanted"] > 6 and (sampling["advised"], sampling["limit"]) == (4, "input")
    white = rng.normal(size=2000)
    check = finding("sampling", (white, first_order(white, 0.99)))
    assert (check.status, check.values["limit"], check.values["advised"]) == ("fine", "input", 1)


@pytest.mark.parametrize(("stride", "noise"), [(3, 0.3), (8, 0.0), (15, 0.1)])
def test_data_sampled_too_fast_by_a_known_factor(rng, stride, noise):
    # Each oscillation of 40 samples is at its minimum after 20.
    y = sine(2000, 40 * stride) + noise * rng.normal(size=2000)
    sampling = values_of("sampling", (nothing(2000), y))
    # y^2 about a mean of 0 oscillates twice as fast.
    assert sampling["seen_as"] == "minimum" and abs(sampling["first_minimum"] - 10 * stride) <= stride
    check = finding("sampling", (nothing(2000), 5 + y))
    assert check.status == "look" and abs(check.values["advised"] - stride) <= 1
    assert {1, check.values["advised"]} <= set(check.values["candidates"])


def test_ripple_is_no_minimum_and_noise_does_not_hide_a_decay(rng):
    ripple = 10 + sine(4000, 400) + 0.1 * sine(4000, 5)
    # The correlation of y^2 is 0.95^(2 lag), below 0.05 from lag 30 on; how long the record is does not matter.
    decay = lfilter([1.0], [1.0, -0.95], rng.normal(size=40_000))
    for y, seen_as, lag, tolerance in ((ripple, "minimum", 200, 10), (decay, "decay", 30, 6)):
        sampling = values_of("sampling", (nothing(len(y)), y))
        assert sampling["seen_as"] == seen_as and abs(sampling["first_minimum"] - lag) <= tolerance


def test_sampling_is_that_of_all_known_records(rng):
    known = (5 + sine(4000, 400)).reshape(4, 1000) + 3000 * np.arange(4)[:, None]
    # A constant input does not count.
    assert values_of("sampling", *zip([np.full(1000, 0.3)] * 4, known, strict=True))["advised"] == 10
    noise = nothing(500), rng.normal(size=500)
    with_test = values_of("sampling", (nothing(1000), known[0]), noise, roles={"data 2": "test"})
    assert with_test == values_of("sampling", (nothing(1000), known[0]))
    # Some samples always remain.
    short = values_of("sampling", (nothing(150), 5 + sine(150, 110)))
    assert (short["candidates"], short["advised"], short["limit"]) == ([1, 2], 2, "length")


DRAWS = np.random.default_rng(20181)
U = DRAWS.uniform(-1, 1, 1000)
Y = answer(U) + 0.02 * DRAWS.normal(size=1000)
SLOW = lfilter([1.0], [1.0, -0.9], DRAWS.normal(size=2000))
ONOFF = DRAWS.choice([0.0, 1.0], 40).repeat(50)
RAMP = np.linspace(0, 10, 1000)
BUSY = np.concatenate([DRAWS.normal(size=300), np.zeros(700)])
HALVES = [(U[:500] - 3, answer(U[:500] - 3)), (U[500:] + 3, answer(U[500:] + 3))]
SINES = np.sin(0.4 * np.arange(1000)), np.sin(0.8 * np.arange(1000))
# The check that finds a fault, or none, and the records.
FAULTS = {
    "finely resolved": ("outliers", "fine", [(U, Y)]),
    "coarse": ("outliers", "look", [(U, np.round(Y / 0.4) * 0.4)]),
    "on or off": ("outliers", "bad", [(U, np.sign(Y))]),
    "free": ("saturation", "fine", [(SLOW, answer(SLOW))]),
    "cut off": ("saturation", "look", [(SLOW, np.minimum(answer(SLOW), np.percentile(answer(SLOW), 92)))]),
    "mostly cut off": ("saturation", "bad", [(SLOW, np.maximum(answer(SLOW), np.median(answer(SLOW))))]),
    # A coarse output and one that settles are at no limit.
    "settling": ("saturation", "fine", [(ONOFF, answer(ONOFF))]),
    "settling, coarse": ("saturation", "fine", [(ONOFF, np.round(answer(ONOFF), 1))]),
    "two levels": ("saturation", "fine", [(ONOFF, ONOFF)]),
    "drifting": ("drift", "look", [(U, Y + RAMP)]),
    "drifting as its input": ("drift", "fine", [(U + RAMP, answer(U + RAMP))]),
    "offset as its input": ("drift", "fine", HALVES),
    "excited": ("excitation", "fine", [(U, Y)]),
    "a constant input": ("excitation", "bad", [(np.full(1000, 0.1), Y)]),
    "a constant input of two": ("excitation", "look", [(np.column_stack([np.full(1000, 0.1), U]), Y)]),
    "a sine": ("excitation", "look", [(SINES[0], answer(SINES[0]))]),
    "rest": ("excitation", "look", [(BUSY, answer(BUSY))]),
    "noise": ("sampling", "look", [(nothing(300), U[:300])]),
    "a constant output": ("sampling", "bad", [(U, np.ones(1000))]),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found_and_nothing_else(name):
    check, status, pairs = FAULTS[name]
    assert finding(check, *pairs).status == status


def test_what_is_found_has_its_size():
    assert values_of("outliers", *FAULTS["coarse"][2])["resolution"]["step"] == pytest.approx(0.4)
    sides = values_of("saturation", *FAULTS["cut off"][2])
    assert sides["largest"]["share"] == pytest.approx(0.08, abs=0.005) and not sides["smallest"]["limited"]
    (trend,) = values_of("drift", *FAULTS["drifting"][2])["trends"]
    assert trend["change"] == pytest.approx(10, abs=0.5)
    assert values_of("excitation", (sum(SINES), answer(sum(SINES))))["inputs"]["a"]["order"] == 4
    assert values_of("excitation", *FAULTS["rest"][2])["at_rest"] == pytest.approx(0.7, abs=0.05)


def test_a_slow_wandering_is_no_trend_nor_an_offset_between_records():
    for seed in range(5):
        noise = np.random.default_rng(seed).normal(size=1000)
        assert finding("drift", (U, lfilter([1.0], [1.0, -0.95], noise))).status == "fine"
        wandering = lfilter([1.0], [1.0, -0.97], noise[:900]).reshape(3, 300)
        assert finding("drift", *zip([nothing(300)] * 3, wandering, strict=True)).status == "fine"


def test_offsets_between_records():
    first, second = (U[:300], answer(U[:300])), (U[300:600], answer(U[300:600]))
    shifted = U[600:900], answer(U[600:900]) + 4
    (offset,) = values_of("drift", first, second, shifted)["offsets"]
    assert offset["record"] == "data 3" and offset["offset"] == pytest.approx(4, abs=0.5)
    # Of two records neither is the right one, and of many the first are named.
    assert len(values_of("drift", first, shifted)["offsets"]) == 2
    many = finding("drift", *FAULTS["drifting"][2] * 9)
    assert len(many.values["trends"]) == 9 and "4 more such findings" in many.text


def test_outliers(rng):
    u = lfilter([1.0], [1.0, -0.95], rng.normal(size=1000))
    y = answer(u, 0.9) + 0.1 * rng.normal(size=1000)
    assert values_of("outliers", (u, y))["count"] == 0
    spoilt = y.copy()
    spoilt[[100, 400, 401, 800]] += np.ptp(y)
    check = finding("outliers", (u, spoilt))
    assert [number for _, number, _ in check.values["samples"]] == [101, 401, 402, 801]
    assert (check.status, check.values["count"], check.values["records"]) == ("look", 4, 1)
    assert values_of("outliers", (u, spoilt), (u[::-1], spoilt[::-1]))["records"] == 2
    # They are found as well in a record of which a rough model sees a part.
    long = np.tile(u, 25), np.tile(y, 25)
    long[1][[500, 15_000, 24_000]] += np.ptp(y)
    assert values_of("outliers", long)["count"] == 3
    # Steps, ringing and steps of the resolution are none.
    u = rng.uniform(0.0, 1.0, 40).repeat(50)
    noise = 0.001 * rng.normal(size=2000)
    ringing = lfilter([0.0, 1.0], [1.0, 0.6], u) + noise
    oscillating = lfilter([0.0, 1.0], [1.0, -1.6, 0.9], u) + noise
    for y in (ringing, ringing**2 * u, oscillating, np.round(oscillating), u):
        assert values_of("outliers", (u, y))["count"] == 0


@pytest.mark.parametrize("delay", [0, 1, 30])
@pytest.mark.parametrize("kind", ["white", "slow", "held", "square"])
def test_dead_time(rng, delay, kind):
    white = rng.normal(size=3000)
    u = {"slow": lfilter([1.0], [1.0, -0.95], white), "held": white[:300].repeat(10)}.get(kind, white)
    power = {"square": 2}.get(kind, 1)
    y = answer(u**power, 0.8, delay) + 0.05 * rng.normal(size=3000)
    about = values_of("evidence", (u, y))["inputs"]["a"]
    assert (about["delay"], about["shown"], about["power"]) == (delay, delay, power)
    assert int(np.argmax(np.abs(about["correlations"]) > about["band"])) == delay


def test_dead_time_of_each_input_over_several_records(rng):
    u = rng.normal(size=(3000, 3))
    y = answer(u[:, 0], delay=1) + answer(u[:, 1], delay=5)
    check = finding("evidence", *zip(np.split(u, 3), np.split(y, 3), strict=True))
    assert [check.values["inputs"][name]["delay"] for name in "abc"] == [1, 5, None]
    assert (check.status, check.values["idle"]) == ("look", ["c"]) and "no effect of c" in check.text
    # Few changes do not tell.
    u = np.repeat([0.0, 1.0, 0.0, 1.0, 0.0], 200)
    check = finding("evidence", (u, answer(u, delay=5)))
    assert (check.status, check.values["inputs"]["a"]["delay"]) == ("fine", None)


def test_disturbances_of_all_signals_at_once_are_no_effect(rng):
    u = rng.normal(size=30).repeat(50) + 0.01 * rng.normal(size=1500)
    y = answer(u, 0.95, delay=4) + 0.05 * rng.normal(size=1500)
    hit = rng.choice(1500, 4, replace=False)
    u[hit] += 3
    y[hit] += 20
    assert values_of("evidence", (u, y))["inputs"]["a"]["delay"] > 0


WHITE = np.random.default_rng(3).standard_normal(3000)


CHANGES = [
    ([STEP + 0.01 * WHITE[:100]], 1),
    # Equal steps in two records show no more than one of them; steps up and down do.
    ([STEP, STEP], 1),
    ([STEP, STEP[::-1]], 2),
    ([STEP, 2 * STEP], 2),
    # A ramp passes through all levels, and noise is not held.
    ([np.linspace(0, 1, 400)], 9),
    ([WHITE[:60].repeat(20)], None),
]


@pytest.mark.parametrize(("inputs", "changes"), CHANGES)
def test_different_changes_are_counted(inputs, changes):
    check = finding("evidence", *[(u, 1.5 + answer(u)) for u in inputs])
    assert check.values["inputs"]["a"]["changes"] == changes
    # A single change shows no nonlinear behaviour.
    assert (check.values["degree"] == 1) == ("only degree 1 is searched" in check.text) == (changes == 1)


def test_feedback_is_seen_and_open_loops_have_none(rng):
    reference, noise = rng.standard_normal(150).repeat(10), 0.1 * rng.standard_normal(1500)
    u, y = np.zeros(1500), np.zeros(1500)
    for k in range(1, 1500):
        y[k] = 0.8 * y[k - 1] + 0.5 * u[k - 1] + noise[k]
        u[k] = 0.5 * (reference[k] - y[k])
    closed = finding("evidence", (u, y))
    assert closed.values["under_feedback"] == ["a"] and "closed loop" in closed.text
    # Where the input of a loop is a multiple of the error, its past adds nothing to that of the output until the
    # reference moves.
    assert closed.values["exchanged"] == []
    for signal in (reference, noise, np.sin(0.1 * np.arange(1500)), np.cumsum(noise)):
        assert values_of("evidence", (signal, first_order(signal, noise=0.01)))["under_feedback"] == []


def test_an_output_that_was_given_as_the_input_is_told(rng):
    for signal, noise in ((rng.standard_normal(1500), 0.01), (rng.standard_normal(4000), 0.1)):
        y = first_order(signal, noise=noise)
        exchanged = finding("evidence", (y, signal))
        assert exchanged.values["exchanged"] == ["a"] and "input and output may be exchanged" in exchanged.text
        assert values_of("evidence", (signal, y))["exchanged"] == []


KNOWN, LATER = U[:500], U[500:]


def range_of_test(u, y):
    """Return the finding on a test whose known part has the first half of U as its input."""
    return finding("test-range", (KNOWN, 20 + first_order(KNOWN)), (u, y), roles={"data 2": "test"})


def test_samples_outside_the_known_range():
    checks = [range_of_test(LATER, 20 + factor * first_order(LATER)) for factor in (0.9, 1.3, 4.0)]
    assert [check.status for check in checks] == ["fine", "look", "bad"]
    y, known = 4.0 * first_order(LATER), first_order(KNOWN)
    share = np.mean((y < known.min()) | (y > known.max()))
    assert checks[-1].values["out"]["share"] == pytest.approx(share)


@pytest.mark.parametrize(
    ("scale", "shift", "units"),
    [
        *((1000.0, 0.0, "powers of ten"), (0.01, 0.0, "powers of ten"), (np.pi / 180, 0.0, "radians")),
        *((3.6, 0.0, "kilometres per hour"), (1.8, 32.0, "Fahrenheit"), (1.0, 273.15, "kelvin")),
        # No unit explains these.
        *((0.1, 18.0, None), (10.0, -180.0, None), (1.0, 100.0, None), (1.0, -15.0, None)),
    ],
)
def test_level_and_spread_show_another_unit(scale, shift, units):
    check = range_of_test(LATER, scale * (20 + first_order(LATER)) + shift)
    unit = check.values["out"]["unit"]
    assert check.values["a"]["unit"] is None and (unit is None) == (units is None)
    if unit:
        assert (unit["scale"], unit["shift"]) == pytest.approx((scale, shift)) and units in unit["units"]
        assert check.status != "fine" and "units of the others" in check.advice


def test_a_larger_experiment_and_a_rest_are_in_no_other_unit():
    for u, y in ((6 * LATER, 20 + 6 * first_order(LATER)), (np.zeros(100), np.full(100, 20.0))):
        values = range_of_test(u, y).values
        assert values["out"]["unit"] is None and values["a"]["unit"] is None
