"""What interpretations do to the results, on small made-up conditions and on those that the repository keeps."""

import math

import pandas as pd
import pytest
from scipy import stats
from tests.unit.analysis.multiverses import BOUND, TIES, as_printed, choices, claims, conditions_of, findings
from tests.unit.analysis.summaries import REFERENCE, published

from narxbench.analysis.agreement import compare, distances
from narxbench.analysis.frames import read_frame
from narxbench.analysis.multiverse import analyse, change
from narxbench.analysis.multiverse_frame import Pair, make_multiverse


def rows(frame, **values):
    """Return the rows of a frame that have these values."""
    for name, value in values.items():
        frame = frame[frame[name] == value]
    return frame


def row(frame, **values):
    (found,) = rows(frame, **values).to_dict("records")
    return found


# Effects


def test_a_change_has_students_interval_but_not_of_a_single_data_seed():
    found, single = change(pd.DataFrame({"change": [0.1, 0.3, 0.2, 0.5], "option": [*"aaab"]}), ["option"]).to_dict(
        "records"
    )
    assert (single["median"], single["clear"], math.isnan(single["interval_low"])) == (0.5, False, True)
    assert (found["median"], found["low"], found["high"]) == (0.2, 0.1, 0.3)
    expected = stats.ttest_1samp([0.1, 0.3, 0.2], 0).confidence_interval(0.95)
    assert (found["interval_low"], found["interval_high"]) == pytest.approx(expected)
    assert not found["clear"]


def test_effects_of_single_options():
    found = findings(
        conditions_of("upso2d", "baseline", nu_max=lambda s, d, seed: seed, spurious=1),
        conditions_of("upso2d", BOUND, nu_max=lambda s, d, seed: seed, spurious=2),
        conditions_of("upso2d", TIES, nu_max=lambda s, d, seed: seed + 3, spurious=1),
        conditions_of("upso2d", "ring=2", nu_max=lambda s, d, seed: seed, spurious=1),
        conditions_of("upso2d", f"{BOUND}+{TIES}", nu_max=9, spurious=9),
    ).effects
    assert list(dict.fromkeys(found["interpretation"])) == [TIES, BOUND, "ring=2"]
    r = found[found["interpretation"] == BOUND].set_index("measure")
    assert (r.loc["r_s4", "median"], r.loc["r_s4", "low"]) == pytest.approx((1 / 66, 1 / 66))
    assert r.loc["r_sparse", "median"] == pytest.approx((1 / 66 + 1 / 66 + 1 / 84) / 3)
    assert r.loc["distance", "median"] == pytest.approx(r.loc["distance_r", "median"] / 3)
    assert r.loc[["distance_nu", "distance_nu_max", "nu_s4"], "median"].tolist() == [0, 0, 0]
    assert r["contradicts"].all()
    # nu_max rises by 3 runs of 40 towards the published values, which are at least 0.15.
    nu_max = found[found["interpretation"] == TIES].set_index("measure")
    assert nu_max.loc["nu_max_sparse", "median"] == pytest.approx(0.075)
    assert nu_max.loc["distance_nu_max", "median"] == pytest.approx(-0.075)
    assert nu_max.loc["distance", "clear"]
    assert (nu_max["part"] == "upso2d").all()
    assert not rows(found, interpretation="ring=2")[["median", "clear"]].any(axis=None)


def test_interactions():
    names = {1: "baseline", 2: BOUND, 3: TIES, 6: f"{BOUND}+{TIES}"}
    groups = {more: conditions_of("upso2d", text, spurious=more, nu_max=1) for more, text in names.items()}
    found = row(findings(*groups.values()).interactions)
    # r of S1, S2, S4 rises by 1/66, 2/66 and 5/66, so that 2/66 exceed the sum; nothing else changes.
    each = (9 / 66 + 3 / 84) / 12 / 3
    assert found["interpretation"] == names[6]
    assert (found["total"], found["median"]) == pytest.approx((-5 * each, -2 * each))
    assert findings(*(groups[more] for more in (1, 2, 6))).interactions.empty


# Ranking and roles


def test_the_closest_interpretations():
    found = findings(
        conditions_of("upso2d", "baseline", spurious=1, nu_max=1),
        conditions_of("upso2d", BOUND, **as_printed(nu_max=lambda s, d, seed: 7 + seed)),
        conditions_of("upso2d", TIES, **as_printed(-0.02, nu_max=8)),
        conditions_of("ga", "baseline"),
        default={"ties": "random"},
    )
    ranked = found.rankings["upso2d"]
    assert list(ranked["interpretation"]) == [BOUND, TIES, "baseline"]
    assert list(ranked["contradicts"] != "") == [True, False, False]
    assert list(ranked["near"]) == [True, True, False]
    assert ranked["names"][2] == ", ".join(name for name, chosen in choices().named.items() if not chosen)
    assert set(ranked["values"]) == {207}
    assert ranked["r"][0] < 0.01
    assert found.roles == {
        "baseline": Pair("baseline", "baseline"),
        "default, closest without contradiction": Pair(TIES, "baseline"),
        "closest": Pair(BOUND, "baseline"),
    }


