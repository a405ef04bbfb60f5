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
from tests.readings import lengths, notes, read

from narxbench import NarxbenchError

N = 60
Y = np.round(np.cos(np.arange(5000.0) ** 1.5), 3)
START = datetime(2024, 5, 31, 23, 59, 40)
DAY = "%Y-%m-%d %H:%M:%S"


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


@pytest.mark.parametrize(
    ("time_format", "step"),
    [
        ("%Y-%m-%dT%H:%M:%S.%f", 0.5),
        ("%Y-%m-%dT%H:%M:%S.%f+02:00", 0.5),
        ("%d.%m.%y %H:%M:%S,%f", 0.5),
        ("%d %B %Y %H:%M:%S.%f", 3600.0),
        ("%b %d, %Y %I:%M:%S.%f %p", 3600.0),
        ("%A, %d. %B %Y %H:%M:%S.%f", 0.5),
        ("%Y%m%dT%H%M%S.%f", 10.0),
        ("%Y-%m-%d %I:%M:%S.%f %p", 3600.0),
        ("%m/%d/%Y %I:%M:%S.%f %p", 3600.0),
        ("%a %b %d %H:%M:%S.%f %Y", 0.5),
        ("%Y-%m-%d %H:%M:%S UTC", 1.0),
        ("%d.%m.%Y %H:%M:%S GMT", 10.0),
        ("%G-W%V-%uT%H:%M:%S", 60.0),
    ],
)
def test_dates_and_clock_times(tmp_path: Path, time_format: str, step: float) -> None:
    recording = _read(tmp_path, _stamps(time_format, step))
    assert recording.sampling_time == step and lengths(recording) == [N]


def test_fractions_of_seconds_that_whole_seconds_do_not_have(tmp_path: Path) -> None:
    for mark, first in product(".,", (0, 1)):
        stamps = [text.replace(".000000", "").replace(".", mark) for text in _stamps("%d-%m-%Y %H:%M:%S.%f", 0.5)]
        assert _read(tmp_path, stamps[first:]).sampling_time == 0.5


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
    ],
)
def test_units_in_names(name: str, times: Any, expected: float) -> None:
    recording = read({name: times, "y": Y[:N]}, output="y")
    assert recording.sampling_time == pytest.approx(expected, rel=1e-2 if expected == 1 / 60 else 1e-4)
    assert lengths(recording) == [N] and "uneven" not in notes(recording)
    # A T is rather a temperature.
    for unknown in ("T", "time [cycles]"):
        assert read({unknown: np.arange(N), "y": Y[:N]}, output="y").sampling_time is None


@pytest.mark.parametrize(
    ("time_format", "step"),
    [("%H:%M:%S.%f", 0.5), ("%H:%M:%S", 1), ("%I:%M:%S %p", 30), ("%H:%M", 60), ("%H:%M:%S:%f", 0.25), ("%H:%M", 3600)],
)
def test_clock_times_go_over_midnight(tmp_path: Path, time_format: str, step: float) -> None:
    recording = _read(tmp_path, _stamps(time_format, step))
    assert recording.sampling_time == step and lengths(recording) == [N]
    assert ("the clock times go over midnight: line" in notes(recording)) == (step * N > 20)


def test_clock_times_that_count_hours_or_days(tmp_path: Path) -> None:
    hours = [f"{20 + i // 60}:{i % 60:02}:00" for i in range(0, 720, 10)]
    recording = _read(tmp_path, hours)
    assert recording.sampling_time == 600 and "midnight" not in notes(recording)
    days = [f"{i // 4} days {6 * (i % 4):02}:00:00" for i in range(N)]
    recording = _read(tmp_path, days)
    assert recording.sampling_time == 6 * 3600 and lengths(recording) == [N]


def test_an_order_of_day_and_month_that_is_not_clear_is_asked_about(tmp_path: Path) -> None:
    days = [f"{day:02}/{month}/2024" for month, day in product(("03", "04"), range(1, 12))]
    found = r"a.csv: time_format: found dates such as 01/03/2024 in line 2, whose order is not clear.*m/d/y"
    # A column that is a time by its name is asked about too.
    for chosen in ({"time": "date"}, {}):
        with pytest.raises(NarxbenchError, match=found):
            _read(tmp_path, days, "date", **chosen)
    assert _read(tmp_path, days[:11], "date", time_format="d/m/y").sampling_time == 86_400
    assert _read(tmp_path, days[:11], "date", time_format="m/d/y", time=False).sampling_time is None


