"""Weights and choices under the models of the noise."""

from dataclasses import replace

import numpy as np
import pytest
from tests.lookups import item_with, names_of
from tests.regression import parse_terms
from tests.tiers import mostly_slow

import narxbench
from narxbench._fitness.prediction_error import COMPARED, CONVERGED
from narxbench._identification.data.arrangement import Arrangement
from narxbench._identification.search import choice as choosing
from narxbench._identification.search import competitors
from narxbench._identification.search.candidate import Candidate
from narxbench._identification.search.noise import weigh, weigh_under
from narxbench._identification.search.plan import plan_search
from narxbench._identification.search.scores import holds
from narxbench._identification.settings import IdentificationSettings
from narxbench._model.noise_models import BoxJenkins, Distribution, Narmax, Noe, noise_family
from narxbench._model.records import Record, Recording
from narxbench._numerics.random_streams import generator

TERMS = ("y(k-1)", "u(k-1)")
MONOMIALS = parse_terms(TERMS)
QUICK = {"degree": 1, "y_lags": 1, "u_lags": 1, "effort": 0.05}


def noisy(noise_model, samples=1500, size=0.5):
    """Return input and output of y(k) = 0.8 y(k-1) + u(k-1) with noise of a kind."""
    rng = generator(purpose="noise models", kind=noise_model)
    u, e = rng.standard_normal(samples), size * rng.standard_normal(samples)
    y = np.zeros(samples)
    for k in range(1, samples):
        y[k] = 0.8 * y[k - 1] + u[k - 1]
        if noise_model != "noe":
            y[k] += e[k]
        if noise_model == "narmax":
            y[k] += 0.7 * e[k - 1]
    return u, y + e if noise_model == "noe" else y


def weights_by_term(model):
    return dict(zip(model.terms, model.coefficients, strict=True))


def note_of(identification, name):
    return item_with(identification.notes, name=name)


@pytest.mark.parametrize("decimation", [1, 3])
@pytest.mark.parametrize(
    "noise_model",
    [Narmax(ma_lags=(1, 2)), Noe(), BoxJenkins((1,)), Narmax(ma_lags=(1,), distribution=Distribution(4.0))],
    ids=lambda noise_model: noise_model.description,
)
def test_the_regression_about_the_weights_is_solved_by_them(noise_model, decimation):
    u, y = noisy(noise_model.name)
    arrangement = Arrangement([Record("r", u[:, None], y)], decimation, 1, 4)
    segments = arrangement.segments(arrangement.estimates())
    structure_fit = weigh_under(arrangement, MONOMIALS, segments, noise_model)
    columns, explained, rows = structure_fit.regression()
    weights = [*structure_fit.coefficients, *structure_fit.fit.noise_weights]
    assert len(weights) == 2 + len(noise_model.ar_lags) + len(noise_model.ma_lags)
    solved, *_ = np.linalg.lstsq(columns, explained, rcond=None)
    assert len(rows) == len(columns) < sum(map(len, segments))
    # Outputs before each stretch are estimated too where the noise is on the output.
    np.testing.assert_allclose(solved, weights, atol=1e-3)
    if decimation == 1:
        np.testing.assert_allclose(weights[:2], [0.8, 1.0], atol=0.05)


@pytest.mark.parametrize("noise_model", ["narx", "narmax", "noe"])
def test_weights_are_those_of_the_noise_model_of_the_data(noise_model):
    u, y = noisy(noise_model)
    arrangement = Arrangement([Record("r", u[:, None], y)], 1, 1, 4)
    segments = arrangement.segments(arrangement.estimates())
    structure_fit = weigh(arrangement, MONOMIALS, segments, ("narx", "narmax", "ararx", "noe", "box-jenkins"))
    assert structure_fit.noise_model.name == noise_model


@pytest.mark.parametrize(
    "noise_model",
    [BoxJenkins((1,)), Narmax(ma_lags=(1,), distribution=Distribution(4.0))],
    ids=lambda noise_model: noise_model.description,
)
def test_fits_that_are_compared_are_as_likely(noise_model):
    u, y = noisy(noise_model.name)
    arrangement = Arrangement([Record("r", u[:, None], y)], 1, 1, 4)
    segments = arrangement.segments(arrangement.estimates())
    deviances = []
    for tolerance in (CONVERGED, COMPARED):
        structure_fit = weigh_under(arrangement, MONOMIALS, segments, noise_model, tolerance=tolerance)
        deviances.append(structure_fit.errors.deviance(structure_fit.fit))
    lowest, compared = deviances
    assert lowest < compared < lowest + 1e-4


def test_a_family_without_white_noise_has_one_coefficient_at_least():
    u, y = noisy("narx")
    arrangement = Arrangement([Record("r", u[:, None], y)], 1, 1, 4)
    segments = arrangement.segments(arrangement.estimates())
    for name in ("narmax", "ararx", "ararmax"):
        assert isinstance(weigh(arrangement, MONOMIALS, segments, (name,)).noise_model, noise_family(name))


