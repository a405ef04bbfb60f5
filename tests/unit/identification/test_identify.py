"""From data to a model: true structures are found, in whatever form the data come, and the same ones each time."""

import json
import math
from dataclasses import replace
from itertools import chain

import numpy as np
import pandas as pd
import pytest
from tests.command import failed, succeeded
from tests.lookups import items_by_name, names_of, roles_of, values_of
from tests.regression import parse_terms, regressors

import narxbench
from narxbench import load_system

QUICK = {"decimation": 1, "effort": 0.3}
# Weights are checked against those of least squares.
SMALL = {"noise": "narx", **QUICK, "degree": 2, "y_lags": 2, "u_lags": 2}
LEAST = {"noise": "narx", "decimation": 1, "degree": 1, "y_lags": 1, "u_lags": 1, "effort": 0.02}
TERMS = ("y(k-1)", "u(k-1)", "y(k-1)*u(k-1)", "u(k-1)^2")
# Parts of the data that take turns in selection.
N_PARTS = 8


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

    def test_a_share_for_the_test(self, identification):
        tested = narxbench.identify(input=self.u, output=self.y, test="25%", **SMALL)
        kept, test = tested.recording.records
        assert (len(kept), kept.role, len(test), test.role) == (300, None, 100, "test")
        check_weights(tested.model, self.u[:300], self.y[:300])
        assert identification.to_dict()["metrics"]["test"] is None
        assert "no_test" in names_of(identification.notes) and "no_test" not in names_of(tested.notes)


def test_from_the_data_alone():
    """Identify with defaults: a white input keeps the decimation at 1."""
    u, y = s1(500)
    identification = narxbench.identify(input=u, output=y, effort=0.2)
    assert identification.model.terms == TERMS and identification.model.decimation == 1
    assert not identification.configuration["centred"]


def test_an_input_that_does_nothing_is_left_out(rng):
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
    assert identification.configuration["name"] == "q1-d2-y1-u0to1-u0to1"
    check_weights(model, u, y, 2)


def test_a_series_without_an_input(rng):
    y = 0.1 * rng.standard_normal(600)
    for k in range(2, 600):
        y[k] += 1.2 * y[k - 1] - 0.3 * y[k - 1] ** 2 * y[k - 2] - 0.6 * y[k - 2]
    identification = narxbench.identify(output=y, **{**QUICK, "noise": "narx", "degree": 3, "y_lags": 2})
    model = identification.model
    assert {"y(k-1)", "y(k-2)"} <= set(model.terms) and model.inputs == ()
    check_weights(model, np.empty((600, 0)), y, 0, rtol=1e-6)
    json.dumps(identification.to_dict(), allow_nan=False)


def test_a_horizon_is_where_the_model_and_its_competitors_are_judged():
    u, y = s1(600)
    settings = {**SMALL, "decimation": 2, "degree": 1, "test": "50%"}
    judged = narxbench.identify(u, y, horizon=5, **settings)
    findings = items_by_name(judged.summary)
    for name in ("to_predict", "errors", "competitors"):
        assert findings[name].values | {"kind": "k_step", "steps": 3} == findings[name].values, name
    assert judged.to_dict()["settings"]["horizon"] == findings["errors"].values["horizon"] == 5
    assert "3 steps ahead (horizon: 5 samples)" in findings["to_predict"].text
    # The error is that of predictions of the test three steps ahead, and of the output three steps before.
    (test,) = judged.recording.of_role("test")
    start = max(judged.model.initial_samples, 6)
    predictions = {"rrse": judged.model.predict(test.u, test.y, 3)[start:], "baseline": test.y[start - 6 : -6]}
    for key, predicted in predictions.items():
        errors = test.y[start:] - predicted
        rrse = np.sqrt(np.sum(errors**2) / np.sum((test.y[start:] - np.mean(test.y[start:])) ** 2))
        assert findings["competitors"].values["last_value"][key] == pytest.approx(rrse, rel=0.02)
    judged_freely = items_by_name(narxbench.identify(u, y, **settings).summary)
    assert judged_freely["to_predict"].values["kind"] == "free_run"
    assert judged_freely["competitors"].values["last_value"]["steps"] == 1


