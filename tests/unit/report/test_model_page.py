"""The page of a model: complete and well formed for any data, its numbers those of the result, its files readable."""

import json
import re
from dataclasses import replace
from html import unescape
from unittest.mock import patch
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from tests.tiers import mostly_slow
from tests.unit.studies.paper.test_page import Page

from narxbench._algorithms.certainty import ExchangeableTerms, NamedStructure
from narxbench._algorithms.contract import SearchWarning
from narxbench._identification.data.checks import checks_before
from narxbench._identification.finding import Finding
from narxbench._identification.result import Identification
from narxbench._identification.search.structures import Structure
from narxbench._identification.settings import IdentificationSettings
from narxbench._identification.trust import validation as validated
from narxbench._identification.trust.answers import ANSWERS, answers
from narxbench._identification.trust.bands import BAND, Unseen
from narxbench._identification.trust.frequencies import frequent_structures, selection_table
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
from narxbench._report.findings import as_json, before_all, in_words, warnings
from narxbench._report.model_figures import fit_figure, time_axis
from narxbench._report.model_page import model_page, write_report
from narxbench._report.model_summary import summary_lines

TERMS, WEIGHTS = ("y(k-1)", "u(k-1)", "u(k-2)^2"), (0.6, 1.0, 0.4)
TWO = ("y(k-1)", "u1(k-1)", "u1(k-1)*u2(k-2)")
# As a user may name things: markup, mathematics, entities, the end of a comment, a line break.
HOSTILE = ("P$_{in}$ <b>", 'T & "q" --> \n')
OUTPUT = "out</svg></script>$x$"


def model(terms=TERMS, weights=WEIGHTS, inputs=("u",), output="y", **more):
    return Model(terms, weights, inputs=inputs, output=output, **more)


def record(name, samples=200, role="estimation", of=None, noise=0.1, dwell=0):
    """Return a record of a model's own output with noise; the last samples of the input may be constant."""
    of = of or model()
    rng = generator(purpose="model page", name=name)
    u = rng.uniform(-1, 1, (samples, of.n_inputs))
    u[samples - dwell :] = 0.5
    start = rng.standard_normal(of.initial_samples)
    y = of.predict(u if of.n_inputs else None, start, samples=samples) + noise * rng.standard_normal(samples)
    return Record(name, u, y, role)


def sure_of(terms, **changes):
    """Return a certainty that leaves no doubt of some terms."""
    probabilities = {"y(k-2)": 0.02, **dict.fromkeys(terms, 1.0)}
    rivals = [NamedStructure([*terms, "y(k-2)"], 0.02, 7.0, "NARX")]
    known = StructureCertainty("", 180, 0.95, probabilities, rivals)
    return replace(known, **changes)


