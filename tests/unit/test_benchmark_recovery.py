"""The benchmark of recovery simulates and counts correctly; nothing here searches for long."""

import numpy as np
import pytest
from benchmarks.recovery import __main__ as command
from benchmarks.recovery import judge, plants, situations, statistics

import narxbench


@pytest.mark.parametrize("name", ["S1", "mao1997", "fastcan"])
def test_a_shipped_plant_responds_as_its_system(name):
    u, y = narxbench.load_system(name).simulate(300, washout=0)
    np.testing.assert_array_equal(plants.plants()[name].respond(u[:, None]), y)


def test_all_true_terms_are_candidates():
    for plant in plants.plants().values():
        assert set(plant.monomials) <= set(plant.candidates(plant.n_y, plant.n_u, plant.degree)), plant.name


def test_an_equation_of_several_inputs_by_hand():
    plant = plants.plants()["fastcan-two-inputs"]
    assert plant.terms == ["y(k-1)", "u1(k)^2", "u1(k-1)*u1(k-3)", "u1(k-2)*u2(k-3)", "1"]
    inputs = np.random.default_rng(1).random((50, 2))
    first, second = inputs.T
    y = plant.respond(inputs)
    k = np.arange(3, 50)
    products = 2 * first[k - 1] * first[k - 3] + 1.5 * first[k - 2] * second[k - 3]
    np.testing.assert_allclose(y[k], 0.5 * y[k - 1] + 0.3 * first[k] ** 2 + products + 1)


def test_noise_has_unit_variance_and_the_filter_that_it_says():
    for name in situations.CALIBRATION_KINDS:
        noise = situations.SITUATIONS[name].draw(np.random.default_rng(3), 200_000)
        assert noise.values.std() == pytest.approx(1, abs=0.1), name
    noise = situations.first_order(np.random.default_rng(3), 200_000)
    correlation = np.corrcoef(noise.values[1:], noise.values[:-1])[0, 1]
    assert correlation == pytest.approx(-noise.autoregression[0], abs=0.02)


def test_the_same_data_set_is_made_again():
    plant = plants.plants()["S1"]
    data = situations.make_data(plant, "AR(2) output", 31)
    repeated = situations.make_data(plant, "AR(2) output", 31)
    independent = situations.make_data(plant, "AR(2) output", 32)
    assert (data.record.output == repeated.record.output).all()
    assert (data.record.output != independent.record.output).all()
    model = data.true_noise[0].model
    assert (model.name, model.ar_lags, model.ma_lags) == ("box-jenkins", (1, 2), ())
    moving = situations.make_data(plant, "MA(4) equation", 31).true_noise[0].model
    assert (moving.name, moving.ma_lags) == ("narmax", (1, 2, 3, 4))


def test_the_true_model_has_no_error_on_fresh_data():
    data = situations.make_data(plants.plants()["S2"], "white output, 20 dB", 31)
    weights = np.array(data.plant.weights)
    assert judge.fresh_error(data, data.plant.monomials, weights) == pytest.approx(0, abs=1e-12)
    assert judge.fresh_error(data, data.plant.monomials, 3 * weights) == np.inf
    assert judge.Truth(data).oracle_error() < 0.02


def test_interval_of_clopper_and_pearson():
    assert statistics.clopper_pearson(0, 10) == pytest.approx((0, 0.3085), abs=1e-4)
    assert statistics.clopper_pearson(8, 10) == pytest.approx((0.4439, 0.9748), abs=1e-4)
    assert statistics.clopper_pearson(10, 10) == pytest.approx((0.6915, 1), abs=1e-4)


def test_a_situation_that_there_is_not():
    with pytest.raises(narxbench.NarxbenchError, match=r"found 'AR1 output'; allowed: .*did you mean 'AR\(1\) output'"):
        command.situation_names(["AR1 output"])
