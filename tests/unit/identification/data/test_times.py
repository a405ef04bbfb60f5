"""Times in the forms that loggers write: each is read as the seconds that it means, told, or asked about."""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.readings import check_refused, lengths, notes, read

from narxbench import NarxbenchError

N = 60
Y = np.round(np.cos(np.arange(5000.0) ** 1.5), 3)
START = datetime(2024, 5, 31, 23, 59, 40)
DAY, SLASHES = "%Y-%m-%d %H:%M:%S", "%d/%m/%Y %H:%M:%S"


def _stamps(time_format: str, step: float, start: datetime = START, count: int = N) -> list[str]:
    return [(start + timedelta(seconds=step * i)).strftime(time_format) for i in range(count)]


def _read(folder: Path, times: Sequence[Any], name: str = "time", **arguments: Any) -> Any:
    """Read times from a file, and compare with a mapping of arrays, where they are of the same kind."""
    values = Y[: len(times)].tolist()
    pd.DataFrame({name: list(map(str, times)), "y": values}).to_csv(folder / "a.csv", sep=";", index=False, quoting=3)
    recording = read(folder / "a.csv", **({"output": "y"} | arguments))
    arrays = read({name: list(times), "y": values}, **({"output": "y"} | arguments))
    assert arrays.sampling_time == recording.sampling_time
    assert lengths(arrays) == lengths(recording)
    return recording


def _numbers(first: float, step: float = 1) -> list[float]:
    return [first + step * k for k in range(N)]


def _epoch(scale: int, step: float) -> list[int]:
    return [1_717_156_800 * scale + round(step * scale) * k for k in range(N)]


def _local_times(start: datetime, step: int, count: int) -> list[str]:
    """Return what a clock on a wall in Berlin shows."""
    moments = pd.date_range(start, periods=count, freq=f"{step}s", tz="UTC").tz_convert("Europe/Berlin")
    return moments.strftime(DAY).tolist()


