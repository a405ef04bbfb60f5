"""Exact relations between counts, found in forged tables and in the published ones."""

from itertools import product
from math import comb

import numpy as np
import pandas as pd
import pytest
from tests.unit.studies.paper.summaries import REFERENCE, published

from narxbench._studies.paper.frames import read_frame
from narxbench._studies.paper.identities import (
    LEAST_SNRS,
    check_identities,
    expected_identities,
    identities,
    telling_identities,
)
from narxbench._studies.paper.published import RUNS, Published
from narxbench._study.design_choices import interpretation_text, load_design_choices

SNRS = (50.0, 40.0, 30.0)
TERMS = ["y(k-1)", "y(k-2)", "u(k-1)", "u(k-1)^2", "u(k-1)*u(k-2)"]
# Counts of the five terms at each SNR, between which no relation holds.
PLAIN = [(11, 20, 17, 5, 9), (12, 23, 18, 6, 10), (13, 24, 19, 7, 14)]


def forged(counts):
    """Return published values of one table with some counts at each SNR."""
    labels = [f"T{number}" for number, _ in enumerate(TERMS, start=1)]
    values = []
    for snr_db, row in zip(SNRS, counts, strict=True):
        for label, count in zip(labels, row, strict=True):
            values.append(("fitness_X", "X", "upso2d", "bic", snr_db, "nu", label, count / RUNS))
        values.append(("fitness_X", "X", "upso2d", "bic", snr_db, "r", "", 0.0))
    columns = ["table", "system", "algorithm", "criterion", "snr_db", "metric", "label", "published"]
    terms = pd.DataFrame({"system": "X", "label": labels, "term": TERMS, "coefficient": 1.0})
    return Published(pd.DataFrame(values, columns=columns), terms)


def changed(*changes):
    """Return the plain counts with changes: place of the SNR, place of the term, count."""
    counts = [[*row] for row in PLAIN]
    for snr, term, count in changes:
        counts[snr][term] = count
    return counts


def shown(frame):
    return [(row.relation, *row.terms, *row.snr_db) for row in frame.itertuples()]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([], []),
        ([(0, 1, 29)], []),
        ([(0, 1, 29), (1, 1, 28)], [("sum", "T1", "T2", 50.0, 40.0)]),
        ([(0, 1, 29), (1, 1, 28), (2, 1, 27)], [("sum", "T1", "T2", *SNRS)]),
        # The sum of one run less is none.
        ([(0, 1, 28), (1, 1, 28)], []),
        ([(0, 3, 17), (2, 3, 19)], [("equal", "T3", "T4", 50.0, 30.0)]),
        ([(0, 4, 0), (1, 4, 0)], [("zero", "T5", 50.0, 40.0)]),
        # Zero is nothing special where no term of its kind is selected, nor 40 beside 0.
        (list(product(range(3), (3, 4), (0,))), []),
        ([*product(range(3), (0,), (40,)), *product(range(3), (1,), (0,))], []),
    ],
)
def test_identities_of_forged_tables(changes, expected):
    assert shown(identities(forged(changed(*changes)))) == expected


def chance_of(frequency, count):
    return comb(RUNS, count) * frequency**count * (1 - frequency) ** (RUNS - count)


def test_the_chance_of_an_identity_is_that_of_independent_runs():
    counts = changed((0, 1, 29), (1, 1, 28))
    (row,) = identities(forged(counts)).itertuples()
    chances = []
    for first, second, *_ in counts:
        parts = [chance_of(first / RUNS, k) * chance_of(second / RUNS, RUNS - k) for k in range(RUNS + 1)]
        chances.append(sum(parts))
    a, b, c = chances
    assert len(row.snr_db) == LEAST_SNRS
    assert row.chance == pytest.approx(a * b * (1 - c) + a * (1 - b) * c + (1 - a) * b * c + a * b * c)


