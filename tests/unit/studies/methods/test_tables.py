"""The tables of a comparison of methods: every form of each, of any study."""

from itertools import product

import pandas as pd
import pytest
from tests.lookups import item_with, values_of
from tests.tiers import mostly_slow
from tests.unit.studies.methods.leaderboards import SHAPES, comparison, cost, frames_of, methods_of, shape
from tests.unit.studies.methods.scores import make_method, make_run, make_score, with_gaps
from tests.unit.studies.methods.test_answer import CLEAR, study

from narxbench._studies.methods.tables import leaderboard_tables, remarks
from narxbench._studies.methods.wants import CHEAPEST, LOWEST_J, NEW_DATA
from narxbench._study.table_files import table_files

NAMES = ("leaderboard", "search", "unranked", "systems", "differences", "situations", "breaks")


@pytest.mark.parametrize("name", mostly_slow(SHAPES, "usual"))
def test_every_table_has_every_form(name):
    files = table_files(leaderboard_tables(comparison(shape(name))))
    assert set(files) == set(map(".".join, product(NAMES, ("csv", "md", "tex"))))
    for file, text in files.items():
        assert file.endswith("csv") or not {"nan", "None", "inf"} & set(text.replace("|", " ").split())
    assert len(files["differences.tex"]) < 100_000


def test_the_contests_have_their_methods_and_references_come_last():
    frames = shape("usual")
    shown = leaderboard_tables(comparison(frames, cost(methods_of(frames), ga=0.25)))
    rows = dict(iter(shown["leaderboard"].data.astype({"part": str}).groupby("part", sort=False)))
    assert list(rows) == ["held-out", "development"]
    for rows_of_part in rows.values():
        methods = rows_of_part[rows_of_part["remarks"] != "reference"]
        assert list(methods["exact"]) == sorted(methods["exact"], reverse=True)
        assert list(rows_of_part["method"])[-2:] == ["truth", "all-candidates"]
    words = rows["development"].set_index("method")[["seconds", "remarks"]]
    assert words.loc["ga"].tolist() == [0.25, "tuned here"] and words.at["frols", "remarks"] == "det."
    assert not rows["held-out"]["remarks"].str.contains("tuned").any()
    searches = set(shown["search"].data["method"])
    assert searches == {"ga", "multistart", "random", "upso2d", "truth", "all-candidates"}


def test_what_a_run_is_lost_to_is_shown_where_the_criterion_is_known():
    (view,) = comparison(frames_of(study(CLEAR))).whole()
    lost = {row["method"]: (row["lost_to_criterion"], row["lost_to_search"]) for row in view.rows()}
    assert lost == {"mine": (0.1, 0.0), "ga": (0.0, 0.9), "frols": (None, None)}


def test_wishes_have_orders_of_their_own():
    frames = frames_of(study({"mine": (9, 0.0, 0.05), "frols": (5, 0.1, 0.01), "ga": (4, 0.5, 0.1)}))
    shown = comparison(frames, cost(["mine", "frols", "ga"], mine=3.0, frols=1.0, ga=0.1))
    (view,) = shown.whole()
    assert values_of(view.ranked(NEW_DATA), "method") == ["frols", "mine", "ga"]
    assert values_of(view.ranked(LOWEST_J), "method") == ["mine", "ga"]
    # The GA is cheapest, but finds the terms less than half as often as the best one.
    assert values_of(view.ranked(CHEAPEST), "method") == ["frols", "mine"]


def test_times_are_those_of_the_closest_number_of_candidate_terms_or_of_repeated_runs():
    scores = [with_gaps({"ga": [0.1], "mine": [0.1]}, n_terms=200), with_gaps({"ga": [0.1]}, scenario="noisy")]
    times = pd.DataFrame(
        [("ga", 66, 1.0, 6000, "m"), ("ga", 286, 5.0, 6000, "m")],
        columns=["method", "n_terms", "seconds", "evaluations", "machine"],
    )
    shown = comparison(frames_of(scores), times, repeats={"ga": (True, "", 9.0), "mine": (False, "another J", 7.0)})
    seconds = {}
    for view in shown.views:
        seconds |= {(view.group, row["method"]): row["seconds"] for row in view.rows()}
    assert (seconds["base", "ga"], seconds["noisy", "ga"], seconds["base", "mine"]) == (5.0, 1.0, 7.0)
    mine = item_with(shown.views[0].rows(), method="mine")
    assert (mine["unsteady"], mine["last"]) == ("another J", 1)
    ((word, _),) = remarks(mine)
    assert word == "does not repeat"


