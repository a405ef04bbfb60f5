"""Times in the forms that loggers write: each is read as the seconds that it means, told, or asked about."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from narxbench._identification.data.reading import read_recording
from narxbench._io.errors import FieldError, NarxbenchError
from narxbench._model.records import Recording

N = 60
Y = np.round(np.cos(np.arange(5000.0) ** 1.5), 3)
START = datetime(2024, 5, 31, 23, 59, 40)


def _stamps(time_format: str, step: float, start: datetime = START, count: int = N) -> list[str]:
    return [(start + timedelta(seconds=step * i)).strftime(time_format) for i in range(count)]


def _read(folder: Path, times: Sequence[Any], name: str = "time", **arguments: Any) -> Recording:
    """Read times from a file, and compare with a mapping of arrays, where they are of the same kind."""
    values = Y[: len(times)].tolist()
    pd.DataFrame({name: list(map(str, times)), "y": values}).to_csv(folder / "a.csv", sep=";", index=False, quoting=3)
    recording = read_recording(folder / "a.csv", **({"output": "y"} | arguments))
    arrays = read_recording({name: list(times), "y": values}, **({"output": "y"} | arguments))
    assert arrays.sampling_time == recording.sampling_time
    assert list(map(len, arrays.records)) == list(map(len, recording.records))
    return recording


def _notes(recording: Recording) -> str:
    return " ".join(recording.notes)


@pytest.mark.parametrize("step", [0.5, 10.0, 3600.0])
@pytest.mark.parametrize(
    "time_format",
    [
        "%Y-%m-%dT%H:%M:%S.%f",
        "%Y-%m-%d %H:%M:%S.%f",
        "%Y/%m/%d %H:%M:%S.%f",
        "%Y-%m-%dT%H:%M:%S.%f+02:00",
        "%Y-%m-%d %H:%M:%S.%fZ",
        "%d.%m.%Y %H:%M:%S.%f",
        "%d.%m.%y %H:%M:%S,%f",
        "%d-%b-%Y %H:%M:%S.%f",
        "%d %B %Y %H:%M:%S.%f",
        "%b %d, %Y %I:%M:%S.%f %p",
        "%A, %d. %B %Y %H:%M:%S.%f",
        "%Y%m%dT%H%M%S.%f",
        "%Y-%m-%d_%H:%M:%S.%f",
        "%Y-%m-%d %I:%M:%S.%f %p",
        "%d/%m/%Y %H:%M:%S.%f",
        "%m/%d/%Y %I:%M:%S.%f %p",
        "%a %b %d %H:%M:%S.%f %Y",
        "%Y-%m-%d %H:%M:%S UTC",
        "%d.%m.%Y %H:%M:%S GMT",
    ],
)
def test_dates_and_clock_times(tmp_path: Path, time_format: str, step: float) -> None:
    # Of a format without a fraction, all steps are seconds.
    step = step if "%f" in time_format else np.ceil(step)
    recording = _read(tmp_path, _stamps(time_format, step))
    assert recording.sampling_time == step
    assert list(map(len, recording.records)) == [N]


def test_fractions_of_seconds_that_whole_seconds_do_not_have(tmp_path: Path) -> None:
    for mark in ".,":
        stamps = [text.replace(".000000", "").replace(".", mark) for text in _stamps("%d-%m-%Y %H:%M:%S.%f", 0.5)]
        for first in (0, 1):
            assert _read(tmp_path, stamps[first:]).sampling_time == 0.5


@pytest.mark.parametrize(
    ("time_format", "step"),
    [("%H:%M:%S.%f", 0.5), ("%H:%M:%S", 1), ("%I:%M:%S %p", 30), ("%H:%M", 60), ("%H:%M:%S:%f", 0.25), ("%H:%M", 3600)],
)
def test_clock_times_go_over_midnight(tmp_path: Path, time_format: str, step: float) -> None:
    recording = _read(tmp_path, _stamps(time_format, step))
    assert recording.sampling_time == step and len(recording.records) == 1
    if step * N > 20:
        assert "the clock times go over midnight: line" in _notes(recording)


def test_clock_times_that_count_hours_or_days(tmp_path: Path) -> None:
    hours = [f"{20 + i // 60}:{i % 60:02}:00" for i in range(0, 720, 10)]
    recording = _read(tmp_path, hours)
    assert recording.sampling_time == 600 and "midnight" not in _notes(recording)
    days = [f"{i // 4} days {6 * (i % 4):02}:00:00" for i in range(N)]
    recording = _read(tmp_path, days)
    assert recording.sampling_time == 6 * 3600 and len(recording.records) == 1


@pytest.mark.parametrize("month", ["Mär", "Mai", "Xyz"])
def test_months_in_other_languages_are_refused(tmp_path: Path, month: str) -> None:
    stamps = [f"{day} {month} 2024" for day in range(1, 31)]
    with pytest.raises(
        NarxbenchError, match=r"line 2, column Datum: found '1 ... 2024', which is no date with an Engl"
    ):
        _read(tmp_path, stamps, "Datum", time="Datum")


def test_an_order_of_day_and_month_that_is_not_clear_is_asked_about(tmp_path: Path) -> None:
    days = [f"{day:02}/{month}/2024" for month, day in product(("03", "04"), range(1, 12))]
    with pytest.raises(
        FieldError,
        match=r"a.csv: time_format: found dates such as 01/03/2024 in line 2, whose order is not clear.*m/d/y",
    ) as error:
        _read(tmp_path, days, "date", time="date")
    assert error.value.field == "time_format"
    recording = _read(tmp_path, days[:11], "date", time_format="d/m/y")
    assert recording.sampling_time == 86_400
    months = _read(tmp_path, days[:11], "date", time_format="m/d/y", time=False)
    assert months.sampling_time is None
    # A column that is a time by its name is asked about too.
    with pytest.raises(FieldError, match=r"whose order is not clear"):
        _read(tmp_path, days[:11], "date")


def test_an_order_of_day_and_month_that_does_not_matter_or_that_the_values_show(tmp_path: Path) -> None:
    one_day = _stamps("%d/%m/%Y %H:%M:%S", 1, datetime(2024, 4, 3, 12))
    assert _read(tmp_path, one_day).sampling_time == 1
    over_midnight = _stamps("%d/%m/%Y %H:%M:%S", 1, datetime(2024, 4, 3, 23, 59, 30))
    recording = _read(tmp_path, over_midnight)
    assert recording.sampling_time == 1 and "dates were read as d/m/y, which gives even steps" in _notes(recording)
    american = _stamps("%m/%d/%Y", 86_400)
    assert _read(tmp_path, american).sampling_time == 86_400
    with pytest.raises(
        NarxbenchError, match=r"line 2, column time: found '05/31/2024', which is no date of the order d/m/y"
    ):
        _read(tmp_path, american, time="time", time_format="d/m/y")
    points = _read(tmp_path, _stamps("%d.%m.%Y", 86_400, datetime(2024, 1, 1), 12))
    assert points.sampling_time == 86_400 and "dates were read as day.month.year" in _notes(points)


def test_a_format_of_strptime(tmp_path: Path) -> None:
    time_format = "%Y, day %j, %H h %M"
    assert _read(tmp_path, _stamps(time_format, 60), time_format=time_format).sampling_time == 60
    assert _read(tmp_path, _stamps("%M:%S", 1, START.replace(minute=2)), time_format="%M:%S").sampling_time == 1
    assert _read(tmp_path, _stamps("%Y%m%d%H", 3600), time_format="%Y%m%d%H").sampling_time == 3600
    with pytest.raises(NarxbenchError, match=r"line 2, column time: found .*; allowed: the format %d %m"):
        _read(tmp_path, _stamps("%Y", 60), time="time", time_format="%d %m")


def test_a_format_for_values_of_another_kind(tmp_path: Path) -> None:
    with pytest.raises(FieldError, match=r"time_format: found d/m/y, but time has numbers; allowed: a unit, s, ms"):
        _read(tmp_path, range(N), time="time", time_format="d/m/y")
    with pytest.raises(
        FieldError, match=r"time_format: found ms, but '2024-.*' in line 2 is no number; allowed: d/m/y"
    ):
        _read(tmp_path, _stamps("%Y-%m-%d", 86_400), time="time", time_format="ms")


@pytest.mark.parametrize("time_format", ["%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%G-W%V-%uT%H:%M:%S"])
@pytest.mark.parametrize("year", [1000, 1700, 2024, 2300, 9000])
def test_times_of_any_century(tmp_path: Path, time_format: str, year: int) -> None:
    stamps = _stamps(time_format, 60, datetime(year, 6, 1))
    assert _read(tmp_path, stamps).sampling_time == 60
    assert _read(tmp_path, stamps, time_format=time_format).sampling_time == 60


@pytest.mark.parametrize(
    ("scale", "step", "words"),
    [(1, 1.0, ""), (1000, 0.1, "milliseconds"), (10**6, 0.001, "microseconds"), (10**9, 1e-6, "nanoseconds")],
)
def test_epochs(tmp_path: Path, scale: int, step: float, words: str) -> None:
    times = [1_717_156_800 * scale + round(step * scale) * i for i in range(N)]
    for name in ("time", "timestamp", "epoch"):
        recording = _read(tmp_path, times, name)
        assert recording.sampling_time == pytest.approx(step, rel=1e-12)
        if words:
            assert f"digits were taken as {words} since 1970, from 2024-05-31 on" in _notes(recording)
    unit = {1: "s", 1000: "ms", 10**6: "us", 10**9: "ns"}[scale]
    said = _read(tmp_path, times, time_format=unit)
    assert said.sampling_time == pytest.approx(step, rel=0.2 if unit == "ns" else 1e-6)
    assert "taken as" not in _notes(said)
    # A unit in the name prevails.
    assert _read(tmp_path, times, "time [s]").sampling_time == pytest.approx(step * scale, rel=0.2)


@pytest.mark.parametrize(
    ("time_format", "step"), [("%Y%m%d%H%M", 60), ("%Y%m%d%H%M%S", 1), ("%Y%m%d", 86_400), ("%Y%m%d%H%M", 900)]
)
def test_dates_without_marks(tmp_path: Path, time_format: str, step: float) -> None:
    stamps = _stamps(time_format, step)
    for times in (stamps, list(map(int, stamps))):
        recording = _read(tmp_path, times)
        assert recording.sampling_time == step and len(recording.records) == 1
        assert "digits were taken as dates, YYYYMMDD" in _notes(recording)


def test_numbers_that_only_begin_like_dates_are_seconds(tmp_path: Path) -> None:
    recording = _read(tmp_path, range(20240531, 20240531 + N))
    assert recording.sampling_time == 1 and "dates" not in _notes(recording)


@pytest.mark.parametrize("step", [1.0, 0.5, 60.0, 3600.0, 86_400.0])
def test_days_of_matlab_are_asked_about(tmp_path: Path, step: float) -> None:
    times = (739_403 + step * np.arange(N) / 86_400).tolist()
    for name in ("time", "datenum"):
        with pytest.raises(FieldError, match=r"seconds, or days of MATLAB \(datenum\); allowed: s or d") as error:
            _read(tmp_path, times, name)
        assert error.value.field == "time_format"
        assert _read(tmp_path, times, name, time_format="d").sampling_time == pytest.approx(step, rel=1e-3)
    assert _read(tmp_path, times, time_format="s").sampling_time == pytest.approx(step / 86_400, rel=1e-3)


@pytest.mark.parametrize("first", [2e8, 1e10, 1e14, -1e9])
def test_large_numbers_that_are_no_epoch_are_asked_about(tmp_path: Path, first: float) -> None:
    times = [int(first) + k for k in range(N)]
    with pytest.raises(FieldError, match=r"which is no date in s, ms, us or ns since 1970; allowed: the unit, s, ms"):
        _read(tmp_path, times)
    assert _read(tmp_path, times, time_format="ms").sampling_time == pytest.approx(0.001)
    assert _read(tmp_path, times, "t [s]").sampling_time == 1


@pytest.mark.parametrize("names", [("Date", "Time"), ("Datum", "Uhrzeit")])
@pytest.mark.parametrize("date_format", ["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y"])
def test_date_and_clock_time_in_two_columns(tmp_path: Path, names: tuple[str, str], date_format: str) -> None:
    frame = pd.DataFrame({names[0]: _stamps(date_format, 1), names[1]: _stamps("%H:%M:%S", 1), "y": Y[:N]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    for data in (tmp_path / "a.csv", frame):
        recording = read_recording(data, output="y")
        assert recording.sampling_time == 1 and len(recording.records) == 1
        assert f"time from columns {names[0]} and {names[1]} (1 s)" in _notes(recording)
        assert "no input was named" not in _notes(recording)
        assert read_recording(data, output="y", time=list(names)).sampling_time == 1
        assert read_recording(data, output="y", time=",".join(names)).sampling_time == 1


def _local_times(start: datetime, step: int, count: int) -> list[str]:
    """Return what a clock on a wall in Berlin shows."""
    moments = pd.date_range(start, periods=count, freq=f"{step}s", tz="UTC").tz_convert("Europe/Berlin")
    return moments.strftime("%Y-%m-%d %H:%M:%S").tolist()


SPRING, AUTUMN = datetime(2024, 3, 30, 20), datetime(2024, 10, 26, 20)


@pytest.mark.parametrize(
    ("start", "step", "words"),
    [
        (SPRING, 60, "goes forward by an hour"),
        (SPRING, 900, "goes forward by an hour"),
        (AUTUMN, 60, "goes back by an hour"),
        (AUTUMN, 900, "goes back by an hour"),
        (AUTUMN, 3600, "goes back by an hour"),
    ],
)
def test_changes_of_summer_time(tmp_path: Path, start: datetime, step: int, words: str) -> None:
    times = _local_times(start, step, 43_200 // step)
    recording = _read(tmp_path, times)
    assert recording.sampling_time == step and len(recording.records) == 1
    (change,) = np.flatnonzero(np.diff(pd.to_datetime(times)) != np.timedelta64(step, "s"))
    assert f"the clock {words}" in _notes(recording) and f"line {change + 3};" in _notes(recording)
    index = pd.DataFrame({"y": Y[: len(times)]}, index=pd.to_datetime(times))
    assert len(read_recording(index, output="y").records) == 1


def test_an_hour_that_is_missing_from_hourly_data_is_a_gap(tmp_path: Path) -> None:
    assert list(map(len, _read(tmp_path, _local_times(SPRING, 3600, 40)).records)) == [35]


def test_an_hour_at_another_time_cuts_the_data(tmp_path: Path) -> None:
    for start in (datetime(2024, 3, 30, 8), datetime(2024, 3, 27, 20)):
        times = [
            *_stamps("%Y-%m-%d %H:%M:%S", 60, start),
            *_stamps("%Y-%m-%d %H:%M:%S", 60, start + timedelta(hours=2)),
        ]
        recording = _read(tmp_path, times)
        assert list(map(len, recording.records)) == [N, N] and "the time jumps once" in _notes(recording)
        back = [*times[:N], *_stamps("%Y-%m-%d %H:%M:%S", 60, start)]
        recording = _read(tmp_path, back, time="time")
        assert list(map(len, recording.records)) == [N, N]
        assert "the time goes back once, and the data were cut there: line 62" in _notes(recording)
    # A time zone tells what the clock does.
    zoned = [text + "+01:00" for text in _local_times(datetime(2024, 3, 30, 20), 60, 600)]
    assert list(map(len, _read(tmp_path, zoned).records)) == [300, 300]


def test_experiments_one_below_the_other_are_cut_where_the_time_begins_anew(tmp_path: Path) -> None:
    for lengths in ((100, 250), (150, 150, 150)):
        times = np.concatenate([np.arange(length) / 4 for length in lengths]).tolist()
        recording = _read(tmp_path, times)
        assert list(map(len, recording.records)) == list(lengths) and recording.sampling_time == 0.25
    # A counter that begins anew every minute is no time.
    seconds = [float(k % 60) for k in range(600)]
    recording = _read(tmp_path, seconds)
    assert len(recording.records) == 1 and recording.sampling_time is None
    assert "found an earlier time than in row 60; allowed: times that increase" in _notes(
        read_recording({"time": seconds, "y": Y[:600]}, output="y")
    )
    with pytest.raises(NarxbenchError, match=r"line 62, column time: found an earlier time than in line 61"):
        _read(tmp_path, seconds, time="time")


@pytest.mark.parametrize("form", ["%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%H:%M:%S", "seconds"])
def test_rows_with_the_newest_first_are_read_upwards(tmp_path: Path, form: str) -> None:
    start = datetime(2024, 5, 31, 8)
    times = [0.5 * k for k in range(N)] if form == "seconds" else _stamps(form, 60, start)
    expected = _read(tmp_path, times)
    frame = pd.DataFrame({"time": times, "y": Y[:N]})[::-1]
    frame.to_csv(tmp_path / "b.csv", index=False)
    for data in (frame, tmp_path / "b.csv"):
        recording = read_recording(data, output="y")
        (record,) = recording.records
        assert record.y.tolist() == expected.records[0].y.tolist()
        assert record.index.tolist() == expected.records[0].index.tolist()
        assert recording.sampling_time == expected.sampling_time
        assert "the newest row stands first, so that rows were read upwards" in _notes(recording)
    # Lines are those of the file.
    frame.iloc[9, 1] = np.nan
    frame.to_csv(tmp_path / "b.csv", index=False)
    assert "line 11" in _notes(read_recording(tmp_path / "b.csv", output="y", bridge=0))


def test_summer_time_ends_in_rows_with_the_newest_first(tmp_path: Path) -> None:
    times = _local_times(AUTUMN, 900, 40)
    frame = pd.DataFrame({"time": times, "y": Y[: len(times)]})
    frame[::-1].to_csv(tmp_path / "b.csv", index=False)
    upwards, downwards = read_recording(tmp_path / "b.csv", output="y"), read_recording(frame, output="y")
    assert len(upwards.records) == 1 and upwards.records[0].y.tolist() == downwards.records[0].y.tolist()
    assert "the clock goes back by an hour" in _notes(upwards)


def test_rows_that_come_twice(tmp_path: Path) -> None:
    rows = pd.Series(Y[:N]).to_csv(sep=";", header=False).splitlines()
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["time;y", *rows[:20], rows[19], *rows[20:]]))
    recording = read_recording(path, output="y")
    assert list(map(len, recording.records)) == [N]
    assert "1 row was left out, for time and values are those of the row before: line 22" in _notes(recording)
    frame = pd.DataFrame({"time": np.arange(N), "y": Y[:N]})
    twice = pd.concat([frame[:20], frame[19:]])
    recording = read_recording(twice, output="y")
    assert list(map(len, recording.records)) == [N] and ": row 21" in _notes(recording)
    path.write_text("\n".join(["time;y", *rows[:20], "19;7", *rows[20:]]))
    with pytest.raises(NarxbenchError, match=r"line 22, column time: found the same time as in line 21"):
        read_recording(path, output="y", time="time")


def test_jitter_and_gaps_are_told_by_line(tmp_path: Path) -> None:
    stamps = _stamps("%Y-%m-%dT%H:%M:%S.000", 1)
    stamps[30] = stamps[30].replace(".000", ".050")
    recording = _read(tmp_path, stamps)
    assert "sampling is uneven, steps are up to 5.0% off the median (column time, line 32)" in _notes(recording)
    stamps = _stamps("%d.%m.%Y %H:%M:%S", 1)
    recording = _read(tmp_path, [*stamps[:25], *stamps[28:]])
    assert "the time jumps once, and the data were cut there: line 27" in _notes(recording)
    with pytest.raises(NarxbenchError, match=r"line 33.* found a step of 1.5, 50% off the median of 1"):
        _read(tmp_path, [*range(30), 30, 31.5, *range(32, N)][:31] + [31.5, *range(33, N)], time="time")


def test_times_that_are_all_missing() -> None:
    for times in (["nan"] * N, [None] * N, [np.nan] * N):
        with pytest.raises(NarxbenchError, match=r"data: column time: found no value; needed: times"):
            read_recording({"time": times, "y": Y[:N]}, output="y", time="time")


@pytest.mark.parametrize("missing", ["", "NaN", "NaT"])
def test_a_missing_stamp_is_a_gap(tmp_path: Path, missing: str) -> None:
    stamps = _stamps("%d.%m.%Y %H:%M:%S", 1)
    stamps[20] = missing
    assert list(map(len, _read(tmp_path, stamps).records)) == [20, 39]


@pytest.mark.parametrize(
    "wrong",
    ["2024-13-01 00:00:00", "2024-02-30 00:00:00", "2024-05-31 25:00:00", "2024-05-31 10:60:00", "31.05.2024", "x"],
)
def test_a_stamp_that_is_none(tmp_path: Path, wrong: str) -> None:
    stamps = _stamps("%Y-%m-%d %H:%M:%S", 1)
    with pytest.raises(NarxbenchError, match=r"line 12, column time: found"):
        _read(tmp_path, [*stamps[:10], wrong, *stamps[11:]], time="time")


def test_dates_of_python_in_a_frame() -> None:
    days = pd.date_range("2024-01-01", periods=N).date.tolist()
    assert read_recording({"date": days, "y": Y[:N]}, output="y").sampling_time == 86_400
    clock_times = pd.date_range(START, periods=N, freq="1s").time.tolist()
    assert read_recording({"time": clock_times, "y": Y[:N]}, output="y").sampling_time == 1
    mixed = [datetime(2024, 1, 1), *("2024-01-01T00:00:01+02:00",) * (N - 1)]
    with pytest.raises(NarxbenchError, match=r"row 2, column time: found .*, which is no date of the form of"):
        read_recording({"time": mixed, "y": Y[:N]}, output="y", time="time")
