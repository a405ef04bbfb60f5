"""The mean course of a few runs whose improvements are easy to follow by hand."""

import math

from tests.unit.studies.paper.summaries import make_summary

from narxbench._studies.paper.convergence import convergence


def small(histories, evaluations):
    """Return a summary of a few runs that spend all of their evaluations."""
    summary = make_summary(histories=histories, evaluations=evaluations)
    summary["runs"]["evaluations"] = [evaluations] * len(histories)
    return summary


def test_the_mean_over_the_runs_is_missing_until_each_has_a_finite_j():
    histories = [[(2, -10.0), (100, -40.0)], [(1, -20.0), (201, -30.0)], [(1, -20.0)], [(4, -12.0), (400, -40.0)]]
    mean = convergence([small(histories, 400)]).set_index("evaluations")["mean"]
    # The last run has no finite J before its fourth evaluation.
    assert math.isnan(mean[2]) and (mean[4], mean[400]) == (-15.5, -32.5)
    assert (mean[100], mean[202]) == (-23.0, -25.5)


def test_fewer_evaluations_than_points_are_each_shown_once():
    curve = convergence([small([[(1, -1.0)], []], 100)])
    assert list(curve["evaluations"]) == list(range(1, 101)) and curve["mean"].isna().all()
