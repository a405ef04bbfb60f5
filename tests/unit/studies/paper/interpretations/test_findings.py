"""Effects of interpretations on the results, on small made-up conditions and on those that the repository keeps."""

import math
from functools import partial

import pandas as pd
import pytest
from scipy import stats
from tests.unit.studies.paper.interpretations.interpretation_studies import (
    BOUND,
    TIES,
    as_printed,
    choices,
    claims,
    conditions_of,
    findings_of,
)
from tests.unit.studies.paper.summaries import REFERENCE, published

from narxbench._studies.paper.agreement import compare, rank_test
from narxbench._studies.paper.frames import read_frame
from narxbench._studies.paper.interpretations.findings import STRONG_GA, Findings, change
from narxbench._studies.paper.interpretations.nearness import Pair, make_study
from narxbench._study.design_choices import interpretation_text


def rows(frame, **values):
    """Return the rows of a frame that have these values."""
    for name, value in values.items():
        frame = frame[frame[name] == value]
    return frame


def row(frame, **values):
    (only_row,) = rows(frame, **values).to_dict("records")
    return only_row


def values_as_described(study):
    """Return the published values next to those of 2D-UPSO as described."""
    return compare(study.conditions_of("upso2d").query("interpretation == 'baseline'"), published().once)


def test_a_change_is_set_against_the_spread_of_the_data_sets():
    differences = pd.DataFrame({"change": [9.0, 11.0, 2.0, -2.0], "option": [*"aabb"]})
    differences = differences.assign(spread=1.5, sets=5, together=2)
    clear, unclear = change(differences, ["option"]).to_dict("records")
    assert (clear["median"], clear["low"], clear["high"], clear["clear"]) == (10, 9, 11, True)
    # Two data seeds on either side of the difference, and an interval for each of two changes.
    reach = stats.t.ppf(1 - 0.025 / 2, 4) * 1.5
    assert (clear["interval_low"], clear["interval_high"]) == pytest.approx((10 - reach, 10 + reach))
    assert not unclear["clear"]
    # Of one data seed nobody knows how much it varies.
    single = change(differences.assign(spread=math.nan, sets=1), ["option"])
    assert single["interval_low"].isna().all() and not single["clear"].any()


def test_effects_of_single_options():
    findings = findings_of(
        conditions_of("upso2d", "baseline", nu_max=2, spurious=1),
        conditions_of("upso2d", BOUND, nu_max=2, spurious=2),
        conditions_of("upso2d", TIES, nu_max=5, spurious=1),
        conditions_of("upso2d", "ring=2", nu_max=2, spurious=1),
        conditions_of("upso2d", f"{BOUND}+{TIES}", nu_max=9, spurious=9),
    )
    changes = findings.effects
    assert list(dict.fromkeys(changes["interpretation"])) == [TIES, BOUND, "ring=2"]
    r = changes[changes["interpretation"] == BOUND].set_index("measure")
    assert r.loc["bias_r", "median"] == pytest.approx((9 / 66 + 3 / 84) / 12)
    assert r.loc[["bias_nu", "bias_nu_max"], "median"].tolist() == [0, 0]
    assert r.loc["deviance", "median"] < 0
    assert r["contradicts"].all()
    # nu_max rises by 3 runs of 40 towards the published values, which are at least 0.15.
    nu_max = changes[changes["interpretation"] == TIES].set_index("measure")
    assert nu_max.loc["bias_nu_max", "median"] == pytest.approx(0.075)
    assert nu_max.loc["deviance", "clear"]
    assert (nu_max["part"] == "upso2d").all()
    assert not rows(changes, interpretation="ring=2")[["median", "clear"]].any(axis=None)
    overview = findings.effects_overview
    assert overview[["design_choice", "rank"]].to_numpy().tolist() == [["ties", 1], ["velocity-bound", 2], ["ring", 3]]
    assert overview["change"].tolist() == rows(changes, measure="deviance")["median"].tolist()