# Formats of stamps, the seconds between them, and words of a note.
FORMATS = [
    ("%Y-%m-%dT%H:%M:%S.%f", 0.5, ""),
    ("%Y-%m-%dT%H:%M:%S.%f+02:00", 0.5, ""),
    ("%d %B %Y %H:%M:%S.%f", 3600.0, ""),
    ("%b %d, %Y %I:%M:%S.%f %p", 3600.0, ""),
    ("%A, %d. %B %Y %H:%M:%S.%f", 0.5, ""),
    ("%Y%m%dT%H%M%S.%f", 10.0, ""),
    ("%m/%d/%Y %I:%M:%S.%f %p", 3600.0, ""),
    ("%a %b %d %H:%M:%S.%f %Y", 0.5, ""),
    ("%Y-%m-%d %H:%M:%S UTC", 1.0, ""),
    ("%G-W%V-%uT%H:%M:%S", 60.0, ""),
    ("%H:%M:%S.%f", 0.5, "go over midnight: line"),
    ("%I:%M:%S %p", 30, "go over midnight: line"),
    ("%H:%M:%S:%f", 0.5, "go over midnight: line"),
    ("%H:%M", 3600, "go over midnight: line"),
    ("%Y%m%d%H%M", 60, "taken as dates, YYYYMMDD"),
    ("%Y%m%d", 86400, "taken as dates, YYYYMMDD"),
]
HALVES = "\n".join(_stamps("%d-%m-%Y %H:%M:%S.%f", 0.5)).replace(".000000", "").splitlines()
COMMAS = "\n".join(HALVES).replace(".", ",").splitlines()
SPRING, AUTUMN = datetime(2024, 3, 30, 20), datetime(2024, 10, 26, 20)
DATENUMS = _numbers(739_403, 1 / 86_400)
D_M_Y, M_D_Y = {"time_format": "d/m/y"}, {"time_format": "m/d/y"}
# Days that may be months.
UNCLEAR = [f"{day:02}/{month}/2024" for month, day in product(("03", "04"), range(1, 12))]
# Times, the seconds between them, words of a note, and how they are read.
EVEN: list[tuple[Sequence[Any], float, str, dict[str, Any]]] = [
    # Fractions of seconds that whole seconds do not have.
    (HALVES, 0.5, "", {}),
    (COMMAS[1:], 0.5, "", {}),
    (2.5 * np.arange(N), 0.0025, "", {"name": "Time [ms]"}),
    (np.arange(N), 1e-6, "", {"name": "time_us"}),
    (np.arange(N), 60, "", {"name": "Zeit (min)"}),
    (np.round(np.arange(N) / 60, 2), 1 / 60, "", {"name": "sampling_time"}),  # steps of .01 and .02, rounded
    # Clock times that count hours or days.
    ([f"{20 + i // 60}:{i % 60:02}:00" for i in range(0, 720, 10)], 600, "", {}),
    ([f"{i // 4} days {6 * (i % 4):02}:00:00" for i in range(N)], 6 * 3600, "", {}),
    # An order of day and month that does not matter, or that the values or the user show.
    (_stamps(SLASHES, 1, datetime(2024, 4, 3, 12)), 1, "", {}),
    (_stamps(SLASHES, 1, datetime(2024, 4, 3, 23, 59, 30)), 1, "dates were read as d/m/y, which gives even steps", {}),
    (_stamps("%m/%d/%Y", 86_400), 86_400, "", {}),
    (_stamps("%d.%m.%Y", 86_400, datetime(2024, 1, 1), 12), 86_400, "dates were read as day.month.year", {}),
    (_stamps("%y/%m/%d", 86_400, datetime(1995, 1, 1)), 86_400, "", {}),
    (UNCLEAR[:11], 86_400, "", D_M_Y),
    # Formats of strptime, and centuries.
    (_stamps("%Y, day %j, %H h %M", 60), 60, "", {"time_format": "%Y, day %j, %H h %M"}),
    (_stamps("%M:%S", 1, START.replace(minute=2)), 1, "", {"time_format": "%M:%S"}),
    (_stamps("%Y%m%d%H", 3600), 3600, "", {"time_format": "%Y%m%d%H"}),
    (_stamps(DAY, 60, datetime(1000, 6, 1)), 60, "", {}),
    # Numbers are epochs, dates without marks, or seconds; what is said prevails.
    (_epoch(1, 1), 1, "", {}),
    (_epoch(1000, 0.1), 0.1, "taken as milliseconds since 1970, from 2024-05-31 on", {"name": "epoch"}),
    (_epoch(10**6, 0.001), 0.001, "taken as microseconds since 1970, from 2024-05-31 on", {}),
    (_epoch(10**9, 1e-6), 1e-6, "taken as nanoseconds since 1970, from 2024-05-31 on", {}),
    (_epoch(10**9, 1e-6), 1e-6, "", {"time_format": "ns"}),
    (_epoch(1000, 0.1), 100, "", {"name": "time [s]"}),
    (list(map(int, _stamps("%Y%m%d", 86_400))), 86_400, "taken as dates, YYYYMMDD", {}),
    (range(20240531, 20240531 + N), 1, "time from column time (1 s)", {}),
    (DATENUMS, 1, "", {"time_format": "d"}),
    (_numbers(10**10), 1, "", {"name": "t [s]"}),
    (_local_times(SPRING, 900, 48), 900, "the clock goes forward by an hour", {}),
    (_local_times(AUTUMN, 3600, 40), 3600, "the clock goes back by an hour", {}),
]


for form, seconds, note in FORMATS:
    EVEN.append((_stamps(form, seconds), seconds, note, {}))


@pytest.mark.parametrize(("times", "step", "words", "arguments"), EVEN)
def test_even_times(tmp_path: Path, times: Any, step: float, words: str, arguments: dict[str, Any]) -> None:
    recording = _read(tmp_path, times, **arguments)
    assert recording.sampling_time == pytest.approx(step, rel=1e-2 if step == 1 / 60 else 1e-4)
    assert lengths(recording) == [len(times)] and words in notes(recording)
    assert "uneven" not in notes(recording)
    # Where nothing was assumed but the column of the time, nothing else is told.
    assert words or "taken as" not in notes(recording)


def test_columns_that_are_no_time(tmp_path: Path) -> None:
    # A T is rather a temperature.
    for unknown in ("T", "time [cycles]"):
        assert _read(tmp_path, range(N), unknown).sampling_time is None
    assert _read(tmp_path, UNCLEAR[:11], "date", **M_D_Y, time=False).sampling_time is None
    assert read({"time": np.arange(N), "y": Y[:N]}, output="time").sampling_time is None


