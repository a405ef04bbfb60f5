"""A comparison of methods from its scores to its ranks, tables, figures, page and answer, on made-up score files."""

import math
import re
from html import unescape
from itertools import product
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.lookups import values_of
from tests.tiers import mostly_slow
from tests.unit.studies.methods.leaderboards import SHAPES, TABLES, Compared
from tests.unit.studies.methods.scores import (
    N_VALIDATION,
    SPURIOUS,
    TRUE,
    make_method,
    make_run,
    make_score,
    methods_study,
    with_gaps,
)
from tests.unit.studies.paper.test_page import MARKUP, Page, check_policy

HELD_OUT, DEVELOPMENT = "held-out", "development"
TIME = "time"
TEN = tuple(map("S{}".format, range(10)))


@pytest.fixture
def compared(tmp_path):
    """Return a function that compares the methods of some score files."""
    return lambda *problems, **changes: Compared(tmp_path, problems, **changes)


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    return Compared.of_shape(tmp_path_factory.mktemp("usual"), "usual")


def column(shown, name, group="all", part=DEVELOPMENT):
    """Return a column of the ranking by method."""
    frame = shown.frame("ranking")
    return dict(frame[(frame["group"] == group) & (frame["part"] == part)].set_index("method")[name])


# Ranks


def test_gaps_are_those_to_the_lowest_known_fitness(compared):
    below, truth = with_gaps({"ga": [-0.05, 0.1], "multistart": [0.0]}), with_gaps({"ga": [0.1, 0.2]}, data_seed=2)
    shown = compared(below, truth, with_gaps({"ga": [0.1, None]}, system="OUT"))
    rows = shown.frame("scores").set_index(["system", "data_seed", "method", "seed"])
    gaps = rows["gap"]
    assert gaps["S1", 1].to_dict() == {("ga", 1): 0, ("ga", 2): 0.15, ("multistart", 1): 0.05}
    assert gaps["S1", 2, "ga", 1] == 0.1
    assert gaps["OUT", 1, "ga", 1] == 0 and math.isnan(gaps["OUT", 1, "ga", 2])
    assert rows.loc["S1", "best_known"].unique().tolist() == [-4030.0, -4000.0]
    # A run that failed counts as 1.
    assert column(shown, "gap", part=HELD_OUT)["ga"] == 0.5


def test_scores_and_ranks_by_hand(compared):
    """Where the truth is no candidate, only gap and fresh error count; failures are the worst."""
    # An exact run, two with other terms, and one that failed.
    close = make_run(2, -3990.0, terms=[*TRUE[:3], *SPURIOUS[:2]], fresh_error=None)
    too_many = make_run(3, -3990.0, terms=[*TRUE, SPURIOUS[0]])
    runs = [make_run(1), close, too_many, make_run(4, None)]
    shown = compared(make_score([make_method("ga", runs)]), make_score([make_method("ga", runs)], "OUT"))
    rows = shown.frame("scores").query("system == 'S1'")
    assert rows["exact"].tolist() == [True, False, False, False]
    assert rows["f1"].tolist() == [1, 6 / 9, 8 / 9, 0]
    assert rows["size"].fillna(-1).tolist() == [1, 1.25, 1.25, -1]
    assert rows["fresh_error"].fillna(-1).tolist() == [0.05, -1, 0.05, -1]
    assert shown.frame("scores").query("system == 'OUT'")[["exact", "f1", "size"]].isna().all(axis=None)
    ranking = shown.frame("ranking").set_index(["part", "group"])
    here, outside = ranking.loc[(DEVELOPMENT, "all")], ranking.loc[(HELD_OUT, "all")]
    assert here["exact"] == 0.25 and here["f1"] == pytest.approx((1 + 6 / 9 + 8 / 9) / 4)
    # Errors above 1, of free runs that diverge and of runs that fail, count as 1.
    assert here["fresh_error"] == pytest.approx((0.05**2) ** 0.25) == outside["fresh_error"]
    assert here["size"] == pytest.approx((1 * 1.25 * 1.25) ** (1 / 3))
    assert here["gap"] == pytest.approx((2 * 10 / N_VALIDATION + 1) / 4)
    assert math.isnan(outside["exact"]) and outside["failures"] == 1