def test_options_that_bring_2d_upso_nearer_and_make_its_search_worse():
    worse = {"median_fitness": lambda system, snr_db, seed: -990.0 if system != "S4" else -1000.0}
    findings = findings_of(
        conditions_of("upso2d", "baseline"),
        conditions_of("upso2d", "velocity-bound=2", spurious=1),
        conditions_of("upso2d", BOUND, spurious=2, **worse),
        conditions_of("upso2d", "evaluations=3000", spurious=1, median_fitness=-1000.0 + 1e-6),
        conditions_of("upso2d", "input=gaussian", spurious=3),
        conditions_of("upso2d", TIES, nu=lambda s, d, seed: (0,) * len(published().systems[s])),
    )
    # The best option of each design choice; one that goes away from the paper is not there.
    near = findings.closer.set_index("interpretation")
    assert list(near.index) == ["input=gaussian", BOUND, "evaluations=3000"]
    assert near["worse"].fillna(-1).tolist() == [-1, 0.75, 0]
    assert (near["change"] < 0).all()


def test_random_ties_next_to_stable_ones():
    names = {0: "baseline", 1: TIES, 4: BOUND, 2: f"{BOUND}+{TIES}", 6: "ring=2"}
    findings = findings_of(*(conditions_of("upso2d", text, spurious=count) for count, text in names.items()))
    deviance = findings.rankings["upso2d"].set_index("interpretation")["deviance"]
    ties = findings.ties.set_index("interpretation")
    assert list(ties.index) == [BOUND, "baseline"]
    changes = [deviance[text] - deviance["baseline"] for text in (BOUND, names[2])]
    assert ties.loc[BOUND].tolist() == changes and ties.loc["baseline", "change"] == 0


def test_the_closest_interpretations():
    findings = findings_of(
        conditions_of("upso2d", "baseline", spurious=1, nu_max=1),
        conditions_of("upso2d", BOUND, **as_printed(nu_max=lambda s, d, seed: 7 + seed)),
        conditions_of("upso2d", TIES, **as_printed(-0.02, nu_max=8)),
        conditions_of("ga", "baseline"),
    )
    ranked = findings.rankings["upso2d"]
    assert list(ranked["interpretation"]) == [BOUND, TIES, "baseline"]
    assert list(ranked["contradicts"] != "") == [True, False, False]
    assert ranked["names"][2] == ", ".join(name for name, chosen in choices().named.items() if not chosen)
    assert set(ranked["values"]) == {132}
    assert abs(ranked["bias_r"][0]) < 0.01
    # nu_max of two data seeds differs by one or two runs of 40.
    assert 0 < ranked["own_deviance"][0] < 12
    assert ranked["own_deviance"][2] == 0
    # How far every table remains.
    s1 = {}
    for role in findings.roles:
        s1[role] = row(findings.by_table, role=role, algorithm="upso2d", system="S1")
        assert rows(findings.by_table, role=role)["values"].sum() == 207
    assert s1["as described"]["deviance"] > s1["closest"]["deviance"] > 0
    assert s1["as described"]["own_deviance"] == 0 < s1["closest"]["own_deviance"]
    # With reset was not run.
    assert findings.roles == {"as described": Pair("baseline", "baseline"), "closest": Pair(BOUND, "baseline")}


def test_the_closest_is_judged_on_data_that_had_no_part_in_its_choice():
    # As described is run on more data seeds than others; it is closest on the first two, and farther on the last two.
    printed = as_printed()["spurious"]

    def spurious(system, snr_db, seed):
        return printed(system, snr_db, seed) if seed < 3 else 0

    findings = findings_of(conditions_of("upso2d", "baseline", 4, spurious=spurious), conditions_of("upso2d", BOUND, 2))
    assert findings.study.screening == [1, 2] and findings.study.seeds == [1, 2, 3, 4]
    (closest,) = rows(findings.nearness, role="closest", algorithm="joint").to_dict("records")
    assert closest["interpretation"] == "baseline" and closest["seeds"] == 4
    held_out = compare(findings.study.conditions_of("upso2d").query("data_seed > 2"), published().once)
    unseen = held_out.groupby("data_seed")["deviance"].sum()
    assert closest["deviance_low"] < closest["held_out"] == pytest.approx(unseen.median())
    # As described stands next to it and was not chosen.
    described = row(findings.nearness, role="as described", algorithm="joint")
    assert (
        math.isnan(described["held_out"])
        and described["p_value"] == rank_test(values_as_described(findings.study)).p_value
    )
    test = rank_test(held_out)
    tested = closest["p_value"], closest["orders"], closest["farthest"], closest["systems"]
    assert tested == (test.p_value, test.orders, ", ".join(test.farthest), 4)
    # By system and by table too: on two data sets, among which the paper has one of three places.
    of_closest = rows(findings.by_system, role="closest")
    assert set(of_closest["seeds"]) == {2} and set(of_closest["places"]) == {3}
    by_system = held_out.groupby(["system", "data_seed"])["deviance"].sum().groupby("system").median()
    assert dict(zip(of_closest["system"], of_closest["deviance"], strict=True)) == pytest.approx(by_system.to_dict())
    assert set(rows(findings.by_table, role="closest")["seeds"]) == {2}
    assert set(rows(findings.by_table, role="as described")["seeds"]) == {4}
    # An interpretation that was run on the data seeds of the screening alone cannot be judged on others.
    single = findings_of(conditions_of("upso2d", "baseline", 1))
    assert single.nearness[["own_deviance", "held_out", "p_value"]].isna().all(axis=None)


