"""Statistics over the runs, against values worked out by hand and against SciPy."""

import csv
import io
import math
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from cells import make_cell, write_cells
from scipy import stats
from scripts.statistics import write_statistics

from narxbench import statistics
from narxbench.analysis.agreement import holm
from narxbench.io.files import canonical_json
from narxbench.analysis.metrics import selection_frequency
from narxbench.report.tables import read_analysis

INF = math.inf


def small(
    search: str, histories: list[list[tuple[int, float]]], true: float | None = -10.0, **place: Any
) -> dict[str, Any]:
    """Return a cell of a few runs with the given improvements, under a budget of 100 evaluations."""
    cell = make_cell(search=search, runs=len(histories), **place)
    cell |= {"evaluations": 100, "exact_runs": 1, "fitness": [h[-1][1] if h else None for h in histories]}
    cell["true_structure"]["fitness"] = true
    cell["true_fitness"] = [true] * len(histories)
    cell["histories"] = [{"evaluations": [e for e, _ in h], "fitness": [j for _, j in h]} for h in histories]
    return cell


# Best J: -20 (a, third run). After five evaluations the runs stand at 0, 0, 80 and infinity, 80, 80.
A = small("upso2d", [[(1, 0.0), (40, -10.0)], [(2, 0.0), (30, -19.5)], [(5, 80.0), (90, -20.0)]])
B = small("ga", [[], [(1, 80.0)], [(3, 80.0), (60, -10.0)]])


@pytest.mark.parametrize(
    ("a", "b", "p"),
    [
        # Of C(4, 2) = 6 ways to deal the ranks, two are as extreme as {1, 2}; of 20, two as extreme as {1, 2, 3}.
        ([1.0, 2.0], [3.0, 4.0], 2 / 6),
        ([3.0, 4.0], [1.0, 2.0], 2 / 6),
        ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], 2 / 20),
        ([1.0, 4.0], [2.0, 3.0], 1.0),
        ([5.0, 5.0], [5.0, 5.0], 1.0),
        # Ranks 1, 2.5, 2.5, 4: the sums 3.5, 3.5, 5, 5, 6.5, 6.5 are 1.5 or 0 from their mean.
        ([1.0, 2.0], [2.0, 3.0], 4 / 6),
        # Runs without a finite structure share the last rank.
        ([1.0, 2.0], [INF, INF], 2 / 6),
        ([INF], [INF], 1.0),
    ],
)
def test_mann_whitney_by_hand(a: list[float], b: list[float], p: float) -> None:
    assert statistics.mann_whitney(a, b) == (pytest.approx(p, rel=1e-14), "exact")


def test_exact_mann_whitney_agrees_with_scipy() -> None:
    draw = random.Random(1)
    for n_a, n_b in ((3, 5), (8, 8), (12, 7), (40, 40)):
        a, b = [draw.random() for _ in range(n_a)], [draw.random() - 0.1 for _ in range(n_b)]
        expected = stats.mannwhitneyu(a, b, method="exact").pvalue
        assert statistics.mann_whitney(a, b)[0] == pytest.approx(expected, rel=1e-9)
    # With ties SciPy can go through all ways to deal the ranks; the distance from the mean is the statistic here.
    a, b = [1.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 3.0, 3.0]
    ranks = stats.rankdata(a + b)
    centre = 4 * ranks.mean()
    expected = stats.permutation_test(
        (ranks[:4], ranks[4:]), lambda x, _: abs(sum(x) - centre), alternative="greater", n_resamples=INF
    ).pvalue
    assert statistics.mann_whitney(a, b)[0] == pytest.approx(expected, rel=1e-12)


def test_asymptotic_mann_whitney_agrees_with_scipy() -> None:
    draw = random.Random(2)
    a, b = [float(draw.randrange(9)) for _ in range(80)], [float(draw.randrange(1, 10)) for _ in range(70)]
    p_value, method = statistics.mann_whitney(a, b)
    assert method == "asymptotic"
    assert p_value == pytest.approx(stats.mannwhitneyu(a, b, method="asymptotic").pvalue, rel=1e-9)
    assert statistics.mann_whitney([1.0] * 80, [1.0] * 80) == (1.0, "asymptotic")
    assert statistics.mann_whitney([1.0, 2.0] * 40, [1.0, 2.0] * 40)[0] == 1.0