@pytest.mark.parametrize(("test", "most"), [("25%", "50, half of the longest test record"), (None, "200, half")])
def test_a_horizon_beyond_the_data_is_refused(test, most):
    u, y = s1(400)
    with pytest.raises(narxbench.NarxbenchError, match=f"horizon: found 300; allowed: up to {most}"):
        narxbench.identify(u, y, test=test, horizon=300, **SMALL)


def test_experiments_with_roles():
    u, y = s1(900)
    parts = {"estimation": slice(0, 400), "selection": slice(400, 600), "test": slice(600, 900)}
    roles = dict(zip(["data 1", "data 2", "data 3"], parts, strict=True))
    experiments = [{"u": u[part], "y": y[part]} for part in parts.values()]
    identification = narxbench.identify(experiments, input="u", output="y", roles=roles, **SMALL)
    assert roles_of(identification.recording.records) == list(parts)
    model, metrics = identification.model, identification.to_dict()["metrics"]
    assert model.terms == TERMS
    check_weights(model, u[:400], y[:400])
    for role, part in parts.items():
        free, ahead = model.score(u[part], y[part]), model.score(u[part], y[part], steps=1)
        assert metrics[role]["free_run"]["rrse"] == pytest.approx(free.rrse, rel=1e-9)
        assert metrics[role]["one_step"]["fit_percent"] == pytest.approx(ahead.fit_percent, rel=1e-9)


# Errors on parts that the weights do not know.


def plain_rrse(records, terms, lag, stride, *, is_centred, steps):
    """Return the relative error of a structure over all parts, each predicted by a model that does not know it.

    All records are one behind the other. Those of the selection are the parts, or all samples take turns.
    """
    u, y = np.concatenate(values_of(records, "u")), np.concatenate(values_of(records, "y"))
    if is_centred:
        u, y = (u - u.mean(axis=0)) / u.std(axis=0), (y - y.mean()) / y.std()
    lengths = list(map(len, records))
    record, time = np.repeat(np.arange(len(records)), lengths), np.concatenate(list(map(np.arange, lengths)))
    has_lags, selects = time >= lag * stride, np.equal(roles_of(records), "selection")[record]
    part = np.where(selects, record, np.cumsum(has_lags) - 1)
    if not selects.any():
        part = part * N_PARTS // has_lags.sum()
    is_tested = has_lags & (selects | ~selects.any())
    monomials, inputs, errors = [], tuple(map("in{}".format, range(u.shape[1]))), np.zeros(len(y))
    for monomial in parse_terms(terms, u.shape[1]):
        monomials.append([(signal, factor_lag * stride) for signal, factor_lag in monomial])
    for number in np.unique(part[is_tested]):
        rows = np.flatnonzero(has_lags & ~selects & ~(is_tested & (part == number)))
        weights = np.linalg.lstsq(regressors(u, y, monomials, rows), y[rows], rcond=None)[0]
        model = narxbench.Model(terms, tuple(weights), inputs, "y", decimation=stride)
        tested = np.flatnonzero(is_tested & (part == number))
        for run in np.split(tested, np.flatnonzero(np.diff(record[tested])) + 1):
            known = slice(run[0] - model.initial_samples, run[-1] + 1)
            errors[run] = y[run] - model.predict(u[known], y[known], steps)[-len(run) :]
    # The energy is that about the mean of all parts together.
    return math.sqrt(np.sum(errors**2) / np.sum((y[is_tested] - y[is_tested].mean()) ** 2))


