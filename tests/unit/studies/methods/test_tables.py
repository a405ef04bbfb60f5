"""The tables of a comparison of methods: every form of each, of any study."""

from itertools import product

import pandas as pd
import pytest
from tests.lookups import item_with, values_of
from tests.tiers import mostly_slow
from tests.unit.studies.methods.leaderboards import SHAPES, comparison, cost, frames_of, methods_of, shape
from tests.unit.studies.methods.scores import make_method, make_run, make_score, with_gaps
from tests.unit.studies.methods.test_answer import CLEAR, study

from narxbench._studies.methods.metrics import FRESH, GAP
from narxbench._studies.methods.score_file import TIME
from narxbench._studies.methods.tables import leaderboard_tables, remarks
from narxbench._study.table_files import table_files

NAMES = ("leaderboard", "situations", "differences", "systems")


@pytest.mark.parametrize("name", mostly_slow(SHAPES, "usual"))
def test_every_table_has_every_form(name):
    files = table_files(leaderboard_tables(comparison(shape(name))))
    assert set(files) == set(map(".".join, product(NAMES, ("csv", "md", "tex"))))
    for file, text in files.items():
        assert file.endswith("csv") or not {"nan", "None", "inf"} & set(text.replace("|", " ").split())


def test_the_ranking_has_eight_columns_and_references_come_last():
    frames = shape("usual")
    ranking = leaderboard_tables(comparison(frames, cost(methods_of(frames), ga=0.25)))["leaderboard"]
    assert len(ranking.columns) == 8
    rows = ranking.rows("plain")
    shares = [float(row[1].split()[0]) for row in rows[:-2]]
    assert shares == sorted(shares, reverse=True)
    assert [row[0] for row in rows[-2:]] == ["truth", "all-candidates"]
    by_name = {row[0]: row for row in rows}
    assert by_name["GA"][4] == "0.25" and by_name["truth"][7] == "reference"


def test_aims_have_orders_of_their_own():
    frames = frames_of(study({"mine": (9, 0.0, 0.05), "frols": (5, 0.1, 0.01), "ga": (4, 0.5, 0.1)}))
    view = comparison(frames, cost(["mine", "frols", "ga"], mine=3.0, frols=1.0, ga=0.1)).whole
    assert values_of(view.ranked(FRESH), "method") == ["frols", "mine", "ga"]
    assert values_of(view.ranked(GAP), "method") == ["mine", "ga"]
    # The GA is cheapest, but finds the terms less than half as often as the best one.
    assert view.cheapest_useful()["method"] == "frols"


def test_times_are_those_of_the_closest_number_of_candidate_terms_or_of_repeated_runs():
    scores = [with_gaps({"ga": [0.1], "mine": [0.1]}, n_terms=200), with_gaps({"ga": [0.1]}, scenario="noisy")]
    times = pd.DataFrame(
        [("ga", 66, 1.0, 6000, "m"), ("ga", 286, 5.0, 6000, "m")],
        columns=["method", "n_terms", "seconds", "evaluations", "machine"],
    )
    repeats = {"ga": (True, "", 9.0), "mine": (False, "another J", 7.0)}
    shown = comparison(frames_of(scores, unsteady=["mine"]), times, repeats=repeats)
    seconds = {}
    for view in shown.views:
        seconds |= {(view.group, row["method"]): row["seconds"] for row in view.rows()}
    assert (seconds["base", "ga"], seconds["noisy", "ga"], seconds["base", "mine"]) == (5.0, 1.0, 7.0)
    mine = item_with(shown.whole.rows(), method="mine")
    assert (mine["unsteady"], mine["last"]) == ("another J", 1)
    assert [*remarks(mine, shown)] == ["not ranked: a repeated run found something else (another J)"]


def test_remarks_say_whose_a_method_is_how_it_compares_and_what_it_lacks():
    shown = comparison(frames_of(study({**CLEAR, "same": CLEAR["mine"]})), added=["ga"])
    words = {row["method"]: [*remarks(row, shown)] for row in shown.whole.rows()}
    assert words["mine"] == [] and words["same"] == ["practically equal"]
    assert words["ga"][0] == "yours" and words["frols"][0].startswith("undecided: ")
    scores = [with_gaps({"ga": [0.1], "mine": [0.0]}), with_gaps({"ga": [0.1]}, scenario="noisy")]
    partial = comparison(frames_of(scores))
    assert [*remarks(item_with(partial.whole.rows(), method="mine"), partial)] == ["not ranked: it lacks 1 data sets"]


def test_differences_are_those_of_the_best_with_a_verdict():
    table = leaderboard_tables(comparison(frames_of(study(CLEAR))))["differences"]
    rows = {(row[0], row[2]): row for row in table.rows("plain")}
    assert set(rows) == {*product(("exact recovery", "error on fresh data"), ("frols", "GA")), ("gap", "GA")}
    assert {row[1] for row in rows.values()} == {"mine"}
    recovery = rows["exact recovery", "GA"]
    assert recovery[3:5] == ["80.0 points", "better"]
    assert rows["exact recovery", "frols"][4] == "undecided"
    assert rows["error on fresh data", "frols"][3:5] == ["a factor of 0.50", "better"]


def test_situations_have_the_recovery_of_every_method():
    noisy = study({"mine": (5, 0.0, 0.01), "frols": (9, 0.1, 0.02), "ga": (1, 0.5, 0.1)}, scenario="noisy")
    for problem in noisy:
        problem["methods"][2]["runs"] = [make_run(1, None, failure=TIME)]
    table = leaderboard_tables(comparison(frames_of([*study(CLEAR), *noisy])))["situations"]
    assert values_of(table.columns, "heading") == ["Method", "all data", "base", "noisy", "fast"]
    rows = {row[0]: row[1:] for row in table.rows("plain")}
    assert rows["mine"] == ["70.0 %", "90.0 %", "50.0 %", "100 %"] and rows["frols"][1:3] == ["50.0 %", "90.0 %"]
    assert rows["GA"][1:3] == ["10.0 %", TIME]


def test_systems_are_means_over_the_scenarios_that_have_them():
    exact, partial = make_run(1), make_run(1, terms=["y(k-1)"], hits=1)
    scores = []
    for system, scenario, run in (("S4", "base", exact), ("S4", "noisy", partial), ("S3", "base", partial)):
        scores.append(make_score([make_method("ga", [run])], system, scenario))
    shown = leaderboard_tables(comparison(frames_of(scores)))["systems"]
    assert values_of(shown.columns, "heading") == ["Method", "S3", "S4"]
    assert shown.rows("plain") == [["GA", "0 %", "50.0 %"]]
