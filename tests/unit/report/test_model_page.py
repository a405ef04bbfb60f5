"""The page of a model: complete and well formed for any data, its numbers those of the result, its files readable."""

import json
import re
from dataclasses import replace
from functools import cache
from html import unescape
from unittest.mock import patch
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from tests.lookups import file_names, item_with, items_by_name, names_of
from tests.tiers import mostly_slow
from tests.unit.studies.paper.test_page import Page

from narxbench._algorithms.certainty import ExchangeableTerms, NamedStructure
from narxbench._algorithms.contract import SearchWarning
from narxbench._identification.data.checks import checks_before, no_test_check
from narxbench._identification.finding import Finding
from narxbench._identification.result import Identification
from narxbench._identification.settings import IdentificationSettings
from narxbench._identification.trust import validation as validated
from narxbench._identification.trust.answers import ANSWERS, answers
from narxbench._identification.trust.bands import BAND, Unseen
from narxbench._identification.trust.dynamics import dynamics, working_point
from narxbench._identification.trust.errors import errors_text
from narxbench._identification.trust.probabilities import EXACT, TOO_FEW, StructureCertainty
from narxbench._identification.trust.residuals import correlation_tests, free_run_bias
from narxbench._identification.trust.steady_state import measured_static_points, static_curve
from narxbench._identification.trust.validation import ARX, INCOMING, LAST_VALUE, MODEL, Case, linear_arx, validate
from narxbench._identification.trust.verdicts import summary
from narxbench._io.csv import read_rows
from narxbench._model.narx import Model
from narxbench._model.records import Record, Recording
from narxbench._numerics.random_streams import generator
from narxbench._report import model_figures, model_fits
from narxbench._report import model_page as page_of
from narxbench._report.model_figures import fit_figure, time_axis
from narxbench._report.model_page import model_page, programs_of, write_report
from narxbench._report.model_summary import summary_lines

TERMS, WEIGHTS = ("y(k-1)", "u(k-1)", "u(k-2)^2"), (0.6, 1.0, 0.4)
TWO = ("y(k-1)", "u1(k-1)", "u1(k-1)*u2(k-2)")
# As a user may name things: markup, mathematics, entities, the end of a comment, a line break.
HOSTILE = ("P$_{in}$ <b>", 'T & "q" --> \n')
OUTPUT = "out</svg></script>$x$"


def model_of(terms=TERMS, weights=WEIGHTS, inputs=("u",), output="y", **options):
    return Model(terms, weights, inputs=inputs, output=output, **options)


def record(name, samples=200, role="estimation", model=None, noise=0.1, dwell=0):
    """Return a record of a model's own output with noise; the last samples of the input may be constant."""
    model = model or model_of()
    rng = generator(purpose="model page", name=name)
    u = rng.uniform(-1, 1, (samples, model.n_inputs))
    u[samples - dwell :] = 0.5
    start = rng.standard_normal(model.initial_samples)
    y = model.predict(u if model.n_inputs else None, start, samples=samples) + noise * rng.standard_normal(samples)
    return Record(name, u, y, role)


def sure_of(terms, **changes):
    """Return a certainty that leaves no doubt of some terms."""
    probabilities = {"y(k-2)": 0.02, **dict.fromkeys(terms, 1.0)}
    rivals = [NamedStructure([*terms, "y(k-2)"], 0.02, 7.0, "NARX")]
    return replace(StructureCertainty("", 180, 0.95, probabilities, rivals), **changes)


def baselines_of(model, records):
    """Return the linear model of some records as a baseline, or none where they have no weights."""
    lags = {"y_lags": [1, 2], "u_lags": [[1, 2]] * model.n_inputs}
    try:
        arx = linear_arx(records, inputs=model.inputs, output=model.output, decimation=model.decimation, **lags)
    except ValueError:
        return {}
    return {ARX: arx}


def weights_of(model):
    """Return the rows of the table of weights."""
    errors = ("standard_error", "standard_error_classical", "standard_error_hc")
    rows = []
    for term, weight in zip(model.terms, model.coefficients, strict=True):
        row = {"term": term, "coefficient": weight, **dict.fromkeys(errors, abs(weight) / 8)}
        rows.append({**row, "t": 8.0, "p": 1e-5, "err": 0.1})
    return rows