def test_an_order_of_day_and_month_that_does_not_matter_or_that_the_values_show(tmp_path: Path) -> None:
    one_day = _stamps("%d/%m/%Y %H:%M:%S", 1, datetime(2024, 4, 3, 12))
    assert _read(tmp_path, one_day).sampling_time == 1
    over_midnight = _stamps("%d/%m/%Y %H:%M:%S", 1, datetime(2024, 4, 3, 23, 59, 30))
    recording = _read(tmp_path, over_midnight)
    assert recording.sampling_time == 1 and "dates were read as d/m/y, which gives even steps" in notes(recording)
    american = _stamps("%m/%d/%Y", 86_400)
    assert _read(tmp_path, american).sampling_time == 86_400
    found = r"line 2, column time: found '05/31/2024', which is no date of the order d/m/y"
    with pytest.raises(NarxbenchError, match=found):
        _read(tmp_path, american, time="time", time_format="d/m/y")
    points = _read(tmp_path, _stamps("%d.%m.%Y", 86_400, datetime(2024, 1, 1), 12))
    assert points.sampling_time == 86_400 and "dates were read as day.month.year" in notes(points)
    assert _read(tmp_path, _stamps("%y/%m/%d", 86_400, datetime(1995, 1, 1))).sampling_time == 86_400


def test_a_format_that_the_user_says(tmp_path: Path) -> None:
    time_format = "%Y, day %j, %H h %M"
    assert _read(tmp_path, _stamps(time_format, 60), time_format=time_format).sampling_time == 60
    assert _read(tmp_path, _stamps("%M:%S", 1, START.replace(minute=2)), time_format="%M:%S").sampling_time == 1
    assert _read(tmp_path, _stamps("%Y%m%d%H", 3600), time_format="%Y%m%d%H").sampling_time == 3600
    days = _stamps("%Y-%m-%d", 86_400)
    for times, said, message in (
        (_stamps("%Y", 60), "%d %m", r"line 2, column time: found .*; allowed: the format %d %m"),
        (range(N), "d/m/y", r"time_format: found d/m/y, but time has numbers; allowed: a unit, s, ms"),
        (days, "ms", r"time_format: found ms, but '2024-.*' in line 2 is no number; allowed: d/m/y"),
        (days, "%Y-%m-%d %", r"time_format: found '%Y-%m-%d %' .*; allowed: a format of strptime"),
    ):
        with pytest.raises(NarxbenchError, match=message):
            _read(tmp_path, times, time="time", time_format=said)


def test_times_of_any_century(tmp_path: Path) -> None:
    for year, time_format in product((1000, 1700, 2300, 9000), (DAY, "%d.%m.%Y %H:%M:%S")):
        stamps = _stamps(time_format, 60, datetime(year, 6, 1))
        assert _read(tmp_path, stamps).sampling_time == 60
        assert _read(tmp_path, stamps, time_format=time_format).sampling_time == 60


EPOCHS = [("s", 1, 1.0, ""), ("ms", 1000, 0.1, "milliseconds"), ("us", 10**6, 0.001, "microseconds")]


@pytest.mark.parametrize(("unit", "scale", "step", "words"), [*EPOCHS, ("ns", 10**9, 1e-6, "nanoseconds")])
def test_epochs(tmp_path: Path, unit: str, scale: int, step: float, words: str) -> None:
    times = [1_717_156_800 * scale + round(step * scale) * i for i in range(N)]
    for name in ("time", "epoch"):
        recording = _read(tmp_path, times, name)
        assert recording.sampling_time == pytest.approx(step, rel=1e-12)
        if words:
            assert f"digits were taken as {words} since 1970, from 2024-05-31 on" in notes(recording)
    said = _read(tmp_path, times, time_format=unit)
    assert said.sampling_time == pytest.approx(step, rel=0.2 if unit == "ns" else 1e-6)
    assert "taken as" not in notes(said)
    # A unit in the name prevails.
    assert _read(tmp_path, times, "time [s]").sampling_time == pytest.approx(step * scale, rel=0.2)


