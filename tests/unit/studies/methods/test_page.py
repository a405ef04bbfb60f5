"""The page of a comparison of methods: complete, escaped, self-contained, small and deterministic, of any study."""

import re
from functools import cache, partial
from html import unescape

import pytest
from tests.lookups import item_with
from tests.tiers import mostly_slow
from tests.unit.studies.methods import leaderboards as made
from tests.unit.studies.methods.leaderboards import (
    SHAPES,
    comparison,
    cost,
    frames_of,
    methods_of,
    render,
    shape,
)
from tests.unit.studies.methods.scores import make_method, make_run, methods_study, with_gaps
from tests.unit.studies.paper.test_page import MARKUP, Page, check_policy

from narxbench._studies.methods.views import Comparison

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
            assert link[1:] in page.ids
        else:
            assert re.match(OWN, link)
    assert html.count("<script") == html.count("</script") == 1
    check_policy(html)
    assert not re.search(r"\b(nan|NaN|None|inf|Infinity|NaT|<NA>|True|False)\b", visible(html))
    assert len(html.encode()) < 2_000_000


def rows_of(html, table):
    """Return the cells of the rows of a table as words."""
    body = re.search(rf'<table id="{table}".*?<tbody[^>]*>(.*?)</tbody>', html, re.DOTALL)[1]
    rows = re.findall(r"<tr.*?>(.*?)</tr>", body, re.DOTALL)
    cells = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL) for row in rows]
    return [[re.sub(r"<[^>]+>", " ", cell).split() for cell in cells_of_row] for cells_of_row in cells]


def test_the_page_is_complete_without_scripts():
    frames = shape("usual")
    shown = comparison(frames, cost(["ga"], ga=0.25), added=["ga"])
    html = render(shown)
    rows = rows_of(html, "ranking")
    by_name = {row[0][0]: row for row in rows}
    ga = item_with(shown.whole.rows(), method="ga")
    assert {len(row) for row in rows} == {8}
    assert by_name["GA"][1][:2] == [f"{100 * ga['exact']:.1f}", "%"] and by_name["GA"][4] == ["0.25"]
    assert by_name["GA"][7][0].startswith("yours") and html.count('class="yours"') == 2
    assert by_name["2D-UPSO"][4] == ["–"] and rows[5][0] == ["truth"]
    assert "Not enough data sets to recommend a method." in visible(html)


def test_the_page_is_short():
    _, html = shown_and_page("many methods")
    # Beside the names of methods and situations, and the marks in tables.
    prose = re.sub(r"<(script|style|svg|table)\b.*?</\1>", "", html, flags=re.DOTALL)
    words = visible(prose[prose.index("<main") : prose.index("</main>")]).split()
    n_words = sum(bool(re.search("[a-z]", word)) and not re.search("[0-9]", word) for word in words)
    assert 200 < n_words < 450


@pytest.mark.slow
def test_failures_have_their_text():
    divergent = make_method("ga", [make_run(1, None, failure="", evaluations=6000)])
    problem = with_gaps({"ga": [0.1], "mine": [0.2]})
    assert "found no structure" not in render(comparison(frames_of([problem])))
    lost = frames_of([{**problem, "methods": [divergent, problem["methods"][1]]}])
    assert 'title="found no structure of finite J"' in render(comparison(lost))
    assert 'title="ended with signal 9"' in shown_and_page("usual")[1]


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
    assert page.scripts == harmless.scripts
