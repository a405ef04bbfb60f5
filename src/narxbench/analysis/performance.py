"""Statistics over the runs of cells: search against search, exact recovery, run length, budget and gaps.

Entries are ready for JSON: None stands for a value that does not exist, and never an infinity or NaN. A run without a
finite structure has J = +infinity, so it ranks last.
"""

import math
import statistics
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench.analysis.metrics import selection_frequency
from narxbench.report.tables import Cell, csv_text, search_name

Entry = dict[str, Any]

# Two values of J this close (relative) count as equal.
TOLERANCE = 1e-9
# Up to this many runs of both searches together, the exact distribution of U is computed.
EXACT_RUNS = 120

# Vargha and Delaney (2000): distance of A12 from 1/2 from which an effect is small, medium and large.
_MAGNITUDES = (
    (Fraction(21, 100), "large"),
    (Fraction(14, 100), "medium"),
    (Fraction(6, 100), "small"),
    (Fraction(0), "negligible"),
)


def analyse(cells: Iterable[Cell]) -> dict[str, list[Entry]]:
    """Return all statistics of the cells, in the order of the cells."""
    cells = list(cells)
    return {
        "comparisons": comparisons(cells),
        "recovery": recovery(cells),
        "run_length": run_length(cells),
        "budget": budget(cells),
        "gaps": gaps(cells),
    }


def comparisons(cells: Iterable[Cell]) -> list[Entry]:
    """Compare the final J of every two searches on a system, SNR and criterion; ``p_holm`` covers all comparisons."""
    entries, p_values = [], []
    for group in _groups(cells):
        for one, other in combinations(group, 2):
            a, b = _fitness(one), _fitness(other)
            p_value, method = mann_whitney(a, b)
            effect = a12(a, b)
            p_values.append(p_value)
            entries.append(
                {
                    **_problem(one),
                    "a": one["search"],
                    "b": other["search"],
                    "n_a": len(a),
                    "n_b": len(b),
                    "median_a": _finite(statistics.median(a)),
                    "median_b": _finite(statistics.median(b)),
                    "p_value": _six_digits(p_value),
                    "method": method,
                    "a12": float(effect),
                    "magnitude": magnitude(effect),
                }
            )
    for entry, p_value in zip(entries, holm_adjusted(p_values), strict=True):
        entry["p_holm"] = _six_digits(p_value)
    return entries


def recovery(cells: Iterable[Cell]) -> list[Entry]:
    """Return how many runs of each cell found exactly the system terms, with the Wilson interval of the rate."""
    entries = []
    for cell in cells:
        rate = selection_frequency(cell["exact_runs"], cell["runs"], cell["confidence"])
        counts = {"exact": cell["exact_runs"], "runs": cell["runs"]}
        entries.append({**_place(cell), **counts, "rate": rate.value, "low": rate.low, "high": rate.high})
    return entries


def run_length(cells: Iterable[Cell]) -> list[Entry]:
    """Return for each cell and target the evaluations after which runs reached it (empirical run-length distribution).

    Targets are the J of the true structure, the best J that any search on the same problem found, that plus 1 % of
    its distance to the median J of all runs after 5 % of the budget, and the median final J of each other search.
    """
    entries = []
    for group in _groups(cells):
        best = _best_known(group)
        start = math.ceil(max(cell["evaluations"] for cell in group) * 0.05)
        early = statistics.median([best_after(history, start) for cell in group for history in cell["histories"]])
        shared = [
            ("true structure's J", group[0]["true_structure"]["fitness"] if _shared_data(group) else None),
            ("best known J", best),
            ("best known J + 1 % of the range", None if best is None else _finite(best + 0.01 * (early - best))),
        ]
        medians = {cell["search"]: _finite(statistics.median(_fitness(cell))) for cell in group}
        for cell in group:
            others = [
                (f"median final J of {search_name(search)}", median)
                for search, median in medians.items()
                if search != cell["search"]
            ]
            for name, target in [*shared, *others]:
                reached = [_evaluations_to(history, target) for history in cell["histories"]]
                entries.append(
                    {
                        **_place(cell),
                        "target": target,
                        "target_name": name,
                        "evaluations": sorted(evaluation for evaluation in reached if evaluation is not None),
                        "runs": cell["runs"],
                    }
                )
    return entries


def budget(cells: Iterable[Cell]) -> list[Entry]:
    """Return median and quartiles of the best J after each tenth of the budget; quartiles are the values of runs."""
    entries = []
    for cell in cells:
        spent = [math.ceil(cell["evaluations"] * tenth / 10) for tenth in range(1, 11)]
        curves = [sorted(best_after(history, evaluation) for history in cell["histories"]) for evaluation in spent]
        entries.append(
            {
                **_place(cell),
                "evaluations": spent,
                "median": [_finite(statistics.median(values)) for values in curves],
                "low": [_finite(values[math.ceil(0.25 * len(values)) - 1]) for values in curves],
                "high": [_finite(values[math.ceil(0.75 * len(values)) - 1]) for values in curves],
            }
        )
    return entries


def gaps(cells: Iterable[Cell]) -> list[Entry]:
    """Tell failures of the search from failures of the criterion.

    A search fails in the runs that end above the best J that any search on the same problem found; the criterion fails
    where that best J lies below the J of the true structure.
    """
    entries = []
    for group in _groups(cells):
        best = _best_known(group)
        for cell in group:
            fitness = _fitness(cell)
            median, true = statistics.median(fitness), cell["true_structure"]["fitness"]
            gap = _gap_to_true(cell)
            entries.append(
                {
                    **_place(cell),
                    "best_known": best,
                    "true_structure": true,
                    "median_gap_to_best": None if best is None else _finite(median - best),
                    "median_gap_to_true": gap,
                    "criterion_failure": None if best is None or true is None else not _reaches(true, best),
                    "search_failure_rate": None
                    if best is None
                    else sum(not _reaches(value, best) for value in fitness) / len(fitness),
                }
            )
    return entries


