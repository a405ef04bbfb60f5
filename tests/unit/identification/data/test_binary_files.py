"""Files that are no text, and compressed files: the same samples, or one line."""

import gzip
import os
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import nptdms
import numpy as np
import openpyxl
import pandas as pd
import pytest
import scipy.io
from tests.readings import N, U, Y, check_refused, check_signals, lengths, read

from narxbench import MissingExtraError, NarxbenchError

T = np.round(0.02 * np.arange(N), 2)
FRAME = pd.DataFrame({"t": T, "u": U[:, 0], "v": U[:, 1], "y": Y})
COLUMNS = {name: FRAME[name].to_numpy() for name in FRAME}
BY_NAME: dict[str, Any] = {"input": ["u", "v"], "output": "y"}


def _write_workbook(path: Path) -> None:
    """Write a sheet as people have them: a title, names, units, and cells beside an empty column."""
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet["B2"] = "Run 7"
    for row in [["t", "u", "v", "y"], ["s", "V", "V", "°C"], *FRAME.to_numpy().tolist()]:
        sheet.append([None, *row])
    workbook.create_sheet("empty")
    workbook.save(path)


def _write_matlab_7_3(path: Path) -> None:
    """Write what MATLAB writes with -v7.3: a block for the user, and transposed arrays."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in COLUMNS.items():
            file[name] = values[np.newaxis]
            file[name].attrs["MATLAB_class"] = np.bytes_("double")
        file["note"] = np.array([[104], [105]], np.uint16)
        file["note"].attrs["MATLAB_class"] = np.bytes_("char")
        file["Ts"] = np.array([[0.02]])
    content = path.read_bytes()
    path.write_bytes(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512, b" ") + content[512:])


def _write_hdf5(path: Path) -> None:
    with h5py.File(path, "w") as file:
        group = file.create_group("run7")
        for name, values in COLUMNS.items():
            group[name] = values
        group["y"].attrs["units"] = "°C"


def _write_tdms(path: Path) -> None:
    channels = []
    for name in ("u", "v", "y"):
        properties = {"wf_increment": 0.02, "wf_samples": N, "unit_string": "V"}
        channels.append(nptdms.ChannelObject("run7", name, COLUMNS[name], properties=properties))
    with nptdms.TdmsWriter(path) as writer:
        writer.write_segment(channels)


FILES: dict[str, Callable[[Path], object]] = {
    "a.xlsx": _write_workbook,
    "a.mat": lambda path: scipy.io.savemat(path, COLUMNS),
    "old.mat": lambda path: scipy.io.savemat(path, COLUMNS, format="4"),
    "struct.mat": lambda path: scipy.io.savemat(path, {"data": COLUMNS}),
    "new.mat": _write_matlab_7_3,
    "a.h5": _write_hdf5,
    "a.npz": lambda path: np.savez(path, **COLUMNS),
    "compressed.npz": lambda path: np.savez_compressed(path, **COLUMNS),
    "a.npy": lambda path: np.save(path, FRAME.to_records(index=False)),
    "a.tdms": _write_tdms,
    "a.parquet": FRAME.to_parquet,
    "index.parquet": FRAME.set_index("t").to_parquet,
    "a.feather": FRAME.to_feather,
    "a.csv.gz": lambda path: FRAME.to_csv(path, index=False),
    "a.csv.xz": lambda path: FRAME.to_csv(path, index=False),
    "a.zip": lambda path: FRAME.to_csv(path, index=False),
    "no_ending": FRAME.to_parquet,
}


# Units of files that have them, and what is assumed of a file.
UNITS = {"a.xlsx": {"u": "V", "v": "V", "y": "°C"}, "a.h5": {"y": "°C"}, "a.tdms": dict.fromkeys("uvy", "V")}
ASSUMED = {
    "a.xlsx": "row 2 was taken as a header block",
    "a.tdms": "the time was made from the increment of the channels, 0.02 s",
    "new.mat": "left out, for they are no columns: note (no numbers), Ts (0.02)",
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_has_the_same_samples(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    FILES[name](path)
    recording = read(path, **BY_NAME)
    check_signals(recording, 0.02, ASSUMED.get(name, ""))
    assert recording.records[0].name == path.name
    assert recording.inputs == ("u", "v") and recording.output == "y"
    assert recording.units == UNITS.get(name, {})
    # A file that was cut short is one line.
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 3])
    with pytest.raises(NarxbenchError) as error:
        read(path, **BY_NAME)
    assert str(error.value).isprintable() and path.name in str(error.value)


def test_rows_of_a_sheet_are_named_as_the_sheet_has_them(tmp_path: Path) -> None:
    y = ["x" if row == 20 else row / 8 for row in range(N)]
    columns = {"u": range(N), "y": y, "on": [True, False] * (N // 2)}
    columns["time"] = pd.date_range("2024-05-31 23:59", periods=N, freq="5s")
    pd.DataFrame(columns).to_excel(tmp_path / "a.xlsx", index=False)
    check_refused(r"a.xlsx: row 22, column y: found 'x'", tmp_path / "a.xlsx", input="u", output="y")
    recording = read(tmp_path / "a.xlsx", input="on", output="u")
    assert recording.records[0].u[:4, 0].tolist() == [1, 0, 1, 0] and recording.sampling_time == 5


def test_several_parts_are_asked_about(tmp_path: Path) -> None:
    paths = {name: tmp_path / name for name in ("a.xlsx", "a.zip", "a.h5", "a.mat")}
    with pd.ExcelWriter(paths["a.xlsx"]) as writer:
        FRAME[::-1].to_excel(writer, sheet_name="one", index=False)
        FRAME.to_excel(writer, sheet_name="two", index=False)
    with zipfile.ZipFile(paths["a.zip"], "w") as archive:
        archive.writestr("one", "read me")
        archive.writestr("two", FRAME.to_csv(index=False))
    with h5py.File(paths["a.h5"], "w") as file:
        for name, values in COLUMNS.items():
            file[f"one/{name}"], file[f"two/{name}"] = values[::-1], values
    scipy.io.savemat(paths["a.mat"], {"one": {**COLUMNS, "y": -Y}, "two": COLUMNS})
    for path in paths.values():
        check_refused(r"part: found|output: found", path, **BY_NAME)
        check_signals(read(path, part="two", **BY_NAME), 0.02)
        check_refused(r"part: found no 'tow'; allowed: .*did you mean 'two'", path, part="tow", **BY_NAME)
    # Columns of all groups have the names of their groups.
    by_path = {"input": ["two/u", "two/v"], "output": "two/y", "time": "two/t"}
    check_signals(read(paths["a.h5"], **by_path), 0.02)
    FRAME.to_parquet(tmp_path / "a.parquet")
    check_refused("part: found 'two', but .* parquet has no parts", tmp_path / "a.parquet", part="two", **BY_NAME)


def test_matrices_columns_of_other_lengths_and_what_is_no_column(tmp_path: Path) -> None:
    path = tmp_path / "a.mat"
    scipy.io.savemat(path, {"u": U.T, "y": Y, "Ts": 0.02, "name": "run 7", "cube": np.zeros((2, 2, 2)), "z": 1j * Y})
    recording = read(path, input=["u_1", "u_2"], output="y", sampling_time=0.02)
    rows = "time goes along the rows of u, which has the shape (2, 50)"
    check_signals(recording, 0.02, rows, "Ts (0.02)", "name (text)", "cube (shape")
    scipy.io.savemat(path, {"uEst": U[:, 0], "yEst": Y, "uVal": U[:30, 1], "yVal": Y[:30] + 1})
    recording = read(path, input="uEst", output="yEst", test_input="uVal", test_output="yVal")
    assert lengths(recording) == [N, 30]
    np.save(tmp_path / "a.npy", np.column_stack([U, Y]))
    check_signals(read(tmp_path / "a.npy", input=[1, 2], output=3), None)
    scipy.io.savemat(path, {"runs": np.column_stack([U, Y]), "other": Y})
    check_signals(read(path, part="runs", input=[1, 2], output=3), None)


def test_signals_in_a_list_of_structures(tmp_path: Path) -> None:
    signals = np.array([(name, COLUMNS[name]) for name in ("u", "v", "y")], [("Name", object), ("Data", object)])
    scipy.io.savemat(tmp_path / "a.mat", {"run7": {"X": {"Data": T}, "Y": signals}})
    columns = {"input": ["run7/Y/u/Data", "run7/Y/v/Data"], "output": "run7/Y/y/Data", "time": "run7/X/Data"}
    check_signals(read(tmp_path / "a.mat", **columns), 0.02)


def _write_frame_of_pandas(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.create_group("df").attrs["pandas_type"] = "frame"


# Files that have no columns, or that are not read, and the message.
REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a.mat": (lambda path: scipy.io.savemat(path, {"name": "run 7"}), "no columns of numbers; needed: .*writetable"),
    "a.npy": (lambda path: np.save(path, np.array([{"y": 1}], object), allow_pickle=True), "cannot be read"),
    "a.xlsx": (lambda path: openpyxl.Workbook().save(path), "found no cells with values"),
    "a.h5": (_write_frame_of_pandas, "found a frame of pandas in HDF5; needed: Parquet"),
    "a.gz": (lambda path: path.write_bytes(gzip.compress(gzip.compress(b"u,y"))), "a, which is compressed again"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_files_without_columns_are_refused(tmp_path: Path, name: str) -> None:
    write, message = REFUSED[name]
    write(tmp_path / name)
    check_refused(rf"{name}: .*{message}", tmp_path / name, output="y")


def test_a_file_that_is_too_large_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("narxbench._io.formats.MOST_DATA", 1000)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", "0" * 10_000)
    check_refused(r"a.zip: found more than 1000 bytes; allowed: up to 1000", tmp_path / "a.zip", output="y")


PACKAGES = {"a.xlsx": "openpyxl", "a.h5": "h5py", "new.mat": "h5py", "a.tdms": "nptdms", "a.parquet": "pyarrow"}


@pytest.mark.parametrize("name", PACKAGES)
def test_a_missing_library_is_one_line_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    FILES[name](tmp_path / name)
    monkeypatch.setitem(sys.modules, PACKAGES[name], None)  # as if it were not installed
    for pip, command in ((os, "pip"), (None, "uv pip")):
        monkeypatch.setitem(sys.modules, "pip", pip)  # any module represents one that is installed
        with pytest.raises(MissingExtraError) as error:
            read(tmp_path / name, **BY_NAME)
        needed = f"python3 -m {command} install {PACKAGES[name]}"
        assert str(error.value) == f"{tmp_path / name}: {PACKAGES[name]} is not installed; needed: {needed}"