def tried_configurations():
    """Return the table of the configurations that were tried, of which the last diverges."""
    rows = []
    for decimation in (1, 2, 3, 4):
        row = {"configuration": f"q{decimation}", "decimation": decimation, "degree": 2, "y_lags": "1-2"}
        row |= {"u_lags": "1-2", "centred": False, "noise_model": "narx", "terms": 3, "rrse": 0.1 * decimation}
        row |= {"fitness": -90.0, "divergent": 0.0, "searched": "thoroughly", "chosen": decimation == 1}
        rows.append(row)
    rows[-1] |= {"rrse": None, "fitness": None}
    return pd.DataFrame(rows, dtype=object)


def judgement_of(model, recording, records, baselines):
    """Return by name the parts of an identification that judge a model on records that all have a role."""
    validation = validate([Case(record, model, baselines) for record in records])
    estimating = [record for record in records if record.role == "estimation"]
    tests, curve = correlation_tests(model, estimating), static_curve(model, estimating)
    rests, checks = measured_static_points(model, estimating), checks_before(recording)
    bias = None
    if model.n_inputs:
        bias = free_run_bias([(model, record) for record in records if record.role == "test"])
    findings = summary(model, validation, tests, curve, rests, checks, bias)
    parts = {"checks": checks, "validation": validation, "tests": tests, "curve": curve, "rests": rests}
    return {**parts, "summary": findings}


def recording_and_judgement(model, records=None, arx=None):
    """Return by name a recording, and the parts of an identification that judge a model on it."""
    if records is None:
        roles = {"a.csv": "estimation", "b.csv": "selection", "c.csv": "test"}
        records = [record(name, role=role, model=model) for name, role in roles.items()]
    recording = Recording(
        tuple(records), inputs=model.inputs, output=model.output, sampling_time=model.sampling_time,
        units=dict(model.units), notes=("A <gap> was found.",),
    )  # fmt: skip
    with_roles = [replace(record, role=record.role or "estimation") for record in records]
    baselines = {ARX: arx} if arx else baselines_of(model, with_roles)
    return {"recording": recording, **judgement_of(model, recording, with_roles, baselines)}


@cache
def default_recording_and_judgement():
    return recording_and_judgement(model_of())


def identification_of(model=None, records=None, *, arx=None, **changes):
    """Return an identification that could have led to a model."""
    if model is records is arx is None:
        judgement = default_recording_and_judgement()
    else:
        judgement = recording_and_judgement(model or model_of(), records, arx)
    model = model or model_of()
    candidates = list(dict.fromkeys([*model.terms, "1", "y(k-2)"]))
    configuration = {"name": "q1", "decimation": model.decimation, "degree": 2, "y_lags": [1, 2], "u_lags": [[1, 2]]}
    configuration |= {"centred": False, "candidates": len(candidates), "dropped": {"u(k-1)^2": "is 1 <always>"}}
    configuration["near_pairs"] = {"number": 0, "worst": None}
    parts = {
        **{"model": model, "tried": tried_configurations(), "left_out": 2, "notes": []},
        **{"weights": weights_of(model), "configuration": configuration, "certainty": sure_of(model.terms)},
        "settings": IdentificationSettings().model_dump(mode="json"),
        "alike": [(model.terms[0], "y(k-2)", -0.97)],
        "method": "x",
        **judgement,
    }
    identification = Identification(**{**parts, **changes})
    if "summary" in changes:
        return identification
    return replace(identification, summary=[*answers(identification), *identification.summary])


def with_dynamics(identification):
    """Return an identification that knows how its model answers the inputs, with wide intervals."""
    model, records = identification.model, identification.recording.known
    uncertain = replace(model, covariance=tuple(map(tuple, np.diag(np.full(len(model.terms), 0.01)).tolist())))
    point = working_point(model, records, identification.curve)
    about = replace(identification, dynamics=dynamics([uncertain], records, point))
    return replace(about, summary=[*answers(about), *about.summary[3:]])