def test_published_and_reproduced_side_by_side_and_what_is_unexplained():
    # T2 of S1 at 50 dB is missed by every run of two data seeds, T3 by every run of all.
    def nu(system, snr_db, seed):
        full = (40,) * len(published().systems[system])
        return (40, 0 if seed > 1 else 40, 0, 40) if (system, snr_db) == ("S1", 50) else full

    def count(system, snr_db, seed):
        return 10 + seed

    found = findings(conditions_of("upso2d", "baseline", nu=nu, spurious=count, nu_max=count))
    shown = found.side_by_side
    assert len(shown) == 24
    r = row(shown, system="S1", snr_db=50, metric="r")
    assert (r["published"], r["reproduced"], r["reproduced_low"]) == (0.15, 12 / 66, 11 / 66)
    nu_max = row(shown, system="S1", snr_db=50, metric="nu_max")
    assert (nu_max["reproduced"], nu_max["reproduced_high"]) == (0.3, 0.325)
    clear = found.unexplained
    term = row(clear, system="S1")
    assert (term["label"], term["term"], term["published"], term["reproduced"]) == ("T3", "y(k-1)*u(k-1)", 1.0, 0)
    # S4 with 11 to 13 of 43 spurious terms against 42 and more: printed in two tables, told once.
    assert len(rows(clear, system="S4", metric="r")) == 3


# Claims


def test_claims_by_majority_of_the_data_seeds():
    def missing_in(seeds):
        return lambda system, snr_db, seed: (0 if seed <= seeds else 40,) * len(published().systems[system])

    found = findings(
        conditions_of("upso2d", "baseline"),
        conditions_of("upso2d", BOUND, nu=missing_in(1)),
        conditions_of("upso2d", TIES, nu=missing_in(2)),
        conditions_of("ga", "baseline"),
        conditions_of("ga", "elitism=on"),
    )
    claim = row(found.claims, claim="bic-finds-all-terms")
    assert (claim["published"], claim["baseline"], claim["seeds"]) == ("holds", "holds", 3)
    assert (claim["holds"], claim["judged"], claim["flips"]) == (2, 3, [TIES])
    shown = rows(found.shown_verdicts, claim="bic-finds-all-terms", option=True)
    assert dict(zip(shown["name"], shown["verdict"], strict=True)) == {BOUND: "holds", TIES: "does not hold"}
    # Criteria other than BIC were not run.
    other = row(found.claims, claim="rho-256-loses-s4")
    assert (other["baseline"], other["judged"], other["flips"]) == ("cannot be judged", 0, [])


# Gaps


def test_gaps_tell_the_optimisation_from_the_criterion():
    # Stepwise selection finds J 2 below the true structure's on the first data seed only.
    found = findings(
        conditions_of("upso2d", "baseline", best_fitness=-999.0, median_fitness=-990.0),
        conditions_of("stepwise", "baseline", best_fitness=lambda s, d, seed: -1002.0 if seed == 1 else -999.9999995),
        conditions_of("ga", "baseline", median_fitness=math.inf),
        # Another data set, and another criterion: their J do not compare.
        conditions_of("upso2d", "input=gaussian", best_fitness=-5000.0, true_fitness=-5000.0),
        conditions_of("upso2d", "baseline", criterion="aic-2", true_fitness=-4000.0, best_fitness=-4000.0),
    )
    # A J that is not finite is the worst.
    assert rows(found.contests, rival="ga")["lower"].sum() == 36
    own = rows(found.gaps, interpretation="baseline", system="S1", snr_db=50)
    upso = row(own, algorithm="upso2d", criterion="bic")
    gaps = [[upso[f"{name}_gap{end}"] for end in ("", "_low", "_high")] for name in ("median", "best", "true")]
    assert gaps == [[10, 10, 12], [1, 1, 3], [0, 0, 2]]
    assert [upso[name] for name in ("true_above", "seeds", "exact_runs", "runs")] == [1, 3, 120, 120]
    assert row(own, algorithm="stepwise", criterion="bic")["best_gap_high"] == 0
    assert math.isnan(row(own, algorithm="ga", criterion="bic")["median_gap"])
    assert row(own, algorithm="upso2d", criterion="aic-2")["true_gap"] == 0


def test_gaps_of_runs_with_data_of_their_own_do_not_compare():
    own = conditions_of("upso2d", "realisation=per-run", spurious=9, nu_max=5)
    found = findings(conditions_of("upso2d", "baseline", spurious=1, nu_max=1), own).gaps
    own = rows(found, interpretation="realisation=per-run")
    assert len(own)
    assert own[["median_gap", "best_gap", "true_gap"]].isna().all(axis=None)
    assert not own["true_above"].any()


# The conditions that the repository keeps


@pytest.fixture(scope="module")
def kept():
    frame = read_frame("conditions", REFERENCE / "interpretations" / "conditions.csv")
    return analyse(make_multiverse(frame, choices(), published(), choices().named["cited-source"]), claims())


