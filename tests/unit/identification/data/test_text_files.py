"""Text files as instruments and spreadsheets write them: read with a note on what was assumed, or asked about."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.readings import check_refused, lengths, notes, read

from narxbench import NarxbenchError

N = 40
T, U = np.arange(N) / 100, np.round(np.sin(np.arange(N)), 3)
Y = np.round(np.cos(np.arange(N) ** 1.5), 3)
TABLE = pd.DataFrame({"u": U, "y": Y}).to_csv(sep=";", index=False, header=False)
ROWS = TABLE.splitlines()


def _timed_rows(separator: str, times: Any = T) -> str:
    """Return the rows of a table with the time in front, by default every 10 ms."""
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
Separator\tTab
Decimal_Separator\t.
Date\t2020/01/31
Time\t12:00:00.0000000
***End_of_Header***\t
\t
Channels\t2\t\t
Samples\t40\t40\t
Date\t2020/01/31\t2020/01/31\t
Y_Unit_Label\tVolts\tVolts\t
X0\t0.0000000000000000E+0\t0.0000000000000000E+0\t
Delta_X\t0.010000\t0.010000\t
***End_of_Header***\t\t\t
X_Value\tu\ty\tComment
"""
LABVIEW += _timed_rows("\t")
DSPACE = 'sep=,\n"ControlDesk Next Generation","6.4"\n"Sample time",0.01\n\n"time","u","y"\n"s","V","°C"\n'
DSPACE += _timed_rows(",")
DEWESOFT = "File name: test.dxd\nStart time: 31.01.2020 12:00:00\nSample rate: 100 Hz\nChannels: 2\n\n"
DEWESOFT += "Time (s)\tu (V)\ty (°C)\n"
DEWESOFT += _timed_rows("\t").replace(".", ",")
KEYS = "Operator;A. B.\nGain;100\nOffset;2.5\n;\nu;y\nV;mV\n" + TABLE
PADDED = "Logger 3;;\nRate;10;\n;;\nu;y;\n" + TABLE.replace("\n", ";\n")


CLOCKED = _timed_rows(";", pd.date_range("2024-01-01", periods=N, freq="1min").strftime("%H:%M:%S"))
CELSIUS, KELVIN = {"u": "V", "y": "°C"}, {"u": "V", "y": "K"}
BY_NUMBER = {"input": 1, "output": 2}
# The text of a file, how it is read, and what the recording has: units, and words of the notes.
FORMS: list[tuple[str | bytes, dict[str, Any], dict[str, str], str]] = [
    (LABVIEW, {}, {}, "lines 1 to 14 were taken as a header block"),
    (LABVIEW, {"read": {"skiprows": 14, "sep": "tab"}}, {}, "time from column X_Value (10 ms)"),
    (DSPACE, {}, CELSIUS, "lines 2 to 4 were taken as a header block"),
    (DEWESOFT, {}, CELSIUS, "lines 1 to 5 were taken as a header block"),
    (KEYS, {}, {"u": "V", "y": "mV"}, "lines 1 to 4 were"),
    (KEYS, BY_NUMBER, {"u": "V", "y": "mV"}, "lines 1 to 4 were"),
    (PADDED, {}, {}, "lines 1 to 3 were"),
    # A form of the time among the units, texts below the names, and names that are units or numbers.
    (f"Uhrzeit;u;y\nhh:mm:ss;V;°C\n{CLOCKED}", {}, CELSIUS, "time from column Uhrzeit (1 min)"),
    (f"u;y\nvalve position;tank level\n{TABLE}", {}, {}, "line 2 was left out, for it has no numbers: valve position"),
    (f"u;y\nposition;level\nV;K\n{TABLE}", {}, KELVIN, "line 2 was left out, for it has no numbers: position, level"),
    (f"V;A\n{TABLE}", {"input": "V", "output": "A"}, {}, ""),
    (f"x-axis;1\nsecond;Volt\n{TABLE}", {"input": "x-axis", "output": "1"}, {"x-axis": "second", "1": "Volt"}, ""),
    (f"T [V];T [K]\n{TABLE}", {"input": "T [V]", "output": "T [K]"}, {"T [V]": "V", "T [K]": "K"}, ""),
    (f"u [V];y [°C]\n{TABLE}", {"input": ["u", "abs(u)"], "units": {"y [°C]": "K"}}, KELVIN, ""),
    # Rows that are skipped or empty, and commas.
    (f"1;2\n3;4\nu;y\n{TABLE}", {"read": {"skiprows": 2}}, {}, ""),
    (f"remark\n{TABLE}", {**BY_NUMBER, "read": {"skiprows": 1, "header": None}}, {}, ""),
    (f"\n\nu;y\n\n{TABLE}\n\n", {}, {}, ""),
    ("u;y\n\n" + TABLE.replace("\n", "\n\n"), {}, {}, "every second line is empty"),
    ("u;y\n" + TABLE.replace(".", ","), {}, {}, "the commas in numbers were read as decimal marks"),
]
for encoding in ("utf-8-sig", "utf-16", "utf-16-le", "latin-1"):
    encoded, reading = DEWESOFT.encode(encoding), {"read": {"encoding": encoding}}
    FORMS += [(encoded, {}, CELSIUS, "commas in numbers"), (encoded, reading, CELSIUS, "commas in numbers")]