NAR = model_of(("y(k-1)", "y(k-2)", "y(k-1)^3"), (1.5, -0.8, -0.1), inputs=())
UNITS = {OUTPUT: "m$^2$<i>", HOSTILE[0]: "°C"}
MANY = model_of(TWO, (0.5, 1.0, -0.6), inputs=HOSTILE, output=OUTPUT, units=UNITS, sampling_time=0.01)
DIVERGING = model_of(("y(k-1)", "u(k-1)"), (1.9, 1.0))
CASES = {
    "one input": lambda: identification_of(),
    "rests": lambda: identification_of(records=[record("a", 300, dwell=100), record("b", role="test")]),
    "decimated": lambda: identification_of(
        model_of(decimation=3, sampling_time=1e-5), [record("a", 600), record("b", 400, "test")]
    ),
    "no input": lambda: identification_of(
        NAR, [record("a", 400, None, NAR, 0.02), record("b", 200, "test", NAR, 0.02)]
    ),
    "two inputs, hostile names, no test": lambda: identification_of(
        MANY, [record("<script>alert(1)</script>\n", 300, None, MANY)]
    ),
    "one record of many": lambda: identification_of(
        records=[record("a"), *(record(f"t{n}", 60, "test") for n in range(15))]
    ),
    "diverging ARX": lambda: identification_of(arx=DIVERGING),
    "diverging model": lambda: identification_of(
        DIVERGING, [record("a", 400, model=model_of()), record("b", 400, "test", model_of())]
    ),
    "constant alone": lambda: identification_of(model_of(("1",), (0.5,)), [record("a"), record("b", role="test")]),
    "one term": lambda: identification_of(model_of(("u(k)",), (0.5,)), [record("a"), record("b", role="test")]),
    "short test": lambda: identification_of(model_of(decimation=20), [record("a", 300), record("b", 30, "test")]),
    "constant output": lambda: identification_of(
        records=[record("a"), replace(record("b", role="test"), y=np.full(200, 2.0))]
    ),
    "centred": lambda: identification_of(model_of(offsets=(0.5, 0.1), scales=(2.0, 0.5))),
    "two inputs, intervals": lambda: with_dynamics(identification_of(MANY, [record("a", 300, None, MANY)])),
}


class Pages(dict):
    """The identification of each case and its page, made when a test asks for it."""

    def __init__(self, page):
        self.page = page

    def __missing__(self, name):
        case = CASES[name]()
        self[name] = case, self.page(case, programs_of(case.model))
        return self[name]


def undrawn_page(case, programs=(), **options):
    """Return the page with empty figures, which take most of its time."""
    with patch.object(model_figures, "svg", return_value='<svg xmlns="http://www.w3.org/2000/svg"/>'):
        return model_page(case, programs or programs_of(case.model), **options)


@pytest.fixture(scope="module")
def pages():
    return Pages(model_page)


@pytest.fixture(scope="module")
def undrawn():
    return Pages(undrawn_page)


@pytest.mark.parametrize("name", mostly_slow(CASES, "two inputs, hostile names, no test"))
def test_the_page_is_well_formed_and_needs_nothing_else(pages, name):
    _, html = pages[name]
    page = Page(html)
    page.check_structure()
    anchors = {f"#{id}" for id in page.ids}
    assert set(page.links) - anchors <= {*page_of._FILES, *(file for file, _ in page_of._EXPORTS.values())}
    labels = re.findall(r'aria-(?:labelledby|describedby)="([^"]*)"', html.split("<script")[0])
    assert set(labels) <= set(page.ids)
    assert "default-src 'none'" in html
    for svg in re.findall(r"<svg.*?</svg>", html.split("<script")[0], re.DOTALL):
        ElementTree.fromstring(svg.replace("<svg", '<svg xmlns:xlink="http://www.w3.org/1999/xlink"', 1))
    assert html.count("<figcaption") == html.count("<figure") and len(html) < 4_000_000


@pytest.mark.parametrize("name", mostly_slow(CASES, "two inputs, hostile names, no test"))
def test_the_page_misses_no_number_and_is_about_the_model_alone(pages, name):
    _, html = pages[name]
    text = Page(re.sub(r"<pre.*?</pre>", "", html, flags=re.DOTALL)).text
    assert re.findall(r"\bnan\b|\bNaN\b|\bNone\b(?! (?:of|was))|\binf\b|\{\{|%\}|Undefined", text) == []
    assert not re.search("paper|arxiv|2D-UPSO|Hafiz", html, re.IGNORECASE)
    assert "A <gap> was found." in text[text.index("Warnings") : text.index("How sure")]


def chart(html):
    """Return the data of the chart of a page."""
    return json.loads(html.split('id="page-data">')[1].split("</script>")[0])


def cells(html, table):
    """Return the texts of the rows of a table."""
    body = html.split(f'id="{table}" class="sortable"')[1].split("</table>")[0].split("<tbody>")[1]
    rows = []
    for row in re.findall(r"<tr.*?</tr>", body, re.DOTALL):
        rows.append([re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)])
    return rows


def column_texts(html, table, number):
    """Return the texts of one column of a table."""
    return [row[number] for row in cells(html, table)]


def finding_of(identification, name):
    return item_with(identification.summary, name=name)


def statuses_of_answers(identification):
    return [finding.status for finding in identification.summary[:3]]


