"""Published next to reproduced, and the nearness to the published tables."""

import math
from itertools import product

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.unit.studies.paper.interpretations.interpretation_studies import CANDIDATES, condition
from tests.unit.studies.paper.summaries import CRITERIA, make_summary, published

from narxbench._studies.paper.agreement import (
    agreement,
    agreement_values,
    compare,
    deviance,
    different,
    nearness,
    own_deviances,
    rank_test,
    system_ranks,
)
from narxbench._studies.paper.frames import conditions_frame, framed, metrics_frame
from narxbench._studies.paper.published import PLACE, published_count
from narxbench._study.significance import fisher_exact, holm

BY = ["interpretation", "data_seed"]


def as_published(criteria=CRITERIA, algorithm="upso2d"):
    """Return the conditions behind the published tables themselves."""
    conditions = []
    for (system, name, criterion, snr_db), group in published().once.groupby(PLACE, sort=False):
        if name == algorithm and criterion in criteria:
            names = group["label"].where(group["label"] != "", group["metric"])
            values = dict(zip(names, group["published"], strict=True))
            nu = tuple(published_count(values[label]) for label in published().systems[system]["label"])
            counts = {"spurious": round(values["r"] * CANDIDATES[system]), "nu_max": published_count(values["nu_max"])}
            method = {"criterion": criterion, "algorithm": name, "method": name}
            conditions.append(condition(system, snr_db, nu=nu, **method, **counts))
    return conditions


def compared(*conditions):
    return compare(framed("conditions", pd.DataFrame(conditions)), published().once)


def values_of(*summaries):
    conditions = conditions_frame(summaries, published())
    return agreement_values(conditions, metrics_frame(summaries, conditions, 0.95), published(), 0.95)


def near(conditions):
    return nearness(compared(*conditions), BY).iloc[0]


counts = st.integers(0, 60).flatmap(lambda size: st.tuples(st.integers(0, size), st.just(size)))


# The first call compiles the logarithm.
@settings(deadline=None)
@given(counts, counts)
def test_the_deviance_is_the_likelihood_ratio_statistic(first, second):
    (a, n_a), (b, n_b) = first, second
    statistic = deviance(a, n_a, b, n_b)
    assert statistic == pytest.approx(deviance(b, n_b, a, n_a), rel=1e-9)
    assert statistic == pytest.approx(deviance(n_a - a, n_a, n_b - b, n_b), rel=1e-9)
    if 0 < a + b < n_a + n_b and n_a and n_b:
        table = [[a, n_a - a], [b, n_b - b]]
        expected = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
        assert statistic == pytest.approx(expected, rel=1e-9, abs=1e-9)
    else:
        assert statistic == 0


def test_a_selection_frequency_is_judged_by_its_counts():
    # Published: 0.98 of 40 runs, which is 39.
    values = values_of(make_summary("S2", counts={"y(k-1)": 20}))
    row = values[(values["method"] != "") & (values["label"] == "T2")].iloc[0]
    assert (row["published"], row["reproduced"], row["difference"], row["term"]) == (0.98, 0.5, -0.48, "y(k-1)")
    assert (row["p_value"], row["deviance"]) == (fisher_exact(39, 40, 20, 40), deviance(39, 40, 20, 40))
    assert row["different"]


def test_holm_covers_every_value_once():
    rows = compared(condition(spurious=6, nu_max=21))
    assert len(rows) == 6
    assert list(different(rows, BY)) == [p <= 0.05 for p in holm(rows["p_value"])]
    # nu_max alone: p = 0.04, which six tests do not let stand.
    assert (rows["p_value"] < 0.05).sum() == 1
    assert not different(rows, BY).any()
    # Two tables print the values of S4 under BIC; both lines tell the verdict of one test in 25.
    values = values_of(make_summary("S4")).query("method != ''")
    verdict = [p <= 0.05 for p in holm(values.drop_duplicates(["metric", "label"])["p_value"])]
    assert list(values["different"]) == [*verdict, *verdict] and 0 < sum(verdict) < 25


def test_missing_conditions():
    values = values_of(make_summary())
    printed = published().values
    is_run = (printed["system"] == "S1") & (printed["snr_db"] == 50) & (printed["criterion"] == "bic")
    assert (values["method"] != "").tolist() == is_run.tolist()
    missing = values[values["method"] == ""]
    shown = ["reproduced", "low", "p_value", "deviance", "different", "data_seed"]
    assert missing[shown].isna().all(axis=None)
    overview = agreement(values)
    assert overview.loc[[0, 1], ["compared", "missing"]].to_numpy().tolist() == [[6, 84], [0, 105]]
    assert overview.loc[1, ["bias_nu", "bias_r", "bias_nu_max"]].isna().all()
    assert overview.iloc[-1][["table", "compared", "missing"]].to_list() == ["all", 6, 729]


