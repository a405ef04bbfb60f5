"""The page of a comparison of methods: complete, escaped, self-contained, small and deterministic, of any study."""

import json
import re
from functools import cache, partial
from html import unescape

import pytest
from tests.lookups import item_with, values_of
from tests.tiers import mostly_slow
from tests.unit.studies.methods import leaderboards as made
from tests.unit.studies.methods.leaderboards import (
    SHAPES,
    about,
    comparison,
    cost,
    frames_of,
    methods_of,
    render,
    shape,
)
from tests.unit.studies.methods.scores import make_method, make_run, methods_study, with_gaps
from tests.unit.studies.paper.test_page import MARKUP, Page, check_policy

from narxbench._report.markup import visible as with_visible_characters
from narxbench._studies.methods.views import Comparison
from narxbench._studies.methods.wants import WANTS

FILES = r"methods/(tables/[a-z]+\.(csv|md|tex)|\.\./\.\./(docs/\w+\.md|data/methods/frames/[a-z]+\.csv))$"
OWN = rf"{FILES}|https://arxiv\.org/abs/1812\.08369$"


def visible(html):
    """Return the text that readers see."""
    body = re.sub(r"<(script|style)\b.*?</\1>", "", html, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", " ", body))


def failing():
    """Return the frames of a study in which every run fails."""
    problems = []
    for system in ("S0", "S1", "S2"):
        problem = with_gaps({"ga": [None], "multistart": [None, None]}, system=system)
        problems.append(problem | {"true_fitness": None, "true_terms": 0})
    return frames_of(problems)


def uneven():
    """Return the frames of a study in which a method lacks problems, and another has no rank in a scenario."""
    problems = methods_study(data_seeds=1, seeds=1)
    for problem in problems[:3]:
        problem["methods"].remove(item_with(problem["methods"], method="ga"))
    return frames_of(problems)


STUDIES = {name: partial(shape, name) for name in SHAPES} | {"failing": failing, "uneven": uneven}


@cache
def shown_and_page(name):
    """Return the comparison of one of the `STUDIES`, and its page."""
    shown = comparison(STUDIES[name]())
    return shown, render(shown)


@pytest.mark.parametrize("name", mostly_slow(STUDIES, "usual"))
def test_the_page_of_any_study_is_whole_and_asks_nothing_of_the_network(name):
    _, html = shown_and_page(name)
    page = Page(html)
    page.check_structure()
    for link in page.links:
        if link.startswith("#"):
            assert link.startswith("#want=") or link[1:] in page.ids
        else:
            assert re.match(OWN, link)
    assert html.count("<script") == html.count("</script") == 2
    check_policy(html)
    assert not re.search(r"\b(nan|NaN|None|inf|Infinity|NaT|<NA>|True|False)\b", visible(html))
    assert len(html.encode()) < 2_000_000


def rows_of(html, table):
    """Return the cells of the rows of a table as words."""
    body = re.search(rf'<table id="{table}".*?<tbody[^>]*>(.*?)</tbody>', html, re.DOTALL)[1]
    rows = re.findall(r"<tr.*?>(.*?)</tr>", body, re.DOTALL)
    cells = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL) for row in rows]
    return [[re.sub(r"<[^>]+>", " ", cell).split() for cell in cells_of_row] for cells_of_row in cells]


def test_the_first_view_is_complete_without_scripts():
    frames = shape("usual")
    shown = comparison(frames, cost(["ga"], ga=0.25))
    html = render(shown)
    rows, view = rows_of(html, "identify-board"), shown.views[0]
    by_name = {row[0][0]: row for row in rows}
    ga = item_with(view.rows(), method="ga")
    assert by_name["GA"][1][:2] == [f"{100 * ga['exact']:.1f}", "%"] and by_name["GA"][7] == ["0.25"]
    assert by_name["2D-UPSO"][7] == ["–"] and by_name["frols"][0] == ["frols", "det."]
    assert rows[5][0] == ["truth", "least", "squares", "on", "the", "system", "terms"]
    assert len(rows_of(html, "search-board")) == 6
    answer = re.search(r'<ol class="answer".*?</ol>', html, re.DOTALL)[0]
    assert len(re.findall(r"<li(?![^>]* hidden)", answer)) == 1
    assert "Not enough data sets to recommend a method." in visible(answer)