@pytest.mark.parametrize("name", ["one input", "decimated"])
def test_the_first_table_has_the_errors_of_the_free_run_on_the_test_data(undrawn, name):
    """All errors but those of a table that says so are at the incoming sampling."""
    identification, html = undrawn[name]
    frame = identification.validation
    at = (frame["role"] == "test") & (frame["record"] == "all") & (frame["kind"] == "free_run")
    for row, model_name in zip(cells(html, "fit_figures"), (MODEL, ARX, LAST_VALUE), strict=True):
        (rrse,) = frame[at & (frame["model"] == model_name) & (frame["sampling"] == INCOMING)]["rrse"]
        fit = f"{100 * (1 - rrse):.1f} %".replace("-", "−")
        assert row == [{MODEL: "this model"}.get(model_name, model_name), f"{rrse:.3g}", fit]
    assert finding_of(identification, "errors").values["rrse"] == identification.summary[0].values["rrse"]


def test_without_an_input_predictions_ahead_are_what_counts(undrawn):
    identification, html = undrawn["no input"]
    place = {"role": "test", "record": "all", "model": MODEL, "sampling": INCOMING}
    row = validated.row_at(identification.validation, steps=5, **place)
    assert cells(html, "fit_figures")[0][1] == f"{row['rrse']:.3g}"
    assert "5 steps ahead on the test data" in html and "5 steps ahead: b (test)." in html


def test_runs_that_diverge_are_reported(undrawn):
    assert cells(undrawn["diverging ARX"][1], "fit_figures")[1][1:] == ["diverges", "–"]
    html = undrawn["diverging model"][1]
    assert "The free run diverges on b." in html and "The prediction diverges" in html
    assert "WORSE than linear ARX in free run on the test data: RRSE none (diverges)" in html
    # The measured output is drawn, if only that.
    data = chart(html)
    assert data["records"][0]["predicted"] is None and len(data["records"][0]["measured"]) == 400


def test_a_prediction_that_diverges_at_the_incoming_sampling_alone_is_drawn_decimated():
    # Phase 1 begins beyond the unstable fixed point 1 of y^2, phase 0 within.
    model = model_of(("y(k-1)^2",), (1.0,), inputs=("u",), decimation=2)
    y = np.where(np.arange(80) % 2, 1.5, 0.5)
    recording = Recording((Record("a", np.zeros((80, 1)), y, "test"),), ("u",), "y")
    identification = replace(identification_of(), model=model, recording=recording)
    fit = model_fits.fit_of(identification, recording.records[0], 1000)
    assert fit.stride == 2 and "every 2nd sample" in fit.note
    assert fit.predicted.tolist() == model.decimated().predict(np.zeros(40), y[::2]).tolist()


def test_the_chart_has_the_free_run_of_the_test_records(undrawn):
    identification, html = undrawn["one record of many"]
    data = chart(html)
    tests = list(identification.recording.of_role("test"))
    assert len(data["records"]) == model_fits._MOST_CHARTS == html.count("</option>")
    for shown, test in zip(data["records"], tests, strict=False):
        predicted = identification.model.predict(test.u, test.y[:2]).tolist()
        assert shown["predicted"] == pytest.approx(predicted, rel=1e-4, abs=1e-9)
        assert shown["measured"] == pytest.approx(test.y.tolist(), rel=1e-4)
    data = chart(undrawn["decimated"][1])
    assert (data["axis"], data["records"][0]["step"]) == ("time (ms)", 0.01)


def test_long_records_are_cut(monkeypatch):
    monkeypatch.setattr(model_fits, "MOST_SAMPLES", 150)
    html = undrawn_page(identification_of())
    data = chart(html)
    assert len(data["records"][0]["measured"]) == 150
    assert "The first 150 of 200 samples are shown." in html


def status(name, identification):
    return finding_of(identification, name).status


def test_the_three_answers_lead(undrawn):
    identification, html = undrawn["one input"]
    first = unescape(html).split('id="sure"')[0]
    for finding, answer in zip(identification.summary[:3], ANSWERS, strict=True):
        assert finding.name == answer and finding.text.replace("(k-", "(k−") in first
    to_predict = item_with(identification.to_dict()["summary"], name="to_predict")
    assert to_predict["values"]["role"] == "test"
    assert names_of(undrawn["no input"][0].summary[:3]) == [*ANSWERS[:2], "errors"]


