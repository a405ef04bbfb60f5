"""The comparison of methods, on made-up score files with known answers."""

import math
import random

import pandas as pd
import pytest
from tests.unit.analysis.scores import (
    BUDGET,
    METHODS,
    N_VALIDATION,
    SPURIOUS,
    SYSTEMS,
    TRUE,
    make_method,
    make_run,
    make_score,
    methods_study,
    with_gaps,
    write_scores,
)

from narxbench.analysis.frames import SCHEMAS, read_frame
from narxbench.analysis.performance import TOLERANCE
from narxbench.analysis.ranking import FRAMES, TARGETS, rank_study
from narxbench.io.csv import write_table


@pytest.fixture
def ranked(tmp_path):
    """Return a function that writes score files and ranks their methods."""

    def rank(*scores, **changes):
        paths = write_scores(tmp_path, list(scores))
        return rank_study(paths, **{"confidence": 0.95, "bootstrap_samples": 200, **changes})

    return rank


def column(frame, name, group="all"):
    """Return a column of the ranking by method."""
    return dict(frame[frame["group"] == group].set_index("method")[name])


def history(*steps):
    """Return a history of (evaluations, gap) pairs."""
    return {"evaluations": [at for at, _ in steps], "fitness": [-4000.0 + gap * N_VALIDATION for _, gap in steps]}


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
        methods_study(("S1",), ("base",), ("ga", "upso2d"), 1, 1),
        methods_study(("OUT",), ("base", "noisy"), ("multistart",), 1, 1),
        [with_gaps({"ga": [None], "multistart": [None]}, true_fitness=None)],
    ],
)
def test_every_frame_reads_back_as_it_was(ranked, tmp_path, scores):
    frames = ranked(*scores)
    assert tuple(frames) == FRAMES
    assert frames.keys() <= SCHEMAS.keys()
    for name, frame in frames.items():
        path = tmp_path / f"{name}.csv"
        path.write_text(write_table(frame), encoding="utf-8")
        assert not {"nan", "inf"} & set(path.read_text(encoding="utf-8").lower().replace("\n", ",").split(","))
        pd.testing.assert_frame_equal(read_frame(name, path), frame)


def test_the_order_of_files_methods_and_runs_does_not_matter(ranked, tmp_path):
    scores = methods_study()
    expected = {name: write_table(frame) for name, frame in ranked(*scores).items()}
    for score in scores:
        score["methods"].reverse()
        for method in score["methods"]:
            method["runs"].reverse()
    paths = write_scores(tmp_path, scores)
    random.Random(1).shuffle(paths)
    found = rank_study(paths, confidence=0.95, bootstrap_samples=200)
    assert {name: write_table(frame) for name, frame in found.items()} == expected


def test_average_ranks_by_hand(ranked):
    # Mean ranks in S1: 1.75, 2.25 and 2, which are ranks 1, 3 and 2.
    frames = ranked(*THREE)
    assert column(frames["ranking"], "average_rank") == {"a": 1.75, "b": 2.0, "c": 2.25}
    assert column(frames["ranking"], "systems") == {"a": 2, "b": 2, "c": 2}
    assert column(frames["ranking"], "data_sets") == {"a": 3, "b": 3, "c": 3}
    assert column(frames["ranking"], "failures") == {"a": 0, "b": 0, "c": 3}
    tests = frames["tests"].set_index(["group", "measure"])
    # Friedman on the ranks 1, 3, 2 and 2.5, 1, 2.5 of two systems: 12 / (2 3 4) sum R^2 - 3 2 4 = 0.25, and one tie of
    # two among 2 (3^3 - 3) divides by 1 - 6 / 48.
    assert tests.loc[("all", "gap"), ["blocks", "methods"]].tolist() == [2, 3]
    assert tests.loc[("all", "gap"), "statistic"] == pytest.approx(0.25 / (1 - 6 / 48))


def test_only_differences_that_matter_are_ranked(ranked):
    frames = ranked(with_gaps({"a": [0.1], "b": [0.1 + 1e-11], "c": [0.1 + 1e-7]}))
    assert column(frames["ranking"], "average_rank") == {"a": 1.5, "b": 1.5, "c": 3.0}