def test_runs_then_data_sets_then_systems_are_averaged(compared):
    exact, wrong = make_run(1), make_run(1, -3400.0, terms=SPURIOUS)

    def problem(system, data_seed, frols, ga):
        runs = [{**(exact if hit else wrong), "seed": seed} for seed, hit in enumerate(ga, start=1)]
        methods = [make_method("frols", [exact if frols else wrong]), make_method("ga", runs)]
        return make_score(methods, system, data_seed=data_seed)

    problems = [problem("S1", 1, True, [True] * 5), problem("S1", 2, False, [False, False, True, False, False])]
    shown = compared(*problems, problem("S2", 1, False, [True] * 2))
    assert column(shown, "runs") == {"frols": 3, "ga": 12}
    assert column(shown, "exact") == {"frols": 0.25, "ga": 0.8}


def test_intervals_are_over_systems(tmp_path):
    # More problems of one system are no more systems.
    of_s1 = Compared(tmp_path, methods_study(("S1",), data_seeds=4)).frame("ranking")
    assert of_s1[["fresh_error_low", "fresh_error_high"]].isna().all(axis=None)
    assert (of_s1["exact_high"] - of_s1["exact_low"]).dropna().min() > 0.9


def test_another_criterion_takes_no_part_in_the_search(compared):
    shown = compared(with_gaps({"a": [0.0], "b": [0.1]}), with_gaps({"c": [-9.0]}, criterion="ebicl-1"))
    assert column(shown, "searches") == {"a": True, "b": True, "c": False}
    assert column(shown, "gap") == {"a": 0, "b": 0.1, "c": pytest.approx(math.nan, nan_ok=True)}


def test_methods_that_are_not_run_or_lack_data_sets_or_do_not_repeat(compared):
    slow, fast = make_method("slow", [make_run(1, None, failure=TIME)]), make_method("slow", [make_run(1)])
    problems = [make_score([slow, make_method("ga", [make_run(1)])], "S2"), make_score([fast, fast | {"method": "ga"}])]
    shown = compared(*problems, make_score([make_method("ga", [make_run(1)])], "D1"))
    assert column(shown, "ranked") == {"slow": False, "ga": True} and column(shown, "exact")["slow"] == 0.5
    assert column(shown, "not_run") == column(shown, "failures") == {"slow": 1, "ga": 0}
    assert column(shown, "data_sets") == {"slow": 2, "ga": 3} and shown.frame("pairs").empty
    assert shown.rows("leaderboard")["slow"][-1] == "time: not run on 1 data sets; not ranked: it lacks 1 data sets"


# Answers


def study(methods, systems=TEN, *, held_out=True, **changes):
    """Return problems of methods that are exact on this many systems, with nearly the same gap and error on all."""
    problems = []
    for n, system in enumerate(systems):
        methods_of_problem = []
        for name, (exact, gap, error) in methods.items():
            terms = {"terms": TRUE if n < exact else SPURIOUS}
            fitness = -4000.0 + gap * (1 + n / 100) * N_VALIDATION
            methods_of_problem.append(
                make_method(name, [make_run(1, fitness, fresh_error=error * (1 + n / 1e3), **terms)])
            )
        problems.append(make_score(methods_of_problem, system, held_out=held_out, **changes))
    return problems


