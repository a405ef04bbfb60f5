"""The benchmark of recovery simulates and counts correctly; nothing here searches for long."""

import dataclasses

import numpy as np
import pytest
from benchmarks.recovery import __main__ as command
from benchmarks.recovery import calibration, judge, plants, report, runs, situations, statistics

import narxbench
from narxbench._io.errors import NarxbenchError
from narxbench._model.noise_models import BoxJenkins, Narmax


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
    assert isinstance(model, BoxJenkins) and model.ar_lags == (1, 2)
    moving = situations.make_data(plant, "MA(4) equation", 31).true_noise[0].model
    assert moving == Narmax(ma_lags=(1, 2, 3, 4))


def test_oversampling_keeps_a_polynomial():
    plant, excite = situations.oversampled(plants.plants()["S1"], np.random.default_rng(1))
    inputs = excite(plant, np.random.default_rng(2), 100)
    changes = np.flatnonzero(np.diff(inputs[:, 0])) + 1
    rate = changes[0]
    assert (np.diff(changes) == rate).all() and 5 <= rate <= 10
    weights = dict(zip(plant.terms, plant.weights, strict=True))
    assert weights["y(k-1)"] == pytest.approx(1 - 0.5 / rate)
    assert weights["u(k-1)"] == pytest.approx(0.3 / rate)


def test_missing_lags_leave_out_a_true_term():
    data = situations.make_data(plants.plants()["mao1997"], "missing lags", 31)
    assert not data.is_inside
    assert situations.make_data(plants.plants()["S1"], "missing lags", 31) is None


def test_the_true_model_has_no_error_on_fresh_data():
    data = situations.make_data(plants.plants()["S2"], "white output, 20 dB", 31)
    weights = np.array(data.plant.weights)
    assert judge.fresh_error(data, data.plant.monomials, weights) == pytest.approx(0, abs=1e-12)
    assert judge.fresh_error(data, data.plant.monomials, 3 * weights) == np.inf
    assert judge.Truth(data).oracle_error() < 0.02


def test_the_most_probable_structure_is_judged_without_what_drift_hides():
    structure = {"terms": ["u(k-1)", "1"], "probability": 0.6, "noise_model": "Box-Jenkins (MA 1, drift)"}
    assert runs._most_probable(structure, {"u(k-1)"}) == (0.6, True)
    assert runs._most_probable(structure | {"noise_model": "NOE"}, {"u(k-1)"}) == (0.6, False)


def test_interval_of_clopper_and_pearson():
    assert statistics.clopper_pearson(0, 10) == pytest.approx((0, 0.3085), abs=1e-4)
    assert statistics.clopper_pearson(8, 10) == pytest.approx((0.4439, 0.9748), abs=1e-4)
    assert statistics.clopper_pearson(10, 10) == pytest.approx((0.6915, 1), abs=1e-4)


def test_reliability_by_hand():
    rows = calibration.reliability([(0.01, False), (0.5, True), (0.5, False), (0.99, True), (1.0, True)])
    assert len(rows) == 8
    assert rows[0] == ["0.005 to 0.05", "0.010", "0.000", "1"]
    assert rows[3] == ["0.4 to 0.6", "0.500", "0.500", "2"]
    assert rows[7] == ["0.99 to 1", "0.995", "1.000", "2"]
    assert rows[4][1:] == ["-", "-", "0"]


@pytest.mark.parametrize("is_said", [False, True])
def test_page_with_and_without_what_pem_says(is_said):
    job = runs.Job("S1", "200 samples", 31, (runs.PEM,))
    finished = runs.run(job)
    outcome = finished.outcomes[0]
    said = dataclasses.replace(outcome.said, terms=None, structure=None, warnings=None)
    if is_said:
        said = dataclasses.replace(said, terms=((0.97, True),), structure=(0.7, True), warnings=("correlation",))
    hard = dataclasses.replace(outcome, situation="drift: 5 dB, 500 samples", said=said)
    hard_job = runs.Finished(job._replace(situation=hard.situation), [hard])
    text = report.page(report.Results([finished, hard_job]))
    assert "nan" not in text
    assert ("| 0.95 to 0.99 | 0.970 | 1.000 | 1 |" in text) == is_said
    assert ("| calibration | - | 100% of 1 |" in text) == is_said
    for line in text.splitlines():
        assert line.startswith("|") or len(line) <= 120


def test_a_situation_that_there_is_not():
    with pytest.raises(NarxbenchError, match=r"found 'AR1 output'; allowed: .*did you mean 'AR\(1\) output'"):
        command.situation_names(["AR1 output"])


def test_development_leaves_out_what_is_held_out():
    options = command.parser().parse_args(["--development", "--situation", "drift"])
    jobs = list(command.jobs(options))
    groups = {plants.plants()[job.plant].group for job in jobs}
    assert groups == {plants.TUNED, plants.LITERATURE}
    assert {job.seed for job in jobs} == {command.DEVELOPMENT_SEED}
    report_jobs = list(command.jobs(command.parser().parse_args([])))
    assert min(job.seed for job in report_jobs) == command.REPORT_SEED
