"""Published beside reproduced: one row for each published value, a verdict, and an overview of the agreement."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

from narxbench.analysis.performance import holm_adjusted
from narxbench.analysis.published import RUNS, Place, Published, published_count
from narxbench.report.tables import Cell, Column, Table, Value, csv_text, labels_of

ALPHA = 0.05

_HEADER = ["table", "system", "algorithm", "criterion", "snr_db", "metric", "label", "term", "search", "status"]
_HEADER += ["published", "reproduced", "low", "high", "difference", "p_value", "consistent", "consistent_holm"]


@dataclass(frozen=True)
class Counts:
    """What the paper prints of one cell, as counts: runs that selected each system term, and spurious terms.

    ``nu`` follows the labels T1, T2, …; ``candidates`` is N_t; ``spurious`` counts the spurious terms that any run
    selected (r N_t), and ``nu_max`` the runs that selected the most frequent of them.
    """

    system: str
    algorithm: str
    criterion: str
    snr_db: float
    runs: int
    candidates: int
    nu: tuple[int, ...]
    spurious: int
    nu_max: int

    def value(self, place: Place) -> float:
        """Return the value that the paper prints at ``place`` of this cell."""
        return self.spurious / self.candidates if place.metric == "r" else self._runs_with(place) / self.runs

    def p_value(self, place: Place, published: float) -> float:
        """Return the p-value of Fisher's exact test of this cell's value at ``place`` against the published one.

        For nu and nu_max the two counts of runs are tested, for r the counts of spurious terms out of all that could
        be. The test of r is conservative, for terms with unequal chances vary less in number than terms with equal.
        """
        if place.metric == "r":
            possible = self.candidates - len(self.nu)
            return fisher_exact(round(published * self.candidates), possible, self.spurious, possible)
        return fisher_exact(published_count(published), RUNS, self._runs_with(place), self.runs)

    def _runs_with(self, place: Place) -> int:
        return self.nu_max if place.metric == "nu_max" else self.nu[int(place.label[1:]) - 1]


@dataclass(frozen=True)
class Comparison:
    """A published value beside the reproduced one of a search that runs its algorithm; ``search`` is "" if missing.

    ``low`` and ``high`` bound the confidence interval of ``reproduced``. ``consistent`` is the verdict of the test
    behind ``p_value``, ``consistent_holm`` the one after Holm's correction within one table and search.
    """

    place: Place
    term: str
    published: float
    search: str = ""
    reproduced: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    consistent: bool | None = None
    consistent_holm: bool | None = None

    @property
    def difference(self) -> float | None:
        """Reproduced minus published, or None where the cell is missing."""
        return None if self.reproduced is None else self.reproduced - self.published


@dataclass(frozen=True)
class Agreement:
    """Agreement of one search with one published table; differences are means of absolute values, None if none."""

    table: str
    algorithm: str
    search: str
    compared: int
    missing: int
    difference_nu: float | None
    difference_r: float | None
    difference_nu_max: float | None
    consistent_nu: float | None
    consistent_nu_holm: float | None
    consistent_r: float | None
    consistent_r_holm: float | None
    consistent_nu_max: float | None
    consistent_nu_max_holm: float | None


def compare(published: Published, cells: Iterable[Cell]) -> list[Comparison]:
    """Return a row for each published value and search that runs its algorithm, in the order of the published values.

    A value without a cell has one row without a search. Cells of a system that has a published name but other terms or
    coefficients are not compared. A value is consistent if the test of `Counts.p_value` has p >= 0.05.
    """
    by_place: dict[tuple[str, str, str, float], list[Cell]] = {}
    for cell in cells:
        true = cell["true_structure"]
        if published.is_published(cell["system"], true["terms"], true["true_coefficients"]):
            key = (cell["system"], cell["algorithm"], cell["criterion"], cell["snr_db"])
            by_place.setdefault(key, []).append(cell)
    rows = []
    for place, value in published.values.items():
        known = published.system_terms[place.system]
        missing = Comparison(place, known[place.label].term if place.label else "", value)
        found = by_place.get((place.system, place.algorithm, place.criterion, place.snr_db), [])
        rows += [_compared(missing, cell, published) for cell in found] or [missing]
    return _with_holm(rows)


def counts_of(cell: Cell, published: Published) -> Counts:
    """Return the counts of a cell of a published system."""
    count = {term["term"]: term["count"] for term in cell["terms"]}
    labels = labels_of(cell, published)
    spurious = [number for term, number in count.items() if term not in labels]
    return Counts(
        system=cell["system"],
        algorithm=cell["algorithm"],
        criterion=cell["criterion"],
        snr_db=cell["snr_db"],
        runs=cell["runs"],
        candidates=cell["n_terms"],
        nu=tuple(count[term] for term in labels),
        spurious=sum(number > 0 for number in spurious),
        nu_max=max(spurious, default=0),
    )


def fisher_exact(a: int, n_a: int, b: int, n_b: int) -> float:
    """Return the two-sided p-value of Fisher's exact test that ``a`` of ``n_a`` and ``b`` of ``n_b`` share a chance."""
    return _fisher_exact(a, n_a, a + b, n_b)


@cache
def _fisher_exact(a: int, n_a: int, total: int, n_b: int) -> float:
    # Whole numbers, so that equally likely tables compare as equal and the result is the same on every machine.
    def weight(count: int) -> int:
        return math.comb(n_a, count) * math.comb(n_b, total - count)

    counts = range(max(0, total - n_b), min(n_a, total) + 1)
    return float(Fraction(sum(w for w in map(weight, counts) if w <= weight(a)), math.comb(n_a + n_b, total)))


