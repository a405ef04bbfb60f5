"""From data to a model: true structures are found, in whatever form the data come."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.lookups import items_by_name, names_of, roles_of
from tests.regression import parse_terms, regressors

import narxbench
from narxbench import load_system
from narxbench._identification.data.arrangement import N_PARTS
from narxbench._identification.data.reading import read_recording
from narxbench._identification.search.plan import plan_search
from narxbench._identification.search.proposals import brief_search
from narxbench._identification.settings import IdentificationSettings
from narxbench._identification.trust.fit import ModelFit
from narxbench._numerics.random_streams import generator

QUICK = {"decimation": 1, "effort": 0.3}
# Weights are checked against those of least squares.
SMALL = {"noise": "narx", **QUICK, "degree": 2, "y_lags": 2, "u_lags": 2}
TERMS = ("y(k-1)", "u(k-1)", "y(k-1)*u(k-1)", "u(k-1)^2")


def s1(samples=400, snr_db=30):
    return load_system("S1").simulate(samples, snr_db=snr_db)


def check_weights(model, u, y, n_inputs=1, rtol=1e-7):
    """Compare the weights of a model with those of its terms on one record, by NumPy."""
    rows = np.arange(model.max_lag, len(y))
    columns = regressors(u, y, parse_terms(model.terms, n_inputs), rows)
    weights = np.linalg.lstsq(columns, y[rows], rcond=None)[0]
    np.testing.assert_allclose(model.coefficients, weights, rtol=rtol)


def rrse_of(identification, role):
    return identification.to_dict()["metrics"][role]["free_run"]["rrse"]


class TestForms:
    """Equal data in other forms give an equal model."""

    u, y = s1()

    @pytest.fixture(scope="class")
    @classmethod
    def identification(cls):
        return narxbench.identify(input=cls.u, output=cls.y, **SMALL)

    def test_the_true_structure_with_weights_of_least_squares(self, identification):
        model = identification.model
        assert model.terms == TERMS
        check_weights(model, self.u, self.y)
        assert (model.inputs, model.output, model.decimation) == (("u",), "y", 1)

    @pytest.mark.parametrize(
        ("form", "names", "sampling_time"),
        [("arrays", ("u", "y"), None), ("frame", ("valve", "y"), 2.0), ("series", ("valve", "level"), 2.0)],
    )
    def test_inputs_and_output_by_position(self, identification, form, names, sampling_time):
        times = pd.date_range("2026-01-01", periods=len(self.y), freq="2s")
        frame = pd.DataFrame({"valve": self.u}, index=times)
        signals = {
            "arrays": (self.u[:, None], self.y),
            "frame": (frame, self.y),
            "series": (frame["valve"], pd.Series(self.y, index=times, name="level")),
        }
        model = narxbench.identify(*signals[form], **SMALL).model
        assert model.coefficients == identification.model.coefficients
        assert ((*model.inputs, model.output), model.sampling_time) == (names, sampling_time)

    def test_a_share_for_the_test(self, identification):
        tested = narxbench.identify(input=self.u, output=self.y, test="25%", **SMALL)
        assert [(len(record), record.role) for record in tested.recording.records] == [(300, None), (100, "test")]
        check_weights(tested.model, self.u[:300], self.y[:300])
        assert identification.to_dict()["metrics"]["test"] is None
        assert "no_test" in names_of_notes(identification)
        assert "no_test" not in names_of_notes(tested)


def names_of_notes(identification):
    return set(names_of(identification.notes))


def test_from_the_data_alone():
    """Identify with defaults: a white input keeps the decimation at 1."""
    u, y = s1(500)
    identification = narxbench.identify(input=u, output=y, effort=0.2)
    assert identification.model.terms == TERMS and identification.model.decimation == 1
    assert not identification.configuration["centred"]


def test_an_input_that_does_nothing_is_left_out():
    rng = generator(purpose="two inputs")
    u = rng.standard_normal((500, 2))
    y = 0.05 * rng.standard_normal(500)
    for k in range(1, 500):
        y[k] += 0.5 * y[k - 1] + 0.6 * u[k - 1, 0] + 0.3 * u[k, 0] ** 2 - 0.2 * y[k - 1] * u[k, 0]
    lags = {"y_lags": 1, "u_lags": {"heat": "0-1", "noise": [0, 1]}}
    data = {"heat": u[:, 0], "noise": u[:, 1], "T": y}
    identification = narxbench.identify(data, input="heat,noise", output="T", **{**SMALL, **lags})
    model = identification.model
    assert model.terms == ("y(k-1)", "u1(k-1)", "y(k-1)*u1(k)", "u1(k)^2")
    assert model.inputs == ("heat", "noise")
    np.testing.assert_allclose(model.coefficients, [0.5, 0.6, -0.2, 0.3], atol=0.02)
    assert identification.configuration["u_lags"] == [[0, 1], [0, 1]]
    check_weights(model, u, y, 2)


def test_a_series_without_an_input():
    rng = generator(purpose="series")
    y = 0.1 * rng.standard_normal(600)
    for k in range(2, 600):
        y[k] += 1.2 * y[k - 1] - 0.3 * y[k - 1] ** 2 * y[k - 2] - 0.6 * y[k - 2]
    identification = narxbench.identify(output=y, **{**QUICK, "degree": 3, "y_lags": 2})
    model = identification.model
    assert {"y(k-1)", "y(k-2)"} <= set(model.terms) and model.inputs == ()
    assert "u" not in "".join(model.terms)
    check_weights(model, np.empty((600, 0)), y, 0, rtol=1e-6)
    json.dumps(identification.to_dict(), allow_nan=False)


def test_a_horizon_is_where_the_model_and_its_competitors_are_judged():
    u, y = s1(600)
    settings = {**SMALL, "decimation": 2, "degree": 1, "test": "50%"}
    found = narxbench.identify(u, y, horizon=5, **settings)
    findings = items_by_name(found.summary)
    for name in ("to_predict", "errors", "competitors"):
        assert [findings[name].values[key] for key in ("kind", "steps")] == ["k_step", 3], name
    assert [findings[name].values["horizon"] for name in ("to_predict", "errors")] == [5, 5]
    assert found.to_dict()["settings"]["horizon"] == 5
    assert "3 steps ahead (horizon: 5 samples)" in findings["to_predict"].text
    # The error is that of predictions of the test three steps ahead, and of the output three steps before.
    (test,) = found.recording.of_role("test")
    first = found.model.initial_samples
    predicted = found.model.predict(test.u, test.y, 3)
    start = max(first, 6)
    for key, expected in ("rrse", predicted[start:]), ("baseline", test.y[start - 6 : -6]):
        errors = test.y[start:] - expected
        rrse = np.sqrt(np.sum(errors**2) / np.sum((test.y[start:] - np.mean(test.y[start:])) ** 2))
        assert findings["competitors"].values["last_value"][key] == pytest.approx(rrse, rel=0.02)
    judged_freely = items_by_name(narxbench.identify(u, y, **settings).summary)
    assert judged_freely["to_predict"].values["kind"] == "free_run"
    assert judged_freely["competitors"].values["last_value"]["steps"] == 1


@pytest.mark.parametrize(("test", "most"), [("25%", "50, half of the longest test record"), (None, "200, half")])
def test_a_horizon_beyond_the_data_is_refused(test, most):
    u, y = s1(400)
    allowed = f"horizon: found 300; allowed: up to {most}"
    with pytest.raises(narxbench.NarxbenchError, match=allowed):
        narxbench.identify(u, y, test=test, horizon=300, **SMALL)


class TestSeveralExperiments:
    """Several experiments, none of whose rows spans two."""

    u, y = s1(900)

    def test_roles(self, tmp_path):
        parts = {"estimation": slice(0, 400), "selection": slice(400, 600), "test": slice(600, 900)}
        files, roles = [], {}
        for role, part in parts.items():
            file = tmp_path / f"{role}.csv"
            pd.DataFrame({"u": self.u[part], "y": self.y[part]}).to_csv(file, index=False)
            files.append(file)
            roles[file.name] = role
        identification = narxbench.identify(files, input="u", output="y", roles=roles, **SMALL)
        assert roles_of(identification.recording.records) == list(parts)
        model, metrics = identification.model, identification.to_dict()["metrics"]
        assert model.terms == TERMS
        check_weights(model, self.u[:400], self.y[:400])
        for role, part in parts.items():
            free, ahead = model.score(self.u[part], self.y[part]), model.score(self.u[part], self.y[part], steps=1)
            assert metrics[role]["free_run"]["rrse"] == pytest.approx(free.rrse, rel=1e-9)
            assert metrics[role]["one_step"]["fit_percent"] == pytest.approx(ahead.fit_percent, rel=1e-9)

    def test_figures_of_the_selection_are_of_weights_that_do_not_know_it(self):
        u, y = self.u[:300], self.y[:300]
        identification = narxbench.identify(input=u, output=y, **SMALL)
        assert identification.model.terms == TERMS
        lag, errors, measured = identification.model.max_lag, [], []
        part = (np.arange(300) - lag) * N_PARTS // (300 - lag)
        for number in range(N_PARTS):
            rows = np.flatnonzero((np.arange(300) >= lag) & (part != number))
            past_y, past_u = y[rows - 1], u[rows - 1]
            columns = np.column_stack([past_y, past_u, past_y * past_u, past_u**2])
            w = np.linalg.lstsq(columns, y[rows], rcond=None)[0]
            rows_of_part = np.flatnonzero((np.arange(300) >= lag) & (part == number))
            last = y[rows_of_part[0] - 1]
            for k in rows_of_part:
                last = w[0] * last + w[1] * u[k - 1] + w[2] * last * u[k - 1] + w[3] * u[k - 1] ** 2
                errors.append(y[k] - last)
            measured.append(y[rows_of_part])
        # The energy is that about the mean of all stretches together.
        energy = np.sum((np.concatenate(measured) - np.concatenate(measured).mean()) ** 2)
        rrse = math.sqrt(np.sum(np.square(errors)) / energy)
        assert rrse_of(identification, "selection") == pytest.approx(rrse, rel=1e-7)


def test_centred_signals():
    y, u = 50.0 + s1(300)[1], 7.0 + 2.0 * s1(300)[0]
    plan = plan_search(read_recording(input=u, output=y, test="20%"), IdentificationSettings(**SMALL))
    candidate = brief_search(plan, replace(plan.configurations[0], centred=True))
    model = ModelFit(plan, candidate).plain_model()
    assert model.score(u[240:], y[240:]).rrse < 0.1
    np.testing.assert_allclose(model.offsets, [y[:240].mean(), u[:240].mean()], rtol=1e-12)
    np.testing.assert_allclose(model.scales, [y[:240].std(), u[:240].std()], rtol=1e-12)
    np.testing.assert_allclose(model.expanded().predict(u, y), model.predict(u, y), rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_units_do_not_matter(scale):
    u, y = s1(300)
    plain = narxbench.identify(input=u, output=y, **SMALL)
    scaled = narxbench.identify(input=u, output=y * scale, **SMALL)
    assert scaled.model.terms == plain.model.terms
    assert rrse_of(plain, "selection") == pytest.approx(rrse_of(scaled, "selection"), rel=1e-6)


def test_an_exact_model_is_called_exact():
    u = generator(purpose="exact").standard_normal(300)
    y = np.r_[np.zeros(3), u[:-3]]
    identification = narxbench.identify(input=u, output=y, test="25%", **{**SMALL, "u_lags": "0-4"})
    by_name = items_by_name(identification.summary)
    assert by_name["errors"].values["exact"] and by_name["to_predict"].status == "fine"