# Units in names.
for names, units in {
    **{"u [V];y [°C]": CELSIUS, "u (V);y (m/s²)": {"u": "V", "y": "m/s²"}, "u / V;y in kPa": {"u": "V", "y": "kPa"}},
    **{"u(t);y": {}, "u [s];y": {"u": "s"}, "u;y[°C]": {"y": "°C"}},
}.items():
    by_name = dict(zip(("input", "output"), names.split(";"), strict=True))
    FORMS += [(f"{names}\n{TABLE}", by_name, units, ""), (f"{names}\n{TABLE}", BY_NUMBER, units, "")]
# The row that has the chosen names is the header.
for above in ("Operator;A. B.\n", "Date;31.01.2020\n", "Date;31.01.2020\n\n", "a;b\nc;d\n"):
    FORMS += [(f"{above}u;y\n{TABLE}", {}, {}, ""), (f"{above}u;y\nV;K\n{TABLE}", {}, KELVIN, "")]


@pytest.mark.parametrize(("text", "reading", "units", "words"), FORMS)
def test_every_form_has_the_same_samples(
    tmp_path: Path, text: str | bytes, reading: dict[str, Any], units: dict[str, str], words: str
) -> None:
    recording = _read(tmp_path, text, **reading)
    _assert_read(recording, words)
    assert recording.units == units
    # What is said of a header block is not assumed.
    assert "read" not in reading or "encoding" in reading["read"] or "header" not in notes(recording)


def test_truth_values_are_ones_and_zeros(tmp_path: Path) -> None:
    expected = (U > 0).astype(float)
    for high, low in (("TRUE", "FALSE"), ("on", "off"), ("Yes", "No"), ("WAHR", "FALSCH")):
        table = pd.DataFrame({"u": np.where(U > 0, high, low), "y": Y})
        assert (_read(tmp_path, table.to_csv(sep=";", index=False)).records[0].u[:, 0] == expected).all()


def test_an_empty_line_may_be_a_missing_sample_without_a_time(tmp_path: Path) -> None:
    recording = _read(tmp_path, "\n".join(["u;y", *ROWS[:20], "", *ROWS[20:]]))
    assert lengths(recording) == [20, 20] and "line 22" in notes(recording)
    timed = [f"{i / 10};{row}" for i, row in enumerate(ROWS)]
    _assert_read(_read(tmp_path, "\n".join(["t;u;y", *timed[:20], "", *timed[20:]])))
    gap = _read(tmp_path, "\n".join(["t;u;y", *timed[:20], "", *timed[21:]]))
    assert lengths(gap) == [20, 19] and "the data were cut there: line 23" in notes(gap)


def test_commas_and_points_in_large_numbers(tmp_path: Path) -> None:
    recording = _read(tmp_path, "u;y\n" + "".join(f"{i};{i + 1}.234,5\n" for i in range(N)))
    assert recording.records[0].y[1] == 2234.5
    assert "points between groups of three digits, as in 1.234,5, were left out of the numbers" in notes(recording)
    for mark, value in ((",", 1.234), (".", 1234.0)):
        assert _read(tmp_path, AMBIGUOUS, read={"decimal": mark}).records[0].y[0] == value


AMBIGUOUS = "u;y\n" + "".join(f"{i};{i + 1},234\n" for i in range(N))
REFUSED: list[tuple[str | bytes, dict[str, Any], str]] = [
    (TABLE, {"skiprows": 99}, "a.csv: found no samples below line 99"),
    (AMBIGUOUS, {}, "read: .* is 1.234 with a decimal comma or 1234 with commas between"),
    (b"u;y\n1;\x01\n" + TABLE.encode(), {}, "a.csv: line 2: found the byte 0x01, which is not text"),
    ("u;y [°C]\n".encode("latin-1"), {"encoding": "utf-8"}, "line 1: found the byte 0xb0, which is not text in UTF-8"),
    (f"T [V];T [K]\n{TABLE}", {}, r"found no column 'y'; allowed: 1 'T \[V\]', 2 'T \[K\]'"),
]
for rows in (-1, 1.5, "2", True):
    REFUSED.append((TABLE, {"skiprows": rows}, "read: skiprows: found .*; allowed: a whole number"))
for unknown in ("utf-9", "rot13", 7, ""):
    REFUSED.append((TABLE, {"encoding": unknown}, "read: encoding: found .*; allowed: utf-8, utf-16"))
# A wrong number among the first samples is no header.
for wrong in ("1;x", "x;1", "1;2;3", "1", "1.2.3;4"):
    REFUSED += [("\n".join(["u;y", ROWS[0], wrong, *ROWS]), {}, "a.csv: line 3")]
    REFUSED += [("\n".join(["u;y", wrong, *ROWS]), {}, "a.csv: line 2")]


@pytest.mark.parametrize(("text", "form", "message"), REFUSED)
def test_what_is_wrong_is_told_by_line_or_option(
    tmp_path: Path, text: str | bytes, form: dict[str, Any], message: str
) -> None:
    with pytest.raises(NarxbenchError, match=message):
        _read(tmp_path, text, read=form)


def test_files_in_other_units_are_no_experiments_of_one_system(tmp_path: Path) -> None:
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text(f"u [V];y [K]\n{TABLE}")
    second.write_text(f"u [mV];y [K]\n{TABLE}0;0\n")
    check_refused(r"b.csv: found u in mV; allowed: V as in .*a.csv", [first, second], input="u", output="y")