def found(of=None, records=None, *, seeds=4, resamples=10, arx=None, **changes):
    """Return what an identification of a given model could have been."""
    of = of or model()
    roles = {"a.csv": "estimation", "b.csv": "selection", "c.csv": "test"}
    records = records or [record(name, role=role, of=of) for name, role in roles.items()]
    names = {"inputs": of.inputs, "output": of.output, "sampling_time": of.sampling_time, "units": dict(of.units)}
    recording = Recording(tuple(records), **names, notes=("A <gap> was found.",))
    estimates = [replace(each, role=each.role or "estimation") for each in records]
    lags = {"y_lags": [1, 2], "u_lags": [[1, 2]] * of.n_inputs}
    try:
        arx = arx or linear_arx(estimates, inputs=of.inputs, output=of.output, decimation=of.decimation, **lags)
        baselines = {ARX: arx}
    except ValueError:
        baselines = {}
    validation = validate([Case(each, of, baselines) for each in estimates])
    known = [each for each in estimates if each.role == "estimation"]
    tests, curve = correlation_tests(of, known), static_curve(of, known)
    unseen = [(of, each) for each in estimates if each.role == "test"]
    bias = free_run_bias(unseen) if of.n_inputs else None
    rests, checks = measured_static_points(of, known), checks_before(recording)
    candidates = list(dict.fromkeys([*of.terms, "1", "y(k-2)"]))
    often = [list(of.terms)[: 1 + n % len(of.terms)] + ["y(k-2)"] * (n % 2) for n in range(resamples)]
    errors = ("standard_error", "standard_error_classical", "standard_error_hc")
    weights = [
        {"term": term, "coefficient": weight, **dict.fromkeys(errors, abs(weight) / 8), "t": 8.0, "p": 1e-5, "err": 0.1}
        for term, weight in zip(of.terms, of.coefficients, strict=True)
    ]
    selection = selection_table(candidates, [list(of.terms)] * seeds, often)
    frequent, frequent_about = frequent_structures(selection, candidates, of.terms, often)
    score = {"fitness": -100.0, "rrse": 0.1, "divergent": 0.0, "singular": False, "candidates": len(candidates)}
    structure = Structure(configuration="q1", terms=list(of.terms), found_by="x", **score)
    tried = pd.DataFrame(
        [
            {
                **{"configuration": f"q{q}", "decimation": q, "degree": 2, "y_lags": "1-2", "u_lags": "1-2"},
                **{"centred": False, "noise_model": "narx", "terms": 3, "rrse": None if q == 4 else 0.1 * q},
                **{"fitness": None if q == 4 else -90.0, "divergent": 0.0},
                **{"searched": "thoroughly", "chosen": q == 1},
            }
            for q in (1, 2, 3, 4)
        ],
        dtype=object,
    )
    made = {
        **{"model": of, "recording": recording, "checks": checks, "tried": tried, "left_out": 2, "weights": weights},
        **{"validation": validation, "tests": tests, "curve": curve, "rests": rests, "notes": []},
        "settings": IdentificationSettings(resamples=resamples, seeds=max(1, seeds)).model_dump(mode="json"),
        "configuration": {
            **{"name": "q1", "decimation": of.decimation, "degree": 2, "y_lags": [1, 2], "u_lags": [[1, 2]]},
            **{"centred": False, "candidates": len(candidates), "dropped": {"u(k-1)^2": "is 1 <always>"}},
        },
        "certainty": sure_of(of.terms),
        "selection": selection,
        "structures": {"best": structure}
        | {name: structure.model_copy(update={"rrse": None, "fitness": None}) for name in frequent},
        "structures_made": frequent_about,
        "alike": [(of.terms[0], "y(k-2)", -0.97)],
        "summary": summary(of, validation, tests, curve, rests, checks, bias),
    }
    made = Identification(**{**made, **changes})
    return made if "summary" in changes else replace(made, summary=[*answers(made), *made.summary])


NAR = model(("y(k-1)", "y(k-2)", "y(k-1)^3"), (1.5, -0.8, -0.1), inputs=())
UNITS = {OUTPUT: "m$^2$<i>", HOSTILE[0]: "°C"}
MANY = model(TWO, (0.5, 1.0, -0.6), inputs=HOSTILE, output=OUTPUT, units=UNITS, sampling_time=0.01)
DIVERGING = model(("y(k-1)", "u(k-1)"), (1.9, 1.0))
CASES = {
    "one input": lambda: found(),
    "rests": lambda: found(records=[record("a", 300, dwell=100), record("b", role="test")]),
    "decimated": lambda: found(model(decimation=3, sampling_time=1e-5), [record("a", 600), record("b", 400, "test")]),
    "no input": lambda: found(NAR, [record("a", 400, None, NAR, 0.02), record("b", 200, "test", NAR, 0.02)]),
    "two inputs, hostile names, no test": lambda: found(MANY, [record("<script>alert(1)</script>\n", 300, None, MANY)]),
    "one record of many": lambda: found(records=[record("a"), *(record(f"t{n}", 60, "test") for n in range(15))]),
    "diverging ARX": lambda: found(arx=DIVERGING),
    "diverging model": lambda: found(DIVERGING, [record("a", 400, of=model()), record("b", 400, "test", model())]),
    "constant alone": lambda: found(model(("1",), (0.5,)), [record("a"), record("b", role="test")]),
    "one term": lambda: found(model(("u(k)",), (0.5,)), [record("a"), record("b", role="test")]),
    "nothing resampled": lambda: found(resamples=0),
    "one search": lambda: found(resamples=0, seeds=1),
    "no search": lambda: found(resamples=0, seeds=0),
    "short test": lambda: found(model(decimation=20), [record("a", 300), record("b", 30, "test")]),
    "constant output": lambda: found(records=[record("a"), replace(record("b", role="test"), y=np.full(200, 2.0))]),
    "centred": lambda: found(model(offsets=(0.5, 0.1), scales=(2.0, 0.5))),
}