def test_every_method_with_the_published_algorithm_is_compared():
    values = values_of(make_summary(), make_summary(method="bounded", algorithm="upso2d"))
    assert values["method"].value_counts().to_dict() == {"": 804, "upso2d": 6, "bounded": 6}
    # The overview counts each published value once: by the main method of the algorithm.
    assert list(agreement(values)["compared"]) == list(agreement(values_of(make_summary()))["compared"])
    # A method that is compared next to another leaves the verdicts on that one as they are.
    both = values.query("method == 'upso2d'").reset_index(drop=True)
    alone = values_of(make_summary()).query("method == 'upso2d'").reset_index(drop=True)
    pd.testing.assert_frame_equal(both, alone)


def test_what_differs_counts_on_its_side_and_once_where_two_tables_print_it():
    values = values_of(*(make_summary("S4", snr_db, name) for snr_db in (50, 40, 30) for name in ("upso2d", "ga")))
    overview = agreement(values).set_index(["table", "algorithm"])
    # The table of comparison repeats the values of 2D-UPSO under BIC.
    assert [name for name in overview.index if name[0] == "comparison_S4"] == [("comparison_S4", "ga")]
    assert overview.loc[("all", ""), "compared"] == 150
    clear = values[values["different"].eq(True)].drop_duplicates(["algorithm", "snr_db", "metric", "label"])
    sides = (clear["difference"] < 0).sum(), (clear["difference"] > 0).sum()
    assert tuple(overview.loc[("all", ""), ["lower", "higher"]]) == sides


def test_the_published_counts_are_at_the_distance_of_their_rounding():
    row = near(as_published())
    # 12 conditions under BIC and 48 under AIC; those under BIC that two tables print count once.
    assert (row["values"], row["different"], row["deviance"]) == (660, 0, 0)
    for part in ("nu", "r", "nu_max"):
        assert 0 < abs(row[f"bias_{part}"]) <= 0.005 + 1e-9


def test_one_condition_by_hand():
    # S1, 50 dB, BIC: nu 1, 1, 1, 1; r 0.15; nu_max 0.28.
    row = near([condition(nu=(40, 30, 40, 40), nu_max=31)])
    assert list(row[["bias_nu", "bias_r", "bias_nu_max"]]) == pytest.approx([-0.25 / 4, -0.15, 0.775 - 0.28])
    parts = deviance(40, 40, 30, 40), deviance(10, 62, 0, 62), deviance(11, 40, 31, 40)
    assert row["deviance"] == pytest.approx(math.fsum(parts))
    # p: 30 against 40 of 40 is 0.001, 0 against 10 of 62 is 0.001, 31 against 11 of 40 is 1e-5.
    assert (row["values"], row["different"]) == (6, 3)


def test_the_own_deviance_is_that_between_two_data_seeds():
    rows = compared(*(condition(data_seed=seed, spurious=10 * seed, nu_max=5) for seed in (1, 2, 3)))
    expected = [deviance(10, 62, 20, 62), deviance(10, 62, 30, 62), deviance(20, 62, 30, 62)]
    assert list(own_deviances(rows).values()) == pytest.approx(expected)
    assert own_deviances(rows[rows["data_seed"] == 1]) == {}


def spurious_terms(count):
    """Return the published r next to conditions at 50 dB with ``count(system, seed)`` spurious terms."""
    rows = []
    for name, seed in product(CANDIDATES, (1, 2, 3, 4)):
        rows.append(condition(name, data_seed=seed, spurious=count(name, seed)))
    return compared(*rows).query("metric == 'r'")


def test_the_rank_test_of_tables_that_lie_farther_out_than_any_data_set():
    # Every published table has more spurious terms than these data sets, which differ little.
    far = spurious_terms(lambda name, seed: seed % 2)
    test = rank_test(far)
    # No smaller p is possible.
    assert test.p_value == pytest.approx(5.0**-4) and test.orders == 5**4
    assert (test.farthest, test.systems) == (["S1", "S2", "S3", "S4"], 4)
    assert system_ranks(far)[["rank", "places"]].to_numpy().tolist() == [[5, 5]] * 4
    assert rank_test(far[far["system"] == "S1"]).p_value == pytest.approx(1 / 5)
    single = rank_test(far[far["data_seed"] == 1])
    assert math.isnan(single.p_value) and math.isnan(single.orders)


def test_the_rank_test_of_tables_that_lie_amidst_data_sets():
    rows = spurious_terms(lambda name, seed: 10).drop_duplicates("system").set_index("system")
    printed = (rows["published"] * pd.Series(CANDIDATES)).round().astype(int)
    amidst = spurious_terms(lambda name, seed: [printed[name], printed[name], 30, 0][seed - 1])
    assert rank_test(amidst).p_value > 0.9 and rank_test(amidst).farthest == []
    # Data sets that are all alike, and like the tables: ties count against a difference.
    assert rank_test(spurious_terms(lambda name, seed: printed[name])).p_value == 1