def records_of(rng, lengths=(150,), inputs=("u",), decimation=1, shift=0.0):
    """Return records of a nonlinear process with lags of ``decimation`` samples."""
    records = []
    for n in lengths:
        u, y = rng.uniform(-2, 2, (n, len(inputs))), 0.1 * rng.standard_normal(n)
        for k in range(decimation, n):
            past, before = u[k - decimation].sum(), y[k - decimation]
            y[k] = 0.5 * before + 0.4 * past + 0.1 * past**3 - 0.1 * past * before + 0.05 * rng.standard_normal()
        records.append({"y": y + shift, **dict(zip(inputs, u.T + shift, strict=True))})
    return records


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ({}, {}),
        ({}, {"horizon": 1}),
        ({"shift": 9.0}, {"degree": 3, "y_lags": 1, "u_lags": 1}),
        ({"lengths": (200,), "decimation": 3}, {"decimation": 3, "y_lags": 1, "u_lags": "0-1"}),
        ({"lengths": (90, 60, 70), "inputs": ("u", "v")}, {"degree": 3, "y_lags": 1, "u_lags": {"u": 1, "v": "0-1"}}),
        (
            {"lengths": (90, 60, 70, 50), "decimation": 2},
            {"decimation": 2, "roles": {"data 2": "selection", "data 3": "test", "data 4": "selection"}},
        ),
    ],
)
def test_errors_are_of_weights_that_do_not_know_the_part(rng, options, settings):
    records = records_of(rng, **options)
    inputs = list(options.get("inputs", ["u"]))
    identification = narxbench.identify(records, "y", input=inputs, **{**SMALL, **settings})
    configuration, model, tried = identification.configuration, identification.model, identification.tried
    assert configuration["centred"] == ("shift" in options) and list(identification.models) == ["sparse"]
    lag = max(configuration["y_lags"] + [*chain.from_iterable(configuration["u_lags"])])
    options = {"is_centred": configuration["centred"], "steps": settings.get("horizon")}
    expected = plain_rrse(identification.recording.known, model.terms, lag, configuration["decimation"], **options)
    assert tried["rrse"][0] == pytest.approx(expected, rel=1e-6)
    if lag == model.max_lag and "horizon" not in settings:
        assert rrse_of(identification, "selection") == pytest.approx(tried["rrse"][0], rel=1e-6)


def test_centred_signals(rng):
    """About these levels the process has two terms, and five in its units."""
    u, y = rng.uniform(-1, 1, 300), np.zeros(300)
    for k in range(1, 300):
        y[k] = 0.5 * y[k - 1] + 0.5 * u[k - 1] ** 3 + 0.02 * rng.standard_normal()
    y, u = 5.0 + y, 7.0 + 2.0 * u
    identification = narxbench.identify(u, y, test="20%", **{**SMALL, "degree": 3, "y_lags": 1, "u_lags": 1})
    model = identification.model
    assert identification.configuration["centred"] and model.score(u[240:], y[240:]).rrse < 0.2
    np.testing.assert_allclose(model.offsets, [y[:240].mean(), u[:240].mean()], rtol=1e-12)
    np.testing.assert_allclose(model.scales, [y[:240].std(), u[:240].std()], rtol=1e-12)
    np.testing.assert_allclose(model.expanded().predict(u, y), model.predict(u, y), rtol=1e-6)


def test_an_exact_model_is_called_exact(rng):
    u = rng.standard_normal(300)
    identification = narxbench.identify(u, np.r_[np.zeros(3), u[:-3]], test="25%", **{**SMALL, "u_lags": "0-4"})
    by_name = items_by_name(identification.summary)
    assert by_name["errors"].values["exact"] and by_name["to_predict"].status == "fine"


@pytest.mark.parametrize(
    ("excluded", "words"),
    [
        ("u*", "stays finite on all parts .* diverge and 0 are singular"),
        ("y*", r"candidate terms: found u\(k-1\), always 0"),
    ],
)
def test_the_only_candidate_makes_no_model(rng, excluded, words):
    """The output grows tenfold in each of ten steps, and not later."""
    data = {"u": np.zeros(70), "y": np.r_[10.0 ** np.arange(10), 1 + rng.random(60)]}
    with pytest.raises(narxbench.NarxbenchError, match=words):
        narxbench.identify(data, "y", input="u", **LEAST, exclude=[excluded, "1"])