def mann_whitney(a: Sequence[float], b: Sequence[float]) -> tuple[float, str]:
    """Return the two-sided p-value of the Mann-Whitney U test and the method: exact (given the ties) or asymptotic.

    Exact: the chance, over all ways to deal the ranks, of a rank sum at least as far from its mean. Asymptotic: normal
    with corrections for ties and continuity.
    """
    ranks, ties = _doubled_ranks([*a, *b])
    n_a, n = len(a), len(a) + len(b)
    # Twice the distance of twice the rank sum from its mean: a whole number.
    distance = abs(sum(ranks[:n_a]) - n_a * (n + 1))
    if n <= EXACT_RUNS:
        ways = _ways(ranks, n_a)
        sums = np.arange(len(ways))
        extreme = ways[abs(sums - n_a * (n + 1)) >= distance]
        return min(1.0, math.fsum(extreme.tolist()) / math.comb(n, n_a)), "exact"
    variance = n_a * len(b) / 12 * (n + 1 - sum(tie**3 - tie for tie in ties) / (n * (n - 1)))
    if variance == 0:
        return 1.0, "asymptotic"
    return math.erfc(max(0.0, distance / 2 - 0.5) / math.sqrt(2 * variance)), "asymptotic"


def a12(a: Sequence[float], b: Sequence[float]) -> Fraction:
    """Return the Vargha-Delaney effect size: the chance that a run of ``a`` ends at a lower J than one of ``b``."""
    wins = sum(2 if x < y else 1 if x == y else 0 for x in a for y in b)
    return Fraction(wins, 2 * len(a) * len(b))


def magnitude(effect: Fraction) -> str:
    """Return the name of an effect size A12 by the limits 0.56, 0.64 and 0.71."""
    distance = abs(effect - Fraction(1, 2))
    return next(name for limit, name in _MAGNITUDES if distance >= limit)


def holm_adjusted(p_values: Sequence[float]) -> list[float]:
    """Return the p-values of one family after Holm's step-down correction."""
    adjusted = [1.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = largest
    return adjusted


def recovery_csv(entries: Iterable[Entry]) -> str:
    """Return the exact-recovery rates as CSV."""
    header = ["system", "snr_db", "search", "criterion", "exact", "runs", "rate", "low", "high"]
    return csv_text(header, [[entry[key] for key in header] for entry in entries])


def search_comparison_csv(entries: Iterable[Entry]) -> str:
    """Return the comparisons of searches as CSV."""
    header = ["system", "snr_db", "criterion", "a", "b", "n_a", "n_b", "median_a", "median_b"]
    header += ["p_value", "method", "p_holm", "a12", "magnitude"]
    return csv_text(header, [[entry[key] for key in header] for entry in entries])


def _groups(cells: Iterable[Cell]) -> list[list[Cell]]:
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        groups.setdefault(tuple(_problem(cell).values()), []).append(cell)
    return list(groups.values())


def _problem(cell: Cell) -> Entry:
    return {key: cell[key] for key in ("system", "snr_db", "criterion")}


def _place(cell: Cell) -> Entry:
    return {key: cell[key] for key in ("system", "snr_db", "criterion", "search")}


def _fitness(cell: Cell) -> list[float]:
    return [math.inf if value is None else value for value in cell["fitness"]]


def _best_known(group: Sequence[Cell]) -> float | None:
    return _finite(min(value for cell in group for value in _fitness(cell))) if _shared_data(group) else None


def _shared_data(group: Sequence[Cell]) -> bool:
    """Tell whether all runs saw the same data: otherwise their J have different optima."""
    return all(cell["realisations"] == 1 for cell in group)


def _gap_to_true(cell: Cell) -> float | None:
    """Return the median over the runs of J minus the J of the true structure on the data of the run."""
    true = cell["true_fitness"]
    if any(value is None for value in true):
        return None
    return _finite(statistics.median(j - t for j, t in zip(_fitness(cell), true, strict=True)))


def best_after(history: Entry, evaluation: int) -> float:
    """Return the best J of a run's history after this many evaluations."""
    index = bisect_right(history["evaluations"], evaluation)
    return history["fitness"][index - 1] if index else math.inf


def _evaluations_to(history: Entry, target: float | None) -> int | None:
    if target is None:
        return None
    steps = zip(history["evaluations"], history["fitness"], strict=True)
    return next((evaluation for evaluation, fitness in steps if _reaches(fitness, target)), None)


def _reaches(fitness: float, target: float) -> bool:
    return fitness <= target + TOLERANCE * abs(target)


def _doubled_ranks(values: Sequence[float]) -> tuple[list[int], list[int]]:
    """Return twice the mid-rank of each value, a whole number, and the sizes of the groups of equal values."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    ranks, ties = [0] * len(values), []
    first = 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for index in order[first : last + 1]:
            ranks[index] = first + last + 2
        ties.append(last - first + 1)
        first = last + 1
    return ranks, ties


def _ways(ranks: Sequence[int], chosen: int) -> NDArray[np.float64]:
    """Return in how many ways ``chosen`` of the ranks have each sum."""
    # Elementwise additions of positive numbers: the same on every processor, and no digits cancel.
    ways = np.zeros((chosen + 1, sum(ranks) + 1))
    ways[0, 0] = 1
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank].copy()
    row: NDArray[np.float64] = ways[chosen]
    return row


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _six_digits(value: float) -> float:
    # The last bits of the asymptotic p-value depend on the C library.
    return float(f"{value:.6g}")