def test_a12() -> None:
    # Of nine pairs a wins 1 < 2, 1 < 2, 1 < 3, 2 < 3 and ties 2 = 2 twice; its last run is the worst.
    assert statistics.a12([1, 2, 9], [2, 2, 3]) == Fraction(5, 9)
    assert statistics.a12([1.0], [2.0, INF]) == 1
    assert statistics.a12([INF], [INF, 1.0]) == Fraction(1, 4)
    a, b = [1.0, 4.0, 4.0, INF], [2.0, 4.0, 7.0]
    # SciPy counts the pairs in which the first is the larger.
    assert float(statistics.a12(a, b)) == stats.mannwhitneyu(b, a).statistic / 12


@pytest.mark.parametrize(
    ("effect", "name"),
    [
        ("0.5", "negligible"),
        ("0.5599", "negligible"),
        ("0.56", "small"),
        ("0.44", "small"),
        ("0.64", "medium"),
        ("0.2901", "medium"),
        ("0.29", "large"),
        ("1", "large"),
    ],
)
def test_magnitude(effect: str, name: str) -> None:
    assert statistics.magnitude(Fraction(effect)) == name


def test_holm() -> None:
    # In order .005 * 4, .01 * 3, .03 * 2, and .04 * 1 is raised to the one before.
    p_values = [0.01, 0.04, 0.03, 0.005]
    assert statistics.holm_adjusted(p_values) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert [p > 0.05 for p in statistics.holm_adjusted(p_values)] == holm(p_values)
    assert statistics.holm_adjusted([0.9, 0.8]) == [1.0, 1.0]
    assert statistics.holm_adjusted([]) == []


def test_comparisons() -> None:
    other = [small(search, [[(1, 1.0)], [(1, 2.0)]], snr_db=30) for search in ("upso2d", "ga")]
    first, second = statistics.comparisons([A, other[0], B, other[1]])
    # All of a's runs (-20, -19.5, -10) are better than b's (-10, 80, infinite) but for one tie: 8.5 of 9. Ranks of a:
    # 1, 2, 3.5; of 20 ways two are as far from the mean at either end.
    assert first == {
        "system": "S1",
        "snr_db": 50,
        "criterion": "bic",
        "a": "upso2d",
        "b": "ga",
        "n_a": 3,
        "n_b": 3,
        "median_a": -19.5,
        "median_b": 80.0,
        "p_value": 0.2,
        "method": "exact",
        "p_holm": 0.4,
        "a12": 8.5 / 9,
        "magnitude": "large",
    }
    assert (second["snr_db"], second["p_value"], second["p_holm"], second["a12"]) == (30, 1.0, 1.0, 0.5)
    assert second["magnitude"] == "negligible"
    assert statistics.comparisons([A]) == []
    third = small("wide", [[], []])
    pairs = [(entry["a"], entry["b"]) for entry in statistics.comparisons([A, B, third])]
    assert pairs == [("upso2d", "ga"), ("upso2d", "wide"), ("ga", "wide")]
    assert statistics.comparisons([A, third])[0]["median_b"] is None


def test_p_values_have_six_digits() -> None:
    a, b = (small(search, [[(1, float(i + shift))] for i in range(7)]) for search, shift in (("upso2d", 0), ("ga", 3)))
    entry = statistics.comparisons([a, b])[0]
    assert len(f"{entry['p_value']!r}".lstrip("0.")) <= 6
    assert entry["p_value"] == entry["p_holm"]


def test_recovery() -> None:
    expected = selection_frequency(1, 3)
    assert statistics.recovery([A]) == [
        {
            "system": "S1",
            "snr_db": 50,
            "search": "upso2d",
            "criterion": "bic",
            "exact": 1,
            "runs": 3,
            "rate": 1 / 3,
            "low": expected.low,
            "high": expected.high,
        }
    ]
    interval = stats.binomtest(1, 3).proportion_ci(0.95, "wilson")
    assert (expected.low, expected.high) == pytest.approx((interval.low, interval.high), rel=1e-9)


def test_run_length() -> None:
    found = {(e["search"], e["target_name"]): e for e in statistics.run_length([A, B])}
    assert {key: (entry["target"], entry["evaluations"]) for key, entry in found.items()} == {
        ("upso2d", "true structure's J"): (-10.0, [30, 40, 90]),
        ("upso2d", "best known J"): (-20.0, [90]),
        # The runs stand at 0, 0, 80, 80, 80 and infinity after 5 of 100 evaluations: median 80, 1 % of 100 is 1.
        ("upso2d", "best known J + 1 % of the range"): (-19.0, [30, 90]),
        ("upso2d", "median final J of GA"): (80.0, [1, 2, 5]),
        ("ga", "true structure's J"): (-10.0, [60]),
        ("ga", "best known J"): (-20.0, []),
        ("ga", "best known J + 1 % of the range"): (-19.0, []),
        ("ga", "median final J of 2D-UPSO"): (-19.5, []),
    }
    assert {entry["runs"] for entry in found.values()} == {3}