def test_a_run_that_grows_slowly_does_not_hold(rng):
    """Parts begin with measured outputs of an integrator, whose drift adds up over the whole record."""
    u = np.sin(np.arange(400) / 20) + 0.3 * rng.standard_normal(400)
    y = np.cumsum(0.05 + np.r_[0.0, u[:-1]] + 0.01 * rng.standard_normal(400))
    errors = items_by_name(narxbench.identify(u, y, **{**LEAST, "exclude": ["1"]}).summary)["errors"]
    assert not errors.values["holds"] and errors.status != "fine"


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.full(30, 2.0), "found 2 in all 30 samples of data; allowed: an output that varies"),
        (1e80 * np.arange(30.0), "found 2.9e+81 in data; allowed: up to 1e+70 in size"),
        (1e-160 * np.arange(30.0), "found no value larger than 2.9e-159; allowed: 1e-152 or more in size"),
    ],
)
def test_signals_that_nothing_can_be_computed_of(y, words):
    with pytest.raises(narxbench.NarxbenchError) as refused:
        narxbench.identify(np.sin(np.arange(30.0)), y)
    assert str(refused.value).removesuffix(", so scale the signal") == f"y: {words}"


def test_lags_and_candidates_are_those_of_the_settings():
    u, y = s1(300)
    data = {"p": u, "T": np.roll(u, 50), "y": y}
    settings = {**LEAST, "degree": 2, "y_lags": "1,3", "u_lags": {"p": "0,2", "T": 1}, "include": ["u1(k-9)"]}
    identification = narxbench.identify(data, "y", input=["p", "T"], exclude=["*u2*", "1"], **settings)
    configuration = identification.configuration
    assert (configuration["y_lags"], configuration["u_lags"]) == ([1, 3], [[0, 2], [1]])
    # Terms of two signals with two lags each up to the second degree but the constant, and one more.
    assert configuration["candidates"] + len(configuration["dropped"]) == 14 + 1
    assert "u2" not in identification.model.equation().split("\n")[0]


@pytest.mark.parametrize(
    ("delay", "settings", "first_lags"),
    # A dead time that the data show is no limit: lags from 1 on are tried, too.
    [
        (5, {"delay": 4}, {4}),
        (5, {"delay": 4, "decimation": 3}, {2}),
        (5, {}, {1, 4}),
        (0, {}, {0, 1}),
    ],
)
def test_where_the_lags_of_an_input_begin(rng, delay, settings, first_lags):
    u = rng.standard_normal(400)
    y = np.convolve(u, [*[0.0] * delay, 1.0, 0.5])[:400] + 0.1 * rng.standard_normal(400)
    identification = narxbench.identify(u, y, **{"decimation": 1, "degree": 2, "effort": 0.1, "y_lags": 2, **settings})
    assert set(identification.tried["u_lags"].str.extract(r"(\d+)")[0].astype(int)) == first_lags


def test_effort_decides_how_much_is_tried():
    u, y = s1(300)
    few = narxbench.identify(u, y, effort=1e-9, noise="narx", y_lags=2)
    many = narxbench.identify(u, y, effort=0.5, noise="narx", y_lags=2)
    assert few.left_out > many.left_out and len(few.tried) < len(many.tried)
    scanned = many.tried
    assert set(few.tried["decimation"]) == {1} and set(scanned["degree"]) == {1, 2, 3}
    assert set(scanned["y_lags"]) == {"1, 2"} and len(set(scanned["u_lags"])) > 2


def test_a_search_that_needs_more_memory_than_there_is_is_refused(tmp_path, monkeypatch, rng):
    monkeypatch.setattr("narxbench._io.resources.memory_of_machine", lambda: 0.7e9)
    file = tmp_path / "data.csv"
    pd.DataFrame({"u": rng.standard_normal(1000), "y": rng.standard_normal(1000)}).to_csv(file, index=False)
    words = ["identify", file, "--input", "u", "--output", "y", "--degree", "2", "--y-lags", "10", "--decimation", "1"]
    message = failed(*words, "--u-lags", "83")
    assert message.startswith("degree with the lags: candidate terms: found 4") and "GB of memory" in message
    succeeded(*words, "--u-lags", "1", "--effort", "0.01", "--noise", "noe")


