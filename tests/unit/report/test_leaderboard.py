"""The page of a comparison of methods: complete, escaped, self-contained, small and deterministic, of any study."""

import json
import re
from html import unescape
from itertools import pairwise

import pytest
from tests.tiers import mostly_slow
from tests.unit.analysis.scores import make_method, make_run, methods_study, with_gaps
from tests.unit.report.leaderboards import SHAPES, about, cost, frames_of, methods_of, render, shape, system
from tests.unit.report.test_page import MARKUP, Page, check_policy

from narxbench.analysis.ranking import ALL

TEN = tuple(f"S{n}" for n in range(10))
FILES = r"methods/((tables|figures)/[a-z_]+\.(csv|md|tex|pdf|svg)|\.\./report\.html|\.\./\.\./(docs/)?\w+\.md)$"
OWN = rf"{FILES}|https://arxiv\.org/abs/1812\.08369$"


def visible(html):
    """Return the text that readers see."""
    body = re.sub(r"<(script|style)\b.*?</\1>", "", html, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", " ", body))


def failing():
    """Return the frames of a study in which every run fails."""
    problems = [with_gaps({"ga": [None], "multistart": [None, None]}, system=name) for name in TEN[:3]]
    return frames_of([problem | {"true_fitness": None, "true_terms": 0} for problem in problems])


def uneven():
    """Return the frames of a study in which a method lacks problems, and another has no rank in a scenario."""
    problems = methods_study(data_seeds=1, seeds=1)
    for problem in problems[:3]:
        problem["methods"] = [method for method in problem["methods"] if method["method"] != "ga"]
    return frames_of(problems)


STUDIES = {**{name: lambda name=name: shape(name) for name in SHAPES}, "failing": failing, "uneven": uneven}


@pytest.mark.parametrize("name", mostly_slow(STUDIES, "usual"))
def test_the_page_of_any_study_is_whole_and_asks_nothing_of_the_network(name):
    html = render(STUDIES[name]())
    page = Page(html)
    assert not page.open
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert all(re.match(OWN, link) for link in page.links if not link.startswith("#"))
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1 and all(after <= before + 1 for before, after in pairwise(levels))
    assert not {"link", "img", "iframe"} & {tag for tag, _ in page.elements}
    assert html.count("<script") == html.count("</script") == 2
    check_policy(html)
    assert not re.search(r"\b(nan|NaN|None|inf|Infinity|NaT|<NA>)\b", visible(html))
    assert len(html.encode()) < 1_000_000


def rows_of(html, table):
    """Return cells of the rows of a table as text, and whether each row is hidden."""
    body = re.search(rf'<table id="{table}".*?<tbody>(.*?)</tbody>', html, re.DOTALL)[1]
    found = re.findall(r"<tr(.*?)>(.*?)</tr>", body, re.DOTALL)
    cells = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL) for _, row in found]
    return [[re.sub(r"<[^>]+>", " ", cell).split() for cell in row] for row in cells], [
        "hidden" in it for it, _ in found
    ]


def test_the_leaderboard_has_every_group_and_shows_all_scenarios_first():
    frames = shape("usual")
    html = render(frames, cost=cost(["ga"], ga=0.25))
    rows, hidden = rows_of(html, "board")
    ranking = frames["ranking"]
    assert len(rows) == len(ranking)
    assert hidden.count(False) == (ranking["group"] == ALL).sum() and not any(hidden[: hidden.count(False)])
    overall = ranking[ranking["group"] == ALL].set_index("method")
    by_name = {row[1][0]: row for row in rows[: len(overall)]}
    ga, row = overall.loc["ga"], by_name["GA"]
    assert row[2] == [f"{ga[key]:.2f}" for key in ("average_rank", "rank_low")] + ["to", f"{ga['rank_high']:.2f}"]
    assert row[3][:2] == [f"{100 * ga['exact']:.0f}", "%"]
    assert row[9] == ["0.25"] and by_name["2D-UPSO"][9] == ["–"]
    assert by_name["frols"][1] == ["frols", "det."] and by_name["random"][1] == ["random", "contributed"]
    assert by_name["random"][10] == [str(overall.at["random", "failures"])]


