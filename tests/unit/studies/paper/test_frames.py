"""The frames of a run: what is read off its summaries, and published next to reproduced values."""

import json
import math

import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from tests.unit.studies.paper.runs import PUBLISHED, Run
from tests.unit.studies.paper.summaries import make_summary, true_structure
from tests.unit.studies.steps import step

from narxbench import NarxbenchError

TERMS = true_structure("S1")[0]
HISTORIES = [[(2, -10.0), (100, -40.0)], [(1, -20.0), (201, -30.0)], [(1, -20.0)], [(4, -12.0), (400, -40.0)]]
NOTHING = dict.fromkeys(make_summary()["candidates"], 0)


def four_runs(**changes):
    """Return a summary of runs that choose the system terms; the second also a spurious one, the third not the last."""
    summary = make_summary(histories=HISTORIES, true=-50.0, **{"evaluations": 400, **changes})
    index = list(map(summary["candidates"].index, TERMS))
    summary["structures"] = [index, [*index, summary["candidates"].index("u(k-2)")], index[:3], index[::-1]]
    summary["spent"] = [400] * 4
    return summary


@pytest.fixture
def frames_of(tmp_path):
    """Return a function that returns the frames of some summaries."""

    def frames(*summaries):
        run = Run(tmp_path, summaries)
        return {name: pd.read_csv(path) for name, path in run.frames.items()}

    return frames


def test_a_condition_by_hand(frames_of):
    frames = frames_of(four_runs(final_structure=TERMS[::-1]))
    condition, metrics = frames["conditions"].iloc[0], frames["metrics"].iloc[0]
    assert list(condition.iloc[:6]) == ["S1", 50, 1, "baseline", "upso2d", "bic"]
    counts = ["runs", "evaluations", "n_terms", "spurious", "nu_max", "exact_runs", "cardinality"]
    assert list(condition[counts]) == [4, 400, 66, 1, 1, 2, 4]
    # Labels follow the paper: T4 is the last term of the equation.
    assert condition["nu"] == "4;4;4;3"
    assert (condition["best_fitness"], condition["median_fitness"], condition["true_fitness"]) == (-40, -35, -50)
    assert condition["third_fitness"] == (-40 - 20 - 20 - 12) / 4
    course = [-15.5, -15.5, *[-23.0] * 3, *[-25.5] * 4, -32.5]
    assert list(map(float, condition["curve"].split(";"))) == course and condition["last_improvement"] == 150.5
    assert (metrics["r"], metrics["nu_max"]) == (pytest.approx(1 / 66), 0.25)
    assert metrics["worst_spurious_term"] == "u(k-2)" and metrics["final_is_exact"]
    assert metrics["nu_max_low"] <= 0.25 <= metrics["nu_max_high"]


def test_selection_and_convergence_by_hand(frames_of):
    frames = frames_of(four_runs(final_structure=TERMS[::-1]))
    selection = frames["selection"].set_index("term")
    shown = ["system_term", "count", "frequency"]
    assert list(selection.loc["u(k-1)^2", shown]) == [True, 3, 0.75]
    assert list(selection.loc["u(k-2)", shown]) == [False, 1, 0.25]
    assert (len(selection), selection["system_term"].sum()) == (66, 4)
    mean = frames["convergence"].set_index("evaluations")["mean"]
    # The last run has no finite J before its fourth evaluation.
    assert math.isnan(mean[2]) and (mean[4], mean[100], mean[202], mean[400]) == (-15.5, -23.0, -25.5, -32.5)


def test_runs_that_found_nothing_and_few_evaluations(frames_of):
    summary = make_summary(histories=[[], [(1, -1.0)]], true=None, counts=NOTHING, evaluations=100)
    summary["spent"] = [100] * 2
    frames = frames_of(summary)
    condition, metrics = frames["conditions"].iloc[0], frames["metrics"].iloc[0]
    assert condition[["median_fitness", "true_fitness", "third_fitness"]].isna().all()
    assert (condition["spurious"], condition["nu_max"], condition["last_improvement"]) == (0, 0, 0.5)
    assert pd.isna(metrics["worst_spurious_term"]) and metrics["r_low"] == 0 and not metrics["final_is_exact"]
    # Each of the evaluations is shown once.
    curve = frames["convergence"]
    assert list(curve["evaluations"]) == list(range(1, 101)) and curve["mean"].isna().all()


def test_rates_leave_out_failed_runs(tmp_path, frames_of):
    failures = {"2": "it hangs", "3": "it crashes"}
    lost = four_runs(system="S2") | {"failures": dict.fromkeys("1234", "it raises")}
    condition = frames_of(four_runs(failures=failures), lost)["conditions"].iloc[0]
    # The second run chose a spurious term, the third not the last system term.
    assert list(condition[["system", "runs", "exact_runs", "spurious", "nu"]]) == ["S1", 2, 2, 0, "2;2;2;2"]
    with pytest.raises(NarxbenchError, match=r"^all runs of the study have failed, that of seed 1 so: it raises$"):
        frames_of(lost)
    path = tmp_path / "0.json"
    path.write_text(json.dumps(make_summary(snr_db=37.5)))
    # The study of interpretations has the frame of the conditions alone.
    step("analyse", input={**PUBLISHED, "summaries": [str(path)]}, output={"conditions": tmp_path / "alone.csv"})
    assert pd.read_csv(tmp_path / "alone.csv")["snr_db"].tolist() == [37.5]


def test_a_selection_frequency_is_judged_by_its_counts_and_holm_covers_every_value_once(frames_of):
    # Published: 0.98 of 40 runs, which is 39.
    values = frames_of(make_summary("S2", counts={"y(k-1)": 20}))["agreement_values"].dropna(subset="method")
    row = values[values["label"] == "T2"].iloc[0]
    assert (row["published"], row["reproduced"], row["difference"], row["term"]) == (0.98, 0.5, -0.48, "y(k-1)")
    assert row["p_value"] == pytest.approx(stats.fisher_exact([[39, 1], [20, 20]]).pvalue, rel=1e-5)
    assert row["different"]
    # Two tables print the values of S4 under BIC; both lines tell the verdict of one test in 25.
    values = frames_of(make_summary("S4"))["agreement_values"].dropna(subset="method")
    once = values.drop_duplicates(["metric", "label"])
    verdict = list(multipletests(once["p_value"], 0.05, "holm")[0])
    assert list(values["different"]) == [*verdict, *verdict] and 0 < sum(verdict) < 25


def test_missing_conditions_and_further_methods(frames_of):
    alone = frames_of(make_summary())
    values, overview = alone["agreement_values"], alone["agreement"]
    missing = values[values["method"].isna()]
    shown = ["reproduced", "low", "p_value", "deviance", "different", "data_seed"]
    assert missing[shown].isna().all(axis=None) and len(missing) == 804
    assert overview.loc[[0, 1], ["compared", "missing"]].to_numpy().tolist() == [[6, 84], [0, 105]]
    assert overview.loc[1, ["bias_nu", "bias_r", "bias_nu_max"]].isna().all()
    assert overview.iloc[-1][["table", "compared", "missing"]].to_list() == ["all", 6, 729]
    both = frames_of(make_summary(method="bounded", algorithm="upso2d"), make_summary())
    assert both["agreement_values"]["method"].value_counts().to_dict() == {"upso2d": 6, "bounded": 6}
    # The overview counts each published value once: by the method of the algorithm's name, with the same verdicts.
    pd.testing.assert_frame_equal(both["agreement"], overview)
