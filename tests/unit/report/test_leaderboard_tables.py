"""The tables of a comparison of methods: every form of each, of any study."""

import pandas as pd
import pytest
from tests.tiers import mostly_slow
from tests.unit.analysis.scores import make_method, make_run, make_score, with_gaps
from tests.unit.report.leaderboards import SHAPES, cost, frames_of, methods_of, shape

from narxbench.analysis.ranking import ALL
from narxbench.report import leaderboard_tables as tables
from narxbench.report.tables import table_files

TEN = tuple(f"S{n}" for n in range(10))


def made(frames, contributed=(), **seconds):
    return tables.leaderboard_tables(frames, cost(methods_of(frames), **seconds), contributed)


@pytest.mark.parametrize("name", mostly_slow(SHAPES, "usual"))
def test_every_table_has_every_form(name):
    files = table_files(made(shape(name)))
    names = ("leaderboard", "systems", "pairs", "exceptions")
    assert set(files) == {f"{table}.{form}" for table in names for form in ("csv", "md", "tex")}
    for file, text in files.items():
        assert file.endswith("csv") or not {"nan", "None", "inf"} & set(text.replace("|", " ").split())
    assert len(files["pairs.tex"]) < 100_000


def test_the_leaderboard_ranks_all_scenarios_together():
    frames = shape("usual")
    shown = made(frames, ["random"], ga=0.25)["leaderboard"]
    ranking = frames["ranking"][frames["ranking"]["group"] == ALL].set_index("method")
    assert list(shown.data["average_rank"]) == sorted(ranking["average_rank"])
    rows = {row[1]: row for row in shown.rows("plain")}
    assert rows["GA"][13] == "0.25" and rows["GA"][-1] == ""
    assert rows["frols"][12] == "–" and rows["frols"][-1] == "deterministic"
    assert rows["random"][-2] == str(ranking.at["random", "failures"]) != "0" and rows["random"][-1] == "contributed"
    # Two share the first place, so that there is no second one.
    assert [row[0] for row in shown.rows("plain")] == ["1", "1", "3", "4", "5"]


def test_times_are_those_of_the_closest_number_of_candidate_terms():
    one = frames_of([with_gaps({"ga": [0.1]}, n_terms=200), with_gaps({"ga": [0.1]}, scenario="noisy")])
    times = pd.DataFrame(
        [("ga", 66, 1.0, 6000, "m"), ("ga", 286, 5.0, 6000, "m")],
        columns=["method", "n_terms", "seconds", "evaluations", "machine"],
    )
    found = tables.ranked(one, times).set_index("group")["seconds"]
    assert (found["base"], found["noisy"]) == (5.0, 1.0)
    assert tables.ranked(one, times.iloc[:0])["seconds"].isna().all()


def test_pairs_name_the_better_method_only_where_a_test_does():
    frames = frames_of([with_gaps({"a": [0.1], "b": [0.5], "c": [0.1]}, system=name) for name in TEN])
    shown = made(frames)["pairs"].rows("plain")
    assert [(row[0], row[1], row[-1]) for row in shown] == [
        ("a", "b", "a"),
        ("a", "c", "no clear difference"),
        ("b", "c", "c"),
    ]
    assert shown[0][2:7] == ["10", "−0.40", "0.002", "0.006", "−1.00"]


def test_systems_are_means_over_the_scenarios_that_have_them():
    runs = [make_run(1), make_run(1, terms=["y(k-1)"], hits=1)]
    scores = [
        make_score([make_method("ga", [run])], system, scenario)
        for system, scenario, run in (("S1", "base", runs[0]), ("S1", "noisy", runs[1]), ("S2", "base", runs[1]))
    ]
    shown = made(frames_of([*scores, make_score([make_method("ga", [make_run()])], "OUT", true_fitness=None)]))
    assert shown["systems"].rows("plain") == [["GA", "50 %", "0 %"]]


def test_exceptions_are_counted_by_measure():
    problems = [
        with_gaps({"ga": [0.1 if name == "S1" else 0.9], "multistart": [0.5]}, system=name, scenario=scenario)
        for name in TEN[:3]
        for scenario in ("base", "noisy")
    ]
    (row,) = made(frames_of(problems))["exceptions"].data.to_dict("records")
    assert (row["method"], row["gap"], row["gap_of"], row["exact"], row["exact_of"]) == ("ga", 2, 6, 0, 6)
