"""From data to a model: true structures are found, in whatever form the data come."""

import json
import math

import numpy as np
import pandas as pd
import pytest

import narxbench
from narxbench import load_system
from narxbench._model.structure import column
from narxbench._model.terms import parse_term
from narxbench._numerics.random_streams import generator

QUICK = {"decimation": 1, "effort": 1.0, "seeds": 1, "resamples": 0, "blocks": 4, "centre": False}
# Weights are checked against those of least squares.
SMALL = {"noise": "narx", **QUICK, "degree": 2, "y_lags": 2, "u_lags": 2}
TERMS = ("y(k-1)", "u(k-1)", "y(k-1)*u(k-1)", "u(k-1)^2")


def s1(samples=400, snr_db=30):
    return load_system("S1").simulate(samples, snr_db=snr_db)


def check_weights(found, u, y, n_inputs=1, rtol=1e-7):
    """Compare the weights of a model with those of its terms on one record, by NumPy."""
    monomials = [parse_term(term, n_inputs, current=True) for term in found.model.terms]
    rows = np.arange(max(lag for m in monomials for _, lag in m), len(y))
    columns = np.column_stack([column(u, y, monomial, rows) for monomial in monomials])
    weights = np.linalg.lstsq(columns, y[rows], rcond=None)[0]
    np.testing.assert_allclose(found.model.coefficients, weights, rtol=rtol)


class TestForms:
    """The same data in other forms give the same model."""

    u, y = s1()

    @pytest.fixture(scope="class")
    @classmethod
    def found(cls):
        return narxbench.identify(input=cls.u, output=cls.y, **SMALL)

    def test_the_true_structure_with_weights_of_least_squares(self, found):
        assert found.model.terms == TERMS
        check_weights(found, self.u, self.y)
        assert (found.model.inputs, found.model.output, found.model.decimation) == (("u",), "y", 1)

    def test_inputs_and_output_by_position(self, found):
        times = pd.date_range("2026-01-01", periods=len(self.y), freq="2s")
        frame = pd.DataFrame({"valve": self.u}, index=times)
        both = {
            "arrays": narxbench.identify(self.u[:, None], self.y, **SMALL),
            "frame": narxbench.identify(frame, self.y, **SMALL),
            "series": narxbench.identify(frame["valve"], pd.Series(self.y, index=times, name="level"), **SMALL),
        }
        assert {each.model.coefficients for each in both.values()} == {found.model.coefficients}
        names = {name: (*each.model.inputs, each.model.output) for name, each in both.items()}
        assert names == {"arrays": ("u", "y"), "frame": ("valve", "y"), "series": ("valve", "level")}
        assert [each.model.sampling_time for each in both.values()] == [None, 2.0, 2.0]

    def test_a_share_for_the_test(self, found):
        tested = narxbench.identify(input=self.u, output=self.y, test="25%", **SMALL)
        assert [(len(r), r.role) for r in tested.recording.records] == [(300, None), (100, "test")]
        check_weights(tested, self.u[:300], self.y[:300])
        assert found.to_dict()["metrics"]["test"] is None
        names = [{note.name for note in each.notes} for each in (found, tested)]
        assert "no_test" in names[0] and "no_test" not in names[1]


def test_all_by_itself():
    """Nothing is given but the data: a white input keeps the decimation at 1."""
    u, y = s1(500)
    found = narxbench.identify(input=u, output=y, effort=0.5, seeds=1, resamples=0)
    assert found.model.terms == TERMS and found.model.decimation == 1
    assert not found.configuration["centred"]


def test_an_input_that_does_nothing_is_left_out():
    rng = generator(purpose="two inputs")
    u = rng.standard_normal((500, 2))
    y = 0.05 * rng.standard_normal(500)
    for k in range(1, 500):
        y[k] += 0.5 * y[k - 1] + 0.6 * u[k - 1, 0] + 0.3 * u[k, 0] ** 2 - 0.2 * y[k - 1] * u[k, 0]
    lags = {"y_lags": 1, "u_lags": {"heat": "0-1", "noise": [0, 1]}}
    data = {"heat": u[:, 0], "noise": u[:, 1], "T": y}
    found = narxbench.identify(data, input="heat,noise", output="T", **{**SMALL, **lags})
    assert found.model.terms == ("y(k-1)", "u1(k-1)", "y(k-1)*u1(k)", "u1(k)^2")
    assert found.model.inputs == ("heat", "noise")
    np.testing.assert_allclose(found.model.coefficients, [0.5, 0.6, -0.2, 0.3], atol=0.02)
    assert found.configuration["u_lags"] == [[0, 1], [0, 1]]
    check_weights(found, u, y, 2)


def test_a_series_without_an_input():
    rng = generator(purpose="series")
    y = 0.1 * rng.standard_normal(600)
    for k in range(2, 600):
        y[k] += 1.2 * y[k - 1] - 0.3 * y[k - 1] ** 2 * y[k - 2] - 0.6 * y[k - 2]
    found = narxbench.identify(output=y, **{**QUICK, "degree": 3, "y_lags": 2})
    assert {"y(k-1)", "y(k-2)"} <= set(found.model.terms) and found.model.inputs == ()
    assert not any("u" in term for term in found.model.terms)
    check_weights(found, np.empty((600, 0)), y, 0, rtol=1e-6)
    json.dumps(found.to_dict(), allow_nan=False)