@pytest.mark.parametrize(("time_format", "step"), [("%Y%m%d%H%M", 60), ("%Y%m%d%H%M%S", 1), ("%Y%m%d", 86_400)])
def test_dates_without_marks(tmp_path: Path, time_format: str, step: float) -> None:
    stamps = _stamps(time_format, step)
    for times in (stamps, list(map(int, stamps))):
        recording = _read(tmp_path, times)
        assert recording.sampling_time == step and lengths(recording) == [N]
        assert "digits were taken as dates, YYYYMMDD" in notes(recording)
    # Numbers that only begin like dates are seconds.
    recording = _read(tmp_path, range(20240531, 20240531 + N))
    assert recording.sampling_time == 1 and "dates" not in notes(recording)


def test_numbers_of_a_unit_that_is_not_clear_are_asked_about(tmp_path: Path) -> None:
    days = (739_403 + np.arange(N) / 86_400).tolist()
    for name in ("time", "datenum"):
        with pytest.raises(NarxbenchError, match=r"time_format: .*seconds, or days of MATLAB .*; allowed: s or d"):
            _read(tmp_path, days, name)
        assert _read(tmp_path, days, name, time_format="d").sampling_time == pytest.approx(1.0, rel=1e-3)
    assert _read(tmp_path, days, time_format="s").sampling_time == pytest.approx(1 / 86_400, rel=1e-3)
    for first in (10**10, 10**14):
        times = list(range(first, first + N))
        with pytest.raises(NarxbenchError, match=r"is no date in s, ms, us or ns since 1970; allowed: the unit, s, ms"):
            _read(tmp_path, times)
        assert _read(tmp_path, times, time_format="ms").sampling_time == pytest.approx(0.001)
        assert _read(tmp_path, times, "t [s]").sampling_time == 1


def test_date_and_clock_time_in_two_columns(tmp_path: Path) -> None:
    for names, date_format in ((("Date", "Time"), "%Y-%m-%d"), (("Datum", "Uhrzeit"), "%d/%m/%Y")):
        frame = pd.DataFrame({names[0]: _stamps(date_format, 1), names[1]: _stamps("%H:%M:%S", 1), "y": Y[:N]})
        frame.to_csv(tmp_path / "a.csv", index=False)
        for data in (tmp_path / "a.csv", frame):
            recording = read(data, output="y")
            assert recording.sampling_time == 1 and lengths(recording) == [N]
            assert f"time from columns {names[0]} and {names[1]} (1 s)" in notes(recording)
            assert "no input was named" not in notes(recording)
            assert read(data, output="y", time=list(names)).sampling_time == 1
            assert read(data, output="y", time=",".join(names)).sampling_time == 1


def _local_times(start: datetime, step: int, count: int) -> list[str]:
    """Return what a clock on a wall in Berlin shows."""
    moments = pd.date_range(start, periods=count, freq=f"{step}s", tz="UTC").tz_convert("Europe/Berlin")
    return moments.strftime(DAY).tolist()


SPRING, AUTUMN = datetime(2024, 3, 30, 20), datetime(2024, 10, 26, 20)


