"""Measured data become records: the same from files, frames and arrays, with roles, and mistakes in one line."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.lookups import names_of
from tests.readings import check_refused, lengths, notes, read

from narxbench import NarxbenchError

N = 60
U = np.sin(np.arange(2.0 * N)).reshape(N, 2)
Y = np.cos(np.arange(N) ** 1.5)
T = np.round(5 + 0.02 * np.arange(N), 2)
FRAME = pd.DataFrame({"time": T, "in": U[:, 0], "out": Y, "in2": U[:, 1]})


def _file(folder: Path, frame: pd.DataFrame = FRAME, name: str = "a.csv", **form: Any) -> Path:
    path = folder / name
    frame.to_csv(path, **{"index": False} | form)
    return path


def _names_and_roles(recording: Any) -> list[tuple[str, str | None]]:
    return [(record.name, record.role) for record in recording.records]


def test_files_frames_mappings_and_arrays_are_read_alike(tmp_path: Path) -> None:
    by_name: dict[str, Any] = {"input": ["in", "in2"], "output": "out"}
    by_number: dict[str, Any] = {"input": np.array([2, 4]), "output": 3}
    recordings = [
        read(_file(tmp_path), **by_name),
        read(str(tmp_path / "a.csv"), input="in, in2", output="out"),
        read(tmp_path / "a.csv", input="2,4", output="3"),
        read(_file(tmp_path, name="b", sep=";", decimal=",", header=False), time=1, **by_number),
        read(FRAME, **by_name),
        read(FRAME.astype(object), **by_number),
        read(FRAME.astype("Float64"), **by_name),
        read({name: FRAME[[name]].to_numpy() for name in FRAME}, **by_name),
        read(input=U.tolist(), output=Y[:, None], time=T),
        read(input=pd.DataFrame(U), output=pd.Series(Y), sampling_time=np.float64(0.02)),
    ]
    for recording in recordings:
        (record,) = recording.records
        assert (record.u.tobytes(), record.y.tobytes(), record.role) == (U.tobytes(), Y.tobytes(), None)
        assert recording.sampling_time == 0.02
    names = [recording.records[0].name for recording in recordings[2:5]]
    assert names == ["a.csv", "b", "data"]
    assert (recordings[0].inputs, recordings[0].output) == (("in", "in2"), "out")
    assert (recordings[3].inputs, recordings[3].output) == (("column 2", "column 4"), "column 3")
    assert (recordings[8].inputs, recordings[8].output) == (("u1", "u2"), "y")


@pytest.mark.parametrize(("code", "often"), [(-9999, 1), (9.969209968386869e36, 1), (-200, 3), (99999, 3)])
def test_numbers_that_may_stand_for_missing_values_are_asked_about(tmp_path: Path, code: float, often: int) -> None:
    y = Y.copy()
    y[20 : 20 + often] = code
    frame = pd.DataFrame({"u": np.sin(np.arange(N) ** 1.3), "y": y})
    columns: dict[str, Any] = {"input": "u", "output": "y"}
    for data in (frame, frame.astype("float32"), _file(tmp_path, frame)):
        with pytest.raises(NarxbenchError, match=r"missing: found \S+ in \d+ (row|line)s? of column y, far f") as error:
            read(data, **columns)
        option, _, _ = str(error.value).partition("allowed: missing=")[2].partition(" if")
        for missing in (code, [code, -1e9], str(code), option):
            assert lengths(read(data, **columns, bridge=0, missing=missing)) == [20, N - 20 - often]
        for missing in ("none", []):
            assert lengths(read(data, **columns, missing=missing)) == [N]
    # Functions of the input do not see it.
    swapped = frame.rename(columns={"u": "y", "y": "u"})
    recording = read(swapped, input="abs(u)", output="y", bridge=0, missing=code)
    assert lengths(recording) == [20, N - 20 - often]


def test_large_numbers_that_are_values() -> None:
    rare_levels = [np.where(np.arange(N) == 20, 9998.0, Y), np.where(Y > 0.9, 999.0, 0.0)]
    # An input that is off, levels, and a limit.
    usual = [np.where(Y > 0.5, 50 + Y, 0.0), np.where(Y > 0.5, 500, np.round(2 * Y)), np.minimum(Y, 0.8)]
    for values in (*rare_levels, *usual, 999.0 * Y / np.abs(Y).max()):
        assert lengths(read({"y": values}, output="y", bridge=0)) == [N]


def test_share_for_the_test() -> None:
    y = np.where(np.arange(N) == 50, np.nan, Y)
    share: Any
    for share in ("20%", "20 %", 0.2, "0.2", np.float32(0.2)):
        recording = read({"y": y}, output="y", test=share, bridge=0)
        assert _names_and_roles(recording) == [("data, samples 1 to 40", None), ("data, samples 41 to 50", "test")]
        assert "fewer than 10 samples" in notes(recording)


def test_equal_names(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    files = [_file(tmp_path), _file(tmp_path / "x")]
    assert names_of(read(files, output="out").records) == list(map(str, files))
    path = _file(tmp_path, FRAME.set_axis(["time", "u", "y", "u"], axis=1))
    with pytest.raises(NarxbenchError):
        read(path, input="u", output="y")
    assert read(path, output="y").inputs == ()
    recording = read(path, input=[2, 4], output="y")
    assert recording.inputs == ("u (column 2)", "u (column 4)") and recording.records[0].u.tobytes() == U.tobytes()


M = 200
DRAW = np.random.default_rng(7)
LONG = pd.DataFrame({"u": DRAW.normal(size=M), "y": np.convolve(DRAW.normal(size=M), [0.5, 0.3])[:M]})


def test_columns_of_the_test_in_the_same_data(tmp_path: Path) -> None:
    short = LONG[::-1].reset_index(drop=True)[:150]
    both = pd.DataFrame({"uEst": LONG.u, "yEst": LONG.y, "uVal": short.u, "yVal": short.y})
    file = _file(tmp_path, both)
    for data, label in ((file, "a.csv"), (both, "data")):
        recording = read(data, input="uEst", output="yEst", test_input="uVal", test_output="yVal")
        assert _names_and_roles(recording) == [(label, None), (f"{label} (test)", "test")]
        estimation, test = recording.records
        assert len(estimation) == M
        assert test.y.tolist() == short.y.tolist() and test.u[:, 0].tolist() == short.u.tolist()
        assert (recording.inputs, recording.output) == (("uEst",), "yEst")
        assert "the data end in" in notes(recording)
    test_file = _file(tmp_path, short, "b.csv")
    recording = read(file, input="uEst", output="yEst", test=test_file, test_input="u", test_output="y")
    assert lengths(recording) == [M, 150]
    assert len(read(both, output="yEst", test_output="yVal").records) == 2


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ({"test_output": "yVal"}, "test_input"),
        ({"test_input": "uVal"}, "test_output"),
        ({"test_output": "yVal", "test_input": "uVa"}, "test_input"),
        ({"test_output": "yVal", "test_input": ["uVal", "uEst"]}, "test_input"),
        ({"test_output": "yVal", "test_input": "uVal", "test": 0.2}, "test"),
        ({"test_output": "yEst", "test_input": "uEst"}, "test_output"),
    ],
)
def test_wrong_columns_of_the_test_are_named(arguments: dict[str, Any], option: str) -> None:
    data = pd.DataFrame({"uEst": LONG.u, "yEst": LONG.y, "uVal": LONG.y, "yVal": LONG.u})
    check_refused(rf"^(data: )?{option}: ", data, input="uEst", output="yEst", **arguments)


def test_what_is_said_of_a_file_is_not_assumed(tmp_path: Path) -> None:
    path = _file(tmp_path, FRAME, sep=";", decimal=",", header=False)
    # No sample is swallowed as a header.
    assert lengths(read(path, output=3)) == [N]
    form: Any = {"sep": ";", "decimal": ",", "header": None}
    assert read(path, input=2, output=3, time=1, read=form).notes == ()
