"""Predictions as a table."""

import io

import numpy as np
import pandas as pd
import pytest

from narxbench._cli import main
from narxbench._io.errors import FieldError, NarxbenchError
from narxbench._model.narx import Model
from narxbench._report.predictions import predictions, without_rounding

MODEL = Model(("y(k-1)", "u(k-1)"), (0.5, 1.0), ("u",), "y")
U = np.sin(np.arange(40) ** 1.5)
Y = MODEL.predict(U, [0.0])
DATES = pd.date_range("2026-03-01", periods=40, freq="10min")


def test_rows_have_the_times_of_the_data():
    frame = predictions(MODEL, {"time [ms]": 10.0 * np.arange(40), "u": U, "y": Y})
    assert [*frame] == ["record", "sample", "time", "measured", "predicted"]
    assert frame["time"].tolist() == [k / 100 for k in range(40)]
    newest_first = pd.DataFrame({"u": U, "y": Y}, DATES)[::-1]
    frame = predictions(MODEL, newest_first)
    assert frame["time"].tolist() == DATES.tolist() and frame["sample"].tolist() == list(range(1, 41))
    np.testing.assert_array_equal(frame["predicted"], Y)
    assert [*predictions(MODEL, {"u": U, "y": Y})] == ["record", "sample", "measured", "predicted"]


SECOND_ORDER = Model(("y(k-1)", "y(k-2)", "u(k-1)"), (0.5, 0.2, 1.0), ("u",), "y")
FIRST = [0.3, -0.1]
RUN = SECOND_ORDER.predict(U, FIRST)
BAND = {"steps": [1], "half_widths": {"0.9": [0.1]}, "free_run": {"0.9": 0.25}}


def planned(n_known: int, samples: int = 40) -> pd.DataFrame:
    """Return inputs, and an output of which the first values are known."""
    y = np.where(np.arange(samples) < n_known, RUN[:samples], np.nan)
    return pd.DataFrame({"u": U[:samples], "y": y}, DATES[:samples])


@pytest.mark.parametrize("samples", [4, 40])
@pytest.mark.parametrize("n_known", [2, 3])
def test_a_planned_run_goes_on_from_its_first_outputs(n_known, samples):
    frame = predictions(SECOND_ORDER, planned(n_known, samples))
    np.testing.assert_array_equal(frame["predicted"], RUN[:samples])
    assert frame["measured"].notna().sum() == n_known
    assert frame["time"].tolist() == DATES[:samples].tolist()
    # What a user of the library does with the same frame.
    data = planned(n_known, samples)
    np.testing.assert_array_equal(SECOND_ORDER.predict(data[["u"]], data["y"]), RUN[:samples])


@pytest.mark.parametrize("data", [planned(0), planned(0)[["u"]]], ids=["empty column", "no column"])
def test_first_outputs_may_be_given_apart(data):
    frame = predictions(SECOND_ORDER, data, y_initial=FIRST)
    pd.testing.assert_frame_equal(frame, predictions(SECOND_ORDER, planned(2)))
    # Outputs after those that the run begins from change nothing of it.
    further = predictions(SECOND_ORDER, data, y_initial=[*FIRST, 9.0])
    pd.testing.assert_series_equal(further["predicted"], frame["predicted"])


def test_each_run_has_its_first_outputs():
    frame = predictions(SECOND_ORDER, [planned(2), planned(40), planned(5, 20)])
    for name, samples in (("data 1", 40), ("data 2", 40), ("data 3", 20)):
        np.testing.assert_array_equal(frame.loc[frame["record"] == name, "predicted"], RUN[:samples])
    several = predictions(SECOND_ORDER, [planned(0), planned(0, 20)], y_initial=FIRST)
    assert several["record"].value_counts().to_dict() == {"data 1": 40, "data 2": 20}