CLEAR = {"mine": (9, 0.0, 0.01), "frols": (5, 0.1, 0.02), "ga": (1, 0.5, 0.1)}
EQUAL = {"mine": (9, 0.0, 0.01), "near": (9, 0.2, 0.0101), "ga": (1, 0.5, 0.1)}
NONE = {"mine": (0, 0.0, 0.01), "ga": (0, 0.5, 0.1)}
# The GA is cheapest, but finds the terms less than half as often as the best one. So does the best of J.
AIMS = {"mine": (4, 0.0, 0.05), "frols": (9, 0.1, 0.01), "ga": (1, 0.5, 0.1)}
USUAL = {"mine": (10, 0.0, 0.01), "frols": (0, 0.1, 0.02), "ga": (1, 0.5, 0.1)}
SPECIAL = {"mine": (2, 0.2, 0.01), "frols": (10, 0.1, 0.02), "ga": (1, 0.1, 0.1)}
STUDIES = {
    "a clear lead, and a cheap method with less": (lambda: study(CLEAR), {"mine": 2.0, "frols": 0.001, "ga": 0.5}),
    "a cheaper one is as good": (lambda: study(EQUAL), {"mine": 2.0, "near": 0.25, "ga": 1.0}),
    "each aim has another method": (lambda: study(AIMS), {"mine": 0.5, "frols": 1.0, "ga": 0.1}),
    "few systems, none held out": (lambda: study(CLEAR, TEN[:3], held_out=False), {"mine": 2.0, "ga": 3.0}),
    "no method finds the terms": (lambda: study(NONE), {"mine": 1.0, "ga": 2.0}),
    "no method is better than another": (lambda: study({"mine": (5, 0.0, 0.01), "ga": (4, 0.1, 0.01)}), {"mine": 1.0}),
    "special data": (lambda: [*study(USUAL), *study(SPECIAL, scenario="noisy")], {"mine": 1.0, "frols": 0.1}),
    "the truth is no candidate": (lambda: study(NONE, true_terms=[], true_fitness=None), {"mine": 1.0}),
    "no search": (lambda: study({"frols": (5, 0.1, 0.02)}), {"frols": 0.1}),
    "all failed": (lambda: [with_gaps({"ga": [None], "mine": [None] * 2}, system=n) for n in TEN[:2]], {}),
    "no common data set": (lambda: [with_gaps({"ga": [0.1]}), with_gaps({"mine": [0.1]}, system="S2")], {}),
}


def test_the_terminal_has_the_place_of_each_added_method(compared):
    shown = compared(*study(CLEAR))
    beginning = "by exact recovery on the held-out data sets: "
    _, line = shown.page(added=["frols", "unknown"])
    assert line.startswith(f"{beginning}frols is 2 of 3 with 50.0 % (") and line.endswith("); unknown is not ranked")
    assert shown.page()[1].startswith(f"{beginning}mine is 1 of 3 with 90.0 % (")
    failed = compared(*STUDIES["all failed"][0]())
    page, line = failed.page()
    check_page(page)
    assert line == ""


# Tables and figures


def test_the_ranking_says_whose_a_method_is_how_it_compares_and_what_it_costs(compared):
    problems = study({**CLEAR, "same": CLEAR["mine"]}, held_out=False)
    cost = [("ga", 66, 1.0, 6000, "m"), ("ga", 286, 5.0, 6000, "m")]
    about = {"ga": {"settings_by": "authors"}}
    for problem in problems[:3]:
        problem["n_terms"] = 200
    shown = compared(*problems, cost=cost, methods=about, repeats={"mine": "another J", "frols": ""})
    rows = shown.rows("leaderboard")
    assert (rows["GA"][3], rows["frols"][3], rows["mine"][3], rows["same"][3]) == ("1.0", "7.0", "7.0", "–")
    assert rows["GA"][4] == "authors" and rows["GA"][-1].startswith("tuned on these data sets; ")
    assert rows["frols"][-1].startswith("undecided: ") and rows["same"][-1] == ""
    assert rows["mine"][-1] == "not ranked: a repeated run found something else (another J)"
    assert not shown.frame("pairs")[["best", "rival"]].isin(["mine"]).any(axis=None)
    assert "same" in shown.answer[0] and "mine" not in shown.answer[0]
    assert "not confirmatory" in shown.answer[-1]


def test_situations_and_systems(compared):
    noisy = study({"mine": (5, 0.0, 0.01), "frols": (9, 0.1, 0.02), "ga": (1, 0.5, 0.1)}, scenario="noisy")
    for problem in noisy:
        problem["methods"][2]["runs"] = [make_run(1, None, failure=TIME)]
    shown = compared(*study(CLEAR), *noisy)
    rows = shown.rows("situations")
    assert rows["Method"] == ["all data", "base", "noisy", "fast"]
    assert rows["mine"] == ["70.0 %", "90.0 %", "50.0 %", "100 %"]
    assert (rows["frols"][1:3], rows["GA"][1:3]) == (["50.0 %", "90.0 %"], ["10.0 %", TIME])
    assert shown.rows("systems")["mine"][:6] == ["100 %"] * 5 + ["50.0 %"]