def test_the_closest_of_all_that_were_run(kept):
    ranked = kept.rankings["upso2d"]
    assert list(ranked["interpretation"].head(2)) == ["velocity-bound=1.75", "velocity-bound=2+restart-count=reset"]
    assert {name: len(frame) for name, frame in kept.rankings.items()} == {"upso2d": 39, "ga": 25, "joint": 451}
    named = choices().named
    for role, name in (("closest", "closest"), ("closest without contradiction", "closest-consistent")):
        (pair,) = (pair for roles, pair in kept.roles.items() if role in roles.split(", "))
        assert kept.multiverse.chosen(*pair) == named[name]


def test_verdicts_and_contests_follow_from_the_conditions(kept):
    conditions = kept.multiverse.conditions
    share = [sum(count >= 0.945 * 40 for count in nu) == len(nu) for nu in conditions["nu"]]
    own = conditions.assign(found=share).query("algorithm == 'upso2d' and criterion == 'bic'")
    by_seed = own.groupby(["interpretation", "data_seed"])["found"].all()
    expected = by_seed.groupby("interpretation").mean() > 0.5
    found = rows(kept.verdicts, claim="bic-finds-all-terms").set_index("upso2d")["verdict"] == "holds"
    assert found.to_dict() == expected.to_dict()
    on = ["shared", "data_seed", "system", "snr_db"]
    fitness = own.merge(conditions.query("algorithm == 'ga'"), on=on, suffixes=("", "_ga"))
    fitness["better"] = fitness["median_fitness"] < fitness["median_fitness_ga"]
    by_seed = fitness.groupby(["interpretation", "interpretation_ga", "data_seed"])["better"].all()
    better = (by_seed.groupby(["interpretation", "interpretation_ga"]).mean() > 0.5).to_dict()
    found = rows(kept.verdicts, claim="upso-reaches-better-j").set_index(["upso2d", "ga"])["verdict"] == "holds"
    assert found.to_dict() == better
    flips = row(kept.claims, claim="upso-reaches-better-j")["flips"]
    assert not better["baseline", "baseline"]
    assert better["velocity-bound=3", "baseline"] is ("velocity-bound=3" in flips)
    assert better["input=coloured", "input=coloured"] is ("input=coloured" in flips)
    assert better["baseline", "elitism=on"] is ("elitism=on" in flips)
    ahead = fitness.query("interpretation == 'baseline'").groupby(["interpretation_ga", "system"])["better"].sum()
    contests = rows(kept.contests, role="baseline, default", rival="ga").set_index(["interpretation", "system"])
    assert contests["lower"].to_dict() == ahead.to_dict()
    assert (contests[["lower", "equal", "higher"]].sum(axis=1) == 15).all()


def test_whole_distances_and_scores_follow_from_the_conditions(kept):
    own = kept.multiverse.conditions.query("algorithm != 'stepwise' and interpretation == 'baseline'")
    expected = distances(compare(own, published()), ["data_seed"])
    whole = row(kept.whole, role="baseline, default")
    assert (whole["conditions"], whole["values"], whole["distance"]) == (63, 810, expected["distance"].median())
    expected = distances(compare(own.query("criterion == 'bic'"), published()), ["data_seed"]).set_index("data_seed")
    joint = rows(kept.distances, algorithm="joint", interpretation="baseline").set_index("data_seed")
    for name in ("conditions", "nu", "r", "nu_max", "distance", "values"):
        assert joint[name].to_dict() == pytest.approx(expected[name].to_dict())
    own = own.query("algorithm == 'upso2d' and criterion == 'aic-256'")
    found = row(kept.criteria, interpretation="baseline", criterion="aic-256")
    met = [min(nu) > 0.945 * 40 and nu_max < min(nu) for nu, nu_max in zip(own["nu"], own["nu_max"], strict=True)]
    assert (found["met"], found["rows"], found["exact_runs"]) == (sum(met), len(own), own["exact_runs"].sum())


def test_effects_and_gaps_follow_from_the_conditions(kept):
    measured = rows(kept.multiverse.conditions, algorithm="upso2d", criterion="bic", system="S4")
    r = (measured["spurious"] / 66).groupby([measured["interpretation"], measured["data_seed"]]).mean().unstack(0)
    changes = r.sub(r["baseline"], axis=0).median()
    found = rows(kept.effects, algorithm="upso2d", measure="r_s4").set_index("interpretation")["median"]
    assert found.to_dict() == pytest.approx(changes[found.index].to_dict())
    shared = rows(kept.multiverse.conditions, shared="baseline", criterion="bic", system="S4", snr_db=30)
    best = shared.groupby("data_seed")[["best_fitness", "true_fitness"]].min().min(axis=1)
    own = rows(shared, algorithm="upso2d", interpretation="baseline").set_index("data_seed")["median_fitness"]
    gap = row(kept.gaps, role="baseline, default", algorithm="upso2d", criterion="bic", system="S4", snr_db=30)
    assert gap["median_gap"] == pytest.approx((own - best).median())
