"""The benchmark of recovery simulates and counts correctly; nothing here searches for long."""

import numpy as np
import pytest
from benchmarks.recovery import judge, plants, situations

import narxbench


@pytest.mark.parametrize("name", ["S1", "mao1997", "fastcan"])
def test_a_shipped_plant_responds_as_its_system(name):
    u, y = narxbench.load_system(name).simulate(300, washout=0)
    np.testing.assert_array_equal(plants.plants()[name].respond(u[:, None]), y)


def test_an_equation_of_several_inputs_by_hand():
    plant = plants.plants()["fastcan-two-inputs"]
    assert plant.terms == ["y(k-1)", "u1(k)^2", "u1(k-1)*u1(k-3)", "u1(k-2)*u2(k-3)", "1"]
    inputs = np.random.default_rng(1).random((50, 2))
    first, second = inputs.T
    y = plant.respond(inputs)
    k = np.arange(3, 50)
    products = 2 * first[k - 1] * first[k - 3] + 1.5 * first[k - 2] * second[k - 3]
    np.testing.assert_allclose(y[k], 0.5 * y[k - 1] + 0.3 * first[k] ** 2 + products + 1)


def test_the_true_model_has_no_error_on_fresh_data():
    data = situations.make_data(plants.plants()["S2"], "white output, 20 dB", 31)
    weights = np.array(data.plant.weights)
    assert judge.fresh_error(data, data.plant.monomials, weights) == pytest.approx(0, abs=1e-12)
    assert judge.fresh_error(data, data.plant.monomials, 3 * weights) == np.inf
    assert judge.Truth(data).oracle_error() < 0.02
