"""Predictions as a table."""

import numpy as np
import pandas as pd

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


def test_times_are_as_short_as_those_of_the_data():
    times = pd.Index([0.010029999999999999, 1764000000.25], name="time")
    assert times[0] != 0.01003
    assert without_rounding(times).tolist() == [0.01003, 1764000000.25]
    assert without_rounding(DATES) is DATES