class Pages(dict):
    """What was found in each case, and its page, made when a test asks for it."""

    def __init__(self, page):
        self.page = page

    def __missing__(self, name):
        case = CASES[name]()
        self[name] = case, self.page(case)
        return self[name]


def undrawn_page(case, **given):
    """Return the page without what its figures show, which takes most of its time."""
    with patch.object(model_figures, "_svg", return_value='<svg xmlns="http://www.w3.org/2000/svg"/>'):
        return model_page(case, **given)


@pytest.fixture(scope="module")
def pages():
    return Pages(model_page)


@pytest.fixture(scope="module")
def undrawn():
    return Pages(undrawn_page)


@pytest.mark.parametrize("name", mostly_slow(CASES, "two inputs, hostile names, no test"))
def test_the_page_is_well_formed_needs_nothing_else_and_misses_no_number(pages, name):
    _, html = pages[name]
    page = Page(html)
    page.check_structure()
    assert set(page.links) <= {f"#{id}" for id in page.ids}
    named = re.findall(r'aria-(?:labelledby|describedby)="([^"]*)"', html.split("<script")[0])
    assert set(named) <= set(page.ids)
    assert "default-src 'none'" in html
    for svg in re.findall(r"<svg.*?</svg>", html.split("<script")[0], re.DOTALL):
        ElementTree.fromstring(svg.replace("<svg", '<svg xmlns:xlink="http://www.w3.org/1999/xlink"', 1))
    assert html.count("<figcaption") == html.count("<figure") and len(html) < 4_000_000
    text = Page(re.sub(r"<pre.*?</pre>", "", html, flags=re.DOTALL)).text
    assert re.findall(r"\bnan\b|\bNaN\b|\bNone\b(?! (?:of|was))|\binf\b|\{\{|%\}|Undefined", text) == []
    assert not re.search("paper|arxiv|2D-UPSO|Hafiz", html, re.IGNORECASE)
    assert "A <gap> was found." in text[: text.index("What can I trust it for?")]


def chart(html):
    """Return what the chart of a page draws."""
    return json.loads(html.split('id="page-data">')[1].split("</script>")[0])


def cells(html, table):
    """Return the texts of the rows of a table."""
    body = html.split(f'id="{table}" class="sortable"')[1].split("</table>")[0].split("<tbody>")[1]
    rows = re.findall(r"<tr.*?</tr>", body, re.DOTALL)
    return [[re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)] for row in rows]


@pytest.mark.parametrize(("name", "samplings"), [("one input", (INCOMING,)), ("decimated", ("decimated", INCOMING))])
def test_the_first_table_has_the_errors_of_the_free_run_on_the_test_data(undrawn, name, samplings):
    of, html = undrawn[name]
    frame = of.validation
    at = (frame["role"] == "test") & (frame["record"] == "all") & (frame["kind"] == "free_run")
    for row, who in zip(cells(html, "fit_figures"), (MODEL, ARX, LAST_VALUE), strict=True):
        assert row[0] == {MODEL: "this model"}.get(who, who)
        for place, sampling in enumerate(samplings):
            (rrse,) = frame[at & (frame["model"] == who) & (frame["sampling"] == sampling)]["rrse"]
            assert row[1 + 2 * place] == f"{rrse:.3g}"
            assert row[2 + 2 * place] == f"{100 * (1 - rrse):.1f} %".replace("-", "−")


def test_without_an_input_predictions_ahead_are_what_counts(undrawn):
    of, html = undrawn["no input"]
    row = validated.row_at(of.validation, steps=5, role="test", record="all", model=MODEL, sampling=INCOMING)
    assert cells(html, "fit_figures")[0][1] == f"{row['rrse']:.3g}"
    assert "5 steps ahead on the test data" in html and "Prediction 5 steps ahead and measured output" in html


