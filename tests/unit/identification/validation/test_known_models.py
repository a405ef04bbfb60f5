"""Known models against closed forms and simulation: steady states, gains, poles, responses, and their intervals."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.lookups import values_of

from narxbench import Model, StructureProblem
from narxbench._identification.validation.control import control_doubts
from narxbench._identification.validation.dynamics import dynamics, working_point
from narxbench._identification.validation.probabilities import DIVERGES, TOO_FEW, structure_certainty
from narxbench._identification.validation.steady_state import measured_static_points, static_curve
from narxbench._model.noise_models import Narx, Noe
from narxbench._model.records import Record

A, B = 0.8, 0.5
LINEAR = Model(("y(k-1)", "u(k-2)"), (A, B), inputs=("u",), output="y", covariance=((4e-4, 0.0), (0.0, 1e-4)))
EXACT = replace(LINEAR, covariance=None)
RIVAL = Model(("y(k-1)", "u(k-1)"), (A, 2 * B), inputs=("u",), output="y")


def record(model):
    u = np.random.default_rng(1).uniform(-1.0, 1.0, (400, model.n_inputs))
    return Record("a", u, model.predict(u, np.zeros(model.initial_samples)))


def dynamics_of(*models, data=None):
    records = [data or record(models[0])]
    point = working_point(models[0], records, static_curve(models[0], records))
    return dynamics(models, records, point)


@pytest.mark.parametrize("r", [0.5, 2.0, 2.9, 3.9])
def test_logistic_map(r):
    # y = r y (1 - y) rests at 0, with the derivative r, and at 1 - 1/r, with 2 - r.
    series = Record("series", np.empty((3, 0)), np.array([0.0, 0.5, 1.0]))
    curve = static_curve(Model(("y(k-1)", "y(k-1)^2"), (r, -r), inputs=(), output="y"), [series])
    for point, (y, size) in zip(curve, sorted([(0.0, r), (1 - 1 / r, abs(2 - r))]), strict=True):
        assert (point.signal, point.u, point.y) == (None, None, pytest.approx(y, abs=1e-9))
        assert (point.stable, point.inside) == (size < 1, -0.1 <= y <= 1.1)
        settling = None if size >= 1 else 4 / -math.log(size) if size > 1e-9 else 0
        assert point.settling_steps == pytest.approx(settling)


@pytest.mark.parametrize("c", [0.0, 1e-14, 7.5e-13, 1e-9, -1e-12])
def test_a_tiny_weight_of_higher_degree_costs_no_digits(c):
    terms = ("y(k-1)*y(k-2)", "u1(k-1)", "y(k-2)*u2(k)")
    model = Model(terms, (c, 0.3, 0.2), inputs=("one", "two"), output="y")
    rest = model.linearised((1.0, 0.5), y0=0.0)
    assert (rest.y, np.abs(rest.poles).max()) == pytest.approx((1 / 3, math.sqrt(0.1)), rel=1e-8)


def test_the_curve_of_several_inputs():
    model = Model(("y(k-1)", "u1(k-1)", "u2(k-1)"), (0.5, 1.0, 10.0), inputs=("valve", "lid"), output="y")
    u = np.array([[0.0, 3.0], [1.0, 3.0], [5.0, 4.0]])
    curve = static_curve(model, [Record("a", u, np.array([60.0, 64.0, 70.0]))], points=3)
    # Outputs from 60 to 70, and a tenth of that on both sides, are inside.
    assert [(point.signal, point.u, round(point.y, 9), point.inside) for point in curve] == [
        *(("valve", 0.0, 60.0, True), ("valve", 2.5, 65.0, True), ("valve", 5.0, 70.0, True)),
        *(("lid", 3.0, 62.0, True), ("lid", 3.5, 72.0, False), ("lid", 4.0, 82.0, False)),
    ]
    assert (values_of(curve, "stable"), values_of(curve, "eigenvalue")) == ([True] * 6, [0.5] * 6)


def test_inputs_at_which_nothing_rests():
    # y = y + y^2 + u has no real solution for u > 0.
    model = Model(("y(k-1)", "y(k-1)^2", "u(k-1)"), (1.0, 1.0, 1.0), inputs=("u",), output="y")
    curve = static_curve(model, [Record("a", np.array([[-1.0], [1.0]]), np.array([-2.0, 2.0]))], points=3)
    assert [(point.u, point.y, point.eigenvalue, point.stable) for point in curve] == [
        *((-1.0, -1.0, 1.0, False), (-1.0, 1.0, 3.0, False), (0.0, 0.0, 1.0, False), (0.0, 0.0, 1.0, False)),
        (1.0, None, None, False),
    ]


def test_rests_of_the_data():
    model = Model(("y(k-1)", "u(k-1)"), (0.8, 0.4), inputs=("u",), output="y", decimation=2)
    rng = np.random.default_rng(2)
    # Levels of 100, 10 and 100 samples, and then a slow ramp.
    u = np.r_[np.full(100, 1.0), np.full(10, 5.0), np.full(100, 3.0), np.linspace(3.5, 9, 50)]
    u += 0.02 * rng.normal(size=len(u))
    y = model.predict(u, np.full(2, 2.0)) + 0.05 * rng.normal(size=len(u))
    for rest, level in zip(measured_static_points(model, [Record("a", u[:, None], y)]), (1.0, 3.0), strict=True):
        # The gain is 0.4 / (1 - 0.8) = 2.
        assert (rest.u, rest.y) == ((pytest.approx(level, abs=0.02),), pytest.approx(2 * level, abs=0.05))
        assert rest.model_y == pytest.approx(2 * rest.u[0]) and 98 <= rest.samples <= 100
        assert rest.deviation == pytest.approx(abs(rest.y - rest.model_y) / np.ptp(y))
    unstable = replace(model, coefficients=(1.8, 0.4))
    first, second = measured_static_points(unstable, [Record("a", u[:, None], y)])
    assert first.model_y is first.deviation is second.model_y is second.deviation is None
    # An output that still moves is no rest.
    moving = y + 0.1 * np.arange(len(y))
    assert measured_static_points(model, [Record("a", u[:, None], moving)]) == []


def check_curve(curve, expected):
    """Check the values of a static curve; there is none outside of the measured outputs."""
    points = pd.Series(curve.value, curve.at, dtype=float).dropna()
    assert len(points) >= 15
    assert points.tolist() == pytest.approx(list(map(expected, points.index)), rel=1e-4, abs=1e-5)


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
    draws = np.random.default_rng(3).normal(size=(100_000, 2)) * (0.02, 0.01) + (A, B)
    low, high = np.quantile(draws[:, 1] / (1 - draws[:, 0]), (0.025, 0.975))
    gain = answer.inputs["u"].gain
    assert (gain.low, gain.high) == pytest.approx((low, high), rel=0.06)
    assert answer.poles[0][1].low == pytest.approx(A - 0.0392, abs=0.006)
    exact = dynamics_of(EXACT).inputs["u"].gain
    assert exact.low == exact.value == exact.high
    # Weights that vary together only: their covariance is singular.
    together = replace(LINEAR, covariance=((4e-4, 1e-3), (1e-3, 2.5e-3)))
    gain = dynamics_of(together).inputs["u"].gain
    assert gain.low < 2.0 and gain.high > 3.0


def test_rivals_widen_the_intervals():
    answer = dynamics_of(EXACT, RIVAL)
    about = answer.inputs["u"]
    assert answer.models == 2 and about.delay == [1, 2]
    assert about.gain.high == pytest.approx(2 * about.gain.low) and about.gain.value == about.gain.low
    # Rivals of other decimations answer at their own steps.
    slower = dynamics_of(EXACT, replace(RIVAL, decimation=2))
    assert slower.inputs["u"].step.high[-1] == pytest.approx(10 * B, rel=0.05)


def test_the_slowest_pole_is_uncertain_by_rivals_and_other_poles_by_weights():
    two = Model(("y(k-1)", "y(k-2)", "u(k-1)"), (1.3, -0.4, 0.5), inputs=("u",), output="y")
    answer = dynamics_of(two, replace(EXACT, coefficients=(0.9, B)))
    (slow, fast), settling = answer.poles, answer.settling
    assert (slow[1].low, slow[1].high) == pytest.approx((0.8, 0.9), rel=1e-5)
    assert (settling.low, settling.high) == pytest.approx((-4 / math.log(0.8), -4 / math.log(0.9)), rel=1e-5)
    assert fast[1].low == fast[1].high == pytest.approx(0.5, rel=1e-5)
    # A rival of decimation 2 has a pole of 0.81 for 0.9 at each sample.
    coarse = replace(EXACT, coefficients=(0.81, B), decimation=2)
    assert dynamics_of(two, coarse).poles[0][1].high == pytest.approx(0.9, rel=1e-5)


def test_scaled_models_and_derived_inputs_answer_in_their_own_units():
    scaled = replace(EXACT, offsets=(3.0, 1.0), scales=(10.0, 4.0))
    about = dynamics_of(scaled).inputs["u"]
    assert about.gain.value == pytest.approx(10 / 4 * B / (1 - A), rel=1e-5)
    terms = ("y(k-1)", "u1(k-1)", "u2(k-1)")
    absolute = Model(terms, (0.5, 1.0, 0.2), inputs=("u", "abs(u)"), output="y")
    u = np.random.default_rng(4).uniform(1.0, 2.0, 300)
    inputs = np.column_stack([u, np.abs(u)])
    answer = dynamics_of(absolute, data=Record("a", inputs, absolute.predict(inputs, [0.0])))
    assert list(answer.inputs) == ["u"] and answer.inputs["u"].gain.value == pytest.approx(1.2 / 0.5, rel=1e-5)


def test_a_static_curve_follows_its_branch():
    square = Model(("y(k-1)", "u(k-1)^2"), (0.5, 1.0), inputs=("u",), output="y")
    check_curve(dynamics_of(square).inputs["u"].curve, lambda u: 2 * u * u)


@pytest.mark.parametrize(
    ("models", "longest", "doubts"),
    [
        (["sure"], 10_000, {}),
        (["sure"], 10, {"record": "look"}),
        (["sure", RIVAL], 10_000, {"gain": "look"}),
        (["sure", replace(RIVAL, coefficients=(A, -B))], 10_000, {"sign": "bad"}),
        (["sure", replace(RIVAL, coefficients=(0.93, 0.9))], 10_000, {"gain": "look", "settling": "look"}),
        ([replace(LINEAR, coefficients=(0.98, B))], 10_000, {"gain": "look", "stability": "look", "settling": "look"}),
    ],
)
def test_what_is_too_uncertain_is_named(models, longest, doubts):
    sure = replace(LINEAR, covariance=((1e-6, 0.0), (0.0, 1e-6)))
    answer = dynamics_of(*map({"sure": sure}.get, models, models))
    uncertain = control_doubts(answer, answer.settling.value, longest)
    assert {doubt["name"]: doubt["status"] for doubt in uncertain} == doubts


def test_lags_that_are_too_long_have_no_dynamics():
    long = Model(("y(k-90)", "u(k-1)"), (0.5, 1.0), inputs=("u",), output="y")
    assert dynamics_of(long) is None


def test_a_certainty_that_cannot_be_computed_is_missing():
    # From its first sample on the free run of w y(k-1)^2 diverges.
    y = 1.5 + 0.3 * np.random.default_rng(1).normal(size=100)
    y[0] = 2.6
    rows, segments = np.arange(1, 100), [range(60, 100)]
    problem = StructureProblem.of_records(np.zeros((100, 1)), y, [((0, 1), (0, 1))], rows=rows, segments=segments)
    assert structure_certainty(problem, ["y(k-1)^2"], Noe(), ["noe"]).missing == DIVERGES
    u, y = np.random.default_rng(2).normal(size=(2, 16))
    few = StructureProblem(u, y, n_u=3, n_y=3, degree=1, n_validation=4)
    assert structure_certainty(few, few.terms, Narx(), ["narx"]).missing == TOO_FEW
