"""Text files as instruments and spreadsheets write them: read with a note on what was assumed, or asked about."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.readings import lengths, notes, read

from narxbench import NarxbenchError

N = 40
U = np.round(np.sin(np.arange(N)), 3)
Y = np.round(np.cos(np.arange(N) ** 1.5), 3)
TABLE = pd.DataFrame({"u": U, "y": Y}).to_csv(sep=";", index=False, header=False)
ROWS = TABLE.splitlines()


def _timed_rows(time_format: str, separator: str) -> str:
    """Return the rows of a table sampled every 10 ms, with the time in front."""
    times = np.char.mod(time_format, np.arange(N) / 100)
    return pd.DataFrame({"t": times, "u": U, "y": Y}).to_csv(sep=separator, index=False, header=False)


def _read(folder: Path, text: str | bytes, **arguments: Any) -> Any:
    path = folder / "a.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read(path, **({"input": "u", "output": "y"} | arguments))


def _assert_read(recording: Any, *words: str) -> None:
    """Compare the samples with those that were written, and look for words in the notes."""
    (record,) = recording.records
    assert (record.u[:, 0].tolist(), record.y.tolist()) == (U.tolist(), Y.tolist())
    for text in words:
        assert text in notes(recording)


LABVIEW = """\
LabVIEW Measurement\t
Writer_Version\t2
Reader_Version\t2
Separator\tTab
Decimal_Separator\t.
Multi_Headings\tYes
X_Columns\tOne
Time_Pref\tRelative
Operator\tsomebody
Date\t2020/01/31
Time\t12:00:00.0000000
***End_of_Header***\t
\t
Channels\t2\t\t
Samples\t40\t40\t
Date\t2020/01/31\t2020/01/31\t
Time\t12:00:00.0\t12:00:00.0\t
Y_Unit_Label\tVolts\tVolts\t
X_Dimension\tTime\tTime\t
X0\t0.0000000000000000E+0\t0.0000000000000000E+0\t
Delta_X\t0.010000\t0.010000\t
***End_of_Header***\t\t\t
X_Value\tu\ty\tComment
"""
LABVIEW += _timed_rows("%.6f", "\t")
DSPACE = 'sep=,\n"ControlDesk Next Generation","6.4"\n"Sample time",0.01\n\n"time","u","y"\n"s","V","°C"\n'
DSPACE += _timed_rows("%.2f", ",")
DEWESOFT = "File name: test.dxd\nStart time: 31.01.2020 12:00:00\nSample rate: 100 Hz\nChannels: 2\n\n"
DEWESOFT += "Time (s)\tu (V)\ty (°C)\n"
DEWESOFT += _timed_rows("%.2f", "\t").replace(".", ",")
KEYS = "Operator;A. B.\nGain;100\nOffset;2.5\n;\nu;y\nV;mV\n" + TABLE
PADDED = "Logger 3;;\nRate;10;\n;;\nu;y;\n" + TABLE.replace("\n", ";\n")


BLOCKS: dict[str, tuple[str, str, dict[str, str], float | None]] = {
    "LabVIEW": (LABVIEW, "lines 1 to 22", {}, 0.01),
    "dSPACE": (DSPACE, "lines 2 to 4", {"u": "V", "y": "°C"}, 0.01),
    "DEWESoft": (DEWESOFT, "lines 1 to 5", {"u": "V", "y": "°C"}, 0.01),
    "keys and values": (KEYS, "lines 1 to 4", {"u": "V", "y": "mV"}, None),
    "padded rows": (PADDED, "lines 1 to 3", {}, None),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_header_blocks(tmp_path: Path, name: str) -> None:
    text, rows, units, sampling_time = BLOCKS[name]
    recording = _read(tmp_path, text)
    _assert_read(recording, f"{rows} were taken as a header block")
    assert recording.units == units and recording.sampling_time == sampling_time


def test_what_is_said_of_a_header_block_is_not_assumed(tmp_path: Path) -> None:
    said = _read(tmp_path, LABVIEW, read={"skiprows": 22, "sep": "tab"})
    _assert_read(said)
    assert "header" not in notes(said)
    by_number = _read(tmp_path, KEYS, input=1, output=2)
    _assert_read(by_number, "lines 1 to 4 were")
    assert (by_number.inputs, by_number.output) == (("u",), "y")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    for said in ({}, {"read": {"encoding": encoding}}):
        recording = _read(tmp_path, DEWESOFT.encode(encoding), **said)
        _assert_read(recording, "commas in numbers")
        assert recording.units == {"u": "V", "y": "°C"}


def test_a_form_of_the_time_among_the_units(tmp_path: Path) -> None:
    times = pd.date_range("2024-01-01", periods=N, freq="1min").strftime("%H:%M:%S")
    rows = pd.DataFrame({"time": times, "u": U, "y": Y}).to_csv(sep=";", index=False, header=False)
    recording = _read(tmp_path, f"Uhrzeit;u;y\nhh:mm:ss;V;°C\n{rows}")
    _assert_read(recording)
    assert recording.units == {"u": "V", "y": "°C"} and recording.sampling_time == 60


def test_a_row_of_texts_below_the_names(tmp_path: Path) -> None:
    recording = _read(tmp_path, "u;y\nvalve position;tank level\n" + TABLE)
    _assert_read(recording, "line 2 was left out, for it has no numbers: valve position, tank level")
    assert recording.units == {}
    # A column may be called as a unit is.
    voltage = _read(tmp_path, "V;A\n" + TABLE, input="V", output="A")
    assert (voltage.inputs, voltage.output, voltage.units) == (("V",), "A", {})


def test_the_row_that_has_the_chosen_names_is_the_header(tmp_path: Path) -> None:
    for above in ("Operator;A. B.\n", "Date;31.01.2020\n", "Date;31.01.2020\n\n", "a;b\nc;d\n"):
        recording = _read(tmp_path, f"{above}u;y\n{TABLE}")
        _assert_read(recording)
        below = _read(tmp_path, f"{above}u;y\nV;K\n{TABLE}")
        _assert_read(below)
        assert below.units == {"u": "V", "y": "K"}
    described = _read(tmp_path, f"u;y\nposition;level\nV;K\n{TABLE}", input="abs(u)")
    assert described.inputs == ("abs(u)",) and described.units == {"y": "K"}
    assert "line 2 was left out, for it has no numbers: position, level" in notes(described)
    # Channels that are called by numbers stand above their units.
    _assert_read(_read(tmp_path, f"x-axis;1\nsecond;Volt\n{TABLE}", input="x-axis", output="1"))


def test_a_wrong_number_among_the_first_samples_is_no_header(tmp_path: Path) -> None:
    for wrong in ("1;x", "x;1", "1;2;3", "1", "1.2.3;4"):
        with pytest.raises(NarxbenchError, match=r"a.csv: line 3"):
            _read(tmp_path, "\n".join(["u;y", ROWS[0], wrong, *ROWS]))
        with pytest.raises(NarxbenchError, match=r"a.csv: line 2"):
            _read(tmp_path, "\n".join(["u;y", wrong, *ROWS]))


def test_rows_that_are_skipped(tmp_path: Path) -> None:
    text = "1;2\n3;4\nu;y\n" + TABLE
    _assert_read(_read(tmp_path, text, read={"skiprows": 2}))
    _assert_read(_read(tmp_path, "remark\n" + TABLE, input=1, output=2, read={"skiprows": 1, "header": None}))
    rows: Any
    for rows in (-1, 1.5, "2", True):
        with pytest.raises(NarxbenchError, match=r"read: skiprows: found .*; allowed: a whole number"):
            _read(tmp_path, text, read={"skiprows": rows})
    with pytest.raises(NarxbenchError, match=r"a.csv: found no samples below line 99"):
        _read(tmp_path, text, read={"skiprows": 99})


@pytest.mark.parametrize(
    ("names", "units"),
    [
        ("u [V];y [°C]", {"u": "V", "y": "°C"}),
        ("u (V);y (m/s²)", {"u": "V", "y": "m/s²"}),
        ("u / V;y in kPa", {"u": "V", "y": "kPa"}),
        ("u(t);y", {}),
        ("u [s];y", {"u": "s"}),
        ("u;y[°C]", {"y": "°C"}),
    ],
)
def test_units_in_names(tmp_path: Path, names: str, units: dict[str, str]) -> None:
    full_u, full_y = names.split(";")
    for columns in ({"input": full_u, "output": full_y}, {"input": 1, "output": 2}):
        recording = _read(tmp_path, f"{names}\n{TABLE}", **columns)
        _assert_read(recording)
        assert recording.units == units
        assert recording.output == "y"
    said = _read(tmp_path, f"{names}\n{TABLE}", input=1, units={full_y: "K"})
    assert said.units == units | {"y": "K"}


def test_names_that_differ_in_their_units_alone_keep_them(tmp_path: Path) -> None:
    recording = _read(tmp_path, f"T [V];T [K]\n{TABLE}", input="T [V]", output="T [K]")
    assert (recording.inputs, recording.output) == (("T [V]",), "T [K]")
    with pytest.raises(NarxbenchError, match=r"found no column 'T'; allowed: 1 'T \[V\]', 2 'T \[K\]'"):
        _read(tmp_path, f"T [V];T [K]\n{TABLE}", input="T", output="T [K]")


def test_files_in_other_units_are_no_experiments_of_one_system(tmp_path: Path) -> None:
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text(f"u [V];y [K]\n{TABLE}")
    second.write_text(f"u [mV];y [K]\n{TABLE}0;0\n")
    with pytest.raises(NarxbenchError, match=r"b.csv: found u in mV; allowed: V as in .*a.csv"):
        read([first, second], input="u", output="y")


def test_truth_values_are_ones_and_zeros(tmp_path: Path) -> None:
    expected = (U > 0).astype(float)
    for high, low in (("TRUE", "FALSE"), ("on", "off"), ("Yes", "No"), ("WAHR", "FALSCH")):
        table = pd.DataFrame({"u": np.where(U > 0, high, low), "y": Y})
        assert (_read(tmp_path, table.to_csv(sep=";", index=False)).records[0].u[:, 0] == expected).all()
    assert (read({"u": U > 0, "y": Y}, input="u", output="y").records[0].u[:, 0] == expected).all()


def test_empty_lines(tmp_path: Path) -> None:
    _assert_read(_read(tmp_path, "\n\nu;y\n\n" + TABLE + "\n\n"))
    doubled = "u;y\n\n" + TABLE.replace("\n", "\n\n")
    _assert_read(_read(tmp_path, doubled), "every second line is empty")
    # Without a time an empty line may be a missing sample; with one, the time says whether samples are missing.
    blank = "\n".join(["u;y", *ROWS[:20], "", *ROWS[20:]])
    recording = _read(tmp_path, blank)
    assert lengths(recording) == [20, 20] and "line 22" in notes(recording)
    timed = [f"{i / 10};{row}" for i, row in enumerate(ROWS)]
    _assert_read(_read(tmp_path, "\n".join(["t;u;y", *timed[:20], "", *timed[20:]])))
    gap = _read(tmp_path, "\n".join(["t;u;y", *timed[:20], "", *timed[21:]]))
    assert lengths(gap) == [20, 19]
    assert "the time jumps once, and the data were cut there: line 23" in notes(gap)


def test_decimal_commas_and_thousands(tmp_path: Path) -> None:
    german = "u;y\n" + TABLE.replace(".", ",")
    _assert_read(_read(tmp_path, german), "the commas in numbers were read as decimal marks")
    large = "u;y\n" + "".join(f"{i};{i + 1}.234,5\n" for i in range(N))
    recording = _read(tmp_path, large)
    assert recording.records[0].y[1] == 2234.5
    assert "points between groups of three digits, as in 1.234,5, were left out of the numbers" in " ".join(
        recording.notes
    )


def test_an_ambiguous_comma_is_asked_about(tmp_path: Path) -> None:
    text = "u;y\n" + "".join(f"{i};{i + 1},234\n" for i in range(N))
    with pytest.raises(NarxbenchError, match=r"read: .* is 1.234 with a decimal comma or 1234 with commas between"):
        _read(tmp_path, text)
    for mark, value in ((",", 1.234), (".", 1234.0)):
        assert _read(tmp_path, text, read={"decimal": mark}).records[0].y[0] == value


def test_an_encoding_that_is_none(tmp_path: Path) -> None:
    encoding: Any
    for encoding in ("utf-9", "rot13", 7, ""):
        with pytest.raises(NarxbenchError, match=r"read: encoding: found .*; allowed: utf-8, utf-16, cp1252, latin-1"):
            _read(tmp_path, "u;y\n" + TABLE, read={"encoding": encoding})


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    with pytest.raises(NarxbenchError, match=r"a.csv: line 2: found the byte 0x01, which is not text"):
        _read(tmp_path, b"u;y\n1;\x01\n" + TABLE.encode())
    with pytest.raises(NarxbenchError, match=r"a.csv: line 1: found the byte 0xb0, which is not text in UTF-8"):
        _read(tmp_path, "u;y [°C]\n".encode("latin-1") + TABLE.encode(), read={"encoding": "utf-8"})
