"""Tests, intervals and relations of counts against plain procedures, values by hand, and the published tables."""

import math
from itertools import product

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint
from tests.unit.studies.paper.interpretations.interpretation_studies import CANDIDATES, condition
from tests.unit.studies.paper.summaries import published

from narxbench._studies.paper.agreement import (
    compare,
    deviance,
    nearness,
    rank_test,
)
from narxbench._studies.paper.frames import framed
from narxbench._studies.paper.identities import (
    expected_identities,
    identities,
    telling_identities,
)
from narxbench._studies.paper.metrics import spurious_ratio
from narxbench._study.significance import holm

BY = ["interpretation", "data_seed"]


def test_holm_is_that_of_statsmodels(rng):
    for size in range(1, 10):
        p_values = rng.random(size).round(1)
        assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1])


def test_the_interval_of_spurious_terms_is_exact():
    for count, possible in ((81, 263), (0, 40), (40, 40), (1, 29)):
        # Half of the candidate terms belong to the system: r cannot pass 1/2.
        r = spurious_ratio(count, possible, 2 * possible)
        expected = proportion_confint(count, possible, method="beta")
        assert r.value == pytest.approx(count / possible / 2) and (2 * r.low, 2 * r.high) == pytest.approx(expected)


# Published and reproduced


def compared(*conditions):
    return compare(framed("conditions", pd.DataFrame(conditions)), published().once)


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


def test_one_condition_by_hand():
    # S1, 50 dB, BIC: nu 1, 1, 1, 1; r 0.15; nu_max 0.28.
    row = nearness(compared(condition(nu=(40, 30, 40, 40), nu_max=31)), BY).iloc[0]
    assert list(row[["bias_nu", "bias_r", "bias_nu_max"]]) == pytest.approx([-0.25 / 4, -0.15, 0.775 - 0.28])
    parts = deviance(40, 40, 30, 40), deviance(10, 62, 0, 62), deviance(11, 40, 31, 40)
    assert row["deviance"] == pytest.approx(math.fsum(parts))
    # p: 30 against 40 of 40 is 0.001, 0 against 10 of 62 is 0.001, 31 against 11 of 40 is 1e-5.
    assert (row["values"], row["different"]) == (6, 3)


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
    assert test["p_value"] == pytest.approx(5.0**-4) and test["orders"] == 5**4
    assert (test["farthest"], test["systems"]) == ("S1, S2, S3, S4", 4)
    assert rank_test(far[far["system"] == "S1"])["p_value"] == pytest.approx(1 / 5)


def test_the_rank_test_of_tables_that_lie_amidst_data_sets():
    rows = spurious_terms(lambda name, seed: 10).drop_duplicates("system").set_index("system")
    printed = (rows["published"] * pd.Series(CANDIDATES)).round().astype(int)
    amidst = spurious_terms(lambda name, seed: [printed[name], printed[name], 30, 0][seed - 1])
    assert rank_test(amidst)["p_value"] > 0.9 and rank_test(amidst)["farthest"] == ""
    # Data sets that are all alike, and like the tables: ties count against a difference.
    assert rank_test(spurious_terms(lambda name, seed: printed[name]))["p_value"] == 1


# Relations


SNRS = (50.0, 40.0, 30.0)


def test_identities_of_the_published_tables():
    relations = [(row.relation, *row.terms, *row.snr_db) for row in identities(published()).itertuples()]
    zeros = [("zero", f"T{number}", *SNRS) for number in (6, 20, 21, 22, 23)]
    in_s4 = [("sum", "T1", "T2", "T3", "T4", *SNRS), ("equal", "T18", "T19", 50.0, 40.0), *zeros]
    assert relations[: len(in_s4)] == in_s4
    assert {relation for relation, *_ in relations[len(in_s4) :]} == {"equal"}
    table = expected_identities(published()).set_index(["algorithm", "criterion", "relation"])
    assert set(table["system"]) == {"S4"}
    of_sum, of_ga = table.loc[("upso2d", "aic-256", "sum")], table.loc[("ga", "bic", "equal")]
    assert (of_sum["identities"], round(of_sum["expected"], 3)) == (1, 0.022)
    assert (of_ga["identities"], round(of_ga["expected"], 1)) == (4, 1.5)
    # Among two hundred pairs of counts some are equal by chance.
    telling = telling_identities(published())
    assert telling["relation"].tolist() == ["sum", *["zero"] * 5] and set(telling["criterion"]) == {"aic-256"}
