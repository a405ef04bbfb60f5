"""Measured data become records: the same from files, frames and arrays, cut at gaps, and mistakes in one line."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.lookups import names_of

from narxbench._identification.data.experiments import LEAST_SAMPLES
from narxbench._identification.data.reading import read_recording
from narxbench._io.errors import FieldError, NarxbenchError
from narxbench._model.records import Recording

N = 60
U = np.sin(np.arange(2.0 * N)).reshape(N, 2)
Y = np.cos(np.arange(N) ** 1.5)
T = np.round(5 + 0.02 * np.arange(N), 2)
FRAME = pd.DataFrame({"time": T, "in": U[:, 0], "out": Y, "in2": U[:, 1]})
SECONDS = pd.date_range("2024-05-31 12:00:00", periods=N, freq="1s")


def _file(folder: Path, frame: pd.DataFrame = FRAME, name: str = "a.csv", **form: Any) -> Path:
    path = folder / name
    frame.to_csv(path, **{"index": False} | form)
    return path


def _names_and_roles(recording: Recording) -> list[tuple[str, str | None]]:
    return [(record.name, record.role) for record in recording.records]


def _names(recording: Recording) -> list[str]:
    return names_of(recording.records)


def _lengths(recording: Recording) -> list[int]:
    return list(map(len, recording.records))


def _notes(recording: Recording) -> str:
    return " ".join(recording.notes)


def test_files_frames_mappings_and_arrays_are_read_alike(tmp_path: Path) -> None:
    by_name: dict[str, Any] = {"input": ["in", "in2"], "output": "out"}
    by_number: dict[str, Any] = {"input": np.array([2, 4]), "output": np.int64(3)}
    recordings = [
        read_recording(_file(tmp_path), **by_name),
        read_recording(str(tmp_path / "a.csv"), input="in, in2", output="out"),
        read_recording(tmp_path / "a.csv", input="2,4", output="3"),
        read_recording(_file(tmp_path, name="b", sep=";", decimal=",", header=False), time=1, **by_number),
        read_recording(FRAME, **by_name),
        read_recording(FRAME.astype(object), **by_number),
        read_recording({name: FRAME[[name]].to_numpy() for name in FRAME}, **by_name),
        read_recording(input=U.tolist(), output=Y[:, None], time=T),
        read_recording(input=pd.DataFrame(U), output=pd.Series(Y), sampling_time=np.float64(0.02)),
    ]
    for recording in recordings:
        (record,) = recording.records
        assert (record.u.tobytes(), record.y.tobytes(), record.role) == (U.tobytes(), Y.tobytes(), None)
        assert recording.sampling_time == 0.02
    assert [*map(_names, recordings[2:5])] == [["a.csv"], ["b"], ["data"]]
    assert (recordings[0].inputs, recordings[0].output) == (("in", "in2"), "out")
    assert (recordings[3].inputs, recordings[3].output) == (("column 2", "column 4"), "column 3")
    assert (recordings[7].inputs, recordings[7].output) == (("u1", "u2"), "y")


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8, "Int64", "Float32"])
def test_all_types_of_numbers(dtype: Any) -> None:
    values = pd.Series(np.arange(N), dtype=dtype)
    (record,) = read_recording({"u": values, "y": values}, input="u", output="y").records
    assert record.u[:, 0].tobytes() == record.y.tobytes() == np.arange(float(N)).tobytes()


@given(
    missing=st.lists(st.tuples(st.integers(0, 99), st.integers(0, 1)), max_size=12),
    jumps=st.sets(st.integers(1, 99), max_size=8),
)
@settings(max_examples=100, deadline=None)
def test_pieces_are_the_runs_without_gaps(missing: list[tuple[int, int]], jumps: set[int]) -> None:
    steps = np.ones(100)
    steps[list(jumps)] = 3.0
    columns = np.arange(200.0).reshape(100, 2)
    for row, column in missing:
        columns[row, column] = np.nan
    runs = _runs_without_gaps(columns, jumps)
    assume(runs)
    data = {"t": np.cumsum(steps), "u": columns[:, 0], "y": columns[:, 1]}
    recording = read_recording(data, input="u", output="y", bridge=0)
    for record, run in zip(recording.records, runs, strict=True):
        assert (record.y // 2).tolist() == run
        assert record.name == ("data" if len(run) == 100 else f"data, samples {run[0] + 1} to {run[-1] + 1}")
    assert recording.sampling_time == 1 and ("missing" in _notes(recording)) == bool(missing)


def _runs_without_gaps(columns: Any, jumps: set[int]) -> list[list[int]]:
    """Return the rows of each run that is long enough, found by one row after the other."""
    runs: list[list[int]] = [[]]
    for row, values in enumerate(columns):
        is_missing = np.isnan(values).any()
        if row in jumps or is_missing:
            runs.append([])
        if not is_missing:
            runs[-1].append(row)
    return [run for run in runs if len(run) >= LEAST_SAMPLES]


def test_gaps_are_noted_by_line(tmp_path: Path) -> None:
    frame = FRAME.astype({"in": object})
    frame.loc[[11, 30], "in"] = ["N/A", ""]
    frame.loc[45:, "time"] += 1
    recording = read_recording(_file(tmp_path, frame), input="in", output="out")
    assert _lengths(recording) == [11, 18, 14, 15]
    text = _notes(recording)
    for words in ("2 rows with missing values", "lines 13, 32.", "the time jumps once", "line 47."):
        assert words in text


def _timed(times: Any, name: str = "time", **options: Any) -> Any:
    data = {name: times, "u": U[: len(times), 0], "y": Y[: len(times)]}
    return read_recording(data, input="u", output="y", **options)


@pytest.mark.parametrize(
    ("name", "times", "expected"),
    [
        ("Time [ms]", 2.5 * np.arange(N), 0.0025),
        ("t/s", 2.5 * np.arange(N), 2.5),
        ("time_us", np.arange(N), 1e-6),
        ("Zeit (min)", np.arange(N), 60),
        ("timestamp", 1.7e9 + 0.01 * np.arange(N), 0.01),
        ("sampling_time", np.round(np.arange(N) / 60, 2), 1 / 60),  # steps of .01 and .02, rounded
        ("sampling_time", np.round(np.arange(N) / 3, 3), 1 / 3),
        ("time", pd.date_range("2024-03-01", periods=N, freq="250ms", tz="UTC"), 0.25),
        ("time", pd.date_range("2024-02-29", periods=N, freq="500ms").map(pd.Timestamp.isoformat).tolist(), 0.5),
        ("time", SECONDS.strftime("%Y-%m-%d %H:%M:%SZ").tolist(), 1),
    ],
)
def test_sampling_time(name: str, times: Any, expected: float) -> None:
    recording = _timed(times, name)
    assert recording.sampling_time == pytest.approx(expected, rel=1e-2 if expected == 1 / 60 else 1e-4)
    assert len(recording.records) == 1 and "uneven" not in _notes(recording)


def test_stamps_in_a_file_and_in_the_index_of_a_frame(tmp_path: Path) -> None:
    stamps = pd.date_range("2024-03-01", periods=N, freq="10ms")
    frame = FRAME.assign(time=stamps.astype(str))
    assert read_recording(_file(tmp_path, frame), output="out").sampling_time == 0.01
    assert read_recording(_file(tmp_path, frame, header=False), output=3, time=1).sampling_time == 0.01
    assert read_recording(FRAME.drop(columns="time").set_index(stamps), output="out").sampling_time == 0.01


@pytest.mark.parametrize("missing", [math.nan, None, pd.NaT, pd.NA])
def test_a_row_without_a_stamp_is_a_gap(missing: Any) -> None:
    stamps = SECONDS.strftime("%Y-%m-%d %H:%M:%S").tolist()
    times = pd.Series([*stamps[:20], missing, *stamps[21:]], dtype=object)
    recording = _timed(times)
    assert _lengths(recording) == [20, 39] and recording.sampling_time == 1


def test_uneven_time() -> None:
    even = np.arange(float(N))
    wave = np.sin(even)
    assert "uneven" not in _notes(_timed(even + 0.003 * wave))
    assert "uneven, steps are up to" in _notes(_timed(even + 0.05 * wave))
    with pytest.raises(NarxbenchError):
        _timed(even + 0.2 * wave)
    assert _timed(even + 0.2 * wave, time=False).sampling_time is None
    # A missing sample between whole seconds is a gap, no rounding.
    assert _lengths(_timed(np.delete(even, 30))) == [30, 29]


@pytest.mark.parametrize(
    ("code", "often"), [(-9999, 1), (-999.25, 1), (9.969209968386869e36, 1), (1e30, 1), (-200, 3), (99999, 3)]
)
def test_numbers_that_may_stand_for_missing_values_are_asked_about(tmp_path: Path, code: float, often: int) -> None:
    y = np.cos(np.arange(N) ** 1.5)
    y[20 : 20 + often] = code
    frame = pd.DataFrame({"u": np.sin(np.arange(N) ** 1.3), "y": y})
    for data in (frame, frame.astype("float32"), _file(tmp_path, frame)):
        with pytest.raises(FieldError, match=r"missing: found \S+ in \d+ (row|line)s? of column y, far from") as error:
            read_recording(data, input="u", output="y")
        option, _, _ = error.value.text.partition("allowed: missing=")[2].partition(" if")
        for missing in (code, [code, -1e9], str(code), option):
            recording = read_recording(data, input="u", output="y", bridge=0, missing=missing)
            assert _lengths(recording) == [20, N - 20 - often]
        for missing in ("none", []):
            assert _lengths(read_recording(data, input="u", output="y", missing=missing)) == [N]
    # Functions of the input do not see it.
    swapped = frame.rename(columns={"u": "y", "y": "u"})
    recording = read_recording(swapped, input="abs(u)", output="y", bridge=0, missing=code)
    assert _lengths(recording) == [20, N - 20 - often]


def test_large_numbers_that_are_values() -> None:
    y = np.cos(np.arange(N) ** 1.5)
    for values in (
        np.where(np.arange(N) == 20, 9998.0, y),
        999.0 * y / np.abs(y).max(),
        np.where(y > 0.9, 999.0, 0.0),
        # An input that is off, levels, and a limit.
        np.where(y > 0.5, 50 + y, 0.0),
        np.where(y > 0.5, 500, np.round(2 * y)),
        np.minimum(y, 0.8),
    ):
        assert _lengths(read_recording({"y": values}, output="y", bridge=0)) == [N]


@pytest.mark.parametrize("missing", ["x", True, [1, "y"], float("nan"), {"a": 1}])
def test_missing_values_that_are_no_numbers(missing: Any) -> None:
    with pytest.raises(FieldError, match=r"missing: found .*; allowed: numbers such as -200 or -200,99999, or none"):
        read_recording(FRAME, output="out", missing=missing)


def test_columns_that_are_no_time() -> None:
    times = np.arange(float(N))
    assert _timed(times, "T").sampling_time is None  # rather a temperature
    assert _timed(times, "time [cycles]").sampling_time is None
    assert read_recording({"t": T, "y": Y}, output="t").sampling_time is None
    times[20] = times[19]
    recording = _timed(times)
    assert recording.sampling_time is None
    assert "row 21, column time: found the same time as in row 20" in _notes(recording)
    with pytest.raises(NarxbenchError):
        _timed(times, time="time")


@pytest.mark.parametrize("share", ["20%", "20 %", 0.2, "0.2", np.float32(0.2)])
def test_share_for_the_test(share: Any) -> None:
    y = Y.copy()
    y[50] = np.nan
    recording = read_recording({"y": y}, output="y", test=share, bridge=0)
    assert _names_and_roles(recording) == [("data, samples 1 to 40", None), ("data, samples 41 to 50", "test")]
    assert "fewer than 10 samples" in _notes(recording)


def test_files_for_the_test_roles_and_units(tmp_path: Path) -> None:
    frames = [FRAME, FRAME.assign(out=Y[::-1]), FRAME.assign(out=Y + U[:, 0])]
    *files, test = map(_file, [tmp_path] * 3, frames, ["a.csv", "b.csv", "c.csv"])
    roles: Any = {"b.csv": "selection"}
    recording = read_recording(files, test=test, input="in", output="out", roles=roles, units={"in": "V"})
    assert _names_and_roles(recording) == [("a.csv", None), ("b.csv", "selection"), ("c.csv", "test")]
    assert recording.units == {"in": "V"}
    pair = read_recording(input=U[:, 0], output=Y, test=(U[:30, 1], Y[:30]))
    assert (_names(pair), _lengths(pair)) == (["data", "test"], [N, 30])
    recording = read_recording(frames[:2], output="out", test=frames[2], roles={"data 2": "estimation"})
    assert _names(recording) == ["data 1", "data 2", "test"]


def test_equal_names(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    files = [_file(tmp_path), _file(tmp_path / "x")]
    assert _names(read_recording(files, output="out")) == list(map(str, files))
    frame = FRAME.set_axis(["time", "u", "y", "u"], axis=1)
    path = _file(tmp_path, frame)
    with pytest.raises(NarxbenchError):
        read_recording(path, input="u", output="y")
    assert read_recording(path, output="y").inputs == ()
    recording = read_recording(path, input=[2, 4], output="y")
    assert recording.inputs == ("u (column 2)", "u (column 4)") and recording.records[0].u.tobytes() == U.tobytes()


M = 200
DRAW = np.random.default_rng(7)
LONG = pd.DataFrame({"u": DRAW.normal(size=M), "y": np.convolve(DRAW.normal(size=M), [0.5, 0.3])[:M]})
ALL, SECOND_HALF = "lines 2 to 201", "lines 102 to 201"
COPIES = {
    "all": (LONG, {}, f"{ALL} of b.csv", f"{ALL} of a.csv"),
    "second half": (LONG[100:], {}, "lines 2 to 101 of b.csv", f"{SECOND_HALF} of a.csv"),
    "another separator": (LONG[100:], {"sep": ";", "decimal": ","}, "lines 2 to 101 of b.csv", SECOND_HALF),
    "another order": (LONG[["y", "u"]][30:], {"sep": "\t"}, "lines 2 to 171 of b.csv", "lines 32 to 201 of a.csv"),
    "15 digits": (LONG[100:], {"float_format": "%.15g"}, "lines 2 to 101 of b.csv", f"{SECOND_HALF} of a.csv"),
    "behind others": (pd.concat([LONG[::-1][:60], LONG[40:]]), {}, "lines 62 to 221 of b.csv", "lines 42 to 201 of a"),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_is_no_test_and_counts_twice_elsewhere(tmp_path: Path, name: str) -> None:
    frame, form, rows, before = COPIES[name]
    files: Any = [_file(tmp_path, LONG), _file(tmp_path, frame, "b.csv", **form)]
    recording = read_recording(files, input="u", output="y", roles={"b.csv": "selection"})
    assert f"{rows} are the same data as {before}" in _notes(recording)
    arguments: Any
    for arguments in ({"data": files, "roles": {"b.csv": "test"}}, {"data": files[0], "test": files[1]}):
        with pytest.raises(FieldError) as error:
            read_recording(**arguments, input="u", output="y")
        assert error.value.field == ("roles" if "roles" in arguments else "test")
        assert f"found in {rows} the same data as in {before}" in str(error.value)


def test_samples_that_repeat_themselves_inside_a_file_are_no_test() -> None:
    twice = pd.concat([LONG, LONG])
    with pytest.raises(FieldError, match="rows 201 to 400 of data the same data as in rows 1 to 200 of data"):
        read_recording(twice, input="u", output="y", test=0.5)


def test_columns_of_the_test_in_the_same_data(tmp_path: Path) -> None:
    short = LONG[::-1].reset_index(drop=True)[:150]
    both = pd.DataFrame({"uEst": LONG.u, "yEst": LONG.y, "uVal": short.u, "yVal": short.y})
    by_name = {"input": "uEst", "output": "yEst", "test_input": "uVal", "test_output": "yVal"}
    by_number = {"input": 1, "output": 2, "test_input": 3, "test_output": 4}
    file = _file(tmp_path, both)
    data: Any
    columns: Any
    for data, columns, label in ((file, by_name, "a.csv"), (both, by_name, "data"), (file, by_number, "a.csv")):
        recording = read_recording(data, **columns)
        assert _names_and_roles(recording) == [(label, None), (f"{label} (test)", "test")]
        estimation, test = recording.records
        assert len(estimation) == M
        assert test.y.tolist() == short.y.tolist() and test.u[:, 0].tolist() == short.u.tolist()
        assert (recording.inputs, recording.output) == (("uEst",), "yEst")
        assert "the data end in" in _notes(recording)
    test_file = _file(tmp_path, short, "b.csv")
    recording = read_recording(file, input="uEst", output="yEst", test=test_file, test_input="u", test_output="y")
    assert _lengths(recording) == [M, 150]
    assert len(read_recording(both, output="yEst", test_output="yVal").records) == 2


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"test_output": "yVal"}, "test_input"),
        ({"test_input": "uVal"}, "test_output"),
        ({"test_output": "yVal", "test_input": "uVa"}, "test_input"),
        ({"test_output": "yVal", "test_input": ["uVal", "uEst"]}, "test_input"),
        ({"test_output": "yVal", "test_input": "uVal", "test": 0.2}, "test"),
        ({"test_output": "yEst", "test_input": "uEst"}, "test_output"),
    ],
)
def test_wrong_columns_of_the_test_are_named(arguments: dict[str, Any], field: str) -> None:
    data = pd.DataFrame({"uEst": LONG.u, "yEst": LONG.y, "uVal": LONG.y, "yVal": LONG.u})
    with pytest.raises(FieldError) as error:
        read_recording(data, input="uEst", output="yEst", **arguments)
    assert error.value.field == field


def test_what_changes_the_answer_is_a_note(tmp_path: Path) -> None:
    path = _file(tmp_path, FRAME, sep=";", decimal=",", header=False)
    recording = read_recording(path, output=3)  # no sample is swallowed as a header, and no input is needed
    assert recording.records[0].u.shape == (N, 0)
    assert "commas in numbers" in _notes(recording)
    read: Any = {"sep": ";", "decimal": ",", "header": None}
    assert read_recording(path, input=2, output=3, time=1, read=read).notes == ()
    without_input = read_recording(_file(tmp_path), output="out")
    assert "a.csv: time from column time (20 ms)." in _notes(without_input)
    assert (
        "a.csv: no input was named, so the output is predicted from its own past alone, not from 'in', 'in2'."
        in without_input.notes
    )