def test_to_predict_has_the_errors_in_units_and_the_ranges_of_the_data():
    identification = identification_of(model_of(units={"y": "V"}))
    reported, model = finding_of(identification, "to_predict").values, identification.model
    estimation, selection, test = identification.recording.records
    errors = (test.y - model.predict(test.u, test.y))[model.initial_samples :]
    assert reported["rmse"] == pytest.approx(np.sqrt(np.mean(errors**2)))
    assert reported["max_error"] == pytest.approx(np.abs(errors).max())
    y = np.concatenate([estimation.y, selection.y])
    assert reported["ranges"]["y"] == pytest.approx((y.min(), y.max())) and list(reported["ranges"]) == ["u", "y"]


def test_to_predict_needs_data_of_a_test_whose_errors_have_nothing_in_common():
    assert status("to_predict", CASES["rests"]()) == "fine"
    # Data of the estimation are no proof.
    assert status("to_predict", identification_of(records=[record("a", role=None)])) == "look"
    # A sensor that drifts is noticed.
    drifts = replace(record("c", role="test"), y=record("c", role="test").y + np.linspace(-0.3, 0.3, 200))
    biased = identification_of(records=[record("a"), drifts])
    assert finding_of(biased, "residuals").values["free_run"]["drift"]["seen"]
    assert status("to_predict", biased) == "look"


def test_to_read_is_about_the_structure_alone():
    assert status("to_read", identification_of()) == "fine"
    doubts = [
        {"probabilities": dict(zip(TERMS, (1.0, 1.0, 0.4), strict=True))},
        {"probabilities": {**dict.fromkeys(TERMS, 1.0), "y(k-2)": 0.6}},
        {"groups": [ExchangeableTerms(["u(k-1)", "u(k-2)"], [0.5, 0.45])]},
        {"doubts": [SearchWarning("coloured_innovations", "the innovations are not white", {})]},
    ]
    for changes in doubts:
        assert status("to_read", identification_of(certainty=sure_of(TERMS, **changes))) == "look", changes
    # Terms of which perhaps one is there, but probably none, are no doubt of the structure.
    perhaps = [ExchangeableTerms(["u(k-3)", "u(k-4)"], [0.1, 0.07])]
    assert status("to_read", identification_of(certainty=sure_of(TERMS, groups=perhaps))) == "fine"
    improbable = dict(zip(TERMS, (1.0, 0.3, 0.4), strict=True))
    doubtful = identification_of(certainty=sure_of(TERMS, probabilities=improbable))
    assert status("to_read", doubtful) == "bad" and status("errors", doubtful) == "fine"
    # An unknown certainty is neither good nor bad; an exact structure is good unless another could be exact.
    assert status("to_read", identification_of(certainty=StructureCertainty(TOO_FEW))) == "look"
    assert status("to_read", identification_of(certainty=StructureCertainty(EXACT))) == "look"
    assert status("to_read", identification_of(certainty=StructureCertainty(EXACT), alike=[])) == "fine"


def test_to_control_has_gain_pole_and_delay():
    linear = model_of(("y(k-1)", "u(k-3)"), (0.8, 0.5), decimation=2)
    identification = identification_of(linear, [record("a", 600, model=linear), record("b", 400, "test", linear)])
    reported = finding_of(identification, "to_control")
    assert reported.values["inputs"]["u"]["gain"] == pytest.approx(0.5 / 0.2)
    assert reported.values["eigenvalue"] == pytest.approx(0.8) and reported.values["inputs"]["u"]["delay"] == 6
    # The static curve leaves the outputs that were measured, unlike that of the next model.
    assert reported.values["at_rest"] < reported.values["cases"] and reported.status == "look"
    direct = model_of(("u(k-3)",), (0.5,))
    records = [record("a", 600, model=direct, noise=0.02), record("b", 300, "test", direct, 0.02)]
    assert status("to_control", identification_of(direct, records)) == "fine"
    square = model_of(("y(k-1)", "u(k-1)^2"), (0.5, 1.0))
    turns = identification_of(square, [record("a", model=square), record("b", role="test", model=square)])
    assert status("to_control", turns) == "look" and turns.summary[2].values["inputs"]["u"]["turns"]
    assert status("to_control", CASES["diverging model"]()) == "bad"


def test_intervals_decide_on_control_and_are_named():
    sure = with_dynamics(identification_of())
    reported = finding_of(sure, "to_control")
    assert set(names_of(reported.values["doubts"])) <= {"gain", "settling"}
    assert "Too uncertain for control: the gain of u, known to a factor of" in reported.text
    assert reported.status != "fine" and "dynamics" in sure.to_dict()
    gain = sure.dynamics.inputs["u"].gain
    html = undrawn_page(sure)
    assert f"{gain.value:.3g} per unit of u [{gain.low:.3g} to {gain.high:.3g}]" in html and "95 % intervals" in html


