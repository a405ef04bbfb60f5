"""Checks of data: each is shown to find what is there, and to be silent where it is not."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lfilter

import narxbench
from narxbench.identification import checks
from narxbench.identification.sampling import advised_decimations
from narxbench.model.records import Record, Recording
from narxbench.model.structure import column
from narxbench.model.system import system_names
from narxbench.model.terms import monomials_of, term_name


def recording(*pairs, roles=(), **more):
    roles = [*roles, *[None] * len(pairs)]
    records = tuple(
        Record(f"record {i + 1}", np.reshape(u, (len(y), -1)), np.asarray(y, np.float64), role)
        for i, ((u, y), role) in enumerate(zip(pairs, roles, strict=False))
    )
    return Recording(records, ("a", "b", "c")[: records[0].u.shape[1]], "out", **more)


def answer(u, pole=0.8, delay=1):
    return lfilter([0.0] * delay + [1.0], [1.0, -pole], u)


@pytest.fixture
def ordinary(rng):
    u = rng.uniform(-1, 1, 1000)
    return u, answer(u) + 0.02 * rng.normal(size=1000)


def test_ordinary_data_pass_every_check(ordinary):
    u, y = ordinary
    found = checks.checks_before(recording((u[:700], y[:700]), (u[700:], y[700:]), roles=("estimation", "test")))
    assert {check.name: check.status for check in found} == dict.fromkeys(
        ["sampling", "resolution", "saturation", "delay", "excitation", "drift", "outliers", "test-range"], "fine"
    )
    assert all(check.text and not check.advice for check in found)


@pytest.mark.parametrize("name", system_names())
def test_no_false_alarm_for_systems(name):
    found = checks.checks_before(recording(narxbench.load_system(name).simulate(1000, snr_db=40)))
    alarms = {check.name for check in found if check.status != "fine"}
    # Some of these systems are as fast as their samples.
    assert alarms <= {"sampling"}


@settings(max_examples=30, deadline=None)
@given(
    samples=st.integers(1, 80),
    inputs=st.integers(0, 2),
    kind=st.sampled_from(["zero", "constant", "two", "normal", "huge", "tiny", "tiniest"]),
    decimation=st.sampled_from([None, 1, 7]),
    parts=st.integers(1, 3),
)
def test_whatever_the_data_there_is_a_plain_answer(samples, inputs, kind, decimation, parts):
    rng = np.random.default_rng(samples)
    values = {
        "zero": np.zeros((samples, inputs + 1)),
        "constant": np.full((samples, inputs + 1), 0.1),
        "two": rng.choice([0.0, 1.0], (samples, inputs + 1)),
        "normal": rng.normal(size=(samples, inputs + 1)),
        "huge": 1e9 + rng.normal(size=(samples, inputs + 1)),
        "tiny": 1e-30 * rng.normal(size=(samples, inputs + 1)),
        "tiniest": 1e-170 * rng.normal(size=(samples, inputs + 1)),
    }[kind]
    with np.errstate(all="raise", under="ignore"):
        found = checks.checks_before(recording(*[(values[:, 1:], values[:, 0])] * parts), decimation=decimation)
    for check in found:
        assert check.text
        assert len(json.dumps(check.values, allow_nan=False)) < 30_000


def test_sampling_too_fast_is_told_in_samples_and_seconds():
    y = 5 + np.sin(2 * np.pi * np.arange(2000) / 480)
    data = recording((np.empty((2000, 0)), y), sampling_time=0.5)
    found = checks.sampling_check(data, advised_decimations(data))
    assert found.status == "look"
    assert found.text.startswith("The output is sampled about 12 times faster than needed: its correlation first dips ")
    assert "238 samples (119 s)" in found.text
    assert found.advice.startswith("Use every 12th sample")


def test_sampling_is_not_made_slower_than_the_input(rng):
    u = rng.normal(size=2000)
    data = recording((u, answer(u, 0.99)))
    found = checks.sampling_check(data, advised_decimations(data))
    assert (found.status, found.advice) == ("fine", "")
    assert "the input changes too fast" in found.text


def test_coarse_sampling_and_a_constant_output(rng):
    for y, status in ((rng.normal(size=300), "look"), (np.ones(300), "bad")):
        data = recording((np.empty((300, 0)), y))
        assert checks.sampling_check(data, advised_decimations(data)).status == status


def test_resolution(ordinary):
    u, y = ordinary
    assert checks.resolution_check(recording((u, y))).status == "fine"
    coarse = checks.resolution_check(recording((u, np.round(y / 0.4) * 0.4)))
    assert coarse.status == "look"
    assert "one step of 0.4" in coarse.text
    assert coarse.values["out"]["step"] == pytest.approx(0.4)
    assert checks.resolution_check(recording((u, np.sign(y)))).status == "bad"


@pytest.mark.parametrize(
    ("levels", "text"),
    [
        ([0.0, 5.0], "The input has only 2 levels: u^2 is 5 u."),
        ([-1.0, 1.0], "The input has only 2 levels: u^2 is 1."),
        ([2.2, 2.5], "The input has only 2 levels: u^2 is 4.7 u - 5.5."),
        ([-1.0, 0.5, 1.0], "The input has only 3 levels: u^3 is the lower ones and the constant."),
    ],
)
def test_inputs_of_few_levels(rng, levels, text):
    u = rng.choice(levels, 500)
    found = checks.resolution_check(recording((u, answer(u) + 0.01 * rng.normal(size=500))))
    assert (found.status, found.text) == ("look", text)
    second = np.column_stack([rng.normal(size=500), u])
    assert "Input b has" in checks.resolution_check(recording((second, rng.normal(size=500)))).text


def test_limits_of_the_output(rng):
    u = lfilter([1.0], [1.0, -0.9], rng.normal(size=2000))
    y = answer(u)
    assert checks.saturation_check(recording((u, y))).status == "fine"
    cut = np.minimum(y, np.percentile(y, 92))
    found = checks.saturation_check(recording((u, cut)))
    assert found.status == "look"
    assert found.text.startswith("8 % of the output's samples are at its largest value")
    assert found.values["smallest"]["share"] < 0.01
    assert checks.saturation_check(recording((u, np.maximum(y, np.median(y))))).status == "bad"


def test_a_coarse_output_and_one_that_settles_are_not_at_a_limit(rng):
    u = rng.choice([0.0, 1.0], 40).repeat(50)
    for y in (answer(u), np.round(answer(u), 1), u):
        assert checks.saturation_check(recording((u, y))).status == "fine"


def test_dead_time_that_few_changes_do_not_tell():
    u = np.repeat([0.0, 1.0, 0.0, 1.0, 0.0], 200)
    found = checks.delay_check(recording((u, answer(u, delay=5))))
    assert (found.status, found.values["a"]["delay"]) == ("fine", None)
    assert found.text == "The input changes too seldom to tell after how many samples the output follows."


@pytest.mark.parametrize("delay", [0, 1, 2, 7, 30])
@pytest.mark.parametrize("kind", ["white", "slow", "held", "square"])
def test_dead_time(rng, delay, kind):
    white = rng.normal(size=3000)
    u = {
        "white": white,
        "slow": lfilter([1.0], [1.0, -0.95], white),
        "held": white[:300].repeat(10),
        "square": white,
    }[kind]
    y = answer(u**2 if kind == "square" else u, 0.8, delay) + 0.05 * rng.normal(size=3000)
    found = checks.delay_check(recording((u, y)))
    assert found.values["a"]["delay"] == delay
    assert found.status == ("fine" if delay in (1, 2) else "look")
    assert ("u(k)" in found.advice) == (delay == 0)
    if delay == 30:
        assert "3 steps of 10" in checks.delay_check(recording((u, y), sampling_time=0.1), 10).text


def test_dead_time_of_each_input_over_several_records(rng):
    u = rng.normal(size=(3000, 3))
    y = answer(u[:, 0], delay=1) + answer(u[:, 1], delay=5)
    found = checks.delay_check(recording(*[(u[i : i + 1000], y[i : i + 1000]) for i in (0, 1000, 2000)]))
    assert [found.values[name]["delay"] for name in "abc"] == [1, 5, None]
    assert "No effect of input c on the output is seen within 100 samples." in found.text


def test_disturbances_of_all_signals_at_once_are_no_effect(rng):
    u = rng.normal(size=30).repeat(50) + 0.01 * rng.normal(size=1500)
    y = answer(u, 0.95, delay=4) + 0.05 * rng.normal(size=1500)
    hit = rng.choice(1500, 4, replace=False)
    u[hit] += 3
    y[hit] += 20
    assert checks.delay_check(recording((u, y))).values["a"]["delay"] > 0


def test_excitation(rng, ordinary):
    u, y = ordinary
    assert checks.excitation_check(recording((u, y)), lags=20).values["a"]["order"] == 20
    constant = checks.excitation_check(recording((np.column_stack([np.full(1000, 0.1), u]), y)))
    assert (constant.status, constant.advice) == ("bad", "Leave input a out.")
    assert "Input a is constant" in constant.text
    time = np.arange(1000)
    for sines in (1, 2):
        signal = sum(np.sin(0.4 * (i + 1) * time) for i in range(sines))
        found = checks.excitation_check(recording((signal, answer(signal))), lags=6)
        assert (found.status, found.values["a"]["order"]) == ("look", 2 * sines)
    # Every 5th sample of a signal of period 10 has two values.
    found = checks.excitation_check(recording((np.tile(rng.normal(size=10), 100), y)), decimation=5, lags=6)
    assert found.values["a"]["order"] == 2


def test_time_at_rest(rng):
    busy = rng.normal(size=300)
    u = np.concatenate([busy, np.zeros(700)])
    found = checks.excitation_check(recording((u, answer(u))))
    assert found.status == "look"
    assert found.values["at_rest"] == pytest.approx(0.7, abs=0.05)
    assert checks.excitation_check(recording((busy, answer(busy)))).values["at_rest"] == 0


def test_drift(rng, ordinary):
    u, y = ordinary
    assert checks.drift_check(recording((u, y))).status == "fine"
    found = checks.drift_check(recording((u, y + np.linspace(0, 10, 1000))))
    assert found.status == "look"
    assert "record 1 drifts by 1" in found.text or "record 1 drifts by 9" in found.text
    # An input explains it.
    rising = u + np.linspace(0, 10, 1000)
    assert checks.drift_check(recording((rising, answer(rising)))).status == "fine"
    # A slow wandering is no trend.
    for seed in range(10):
        wandering = lfilter([1.0], [1.0, -0.95], np.random.default_rng(seed).normal(size=1000))
        assert checks.drift_check(recording((u, wandering))).status == "fine"


def test_offsets_between_records(rng):
    def pair(offset, mean=0.0):
        u = mean + rng.uniform(-1, 1, 500)
        return u, answer(u) + offset

    assert checks.drift_check(recording(pair(0), pair(0), pair(0))).status == "fine"
    assert checks.drift_check(recording(pair(0, -3), pair(0, 3))).status == "fine"
    for seed in range(10):
        wandering = lfilter([1.0], [1.0, -0.97], np.random.default_rng(seed).normal(size=900)).reshape(3, 300)
        assert checks.drift_check(recording(*[(np.empty((300, 0)), y) for y in wandering])).status == "fine"
    found = checks.drift_check(recording(pair(0), pair(0), pair(4)))
    assert found.status == "look"
    assert found.text.startswith("The output of record 3 lies +")
    assert found.values["offsets"][2]["offset"] == pytest.approx(4, abs=0.5)
    # Of two records neither is the right one.
    assert len(checks.drift_check(recording(pair(0), pair(4))).text.split(". ")) == 2


def test_outliers(rng, ordinary):
    u = lfilter([1.0], [1.0, -0.95], rng.normal(size=1000))
    y = answer(u, 0.9) + 0.1 * rng.normal(size=1000)
    assert checks.outlier_check(recording((u, y))).values["count"] == 0
    wrong = [100, 400, 401, 800]
    spoiled = y.copy()
    spoiled[wrong] += np.ptp(y)
    found = checks.outlier_check(recording((u, spoiled)))
    assert found.status == "look"
    assert [number for _, number, _ in found.values["samples"]] == [101, 401, 402, 801]
    assert found.text.startswith("4 of 1000 samples") and "samples 101, 401, 402, 801" in found.text
    assert "101 of record 2" in checks.outlier_check(recording((u, spoiled), (u, spoiled))).text.replace(",", "")


def test_steps_ringing_and_steps_of_resolution_are_no_outliers(rng):
    u = rng.uniform(0.0, 1.0, 40).repeat(50)
    noise = 0.001 * rng.normal(size=2000)
    ringing = lfilter([0.0, 1.0], [1.0, 0.6], u) + noise
    squared = ringing**2 * u
    oscillating = lfilter([0.0, 1.0], [1.0, -1.6, 0.9], u) + noise
    for y in (ringing, squared, oscillating, np.round(oscillating), u):
        assert checks.outlier_check(recording((u, y))).status == "fine"


def test_range_of_the_test_records(ordinary):
    u, y = ordinary
    assert checks.test_range_check(recording((u, y))).status == "fine"

    def found(factor):
        return checks.test_range_check(recording((u, y), (u, factor * y), roles=("estimation", "test")))

    assert found(1.0).status == "fine"
    assert found(5.0).status == "bad"
    share = np.mean((5 * y < y.min()) | (5 * y > y.max()))
    assert found(5.0).values["out"]["share"] == pytest.approx(share)
    assert found(5.0).values["a"]["share"] == 0
    assert found(1.3).status == "look"


def test_size():
    assert checks.size_check(10, 1000).status == "fine"
    assert checks.size_check(286, 100).status == "look"
    assert "takes about 60 min" in checks.size_check(10, 1000, 3600).text


def candidates(u, y, lags, degree):
    u = np.reshape(u, (len(y), -1))
    factors = [(signal, lag) for signal in range(u.shape[1] + 1) for lag in range(1, lags + 1)]
    monomials = monomials_of(factors, degree)
    rows = np.arange(lags, len(y))
    return np.column_stack([column(u, y, m, rows) for m in monomials]), [term_name(m, u.shape[1]) for m in monomials]


def dependent(columns):
    """Return which columns lie in the span of earlier ones that do not, one by one."""
    scaled = columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
    basis, found = [], []
    for j in range(scaled.shape[1]):
        weights = np.linalg.lstsq(scaled[:, basis], scaled[:, j], rcond=None)[0]
        distance = np.linalg.norm(scaled[:, j] - scaled[:, basis] @ weights)
        (found if distance < 1e-8 else basis).append(j)
    return found


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.choice([0.0, 5.0], n),
        lambda rng, n: rng.choice([2.2, 2.5], n),
        lambda rng, n: rng.choice([-1.0, 0.0, 2.0], n),
        lambda rng, n: rng.choice([1.0, 2.0], n // 50).repeat(50),
        lambda rng, n: rng.choice([0.0, 1.0], n, p=[0.995, 0.005]),
        lambda rng, n: np.sin(0.7 * np.arange(n)),
        lambda rng, n: rng.normal(size=n),
        lambda rng, n: rng.normal(size=n // 50).repeat(50),
        lambda rng, n: np.zeros(n),
        lambda rng, n: np.column_stack([rng.choice([0.0, 1.0], n)] * 2),
        lambda rng, n: np.column_stack([rng.normal(size=n), rng.choice([0.0, 1.0], n)]),
    ],
)
def test_what_is_dropped_is_what_depends(rng, draw):
    u = draw(rng, 2000)
    y = answer(u.reshape(2000, -1)[:, 0]) + 0.1 * rng.normal(size=2000)
    columns, terms = candidates(u, y, 2, 3)
    assert list(checks.collinear(columns, terms)) == [terms[j] for j in dependent(columns)]


def test_reasons_are_true(rng):
    u = rng.choice([2.2, 2.5], 1000)
    columns, terms = candidates(u, answer(u) + rng.normal(size=1000), 2, 2)
    assert checks.collinear(columns, terms) == {
        "u(k-1)^2": "u(k-1)^2 is 4.7 u(k-1) - 5.5",
        "u(k-2)^2": "u(k-2)^2 is 4.7 u(k-2) - 5.5",
    }
    twice = np.column_stack([columns[:, 1], 2 * columns[:, 1], 0 * columns[:, 1]])
    assert checks.collinear(twice, ["p", "q", "z"]) == {"q": "q is 2 p", "z": "z is zero in every row"}


def test_rows_that_refute_a_combination_are_found(rng):
    columns = rng.normal(size=(20_000, 3))
    # All but one row say that the last two columns are equal.
    columns[:, 2] = columns[:, 1]
    columns[12_345, 2] += 1.0
    assert checks.collinear(columns, list("abc")) == {}
    # Of norm 1, and elsewhere zero.
    columns[:, 2] = np.arange(20_000) == 77
    assert checks.collinear(columns, list("abc")) == {}


def test_too_few_rows_are_no_reason_to_drop(rng):
    assert checks.collinear(rng.normal(size=(30, 100)), [f"x{i}" for i in range(100)]) == {}
    assert checks.collinear(np.empty((0, 0)), []) == {}


def test_nearly_alike_is_told_and_not_dropped(rng):
    x = rng.normal(size=(1000, 3))
    columns = np.column_stack([np.ones(1000), x, x[:, 1] + 0.01 * rng.normal(size=1000)])
    terms = ["1", "a", "b", "c", "d"]
    dropped = checks.collinear(columns, terms)
    assert dropped == {}
    found = checks.collinear_check(columns, terms, dropped)
    assert found.status == "look"
    assert (found.values["near_pairs"], found.values["worst"][:2]) == (1, ["b", "d"])
    assert checks.collinear_check(columns[:, :4], terms[:4], {}).status == "fine"
    both = checks.collinear_check(columns, terms, {"d": "d is b"})
    assert (both.values["near_pairs"], both.status) == (0, "look")
    assert "1 of 5 candidates" in both.text and "d is b" in both.text
