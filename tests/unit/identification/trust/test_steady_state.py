"""Fixed points known in closed form, and by simulation; rests that were put into the data."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from narxbench._identification.trust.steady_state import measured_static_points, static_curve
from narxbench._model.narx import DivergedError, Model
from narxbench._model.records import Record
from narxbench._model.working_point import fixed_points
from narxbench._numerics.random_streams import generator


def logistic(r):
    return Model(("y(k-1)", "y(k-1)^2"), (r, -r), inputs=(), output="y")


def settling_steps(size):
    """Return the steps until 2 % of a deviation are left where each step leaves a share of it."""
    if size >= 1:
        return None
    return pytest.approx(4 / -math.log(size)) if size > 1e-9 else 0


@pytest.mark.parametrize("r", [0.5, 1.5, 2.0, 2.9, 3.2, 3.9])
def test_logistic_map(r):
    # y = r y (1 - y) rests at 0, with the derivative r, and at 1 - 1/r, with 2 - r.
    expected = sorted([(0.0, r), (1 - 1 / r, abs(2 - r))])
    points = fixed_points(logistic(r), (), around=0.3, scale=0.7)
    assert np.array(points) == pytest.approx(np.array(expected), abs=1e-9)
    series = Record("series", np.empty((3, 0)), np.array([0.0, 0.5, 1.0]))
    for point, (y, size) in zip(static_curve(logistic(r), [series]), expected, strict=True):
        assert (point.signal, point.u) == (None, None)
        assert (point.stable, point.inside) == (size < 1, -0.1 <= y <= 1.1)
        assert point.settling_steps == settling_steps(size)


@settings(deadline=None, max_examples=40)
@given(st.floats(-0.6, 0.6), st.floats(-0.3, 0.3), st.floats(-0.15, 0.15), st.floats(-1, 1), st.integers(1, 5))
def test_a_simulation_ends_at_a_stable_point(a, b, c, level, decimation):
    terms = ("y(k-1)", "y(k-2)", "y(k-1)*y(k-2)", "u1(k-1)", "y(k-2)*u2(k)")
    model = Model(terms, (a, b, c, 0.3, 0.2), inputs=("one", "two"), output="y", decimation=decimation)
    u = np.column_stack([np.full(300 * decimation, level), np.full(300 * decimation, 0.5)])
    try:
        end = model.predict(u, np.zeros(2 * decimation))[-1]
    except DivergedError:
        # Where the product outgrows the rest there is no rest to end at.
        assume(False)
    resting = fixed_points(model, [level, 0.5])
    nearest = min(resting, key=lambda pair: abs(pair[0] - end))
    if min(abs(size - 1) for _, size in resting) > 0.05:
        assert nearest[0] == pytest.approx(end, abs=1e-5)
        assert nearest[1] < 1


@pytest.mark.parametrize("c", [0.0, 1e-14, 1e-13, 7.5e-13, 1e-9, -1e-12])
def test_a_tiny_weight_of_higher_degree_costs_no_digits(c):
    terms = ("y(k-1)*y(k-2)", "u1(k-1)", "y(k-2)*u2(k)")
    model = Model(terms, (c, 0.3, 0.2), inputs=("one", "two"), output="y")
    nearest = min(fixed_points(model, (1.0, 0.5)), key=lambda point: abs(point[0]))
    assert nearest == pytest.approx((1 / 3, math.sqrt(0.1)), rel=1e-8)


def test_the_curve_of_several_inputs():
    model = Model(("y(k-1)", "u1(k-1)", "u2(k-1)"), (0.5, 1.0, 10.0), inputs=("valve", "lid"), output="y")
    u = np.array([[0.0, 3.0], [1.0, 3.0], [5.0, 4.0]])
    curve = static_curve(model, [Record("a", u, np.array([60.0, 64.0, 70.0]))], points=3)
    # Outputs from 60 to 70, and a tenth of that on both sides, are inside.
    assert [(point.signal, point.u, round(point.y, 9), point.inside) for point in curve] == [
        *(("valve", 0.0, 60.0, True), ("valve", 2.5, 65.0, True), ("valve", 5.0, 70.0, True)),
        *(("lid", 3.0, 62.0, True), ("lid", 3.5, 72.0, False), ("lid", 4.0, 82.0, False)),
    ]
    for point in curve:
        assert point.stable and point.eigenvalue == 0.5
    valve, lid = static_curve(model, [Record("a", np.ones((3, 2)), np.full(3, 22.0))])
    assert (valve.signal, valve.u, valve.y) == ("valve", 1.0, 22.0)
    assert (lid.signal, lid.u, lid.y) == ("lid", 1.0, 22.0)
    assert static_curve(model, []) == []


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
    rng = generator(purpose="rests")
    # Levels of 100, 10 and 100 samples, and then a slow ramp.
    u = np.r_[np.full(100, 1.0), np.full(10, 5.0), np.full(100, 3.0), np.linspace(3.5, 9, 50)]
    u += 0.02 * rng.standard_normal(len(u))
    y = model.predict(u, np.full(2, 2.0)) + 0.05 * rng.standard_normal(len(u))
    for rest, level in zip(measured_static_points(model, [Record("a", u[:, None], y)]), (1.0, 3.0), strict=True):
        # The gain is 0.4 / (1 - 0.8) = 2.
        assert (rest.u, rest.y) == ((pytest.approx(level, abs=0.02),), pytest.approx(2 * level, abs=0.05))
        assert rest.model_y == pytest.approx(2 * rest.u[0]) and 98 <= rest.samples <= 100
        assert rest.deviation == pytest.approx(abs(rest.y - rest.model_y) / np.ptp(y))
    unstable = Model(("y(k-1)", "u(k-1)"), (1.8, 0.4), inputs=("u",), output="y", decimation=2)
    first, second = measured_static_points(unstable, [Record("a", u[:, None], y)])
    assert first.model_y is first.deviation is second.model_y is second.deviation is None
    # An output that still moves is no rest.
    moving = y + 0.1 * np.arange(len(y))
    assert measured_static_points(model, [Record("a", u[:, None], moving)]) == []
    assert measured_static_points(model, []) == []
    assert measured_static_points(logistic(2.0), [Record("a", np.empty((50, 0)), np.ones(50))]) == []