def test_what_diverges_is_reported(undrawn):
    arx, own = (undrawn[name][1] for name in ("diverging ARX", "diverging model"))
    assert cells(arx, "fit_figures")[1][1:] == ["diverges", "–"]
    assert "The free run diverges on b." in own and "The prediction diverges" in own
    # The measured output is drawn, if only that.
    data = chart(own)
    assert data["records"][0]["predicted"] is None and len(data["records"][0]["measured"]) == 400


def test_a_prediction_that_diverges_at_the_incoming_sampling_alone_is_drawn_decimated():
    # Phase 1 begins beyond the unstable fixed point 1 of y^2, phase 0 within.
    of = model(("y(k-1)^2",), (1.0,), inputs=("u",), decimation=2)
    y = np.where(np.arange(80) % 2, 1.5, 0.5)
    recording = Recording((Record("a", np.zeros((80, 1)), y, "test"),), ("u",), "y")
    fit = model_fits.fit_of(replace(found(), model=of, recording=recording), recording.records[0], 1000)
    assert fit.stride == 2 and "every 2nd sample" in fit.note
    assert fit.predicted.tolist() == of.decimated().predict(np.zeros(40), y[::2]).tolist()


def test_the_chart_has_the_free_run_of_the_test_records(undrawn):
    of, html = undrawn["one record of many"]
    data = chart(html)
    tests = list(of.recording.of_role("test"))
    assert len(data["records"]) == model_fits._MOST_CHARTS == html.count("</option>")
    for shown, each in zip(data["records"], tests, strict=False):
        assert shown["predicted"] == pytest.approx(of.model.predict(each.u, each.y[:2]).tolist(), rel=1e-4, abs=1e-9)
        assert shown["measured"] == pytest.approx(each.y.tolist(), rel=1e-4)
    data = chart(undrawn["decimated"][1])
    assert (data["axis"], data["records"][0]["step"]) == ("time (ms)", 0.01)


def test_long_records_are_cut_and_the_repository_is_linked_if_it_is_known(monkeypatch):
    monkeypatch.setattr(model_fits, "MOST_SAMPLES", 150)
    html = undrawn_page(found(), repository="https://example.org/x")
    assert 'href="https://example.org/x"' in html
    data = chart(html)
    assert len(data["records"][0]["measured"]) == 150
    assert "The first 150 of 200 samples are shown." in html


def status(name, of):
    return next(finding.status for finding in of.summary if finding.name == name)


def test_the_three_answers_lead(undrawn):
    of, html = undrawn["one input"]
    assert [finding.name for finding in of.summary[:3]] == list(ANSWERS)
    first = unescape(html).split("</section>")[0]
    assert all(in_words(finding).text.replace("(k-", "(k−") in first for finding in of.summary[:3])
    assert [entry["values"]["role"] for entry in as_json(of)["summary"] if entry["name"] == "to_predict"] == ["test"]
    assert [finding.name for finding in undrawn["no input"][0].summary[:3]] == [*ANSWERS[:2], "prediction"]


def test_to_predict_has_the_errors_in_units_and_the_ranges_of_the_data():
    of = found(model(units={"y": "V"}))
    (reported,) = (finding.values for finding in of.summary if finding.name == "to_predict")
    test = of.recording.records[2]
    errors = (test.y - of.model.predict(test.u, test.y))[of.model.initial_samples :]
    assert reported["rmse"] == pytest.approx(np.sqrt(np.mean(errors**2)))
    assert reported["max_error"] == pytest.approx(np.abs(errors).max())
    y = np.concatenate([record.y for record in of.recording.records[:2]])
    assert reported["ranges"]["y"] == pytest.approx((y.min(), y.max())) and list(reported["ranges"]) == ["u", "y"]
    assert status("to_predict", CASES["rests"]()) == "fine"
    # What the model was made with is no proof, and a sensor that drifts is seen.
    assert status("to_predict", found(records=[record("a", role=None)])) == "look"
    drifts = replace(record("c", role="test"), y=record("c", role="test").y + np.linspace(-0.3, 0.3, 200))
    biased = found(records=[record("a"), drifts])
    assert status("free_run_residuals", biased) == "look" == status("to_predict", biased)