def test_curves_and_heat_map_are_those_of_the_frames():
    frames = shape("usual")
    data = json.loads(Page(render(frames)).scripts[0])
    assert set(data["methods"]) == {"GA", "2D-UPSO", "frols", "multistart", "random"}
    curves, ecdf = data["curves"], frames["ecdf"]
    for (scenario, name, method), own in ecdf.groupby(["scenario", "system", "method"]):
        shown = {"ga": "GA", "upso2d": "2D-UPSO"}.get(method, method)
        places = curves["scenarios"].index(scenario), curves["systems"].index(name), data["methods"].index(shown)
        total, *more = curves["steps"][places[0]][places[1]][places[2]]
        assert total == own["total"].iloc[0]
        assert sum(more) == own["reached"].iloc[-1] and sum(more[:5]) == own["reached"].iloc[4]
    assert set(data["heat"]) == {"exact", "f1", "gap", "fresh_error"}
    one = frames["systems"].set_index(["scenario", "system", "method"]).loc[("noisy", "S2", "ga")]
    place = sorted(set(frames["systems"]["system"])).index("S2")
    cell = data["heat"]["exact"][2][data["methods"].index("GA")][place]
    assert cell == f"{int(8 * one['exact'])}{100 * one['exact']:.0f} %"
    outside = [cells[sorted(set(frames["systems"]["system"])).index("OUT")] for cells in data["heat"]["exact"][0]]
    assert set(outside) == {"0–"}
    # A method that evaluates nothing stands at the time of its run.
    assert data["pace"][0][data["methods"].index("frols")] == [1.0, 1]


def test_failures_are_told_with_their_text():
    html = render(shape("usual"))
    failed = shape("usual")["scores"]["fitness"].isna().sum()
    assert rows_of(html, "failed_runs")[0][0][:3] == [["random"], ["ended", "with", "signal", "9"], [str(failed)]]
    quiet = frames_of([with_gaps({"ga": [0.1], "mine": [0.2]})])
    assert "No run failed." in render(quiet)
    divergent = make_method("ga", [make_run(1, None, failure="", evaluations=6000)])
    problem = with_gaps({"ga": [0.1], "mine": [0.2]})
    lost = frames_of([{**problem, "methods": [divergent, problem["methods"][1]]}])
    assert "found no structure of finite J" in render(lost)


def test_methods_of_one_algorithm_differ_by_their_settings():
    frames = frames_of([with_gaps({"plain": [0.1], "wide": [0.2], "other": [0.3]})])
    shown = about(methods_of(frames))
    for name, size in (("plain", 30), ("wide", 300)):
        shown[name] |= {"algorithm": "swarm", "settings": {"size": size, "rate": 0.5}}
    text = re.sub(r"\s+", " ", visible(render(frames, methods_about=shown)))
    assert "Algorithm swarm , here with size 300 ." in text and "Algorithm swarm , here with size 30 ." in text
    assert text.count("here with") == 2


def page_with(text):
    """Return the page on which every text from settings, data and runs is ``text``."""
    problems = [with_gaps({"x": [0.1, None], "multistart": [0.2]}, system=name, scenario="x") for name in ("x", "S1")]
    frames = {
        name: frame.replace({"x": text, "ended with signal 9": text}) for name, frame in frames_of(problems).items()
    }
    html = render(
        frames,
        systems=[system(name, text) for name in (text, "S1")],
        methods_about=about(methods_of(frames), text),
        cost=cost(methods_of(frames)).assign(machine=text),
        left_out={text: text},
    )
    # The drawing has the letters as shapes.
    return Page(re.sub(r"<svg.*?</svg>", "", html, flags=re.DOTALL))


@pytest.fixture(scope="module")
def harmless():
    return page_with("harmless")


@pytest.mark.parametrize("text", MARKUP, ids=lambda text: ascii(text)[:20])
def test_any_text_is_shown_as_text(harmless, text):
    page = page_with(text)
    assert page.elements == harmless.elements
    assert page.scripts[1:] == harmless.scripts[1:]
    assert text in json.loads(page.scripts[0])["methods"]