class TestSameResult:
    """Other threads, test records, orders and times give the same model."""

    @pytest.fixture(scope="class")
    @classmethod
    def data(cls):
        u, y = s1(600)
        return pd.DataFrame({"u": u, "v": np.roll(u, 40), "y": y})

    @pytest.fixture(scope="class")
    @classmethod
    def identification(cls, data):
        return narxbench.identify(data, "y", input="u", test="50%", **SMALL)

    def test_with_other_threads(self, data, identification, monkeypatch):
        monkeypatch.setattr("narxbench._identification.search.steps.THREADS", 4)
        again = narxbench.identify(data, "y", input="u", test="50%", **SMALL)
        assert again.to_dict() == identification.to_dict() and repr(again.weights) == repr(identification.weights)
        assert repr(again.tried.to_dict("list")) == repr(identification.tried.to_dict("list"))

    def test_with_test_records_in_another_unit(self, data, identification):
        test = data[300:].assign(y=100.0 * data["y"])
        again = narxbench.identify(data[:300], "y", input="u", test=test, **SMALL)
        for name in ("terms", "coefficients", "covariance"):
            assert getattr(again.model, name) == getattr(identification.model, name)
        assert repr(again.tried.to_dict()) == repr(identification.tried.to_dict())
        for role in ("estimation", "selection"):
            assert again.to_dict()["metrics"][role] == identification.to_dict()["metrics"][role]

    def test_in_another_order_and_with_times(self, data):
        """Nothing is drawn, so that nothing hangs on the digest of the data."""
        records, chosen = [data[:300], data[300:].reset_index(drop=True)], []
        timed = [record.assign(t=0.5 * record.index) for record in records[::-1]]
        for experiments, inputs in ((records, ["u", "v"]), (timed, ["v", "u"])):
            terms = " ".join(narxbench.identify(experiments, "y", input=inputs, **SMALL).model.terms)
            for place, name in enumerate(inputs, 1):
                terms = terms.replace(f"u{place}", name)
            chosen.append(set(terms.split()))
        assert chosen[0] == chosen[1]


# What is known of a model: its JSON in shapes that fit each other, and what a terminal and a notebook show.


@pytest.fixture(scope="module")
def decimated():
    u, y = s1()
    settings = {"effort": 0.3, "degree": 2, "y_lags": 2, "u_lags": 2, "decimation": 2}
    return narxbench.identify(u, np.repeat(y[::2], 2), test="20%", sampling_time=0.5, **settings)


def test_json_has_all_of_a_result(decimated):
    reported, model = decimated.to_dict(), decimated.model
    assert json.loads(json.dumps(reported, allow_nan=False)) == reported
    assert reported["settings"] == {**decimated.settings, "found": decimated.configuration}
    assert (reported["terms"], reported["coefficients"]) == (list(model.terms), list(model.coefficients))
    np.testing.assert_allclose(reported["standard_errors"], model.standard_errors, rtol=1e-6)
    assert model.data_digest == decimated.recording.digest == reported["data_digest"]
    assert (model.step_time, model.decimation) == (1.0, 2)
    json.dumps([decimated.tried.to_dict("records"), decimated.validation.to_dict("records")], allow_nan=False)
    json.dumps([decimated.weights, decimated.alike], allow_nan=False)
    assert len(set(names_of(decimated.summary))) == len(decimated.summary) > 3


def test_the_first_configuration_is_that_of_the_model(decimated):
    tried, configuration = decimated.tried, decimated.configuration
    assert configuration["candidates"] + len(configuration["dropped"]) == 15
    assert list(tried["chosen"]).count(True) == 1 and bool(tried["chosen"][0])
    assert tried["configuration"][0] == configuration["name"]
    assert tried["terms"][0] == len(decimated.model.terms) == len(decimated.weights)