def test_nearness_under_all_criteria_is_of_the_data_sets_that_have_them():
    aic = conditions_of("upso2d", "baseline", 2, criterion="aic-2", spurious=3)
    whole = findings_of(conditions_of("upso2d", "baseline", 3), aic, conditions_of("ga", "baseline", 3))
    # Under BIC and under AIC every run finds the structure, on twelve conditions of each data set.
    assert whole.criteria[["criterion", "met", "rows"]].to_numpy().tolist() == [["bic", 36, 36], ["aic-2", 24, 24]]
    near = rows(whole.nearness, role="as described")[["criteria", "algorithm", "seeds", "values"]]
    assert list(near.itertuples(index=False, name=None)) == [
        *(("bic", "joint", 3, 207), ("bic", "upso2d", 3, 132), ("bic", "ga", 3, 75)),
        *(("all", "joint", 2, 339), ("all", "upso2d", 2, 264), ("all", "ga", 2, 75)),
    ]


def with_all_criteria(text, *, sum_of_outputs, spurious=0, seeds=2):
    """Return conditions of 2D-UPSO under every criterion; T1 to T4 of S4 add up to a sum with a penalty of 256."""

    def nu(system, snr_db, seed):
        others = [40] * (len(published().systems[system]) - 4)
        if system != "S4":
            return (40,) * len(published().systems[system])
        # T6 and T20 to T23 are never selected.
        for place in (5, 19, 20, 21, 22):
            others[place - 4] = 0
        return (sum_of_outputs, 0, 0, 0, *others)

    groups = [conditions_of("upso2d", text, seeds, spurious=spurious, nu_max=min(spurious, 9))]
    for criterion in ("aic-2", "aic-8", "aic-64"):
        groups.append(
            conditions_of("upso2d", text, seeds, criterion=criterion, spurious=spurious, nu_max=min(spurious, 9))
        )
    return [*groups, conditions_of("upso2d", text, seeds, criterion="aic-256", nu=nu)]


def test_exact_relations_weigh_more_than_the_deviance():
    findings = findings_of(
        *with_all_criteria("baseline", sum_of_outputs=39),
        *with_all_criteria(BOUND, sum_of_outputs=39, spurious=9),
        *with_all_criteria(TIES, sum_of_outputs=40),
        *with_all_criteria("ring=2", sum_of_outputs=40, spurious=9),
        # Under BIC alone.
        conditions_of("upso2d", "learning-set=exemplar", 2, **as_printed()),
        conditions_of("ga", "baseline", 2),
        conditions_of("ga", "elitism=on", 2, nu_max=20, spurious=20),
    )
    finalists = findings.finalists.drop_duplicates("interpretation").set_index("interpretation")
    assert len(finalists) == 8 and list(finalists["place"]) == [*range(1, 9)]
    assert set(finalists["identities"]) == {6}
    kept = {text: finalists.loc[text, "kept"] for text in ("baseline", BOUND, TIES, "ring=2")}
    assert kept == {"baseline": 5, BOUND: 5, TIES: 6, "ring=2": 6}
    # Nine spurious terms are nearer to the paper than none, and so is a stronger GA's count.
    assert list(finalists.index[:2]) == ["ring=2+elitism=on", "ring=2"]
    assert finalists.loc[BOUND, "deviance"] < finalists.loc[TIES, "deviance"]
    assert finalists.index.get_loc(TIES) < finalists.index.get_loc(BOUND)
    assert findings.roles["closest"] == Pair("ring=2", "elitism=on")
    # The deviances of the systems are those of 2D-UPSO under all criteria and of the GA.
    by_system = rows(findings.finalists, interpretation="ring=2")
    assert by_system["system_deviance"].sum() == pytest.approx(finalists.loc["ring=2", "deviance"])
    identities = findings.identities
    of_sum = rows(identities, relation="sum").set_index("interpretation")
    assert of_sum.loc["ring=2", ["held", "published", "kept"]].tolist() == [6, 6, True]
    assert of_sum.loc["baseline", ["held", "published", "kept"]].tolist() == [0, 6, False]
    assert set(rows(identities, relation="zero")["held"]) == {6}