def test_run_length_allows_for_rounding() -> None:
    near = small("upso2d", [[(7, -10.0 * (1 - 0.9e-9))], [(8, -10.0 * (1 - 1.1e-9))]])
    entry = statistics.run_length([near])[0]
    assert (entry["target_name"], entry["evaluations"]) == ("true structure's J", [7])


def test_targets_that_do_not_exist() -> None:
    found = statistics.run_length([small("upso2d", [[], []], true=None), small("ga", [[], []], true=None)])
    assert [(entry["target"], entry["evaluations"]) for entry in found] == [(None, [])] * 8
    # All runs found a structure, but none within 5 % of the budget.
    late = statistics.run_length([small("upso2d", [[(50, 1.0)]])])
    assert [entry["target"] for entry in late] == [-10.0, 1.0, None]


def test_budget() -> None:
    entry = statistics.budget([A])[0]
    assert entry["evaluations"] == [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
    assert entry["median"] == [0.0, 0.0, 0.0, -10.0, -10.0, -10.0, -10.0, -10.0, -19.5, -19.5]
    assert entry["low"] == [0.0, 0.0, -19.5, -19.5, -19.5, -19.5, -19.5, -19.5, -20.0, -20.0]
    assert entry["high"] == [80.0, 80.0, 80.0, 80.0, 80.0, 80.0, 80.0, 80.0, -10.0, -10.0]
    assert statistics.budget([B])[0]["high"] == [None] * 10
    assert statistics.budget([A | {"evaluations": 15}])[0]["evaluations"] == [2, 3, 5, 6, 8, 9, 11, 12, 14, 15]


def test_gaps() -> None:
    a, b = statistics.gaps([A, B])
    assert {key: a[key] for key in list(a)[4:]} == {
        "best_known": -20.0,
        "true_structure": -10.0,
        "median_gap_to_best": 0.5,
        "median_gap_to_true": -9.5,
        "criterion_failure": True,
        "search_failure_rate": 2 / 3,
    }
    assert (b["median_gap_to_best"], b["median_gap_to_true"], b["search_failure_rate"]) == (100.0, 90.0, 1.0)
    assert statistics.gaps([small("upso2d", [[(1, -10.0 * (1 + 0.9e-9))]])])[0]["criterion_failure"] is False
    assert statistics.gaps([small("upso2d", [[(1, -5.0)]])])[0]["criterion_failure"] is False


def test_gaps_of_runs_on_data_of_their_own() -> None:
    cell = small("upso2d", [[(1, -5.0)], [(1, -20.0)], [(1, 3.0)]])
    cell |= {"realisations": 3, "true_fitness": [-6.0, -30.0, 0.0]}
    found = statistics.gaps([cell])[0]
    assert list(found.values())[4:] == [None, -10.0, None, 3.0, None, None]
    assert all(entry["target"] is None for entry in statistics.run_length([cell]))


def test_gaps_that_do_not_exist() -> None:
    nothing = statistics.gaps([small("upso2d", [[], []])])[0]
    assert list(nothing.values())[4:] == [None, -10.0, None, None, None, None]
    unknown = statistics.gaps([small("upso2d", [[(1, 1.0)], []], true=None)])[0]
    assert list(unknown.values())[4:] == [1.0, None, None, None, None, 0.5]


def test_files(tmp_path: Path) -> None:
    paths = [str(path) for path in write_cells([A, B], tmp_path)]
    outputs = [tmp_path / name for name in ("statistics.json", "recovery.csv", "search_comparison.csv")]
    write_statistics(paths, *map(str, outputs))
    found = read_analysis(outputs[0], paths)
    assert {name: len(entries) for name, entries in found.items()} == {
        "comparisons": 1,
        "recovery": 2,
        "run_length": 8,
        "budget": 2,
        "gaps": 2,
    }
    assert canonical_json(found) == canonical_json(statistics.analyse([A, B]))
    for path, entries in zip(outputs[1:], (found["recovery"], found["comparisons"]), strict=True):
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
        assert [{key: str(value) for key, value in entry.items()} for entry in entries] == rows
    empty = statistics.search_comparison_csv([])
    assert empty.count("\n") == 1