def test_to_read_is_about_the_structure_alone():
    assert status("to_read", found()) == "fine"
    doubts = [
        {"probabilities": dict(zip(TERMS, (1.0, 1.0, 0.4), strict=True))},
        {"probabilities": {**dict.fromkeys(TERMS, 1.0), "y(k-2)": 0.6}},
        {"groups": [ExchangeableTerms(["u(k-1)", "u(k-2)"], [0.5, 0.45])]},
        {"doubts": [SearchWarning("coloured_innovations", "the innovations are not white", {})]},
    ]
    for changes in doubts:
        assert status("to_read", found(certainty=sure_of(TERMS, **changes))) == "look", changes
    # Terms of which perhaps one is there, but probably none, are no doubt of the structure.
    perhaps = [ExchangeableTerms(["u(k-3)", "u(k-4)"], [0.1, 0.07])]
    assert status("to_read", found(certainty=sure_of(TERMS, groups=perhaps))) == "fine"
    improbable = dict(zip(TERMS, (1.0, 0.3, 0.4), strict=True))
    other = found(certainty=sure_of(TERMS, probabilities=improbable))
    assert status("to_read", other) == "bad" and status("prediction", other) == "fine"
    # What is not known is neither good nor bad; an exact structure is good unless another could be exact.
    assert status("to_read", found(certainty=StructureCertainty(TOO_FEW))) == "look"
    assert status("to_read", found(certainty=StructureCertainty(EXACT))) == "look"
    assert status("to_read", found(certainty=StructureCertainty(EXACT), alike=[])) == "fine"


def test_to_control_has_gain_pole_and_delay():
    linear = model(("y(k-1)", "u(k-3)"), (0.8, 0.5), decimation=2)
    of = found(linear, [record("a", 600, of=linear), record("b", 400, "test", linear)])
    reported = next(finding for finding in of.summary if finding.name == "to_control")
    assert reported.values["inputs"]["u"]["gain"] == pytest.approx(0.5 / 0.2)
    assert reported.values["eigenvalue"] == pytest.approx(0.8) and reported.values["inputs"]["u"]["delay"] == 6
    # The static curve of the one leaves the outputs that were measured, that of the other does not.
    assert reported.values["at_rest"] < reported.values["cases"] and reported.status == "look"
    direct = model(("u(k-3)",), (0.5,))
    records = [record("a", 600, of=direct, noise=0.02), record("b", 300, "test", direct, 0.02)]
    assert status("to_control", found(direct, records)) == "fine"
    square = model(("y(k-1)", "u(k-1)^2"), (0.5, 1.0))
    turns = found(square, [record("a", of=square), record("b", role="test", of=square)])
    assert status("to_control", turns) == "look" and turns.summary[2].values["inputs"]["u"]["turns"]
    assert status("to_control", CASES["diverging model"]()) == "bad"


def test_a_record_of_noise_is_called_noise_first():
    rng = generator(purpose="noise")
    of = model(("u(k-1)",), (0.05,))
    noise = [Record(n, rng.uniform(-1, 1, (200, 1)), rng.standard_normal(200), n) for n in ("estimation", "test")]
    found_noise = found(of, noise)
    assert [finding.status for finding in found_noise.summary[:3]] == ["bad"] * 3
    assert found_noise.summary[0].values["noise"] and "noise" in in_words(found_noise.summary[0]).text.split(".")[0]
    assert not found().summary[0].values["noise"]


def test_no_finding_contradicts_another():
    """What one finding says rules out what others say."""
    cases = {name: CASES[name]() for name in ("one input", "decimated", "rests", "diverging model", "no input")}
    linear = model(("y(k-1)", "u(k-1)"), (0.6, 1.0))
    cases["linear"] = found(linear, [record("a", of=linear), record("b", role="test")])
    statuses = set()
    for name, of in cases.items():
        by_name = {finding.name: finding for finding in of.summary}
        status_of = {finding.name: finding.status for finding in of.summary}
        predicts, reads, control = (by_name.get(answer) for answer in ("to_predict", "to_read", "to_control"))
        statuses |= {finding.status for finding in of.summary[:3]}
        if predicts.status == "fine":
            assert "bad" not in [status_of.get(n) for n in ("prediction", "gap", "residuals_linear")], name
            assert by_name["prediction"].values["role"] == "test" and not predicts.values["because"]
        assert (reads.status == "fine") <= (reads.values["likely"] == len(reads.values["probabilities"])), name
        if control:
            assert (predicts.status == "bad") <= (control.status == "bad"), name
            assert (control.status == "fine") <= (status_of.get("fixed_points", "fine") == "fine"), name
        advice = " ".join(in_words(finding).advice for finding in of.summary)
        assert max(map(len, of.model.monomials)) > 1 or "degree=1" not in advice, name
    assert statuses == {"fine", "look", "bad"}