def test_a_method_in_some_scenarios_is_last_and_marked_where_there_are_more():
    scores = [with_gaps({"ga": [0.1], "mine": [0.0]}), with_gaps({"ga": [0.1]}, scenario="noisy")]
    marks = {}
    for view in comparison(frames_of(scores)).views:
        marks |= {(view.group, row["method"]): [*remarks(row)] for row in view.rows()}
    assert ("not ranked", "it was run on 1 of the data sets") in marks["all", "mine"]
    assert "not ranked" not in dict([*marks["base", "mine"], *marks["all", "ga"], *marks["noisy", "ga"]])


def test_differences_are_those_of_the_best_with_a_verdict_in_words():
    shown = leaderboard_tables(comparison(frames_of(study(CLEAR))))["differences"]
    assert values_of(shown.columns[3:], "heading") == ["Against", "Difference", "Interval", "Verdict", "p"]
    rows = {(row[1], row[3]): row for row in shown.rows("plain")}
    assert list(rows) == [
        *product(("the right terms", "a model that is good on new data"), ("frols", "GA")),
        ("the lowest J", "GA"),
    ]
    assert {row[2] for row in rows.values()} == {"mine"}
    recovery = rows["the right terms", "GA"]
    assert recovery[4] == "+80.0 points" and recovery[6:] == ["better", "0.008"]
    # In four of ten systems frols is worse, in the others as good: two of 2^4 sign patterns.
    assert rows["the right terms", "frols"][6:] == ["open", "0.125"]
    assert rows["a model that is good on new data", "frols"][4] == "×0.50"


def test_what_breaks_is_shown_by_situation():
    scores = [
        *study(CLEAR),
        *study({"mine": (5, 0.0, 0.01), "frols": (9, 0.1, 0.02), "ga": (1, 0.5, 0.1)}, scenario="noisy"),
    ]
    shown = leaderboard_tables(comparison(frames_of(scores)))
    breaks = {row[0]: row[1:] for row in shown["breaks"].rows("plain")}
    assert values_of(shown["breaks"].columns, "heading") == ["Method", "all data", "base", "noisy", "fast"]
    assert breaks["mine"] == ["70.0 %", "90.0 %", "50.0 %", "100 %"] and breaks["frols"][1:3] == ["50.0 %", "90.0 %"]
    holds = dict(zip(shown["situations"].data["group"], shown["situations"].data["holds"], strict=True))
    assert holds == {"all": "below 80 %", "base": "yes", "noisy": "not first, below 80 %", "fast": "yes"}


def test_methods_that_are_not_ranked_stand_next_to_the_truth_on_the_same_data():
    runs = {"truth": 0.01, "ga": 0.04, "mine": 0.05}
    scores = []
    for scenario, n_methods, extra_error in (("base", 3, 0.0), ("noisy", 2, 0.1)):
        methods = [make_method(name, [make_run(1, fresh_error=error + extra_error)]) for name, error in runs.items()]
        methods[0]["reference"] = True
        scores.append(make_score(methods[:n_methods], "S1", scenario))
    shown = leaderboard_tables(comparison(frames_of(scores)))
    assert [row[1] for row in shown["leaderboard"].rows("plain")] == ["GA", "truth"]
    (row,) = shown["unranked"].rows("plain")
    assert row == ["mine", "it was not run on all data sets", "1", "100 %", "100 %", "0.050", "0.040", "0.010", "GA"]


def test_systems_are_means_over_the_scenarios_that_have_them():
    exact, partial = make_run(1), make_run(1, terms=["y(k-1)"], hits=1)
    scores = []
    for system, scenario, run in (("S1", "base", exact), ("S1", "noisy", partial), ("S3", "base", partial)):
        scores.append(make_score([make_method("ga", [run])], system, scenario))
    shown = leaderboard_tables(comparison(frames_of(scores)))["systems"]
    assert values_of(shown.columns, "heading") == ["Method", "S3, held-out", "S1, development"]
    assert shown.rows("plain") == [["GA", "0 %", "50.0 %"]]