def test_bands_and_forecasts_name_what_they_need(decimated):
    (test,) = decimated.recording.of_role("test")
    mistakes = {"confidence": {"confidence": 1}, "steps": {"steps": 2}}
    for name, arguments in mistakes.items():
        with pytest.raises(narxbench.NarxbenchError, match=rf"^{name}: found "):
            decimated.bands(test.u, test.y, **arguments)
    with pytest.raises(narxbench.NarxbenchError, match=r"^y: found null next to u"):
        decimated.forecast(test.u, steps=1)


def test_a_run_that_diverges_is_none_not_nan():
    """Test on data whose free run diverges: all other figures are reported."""
    u, y = s1(300, 40)
    reported = narxbench.identify(u, y, test=(60.0 * u[:100], 60.0 * y[:100]), **SMALL).to_dict()
    json.dumps(reported, allow_nan=False)
    free = reported["metrics"]["test"]["free_run"]
    assert free == dict.fromkeys(("rrse", "nrmse", "fit_percent", "rmse", "max_error"))
    assert reported["metrics"]["test"]["one_step"]["rrse"] > 0
    assert "bad" in values_of(reported["summary"], "status")


def test_a_terminal_and_a_notebook_show_the_equation_the_error_and_the_findings_by_status(decimated):
    shown, page = repr(decimated), decimated._repr_html_()
    assert decimated.model.equation() in shown and len(shown) < 1500
    error = items_by_name(decimated.summary)["errors"].values
    assert f"RRSE {error['rrse']:.3g}" in shown and "data of test" in shown
    for status in ("bad", "look", "fine"):
        titles = [finding.title for finding in decimated.summary if finding.status == status]
        assert not titles or f"{status.capitalize()}: {'; '.join(titles)}" in shown
    assert page.startswith("<table>") and "<td" in page and "NaN" not in page
    hostile = replace(decimated, recording=replace(decimated.recording, notes=("<b>u</b>",)))._repr_html_()
    assert "<b>" not in hostile and "&lt;b&gt;" in hostile


def test_exchangeable_terms_are_named(rng):
    """Two inputs are almost the same."""
    first, y = rng.normal(size=400), np.zeros(400)
    for k in range(1, 400):
        y[k] = 0.5 * y[k - 1] + first[k - 1] + rng.normal()
    data = {"a": first, "b": first + 0.1 * rng.normal(size=400), "y": y}
    twins = narxbench.identify(data, "y", input=["a", "b"], test="20%", **{**LEAST, "noise": "auto", "effort": 0.5})
    (group,) = twins.certainty.groups
    assert group.terms == ["u1(k-1)", "u2(k-1)"] and sum(group.probabilities) > 0.9
    assert min(group.probabilities) > 0.02
    assert list(map(twins.probabilities.get, group.terms)) == group.probabilities
    to_read = items_by_name(twins.summary)["to_read"]
    assert to_read.status == "look" and group.terms[0] in to_read.text and group.terms[1] in to_read.text
    assert twins.to_dict()["certainty"]["groups"] == [group._asdict()]


def test_the_evidence_is_that_of_the_samples_that_estimate():
    """Count samples of one phase, and fewer where they follow one another too fast."""
    u, y = np.repeat(s1(600), 4, axis=1)
    records = [{"u": u[:1600], "y": y[:1600]}, {"u": u[1600:], "y": y[1600:]}]
    settings = {**LEAST, "degree": 2, "decimation": [2, 4], "effort": 0.2, "roles": {"data 2": "selection"}}
    identification = narxbench.identify(records, "y", input="u", **settings)
    model, advised = identification.model, 4
    n_predicted = 1600 // model.decimation - model.max_lag
    assert 0 < identification.certainty.samples <= n_predicted / max(1.0, advised / model.decimation)
