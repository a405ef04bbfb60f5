"""The comparison of methods, on made-up score files with known answers."""

import math
import random

import numpy as np
import pandas as pd
import pytest
from tests.unit.studies.methods.scores import (
    BUDGET,
    METHODS,
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
from narxbench._studies.methods.metrics import TARGETS
from narxbench._studies.methods.ranking import DEVELOPMENT, FRAMES, HELD_OUT, rank_study
from narxbench._studies.methods.score_file import REFERENCES
from narxbench._study.metrics import TOLERANCE


@pytest.fixture
def ranked(tmp_path):
    """Return a function that writes score files and ranks their methods."""

    def rank(*scores, **changes):
        paths = write_scores(tmp_path, list(scores))
        return rank_study(paths, **{"confidence": 0.95, "bootstrap_samples": 200, **changes})

    return rank


def column(frame, name, group="all", part=DEVELOPMENT):
    """Return a column of the ranking by method."""
    return dict(frame[(frame["group"] == group) & (frame["part"] == part)].set_index("method")[name])


def history(*steps):
    evaluations, gaps = np.transpose(steps)
    return {"evaluations": evaluations.astype(int).tolist(), "fitness": (-4000.0 + gaps * N_VALIDATION).tolist()}


# Two problems of S1 and one of S2; ranks of a, b and c on each in comments.
THREE = [
    with_gaps({"a": [0.0, 0.0, 0.5], "b": [0.1, 0.1, 0.1], "c": [None, None, 0.0]}),  # 1, 2, 3
    with_gaps({"a": [0.2] * 3, "b": [0.2, 0.2 + 1e-12, 0.2 + 1e-12], "c": [0.0] * 3}, data_seed=2),  # 2.5, 2.5, 1
    with_gaps({"a": [0.3] * 3, "b": [0.0] * 3, "c": [0.3, None, 0.3]}, system="S2"),  # 2.5, 1, 2.5
]


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
    frames = rank_study(paths, confidence=0.95, bootstrap_samples=200)
    assert frames.keys() == expected.keys()
    for name, frame in frames.items():
        assert write_table(frame) == write_table(expected[name])


def test_mean_ranks_by_hand(ranked):
    # Mean ranks in S1: 1.75, 2.25 and 2; their means with those in S2.
    frames = ranked(*THREE)
    assert column(frames["ranking"], "rank_gap") == {"a": 2.125, "b": 1.625, "c": 2.25}
    assert column(frames["ranking"], "failures") == {"a": 0, "b": 0, "c": 3}
    # The terms of all runs that end are right, and a failure has none: c is worse in two of the data sets.
    assert column(frames["ranking"], "rank_f1") == pytest.approx({"a": 1.625, "b": 1.625, "c": 2.75})


def test_gaps_are_those_to_the_best_known_fitness(ranked):
    below, truth = with_gaps({"ga": [-0.05, 0.1], "multistart": [0.0]}), with_gaps({"ga": [0.1, 0.2]}, data_seed=2)
    outside = with_gaps({"ga": [0.1, None]}, system="OUT")
    rows = ranked(below, truth, outside)["scores"].set_index(["system", "data_seed", "method", "seed"])
    gaps = rows["gap"]
    assert gaps["S1", 1].to_dict() == {("ga", 1): 0, ("ga", 2): 0.15, ("multistart", 1): 0.05}
    assert gaps["S1", 2, "ga", 1] == 0.1
    assert gaps["OUT", 1, "ga", 1] == 0 and math.isnan(gaps["OUT", 1, "ga", 2])
    assert rows.loc["S1", "best_known"].unique().tolist() == [-4030.0, -4000.0]


def test_scores_by_hand(ranked):
    close = make_run(2, -3990.0, terms=[*TRUE[:3], *SPURIOUS[:2]], hits=3, fresh_error=None)
    too_many = make_run(3, -3990.0, terms=[*TRUE, SPURIOUS[0]])
    runs = [make_run(1), close, too_many, make_run(4, None)]
    frames = ranked(make_score([make_method("ga", runs)]), make_score([make_method("ga", runs)], "OUT"))
    rows = frames["scores"].query("system == 'S1'")
    assert rows["exact"].tolist() == [True, False, False, False]
    assert rows["f1"].tolist() == [1, 6 / 9, 8 / 9, 0]
    assert rows["fresh_error"].fillna(-1).tolist() == [0.05, -1, 0.05, -1]
    assert rows["failure"].tolist() == ["", "", "", "ended with signal 9"]
    assert frames["scores"].query("system == 'OUT'")[["exact", "f1"]].isna().all(axis=None)
    # Where the truth is no candidate, only gap, targets and fresh error count; failures are the worst.
    ranking = frames["ranking"].set_index(["part", "group"])
    here, outside = ranking.loc[(DEVELOPMENT, "all")], ranking.loc[(HELD_OUT, "all")]
    assert here["exact"] == 0.25 and here["f1"] == pytest.approx((1 + 6 / 9 + 8 / 9) / 4)
    assert here["gap"] == pytest.approx(10 / N_VALIDATION)
    assert math.isnan(here["fresh_error"]) and math.isnan(here["gap_worst"])
    assert math.isnan(outside["exact"]) and outside["failures"] == 1
    assert frames["systems"].set_index("system")["exact"].fillna(-1).to_dict() == {"OUT": -1, "S1": 0.25}


def test_a_deterministic_method_counts_once_and_not_less(ranked):
    def problem(data_seed, frols, ga):
        exact = {True: make_run(1), False: make_run(1, -3400.0, terms=SPURIOUS, hits=0)}
        runs = [{**exact[hit], "seed": seed} for seed, hit in enumerate(ga, start=1)]
        return make_score([make_method("frols", [exact[frols]]), make_method("ga", runs)], data_seed=data_seed)

    ranking = ranked(problem(1, True, [True] * 5), problem(2, False, [False, False, True, False, False]))["ranking"]
    assert column(ranking, "runs") == {"frols": 2, "ga": 10}
    assert column(ranking, "exact") == {"frols": 0.5, "ga": 0.6}
    assert column(ranking, "fresh_error") == {"frols": 0.05, "ga": 0.05}
    assert column(ranking, "rank_f1") == {"frols": 1.75, "ga": 1.25}


def reaching_study():
    """Return two problems: of five runs of ga, three come within 0.01, after 100, 300 and 40 evaluations."""
    late = make_run(1, -4000.0, history=history((1, 5.0), (100, 0.01), (500, 0.0)))
    edge = make_run(2, -3997.0, history=history((300, 0.005)))
    never = make_run(3, -3400.0, history=history((7, 1.0)))
    failed = make_run(4, None, evaluations=80, history=history((7, 0.0)))
    soon = make_run(1, -4000.0, history=history((40, 0.0)))
    direct = make_run(1, -4000.0, evaluations=1, history=history((1, 0.0)))
    frols = make_method("frols", [direct])
    return [
        make_score([make_method("ga", [late, edge, never, failed]), frols]),
        make_score([make_method("ga", [soon]), frols], data_seed=2),
    ]


def test_targets_and_expected_evaluations_by_hand(ranked):
    frames = ranked(*reaching_study())
    spent = (100 + 300 + 40 + BUDGET + 80) / 3
    assert column(frames["ranking"], "ert")["ga"] == pytest.approx(spent, rel=1e-11)
    # Of 30 pairs of a run and a target: 1 + 2 + 2 + 2 + 2 + 3 on the first problem, all 6 on the second.
    assert column(frames["ranking"], "reached")["ga"] == pytest.approx(18 / 30)
    # frols does not search for the lowest J.
    for name in ("ert", "reached", "rank_gap"):
        assert math.isnan(column(frames["ranking"], name)["frols"])
    assert not column(frames["ranking"], "searches")["frols"] and column(frames["ranking"], "searches")["ga"]


def test_ecdf_by_hand(ranked):
    ecdf = ranked(*reaching_study())["ecdf"].query("group == 'all'")
    reached = ecdf[ecdf["method"] == "ga"].set_index("evaluations")["reached"]
    # Ten points for each factor of ten, and the budget.
    assert reached.index.tolist()[:12] == [1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25]
    assert reached.index.tolist()[-2:] == [5012, BUDGET]
    marks = {6: 0, 8: 1, 32: 1, 40: 7, 79: 7, 100: 12, 251: 12, 316: 17, 501: 18, BUDGET: 18}
    assert reached[list(marks)].to_dict() == marks
    assert ecdf["total"].unique().tolist() == [5 * len(TARGETS)] and ecdf["method"].unique().tolist() == ["ga"]


def test_early_ranks_are_those_of_the_history(ranked):
    fast = make_run(1, -3990.0, history={"evaluations": [20, 90], "fitness": [-3000.0, -3990.0]})
    slow = make_run(1, -4000.0, history={"evaluations": [101, 400], "fitness": [-3500.0, -4000.0]})
    ranking = ranked(make_score([make_method("fast", [fast]), make_method("slow", [slow])]))["ranking"]
    assert column(ranking, "rank_gap") == {"fast": 2, "slow": 1}
    assert column(ranking, "rank_gap_500") == {"fast": 2, "slow": 1}
    assert column(ranking, "rank_gap_100") == {"fast": 1, "slow": 2}
    assert column(ranking, "gap_500")["fast"] == pytest.approx(10 / N_VALIDATION)


def test_a_miss_is_due_to_the_criterion_or_to_the_search(ranked):
    wrong = {"terms": SPURIOUS, "hits": 0}
    runs = [make_run(1), make_run(5, None)]
    for seed, excess in ((2, -3.0), (3, 0.0), (4, 2.0)):
        runs.append(make_run(seed, **wrong, excess=excess))
    silent = [make_run(1, **wrong, excess=None), make_run(2, **wrong, excess=None)]
    ranking = ranked(make_score([make_method("ga", runs), make_method("silent", silent)]))["ranking"]
    assert column(ranking, "lost_to_criterion")["ga"] == 2 / 5
    # That it failed is no fault of the criterion.
    assert column(ranking, "lost_to_search")["ga"] == 2 / 5
    assert math.isnan(column(ranking, "lost_to_search")["silent"])


@pytest.mark.slow
def test_references_are_shown_and_not_ranked(ranked):
    with_them, without = ranked(*methods_study()), ranked(*methods_study(references=False))
    for name in ("pairs", "ecdf"):
        pd.testing.assert_frame_equal(with_them[name], without[name])
    ranking = with_them["ranking"]
    is_method = ~ranking["reference"]
    pd.testing.assert_frame_equal(ranking[is_method].reset_index(drop=True), without["ranking"])
    assert set(ranking[~is_method]["method"]) == {*REFERENCES}
    assert ranking[~is_method].filter(like="rank_").isna().all(axis=None)
    assert column(ranking, "exact")["truth"] == 1 and column(ranking, "exact")["all-candidates"] == 0


def test_another_criterion_takes_no_part_in_the_search(ranked):
    scores = [with_gaps({"a": [0.0], "b": [0.1]}), with_gaps({"c": [-9.0]}, criterion="ebicl-1")]
    ranking = ranked(*scores)["ranking"]
    assert column(ranking, "searches") == {"a": True, "b": True, "c": False}
    assert column(ranking, "rank_f1") == {"a": 2, "b": 2, "c": 2}
    assert column(ranking, "rank_gap") == {"a": 1, "b": 2, "c": pytest.approx(math.nan, nan_ok=True)}
    assert math.isnan(column(ranking, "gap")["c"])


def test_differences_by_hand(ranked):
    pairs = ranked(*THREE)["pairs"].query("group == 'all'").set_index(["measure", "best", "rival"])
    gaps = pairs.loc[("gap", "b")]
    # Mean gaps: of a 0.1 and 0.3, of b 0.15 and 0; of c, whose failures count as 1, 0.5 and 0.3.
    assert gaps["difference"].to_dict() == pytest.approx({"a": (0.05 - 0.3) / 2, "c": (-0.35 - 0.3) / 2})
    # Two systems say nothing of others: signs that differ, and signs that agree, of 2^2 patterns.
    assert gaps["p_value"].to_dict() == {"a": 1.0, "c": 0.5} and gaps["least_p"].tolist() == [0.5, 0.5]
    assert gaps["verdict"].tolist() == ["open"] * 2 and gaps[["low", "high"]].isna().all(axis=None)
    # All stay undecided: the cluster of chance is first b and a, then all three methods. In S2 a and c are alike, so
    # that their pair cannot have so low a p.
    assert gaps["pairs"].to_dict() == {"a": 1, "c": 2} and gaps["p"].tolist() == [1.0, 1.0]
    # Two of three runs of c fail on the first data set of S1, one of three on that of S2.
    assert pairs.loc[("exact", "a", "c"), "difference"] == pytest.approx((1 / 3 + 1 / 3) / 2)


def test_errors_are_compared_by_their_ratio(ranked):
    def problem(system, one, two):
        first = make_method("a", [make_run(1, fresh_error=one)])
        second = make_method("b", [make_run(1, fresh_error=two)])
        return make_score([first, second], system, held_out=False)

    problems = []
    for name, *errors in (("S1", 0.02, 0.01), ("S2", 0.08, 0.01), ("S3", None, 0.25), ("S4", 7.0, 0.25)):
        problems += [problem(name, *errors), problem(f"{name}b", *errors)]
    pairs = ranked(*problems)["pairs"]
    pair = pairs.query("measure == 'fresh_error'").iloc[0]
    # An error above 1, and a free run that diverges, are as bad as the mean of the output.
    assert (pair["best"], pair["rival"], pair["verdict"]) == ("b", "a", "better")
    assert pair["difference"] == pytest.approx((2 * 8 * 4 * 4) ** -0.25)
    assert pair["low"] < pair["difference"] < pair["high"] < 1 / 1.1
    assert pair["p"] == pair["p_value"] == pytest.approx(2 / 2**8, rel=1e-5)


def test_problems_that_a_method_lacks_are_left_out_of_the_ranks(ranked):
    lacking = [*THREE, with_gaps({"b": [0.5], "c": [0.0]}, system="S3", held_out=False)]
    frames, expected = ranked(*lacking), ranked(*THREE)
    assert column(frames["ranking"], "rank_gap") == column(expected["ranking"], "rank_gap")
    assert column(frames["ranking"], "data_sets") == {"a": 3, "b": 4, "c": 4}
    # A method that lacks a data set is not compared.
    assert set(frames["pairs"]["best"]) | set(frames["pairs"]["rival"]) == {"b", "c"}


def test_without_any_common_problem_nobody_is_ranked(ranked):
    frames = ranked(with_gaps({"a": [0.0]}), with_gaps({"b": [0.0]}, system="S2"))
    assert frames["ranking"].filter(like="rank_").isna().all(axis=None)
    assert frames["pairs"].empty
    assert column(frames["ranking"], "gap") == {"a": 0, "b": 0}


@pytest.mark.slow
def test_methods_in_some_scenarios_are_ranked_where_they_lack_nothing(ranked):
    scores = methods_study(scenarios=("base", "noisy"))
    plain = ranked(*scores)["ranking"].set_index(["part", "group", "method"])["rank_f1"].sort_index()
    worst = make_run(1, -3000.0, terms=SPURIOUS, hits=0)
    for score in scores:
        if score["scenario"] == "base":
            score["methods"].append(make_method("theirs", [worst]))
    ranking = ranked(*scores)["ranking"].set_index(["part", "group", "method"])["rank_f1"].sort_index()
    assert ranking[DEVELOPMENT, "base", "theirs"] > len(METHODS)
    assert math.isnan(ranking[DEVELOPMENT, "all", "theirs"])
    for part in (DEVELOPMENT, HELD_OUT):
        assert ranking[part, "all"].drop("theirs").fillna(0).to_dict() == plain[part, "all"].fillna(0).to_dict()
        assert ranking[part, "noisy"].fillna(0).to_dict() == plain[part, "noisy"].fillna(0).to_dict()


@pytest.mark.slow
def test_the_bootstrap_is_over_systems_and_reproducible(ranked):
    scores = methods_study()
    first, second = ranked(*scores)["ranking"], ranked(*scores)["ranking"]
    pd.testing.assert_frame_equal(first, second)
    for name in ("rank_f1", "rank_gap", "exact"):
        with_interval = first.dropna(subset=f"{name}_low")
        assert with_interval[name].between(with_interval[f"{name}_low"], with_interval[f"{name}_high"]).all()
    # More problems of one system are no more systems.
    ranking_of_s1 = ranked(*methods_study(("S1",), data_seeds=4))["ranking"]
    assert ranking_of_s1[["rank_gap_low", "rank_gap_high"]].isna().all(axis=None)
    assert (ranking_of_s1["exact_high"] - ranking_of_s1["exact_low"]).dropna().min() > 0.9


def test_groups_are_all_scenarios_each_and_situations(ranked):
    situations = {"alike": ["S1", "S3"], "elsewhere": ["X9"]}
    frames = ranked(*methods_study(scenarios=("noisy", "base", "short-200")), situations=situations)
    parts = frames["ranking"].groupby("part", sort=False)["group"].unique()
    assert set(parts.index) == {HELD_OUT, DEVELOPMENT}
    for groups in parts:
        assert list(groups) == ["all", "base", "noisy", "short-200", "alike"]
    assert column(frames["ranking"], "systems", "alike")["ga"] == 1
    # The best method of each group is tested.
    assert {*frames["pairs"]["group"]} == {"all", "base", "noisy", "short-200", "alike"}


def test_an_unsteady_method_is_neither_ranked_nor_compared(ranked):
    frames = ranked(*methods_study(), unsteady=["upso2d"])
    assert math.isnan(column(frames["ranking"], "rank_f1")["upso2d"])
    assert not frames["pairs"][["best", "rival"]].isin(["upso2d"]).any(axis=None)


def test_a_target_is_reached_up_to_the_tolerance(ranked):
    def reached(excess):
        runs = [make_run(1, -4000.0 + excess, history={"evaluations": [9], "fitness": [-4000.0 + excess]})]
        return column(ranked(make_score([make_method("ga", runs)]))["ranking"], "reached")["ga"]

    assert reached(0.9 * TOLERANCE * 4000) == 1
    # Nothing is gained below the system terms.
    assert reached(-600.0) == 1
    assert reached(1.1 * TOLERANCE * 4000) == pytest.approx(5 / 6)