def test_named_interpretations_with_all_criteria_are_judged_on_other_data():
    named = choices().named["constrained"]
    texts = [interpretation_text(choices(), named, name) for name in ("upso2d", "ga")]
    findings = findings_of(
        *with_all_criteria("baseline", sum_of_outputs=39, seeds=4),
        *with_all_criteria(texts[0], sum_of_outputs=40, seeds=4),
        *with_all_criteria(f"{BOUND}+{TIES}", sum_of_outputs=40, spurious=9),
        conditions_of("ga", "baseline", 4),
        conditions_of("ga", texts[1], 4),
    )
    assert findings.study.screening == [1, 2]
    assert findings.roles["closest"].upso2d == f"{BOUND}+{TIES}"
    judged = findings.by_table.groupby("role", sort=False)["seeds"].agg(set).to_dict()
    # The closest was run on the data of its choice alone.
    assert judged == {"as described": {4}, "closest": {2}, "constrained": {2}}
    assert len(rows(findings.by_table, role="constrained")) == 21
    of_all = rows(findings.by_system, role="constrained", criteria="all")
    assert list(of_all["system"]) == ["S1", "S2", "S3", "S4"] and set(of_all["places"]) == {3}


def test_inputs_by_system():
    near = as_printed()

    def only_on(system):
        def count(name, place_system, snr_db, seed):
            return near[name](place_system, snr_db, seed) if place_system == system else 0

        return {"spurious": partial(count, "spurious"), "nu_max": partial(count, "nu_max")}

    inputs = findings_of(
        conditions_of("upso2d", "baseline", **only_on("S1")),
        conditions_of("upso2d", "input=gaussian", **only_on("S2")),
        conditions_of("upso2d", BOUND),
        conditions_of("ga", "baseline"),
        conditions_of("ga", "input=gaussian"),
    ).inputs
    deviance = rows(inputs, role="as described").pivot(index="input", columns="system", values="deviance")
    assert list(deviance.idxmin()[["S1", "S2"]]) == ["uniform", "gaussian"]
    # With GA on S4 in both.
    assert deviance.loc["uniform", "S4"] == deviance.loc["gaussian", "S4"] > deviance.loc["uniform", "S3"]


def test_published_and_reproduced_side_by_side():
    # T2 of S1 at 50 dB is missed by every run of two data seeds, T3 by every run of all.
    def nu(system, snr_db, seed):
        if (system, snr_db) == ("S1", 50):
            return (40, 40, 0, 40) if seed == 1 else (40, 0, 0, 40)
        return (40,) * len(published().systems[system])

    def count(system, snr_db, seed):
        return 10 + seed

    findings = findings_of(
        conditions_of("upso2d", "baseline", nu=nu, spurious=count, nu_max=count),
        conditions_of("upso2d", "baseline", criterion="aic-2"),
    )
    shown = rows(findings.side_by_side, role="as described")
    assert shown["criterion"].value_counts().to_dict() == {"bic": 132, "aic-2": 132}
    here = rows(shown, system="S1", snr_db=50, criterion="bic")
    assert set(here["data_sets"]) == {3}
    r = row(here, metric="r")
    assert (r["published"], r["reproduced"], r["reproduced_low"]) == (0.15, 12 / 66, 11 / 66)
    nu_max = row(here, metric="nu_max")
    assert (nu_max["reproduced"], nu_max["reproduced_high"]) == (0.3, 0.325)
    term = row(here, different=True)
    assert (term["label"], term["term"], term["published"], term["reproduced"]) == ("T3", "y(k-1)*u(k-1)", 1.0, 0)
    # S4 with 11 to 13 of 43 spurious terms against 42 and more: printed in two tables, reported once.
    assert len(rows(shown, system="S4", criterion="bic", metric="r", different=True)) == 3


