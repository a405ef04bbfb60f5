"""Published beside reproduced."""

import csv
import io
from dataclasses import astuple
from typing import Any

import pytest
from cells import UNKNOWN, make_cell, paper_matrix, published
from scipy.stats import fisher_exact

from narxbench import compare
from narxbench.report.tables import to_markdown


@pytest.mark.parametrize(
    ("a", "n_a", "b", "n_b", "p"),
    [
        # Fisher's tea: of C(8, 4) = 70 outcomes, 1 + 16 + 16 + 1 are at most as likely as three right of four.
        (3, 4, 1, 4, 34 / 70),
        (4, 4, 0, 4, 2 / 70),
        (40, 40, 40, 40, 1.0),
        (0, 40, 0, 40, 1.0),
        # One run of 40 missing on one side only: both outcomes are equally likely.
        (40, 40, 39, 40, 1.0),
        (1, 1, 0, 2, 1 / 3),
    ],
)
def test_fisher_by_hand(a: int, n_a: int, b: int, n_b: int, p: float) -> None:
    assert compare.fisher_exact(a, n_a, b, n_b) == pytest.approx(p, rel=1e-15)


def test_fisher_agrees_with_scipy() -> None:
    for a in range(0, 41, 5):
        for b in range(0, 13):
            expected = fisher_exact([[a, 40 - a], [b, 12 - b]]).pvalue
            assert compare.fisher_exact(a, 40, b, 12) == pytest.approx(expected, rel=1e-9)


def test_holm() -> None:
    # Compared with 0.05/4, 0.05/3, 0.05/2: the third is kept, and so is all that is larger.
    assert compare.holm([0.01, 0.04, 0.03, 0.005]) == [False, True, True, False]
    assert compare.holm([]) == []


def test_every_published_value_has_a_row() -> None:
    rows = compare.compare(published(), paper_matrix())
    assert [row.place for row in rows] == list(published().values)
    assert all(row.search for row in rows)


def test_a_selection_frequency_is_judged_by_its_counts() -> None:
    # Published: 0.98 of 40 runs, which is 39.
    rows = compare.compare(published(), [make_cell("S2", counts={"y(k-1)": 20})])
    row = next(row for row in rows if row.search and row.place.label == "T2")
    assert (row.published, row.reproduced, row.difference) == (0.98, 0.5, pytest.approx(-0.48))
    assert row.p_value == compare.fisher_exact(39, 40, 20, 40)
    assert row.consistent is False
    assert row.consistent_holm is False


@pytest.mark.parametrize(("spurious", "consistent"), [(3, True), (2, False), (20, True), (21, False)])
def test_r_is_judged_by_the_number_of_spurious_terms(spurious: int, consistent: bool) -> None:
    cell = spurious_cell({1: spurious})
    row = compared(cell, "r")
    # Published: 0.15, which is 10 of 66 candidates, of which 62 could be spurious.
    assert (row.published, row.reproduced, row.low) == (0.15, spurious / 66, cell["spurious_ratio"]["low"])
    assert row.p_value == compare.fisher_exact(10, 62, spurious, 62)
    assert row.consistent is consistent


@pytest.mark.parametrize(("count", "consistent"), [(3, False), (4, True), (20, True), (21, False)])
def test_nu_max_is_judged_by_its_counts(count: int, consistent: bool) -> None:
    cell = spurious_cell({count: 1, 2: 5})
    row = compared(cell, "nu_max")
    # Published: 0.28, which is 11 of 40 runs.
    assert (row.published, row.reproduced) == (0.28, count / 40)
    assert row.low == cell["spurious_frequency_max"]["low"]
    assert row.p_value == compare.fisher_exact(11, 40, count, 40)
    assert row.consistent is consistent


def test_holm_covers_all_metrics_of_a_table_and_search() -> None:
    rows = [row for row in compare.compare(published(), [spurious_cell({21: 1, 1: 5})]) if row.search]
    p_values = [row.p_value for row in rows if row.p_value is not None]
    assert len(p_values) == len(rows) == 6
    assert [row.consistent_holm for row in rows] == compare.holm(p_values)
    # nu_max alone: p = 0.04, which six tests do not let stand.
    assert [row.consistent for row in rows].count(False) == 1
    assert all(row.consistent_holm for row in rows)


def spurious_cell(numbers: dict[int, int]) -> dict[str, Any]:
    """Return a cell of S1 at 50 dB with all system terms in every run, and as many spurious terms of each count."""
    cell = make_cell()
    wanted = [count for count, number in numbers.items() for _ in range(number)]
    for term in cell["terms"]:
        term["count"] = 40 if term["system_term"] else wanted.pop() if wanted else 0
        term["frequency"] = term["count"] / 40
    return cell


def compared(cell: dict[str, Any], metric: str) -> compare.Comparison:
    rows = compare.compare(published(), [cell])
    return next(row for row in rows if row.search and row.place.metric == metric)


def test_missing_cells_are_called_missing() -> None:
    text = compare.comparison_csv(compare.compare(published(), [make_cell(), make_cell(UNKNOWN)]))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["status"] for row in rows] == ["compared"] * 6 + ["missing"] * 804
    assert rows[-1]["reproduced"] == rows[-1]["consistent"] == ""
    assert "nan" not in text.lower()
    overview = compare.agreement(compare.compare(published(), [make_cell()]))
    assert (overview[0].compared, overview[0].missing) == (6, 84)
    assert astuple(overview[1]) == ("fitness_S2", "upso2d", "", 0, 105, *[None] * 9)
    assert (overview[-1].table, overview[-1].compared, overview[-1].missing) == ("all", 6, 804)


def test_a_changed_system_is_not_compared() -> None:
    cell = make_cell()
    cell["true_structure"]["true_coefficients"] = [0.6, 0.3, 0.3, 0.5]
    assert not any(row.search for row in compare.compare(published(), [cell]))


def test_every_search_with_the_published_algorithm_is_compared() -> None:
    cells = [make_cell(), make_cell(search="bounded", algorithm="upso2d")]
    rows = compare.compare(published(), cells)
    assert sorted(row.search for row in rows if row.search) == ["bounded"] * 6 + ["upso2d"] * 6
    assert [entry.search for entry in compare.agreement(rows)[:2]] == ["upso2d", "bounded"]


def test_overview() -> None:
    cell = make_cell(counts={"y(k-1)": 40, "u(k-1)": 40, "y(k-1)*u(k-1)": 40, "u(k-1)^2": 0})
    entry = compare.agreement(compare.compare(published(), [cell]))[0]
    assert (entry.difference_nu, entry.consistent_nu, entry.consistent_nu_holm) == (0.25, 0.75, 0.75)
    markdown = to_markdown(compare.agreement_table([entry]))
    assert "Share consistent: *r*" in markdown