DATES, CLOCK_TIMES = _stamps(DAY, 1), _stamps("%H:%M:%S", 1)
AMERICAN = _stamps("%m/%d/%Y", 86_400)
SECONDS = np.resize(np.arange(60.0), 600)
UNCLEAR_ORDER = "a.csv: time_format: found dates such as 01/03/2024 in line 2, whose order is not clear.*m/d/y"
# Times, how they are read, and the message. One that is not chosen, but is a time by its name, is asked about too.
REFUSED: list[tuple[Sequence[Any], dict[str, Any], str]] = [
    (UNCLEAR, {}, UNCLEAR_ORDER),
    (AMERICAN, {**D_M_Y}, "line 2, column time: found '05/31/2024', which is no date of the order d/m/y"),
    (_stamps("%Y", 60), {"time_format": "%d %m"}, "line 2, column time: found .*; allowed: the format %d %m"),
    (range(N), {**D_M_Y}, "time_format: found d/m/y, but time has numbers; allowed: a unit, s, ms"),
    (DATES, {"time_format": "ms"}, "time_format: found ms, but '2024-.*' in line 2 is no number; allowed: d/m/y"),
    (DATES, {"time_format": "%Y %"}, "time_format: found '%Y %' .*; allowed: a format of strptime"),
    ([f"{day} Mai 2024" for day in range(1, 31)], {}, "found '1 Mai 2024', which is no date with an English month"),
    (["tomorrow"] * N, {}, "line 2, .*; allowed: numbers, or a date and time such as"),
    (SECONDS, {}, "line 62, column time: found an earlier time than in line 61; allowed: times that increase"),
    ([*range(31), 31.5, *range(33, N)], {}, "line 33.* found a step of 1.5, 50% off the median of 1"),
]
for wrong in ("2024-13-01 00:00:00", "31.05.2024", "x"):
    REFUSED.append(([*DATES[:10], wrong, *DATES[11:]], {}, "line 12"))
for wrong in ("10:61:00", "x"):
    REFUSED.append(([*CLOCK_TIMES[:10], wrong, *CLOCK_TIMES[11:]], {}, "line 12.*no clock time"))