@pytest.mark.parametrize("name", mostly_slow(SHAPES, "usual"))
def test_any_study_has_its_tables_figures_and_page(tmp_path, name):
    shown = Compared.of_shape(tmp_path, name)
    for table, form in product(TABLES, ("md", "tex")):
        assert not {"nan", "None", "inf"} & set(shown.files[f"{table}.{form}"].replace("|", " ").split())
    for figure in ("situations.svg", "terms_error.svg"):
        assert ElementTree.fromstring(shown.files[figure]).get("width") == "960"
        assert len(shown.files[figure]) < 60_000
    check_page(shown.page()[0])


SVG = "{http://www.w3.org/2000/svg}"


def test_every_method_has_its_cells_and_its_point_and_no_label_overlaps_another(usual):
    cells = ElementTree.fromstring(usual.files["situations.svg"])
    texts = values_of(cells.findall(f"{SVG}text"), "text")
    assert texts[:4] == ["all data", "base", "noisy", "fast"] and set(texts) >= {"GA", "2D-UPSO", "truth"}
    # A rectangle is the background, the others are cells of seven methods.
    assert len(cells.findall(f"{SVG}rect")) == 1 + 4 * 7
    root = ElementTree.fromstring(usual.files["terms_error.svg"])
    assert len(root.findall(f"{SVG}circle")) == 7
    # The labels stand beyond the plot.
    labels = [text for text in root.findall(f"{SVG}text") if float(text.get("x").rstrip("%")) > 75]
    heights = sorted(float(label.get("y")) for label in labels)
    assert len(heights) == 7 and np.diff(heights).min() >= 16


# The page

# The main report is linked where it is made.
FILES = r"(tables/[a-z]+\.(csv|md|tex)|\.\./report\.html|\.\./\.\./(docs/\w+\.md|data/methods/frames/[a-z]+\.csv))$"


def visible(html):
    """Return the text that readers see."""
    body = re.sub(r"<(script|style)\b.*?</\1>", "", html, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", " ", body))


def check_page(html):
    """Check that a page is whole, shows numbers only, and asks nothing of the network."""
    page = Page(html)
    page.check_structure()
    for link in page.links:
        assert link[1:] in page.ids if link.startswith("#") else re.search(rf"{FILES}|arxiv\.org", link), link
    assert html.count("<script") == html.count("</script") == 1
    check_policy(html)
    assert not re.search(r"\b(nan|NaN|None|inf|Infinity|NaT|<NA>|True|False)\b", visible(html))
    assert len(html.encode()) < 2_000_000


def test_the_page_is_complete_without_scripts(usual):
    html, _ = usual.page(added=["ga"])
    text = " ".join(visible(html).split())
    exact = round(100 * column(usual, "exact", part=HELD_OUT)["ga"], 1)
    assert re.search(rf" GA {exact} .* yours", text) and html.count('class="yours"') == 2
    assert "Not enough data sets to recommend a method." in text
    assert 'title="ended with signal 9"' in html


def test_failures_have_their_text(compared):
    divergent = make_method("ga", [make_run(1, None, failure="", evaluations=6000)])
    problem = with_gaps({"ga": [0.1], "mine": [0.2]})
    assert "found no structure" not in compared(problem).page()[0]
    lost = compared({**problem, "methods": [divergent, problem["methods"][1]]})
    assert 'title="found no structure of finite J"' in lost.page()[0]


@pytest.mark.parametrize("text", mostly_slow(MARKUP, MARKUP[0]), ids=lambda text: ascii(text)[:20])
def test_any_text_from_settings_data_and_runs_is_shown_as_text(compared, text):
    shown = re.sub(r"[^ -~]", "", text).replace("{", "").replace("}", "")
    gaps = {"x": [0.1, None], "multistart": [0.2]}
    problems = [with_gaps(gaps, system="x", scenario="x"), with_gaps(gaps, system="S1", scenario="x")]
    for problem in problems:
        problem["methods"][0]["method"] = shown
        problem["methods"][0]["runs"][1]["failure"] = shown
    settings = {"scenarios": {"x": {"description": text}}, "situations": {}, "tuned": [shown]}
    html, _ = compared(*problems, cost=[(shown, 66, 1.0, 1, shown)], **settings).page(left_out={text: text})
    page = Page(html)
    page.check_structure()
    check_policy(html)
    assert len(page.scripts) == 1 and "alert" not in page.scripts[0]