def test_a_run_goes_on_after_measured_outputs_and_their_gaps():
    data = planned(20)
    data.iloc[8:10, 1] = np.nan
    for steps in (None, 3):
        frame = predictions(SECOND_ORDER, data, steps)
        np.testing.assert_allclose(frame["predicted"], RUN, atol=1e-12)
    # Inputs may end before the file does; a gap of theirs is refused.
    data.iloc[38:, 0] = np.nan
    assert len(predictions(SECOND_ORDER, data)) == 38
    data.iloc[25:, 0] = np.where(np.arange(25, 40) < 38, np.nan, 1.0)
    with pytest.raises(NarxbenchError, match="a planned run without a gap up to row 25 alone; allowed: all inputs"):
        predictions(SECOND_ORDER, data)


def test_a_planned_run_has_the_band_of_the_free_run():
    model = Model(**{**vars(SECOND_ORDER), "about": {"forecast_errors": BAND}})
    frame = predictions(model, planned(2))
    assert [*frame] == ["record", "sample", "time", "measured", "predicted", "lower", "upper"]
    np.testing.assert_allclose(frame["upper"] - frame["predicted"], [np.nan] * 2 + [0.25] * 38)
    np.testing.assert_allclose(frame["predicted"] - frame["lower"], [np.nan] * 2 + [0.25] * 38)
    for without in (predictions(model, planned(40)), predictions(model, planned(2), 1)):
        assert [*without] == ["record", "sample", "time", "measured", "predicted"]


@pytest.mark.parametrize(
    ("model", "data", "arguments", "field", "words"),
    [
        (SECOND_ORDER, planned(1), {}, "initial", "1 output at the start of column y; needed: the first 2 outputs"),
        (SECOND_ORDER, planned(0), {}, "initial", "0 outputs at the start of column y; needed: the first 2 outputs"),
        (SECOND_ORDER, planned(0)[["u"]], {}, "output", "initial values give the first 2 outputs"),
        (SECOND_ORDER, planned(0), {"y_initial": [1.0]}, "initial", "found 1 output; needed: the first 2 outputs"),
        (SECOND_ORDER, planned(0), {"y_initial": ["x", 1]}, "initial", "needed: the first 2 outputs"),
        (SECOND_ORDER, planned(2), {"y_initial": FIRST, "output": "y"}, "initial", "next to the output"),
        (SECOND_ORDER, planned(2), {"y_initial": FIRST}, "initial", "next to numbers in column y"),
        (Model(("y(k-45)", "u(k-1)"), (0.5, 1.0), ("u",), "y"), planned(40), {}, "data", "of more than 45 samples"),
        (Model(("y(k-1)",), (0.5,), (), "y"), planned(1), {"y_initial": [1.0]}, "initial", "forecast"),
    ],
)
def test_what_a_planned_run_lacks_is_named_in_a_line(model, data, arguments, field, words):
    with pytest.raises(FieldError) as refused:
        predictions(model, data, **arguments)
    assert refused.value.field == field
    assert words in str(refused.value) and "\n" not in str(refused.value)


def test_the_command_predicts_a_planned_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    SECOND_ORDER.save("model.json")
    planned(2).to_csv("known.csv", index=False)
    planned(0)[["u"]].to_csv("inputs.csv", index=False)
    for words in (["known.csv"], ["inputs.csv", "--initial", "0.3,-0.1"]):
        assert main(["predict", "model.json", *words]) == 0
        table = pd.read_csv(io.StringIO(capsys.readouterr().out))
        np.testing.assert_allclose(table["predicted"], RUN, rtol=1e-12)
    assert main(["predict", "model.json", "inputs.csv", "--initial", "0.3"]) == 2
    assert capsys.readouterr().err == "narxbench: --initial: found 1 output; needed: the first 2 outputs of the run\n"
    assert main(["predict", "model.json", "inputs.csv"]) == 2
    assert "inputs.csv: --output: found no column 'y'" in capsys.readouterr().err


def test_times_are_as_short_as_those_of_the_data():
    times = pd.Index([0.010029999999999999, 1764000000.25], name="time")
    assert times[0] != 0.01003
    assert without_rounding(times).tolist() == [0.01003, 1764000000.25]
    assert without_rounding(DATES) is DATES
