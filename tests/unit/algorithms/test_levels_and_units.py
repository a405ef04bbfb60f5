"""Levels and units of the signals change no term; the model predicts in the units of the data.

Where a level has more digits than the range of the signal shows, its zero is not known, and no choice of it is true.
"""

import warnings

import numpy as np
import pytest
from tests.unit.algorithms.likelihood import S1, data_of, problem_of

import narxbench

# Scale and offset of the input, then of the output.
SIGNALS = {
    "plain": (1.0, 0.0, 1.0, 0.0),
    "huge and tiny units": (1e150, 0.0, 1e-100, 0.0),
    "far levels": (1.0, 1e7, 1.0, -1e7),
    "nano and giga": (1e-9, 3e-5, 1e9, -1e15),
    "a level in tiny units": (1.0, 0.0, 1e-150, 1e-143),
}


def signals_of(name):
    u_scale, u_offset, y_scale, y_offset = SIGNALS[name]
    u, y = data_of("white on the output", 600)
    return u * u_scale + u_offset, y * y_scale + y_offset


@pytest.mark.parametrize("name", SIGNALS)
def test_the_structure_is_that_of_plain_signals_and_the_model_has_the_units_of_the_data(name):
    u, y = signals_of(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem = problem_of(u, y)
        result = narxbench.search(problem, algorithm="pem", seed=1)
        multistart = narxbench.search(problem, algorithm="multistart", seed=1)
    plain = narxbench.search(problem_of(*signals_of("plain")), algorithm="multistart", seed=1)
    assert result.terms == S1 and multistart.terms == plain.terms
    model, y_scale = narxbench.Model.from_search(result), SIGNALS[name][2]
    assert np.abs((model.predict(u, y[:2]) - y) / y_scale).mean() < 0.2 * np.std(y / y_scale)
    assert model.noise_model == "noe"
    validated = problem.predict(result.terms)
    assert np.abs((validated - y[-100:]) / y_scale).mean() < 0.2 * np.std(y / y_scale)
    is_plain = (np.array(result.offsets) == 0.0) & (np.array(result.scales) == 1.0)
    assert str(result).count("represents") == np.sum(~is_plain)
    if name == "plain":
        assert is_plain.all() and model.offsets is None and model.scales is None
        np.testing.assert_array_equal(problem.training_y, y)


def test_the_model_of_coloured_noise_has_its_filter():
    result = narxbench.search(problem_of(*data_of("autoregression in the equation", 800)), seed=1)
    model = narxbench.Model.from_search(result)
    assert model.noise_model == "ararx" and model.autoregression == tuple(result.details["noise"]["autoregression"])
    assert model.coefficients == tuple(result.coefficients)


def test_no_structure_has_no_model():
    result = narxbench.SearchResult([], np.inf, np.inf, [], 0, [], "ga", 1)
    with pytest.raises(narxbench.NarxbenchError, match="result: found no structure"):
        narxbench.Model.from_search(result)
