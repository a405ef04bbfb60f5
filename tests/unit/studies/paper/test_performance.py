"""Statistics over a few runs whose improvements are easy to follow by hand."""

import math

from tests.unit.studies.paper.summaries import make_summary

from narxbench._studies.paper import performance
from narxbench._studies.paper.frames import runs_frame


def small(method, histories, true=-10.0, **changes):
    """Return a summary of a few runs under a budget of 100 evaluations."""
    summary = make_summary(method=method, histories=histories, true=true, **{"evaluations": 100, **changes})
    summary["runs"]["evaluations"] = [summary["evaluations"]] * len(histories)
    return summary


# Best J: -20 (a, third run). After five evaluations the runs stand at 0, 0, 80 and infinity, 80, 80.
A = small("upso2d", [[(1, 0.0), (40, -10.0)], [(2, 0.0), (30, -19.5)], [(5, 80.0), (90, -20.0)]])
B = small("ga", [[], [(1, 80.0)], [(3, 80.0), (60, -10.0)]])


def gaps_of(*summaries):
    gaps = performance.gaps(runs_frame(summaries))
    return gaps[gaps.columns[6:]].astype(object).where(gaps.notna(), None).to_numpy().tolist()


def test_convergence():
    histories = [[(2, -10.0), (100, -40.0)], [(1, -20.0), (201, -30.0)], [(1, -20.0)], [(4, -12.0), (400, -40.0)]]
    curve = performance.convergence(runs_frame([small("upso2d", histories, evaluations=400)]))
    at = curve.set_index("evaluations")[["median", "low", "high"]].T
    # The last run has no finite J before its fourth evaluation.
    assert list(at[2]) == [-15, -20, -10]
    assert list(at[4]) == [-16, -20, -12]
    assert (at[100]["median"], at[200]["median"], at[202]["median"]) == (-20, -20, -25)
    assert list(at[400]) == [-35, -40, -30]
    mean = curve.set_index("evaluations")["mean"]
    assert (mean[4], mean[400]) == (-15.5, -32.5) and math.isnan(mean[2])
    assert performance.convergence(runs_frame([small("upso2d", [[], []])]))["median"].isna().all()


def test_gaps():
    # Best known, true structure, median gaps to the best and to the true, criterion failure, search failures.
    a, b = gaps_of(A, B)
    assert a == [-20.0, -10.0, 0.5, -9.5, True, 2 / 3]
    assert b == [-20.0, -10.0, 100.0, 90.0, True, 1.0]
    assert gaps_of(small("upso2d", [[(1, -10.0 * (1 + 0.9e-9))]]))[0][4] is False
    # The true structure is known too, and no run reaches its J.
    assert gaps_of(small("upso2d", [[(1, -5.0)], [(2, -7.0)]])) == [[-10.0, -10.0, 4.0, 4.0, False, 1.0]]


def test_gaps_of_runs_on_data_of_their_own():
    histories = [[(1, -5.0)], [(1, -20.0)], [(1, 3.0)]]
    summary = small("upso2d", histories, realisations=3, true_fitness=[-6.0, -30.0, 0.0])
    assert gaps_of(summary) == [[None, -10.0, None, 3.0, None, None]]


def test_gaps_that_do_not_exist():
    assert gaps_of(small("upso2d", [[], []])) == [[-10.0, -10.0, None, None, False, 1.0]]
    assert gaps_of(small("upso2d", [[], []], true=None)) == [[None, None, None, None, None, None]]
    assert gaps_of(small("upso2d", [[(1, 1.0)], []], true=None)) == [[1.0, None, None, None, None, 0.5]]
