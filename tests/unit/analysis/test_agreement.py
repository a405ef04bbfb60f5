"""Published beside reproduced, and the distance to the published tables."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.analysis.multiverses import CANDIDATES, condition
from tests.unit.analysis.summaries import CRITERIA, make_summary, paper_study, published

from narxbench.analysis.agreement import agreement, agreement_values, clearly_different, compare, distances
from narxbench.analysis.frames import conditions_frame, framed, metrics_frame
from narxbench.analysis.published import PLACE, published_count
from narxbench.analysis.significance import fisher_exact, holm

BY = ["interpretation", "data_seed"]


def as_published(criteria=CRITERIA, algorithm="upso2d"):
    """Return the conditions behind the published tables themselves."""
    found = []
    for (system, name, criterion, snr_db), group in published().values.groupby(PLACE, sort=False):
        if name == algorithm and criterion in criteria:
            values = group[["metric", "label", "published"]].itertuples(index=False)
            known = {label or metric: value for metric, label, value in values}
            nu = tuple(published_count(known[label]) for label in published().systems[system]["label"])
            counts = {"spurious": round(known["r"] * CANDIDATES[system]), "nu_max": published_count(known["nu_max"])}
            found.append(condition(system, snr_db, nu=nu, criterion=criterion, algorithm=name, method=name, **counts))
    return found


def compared(*conditions):
    return compare(framed("conditions", pd.DataFrame(conditions)), published())


def values_of(*summaries):
    conditions = conditions_frame(summaries, published())
    return agreement_values(conditions, metrics_frame(summaries, conditions, 0.95, 50), published(), 0.95)


def distance(conditions):
    return distances(compared(*conditions), BY).iloc[0]


def test_every_published_value_has_a_row():
    values = values_of(*paper_study())
    place = ["table", *PLACE, "metric", "label"]
    pd.testing.assert_frame_equal(values[place], published().values[place])
    assert (values["method"] == values["algorithm"]).all()
    assert values["low"].le(values["reproduced"]).all()
    assert values["high"].ge(values["reproduced"]).all()


def test_a_selection_frequency_is_judged_by_its_counts():
    # Published: 0.98 of 40 runs, which is 39.
    values = values_of(make_summary("S2", counts={"y(k-1)": 20}))
    row = values[(values["method"] != "") & (values["label"] == "T2")].iloc[0]
    assert (row["published"], row["reproduced"], row["difference"], row["term"]) == (0.98, 0.5, -0.48, "y(k-1)")
    assert row["p_value"] == fisher_exact(39, 40, 20, 40)
    assert (row["consistent"], row["consistent_holm"]) == (False, False)


@pytest.mark.parametrize(
    ("metric", "count", "table", "consistent"),
    [
        # Published: r 0.15, which is 10 of 66 candidates, of which 62 could be spurious.
        *(("r", count, (10, 62, count, 62), count in (3, 20)) for count in (2, 3, 20, 21)),
        # Published: nu_max 0.28, which is 11 of 40 runs.
        *(("nu_max", count, (11, 40, count, 40), count in (4, 20)) for count in (3, 4, 20, 21)),
    ],
)
def test_spurious_terms_are_judged_by_their_counts(metric, count, table, consistent):
    own = {"spurious": 10, "nu_max": 11} | ({"spurious": count} if metric == "r" else {"nu_max": count})
    rows = compared(condition(**own))
    row = rows[rows["metric"] == metric].iloc[0]
    assert (row["reproduced"], row["p_value"]) == (count / (66 if metric == "r" else 40), fisher_exact(*table))
    assert (row["p_value"] >= 0.05) == consistent


def test_holm_covers_all_values_of_a_table_and_method():
    rows = compared(condition(spurious=6, nu_max=21))
    assert len(rows) == 6
    assert list(clearly_different(rows, BY)) == [p <= 0.05 for p in holm(rows["p_value"])]
    # nu_max alone: p = 0.04, which six tests do not let stand.
    assert (rows["p_value"] < 0.05).sum() == 1
    assert not clearly_different(rows, BY).any()


def test_missing_conditions():
    values = values_of(make_summary())
    assert list(values["method"] == "") == [
        row.system != "S1" or row.snr_db != 50 or row.criterion != "bic" for row in published().values.itertuples()
    ]
    missing = values[values["method"] == ""]
    assert missing[["reproduced", "low", "p_value", "consistent", "consistent_holm", "data_seed"]].isna().all(axis=None)
    overview = agreement(values)
    assert overview.loc[0, ["compared", "missing"]].to_list() == [6, 84]
    assert overview.loc[1, ["table", "algorithm", "method", "compared", "missing"]].to_list() == [
        *("fitness_S2", "upso2d", "", 0, 105)
    ]
    assert overview.iloc[1, 5:].isna().all()
    assert overview.iloc[-1][["table", "compared", "missing"]].to_list() == ["all", 6, 804]


def test_every_method_with_the_published_algorithm_is_compared():
    values = values_of(make_summary(), make_summary(method="bounded", algorithm="upso2d"))
    assert values["method"].value_counts().to_dict() == {"": 804, "upso2d": 6, "bounded": 6}
    assert list(agreement(values)["method"][:2]) == ["upso2d", "bounded"]


def test_overview():
    values = values_of(make_summary(counts={"y(k-1)": 40, "u(k-1)": 40, "y(k-1)*u(k-1)": 40, "u(k-1)^2": 0}))
    row = agreement(values).iloc[0]
    assert list(row[["difference_nu", "consistent_nu", "consistent_nu_holm"]]) == [0.25, 0.75, 0.75]


def test_the_published_counts_are_at_the_distance_of_their_rounding():
    found = distance(as_published())
    # 12 conditions under BIC and 48 under AIC; the three under BIC of S4 are printed in two tables.
    assert (found["conditions"], found["values"], found["different"]) == (60, 660 + 75, 0)
    for part in ("nu", "r", "nu_max"):
        assert 0 < found[part] <= 0.005 + 1e-9


def test_one_condition_by_hand():
    # S1, 50 dB, BIC: nu 1, 1, 1, 1; r 0.15; nu_max 0.28.
    own = condition(nu=(40, 30, 40, 40), nu_max=31)
    found = distance([own])
    assert list(found[["nu", "r", "nu_max"]]) == pytest.approx([0.25 / 4, 0.15, 0.775 - 0.28])
    assert found["distance"] == pytest.approx((0.0625 + 0.15 + 0.495) / 3)
    # p: 30 against 40 of 40 is 0.001, 0 against 10 of 62 is 0.001, 31 against 11 of 40 is 1e-5.
    assert (found["conditions"], found["values"], found["different"]) == (1, 6, 3)
    rows = compared(own)
    clear = rows[clearly_different(rows, BY)]
    assert list(zip(clear["metric"], clear["label"], strict=True)) == [("nu", "T2"), ("r", ""), ("nu_max", "")]


def test_a_condition_weighs_the_same_however_many_terms_and_tables_it_has():
    conditions = as_published(("bic",))
    before = distance(conditions)
    for place in (0, len(conditions) - 1):
        own = conditions[place]
        changed = own | {"nu": (0,) * len(own["nu"])}
        after = distance([*conditions[:place], changed, *conditions[place + 1 :]])
        assert after["nu"] - before["nu"] == pytest.approx(1 / 12, abs=0.005)
    assert (after["r"], after["nu_max"]) == (before["r"], before["nu_max"])
    assert after["different"] == 2 * len(own["nu"])


@settings(max_examples=8, deadline=None)
@given(st.permutations(range(12)))
def test_the_order_of_conditions_does_not_matter(order):
    conditions = [own | {"nu_max": index} for index, own in enumerate(as_published(("bic",)))]
    pd.testing.assert_series_equal(distance([conditions[index] for index in order]), distance(conditions))


def test_groups_are_measured_apart():
    first = as_published(("bic",))
    second = [own | {"data_seed": 2, "nu_max": 40} for own in first]
    both = distances(compared(*first, *second), BY)
    pd.testing.assert_series_equal(both.iloc[0], distance(first))
    pd.testing.assert_series_equal(both.iloc[1], distance(second), check_names=False)


def test_conditions_without_published_values_have_no_distance():
    rows = compared(condition(snr_db=20.0), condition(algorithm="stepwise"))
    assert rows.empty
    assert distances(rows, BY).empty


def test_the_number_of_runs_may_differ():
    found = distance([condition(runs=4, nu=(4, 4, 4, 4), spurious=10, nu_max=1)])
    assert (found["nu"], found["different"]) == (0, 0)