def test_gaps_are_those_to_the_best_known_fitness(ranked):
    below, truth = with_gaps({"ga": [-0.05, 0.1], "multistart": [0.0]}), with_gaps({"ga": [0.1, 0.2]}, data_seed=2)
    outside = with_gaps({"ga": [0.1, None]}, system="OUT")
    found = ranked(below, truth, outside)["scores"].set_index(["system", "data_seed", "method", "seed"])
    gaps = found["gap"]
    assert gaps["S1", 1, "ga", 1] == 0
    assert gaps["S1", 1, "ga", 2] == 0.15
    assert gaps["S1", 1, "multistart", 1] == 0.05
    assert gaps["S1", 2, "ga", 1] == 0.1
    assert gaps["OUT", 1, "ga", 1] == 0
    assert math.isnan(gaps["OUT", 1, "ga", 2])
    assert found.loc["S1", "best_known"].unique().tolist() == [-4030.0, -4000.0]


def test_scores_by_hand(ranked):
    close = make_run(2, -3990.0, terms=[*TRUE[:3], *SPURIOUS[:2]], hits=3, fresh_error=None)
    more = make_run(3, -3990.0, terms=[*TRUE, SPURIOUS[0]])
    runs = [make_run(1), close, more, make_run(4, None)]
    frames = ranked(make_score([make_method("ga", runs)]), make_score([make_method("ga", runs)], "OUT"))
    found = frames["scores"].query("system == 'S1'")
    assert found["exact"].tolist() == [True, False, False, False]
    assert found["precision"].tolist() == [1, 3 / 5, 4 / 5, 0]
    assert found["recall"].tolist() == [1, 3 / 4, 1, 0]
    assert found["f1"].tolist() == [1, 6 / 9, 8 / 9, 0]
    assert found["fresh_error"].fillna(-1).tolist() == [0.05, -1, 0.05, -1]
    assert found["failure"].tolist() == ["", "", "", "ended with signal 9"]
    assert frames["scores"].query("system == 'OUT'")[["exact", "precision", "recall", "f1"]].isna().all(axis=None)
    # Where the truth is no candidate, only gap, targets and fresh error count; failures are the worst.
    ranking = frames["ranking"].iloc[0]
    assert ranking[["exact", "recall"]].tolist() == [0.25, (1 + 3 / 4 + 1) / 4]
    assert ranking["gap"] == pytest.approx(10 / N_VALIDATION)
    assert math.isnan(ranking["fresh_error"])
    assert frames["systems"].set_index("system")["exact"].fillna(-1).to_dict() == {"OUT": -1, "S1": 0.25}


def test_a_deterministic_method_counts_once_and_not_less(ranked):
    def problem(data_seed, frols, ga):
        exact = {True: make_run(1), False: make_run(1, -3400.0, terms=SPURIOUS, hits=0)}
        runs = [{**exact[hit], "seed": seed} for seed, hit in enumerate(ga, start=1)]
        return make_score([make_method("frols", [exact[frols]]), make_method("ga", runs)], data_seed=data_seed)

    ranking = ranked(problem(1, True, [True] * 5), problem(2, False, [False, False, True, False, False]))["ranking"]
    assert column(ranking, "runs") == {"frols": 2, "ga": 10}
    assert column(ranking, "exact") == {"frols": 0.5, "ga": 0.6}
    assert column(ranking, "gap") == {"frols": 0.5, "ga": 0.5}
    assert column(ranking, "average_rank") == {"frols": 1.5, "ga": 1.5}


def reaching_study():
    """Return two problems: of five runs of ga, three reach a gap of 0.01, after 100, 300 and 40 evaluations."""
    late = make_run(1, -4000.0, history=history((1, 5.0), (100, 0.01), (500, 0.0)))
    edge = make_run(2, -3997.0, history=history((300, 0.005)))
    never = make_run(3, -3400.0, history=history((7, 1.0)))
    failed = make_run(4, None, evaluations=80, history=history((7, 0.0)))
    soon = make_run(1, -4000.0, history=history((40, 0.0)))
    own = make_run(1, -4000.0, evaluations=1, history=history((1, 0.0)))
    frols = make_method("frols", [own])
    return [
        make_score([make_method("ga", [late, edge, never, failed]), frols]),
        make_score([make_method("ga", [soon]), frols], data_seed=2),
    ]


