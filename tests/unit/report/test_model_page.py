"""The report of a model: complete and well formed for any data, its numbers those of the result, its files readable."""

import json
import re
from dataclasses import replace
from html import unescape
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from tests.lookups import file_names, items_by_name
from tests.unit.studies.paper.test_page import Page

import narxbench

CASES = ["plain", "oversampled", "series", "hostile", "exact", "worse", "doubtful"]
ANSWERS = ("to_predict", "to_read", "to_control")


def html_of(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


def page_of(identification, folder):
    """Return the page of a result that was changed."""
    return narxbench.write_report(identification, folder).read_text(encoding="utf-8")


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


@pytest.mark.parametrize("name", CASES)
def test_the_page_is_whole_and_well_formed_and_needs_nothing_else(reported, name):
    folder = reported(name)
    html = html_of(folder)
    page, body = Page(html), html.split("<script")[0]
    page.check_structure()
    assert set(page.links) - set(map("#{}".format, page.ids)) <= set(file_names(folder))
    assert set(re.findall(r'aria-(?:labelledby|describedby)="([^"]*)"', body)) <= set(page.ids)
    for svg in re.findall(r"<svg.*?</svg>", body, re.DOTALL):
        ElementTree.fromstring(svg.replace("<svg", '<svg xmlns:xlink="http://www.w3.org/1999/xlink"', 1))
    assert html.count("<figcaption") == html.count("<figure") and "default-src 'none'" in html
    text = Page(re.sub(r"<pre.*?</pre>", "", html, flags=re.DOTALL)).text
    assert re.findall(r"\bnan\b|\bNaN\b|\bNone\b(?! (?:of|was))|\binf\b|\{\{|%\}|Undefined", text) == []
    assert not re.search("paper|arxiv|2D-UPSO", html, re.IGNORECASE)


def test_names_of_users_stay_text(reported, identified):
    html, recording = html_of(reported("hostile")), identified("hostile").recording
    assert f"Model of {recording.output} from {recording.inputs[0]}" in Page(html).text
    assert not re.search(r"<b> |</svg></script>\$x\$|<i>\)", html)
    # Nor do they control a terminal or the direction of writing.
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", html)
    assert chart(html)["output"] == f"{recording.output} (m$^2$<i>)" and chart(html)["axis"] == "time (ns)"


@pytest.mark.parametrize("name", ["plain", "oversampled"])
def test_page_and_files_have_the_numbers_of_the_result(reported, identified, name):
    identification, folder, html = identified(name), reported(name), html_of(reported(name))
    model = narxbench.Model.load(folder / "model.json")
    assert model == identification.model
    content = json.loads((folder / "identification.json").read_text(), parse_constant=pytest.fail)
    assert content == json.loads(json.dumps(identification.to_dict()))
    errors = pd.read_csv(folder / "validation.csv").query("role == 'test' and record == 'all' and kind == 'free_run'")
    errors = errors[errors["sampling"] == "incoming"].set_index("model")["rrse"]
    for title, rrse, fit in cells(html, "fit_figures"):
        error = errors[{"this model": "model"}.get(title, title)]
        assert (rrse, fit) == (f"{error:.3g}", f"{100 * (1 - error):.1f} %".replace("-", "−"))
    assert content["metrics"]["test"]["free_run"]["rrse"] == pytest.approx(errors["model"])
    terms = pd.read_csv(folder / "terms.csv").set_index("term")
    for (_, weight, _, probability), term in zip(cells(html, "weights"), model.terms, strict=True):
        row, expected = terms.loc[term], content["certainty"]["probabilities"][term]
        assert row["coefficient"] == model.coefficients[model.terms.index(term)] and row["probability"] == expected
        assert float(weight.replace("−", "-")) == float(f"{row['coefficient']:.4g}")
        assert unescape(probability).strip("> ") in (f"{expected:.2f}", "0.99")
    assert set(terms.index[terms["in_model"]]) == set(model.terms) < set(terms.index)


def test_every_answer_and_every_warning_is_on_the_page(reported, identified):
    for name in CASES:
        identification, text = identified(name), Page(html_of(reported(name))).text.replace("(k−", "(k-")
        findings = items_by_name(identification.summary)
        assert set(ANSWERS[:2]) <= set(findings)
        for finding in (*identification.summary[:2], *identification.warnings):
            is_head = finding.name == "competitors" and "WORSE than" in text
            shown = finding.text.replace("`", "").translate({0x1B: r"\u001b", 0x202E: r"\u202e"})
            assert is_head or shown in text, finding


def test_the_chart_has_the_free_run_of_the_test(reported, identified):
    identification, data = identified("oversampled"), chart(html_of(reported("oversampled")))
    (shown,), test = data["records"], identification.recording.records[-1]
    predicted = identification.model.predict(test.u, test.y)
    assert shown["predicted"] == pytest.approx(predicted.tolist(), rel=1e-4, abs=1e-9)
    assert shown["measured"] == pytest.approx(test.y.tolist(), rel=1e-4)
    assert (data["axis"], shown["step"]) == ("time (ms)", 0.01)
    html = html_of(reported("series"))
    steps = identified("series").steps_judged
    assert f"{steps} steps ahead on the test data" in html and f"{steps} steps ahead: data" in html


def test_long_and_many_records_are_cut(identified, tmp_path):
    identification = identified("plain")
    estimation, test = identification.recording.records
    long = replace(test, name="long", u=np.tile(test.u, (300, 1)), y=np.tile(test.y, 300))
    tests = [replace(test, name=f"test {number}") for number in range(15)]
    for records, n_shown in (([estimation, *tests], 15), ([estimation, long], 1)):
        recording = replace(identification.recording, records=tuple(records))
        html = page_of(replace(identification, recording=recording), tmp_path)
        assert len(chart(html)["records"]) == n_shown
    assert len(chart(html)["records"][0]["measured"]) == 40_000
    assert f"The first 40,000 of {len(long):,} samples are shown." in html


def test_predictions_that_are_not_possible_are_reported(identified, tmp_path):
    identification = replace(identified("plain"), unseen={})

    def html_with(terms, weights, **changes):
        """Return the page of another model."""
        model = narxbench.Model(terms, weights, ("u",), "y", decimation=changes.pop("decimation", 1))
        return page_of(replace(identification, model=model, **changes), tmp_path)

    errors = identification.validation
    of_model = errors["model"] == "model"
    errors = errors.assign(rrse=errors["rrse"].mask(of_model, None), diverged=errors["diverged"].mask(of_model, True))
    errors["rrse"] = errors["rrse"].astype(object).where(errors["rrse"].notna(), None)
    html = html_with(("y(k-1)", "u(k-1)"), (1.9, 1.0), validation=errors)
    assert "The prediction diverges" in html and cells(html, "fit_figures")[0][1:] == ["diverges", "–"]
    assert chart(html)["records"][0]["predicted"] is None and chart(html)["records"][0]["measured"]
    html = html_with(("y(k-1)",), (0.5,), decimation=500)
    assert "The record is shorter than the 500 samples that the model is given." in html
    assert "SysIdentPy has no model of the constant term alone" in html_with(("1",), (0.5,))
    assert "model_sysidentpy.py" not in file_names(tmp_path)
    # Of a square, phase 1 begins beyond the unstable fixed point 1, and phase 0 within.
    estimation, test = identification.recording.records
    test = replace(test, u=np.zeros((80, 1)), y=np.where(np.arange(80) % 2, 1.5, 0.5), index=None)
    recording = replace(identification.recording, records=(estimation, test))
    html = html_with(("y(k-1)^2",), (1.0,), decimation=2, recording=recording)
    assert "At the incoming sampling the prediction diverges: every 2nd sample." in html
    assert len(chart(html)["records"][0]["predicted"]) == 40


def test_the_lines_of_the_page_predict(reported, identified, monkeypatch):
    identification, folder = identified("oversampled"), reported("oversampled")
    monkeypatch.chdir(folder)
    lines = unescape(re.search(r'aria-label="Python">(import.*?)</pre>', html_of(folder), re.DOTALL)[1])
    test = identification.recording.records[-1]
    scope = {"u": test.u, "y": test.y, "print": lambda text: None}
    exec(lines, scope)
    assert len(scope["five_ahead"]) == len(test.y)
    predicted = identification.model.predict(test.u, test.y[: identification.model.initial_samples])
    assert scope["free_run"].tolist() == predicted.tolist()


def test_a_report_replaces_an_earlier_one_and_leaves_other_files(reported, identified, tmp_path):
    (tmp_path / "notes.txt").write_text("kept")
    for name in ("model_sparse.json", "data.html", "report.html"):
        (tmp_path / name).write_text("earlier")
    narxbench.write_report(identified("plain"), tmp_path)
    programs = {"model.c", "model.py", "model.m", "model_sysidentpy.py"}
    tables = {"validation.csv", "terms.csv", "tried.csv", "residuals.csv", "steady_states.csv"}
    files = {"report.html", "model.json", "identification.json"} | programs | tables
    assert set(file_names(tmp_path)) == files | {"notes.txt"}
    for name in files:
        # Equal results give equal bytes.
        assert (tmp_path / name).read_bytes() == (reported("plain") / name).read_bytes()
        assert name == "report.html" or f">{name}<" in html_of(tmp_path)
