"""The comparison of methods, on made-up score files with known answers."""

import math
import random

import pandas as pd
import pytest
from tests.unit.studies.methods.scores import (
    N_VALIDATION,
    SPURIOUS,
    TRUE,
    make_method,
    make_run,
    make_score,
    methods_study,
    with_gaps,
    write_scores,
)
from tests.unit.studies.paper.summaries import read_back

from narxbench._io.csv import write_table
from narxbench._studies.methods.frames import SCHEMAS, read_frame
from narxbench._studies.methods.ranking import DEVELOPMENT, FRAMES, HELD_OUT, rank_study
from narxbench._studies.methods.score_file import REFERENCES, TIME


@pytest.fixture
def ranked(tmp_path):
    """Return a function that writes score files and ranks their methods."""

    def rank(*scores, **changes):
        return rank_study(write_scores(tmp_path, list(scores)), **{"confidence": 0.95, **changes})

    return rank


def column(frame, name, group="all", part=DEVELOPMENT):
    """Return a column of the ranking by method."""
    return dict(frame[(frame["group"] == group) & (frame["part"] == part)].set_index("method")[name])


@pytest.mark.parametrize(
    "scores",
    [
        methods_study(),
        methods_study(("OUT",), ("base", "noisy"), ("multistart",), 1, 1),
        [with_gaps({"ga": [None], "multistart": [None]}, true_fitness=None)],
    ],
)
def test_every_frame_reads_back_as_it_was(ranked, tmp_path, scores):
    frames = ranked(*scores)
    assert tuple(frames) == FRAMES
    assert frames.keys() <= SCHEMAS.columns.keys()
    read_back(frames, tmp_path, read_frame)


@pytest.mark.slow
def test_the_order_of_files_methods_and_runs_does_not_matter(ranked, tmp_path):
    scores = methods_study()
    expected = ranked(*scores)
    for score in scores:
        score["methods"].reverse()
        for method in score["methods"]:
            method["runs"].reverse()
    paths = write_scores(tmp_path, scores)
    random.Random(1).shuffle(paths)
    frames = rank_study(paths, confidence=0.95)
    assert frames.keys() == expected.keys()
    for name, frame in frames.items():
        assert write_table(frame) == write_table(expected[name])


def test_gaps_are_those_to_the_lowest_known_fitness(ranked):
    below, truth = with_gaps({"ga": [-0.05, 0.1], "multistart": [0.0]}), with_gaps({"ga": [0.1, 0.2]}, data_seed=2)
    outside = with_gaps({"ga": [0.1, None]}, system="OUT")
    frames = ranked(below, truth, outside)
    rows = frames["scores"].set_index(["system", "data_seed", "method", "seed"])
    gaps = rows["gap"]
    assert gaps["S1", 1].to_dict() == {("ga", 1): 0, ("ga", 2): 0.15, ("multistart", 1): 0.05}
    assert gaps["S1", 2, "ga", 1] == 0.1
    assert gaps["OUT", 1, "ga", 1] == 0 and math.isnan(gaps["OUT", 1, "ga", 2])
    assert rows.loc["S1", "best_known"].unique().tolist() == [-4030.0, -4000.0]
    # A run that failed counts as 1.
    assert column(frames["ranking"], "gap", part=HELD_OUT)["ga"] == 0.5


def test_scores_by_hand(ranked):
    close = make_run(2, -3990.0, terms=[*TRUE[:3], *SPURIOUS[:2]], hits=3, fresh_error=None)
    too_many = make_run(3, -3990.0, terms=[*TRUE, SPURIOUS[0]])
    runs = [make_run(1), close, too_many, make_run(4, None)]
    frames = ranked(make_score([make_method("ga", runs)]), make_score([make_method("ga", runs)], "OUT"))
    rows = frames["scores"].query("system == 'S1'")
    assert rows["exact"].tolist() == [True, False, False, False]
    assert rows["f1"].tolist() == [1, 6 / 9, 8 / 9, 0]
    assert rows["size"].fillna(-1).tolist() == [1, 1.25, 1.25, -1]
    assert rows["fresh_error"].fillna(-1).tolist() == [0.05, -1, 0.05, -1]
    assert rows["failure"].tolist() == ["", "", "", "ended with signal 9"]
    assert frames["scores"].query("system == 'OUT'")[["exact", "f1", "size"]].isna().all(axis=None)
    # Where the truth is no candidate, only gap and fresh error count; failures are the worst.
    ranking = frames["ranking"].set_index(["part", "group"])
    here, outside = ranking.loc[(DEVELOPMENT, "all")], ranking.loc[(HELD_OUT, "all")]
    assert here["exact"] == 0.25 and here["f1"] == pytest.approx((1 + 6 / 9 + 8 / 9) / 4)
    # Errors above 1, of free runs that diverge and of runs that fail, count as 1.
    assert here["fresh_error"] == pytest.approx((0.05**2) ** 0.25) == outside["fresh_error"]
    assert here["size"] == pytest.approx((1 * 1.25 * 1.25) ** (1 / 3))
    assert here["gap"] == pytest.approx((2 * 10 / N_VALIDATION + 1) / 4)
    assert math.isnan(outside["exact"]) and outside["failures"] == 1
    assert frames["systems"].set_index("system")["exact"].fillna(-1).to_dict() == {"OUT": -1, "S1": 0.25}