def test_claims_by_majority_of_the_data_seeds():
    def missing_in(seeds):
        return lambda system, snr_db, seed: (0 if seed <= seeds else 40,) * len(published().systems[system])

    findings = findings_of(
        conditions_of("upso2d", "baseline"),
        conditions_of("upso2d", BOUND, nu=missing_in(1)),
        conditions_of("upso2d", TIES, nu=missing_in(2)),
        conditions_of("ga", "baseline"),
        conditions_of("ga", "elitism=on"),
    )
    claim = row(findings.claims, claim="bic-finds-all-terms")
    assert (claim["published"], claim["as_described"], claim["seeds"]) == ("holds", "holds", 3)
    assert (claim["holds"], claim["judged"], claim["group"]) == (2, 3, "some")
    shown = rows(findings.option_verdicts, claim="bic-finds-all-terms").set_index("option")["verdict"]
    assert shown.to_dict() == {BOUND: "holds", TIES: "fails"}
    # Half of the data sets are no majority.
    halves = findings_of(conditions_of("upso2d", "baseline", 4, nu=missing_in(2))).role_verdicts
    in_role = row(halves, claim="bic-finds-all-terms", role="as described")
    counts = [in_role[name] for name in ("holds", "undecided", "fails", "judged")]
    assert (in_role["verdict"], counts) == ("undecided", [2, 0, 2, 4])
    in_role = row(findings.role_verdicts, claim="bic-finds-all-terms", role="as described")
    assert (in_role["verdict"], in_role["holds"]) == ("holds", 3)
    # Criteria other than BIC were not run.
    unjudged = row(findings.claims, claim="rho-256-loses-s4")
    assert (unjudged["as_described"], unjudged["judged"], unjudged["group"]) == ("cannot be judged", 0, "unjudged")


def test_exact_structures_of_searches():
    def exact_runs(system, snr_db, seed):
        return 10 * seed if system == "S2" else 40

    searches = findings_of(
        conditions_of("upso2d", "baseline", exact_runs=exact_runs),
        conditions_of("upso2d", "baseline", criterion="aic-2", exact_runs=0),
        conditions_of("upso2d", TIES, exact_runs=0),
        conditions_of("ga", "baseline", exact_runs=0),
        conditions_of("ga", STRONG_GA, exact_runs=20),
        conditions_of("stepwise", "baseline"),
    ).structures_found
    assert list(dict.fromkeys(searches["algorithm"])) == ["stepwise", "ga", "upso2d"]
    upso_on_s2 = row(searches, algorithm="upso2d", system="S2")
    assert list(upso_on_s2.values())[-6:] == [9, 360, 180, 0.5, 0.25, 0.75]
    assert set(rows(searches, algorithm="stepwise")["low"]) == {1}
    assert rows(searches, algorithm="ga", system="S4")["rate"].tolist() == [0.5, 0]


def test_shares_of_structures_found_on_other_data_do_not_compare():
    searches = findings_of(
        conditions_of("upso2d", "baseline"),
        conditions_of("ga", "baseline"),
        conditions_of("stepwise", "baseline", 2),
    ).structures_found
    assert set(searches["algorithm"]) == {"upso2d", "ga"}


def test_gaps_tell_the_optimisation_from_the_criterion():
    # Stepwise selection finds J 2 below the true structure's on the first data seed only.
    def best_of_stepwise(system, snr_db, seed):
        return -1002.0 if seed == 1 else -999.9999995

    findings = findings_of(
        conditions_of("upso2d", "baseline", best_fitness=-999.0, median_fitness=-990.0),
        conditions_of("stepwise", "baseline", best_fitness=best_of_stepwise),
        conditions_of("ga", "baseline", median_fitness=math.inf),
        # Another data set, and another criterion: their J do not compare.
        conditions_of("upso2d", "input=gaussian", best_fitness=-5000.0, true_fitness=-5000.0),
        conditions_of("upso2d", "baseline", criterion="aic-2", true_fitness=-4000.0, best_fitness=-4000.0),
    )
    # A J that is not finite is the worst.
    assert rows(findings.contests, rival="ga")["lower"].sum() == 36
    gaps = rows(findings.gaps, interpretation="baseline", system="S1", snr_db=50)
    upso = row(gaps, algorithm="upso2d", criterion="bic")
    for name, expected in {"median": [10, 10, 12], "best": [1, 1, 3], "true": [0, 0, 2]}.items():
        assert [upso[f"{name}_gap{end}"] for end in ("", "_low", "_high")] == expected
    assert (upso["true_above"], upso["seeds"], upso["exact_runs"], upso["runs"]) == (1, 3, 120, 120)
    assert row(gaps, algorithm="stepwise", criterion="bic")["best_gap_high"] == 0
    assert math.isnan(row(gaps, algorithm="ga", criterion="bic")["median_gap"])
    assert row(gaps, algorithm="upso2d", criterion="aic-2")["true_gap"] == 0