def test_targets_and_expected_evaluations_by_hand(ranked):
    frames = ranked(*reaching_study())
    reach = frames["reach"].query("method == 'ga' and data_seed == 1").set_index("target")
    assert tuple(reach.index) == TARGETS
    assert reach["evaluations"].to_dict() == {
        **dict.fromkeys(TARGETS, (100, 300)),
        **{0: (500,), 0.003: (500,), 1: (7, 100, 300)},
    }
    assert reach["spent"].to_dict() == {
        **dict.fromkeys(TARGETS, (BUDGET, 80)),
        **{0: (BUDGET, BUDGET, 80), 0.003: (BUDGET, BUDGET, 80), 1: (80,)},
    }
    assert set(reach["runs"]) == {4}
    spent = (100 + 300 + 40 + BUDGET + 80) / 3
    assert column(frames["ranking"], "ert")["ga"] == pytest.approx(spent, rel=1e-11)
    # Of 35 pairs of a run and a target: 1 + 1 + 2 + 2 + 2 + 2 + 3 on the first problem, all 7 on the second.
    assert column(frames["ranking"], "reached") == {"frols": 1.0, "ga": pytest.approx(20 / 35)}
    # What a method costs that evaluates nothing but its result is not counted in evaluations.
    assert math.isnan(column(frames["ranking"], "ert")["frols"])
    assert frames["systems"].set_index("method")["ert"]["ga"] == pytest.approx(spent, rel=1e-11)


def test_ecdf_by_hand(ranked):
    ecdf = ranked(*reaching_study())["ecdf"]
    found = ecdf[ecdf["method"] == "ga"].set_index("evaluations")["reached"]
    # Ten points for each factor of ten, and the budget.
    assert found.index.tolist()[:12] == [1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25]
    assert found.index.tolist()[-2:] == [5012, BUDGET]
    marks = {6: 0, 8: 1, 32: 1, 40: 8, 79: 8, 100: 13, 251: 13, 316: 18, 501: 20, BUDGET: 20}
    assert {at: found[at] for at in marks} == marks
    assert set(ecdf.groupby("method")["total"].unique().explode()) == {14, 35}


def test_a_target_is_reached_up_to_the_tolerance(ranked):
    def reached(excess):
        runs = [make_run(1, -4000.0 + excess, history={"evaluations": [9], "fitness": [-4000.0 + excess]})]
        reach = ranked(make_score([make_method("ga", runs)]))["reach"]
        return bool(reach.set_index("target")["evaluations"][0.0])

    assert reached(0.9 * TOLERANCE * 4000)
    assert not reached(1.1 * TOLERANCE * 4000)


def test_pairs_by_hand(ranked):
    frames = ranked(*THREE)
    pairs = frames["pairs"].query("group == 'all'").set_index(["a", "b"])
    assert list(pairs.index) == [("a", "b"), ("a", "c"), ("b", "c")]
    # Mean gaps: of a 0.1 and 0.3, of b 0.15 and 0; of c 0.25 and 0.3, for a failure counts as the worst gap of any run.
    assert pairs["median_difference"].tolist() == pytest.approx([(-0.05 + 0.3) / 2, -0.15 / 2, (-0.1 - 0.3) / 2])
    # Ranks 1 and 2 with unlike signs; a zero, which halves the effect with its rank; like signs.
    assert pairs["effect"].tolist() == pytest.approx([(2 - 1) / 3, -2 / 3, -1.0])
    assert pairs["p_value"].tolist() == [1.0, 1.0, 0.5]
    assert pairs["p_holm"].tolist() == [1.0, 1.0, 1.0]


def test_holm_covers_the_pairs_of_a_group(ranked):
    scores = [with_gaps({"a": [0.0], "b": [0.1 + n / 100], "c": [0.5]}, system=f"S{n}") for n in range(8)]
    pairs = ranked(*scores)["pairs"].query("group == 'base'")
    assert pairs["p_value"].tolist() == [2 / 2**8] * 3
    assert pairs["p_holm"].tolist() == pytest.approx([6 / 2**8] * 3, rel=1e-5)
    assert pairs["effect"].tolist() == [-1.0] * 3


def test_problems_that_a_method_lacks_are_left_out_of_the_ranks(ranked):
    lacking = [*THREE, with_gaps({"b": [0.5], "c": [0.0]}, system="S3")]
    frames, expected = ranked(*lacking), ranked(*THREE)
    assert column(frames["ranking"], "average_rank") == column(expected["ranking"], "average_rank")
    assert column(frames["ranking"], "data_sets") == {"a": 3, "b": 4, "c": 4}
    pd.testing.assert_frame_equal(frames["pairs"], expected["pairs"])
    pd.testing.assert_frame_equal(frames["tests"], expected["tests"])


