"""A model near a state of rest, against its own simulation."""

import numpy as np
import pytest

from narxbench import Model

TWO = Model(
    ("y(k-1)", "y(k-2)", "u1(k-1)", "u2(k)*u1(k-2)", "y(k-1)*u1(k-1)", "u2(k-1)^2"),
    (0.9, -0.3, 0.8, 0.5, 0.1, -0.4),
    inputs=("a", "b"),
    output="y",
    decimation=4,
)
CENTRED = Model(TWO.terms, TWO.coefficients, TWO.inputs, "y", 4, offsets=(9.0, -1.0, 2.0), scales=(3.0, 0.5, 2.0))
LOGISTIC = Model(("y(k-1)", "y(k-1)^3"), (1.5, -0.5), inputs=(), output="y")


@pytest.mark.parametrize("model", [TWO, CENTRED], ids=["plain", "centred"])
@pytest.mark.parametrize("du", [[1e-5, 0.0], [0.0, 1e-5]])
def test_a_small_step_is_that_of_the_linearised_model(model, du):
    rest = model.linearised([0.5, 1.5])
    response = model.step_response([0.5, 1.5], du, 60) - rest.y
    linear, step = np.zeros(62), np.zeros((62, 2))
    step[2:] = du
    for k in range(2, 62):
        linear[k] = rest.a @ linear[[k - 1, k - 2]]
        linear[k] += rest.b[:, 0] @ step[k] + rest.b[:, 1] @ step[k - 1] + rest.b[:, 2] @ step[k - 2]
    assert response == pytest.approx(linear[2:], rel=1e-4, abs=1e-9)
    assert np.abs(response).max() > 1e-6
    assert response[-1] == pytest.approx(np.dot(rest.static_gain, du), rel=1e-3)
    assert np.abs(rest.poles).max() < 1
    # The rest is one: without a step nothing moves.
    assert model.step_response([0.5, 1.5], [0.0, 0.0], 5) == pytest.approx([rest.y] * 5)


def test_which_of_several_states_of_rest():
    assert LOGISTIC.linearised(y0=0.8).y == pytest.approx(1.0)
    assert LOGISTIC.linearised(y0=-5.0).poles == pytest.approx([0.0], abs=1e-7)
    unstable = LOGISTIC.linearised(y0=0.1)
    assert (unstable.y, unstable.poles) == (0.0, pytest.approx([1.5]))


def test_an_integrator_has_no_gain_and_a_static_model_no_poles():
    integrator = Model(("y(k-1)", "y(k-1)*u(k-1)"), (1.0, 1.0), ("u",), "y")
    assert integrator.linearised(0.25, y0=0.0).static_gain == (0.0,)
    squared = Model(("u(k)^2",), (1.0,), ("u",), "y")
    rest = squared.linearised(3.0)
    assert (rest.y, len(rest.poles), rest.static_gain) == (9.0, 0, (6.0,))
    assert squared.step_response(3.0, 1.0, 2).tolist() == [16.0, 16.0]
    assert Model(("y(k-1)", "y(k-1)^2"), (1.0, 1.0), (), "y").linearised(y0=0.0).static_gain is None