@pytest.mark.parametrize(("times", "arguments", "message"), REFUSED)
def test_times_that_are_refused_or_asked_about(
    tmp_path: Path, times: Sequence[Any], arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(NarxbenchError, match=message):
        _read(tmp_path, times, **({"time": 1} | arguments))


def test_objects_that_are_no_times() -> None:
    first = datetime(2024, 1, 1)
    times: Any
    for times, message in (
        (["nan"] * N, "data: column time: found no value; needed: times"),
        ([None] * N, "data: column time: found no value; needed: times"),
        ([first, *["2024-01-01T00:00:01+02:00"] * (N - 1)], "row 2, .* is no date of the form of"),
        ([first, *[3] * (N - 1)], "row 2, column time: found 3; allowed: a date and time, as in other"),
    ):
        check_refused(message, {"time": times, "y": Y[:N]}, output="y", time="time")


FIRST_HOUR, THIRD_HOUR = _stamps(DAY, 60, SPRING), _stamps(DAY, 60, SPRING + timedelta(hours=2))
POINTS = _stamps("%d.%m.%Y %H:%M:%S", 1)
# Times, the samples of each record, and words of a note.
CUT: list[tuple[Sequence[Any], list[int], str]] = [
    # An hour of the night of a change of clocks that is missing from hourly data, and hours at other times.
    (_local_times(SPRING, 3600, 40), [35], "the time jumps once"),
    (FIRST_HOUR + THIRD_HOUR, [N, N], "the time jumps once"),
    (FIRST_HOUR * 2, [N, N], "the time goes back once, and the data were cut there: line 62"),
    # A time zone tells what the clock does.
    (pd.Series(_local_times(SPRING, 60, 600)).add("+01:00").tolist(), [300, 300], "the time jumps once"),
    # Experiments one below the other.
    ([*np.arange(100) / 4, *np.arange(250) / 4], [100, 250], "the time goes back once"),
    ([*POINTS[:25], *POINTS[28:]], [25, 32], "the time jumps once, and the data were cut there: line 27"),
    ([*POINTS[:20], "", *POINTS[21:]], [20, 39], "line 22"),
]


@pytest.mark.parametrize(("times", "samples", "words"), CUT)
def test_times_that_jump_or_are_missing_cut_the_data(
    tmp_path: Path, times: Sequence[Any], samples: list[int], words: str
) -> None:
    recording = _read(tmp_path, times, time="time")
    assert lengths(recording) == samples and words in notes(recording)


def test_a_missing_object_cuts_the_data() -> None:
    for nothing in (math.nan, None, pd.NaT, pd.NA):
        times = pd.Series([*POINTS[:20], nothing, *POINTS[21:]], dtype=object)
        assert lengths(read({"time": times, "y": Y[:N]}, output="y")) == [20, 39]


def test_dates_of_python_and_zones_of_pandas() -> None:
    days, seconds = pd.date_range("2024-01-01", periods=N), pd.date_range(START, periods=N, freq="1s")
    for times, step in ((days.date.tolist(), 86_400), (seconds.time.tolist(), 1), (days.tz_localize("UTC"), 86_400)):
        assert read({"time": times, "y": Y[:N]}, output="y").sampling_time == step
    times = pd.to_datetime(_local_times(AUTUMN, 900, 48))
    assert len(read(pd.DataFrame({"y": Y[:48]}, index=times), output="y").records) == 1


def test_date_and_clock_time_in_two_columns(tmp_path: Path) -> None:
    for names, date_format in ((("Date", "Time"), "%Y-%m-%d"), (("Datum", "Uhrzeit"), "%d/%m/%Y")):
        frame = pd.DataFrame({names[0]: _stamps(date_format, 1), names[1]: _stamps("%H:%M:%S", 1), "y": Y[:N]})
        frame.to_csv(tmp_path / "a.csv", index=False)
        for data in (tmp_path / "a.csv", frame):
            recording = read(data, output="y")
            assert recording.sampling_time == 1 and lengths(recording) == [N]
            assert f"time from columns {names[0]} and {names[1]} (1 s)" in notes(recording)
            assert "no input was named" not in notes(recording)
            assert read(data, output="y", time=",".join(names)).sampling_time == 1


@pytest.mark.parametrize("times", [DATES, CLOCK_TIMES[30:], _numbers(0, 0.5), _local_times(AUTUMN, 900, 40)])
def test_rows_with_the_newest_first_are_read_upwards(tmp_path: Path, times: list[Any]) -> None:
    expected = _read(tmp_path, times)
    frame = pd.DataFrame({"time": times, "y": Y[: len(times)]})[::-1]
    frame.to_csv(tmp_path / "b.csv", index=False)
    for data in (frame, tmp_path / "b.csv"):
        recording = read(data, output="y")
        (record,) = recording.records
        assert record.y.tolist() == expected.records[0].y.tolist()
        assert record.index.tolist() == expected.records[0].index.tolist()
        assert recording.sampling_time == expected.sampling_time
        assert "the newest row is first, so the rows were read upwards" in notes(recording)
    # Lines are those of the file.
    frame.iloc[9, 1] = np.nan
    frame.to_csv(tmp_path / "b.csv", index=False)
    assert "line 11" in notes(read(tmp_path / "b.csv", output="y", bridge=0))


def test_rows_that_come_twice(tmp_path: Path) -> None:
    frame = pd.DataFrame({"time": np.arange(N), "y": Y[:N]})
    twice = pd.concat([frame[:20], frame[19:]])
    twice.to_csv(tmp_path / "a.csv", index=False)
    for data, place in ((twice, "row 21"), (tmp_path / "a.csv", "line 22")):
        recording = read(data, output="y")
        assert lengths(recording) == [N]
        assert f"left out, for time and values are those of the row before: {place}" in notes(recording)
    # Other values at the same time, or many such rows, show that the column is no time.
    for data, message in (
        (frame.replace({"time": {20: 19}}), "row 21, column time: found the same time as in row 20"),
        (frame.loc[np.arange(N).repeat(2)], "row 2, column time: found the same time as in row 1, and so in 60"),
    ):
        recording = read(data, output="y")
        assert recording.sampling_time is None and message in notes(recording)
        check_refused(message, data, output="y", time="time")


def test_times_that_are_nearly_even(tmp_path: Path) -> None:
    even = np.arange(float(N))
    wave = np.sin(even)
    assert "uneven" not in notes(_read(tmp_path, even + 0.003 * wave))
    with pytest.raises(NarxbenchError, match="which is uneven"):
        _read(tmp_path, even + 0.2 * wave)
    assert _read(tmp_path, even + 0.2 * wave, time=False).sampling_time is None
    stamps = _stamps("%Y-%m-%dT%H:%M:%S.000", 1)
    stamps[30] = stamps[30].replace(".000", ".050")
    uneven = "sampling is uneven, steps are up to 5.0% off the median (column time, line 32)"
    assert uneven in notes(_read(tmp_path, stamps))