class TestSeveralExperiments:
    """Several experiments, none of whose rows spans two."""

    u, y = s1(900)

    def frames(self, *bounds):
        return [{"u": self.u[a:b], "y": self.y[a:b]} for a, b in bounds]

    def test_roles(self, tmp_path):
        names = ["a.csv", "b.csv", "c.csv"]
        for name, frame in zip(names, self.frames((0, 400), (400, 600), (600, 900)), strict=True):
            pd.DataFrame(frame).to_csv(tmp_path / name, index=False)
        roles = {"a.csv": "estimation", "b.csv": "selection", "c.csv": "test"}
        found = narxbench.identify([tmp_path / name for name in names], input="u", output="y", roles=roles, **SMALL)
        assert [r.role for r in found.recording.records] == ["estimation", "selection", "test"]
        assert found.model.terms == TERMS
        check_weights(found, self.u[:400], self.y[:400])
        metrics = found.to_dict()["metrics"]
        for role, (a, b) in {"estimation": (0, 400), "selection": (400, 600), "test": (600, 900)}.items():
            free, ahead = (found.model.score(self.u[a:b], self.y[a:b], steps=steps) for steps in (None, 1))
            assert metrics[role]["free_run"]["rrse"] == pytest.approx(free.rrse, rel=1e-9)
            assert metrics[role]["one_step"]["fit_percent"] == pytest.approx(ahead.fit_percent, rel=1e-9)

    def test_figures_of_the_selection_are_of_weights_that_do_not_know_it(self):
        u, y = self.u[:300], self.y[:300]
        found = narxbench.identify(input=u, output=y, **{**SMALL, "blocks": 3})
        assert found.model.terms == TERMS
        lag, errors, measured = found.model.max_lag, [], []
        part = (np.arange(300) - lag) * 3 // (300 - lag)
        for number in range(3):
            rows = np.flatnonzero((np.arange(300) >= lag) & (part != number))
            past_y, past_u = y[rows - 1], u[rows - 1]
            columns = np.column_stack([past_y, past_u, past_y * past_u, past_u**2])
            w = np.linalg.lstsq(columns, y[rows], rcond=None)[0]
            mine = np.flatnonzero((np.arange(300) >= lag) & (part == number))
            last = y[mine[0] - 1]
            for k in mine:
                last = w[0] * last + w[1] * u[k - 1] + w[2] * last * u[k - 1] + w[3] * u[k - 1] ** 2
                errors.append(y[k] - last)
            measured.append(y[mine])
        # The energy is that about the mean of all stretches together.
        energy = np.sum((np.concatenate(measured) - np.concatenate(measured).mean()) ** 2)
        rrse = math.sqrt(np.sum(np.square(errors)) / energy)
        assert found.to_dict()["metrics"]["selection"]["free_run"]["rrse"] == pytest.approx(rrse, rel=1e-7)


@pytest.mark.parametrize("centre", [True, "auto"])
def test_centred_signals(centre):
    y, u = 50.0 + s1(300)[1], 7.0 + 2.0 * s1(300)[0]
    found = narxbench.identify(input=u, output=y, **{**SMALL, "centre": centre}, test="20%")
    assert found.to_dict()["metrics"]["test"]["free_run"]["rrse"] < 0.1
    if found.configuration["centred"]:
        np.testing.assert_allclose(found.model.offsets, [y[:240].mean(), u[:240].mean()], rtol=1e-12)
        np.testing.assert_allclose(found.model.scales, [y[:240].std(), u[:240].std()], rtol=1e-12)
        np.testing.assert_allclose(found.model.expanded().predict(u, y), found.model.predict(u, y), rtol=1e-6)
    assert found.configuration["centred"] or centre == "auto"


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_units_do_not_matter(scale):
    u, y = s1(300)
    plain, scaled = (narxbench.identify(input=u, output=y * s, **SMALL) for s in (1.0, scale))
    assert scaled.model.terms == plain.model.terms
    rrse = [found.to_dict()["metrics"]["selection"]["free_run"]["rrse"] for found in (plain, scaled)]
    assert rrse[0] == pytest.approx(rrse[1], rel=1e-6)


def test_an_exact_model_is_called_exact_and_its_lags_are_no_advice():
    u = generator(purpose="exact").standard_normal(300)
    found = narxbench.identify(input=u, output=np.r_[np.zeros(3), u[:-3]], test="25%", **{**SMALL, "u_lags": "0-4"})
    by_name = {finding.name: finding for finding in [*found.checks, *found.summary]}
    assert "exact" in by_name and by_name["to_predict"].status == "fine"
    # The data ask for lag 3, which the candidates have.
    assert (by_name["delay"].status, by_name["delay"].values["inputs"]["u"]["used"]) == ("fine", True)
