"""Levels and units of the signals change no term; the model predicts in the units of the data.

Where a level has more digits than the range of the signal shows, its zero is not known, and no choice of it is true.
"""

import warnings

import numpy as np
import pytest
from tests.unit.algorithms.likelihood import S1, data_of

import narxbench

# Scale and offset of the input, then of the output.
SIGNALS = {
    "tiny units": (1e-150, 0.0, 1e-150, 0.0),
    "huge and tiny units": (1e150, 0.0, 1e-100, 0.0),
    "far levels": (1.0, 1e7, 1.0, -1e7),
    "levels of several digits": (1e-3, 293.4, 1e-2, 12345.0),
    "nano and giga": (1e-9, 3e-5, 1e9, -1e15),
    "a level in tiny units": (1.0, 0.0, 1e-150, 1e-143),
}


def signals_of(name):
    u_scale, u_offset, y_scale, y_offset = SIGNALS[name]
    u, y = data_of("white on the output", 600)
    return u * u_scale + u_offset, y * y_scale + y_offset


def problem_of(u, y, **arguments):
    return narxbench.StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=150, **arguments)


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("algorithm", ["pem", "multistart"])
def test_the_structure_is_that_of_plain_signals(name, algorithm):
    plain = narxbench.search(problem_of(*data_of("white on the output", 600)), algorithm=algorithm, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = narxbench.search(problem_of(*signals_of(name)), algorithm=algorithm, seed=1)
    assert result.terms == plain.terms and (algorithm != "pem" or result.terms == S1)


@pytest.mark.parametrize("name", SIGNALS)
def test_the_model_of_a_result_has_the_units_of_the_data(name):
    u, y = signals_of(name)
    problem = problem_of(u, y)
    result = narxbench.search(problem, seed=1)
    model = narxbench.Model.from_search(result)
    predicted = model.predict(u, y[:2])
    y_scale = SIGNALS[name][2]
    deviation = np.std((predicted - y) / y_scale)
    assert deviation < 0.2 * np.std(y / y_scale)
    assert model.noise_model == "noe"
    validated = problem.predict(result.terms)
    assert np.std((validated - y[-150:]) / y_scale) < 0.2 * np.std(y / y_scale)
    is_plain = (np.array(result.offsets) == 0.0) & (np.array(result.scales) == 1.0)
    assert str(result).count("stands for") == np.sum(~is_plain)


def test_plain_signals_are_taken_as_they_are():
    u, y = data_of("white on the output", 600)
    problem = problem_of(u, y)
    assert (problem.offsets, problem.scales) == ((0.0, 0.0), (1.0, 1.0))
    np.testing.assert_array_equal(problem.training_y, y)
    result = narxbench.search(problem, seed=1)
    model = narxbench.Model.from_search(result)
    assert "stands for" not in str(result) and model.offsets is None and model.scales is None


def test_signals_may_be_taken_as_they_are_whatever_they_are():
    u, y = signals_of("far levels")
    problem = problem_of(u, y, rescaled=False)
    np.testing.assert_array_equal(problem.training_y, y)
    assert problem.offsets == (0.0, 0.0)


def test_the_model_of_coloured_noise_has_its_filter():
    u, y = data_of("autoregression in the equation", 800)
    result = narxbench.search(problem_of(u, y), seed=1)
    model = narxbench.Model.from_search(result)
    assert model.noise_model == "ararx" and model.autoregression == tuple(result.details["noise"]["autoregression"])
    assert model.coefficients == tuple(result.coefficients)


def test_no_structure_has_no_model():
    result = narxbench.SearchResult([], np.inf, np.inf, [], 0, [], "ga", 1)
    with pytest.raises(narxbench.NarxbenchError, match="result: found no structure"):
        narxbench.Model.from_search(result)
