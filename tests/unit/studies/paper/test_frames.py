"""Reading summaries, the frames that are read off them, and the CSV form of frames."""

import json

import numpy as np
import pytest
from tests.unit.studies.paper.summaries import UNKNOWN, make_summary, published, true_structure

from narxbench._io.errors import NarxbenchError
from narxbench._studies.paper.frames import (
    KEY,
    SCHEMAS,
    conditions_frame,
    failures_frame,
    load_summaries,
    metrics_frame,
    selection_frame,
)

TERMS = true_structure("S1")[0]
HISTORIES = [[(2, -10.0), (100, -40.0)], [(1, -20.0), (201, -30.0)], [(1, -20.0)], [(4, -12.0), (400, -40.0)]]


def four_runs(**changes):
    """Return a summary of runs that choose the system terms; the second also a spurious one, the third not the last."""
    summary = make_summary(histories=HISTORIES, true=-50.0, **{"evaluations": 400, **changes})
    index = list(map(summary["candidates"].index, TERMS))
    summary["runs"]["structures"] = [index, [*index, summary["candidates"].index("u(k-2)")], index[:3], index[::-1]]
    summary["runs"]["evaluations"] = [400] * 4
    return summary


def test_a_condition_by_hand():
    condition = conditions_frame([four_runs()], published()).iloc[0]
    assert list(condition[KEY]) == ["S1", 50, 1, "baseline", "upso2d", "bic"]
    counts = ["runs", "evaluations", "n_terms", "spurious", "nu_max", "exact_runs", "cardinality"]
    assert list(condition[counts]) == [4, 400, 66, 1, 1, 2, 4]
    # Labels follow the paper: T4 is the last term of the equation.
    assert condition["nu"] == (4, 4, 4, 3)
    assert (condition["best_fitness"], condition["median_fitness"], condition["true_fitness"]) == (-40, -35, -50)
    assert condition["third_fitness"] == (-40 - 20 - 20 - 12) / 4
    assert condition["curve"] == (-15.5, -15.5, *[-23.0] * 3, *[-25.5] * 4, -32.5)
    assert condition["last_improvement"] == 150.5


def test_runs_that_found_nothing():
    summary = make_summary(histories=[[], [], []], true=None, counts=dict.fromkeys(make_summary()["candidates"], 0))
    condition = conditions_frame([summary], published()).iloc[0]
    assert condition[["best_fitness", "median_fitness", "true_fitness", "third_fitness"]].isna().all()
    assert np.isnan(condition["curve"]).all()
    assert (condition["spurious"], condition["nu_max"], condition["last_improvement"]) == (0, 0, 0)
    metrics = metrics_frame([summary], conditions_frame([summary], published()), 0.95).iloc[0]
    assert (metrics["worst_spurious_term"], metrics["r_low"], metrics["final_is_exact"]) == ("", 0, False)


def test_metrics_and_selection():
    summary = four_runs(final_structure=TERMS[::-1])
    metrics = metrics_frame([summary], conditions_frame([summary], published()), 0.95).iloc[0]
    assert metrics["r"] == pytest.approx(1 / 66)
    assert (metrics["nu_max"], metrics["worst_spurious_term"]) == (0.25, "u(k-2)")
    assert metrics["nu_max_low"] <= 0.25 <= metrics["nu_max_high"]
    assert metrics["final_is_exact"]
    selection = selection_frame([summary], published(), 0.95).set_index("term")
    assert list(selection.index) == summary["candidates"]
    assert selection.loc["u(k-1)^2", ["label", "system_term", "count", "frequency"]].to_list() == ["T4", True, 3, 0.75]
    assert selection.loc["u(k-2)", ["label", "system_term", "count", "frequency"]].to_list() == ["", False, 1, 0.25]
    assert selection["system_term"].sum() == 4


def test_summaries_are_read_in_the_given_order(tmp_path):
    summaries = [make_summary("S2", 37.5, runs=2), make_summary(UNKNOWN, runs=2)]
    paths = [tmp_path / "0.json", tmp_path / "1.json"]
    for path, summary in zip(paths, summaries, strict=True):
        path.write_text(json.dumps(summary), encoding="utf-8")
    assert load_summaries(paths) == summaries


def test_rates_leave_out_failed_runs(tmp_path):
    """Their counts and first reasons are a frame of their own."""
    failures = [{"seed": 2, "failure": "it hangs"}, {"seed": 3, "failure": "it crashes"}]
    some, everything = four_runs(failures=failures), four_runs(system="S2")
    everything["failures"] = [{"seed": seed, "failure": "it raises"} for seed in everything["seeds"]]
    paths = [tmp_path / "0.json", tmp_path / "1.json"]
    for path, summary in zip(paths, (some, everything), strict=True):
        path.write_text(json.dumps(summary), encoding="utf-8")
    (summary,) = load_summaries(paths)
    assert (summary["seeds"], len(summary["runs"]["structures"]), len(summary["true_fitness"])) == ([1, 4], 2, 2)
    condition = conditions_frame([summary], published()).iloc[0]
    # The second run chose a spurious term, the third not the last system term.
    assert list(condition[["runs", "exact_runs", "spurious"]]) == [2, 2, 0]
    assert condition["nu"] == (2, 2, 2, 2)
    frame = failures_frame(paths)
    assert frame[["system", "runs", "failed", "reason"]].values.tolist() == [
        ["S1", 4, 2, "it hangs"],
        ["S2", 4, 4, "it raises"],
    ]
    with pytest.raises(NarxbenchError, match=r"^all runs of the study have failed, that of seed 1 so: it raises$"):
        load_summaries(paths[1:])


ROW = dict(zip(SCHEMAS.columns["conditions"], conditions_frame([four_runs()], published()).iloc[0], strict=True))
