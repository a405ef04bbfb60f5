"""Checks of data: each finds the fault that is there, and is silent where there is none."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import uniform_filter1d
from scipy.signal import correlate, lfilter
from tests.unit.identification.data.test_sampling import nothing, recording

import narxbench
from narxbench._identification.data import checks, output_checks, responses
from narxbench._identification.data.evidence import input_evidence
from narxbench._identification.data.responses import _correlated
from narxbench._identification.data.sampling import advised_decimations
from narxbench._model.system import system_names
from narxbench._numerics.random_streams import generator


def answer(u, pole=0.8, delay=1):
    return lfilter([0.0] * delay + [1.0], [1.0, -pole], u)


def delays(*pairs):
    return checks.dead_times(recording(*pairs))


def evidence(*pairs, **options):
    data = recording(*pairs)
    return checks.evidence_check(input_evidence(data), checks.dead_times(data), **options)


def excited(u, y, **options):
    finding = checks.excitation_check(recording((u, y)), **options)
    return finding.status, finding.values["inputs"]["a"]["order"]


@pytest.fixture
def ordinary(rng):
    u = rng.uniform(-1, 1, 1000)
    return u, answer(u) + 0.02 * rng.normal(size=1000)


# Squares of a Gaussian input have rare values far from all others.
ALARMS = {"diniz-volterra": {"outliers"}, "forty-terms": {"outliers"}}


@pytest.mark.parametrize("name", system_names())
def test_no_false_alarm_for_systems(name):
    findings = checks.checks_before(recording(narxbench.load_system(name).simulate(1000, snr_db=40)))
    alarms = {finding.name for finding in findings if finding.status != "fine"}
    # Some of these systems are as fast as their samples.
    assert alarms - {"sampling"} == ALARMS.get(name, set())


KINDS = st.sampled_from(["zero", "constant", "two", "normal", "huge", "tiny", "tiniest"])


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 80), st.integers(0, 2), KINDS, st.sampled_from([None, 1, 7]), st.integers(1, 3))
def test_any_data_have_a_plain_answer(samples, inputs, kind, decimation, parts):
    normal = np.random.default_rng(samples).normal(size=(samples, inputs + 1))
    values = {
        **{"zero": 0.0 * normal, "constant": 0.0 * normal + 0.1, "two": (normal > 0.0) * 1.0, "normal": normal},
        **{"huge": 1e9 + normal, "tiny": 1e-30 * normal, "tiniest": 1e-170 * normal},
    }[kind]
    with np.errstate(all="raise", under="ignore"):
        findings = checks.checks_before(recording(*[(values[:, 1:], values[:, 0])] * parts), decimation=decimation)
    for finding in findings:
        assert finding.text
        assert len(json.dumps(finding.values, allow_nan=False)) < 30_000


def test_sampling(rng):
    def status_limit_and_stride(u, y, **options):
        data = recording((u, y), **options)
        sampling = checks.sampling_check(advised_decimations(data), data.sampling_time)
        return sampling.status, sampling.values["limit"], sampling.values["advised"]

    y = 5 + np.sin(2 * np.pi * np.arange(2000) / 480)
    assert status_limit_and_stride(nothing(2000), y, sampling_time=0.5) == ("look", "", 12)
    u = rng.normal(size=2000)
    assert status_limit_and_stride(u, answer(u, 0.99)) == ("fine", "input", 1)
    assert status_limit_and_stride(nothing(300), rng.normal(size=300))[0] == "look"
    assert status_limit_and_stride(nothing(300), np.ones(300))[0] == "bad"


def test_resolution_of_the_output(rng, ordinary):
    u, y = ordinary
    assert not checks.outlier_check(recording((u, y))).values["resolution"]["coarse"]
    coarse = checks.outlier_check(recording((u, np.round(y / 0.4) * 0.4)))
    assert coarse.status == "look" and coarse.values["resolution"]["step"] == pytest.approx(0.4)
    assert checks.outlier_check(recording((u, np.sign(y)))).status == "bad"


def test_limits_of_the_output(rng):
    u = lfilter([1.0], [1.0, -0.9], rng.normal(size=2000))
    y = answer(u)
    assert checks.saturation_check(recording((u, y))).status == "fine"
    cut = np.minimum(y, np.percentile(y, 92))
    finding = checks.saturation_check(recording((u, cut)))
    largest, smallest = finding.values["largest"], finding.values["smallest"]
    assert finding.status == "look" and largest["limited"] and not smallest["limited"]
    assert largest["share"] == pytest.approx(0.08, abs=0.005) and smallest["share"] < 0.01
    assert checks.saturation_check(recording((u, np.maximum(y, np.median(y))))).status == "bad"
    # A coarse output and one that settles are at no limit.
    u = rng.choice([0.0, 1.0], 40).repeat(50)
    for y in (answer(u), np.round(answer(u), 1), u):
        assert checks.saturation_check(recording((u, y))).status == "fine"


@pytest.mark.parametrize("delay", [0, 1, 2, 30])
@pytest.mark.parametrize("kind", ["white", "slow", "held", "square"])
def test_dead_time(rng, delay, kind):
    white = rng.normal(size=3000)
    u = {"slow": lfilter([1.0], [1.0, -0.95], white), "held": white[:300].repeat(10)}.get(kind, white)
    y = answer(u**2 if kind == "square" else u, 0.8, delay) + 0.05 * rng.normal(size=3000)
    inputs = delays((u, y))
    power = 2 if kind == "square" else 1
    assert (inputs["a"]["delay"], inputs["a"]["shown"], inputs["a"]["power"]) == (delay, delay, power)


def test_the_response_that_is_shown_is_that_of_the_input_itself(rng):
    u = rng.normal(size=3000)
    y = answer(u, delay=6) + 2 * answer(u**2, delay=3)
    values = delays((u, y))["a"]
    assert (values["delay"], values["shown"], values["power"]) == (3, 6, 1)
    assert int(np.argmax(np.abs(values["correlations"]) > values["band"])) == 6


def test_dead_time_of_each_input_over_several_records(rng):
    u = rng.normal(size=(3000, 3))
    y = answer(u[:, 0], delay=1) + answer(u[:, 1], delay=5)
    pairs = list(zip(np.split(u, 3), np.split(y, 3), strict=True))
    inputs = delays(*pairs)
    assert [inputs[name]["delay"] for name in "abc"] == [1, 5, None]
    assert not inputs["c"]["seldom"]
    idle = evidence(*pairs)
    assert (idle.status, idle.values["idle"]) == ("look", ["c"])
    assert "no effect of c" in idle.text
    # It acts in a way that correlation does not see.
    assert evidence(*pairs, usage={"c": {"used": True}}).status == "fine"
    # Few changes do not tell.
    u = np.repeat([0.0, 1.0, 0.0, 1.0, 0.0], 200)
    pair = (u, answer(u, delay=5))
    assert (delays(pair)["a"]["delay"], delays(pair)["a"]["seldom"], evidence(pair).status) == (None, True, "fine")


def test_disturbances_of_all_signals_at_once_are_no_effect(rng):
    u = rng.normal(size=30).repeat(50) + 0.01 * rng.normal(size=1500)
    y = answer(u, 0.95, delay=4) + 0.05 * rng.normal(size=1500)
    hit = rng.choice(1500, 4, replace=False)
    u[hit] += 3
    y[hit] += 20
    assert delays((u, y))["a"]["delay"] > 0


def test_excitation_and_rest(rng, ordinary):
    u, y = ordinary
    assert excited(u, y, lags=20) == ("fine", 20)
    assert excited(np.column_stack([np.full(1000, 0.1), u]), y) == ("look", 0)
    for sines in (1, 2):
        signal = sum(np.sin(0.4 * (i + 1) * np.arange(1000)) for i in range(sines))
        assert excited(signal, answer(signal), lags=6) == ("look", 2 * sines)
    # Every 5th sample of a signal of period 10 has two values.
    assert excited(np.tile(rng.normal(size=10), 100), y, decimation=5, lags=6) == ("look", 2)
    busy = rng.normal(size=300)
    u = np.concatenate([busy, np.zeros(700)])
    finding = checks.excitation_check(recording((u, answer(u))))
    assert finding.status == "look" and finding.values["at_rest"] == pytest.approx(0.7, abs=0.05)
    assert checks.excitation_check(recording((busy, answer(busy)))).values["at_rest"] == 0


def test_drift(rng, ordinary):
    u, y = ordinary
    assert checks.drift_check(recording((u, y))).status == "fine"
    finding = checks.drift_check(recording((u, y + np.linspace(0, 10, 1000))))
    (trend,) = finding.values["trends"]
    assert finding.status == "look" and trend["change"] == pytest.approx(10, abs=0.5)
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
        assert checks.drift_check(recording(*[(nothing(300), y) for y in wandering])).status == "fine"
    (offset,) = checks.drift_check(recording(pair(0), pair(0), pair(4))).values["offsets"]
    assert offset["record"] == "record 3" and offset["offset"] == pytest.approx(4, abs=0.5)
    # Of two records neither is the right one.
    assert len(checks.drift_check(recording(pair(0), pair(4))).values["offsets"]) == 2


def test_outliers(rng):
    u = lfilter([1.0], [1.0, -0.95], rng.normal(size=1000))
    y = answer(u, 0.9) + 0.1 * rng.normal(size=1000)
    assert checks.outlier_check(recording((u, y))).values["count"] == 0
    y[[100, 400, 401, 800]] += np.ptp(y)
    finding = checks.outlier_check(recording((u, y)))
    assert [number for _, number, _ in finding.values["samples"]] == [101, 401, 402, 801]
    assert (finding.status, finding.values["count"], finding.values["records"]) == ("look", 4, 1)
    assert checks.outlier_check(recording((u, y), (u, y))).values["records"] == 2
    # Steps, ringing and steps of the resolution are none.
    u = rng.uniform(0.0, 1.0, 40).repeat(50)
    noise = 0.001 * rng.normal(size=2000)
    ringing = lfilter([0.0, 1.0], [1.0, 0.6], u) + noise
    squared = ringing**2 * u
    oscillating = lfilter([0.0, 1.0], [1.0, -1.6, 0.9], u) + noise
    for y in (ringing, squared, oscillating, np.round(oscillating), u):
        assert checks.outlier_check(recording((u, y))).values["count"] == 0


def test_outliers_of_records_that_a_rough_model_sees_a_part_of(ordinary, rng, monkeypatch):
    u, y = ordinary
    spoilt = y.copy()
    spoilt[100:900:100] += np.ptp(y)
    of_all = checks.outlier_check(recording((u, spoilt), (u, y)))
    monkeypatch.setattr(responses, "MOST_OF_ROUGH_MODEL", 300)
    assert checks.outlier_check(recording((u, spoilt), (u, y))).values == of_all.values
    assert of_all.values["count"] == 8


def test_range_of_the_test_records(ordinary):
    u, y = ordinary
    assert checks.test_range_check(recording((u, y))).status == "fine"

    def range_of_test(factor):
        return checks.test_range_check(recording((u, y), (u, factor * y), roles=("estimation", "test")))

    assert [range_of_test(factor).status for factor in (1.0, 1.3, 5.0)] == ["fine", "look", "bad"]
    share = np.mean((5 * y < y.min()) | (5 * y > y.max()))
    values = range_of_test(5.0).values
    assert values["out"]["share"] == pytest.approx(share) and values["a"]["share"] == 0


def test_fewer_rows_than_candidates_are_too_few(ordinary):
    few = evidence(ordinary, candidates=checks.Candidates(286, 100))
    assert (few.status, few.advice) == ("look", "Record more samples.")
    assert evidence(ordinary, candidates=checks.Candidates(10, 1000)).status == "fine"


@pytest.mark.parametrize("samples", [1, 2, 7, 40, 41])
def test_sums_are_those_of_scipy(samples):
    a, b = generator(purpose="test", samples=samples).normal(3.0, size=(2, samples))
    np.testing.assert_allclose(_correlated(a, b), correlate(b, a)[samples - 1 :], rtol=1e-12, atol=1e-12)
    for width in {1, 2, 3, samples, max(1, samples - 1)}:
        expected = uniform_filter1d(np.column_stack([a, b]), width, axis=0, mode="nearest")
        np.testing.assert_allclose(output_checks._moving_mean(np.column_stack([a, b]), width), expected, rtol=1e-12)
    assert output_checks._moving_mean(np.empty((samples, 0)), 2).shape == (samples, 0)
