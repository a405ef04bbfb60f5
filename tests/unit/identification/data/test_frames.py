"""Frames and series of pandas, polars, pyarrow and xarray: the same samples, aligned on what they have in common."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr
from tests.readings import N, U, Y, check_refused, check_signals, lengths, notes, read

STAMPS = pd.date_range("2024-03-01", periods=N, freq="250ms")
FRAME = pd.DataFrame({"time": STAMPS, "u": U[:, 0], "v": U[:, 1], "y": Y})
X = FRAME[["u", "v"]].set_index(STAMPS)
OUTPUT = pd.Series(Y, STAMPS, name="y")
LABELS = np.repeat(np.arange(N // 2), 2)


COLUMNS = {"time": STAMPS.to_numpy(), "u": U[:, 0], "v": U[:, 1], "y": Y}
DATASET = xr.Dataset({name: ("time", FRAME[name]) for name in ("u", "v", "y")}, {"time": STAMPS})
FRAMES = {
    "pandas": FRAME,
    "an index of pandas": FRAME.set_index("time"),
    "polars": pl.DataFrame(COLUMNS),
    "polars, lazy": pl.DataFrame(COLUMNS).lazy(),
    "pyarrow": pa.table(COLUMNS),
    "pyarrow, in chunks": pa.concat_tables([pa.table(COLUMNS)[:20], pa.table(COLUMNS)[20:]]),
    "a dataset of xarray": DATASET,
    "an array of xarray": DATASET.to_array("signal").transpose("time", "signal"),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_of_every_library(name: str) -> None:
    recording = read(FRAMES[name], input=["u", "v"], output="y")
    check_signals(recording, 0.25)
    assert recording.records[0].name == "data"
    twice = read([FRAMES[name], FRAME[::-1].assign(time=STAMPS)], input=["u", "v"], output="y")
    assert lengths(twice) == [N, N]


def test_missing_values_and_truth_values_of_other_libraries() -> None:
    columns = {"u": [None if row == 20 else row for row in range(N)], "on": [True, False] * (N // 2)}
    for frame in (pl.DataFrame(columns), pa.table(columns)):
        recording = read(frame, input="on", output="u", bridge=0)
        assert lengths(recording) == [20, 29]
        assert recording.records[0].u[:3, 0].tolist() == [1, 0, 1]


def test_units_of_xarray() -> None:
    dataset = DATASET.copy()
    dataset["y"].attrs["units"] = "m/s"
    assert read(dataset, input=["u", "v"], output="y").units == {"y": "m/s"}
    check_refused("with the dimensions a, b; allowed: one", xr.Dataset({"y": (("a", "b"), U)}), output="y")


def test_an_index_is_the_time_if_it_is_one() -> None:
    signals = FRAME[["u", "v", "y"]]
    seconds = pd.Index(np.arange(N) / 4, name="t [s]")
    hours = pd.period_range("2024-03-01", periods=N, freq="h")
    for index, step in ((seconds, 0.25), (hours, 3600.0), (seconds.rename("k"), None)):
        frame = signals.set_index(index)
        check_signals(read(frame, input=["u", "v"], output="y"), step)
        check_signals(read(input=frame[["u", "v"]], output=frame["y"]), step)
    with_gap = signals.drop(index=range(20, 32)).set_index(hours.delete(range(20, 32)))
    assert lengths(read(with_gap, output="y", bridge=0)) == [20, 18]


WITH_INDEX = (pd.DataFrame, pd.Series, xr.Dataset, xr.DataArray)
PAIRS = [
    *((U, Y), (X, OUTPUT), (X, Y), (U, OUTPUT)),
    (pl.DataFrame({"u": U[:, 0], "v": U[:, 1]}), pl.Series("y", Y)),
    (pa.table({"u": U[:, 0], "v": U[:, 1]}), pa.array(Y)),
    (DATASET[["u", "v"]], DATASET["y"]),
    (DATASET[["u", "v"]].to_array("signal").T, DATASET["y"]),
]


@pytest.mark.parametrize(("inputs", "output"), PAIRS)
def test_pairs_of_inputs_and_output(inputs: Any, output: Any) -> None:
    have_index = [isinstance(values, WITH_INDEX) for values in (inputs, output)]
    recording = read(input=inputs, output=output)
    check_signals(recording, 0.25 if any(have_index) else None)
    check_signals(read(input=inputs, output=output, time=STAMPS), 0.25)
    # What has no index is joined by position, with a note.
    assert ("has no index, so that it was joined by position" in notes(recording)) == (len({*have_index}) == 2)


def test_series_in_another_order_are_aligned() -> None:
    recording = read(input=X, output=OUTPUT.sample(frac=1, random_state=1))
    check_signals(recording, 0.25, "data: output: the rows were put in the order of the index of the input")
    both = read(input=X, output=OUTPUT, test=(X[:20], (OUTPUT[:20] + 1)[::-1]))
    assert both.records[1].y.tolist() == (Y[:20] + 1).tolist()
    assert "test: output: the rows were put in the order" in notes(both)
    zoned = OUTPUT.tz_localize("UTC").tz_convert("Europe/Berlin")
    check_signals(read(input=X.tz_localize("UTC"), output=zoned), 0.25)
    check_signals(read(input=X.set_axis(LABELS), output=OUTPUT.set_axis(LABELS)), None)


PANEL = FRAME.set_index([np.arange(N) % 2, STAMPS])
OTHER_INDEX = r"data: output: found .* in the index, row \d+, which that of the input does not have; allowed: one index"
NO_TIME = r"time: found .*; allowed: an array of times, or a column"
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"input": X, "output": OUTPUT.shift(1, freq="250ms")}, OTHER_INDEX),
    ({"input": X, "output": OUTPUT.tz_localize("UTC")}, OTHER_INDEX),
    ({"input": X.tz_localize("Europe/Rome"), "output": OUTPUT.tz_localize("America/New_York")}, OTHER_INDEX),
    ({"input": X, "output": pd.Series(Y, range(1, N + 1))}, OTHER_INDEX),
    ({"input": X, "output": OUTPUT, "time": pd.Series(np.arange(N))}, r"data: time: found .* in the index"),
    ({"input": X.set_axis(LABELS), "output": OUTPUT.set_axis(LABELS)[::-1]}, "with labels that repeat"),
    ({"input": X, "output": OUTPUT[1:]}, "data: found columns of lengths u 50, v 50, y 49"),
    ({"input": X.set_axis(["u", "u"], axis=1), "output": OUTPUT}, "input: found 2 columns 'u'; allowed: each name"),
    ({"input": U.T, "output": Y}, r"data: input: found an array of shape \(2, 50\); allowed: \(50, 2\)"),
    ({"data": PANEL, "output": "y"}, "data: found an index of 2 levels; allowed: one: a list of frames"),
    ({"input": FRAME[["time", "u"]], "output": Y, "time": 20}, NO_TIME),
    ({"input": U, "output": Y, "time": -1}, NO_TIME),
    ({"input": FRAME[["time", "u"]], "output": Y, "time": "tim"}, r"1 'time', 2 'u' \(did you mean 'time'\?\)"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_what_does_not_fit_together_is_refused(arguments: dict[str, Any], message: str) -> None:
    check_refused(message, **arguments)


def test_the_time_is_a_column_of_the_inputs() -> None:
    time: Any
    for time in ("time", 1, "1", np.int64(1)):
        recording = read(input=FRAME[["time", "u", "v"]], output=FRAME["y"], time=time)
        check_signals(recording, 0.25)
        assert recording.inputs == ("u", "v")
    alone = read(input=FRAME[["time"]], output=FRAME["y"], time="time")
    assert alone.inputs == () and alone.sampling_time == 0.25