def test_gaps_of_runs_with_data_of_their_own_do_not_compare():
    per_run = conditions_of("upso2d", "realisation=per-run", spurious=9, nu_max=5)
    findings = findings_of(conditions_of("upso2d", "baseline", spurious=1, nu_max=1), per_run)
    gaps = rows(findings.gaps, interpretation="realisation=per-run")
    assert len(gaps)
    assert gaps[["median_gap", "best_gap", "true_gap"]].isna().all(axis=None)
    assert not gaps["true_above"].any()


# The conditions that the repository keeps


@pytest.fixture(scope="module")
def kept():
    frame = read_frame("conditions", REFERENCE / "interpretations" / "conditions.csv")
    return Findings(make_study(frame, choices(), published()), claims())


@pytest.mark.slow
def test_the_closest_of_all_that_were_run_is_the_one_that_is_named_so(kept):
    interpretations = choices().named
    assert kept.study.chosen(*kept.roles["as described"]) == interpretations["as-described"] == {}
    assert kept.study.chosen(*kept.roles["with reset"]) == interpretations["reset"]
    assert kept.study.chosen(*kept.roles["closest"]) == interpretations["closest"]
    for name in ("upso2d", "ga"):
        assert len(kept.rankings[name]) == len(kept.study.texts(name))


def holds_by(frame, claim, key):
    """Return whether a claim holds by some columns of a frame of verdicts."""
    return (rows(frame, claim=claim).set_index(key)["verdict"] == "holds").to_dict()


def holds_in_most_data_sets(frame, column, key):
    """Return whether a condition holds in all rows of a data set for more than half of them, by some columns."""
    by_seed = frame.groupby([*key, "data_seed"])[column].all()
    return (by_seed.groupby(key if len(key) > 1 else key[0]).mean() > 0.5).to_dict()


@pytest.fixture(scope="module")
def upso_conditions(kept):
    return kept.study.conditions.query("algorithm == 'upso2d' and criterion == 'bic'")


@pytest.fixture(scope="module")
def contest(kept, upso_conditions):
    """Return the conditions of 2D-UPSO next to those of GA on the same data, and whether its median is lower."""
    place = ["shared", "data_seed", "system", "snr_db"]
    ga_conditions = kept.study.conditions.query("algorithm == 'ga'")
    contest = upso_conditions.merge(ga_conditions, on=place, suffixes=("", "_ga"))
    return contest.assign(better=contest["median_fitness"] < contest["median_fitness_ga"])


@pytest.mark.slow
def test_verdicts_on_the_terms_follow_from_the_conditions(kept, upso_conditions):
    all_terms = upso_conditions["nu"].map(min) >= 0.945 * 40
    expected = holds_in_most_data_sets(upso_conditions.assign(all_terms=all_terms), "all_terms", ["interpretation"])
    assert holds_by(kept.verdicts, "bic-finds-all-terms", "upso2d") == expected


@pytest.mark.slow
def test_verdicts_on_j_follow_from_the_conditions(kept, contest):
    better = holds_in_most_data_sets(contest, "better", ["interpretation", "interpretation_ga"])
    assert holds_by(kept.verdicts, "upso-reaches-better-j", ["upso2d", "ga"]) == better
    shown = holds_by(kept.option_verdicts, "upso-reaches-better-j", "option")
    assert better["velocity-bound=3", "baseline"] == shown["velocity-bound=3"]
    assert better["input=coloured", "input=coloured"] == shown["input=coloured"]
    assert better["baseline", "elitism=on"] == shown["elitism=on"]


@pytest.mark.slow
def test_contests_follow_from_the_conditions(kept, contest):
    ahead = contest.query("interpretation == 'baseline'").groupby(["interpretation_ga", "system"])["better"].sum()
    contests = rows(kept.contests, role="as described", rival="ga").set_index(["interpretation", "system"])
    assert contests["lower"].to_dict() == ahead.to_dict()
    # Each as described on three SNRs and the data sets of its rival: ten of a rival with a name, two of others.
    assert set(contests[["lower", "equal", "higher"]].sum(axis=1)) == {6, 30}
