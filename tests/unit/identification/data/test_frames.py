"""Frames and series of pandas, polars, pyarrow and xarray: the same samples, aligned on what they have in common."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr
from tests.readings import lengths, notes, read

from narxbench import NarxbenchError

N = 50
U = np.sin(np.arange(2.0 * N)).reshape(N, 2)
Y = np.cos(np.arange(N) ** 1.5)
STAMPS = pd.date_range("2024-03-01", periods=N, freq="250ms")
FRAME = pd.DataFrame({"time": STAMPS, "u": U[:, 0], "v": U[:, 1], "y": Y})
X = FRAME[["u", "v"]].set_index(STAMPS)
OUTPUT = pd.Series(Y, STAMPS, name="y")


def _assert_read(recording: Any, *words: str, sampling_time: float | None = 0.25) -> None:
    (record,) = recording.records
    assert (record.u.tobytes(), record.y.tobytes()) == (U.tobytes(), Y.tobytes())
    assert recording.sampling_time == sampling_time
    for text in words:
        assert text in notes(recording)


DATASET = xr.Dataset({name: ("time", FRAME[name]) for name in ("u", "v", "y")}, {"time": STAMPS})
FRAMES = {
    "pandas": FRAME,
    "an index of pandas": FRAME.set_index("time"),
    "polars": pl.DataFrame({name: FRAME[name].to_numpy() for name in FRAME}),
    "polars, lazy": pl.DataFrame({name: FRAME[name].to_numpy() for name in FRAME}).lazy(),
    "pyarrow": pa.table({name: FRAME[name].to_numpy() for name in FRAME}),
    "pyarrow, in chunks": pa.concat_tables([pa.table(FRAME[:20]), pa.table(FRAME[20:])]).select(
        ["time", "u", "v", "y"]
    ),
    "a dataset of xarray": DATASET,
    "an array of xarray": DATASET.to_array("signal").transpose("time", "signal"),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_of_every_library(name: str) -> None:
    recording = read(FRAMES[name], input=["u", "v"], output="y")
    _assert_read(recording)
    assert recording.records[0].name == "data"
    twice = read([FRAMES[name], FRAME[::-1].assign(time=STAMPS)], input=["u", "v"], output="y")
    assert lengths(twice) == [N, N]


def test_missing_values_and_truth_values_of_other_libraries() -> None:
    u = [None if row == 20 else row for row in range(N)]
    on = [row % 2 == 0 for row in range(N)]
    for frame in (pl.DataFrame({"u": u, "on": on}), pa.table({"u": u, "on": on})):
        recording = read(frame, input="on", output="u", bridge=0)
        assert lengths(recording) == [20, 29]
        assert recording.records[0].u[:3, 0].tolist() == [1, 0, 1]


def test_units_of_xarray() -> None:
    dataset = DATASET.copy()
    dataset["y"].attrs["units"] = "m/s"
    recording = read(dataset, input=["u", "v"], output="y")
    _assert_read(recording)
    assert recording.units == {"y": "m/s"}
    with pytest.raises(NarxbenchError, match=r"an xarray with the dimensions .*; allowed: one dimension"):
        read(xr.Dataset({"y": (("a", "b"), U)}), output="y")


def test_an_index_of_numbers_is_the_time_if_it_is_called_so() -> None:
    seconds = pd.Index(np.arange(N) / 4, name="t [s]")
    frame = FRAME[["u", "v", "y"]].set_index(seconds)
    _assert_read(read(frame, input=["u", "v"], output="y"), "time from column t (250 ms)")
    _assert_read(read(input=frame[["u", "v"]], output=frame["y"]), "time from column t (250 ms)")
    _assert_read(read(frame.rename_axis("k"), input=[1, 2], output=3), sampling_time=None)


def test_an_index_of_periods_is_the_time_and_shows_gaps() -> None:
    hours = FRAME[["u", "v", "y"]].set_index(pd.period_range("2024-03-01", periods=N, freq="h"))
    _assert_read(read(hours, input=["u", "v"], output="y"), sampling_time=3600.0)
    _assert_read(read(input=hours[["u", "v"]], output=hours["y"]), sampling_time=3600.0)
    with_gap = pd.concat([hours[:20], hours[32:]])
    assert lengths(read(with_gap, output="y", bridge=0)) == [20, 18]


def test_an_index_of_several_levels_is_refused() -> None:
    panel = FRAME.set_index([np.arange(N) % 2, STAMPS])
    for arguments in ({"data": panel, "output": "y"}, {"input": panel[["u"]], "output": panel["y"]}):
        with pytest.raises(NarxbenchError, match=r"data: found an index of 2 levels; allowed: one: a list of frames"):
            read(**arguments)


def test_inputs_in_rows_are_refused() -> None:
    with pytest.raises(NarxbenchError, match=r"data: input: found an array of shape \(2, 50\); allowed: \(50, 2\)"):
        read(input=U.T, output=Y)


WITH_INDEX = (pd.DataFrame, pd.Series, xr.Dataset, xr.DataArray)


@pytest.mark.parametrize(
    ("inputs", "output"),
    [
        (U, Y),
        (X, OUTPUT),
        (X, Y),
        (U, OUTPUT),
        (pl.DataFrame({"u": U[:, 0], "v": U[:, 1]}), pl.Series("y", Y)),
        (pa.table({"u": U[:, 0], "v": U[:, 1]}), pa.array(Y)),
        (DATASET[["u", "v"]], DATASET["y"]),
        (DATASET[["u", "v"]].to_array("signal").T, DATASET["y"]),
    ],
)
def test_pairs_of_inputs_and_output(inputs: Any, output: Any) -> None:
    for time in (None, STAMPS):
        recording = read(input=inputs, output=output, time=time)
        has_time = time is not None or any(isinstance(values, WITH_INDEX) for values in (inputs, output))
        _assert_read(recording, sampling_time=0.25 if has_time else None)


def test_series_in_another_order_are_aligned() -> None:
    for output in (OUTPUT[::-1], OUTPUT.sample(frac=1, random_state=1)):
        recording = read(input=X, output=output)
        _assert_read(recording, "data: output: the rows were put in the order of the index of the input")
    both = read(input=X, output=OUTPUT, test=(X[:20], (OUTPUT[:20] + 1)[::-1]))
    assert both.records[1].y.tolist() == (Y[:20] + 1).tolist()
    assert "test: output: the rows were put in the order" in notes(both)
    zoned = read(input=X.tz_localize("UTC"), output=OUTPUT.tz_localize("UTC").tz_convert("Europe/Berlin"))
    _assert_read(zoned)


OTHER_TIMES = {
    "between": OUTPUT.shift(1, freq="250ms"),
    "a zone": OUTPUT.tz_localize("UTC"),
    "numbers": OUTPUT.reset_index(drop=True),
    "counted from one": pd.Series(Y, range(1, N + 1)),
}


@pytest.mark.parametrize("name", OTHER_TIMES)
def test_series_of_other_times_are_refused(name: str) -> None:
    found = r"data: output: found .* in the index, row \d+, which that of the input does not have; allowed: one index"
    with pytest.raises(NarxbenchError, match=found):
        read(input=X, output=OTHER_TIMES[name])
    _assert_read(read(input=X, output=OTHER_TIMES[name].to_numpy()))


def test_series_in_other_zones_are_refused() -> None:
    new_york, rome = OUTPUT.tz_localize("America/New_York"), X.tz_localize("Europe/Rome")
    with pytest.raises(NarxbenchError, match=r"which that of the input does not have"):
        read(input=rome, output=new_york)
    with pytest.raises(NarxbenchError, match=r"data: time: found .* in the index"):
        read(input=X, output=OUTPUT, time=pd.Series(np.arange(N)))


def test_what_has_no_index_is_joined_by_position_with_a_note() -> None:
    for inputs, output, name in ((X, Y, "output"), (U, OUTPUT, "input")):
        _assert_read(read(input=inputs, output=output), f"data: {name} has no index, so that it was joined")
    for inputs, output in ((U, Y), (X, OUTPUT), (X.reset_index(drop=True), Y)):
        assert "by position" not in notes(read(input=inputs, output=output))


def test_inputs_of_one_name_are_refused() -> None:
    with pytest.raises(NarxbenchError, match=r"data: input: found 2 columns 'u'; allowed: each name once"):
        read(input=X.set_axis(["u", "u"], axis=1), output=OUTPUT)


def test_series_of_other_lengths_are_refused() -> None:
    with pytest.raises(NarxbenchError, match=r"data: found columns of lengths u 50, v 50, y 49"):
        read(input=X, output=OUTPUT[1:])


def test_labels_that_repeat_are_joined_in_their_order_alone() -> None:
    labels = np.repeat(np.arange(N // 2), 2)
    frame, series = pd.DataFrame(U, labels, ["u", "v"]), pd.Series(Y, labels, name="y")
    _assert_read(read(input=frame, output=series), sampling_time=None)
    with pytest.raises(NarxbenchError, match=r"with labels that repeat"):
        read(input=frame, output=series[::-1])


def test_the_time_is_a_column_of_the_inputs() -> None:
    time: Any
    for time in ("time", 1, "1", np.int64(1)):
        recording = read(input=FRAME[["time", "u", "v"]], output=FRAME["y"], time=time)
        _assert_read(recording)
        assert recording.inputs == ("u", "v")
        alone = read(input=FRAME[["time"]], output=FRAME["y"], time=time)
        assert alone.inputs == () and alone.sampling_time == 0.25


def test_a_time_that_is_no_column() -> None:
    time: Any
    for time in (20, 0, -1, ""):
        for inputs in (FRAME[["time", "u"]], U):
            with pytest.raises(NarxbenchError, match=r"time: found .*; allowed: an array of times, or a column"):
                read(input=inputs, output=FRAME["y"], time=time)
    with pytest.raises(NarxbenchError, match=r"a column of the inputs, 1 'time', 2 'u' \(did you mean 'time'\?\)"):
        read(input=FRAME[["time", "u"]], output=FRAME["y"], time="tim")