def holm(p_values: Sequence[float], alpha: float = ALPHA) -> list[bool]:
    """Return for each hypothesis of one family whether Holm's step-down procedure keeps it at level ``alpha``."""
    return [adjusted > alpha for adjusted in holm_adjusted(p_values)]


def agreement(rows: Iterable[Comparison]) -> list[Agreement]:
    """Return the agreement of each published table, algorithm and search, and a last entry of all rows together."""
    rows = list(rows)
    parts: dict[tuple[str, str], dict[str, list[Comparison]]] = {}
    places: dict[tuple[str, str], set[Place]] = {}
    for row in rows:
        part = (row.place.table, row.place.algorithm)
        searches = parts.setdefault(part, {})
        places.setdefault(part, set()).add(row.place)
        if row.search:
            searches.setdefault(row.search, []).append(row)
    entries = [
        _agreement(*part, search, found, len(places[part]) - len(found))
        for part, searches in parts.items()
        for search, found in (searches or {"": []}).items()
    ]
    compared = [row for row in rows if row.search]
    return [*entries, _agreement("all", "", "", compared, len(rows) - len(compared))]


def comparison_csv(rows: Iterable[Comparison]) -> str:
    """Return the rows as CSV; ``status`` is compared or missing, and a missing row has no numbers but the published."""
    lines: list[list[Value]] = []
    for row in rows:
        status = "missing" if row.reproduced is None else "compared"
        difference = None if row.difference is None else round(row.difference, 12)
        numbers = [row.published, row.reproduced, row.low, row.high, difference, row.p_value]
        verdicts = [_word(row.consistent), _word(row.consistent_holm)]
        lines.append([*row.place, row.term, row.search, status, *numbers, *verdicts])
    return csv_text(_HEADER, lines)


def agreement_table(entries: Iterable[Agreement]) -> Table:
    """Return the overview as a table; shares and differences between 0 and 1."""
    difference, share = "Mean absolute difference", "Share consistent"
    columns = (
        Column("table", "Table"),
        Column("algorithm", "Algorithm", kind="search"),
        Column("search", "Search"),
        Column("compared", "Compared", kind="number"),
        Column("missing", "Missing", kind="number"),
        Column("difference_nu", "ν", difference, "frequency"),
        Column("difference_r", "r", difference, "frequency"),
        Column("difference_nu_max", "ν_max", difference, "frequency"),
        Column("consistent_nu", "ν", share, "frequency"),
        Column("consistent_nu_holm", "ν (Holm)", share, "frequency"),
        Column("consistent_r", "r", share, "frequency"),
        Column("consistent_r_holm", "r (Holm)", share, "frequency"),
        Column("consistent_nu_max", "ν_max", share, "frequency"),
        Column("consistent_nu_max_holm", "ν_max (Holm)", share, "frequency"),
    )
    rows = tuple(tuple(getattr(entry, column.key) for column in columns) for entry in entries)
    notes = (
        f"A value is consistent if Fisher's two-sided exact test of published and reproduced counts has p ≥ {ALPHA}: "
        "of runs for ν and ν_max, of spurious terms out of all that could be for r.",
        "Holm: after Holm's correction over all values of one table and search.",
    )
    return Table("agreement", "Agreement with the published values", columns, rows, notes, stub=3)


def _word(verdict: bool | None) -> str | None:
    return None if verdict is None else str(verdict).lower()


def _compared(missing: Comparison, cell: Cell, published: Published) -> Comparison:
    place = missing.place
    if place.metric == "nu":
        interval = next(term for term in cell["terms"] if term["term"] == missing.term)
    else:
        interval = cell[{"r": "spurious_ratio", "nu_max": "spurious_frequency_max"}[place.metric]]
    counts = counts_of(cell, published)
    p_value = counts.p_value(place, missing.published)
    return replace(
        missing,
        search=cell["search"],
        reproduced=counts.value(place),
        low=interval["low"],
        high=interval["high"],
        consistent=p_value >= ALPHA,
        p_value=p_value,
    )


def _with_holm(rows: list[Comparison]) -> list[Comparison]:
    families: dict[tuple[str, str], list[int]] = {}
    for index, row in enumerate(rows):
        if row.p_value is not None:
            families.setdefault((row.place.table, row.search), []).append(index)
    for family in families.values():
        verdicts = holm([p for index in family if (p := rows[index].p_value) is not None])
        for index, kept in zip(family, verdicts, strict=True):
            rows[index] = replace(rows[index], consistent_holm=kept)
    return rows


def _agreement(table: str, algorithm: str, search: str, rows: list[Comparison], missing: int) -> Agreement:
    def of(metric: str) -> list[Comparison]:
        return [row for row in rows if row.place.metric == metric]

    def difference(metric: str) -> float | None:
        return _mean([abs(row.difference) for row in of(metric) if row.difference is not None])

    def share(metric: str) -> float | None:
        return _mean([row.consistent for row in of(metric) if row.consistent is not None])

    def share_holm(metric: str) -> float | None:
        return _mean([row.consistent_holm for row in of(metric) if row.consistent_holm is not None])

    return Agreement(
        table=table,
        algorithm=algorithm,
        search=search,
        compared=len(rows),
        missing=missing,
        difference_nu=difference("nu"),
        difference_r=difference("r"),
        difference_nu_max=difference("nu_max"),
        consistent_nu=share("nu"),
        consistent_nu_holm=share_holm("nu"),
        consistent_r=share("r"),
        consistent_r_holm=share_holm("r"),
        consistent_nu_max=share("nu_max"),
        consistent_nu_max_holm=share_holm("nu_max"),
    )


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