def test_runs_then_data_sets_then_systems_are_averaged(ranked):
    exact, wrong = make_run(1), make_run(1, -3400.0, terms=SPURIOUS, hits=0)

    def problem(system, data_seed, frols, ga):
        runs = [{**(exact if hit else wrong), "seed": seed} for seed, hit in enumerate(ga, start=1)]
        methods = [make_method("frols", [exact if frols else wrong]), make_method("ga", runs)]
        return make_score(methods, system, data_seed=data_seed)

    problems = [problem("S1", 1, True, [True] * 5), problem("S1", 2, False, [False, False, True, False, False])]
    problems.append(problem("S2", 1, False, [True] * 2))
    ranking = ranked(*problems)["ranking"]
    assert column(ranking, "runs") == {"frols": 3, "ga": 12}
    assert column(ranking, "exact") == {"frols": 0.25, "ga": 0.8}


def test_intervals_are_over_systems(ranked):
    scores = methods_study()
    first = ranked(*scores)["ranking"]
    for name in ("exact", "fresh_error"):
        with_interval = first.dropna(subset=f"{name}_low")
        assert with_interval[name].between(with_interval[f"{name}_low"], with_interval[f"{name}_high"]).all()
    # More problems of one system are no more systems.
    of_s1 = ranked(*methods_study(("S1",), data_seeds=4))["ranking"]
    assert of_s1[["fresh_error_low", "fresh_error_high"]].isna().all(axis=None)
    assert (of_s1["exact_high"] - of_s1["exact_low"]).dropna().min() > 0.9


@pytest.mark.slow
def test_references_are_shown_and_not_ranked(ranked):
    with_them, without = ranked(*methods_study()), ranked(*methods_study(references=False))
    pd.testing.assert_frame_equal(with_them["pairs"], without["pairs"])
    ranking = with_them["ranking"]
    is_method = ~ranking["reference"]
    pd.testing.assert_frame_equal(ranking[is_method].reset_index(drop=True), without["ranking"])
    assert set(ranking[~is_method]["method"]) == {*REFERENCES} and not ranking[~is_method]["ranked"].any()
    assert column(ranking, "exact")["truth"] == 1 and column(ranking, "exact")["all-candidates"] == 0


def test_another_criterion_takes_no_part_in_the_search(ranked):
    scores = [with_gaps({"a": [0.0], "b": [0.1]}), with_gaps({"c": [-9.0]}, criterion="ebicl-1")]
    ranking = ranked(*scores)["ranking"]
    assert column(ranking, "searches") == {"a": True, "b": True, "c": False}
    assert column(ranking, "gap") == {"a": 0, "b": 0.1, "c": pytest.approx(math.nan, nan_ok=True)}


def test_a_method_that_is_not_run_is_ranked_and_not_exact(ranked):
    not_run = make_method("slow", [make_run(1, None, failure=TIME)])
    run = make_method("slow", [make_run(1)])
    problems = []
    for system, method in (("S1", run), ("S2", not_run)):
        problems.append(make_score([method, make_method("ga", [make_run(1)])], system))
    ranking = ranked(*problems)["ranking"]
    assert column(ranking, "ranked") == {"slow": True, "ga": True}
    assert column(ranking, "exact")["slow"] == 0.5
    assert column(ranking, "not_run") == column(ranking, "failures") == {"slow": 1, "ga": 0}


def test_a_method_that_lacks_data_sets_is_not_ranked(ranked):
    complete = [with_gaps({"a": [0.0], "b": [0.1]}), with_gaps({"a": [0.0], "b": [0.1]}, system="S2")]
    frames = ranked(*complete, with_gaps({"b": [0.5]}, system="S4", held_out=False))
    assert column(frames["ranking"], "ranked") == {"a": False, "b": True}
    assert column(frames["ranking"], "data_sets") == {"a": 2, "b": 3}
    assert frames["pairs"].empty


def test_groups_are_all_scenarios_each_and_situations(ranked):
    situations = {"alike": ["S1", "S3"], "elsewhere": ["X9"]}
    frames = ranked(*methods_study(scenarios=("noisy", "base", "short-200")), situations=situations)
    parts = frames["ranking"].groupby("part", sort=False)["group"].unique()
    assert set(parts.index) == {HELD_OUT, DEVELOPMENT}
    for groups in parts:
        assert list(groups) == ["all", "base", "noisy", "short-200", "alike"]
    assert column(frames["ranking"], "systems", "alike")["ga"] == 1


def test_an_unsteady_method_is_neither_ranked_nor_compared(ranked):
    frames = ranked(*methods_study(), unsteady=["upso2d"])
    assert not column(frames["ranking"], "ranked")["upso2d"] and column(frames["ranking"], "ranked")["ga"]
    assert not frames["pairs"][["best", "rival"]].isin(["upso2d"]).any(axis=None)