def test_a_record_of_noise_is_called_noise_first():
    rng = generator(purpose="noise")
    noise = []
    for role in ("estimation", "test"):
        noise.append(Record(role, rng.uniform(-1, 1, (200, 1)), rng.standard_normal(200), role))
    identification = identification_of(model_of(("u(k-1)",), (0.05,)), noise)
    assert statuses_of_answers(identification) == ["bad"] * 3
    to_predict = identification.summary[0]
    assert to_predict.values["noise"] and "noise" in to_predict.text.split(".")[0]
    assert not identification_of().summary[0].values["noise"]


def linear_identification():
    linear = model_of(("y(k-1)", "u(k-1)"), (0.6, 1.0))
    return identification_of(linear, [record("a", model=linear), record("b", role="test")])


CONSISTENT = {"linear": linear_identification}
CONSISTENT |= {name: CASES[name] for name in ("one input", "decimated", "rests", "diverging model", "no input")}


@pytest.fixture(scope="module")
def consistent():
    return {name: identify() for name, identify in CONSISTENT.items()}


@pytest.mark.parametrize("name", CONSISTENT)
def test_no_finding_contradicts_an_answer(consistent, name):
    findings = items_by_name(consistent[name].summary)
    statuses = {finding.name: finding.status for finding in consistent[name].summary}
    predict, structure = findings["to_predict"], findings["to_read"]
    if predict.status == "fine":
        assert "bad" not in (statuses.get("errors"), statuses.get("residuals"))
        assert findings["errors"].values["role"] == "test" and not predict.values["because"]
    if structure.status == "fine":
        assert structure.values["likely"] == len(structure.values["probabilities"])
    if predict.status == "bad":
        assert statuses.get("to_control", "bad") == "bad"
    if statuses.get("to_control") == "fine":
        assert statuses.get("steady_states", "fine") == "fine"


@pytest.mark.parametrize("name", CONSISTENT)
def test_only_what_was_tried_and_the_data_are_advised(consistent, name):
    for finding in consistent[name].summary:
        advice = finding.advice
        assert "=" not in advice and "Try" not in advice


def test_the_consistent_cases_have_answers_of_each_status(consistent):
    statuses = set()
    for identification in consistent.values():
        statuses.update(statuses_of_answers(identification))
    assert statuses == {"fine", "look", "bad"}


def test_every_finding_is_reported_and_none_twice_at_the_top():
    gap = {"test": 0.9, "seen": 0.1, "test_rmse": 0.9, "seen_rmse": 0.1, "unit": "", "role": "selection"}
    values = {**finding_of(identification_of(), "errors").values, "gap": {**gap, "status": "bad"}}
    bad, (note,) = Finding("errors", "bad", values, *errors_text(values)), no_test_check([])
    identification = identification_of(summary=[bad], notes=[note])
    warnings = identification.to_dict()["warnings"]
    assert warnings[:2] == [f"{finding.title}: {finding.text}" for finding in (bad, note)]
    assert warnings[-1] == "A <gap> was found."
    html = unescape(undrawn_page(identification))
    assert bad.text in html and bad.advice in html
    assert note.advice == 'Keep data for a test, as with `test="20%"`.'
    assert note.advice.replace("`test", "<code>test").replace("`.", "</code>.") in html


def test_how_sure_the_structure_is(undrawn):
    def reported(**changes):
        return finding_of(identification_of(**changes), "to_read").values

    values = reported()
    assert (values["likely"], values["probability"], values["outside"]) == (3, 0.95, {})
    row = {"term": "u(k-1)", "t": 1.9, "coefficient": 1.0, "standard_error": 1.0, "p": 0.1, "err": 0.0}
    assert reported(weights=[row])["weak"] == ["u(k-1)"]
    assert column_texts(undrawn["one input"][1], "weights", -1) == ["&gt; 0.99"] * 3


DOUBTFUL = StructureCertainty(
    missing="",
    samples=180,
    probability=0.26,
    probabilities={**dict(zip(TERMS, (1.0, 0.96, 0.33), strict=True)), "u(k-1)^2": 0.32},
    rivals=[
        NamedStructure([TERMS[0], TERMS[1], "u(k-1)^2"], 0.31, -0.4, "NOE"),
        NamedStructure([*TERMS, "y(k-2)"], 0.05, 3.2, "ARARX (AR 1)"),
    ],
    groups=[ExchangeableTerms(["u(k-2)^2", "u(k-1)^2", "u(k-1)*u(k-2)"], [0.33, 0.32, 0.24])],
    doubts=[SearchWarning("heavy_tails", "the innovations have heavy tails (excess kurtosis 2.6)", {})],
)
ONE_OF_THREE = "One of these three is probably a term: u(k−2)^2 (0.33), u(k−1)^2 (0.32) and u(k−1)*u(k−2) (0.24)."