@pytest.mark.parametrize(
    ("start", "step", "words"),
    [
        (SPRING, 900, "goes forward by an hour"),
        (AUTUMN, 60, "goes back by an hour"),
        (AUTUMN, 3600, "goes back by an hour"),
    ],
)
def test_changes_of_summer_time(tmp_path: Path, start: datetime, step: int, words: str) -> None:
    times = _local_times(start, step, 43_200 // step)
    recording = _read(tmp_path, times)
    assert recording.sampling_time == step and len(recording.records) == 1
    (change,) = np.flatnonzero(np.diff(pd.to_datetime(times)) != np.timedelta64(step, "s"))
    assert f"the clock {words}" in notes(recording) and f"line {change + 3};" in notes(recording)
    # It also is one for an index, and where the newest row stands first.
    index = pd.DataFrame({"y": Y[: len(times)]}, index=pd.to_datetime(times))
    assert len(read(index, output="y").records) == 1
    frame = pd.DataFrame({"time": times, "y": Y[: len(times)]})
    frame[::-1].to_csv(tmp_path / "b.csv", index=False)
    upwards = read(tmp_path / "b.csv", output="y")
    assert upwards.records[0].y.tolist() == frame.y.tolist() and f"the clock {words}" in notes(upwards)


def test_an_hour_at_another_time_cuts_the_data(tmp_path: Path) -> None:
    assert lengths(_read(tmp_path, _local_times(SPRING, 3600, 40))) == [35]
    for start in (datetime(2024, 3, 30, 8), datetime(2024, 3, 27, 20)):
        times = [*_stamps(DAY, 60, start), *_stamps(DAY, 60, start + timedelta(hours=2))]
        recording = _read(tmp_path, times)
        assert lengths(recording) == [N, N] and "the time jumps once" in notes(recording)
        recording = _read(tmp_path, [*times[:N], *_stamps(DAY, 60, start)], time="time")
        assert lengths(recording) == [N, N]
        assert "the time goes back once, and the data were cut there: line 62" in notes(recording)
    # A time zone tells what the clock does.
    zoned = [text + "+01:00" for text in _local_times(SPRING, 60, 600)]
    assert lengths(_read(tmp_path, zoned)) == [300, 300]


def test_experiments_one_below_the_other_are_cut_where_the_time_begins_anew(tmp_path: Path) -> None:
    for experiments in ([100, 250], [150, 150, 150]):
        times = np.concatenate([np.arange(length) / 4 for length in experiments]).tolist()
        recording = _read(tmp_path, times)
        assert lengths(recording) == experiments and recording.sampling_time == 0.25
    # A counter that begins anew every minute is no time.
    seconds = [float(k % 60) for k in range(600)]
    recording = _read(tmp_path, seconds)
    assert len(recording.records) == 1 and recording.sampling_time is None
    assert "line 62, column time: found an earlier time than in line 61" in notes(recording)
    with pytest.raises(NarxbenchError, match=r"column time: found an earlier time .*; allowed: times that increase"):
        _read(tmp_path, seconds, time="time")


@pytest.mark.parametrize("form", [DAY, "%d.%m.%Y %H:%M:%S", "%H:%M:%S", "seconds"])
def test_rows_with_the_newest_first_are_read_upwards(tmp_path: Path, form: str) -> None:
    times = [0.5 * k for k in range(N)] if form == "seconds" else _stamps(form, 60, datetime(2024, 5, 31, 8))
    expected = _read(tmp_path, times)
    frame = pd.DataFrame({"time": times, "y": Y[:N]})[::-1]
    frame.to_csv(tmp_path / "b.csv", index=False)
    for data in (frame, tmp_path / "b.csv"):
        recording = read(data, output="y")
        (record,) = recording.records
        assert record.y.tolist() == expected.records[0].y.tolist()
        assert record.index.tolist() == expected.records[0].index.tolist()
        assert recording.sampling_time == expected.sampling_time
        assert "the newest row stands first, so that rows were read upwards" in notes(recording)
    # Lines are those of the file.
    frame.iloc[9, 1] = np.nan
    frame.to_csv(tmp_path / "b.csv", index=False)
    assert "line 11" in notes(read(tmp_path / "b.csv", output="y", bridge=0))


def test_rows_that_come_twice(tmp_path: Path) -> None:
    rows = pd.Series(Y[:N]).to_csv(sep=";", header=False).splitlines()
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["time;y", *rows[:20], rows[19], *rows[20:]]))
    recording = read(path, output="y")
    assert lengths(recording) == [N]
    assert "1 row was left out, for time and values are those of the row before: line 22" in notes(recording)
    # Other values at the same time, or many such rows, show that the column is no time.
    frame = pd.DataFrame({"time": np.arange(N), "y": Y[:N]})
    other = frame.replace({"time": {20: 19}})
    for data, message in (
        (other, "row 21, column time: found the same time as in row 20"),
        (frame.loc[np.arange(N).repeat(2)], "row 2, column time: found the same time as in row 1, and so in 60"),
    ):
        recording = read(data, output="y")
        assert recording.sampling_time is None and message in notes(recording)
        with pytest.raises(NarxbenchError, match=message):
            read(data, output="y", time="time")
    assert read(frame, output="time").sampling_time is None