def test_every_finding_is_reported_and_none_twice_at_the_top():
    values = {"test": 0.9, "seen": 0.1, "role": "selection", "kind": "free_run", "steps": None}
    bad, note = Finding("gap", "bad", values), Finding("resamples", "look", {"searched": 1, "wanted": 2})
    of = found(summary=[bad], notes=[note, note])
    title, text, advice = in_words(bad)
    assert before_all(of) == ["A <gap> was found.", in_words(note).text]
    assert warnings(of)[-1] == f"{title}: {text}"
    html = unescape(undrawn_page(of))
    assert text in html and advice in html


def test_how_sure_the_structure_is():
    def reported(**changes):
        return found(**changes).summary[1].values

    # Of ten resamples the n-th has the first 1 + n mod 3 terms.
    values = reported()
    assert values["resampled"] == {"searches": 10, "threshold": 0.5, "kept": 2, "terms": 3, "outside": ["y(k-2)"]}
    assert (values["likely"], values["probability"], values["outside"]) == (3, 0.95, {})
    assert reported(resamples=0)["resampled"] is None
    row = {"term": "u(k-1)", "t": 1.9, "coefficient": 1.0, "standard_error": 1.0, "p": 0.1, "err": 0.0}
    assert reported(weights=[row])["weak"] == ["u(k-1)"]
    assert [row[-2:] for row in cells(undrawn_page(found()), "weights")] == [
        ["&gt; 0.99", "100 % (72 % to 100 %)"],
        ["&gt; 0.99", "60 % (31 % to 83 %)"],
        ["&gt; 0.99", "30 % (11 % to 60 %)"],
    ]
    assert [row[-1] for row in cells(undrawn_page(found(resamples=0)), "weights")] == ["&gt; 0.99"] * 3


def test_the_page_and_the_terminal_say_how_sure_the_structure_is():
    doubt = SearchWarning("heavy_tails", "the innovations have heavy tails (excess kurtosis 2.6)", {})
    rivals = [
        NamedStructure([TERMS[0], TERMS[1], "u(k-1)^2"], 0.31, -0.4, "NOE"),
        NamedStructure([*TERMS, "y(k-2)"], 0.05, 3.2, "ARARX (AR 1)"),
    ]
    groups = [ExchangeableTerms(["u(k-2)^2", "u(k-1)^2", "u(k-1)*u(k-2)"], [0.33, 0.32, 0.24])]
    probabilities = {**dict(zip(TERMS, (1.0, 0.96, 0.33), strict=True)), "u(k-1)^2": 0.32}
    certainty = StructureCertainty("", 180, 0.26, probabilities, rivals, groups, [doubt])
    of = found(certainty=certainty, resamples=0)
    html = undrawn_page(of)
    text = Page(html).text
    assert "The probability of the structure is 0.26, that of the most probable other one 0.31" in text
    sentence = "One of these three is probably a term: u(k−2)^2 (0.33), u(k−1)^2 (0.32) and u(k−1)*u(k−2) (0.24)."
    assert sentence in text and "The innovations have heavy tails (excess kurtosis 2.6)." in text
    assert [row[0] for row in cells(html, "rivals")] == ["0.31", "0.26", "0.05"]
    assert [row[1] for row in cells(html, "rivals")] == ["−0.4", "0.0", "3.2"]
    assert [row[2] for row in cells(html, "rivals")] == ["NOE", "NARX", "ARARX (AR 1)"]
    assert "this model" in cells(html, "rivals")[1][3]
    lines = "\n".join(summary_lines(of, report=False))
    assert re.search(r"u\(k-2\)\^2 .*0\.33$", lines, re.MULTILINE)
    assert sentence.replace("−", "-")[:80] in lines and "The innovations have heavy tails" in lines
    # Nothing is known of it: nothing is said, but why.
    missing = found(certainty=StructureCertainty(TOO_FEW), resamples=0)
    html = undrawn_page(missing)
    assert f"It is not known how probable the structure is: {TOO_FEW}." in Page(html).text and 'id="rivals"' not in html
    assert [row[-1] for row in cells(html, "weights")] == ["–"] * 3
    assert "Search resampled data (resamples=40)." in Page(html).text