def test_the_page_says_how_sure_the_structure_is():
    html = undrawn_page(identification_of(certainty=DOUBTFUL))
    text = Page(html).text
    assert "The probability of the structure is 0.26" in text
    assert ONE_OF_THREE in text and "the innovations have heavy tails" in text
    assert column_texts(html, "weights", -1) == ["&gt; 0.99", "0.96", "0.33"]


def test_the_terminal_says_how_sure_the_structure_is():
    lines = "\n".join(summary_lines(identification_of(certainty=DOUBTFUL), report=False))
    assert "LOOK  To read its terms: The probability of the structure is 0.26." in lines


def test_a_missing_certainty_has_its_reason_on_the_page():
    html = undrawn_page(identification_of(certainty=StructureCertainty(TOO_FEW)))
    assert f"The probabilities of the terms are unknown: {TOO_FEW}." in Page(html).text
    assert column_texts(html, "weights", -1) == ["–"] * 3


def test_names_of_users_stay_text(pages):
    html = pages["two inputs, hostile names, no test"][1]
    page = Page(html)
    assert "alert(1)" not in "".join(page.scripts[1:])
    assert not re.search(r"<script>alert|<b> |</svg></script>\$x\$|<i>\)", html)
    assert f"Model of {OUTPUT} from {HOSTILE[0]}" in page.text
    data = chart(html)
    assert data["output"] == f"{OUTPUT} (m$^2$<i>)"


@pytest.fixture(scope="module")
def report(undrawn, tmp_path_factory):
    """Return the folder of a report whose figures are empty."""
    folder = tmp_path_factory.mktemp("report") / "new"
    with patch.object(page_of, "model_page", undrawn_page):
        page = write_report(CASES["one input"](), folder)
    assert page == folder / "report.html"
    return folder


def test_all_files_are_written(report, undrawn):
    page = (report / "report.html").read_text()
    # Equal results give equal bytes.
    assert page == undrawn["one input"][1]
    programs = {"model.c", "model.py", "model.m", "model_sysidentpy.py"}
    tables = {"validation.csv", "terms.csv", "tried.csv", "residuals.csv", "steady_states.csv"}
    written = set(file_names(report))
    assert written == {"report.html", "model.json", "identification.json"} | programs | tables
    for name in written - {"report.html"}:
        assert name in page


def test_all_files_can_be_read(report, undrawn):
    identification, _ = undrawn["one input"]
    assert Model.load(report / "model.json") == identification.model
    reported = json.loads((report / "identification.json").read_text(), parse_constant=pytest.fail)
    assert reported["terms"] == list(TERMS)
    steps = read_columns(report / "validation.csv")["steps"]
    assert len(steps) == len(identification.validation) and "" in steps
    terms = read_columns(report / "terms.csv")
    assert terms["term"] == [*TERMS, "y(k-2)"]
    assert terms["in_model"] == ["true", "true", "true", "false"]
    assert list(map(float, terms["coefficient"][:3])) == list(WEIGHTS) and terms["coefficient"][3] == ""
    assert read_columns(report / "tried.csv")["rrse"][3] == ""
    correlations = read_columns(report / "residuals.csv")
    assert len(correlations["lag"]) == sum(len(test.lags) for test in identification.tests)
    states = read_columns(report / "steady_states.csv")
    assert states["of"].count("model") == len(identification.curve)


def test_one_thing_has_one_number(report, undrawn):
    """The terminal, the page and the files say the same errors, weights and probabilities."""
    identification, html = undrawn["one input"]
    reported = json.loads((report / "identification.json").read_text())
    terms = read_columns(report / "terms.csv")
    terminal = "\n".join(summary_lines(identification, report=False))
    rrse = reported["metrics"]["test"]["free_run"]["rrse"]
    assert rrse == items_by_name(reported["summary"])["to_predict"]["values"]["rrse"]
    assert re.search(rf"^test, free run +{re.escape(f'{rrse:.3g}')} ", terminal, re.MULTILINE)
    assert column_texts(html, "fit_figures", 1)[0] == f"{rrse:.3g}"
    one_step = reported["metrics"]["test"]["one_step"]["rrse"]
    assert re.search(rf"^test, 1 step ahead +{re.escape(f'{one_step:.3g}')} ", terminal, re.MULTILINE)
    for number, (term, weight) in enumerate(zip(reported["terms"], reported["coefficients"], strict=True)):
        assert (terms["term"][number], float(terms["coefficient"][number])) == (term, weight)
        assert float(cells(html, "weights")[number][1].replace("−", "-")) == float(f"{weight:.4g}")
        assert float(terms["probability"][number]) == reported["certainty"]["probabilities"][term]
        assert f"{weight:.4g} {term}" in terminal