def test_uneven_times_are_told_by_line_or_refused(tmp_path: Path) -> None:
    even = np.arange(float(N))
    wave = np.sin(even)
    assert "uneven" not in notes(read({"t": even + 0.003 * wave, "y": Y[:N]}, output="y"))
    with pytest.raises(NarxbenchError, match="which is uneven"):
        read({"t": even + 0.2 * wave, "y": Y[:N]}, output="y")
    assert read({"t": even + 0.2 * wave, "y": Y[:N]}, output="y", time=False).sampling_time is None
    stamps = _stamps("%Y-%m-%dT%H:%M:%S.000", 1)
    stamps[30] = stamps[30].replace(".000", ".050")
    recording = _read(tmp_path, stamps)
    assert "sampling is uneven, steps are up to 5.0% off the median (column time, line 32)" in notes(recording)
    stamps = _stamps("%d.%m.%Y %H:%M:%S", 1)
    recording = _read(tmp_path, [*stamps[:25], *stamps[28:]])
    assert "the time jumps once, and the data were cut there: line 27" in notes(recording)
    with pytest.raises(NarxbenchError, match=r"line 33.* found a step of 1.5, 50% off the median of 1"):
        _read(tmp_path, [*range(31), 31.5, *range(33, N)], time="time")


def test_times_that_are_missing(tmp_path: Path) -> None:
    for times in (["nan"] * N, [None] * N, [np.nan] * N):
        with pytest.raises(NarxbenchError, match=r"data: column time: found no value; needed: times"):
            read({"time": times, "y": Y[:N]}, output="y", time="time")
    # A single one is a gap.
    stamps = _stamps("%d.%m.%Y %H:%M:%S", 1)
    for missing in ("", "NaT"):
        assert lengths(_read(tmp_path, [*stamps[:20], missing, *stamps[21:]])) == [20, 39]
    for nothing in (math.nan, None, pd.NaT, pd.NA):
        times = pd.Series([*stamps[:20], nothing, *stamps[21:]], dtype=object)
        assert lengths(read({"time": times, "y": Y[:N]}, output="y")) == [20, 39]


DATES, CLOCK_TIMES = _stamps(DAY, 1), _stamps("%H:%M:%S", 1)


@pytest.mark.parametrize(
    ("times", "wrong", "message"),
    [
        *((DATES, wrong, "found") for wrong in ("2024-13-01 00:00:00", "2024-02-30 00:00:00", "31.05.2024", "x")),
        *((CLOCK_TIMES, wrong, "found .*, which is no clock time") for wrong in ("10:61:00", "x")),
        (_stamps("%d %b %Y", 86_400), "1 Mai 2024", "found"),
        ([*["1 Mär 2024"] * 10, *DATES], "1 Mär 2024", "found"),
    ],
)
def test_a_time_of_another_form_is_refused(tmp_path: Path, times: list[str], wrong: str, message: str) -> None:
    rows = [*times[:10], wrong, *times[11:]]
    with pytest.raises(NarxbenchError, match=rf"line (12|2), column time: {message}"):
        _read(tmp_path, rows, time="time")


def test_dates_of_python_in_a_frame() -> None:
    days = pd.date_range("2024-01-01", periods=N).date.tolist()
    assert read({"date": days, "y": Y[:N]}, output="y").sampling_time == 86_400
    clock_times = pd.date_range(START, periods=N, freq="1s").time.tolist()
    assert read({"time": clock_times, "y": Y[:N]}, output="y").sampling_time == 1
    mixed = [datetime(2024, 1, 1), *("2024-01-01T00:00:01+02:00",) * (N - 1)]
    with pytest.raises(NarxbenchError, match=r"row 2, column time: found .*, which is no date of the form of"):
        read({"time": mixed, "y": Y[:N]}, output="y", time="time")
    with pytest.raises(NarxbenchError, match=r"row 2, column time: found 3; allowed: a date and time, as in other"):
        read({"time": [datetime(2024, 1, 1), *[3] * (N - 1)], "y": Y[:N]}, output="y", time="time")