def test_expected_identities_are_the_sum_of_all_chances():
    table = expected_identities(forged(changed((0, 4, 0), (1, 4, 0)))).set_index("relation")
    # A sum of outputs and one of products; pairs without T5, and zeros but of T4, which can hold at 30 dB only.
    assert table["candidates"].to_dict() == {"sum": 2, "equal": 6, "zero": 3}
    assert table["identities"].to_dict() == {"sum": 0, "equal": 0, "zero": 1}
    by_snr = (1 - np.array(PLAIN)[:, 3] / RUNS) ** RUNS
    of_zero = by_snr[0] * by_snr[1] + by_snr[2] * (by_snr[0] + by_snr[1] - 2 * by_snr[0] * by_snr[1])
    assert table["expected"]["zero"] == pytest.approx(of_zero, rel=1e-3)


def test_identities_of_the_published_tables():
    relations = shown(identities(published()))
    zeros = [("zero", f"T{number}", *SNRS) for number in (6, 20, 21, 22, 23)]
    in_s4 = [("sum", "T1", "T2", "T3", "T4", *SNRS), ("equal", "T18", "T19", 50.0, 40.0), *zeros]
    assert relations[: len(in_s4)] == in_s4
    assert {relation for relation, *_ in relations[len(in_s4) :]} == {"equal"}
    table = expected_identities(published()).set_index(["algorithm", "criterion", "relation"])
    assert set(table["system"]) == {"S4"}
    of_sum, of_ga = table.loc[("upso2d", "aic-256", "sum")], table.loc[("ga", "bic", "equal")]
    assert (of_sum["identities"], round(of_sum["expected"], 3)) == (1, 0.022)
    assert (of_ga["identities"], round(of_ga["expected"], 1)) == (4, 1.5)


def reproduced(counts, interpretation="baseline", runs=RUNS):
    """Return rows of the frame of conditions with some counts at each SNR."""
    rows = []
    for snr_db, nu in zip(SNRS, counts, strict=True):
        rows.append(("X", "upso2d", "bic", snr_db, "upso2d", interpretation, 1, runs, tuple(nu)))
    columns = ["system", "algorithm", "criterion", "snr_db", "method", "interpretation", "data_seed", "runs", "nu"]
    return pd.DataFrame(rows, columns=columns)


def test_reproduced_counts_are_checked_against_identities():
    in_forged = identities(forged(changed((0, 1, 29), (1, 1, 28), (2, 1, 27))))
    of_two_runs = [(1, 1, 0, 0, 0), (2, 0, 0, 0, 0), (1, 0, 0, 0, 0)]
    parts = [reproduced(changed((2, 1, 27))), reproduced(of_two_runs, "ties=random", runs=2)]
    parts.append(reproduced(PLAIN, "reset")[:2])
    checked = check_identities(in_forged, pd.concat(parts))
    assert checked["terms"].tolist() == [("T1", "T2")] * 2
    assert checked.set_index("interpretation")["held"].to_dict() == {"baseline": 1, "ties=random": 2}
    assert checked["published"].tolist() == [3, 3]


def test_the_kept_results_have_the_sum_of_s4_only_with_required_terms():
    conditions = read_frame("conditions", REFERENCE / "interpretations" / "conditions.csv")
    checked = check_identities(identities(published()), conditions[conditions["system"] == "S4"])
    of_sum = checked[checked["relation"] == "sum"]
    described = of_sum[of_sum["interpretation"] == "baseline"]
    assert len(described) == 10
    assert (described["held"] == 0).all()
    choices = load_design_choices()
    for name in ("closest", "constrained"):
        of_name = of_sum[of_sum["interpretation"] == interpretation_text(choices, choices.named[name], "upso2d")]
        assert len(of_name) == 10
        assert of_name["held"].sum() > 0.9 * of_name["published"].sum()


def test_identities_that_chance_does_not_explain():
    telling = telling_identities(published())
    assert telling["relation"].tolist() == ["sum", *["zero"] * 5]
    assert set(telling["criterion"]) == {"aic-256"}
    # Among two hundred pairs of counts some are equal.
    assert len(identities(published())) > len(telling)
