"""Weights on long records, of which only stretches are searched: those of all samples, with errors that fit."""

import numpy as np
import pytest
from tests.unit.identification.search.test_search import settings_of

import narxbench
from narxbench._identification.search import plan as planning
from narxbench._identification.search.candidate import Candidate
from narxbench._identification.search.scores import scored, scored_under
from narxbench._identification.trust.fit import ModelFit
from narxbench._model.records import Record, Recording

SETTINGS = {"decimation": 1, "degree": 2, "y_lags": 2, "u_lags": 1, "noise": "auto", "effort": 0.1}


@pytest.mark.parametrize("noise", ["noe", "narmax"])
def test_errors_of_long_records_are_those_of_all_samples(noise, monkeypatch):
    u, y = narxbench.load_system("S1").simulate(4000, snr_db=20, seed=3)
    recording = Recording((Record("long", u[:, None], y),), ("u",), "y")
    weights = {}
    for most in (1000, 4000):
        monkeypatch.setattr(planning, "MOST_STEPS", most)
        plan = planning.plan_search(recording, settings_of(**{**SETTINGS, "noise": noise}))
        (configuration,) = plan.configurations
        terms = narxbench.load_system("S1").terms
        (candidate,) = scored(plan, [Candidate(configuration, tuple(terms), "true")], 1)
        fit = ModelFit(plan, scored_under(plan, candidate, (noise,), 1))
        assert (sum(map(len, fit.searched)) < 4000) == (most < 4000)
        weights[most] = fit.weights()
    short, whole = weights[1000], weights[4000]
    np.testing.assert_allclose(short.coefficients, whole.coefficients, rtol=1e-3)
    assert short.freedom == pytest.approx(whole.freedom, rel=0.05)
    for name, covariance in whole.covariances.items():
        errors = np.sqrt(np.diag(short.covariances[name]) / np.diag(covariance))
        assert (errors > 0.6).all() and (errors < 1.6).all(), name