def test_names_of_users_stay_text(pages):
    html = pages["two inputs, hostile names, no test"][1]
    page = Page(html)
    assert "alert(1)" not in "".join(page.scripts[1:])
    assert not re.search(r"<script>alert|<b> |</svg></script>\$x\$|<i>\)", html)
    assert f"Model of {OUTPUT} from {HOSTILE[0]}" in page.text
    data = chart(html)
    assert data["output"] == f"{OUTPUT} (m$^2$<i>)"


def test_all_files_are_written_and_can_be_read(tmp_path, undrawn, monkeypatch):
    of = CASES["one input"]()
    monkeypatch.setattr(page_of, "model_page", undrawn_page)
    page = write_report(of, tmp_path / "new")
    # Equal results give equal bytes.
    assert page == tmp_path / "new" / "report.html" and page.read_text() == undrawn["one input"][1]
    programs = {"model.c", "model.py", "model.m", "model_sysidentpy.py"}
    tables = {"validation.csv", "terms.csv", "tried.csv"}
    written = {path.name for path in page.parent.iterdir()}
    assert written == {"report.html", "model.json", "identification.json"} | programs | tables
    assert all(name in page.read_text() for name in written - {"report.html"})
    assert Model.load(page.parent / "model.json") == of.model
    reported = json.loads((page.parent / "identification.json").read_text(), parse_constant=pytest.fail)
    assert reported["terms"] == list(TERMS)
    header, rows = read_rows(page.parent / "validation.csv")
    assert len(rows) == len(of.validation) and "" in {row[header.index("steps")] for row in rows}
    header, rows = read_rows(page.parent / "terms.csv")
    assert [row[0] for row in rows] == [*TERMS, "y(k-2)"]
    assert [row[header.index("in_model")] for row in rows] == 3 * ["true"] + ["false"]
    assert [float(row[header.index("coefficient")]) for row in rows[:3]] == list(WEIGHTS) and rows[3][2] == ""
    header, rows = read_rows(page.parent / "tried.csv")
    assert rows[3][header.index("rrse")] == ""


def test_the_program_and_the_lines_of_the_page_predict(tmp_path, undrawn):
    of, _ = undrawn["decimated"]
    test = of.recording.records[1]
    scope = {}
    exec(of.model.export("python", "model"), scope)
    simulated = scope["model_simulate"](test.u[::3, 0].tolist(), test.y[::3].tolist())
    own = of.model.decimated().predict(test.u[::3], test.y[::3])
    assert simulated == pytest.approx(own.tolist(), rel=1e-12)
    for name in ("decimated", "no input"):
        case, html = undrawn[name]
        case.model.save(tmp_path / "model.json")
        lines = re.search(r'aria-label="Python">(import.*?)</pre>', html, re.DOTALL)[1]
        each = case.recording.records[-1]
        scope = {"u": each.u, "y": each.y, "print": lambda text: None}
        exec(lines.replace("&#34;", '"').replace("model.json", str(tmp_path / "model.json")), scope)
        assert len(scope["five_ahead"]) == len(each.y)
        start, run = case.model.initial_samples, scope["free_run"]
        u = each.u if case.model.n_inputs else None
        own = case.model.predict(u, each.y[:start], samples=len(run))
        assert run[start : start + 9].tolist() == own[start : start + 9].tolist()


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
    sizes = [fit_figure(each, time_axis(None), "y").count("FillBetween") for each in (bare, fit)]
    assert sizes[0] == 0 < sizes[1]
    # Predictions five steps ahead have no band.
    assert model_fits.shown_fits(replace(undrawn["no input"][0], unseen=unseen))[0].half_width is None