def test_without_any_common_problem_nobody_is_ranked(ranked):
    frames = ranked(with_gaps({"a": [0.0]}), with_gaps({"b": [0.0]}, system="S2"))
    assert frames["ranking"]["average_rank"].isna().all()
    assert frames["pairs"].empty
    assert frames["tests"].empty
    assert column(frames["ranking"], "gap") == {"a": 0, "b": 0}


def test_contributed_methods_are_ranked_where_they_lack_nothing(ranked):
    scores = methods_study(scenarios=("base", "noisy"))
    plain = ranked(*scores)["ranking"].set_index(["group", "method"])["average_rank"]
    worst = make_run(1, -3000.0, terms=SPURIOUS, hits=0)
    for score in scores:
        if score["scenario"] == "base":
            score["methods"].append(make_method("theirs", [worst], contributed=True))
    ranking = ranked(*scores)["ranking"].set_index(["group", "method"])["average_rank"]
    assert ranking["base", "theirs"] == len(METHODS) + 1
    assert math.isnan(ranking["all", "theirs"])
    assert ranking["all"].drop("theirs").to_dict() == plain["all"].to_dict()
    assert ranking["noisy"].to_dict() == plain["noisy"].to_dict()


def test_exceptions_by_hand(ranked):
    better = make_run(1, -4060.0, fresh_error=0.01, history=history((5, -0.1)))
    worse = make_run(1, -3940.0, terms=TRUE[:3], hits=3, history=history((1, 0.1)))
    scores = [
        make_score([make_method("ga", [better]), make_method("multistart", [make_run(1)])]),
        make_score([make_method("ga", [worse]), make_method("multistart", [make_run(1)])], "S2"),
        make_score([make_method("ga", [make_run(1)]), make_method("multistart", [worse])], "S3", "noisy"),
    ]
    found = ranked(*scores)["exceptions"]
    rows = [tuple(row) for row in found.fillna(-1).itertuples(index=False)]
    assert rows == [
        ("base", "S1", "ga", "gap", 0, 0.1),
        ("base", "S1", "ga", "fresh_error", 0.01, 0.05),
        # The default method never reaches the target there.
        ("base", "S1", "ga", "ert", 5, -1),
        ("noisy", "S3", "ga", "exact", 1, 0),
        ("noisy", "S3", "ga", "f1", 1, pytest.approx(6 / 7)),
        ("noisy", "S3", "ga", "gap", 0, 0.1),
        ("noisy", "S3", "ga", "ert", BUDGET / 2, -1),
    ]
    assert ranked(*scores, default_method="other")["exceptions"].empty


def test_the_bootstrap_is_over_systems_and_reproducible(ranked):
    scores = methods_study()
    first, second = ranked(*scores)["ranking"], ranked(*scores)["ranking"]
    pd.testing.assert_frame_equal(first, second)
    for name in ("rank", "exact"):
        value = first["average_rank" if name == "rank" else name]
        assert (first[f"{name}_low"] <= value).all()
        assert (value <= first[f"{name}_high"]).all()
        assert (first[f"{name}_low"] < first[f"{name}_high"]).any()
    # More problems of one system are no more systems.
    one = ranked(*methods_study(("S1",), data_seeds=4))["ranking"]
    assert one[["rank_low", "rank_high", "exact_low", "exact_high"]].isna().all(axis=None)
    # More systems make intervals narrower.
    systems = tuple(f"{name}{n}" for name in SYSTEMS for n in range(8))
    many = ranked(*methods_study(systems, ("base",)))["ranking"]
    assert (many["exact_high"] - many["exact_low"]).max() < (first["exact_high"] - first["exact_low"]).max()


def test_groups_are_all_scenarios_and_each(ranked):
    frames = ranked(*methods_study(scenarios=("noisy", "base", "short-200")))
    for name in ("ranking", "tests", "pairs"):
        assert list(frames[name]["group"].unique()) == ["all", "base", "noisy", "short-200"]
    alone = ranked(*methods_study(scenarios=("base",)))
    for name in ("tests", "pairs"):
        both = [frame[name].query("group == 'base'").reset_index(drop=True) for frame in (frames, alone)]
        pd.testing.assert_frame_equal(*both)
