"""Distance to the published tables, on counts chosen by hand."""

import math

import pytest
from cells import CRITERIA, paper_matrix, published
from hypothesis import given
from hypothesis import strategies as st

from narxbench import compare, distance
from narxbench.analysis.agreement import Counts
from narxbench.analysis.published import RUNS, published_count


def as_published(criteria: tuple[str, ...] = CRITERIA, algorithm: str = "upso2d") -> list[Counts]:
    """Return the counts behind the published tables themselves."""
    values: dict[tuple[str, str, str, int], dict[str, float]] = {}
    for place, value in published().values.items():
        key = (place.system, place.algorithm, place.criterion, place.snr_db)
        values.setdefault(key, {})[place.label or place.metric] = value
    cells = []
    for (system, name, criterion, snr_db), known in values.items():
        if name == algorithm and criterion in criteria:
            nu = tuple(published_count(known[label]) for label in published().system_terms[system])
            n = distance.CANDIDATES[system]
            spurious, nu_max = round(known["r"] * n), published_count(known["nu_max"])
            cells.append(Counts(system, name, criterion, snr_db, RUNS, n, nu, spurious, nu_max))
    return cells


def changed(cell: Counts, **values: object) -> Counts:
    return Counts(**{**vars(cell), **values})  # type: ignore[arg-type]


def test_the_published_counts_are_at_the_distance_of_their_rounding() -> None:
    found = distance.distance(published(), as_published())
    assert found is not None
    # 12 BIC cells and 48 AIC cells; the three BIC cells of S4 are printed in two tables.
    assert (found.cells, found.values, found.distinguishable) == (60, 660 + 75, 0)
    for part in (found.nu, found.r, found.nu_max):
        assert 0 < part <= 0.005 + 1e-9


def test_one_cell_by_hand() -> None:
    # S1, 50 dB, BIC: nu 1, 1, 1, 1; r 0.15; nu_max 0.28.
    cell = Counts("S1", "upso2d", "bic", 50, 40, 66, (40, 30, 40, 40), 0, 31)
    found = distance.distance(published(), [cell])
    assert found is not None
    assert (found.nu, found.r) == (0.25 / 4, 0.15)
    assert found.nu_max == pytest.approx(0.775 - 0.28)
    assert found.distance == math.fsum([found.nu, found.r, found.nu_max]) / 3
    # p: 30 against 40 of 40 is 0.001, 0 against 10 of 62 is 0.001, 31 against 11 of 40 is 1e-5.
    assert (found.cells, found.values, found.distinguishable) == (1, 6, 3)
    places = distance.distinguishable(published(), [cell])
    assert [(place.metric, place.label) for place in places] == [("nu", "T2"), ("r", ""), ("nu_max", "")]


def test_a_cell_weighs_the_same_however_many_terms_and_tables_it_has() -> None:
    cells = as_published(("bic",))
    before = distance.distance(published(), cells)
    for place in (0, len(cells) - 1):
        cell = cells[place]
        other = [*cells[:place], changed(cell, nu=(0,) * len(cell.nu)), *cells[place + 1 :]]
        after = distance.distance(published(), other)
        assert before is not None
        assert after is not None
        assert after.nu - before.nu == pytest.approx(1 / 12, abs=0.005)
    assert (after.r, after.nu_max) == (before.r, before.nu_max)
    assert after.distinguishable == 2 * len(cells[-1].nu)


@given(st.permutations(range(12)))
def test_the_order_of_cells_does_not_matter(order: list[int]) -> None:
    cells = [changed(cell, nu_max=index) for index, cell in enumerate(as_published(("bic",)))]
    assert distance.distance(published(), [cells[index] for index in order]) == distance.distance(published(), cells)


def test_cells_without_published_values_have_no_distance() -> None:
    cell = as_published()[0]
    assert distance.distance(published(), []) is None
    assert distance.distance(published(), [changed(cell, snr_db=20), changed(cell, algorithm="stepwise")]) is None


def test_the_number_of_runs_may_differ() -> None:
    cell = changed(as_published()[0], runs=4, nu=(4, 4, 4, 4), nu_max=1)
    found = distance.distance(published(), [cell])
    assert found is not None
    assert (found.nu, found.distinguishable) == (0, 0)


def test_the_distance_is_that_of_the_comparison_with_the_tables() -> None:
    # The tables of S1 print no cell twice.
    cells = [cell for cell in paper_matrix() if (cell["system"], cell["search"]) == ("S1", "upso2d")]
    found = distance.distance(published(), [compare.counts_of(cell, published()) for cell in cells])
    assert found is not None
    rows = compare.compare(published(), cells)
    for metric in ("nu", "r", "nu_max"):
        differences = [abs(row.difference) for row in rows if row.place.metric == metric and row.difference is not None]
        assert differences
        assert getattr(found, metric) == pytest.approx(math.fsum(differences) / len(differences))


def test_over_seeds() -> None:
    found = [distance.Distance(12, nu, 0.2, 0.3, 207, n) for nu, n in ((0.1, 5), (0.4, 2), (0.3, 9))]
    judged = distance.over_seeds(found)
    assert judged["nu"] == (0.3, 0.1, 0.4)
    assert judged["distinguishable"] == (5, 2, 9)
    assert judged["distance"].median == pytest.approx(0.8 / 3)
    assert list(judged) == ["distance", "nu", "r", "nu_max", "distinguishable"]


def test_candidates_of_the_published_systems() -> None:
    for cell in paper_matrix():
        assert cell["n_terms"] == distance.CANDIDATES[cell["system"]]