def test_every_view_waits_in_the_page():
    shown, html = shown_and_page("usual")
    data = json.loads(Page(html).scripts[0])
    assert list(data["orders"]) == values_of(shown.views, "key")
    assert len(shown.views) == 8
    for view in shown.views:
        assert view is shown.views[0] or f'<template data-view="identify {view.key}">' in html
        orders = data["orders"][view.key]
        assert list(orders) == list(WANTS)
        for want, order in orders.items():
            assert [view.rows()[place] for place in order] == view.rows(want)


def test_the_heat_table_is_that_of_the_frames():
    shown, html = shown_and_page("usual")
    heat = json.loads(Page(html).scripts[0])["heat"]
    assert set(heat["cells"]) == {"exact", "f1", "gap", "fresh_error"}
    assert heat["systems"]["development/fast"] == ["S1"] and heat["systems"]["held-out/all"] == ["OUT", "S3", "S4"]
    share = shown.frames["systems"].set_index(["scenario", "system", "method"]).loc[("noisy", "S2", "ga"), "exact"]
    place = heat["systems"]["development/noisy"].index("S2")
    cell = heat["cells"]["exact"]["development/noisy"][heat["methods"].index("GA")][place]
    assert cell == f"{int(7 * share)}{100 * share:.1f} %"
    assert {row[0] for row in heat["cells"]["exact"]["held-out/all"]} == {"0–"}


@pytest.mark.slow
def test_failures_are_reported_with_their_text():
    shown, html = shown_and_page("usual")
    failed = shown.frames["scores"]["fitness"].isna().sum()
    assert rows_of(html, "failed_runs")[0][:3] == [["random"], ["ended", "with", "signal", "9"], [str(failed)]]
    divergent = make_method("ga", [make_run(1, None, failure="", evaluations=6000)])
    problem = with_gaps({"ga": [0.1], "mine": [0.2]})
    assert "No run failed." in render(comparison(frames_of([problem])))
    lost = frames_of([{**problem, "methods": [divergent, problem["methods"][1]]}])
    assert "found no structure of finite J" in render(comparison(lost))


def test_methods_of_one_algorithm_differ_by_their_settings():
    frames = frames_of([with_gaps({"plain": [0.1], "wide": [0.2], "other": [0.3]})])
    shown = about(methods_of(frames))
    for name, size in (("plain", 30), ("wide", 300)):
        shown[name] |= {"algorithm": "swarm", "settings": {"size": size, "rate": 0.5}}
    text = re.sub(r"\s+", " ", visible(render(comparison(frames), methods_about=shown)))
    assert "Algorithm swarm , here with size 300 ." in text and "Algorithm swarm , here with size 30 ." in text
    assert text.count("here with") == 2


def page_with(text):
    """Return the page on which every text from settings, data and runs is ``text``."""
    gaps = {"x": [0.1, None], "multistart": [0.2]}
    problems = [with_gaps(gaps, system="x", scenario="x"), with_gaps(gaps, system="S1", scenario="x")]
    frames = {}
    for name, frame in frames_of(problems).items():
        frames[name] = frame.replace({"x": text, "ended with signal 9": text})
    tuned = {"scenarios": {text: {"description": text}}, "situations": {}, "tuned": [text]}
    html = render(
        Comparison(frames, made.settings(frames, **tuned), cost(methods_of(frames)).assign(machine=text)),
        systems=[made.system(text, text), made.system("S1", text)],
        methods_about=about(methods_of(frames), text),
        left_out={text: text},
    )
    return Page(html)


@pytest.fixture(scope="module")
def harmless():
    return page_with("harmless")


@pytest.mark.parametrize("text", mostly_slow(MARKUP, MARKUP[0]), ids=lambda text: ascii(text)[:20])
def test_any_text_is_shown_as_text(harmless, text):
    page = page_with(text)
    assert page.elements == harmless.elements
    assert page.scripts[1:] == harmless.scripts[1:]
    assert with_visible_characters(text) in json.loads(page.scripts[0])["heat"]["methods"]