@pytest.mark.parametrize("noise_model", mostly_slow(["narx", "narmax", "noe"], "noe"))
def test_the_noise_model_of_the_data_is_chosen(noise_model):
    u, y = noisy(noise_model)
    identification = narxbench.identify(input=u, output=y, **QUICK)
    model, choice = identification.model, note_of(identification, "noise_model").values
    assert choice["chosen"] == model.noise_model == noise_model and choice["tied"] >= 1
    assert set(names_of(choice["best"])) >= {"narx", noise_model}
    assert set(model.terms) == set(TERMS)
    assert abs(weights_by_term(model)["y(k-1)"] - 0.8) < 4 * identification.weights[0]["standard_error"] < 0.2


@pytest.mark.slow
def test_narmax_spares_the_weights_their_bias():
    u, y = noisy("narmax")
    bias, errors = {}, {}
    for noise in ("narx", "narmax"):
        identification = narxbench.identify(input=u, output=y, **QUICK, noise=noise)
        bias[noise] = abs(weights_by_term(identification.model)["y(k-1)"] - 0.8)
        # A prediction one step ahead knows the past errors.
        errors[noise] = identification.to_dict()["metrics"]["estimation"]["one_step"]["rrse"]
    assert identification.model.moving_average[0] == pytest.approx(0.7, abs=0.1)
    assert bias["narmax"] < 0.5 * bias["narx"] and errors["narmax"] < 0.95 * errors["narx"]


@pytest.mark.slow
def test_a_structure_whose_run_over_whole_records_does_not_hold_is_passed_over(monkeypatch):
    u, y = narxbench.load_system("S1").simulate(300, snr_db=5)
    options = {**QUICK, "degree": 2, "y_lags": 2, "u_lags": 2}
    first = narxbench.identify(input=u, output=y, **options).model.terms
    for all_hold, some_hold in ((lambda _, s: s.terms != first, True), (lambda *_: False, False)):
        monkeypatch.setattr(choosing, "holds", all_hold)
        monkeypatch.setattr(competitors, "holds", all_hold)
        identification = narxbench.identify(input=u, output=y, **options)
        assert item_with(identification.summary, name="errors").values["holds"] is some_hold
        assert (identification.model.terms == first) is not some_hold


def test_a_run_that_grows_slowly_does_not_hold():
    rng = generator(purpose="slow growth")
    # An integrator: parts begin with measured outputs, and the error over the whole record is that of all parts.
    u, y = rng.standard_normal((600, 1)), np.zeros(600)
    for k in range(1, 600):
        y[k] = y[k - 1] + 0.1 * u[k - 1, 0] + 0.3 * rng.standard_normal()
    recording = Recording((Record("r", u, y),), ("u",), "y")
    plan = plan_search(recording, IdentificationSettings(decimation=[1], degree=[1], y_lags=[1], u_lags=[1]))
    (configuration,) = plan.configurations
    candidate = Candidate(configuration, TERMS, "", candidates=3, fitness=0.0, rrse=0.05)
    assert not holds(plan, candidate)
    assert holds(plan, replace(candidate, rrse=10.0))


class TestPredictions:
    u, y = noisy("narmax", samples=60)

    def model(self, **changes):
        noise = {"noise_model": "narmax", "moving_average": (0.7, -0.2)}
        return narxbench.Model(TERMS, (0.8, 1.0), ("u",), "y", **{**noise, **changes})

    @pytest.mark.parametrize("decimation", [1, 2])
    @pytest.mark.parametrize("steps", [1, 2, 4])
    def test_past_errors_that_are_known_count(self, steps, decimation):
        q, u, y = decimation, self.u, self.y
        errors = np.zeros(60)

        def moving(k, last):
            """Return the sum that the errors up to a sample add at sample k."""
            total = 0.0
            for at, weight in ((k - q, 0.7), (k - 2 * q, -0.2)):
                if q <= at <= last:
                    total += weight * errors[at]
            return total

        for k in range(q, 60):
            errors[k] = y[k] - 0.8 * y[k - q] - u[k - q] - moving(k, k)
        predicted = self.model(decimation=q).predict(u, y, steps)
        for k in range(q + steps * q, 60):
            value = y[k - steps * q]
            for at in range(k - (steps - 1) * q, k + 1, q):
                value = 0.8 * value + u[at - q] + moving(at, k - steps * q)
            assert predicted[k] == pytest.approx(value, rel=1e-9, abs=1e-12)

    def test_a_free_run_knows_none(self):
        plain = self.model(noise_model="narx", moving_average=())
        np.testing.assert_array_equal(self.model().predict(self.u, self.y), plain.predict(self.u, self.y))
        output_error = self.model(noise_model="noe", moving_average=())
        for steps in (1, 3):
            np.testing.assert_array_equal(output_error.predict(self.u, self.y, steps), plain.predict(self.u, self.y))

    def test_it_is_in_the_file_and_below_the_equation(self, tmp_path):
        model = self.model()
        model.save(tmp_path / "model.json")
        assert narxbench.Model.load(tmp_path / "model.json") == model
        assert "e(k) + 0.7 e(k-1) - 0.2 e(k-2)" in model.equation()
        assert "NOE" in self.model(noise_model="noe", moving_average=()).equation()