@pytest.mark.parametrize("name", CASES)
def test_the_terminal_is_short_and_no_sentence_is_cut(undrawn, name):
    identification = undrawn[name][0]
    for is_report in (False, True):
        lines = summary_lines(identification, report=is_report)
        assert len(lines) <= 25 - is_report and max(map(len, lines)) <= 100
        assert not any(line.rstrip().endswith("…") for line in lines)
        answers = [line for line in lines if line[6:].startswith(("To predict", "To read", "For control"))]
        assert len(answers) == sum(finding.name in ANSWERS for finding in identification.summary)
        competitors = items_by_name(identification.summary).get("competitors")
        is_worse = competitors is not None and "bad" in [
            about["status"] for about in (competitors.values["linear_arx"], competitors.values["last_value"]) if about
        ]
        assert lines[0].startswith("WORSE than") == is_worse


def test_of_many_terms_the_terminal_shows_the_largest():
    many = model_of([f"u(k-{lag})" for lag in range(1, 29)], [0.01 * lag for lag in range(1, 29)])
    weights = [{**row, "err": 0.001 * number} for number, row in enumerate(weights_of(many), 1)]
    lines = " ".join(summary_lines(identification_of(many, weights=weights), report=False))
    assert "… and 16 more: --json" in lines
    assert "u(k-28)" in lines and "u(k-17)" in lines and "u(k-16)" not in lines


def read_columns(path):
    """Return the columns of a CSV file by name."""
    header, rows = read_rows(path)
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


def test_the_program_predicts(undrawn):
    identification, _ = undrawn["decimated"]
    test = identification.recording.records[1]
    scope = {}
    exec(identification.model.export("python", "model"), scope)
    simulated = scope["model_simulate"](test.u[::3, 0].tolist(), test.y[::3].tolist())
    predicted = identification.model.decimated().predict(test.u[::3], test.y[::3])
    assert simulated == pytest.approx(predicted.tolist(), rel=1e-12)


@pytest.mark.parametrize("name", ["decimated", "no input"])
def test_the_lines_of_the_page_predict(tmp_path, undrawn, name):
    identification, html = undrawn[name]
    model = identification.model
    model.save(tmp_path / "model.json")
    lines = re.search(r'aria-label="Python">(import.*?)</pre>', html, re.DOTALL)[1]
    test = identification.recording.records[-1]
    scope = {"u": test.u, "y": test.y, "print": lambda text: None}
    exec(lines.replace("&#34;", '"').replace("model.json", str(tmp_path / "model.json")), scope)
    assert len(scope["five_ahead"]) == len(test.y)
    start, run = model.initial_samples, scope["free_run"]
    predicted = model.predict(test.u if model.n_inputs else None, test.y[:start], samples=len(run))
    assert run[start : start + 9].tolist() == predicted[start : start + 9].tolist()


def test_axes_of_time_suit_the_sampling():
    labels = ["sample", "time (s)", "time (s)", "time (ms)", "time (µs)", "time (ns)"]
    assert [time_axis(seconds).label for seconds in (None, 10.0, 0.01, 1e-5, 1e-8, 1e-11)] == labels
    assert time_axis(1e-5).positions(3, 2) == pytest.approx([0, 0.02, 0.04])
    assert time_axis(None).positions(3).tolist() == [1, 2, 3]


def test_the_chart_has_the_band_of_its_kind_of_prediction(undrawn):
    unseen = {"free_run": Unseen((np.arange(1.0, 10.0),)), "one_step": Unseen((np.ones(9),))}
    fit = model_fits.shown_fits(replace(undrawn["one input"][0], unseen=unseen))[0]
    assert fit.half_width == unseen["free_run"].half_width(BAND) == 9.0
    bare = model_fits.shown_fits(undrawn["one input"][0])[0]
    assert "FillBetween" not in fit_figure(bare, time_axis(None), "y")
    assert "FillBetween" in fit_figure(fit, time_axis(None), "y")
    # Predictions five steps ahead have no band.
    assert model_fits.shown_fits(replace(undrawn["no input"][0], unseen=unseen))[0].half_width is None
