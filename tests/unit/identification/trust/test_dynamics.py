"""Gain, poles, settling time, delay and responses of models that are known in closed form, and their intervals."""

import math
from dataclasses import replace

import numpy as np
import pytest

from narxbench._identification.trust.control import control_doubts
from narxbench._identification.trust.dynamics import dynamics, working_point
from narxbench._identification.trust.steady_state import static_curve
from narxbench._model.narx import Model
from narxbench._model.records import Record
from narxbench._numerics.random_streams import generator

A, B = 0.8, 0.5
LINEAR = Model(("y(k-1)", "u(k-2)"), (A, B), inputs=("u",), output="y", covariance=((4e-4, 0.0), (0.0, 1e-4)))


def record(model, samples=400, low=-1.0, high=1.0):
    u = generator(purpose="dynamics").uniform(low, high, (samples, model.n_inputs))
    return Record("a", u, model.predict(u, np.zeros(model.initial_samples)))


def dynamics_of(*models, data=None, richer=None):
    records = [data or record(models[0])]
    point = working_point(models[0], records, static_curve(models[0], records))
    return dynamics(models, records, point, richer)


def check_curve(curve, expected):
    """Check the values of a static curve; there is none outside of the measured outputs."""
    points = [(u, value) for u, value in zip(curve.at, curve.value, strict=True) if value is not None]
    assert len(points) >= 15
    for u, value in points:
        assert value == pytest.approx(expected(u), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("decimation", [1, 3])
def test_a_linear_model_answers_as_its_formulas_say(decimation):
    answer = dynamics_of(replace(LINEAR, decimation=decimation))
    (pole, size), about = answer.poles[0], answer.inputs["u"]
    assert pole == A and size.value == A and len(answer.poles) == 1
    assert about.gain.value == pytest.approx(B / (1 - A), rel=1e-5)
    assert answer.settling.value == pytest.approx(4 / -math.log(A) * decimation, rel=1e-5)
    assert about.delay == [2 * decimation, 2 * decimation]
    steps = np.array(about.step.at) / decimation
    expected = np.where(steps >= 2, B * (1 - A ** (steps - 1)) / (1 - A), 0.0)
    assert about.step.value == pytest.approx(expected.tolist(), rel=1e-5, abs=1e-9)
    check_curve(about.curve, lambda u: B / (1 - A) * u)


def test_an_interval_has_the_width_of_the_covariance():
    answer = dynamics_of(LINEAR)
    # The gain of many draws: b / (1 - a) of normal weights.
    draws = generator(purpose="many draws").normal(size=(100_000, 2)) * (0.02, 0.01) + (A, B)
    low, high = np.quantile(draws[:, 1] / (1 - draws[:, 0]), (0.025, 0.975))
    gain = answer.inputs["u"].gain
    assert (gain.low, gain.high) == pytest.approx((low, high), rel=0.06)
    assert answer.poles[0][1].low == pytest.approx(A - 0.0392, abs=0.006)
    exact = dynamics_of(replace(LINEAR, covariance=None)).inputs["u"].gain
    assert exact.low == exact.value == exact.high


def test_rivals_widen_the_intervals():
    rival = Model(("y(k-1)", "u(k-1)"), (A, 2 * B), inputs=("u",), output="y")
    answer = dynamics_of(replace(LINEAR, covariance=None), rival)
    about = answer.inputs["u"]
    assert answer.models == 2 and about.delay == [1, 2]
    assert about.gain.high == pytest.approx(2 * about.gain.low) and about.gain.value == about.gain.low
    # Rivals of other decimations answer at their own steps.
    slower = dynamics_of(replace(LINEAR, covariance=None), replace(rival, decimation=2))
    assert slower.inputs["u"].step.high[-1] == pytest.approx(10 * B, rel=0.05)


def test_the_slowest_pole_is_uncertain_by_rivals_and_other_poles_by_weights():
    two = Model(("y(k-1)", "y(k-2)", "u(k-1)"), (1.3, -0.4, 0.5), inputs=("u",), output="y")
    answer = dynamics_of(two, replace(LINEAR, covariance=None, coefficients=(0.9, B)))
    (slow, fast), settling = answer.poles, answer.settling
    assert (slow[1].low, slow[1].high) == pytest.approx((0.8, 0.9), rel=1e-5)
    assert (settling.low, settling.high) == pytest.approx((-4 / math.log(0.8), -4 / math.log(0.9)), rel=1e-5)
    assert fast[1].low == fast[1].high == pytest.approx(0.5, rel=1e-5)
    # A rival of decimation 2 has a pole of 0.81 for 0.9 at each sample.
    coarse = replace(LINEAR, covariance=None, coefficients=(0.81, B), decimation=2)
    assert dynamics_of(two, coarse).poles[0][1].high == pytest.approx(0.9, rel=1e-5)
    pair = Model(("y(k-1)", "y(k-2)", "u(k-1)"), (1.0, -0.5, 0.5), inputs=("u",), output="y")
    sizes = [size for _, size in dynamics_of(pair, replace(LINEAR, covariance=None)).poles]
    assert len(sizes) == 2 and sizes[0] == sizes[1] and sizes[0].high == A


def test_a_richer_model_counts_as_much_as_all_others():
    exact = replace(LINEAR, covariance=None)
    rivals = [replace(exact, coefficients=(A, B * (1.0 + 0.01 * number))) for number in range(6)]
    spread = Model(("y(k-1)", "u(k-1)"), (A, 2 * B), inputs=("u",), output="y", covariance=((0.0, 0.0), (0.0, 0.01)))
    about = dynamics_of(*rivals, richer=spread)
    gain = about.inputs["u"].gain
    # 5 % of its draws lie beyond the end, as half of all draws are of it.
    assert gain.high == pytest.approx((2 * B + 1.645 * 0.1) / (1 - A), rel=0.03)
    assert gain.low == pytest.approx(B / (1 - A), rel=1e-4) and about.models == len(rivals)


def test_scaled_models_and_derived_inputs_answer_in_their_own_units():
    scaled = replace(LINEAR, covariance=None, offsets=(3.0, 1.0), scales=(10.0, 4.0))
    about = dynamics_of(scaled).inputs["u"]
    assert about.gain.value == pytest.approx(10 / 4 * B / (1 - A), rel=1e-5)
    terms = ("y(k-1)", "u1(k-1)", "u2(k-1)")
    absolute = Model(terms, (0.5, 1.0, 0.2), inputs=("u", "abs(u)"), output="y")
    u = generator(purpose="derived").uniform(1.0, 2.0, 300)
    inputs = np.column_stack([u, np.abs(u)])
    answer = dynamics_of(absolute, data=Record("a", inputs, absolute.predict(inputs, [0.0])))
    assert list(answer.inputs) == ["u"] and answer.inputs["u"].gain.value == pytest.approx(1.2 / 0.5, rel=1e-5)


def test_a_static_curve_follows_its_branch():
    square = Model(("y(k-1)", "u(k-1)^2"), (0.5, 1.0), inputs=("u",), output="y")
    check_curve(dynamics_of(square).inputs["u"].curve, lambda u: 2 * u * u)


def test_what_is_too_uncertain_is_named():
    def doubts(model, longest=10_000, *rivals):
        answer = dynamics_of(model, *rivals)
        return {doubt.name: doubt.status for doubt in control_doubts(answer, answer.settling.value, longest)}

    sure = replace(LINEAR, covariance=((1e-6, 0.0), (0.0, 1e-6)))
    assert doubts(sure) == {}
    assert doubts(sure, 10) == {"record": "look"}
    rival = Model(("y(k-1)", "u(k-1)"), (A, 2 * B), inputs=("u",), output="y")
    assert doubts(sure, 10_000, rival) == {"gain": "look"}
    assert doubts(sure, 10_000, replace(rival, coefficients=(A, -B))) == {"sign": "bad"}
    assert control_doubts(replace(dynamics_of(sure), unexplained=["residuals and u"]), 1.0, 10)[0].name == "candidates"
    wide = replace(LINEAR, covariance=((0.09, 0.0), (0.0, 1e-6)))
    assert {"stability", "settling"} <= set(doubts(wide))


def test_models_without_a_rest_or_with_very_long_lags_have_no_intervals():
    data = record(LINEAR)
    unstable = replace(LINEAR, coefficients=(1.2, 0.5))
    assert working_point(unstable, [data], static_curve(unstable, [data])) is None
    assert working_point(Model(("y(k-1)",), (0.5,), inputs=(), output="y"), [data], []) is None
    long = Model(("y(k-90)", "u(k-1)"), (0.5, 1.0), inputs=("u",), output="y")
    data = record(long)
    point = working_point(long, [data], static_curve(long, [data], 5))
    assert dynamics([long], [data], point) is None
