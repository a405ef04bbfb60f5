"""Dates and clock times in the forms that loggers write, as moments that can be subtracted from each other.

A column has one form: that of its first value. Which of two numbers is the day follows from the values, from what
``time_format`` says, or is asked for.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from narxbench._identification.data.errors import argument_error
from narxbench._io.errors import NarxbenchError, show

Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

SECOND = 1_000_000_000  # in nanoseconds
DAY = 86_400 * SECOND
# Orders of the numbers of a date, as time_format has them.
ORDERS = ("d/m/y", "m/d/y", "y/m/d")
# Units of times that are numbers; days are those of MATLAB's datenum and of Excel.
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0, "d": 86_400.0}

_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,:](?P<fraction>\d{1,9}))?)?"
    r"(?:\s*(?P<half>[AaPp])\.?[Mm]\.?)?\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?"
)
_COMPACT_CLOCK = r"(?P<hour>\d{2}):?(?P<minute>\d{2})(?::?(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?(?P<zone>Z?)"
_WEEKDAY = r"(?:[^\W\d]{2,10}\.?,?\s+)?"
_DATES = (
    r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})",
    r"(?P<first>\d{1,2})(?P<mark>[-/.])(?P<middle>\d{1,2})[-/.](?P<last>\d{4}|\d{2})",
    r"(?P<day>\d{1,2})\.?[-/ ]*(?P<name>[^\W\d]{3,})\.?[-/ ,]*(?P<year>\d{4}|\d{2})",
    r"(?P<name>[^\W\d]{3,})\.?\s+(?P<day>\d{1,2}),?\s+(?P<year>\d{4})",
)
_PATTERNS = [re.compile(rf"{_WEEKDAY}{date}(?:(?:T|,?\s+|_){_CLOCK})?") for date in _DATES]
_PATTERNS.append(re.compile(rf"(?P<year>\d{{4}})(?P<month>\d{{2}})(?P<day>\d{{2}})(?:[T _]?{_COMPACT_CLOCK})?"))
_PATTERNS.append(re.compile(rf"{_WEEKDAY}(?P<name>[^\W\d]{{3,}})\s+(?P<day>\d{{1,2}})\s+{_CLOCK}\s*(?P<year>\d{{4}})"))
_PATTERNS.append(re.compile(_CLOCK))
_PATTERNS.append(re.compile(rf"(?P<days>\d{{1,6}}) days?,? {_CLOCK}"))
_ENDS_WITH_ZONE = re.compile(r":\d.*(?:Z|[+-]\d{2}(?::?\d{2})?)$")
# The first letters of months.
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ALLOWED = "a date and time such as 2024-05-31T12:00:00.01, 31.05.2024 12:00, 31-May-2024 or 12:00:00 PM"


class Moments(NamedTuple):
    """Moments in nanoseconds."""

    nanoseconds: Integers  # since 1970, or since midnight without a date; 0 where a moment is missing
    is_present: Mask
    has_date: bool
    is_local: bool  # whether the clock may change between summer and winter
    notes: Sequence[str] = ()


class Place(NamedTuple):
    """A column of texts, as errors name it."""

    error: Callable[[int, str, str], NarxbenchError]
    """Returns the error of a row: what was found, and what is allowed."""
    name: Callable[[int], str]
    """Returns the place of a row in words."""
    source: str
    """The name of the file or frame."""


def check_time_format(time_format: Any) -> None:
    """Raise FieldError unless a format of times is one that is known, or one of strptime."""
    if time_format is None or time_format in (*ORDERS, *UNITS):
        return
    if not isinstance(time_format, str) or "%" not in time_format:
        allowed = f"{', '.join((*ORDERS, *UNITS))}, or a format such as %d.%m.%Y %H:%M:%S"
        raise argument_error("time_format", show(time_format, kind=False), allowed)


def is_date(text: str) -> bool:
    """Return whether a text is a date without a clock time."""
    match = _match(text)
    return match is not None and "hour" in match.groupdict() and match["hour"] is None


def is_clock_time(text: str) -> bool:
    """Return whether a text is a clock time without a date."""
    return re.fullmatch(_CLOCK, text.strip()) is not None


def moments_of_texts(texts: Sequence[str | None], time_format: str | None, place: Place) -> Moments:
    """Return the moments of texts, None where one is missing; a text of another form than the first is refused."""
    if time_format is not None and "%" in time_format:
        return _moments_by_strptime(texts, time_format, place)
    row, first_text = next(_present(texts))
    if time_format in UNITS:
        what = f"{time_format}, but {show(first_text, kind=False)} in {place.name(row)} is no number"
        raise argument_error("time_format", what, f"{', '.join(ORDERS)}, or a format of strptime", place.source)
    pattern = _pattern_of(first_text)
    if pattern is None:
        return _moments_by_isoformat(texts, place)
    moments = _moments_by_pandas(texts) if pattern is _PATTERNS[0] else None
    if moments is not None:
        return moments
    matches = {}
    for row, text in _present(texts):
        match = pattern.fullmatch(text.strip())
        if match is None:
            raise place.error(row, show(text, kind=False), f"{_ALLOWED}, in the form of {first_text!r}")
        matches[row] = match.groupdict()
    return _moments_of_parts(_Parts(texts, matches, place), time_format)


def _moments_of_parts(parts: "_Parts", time_format: str | None) -> Moments:
    """Return the moments of the parts of dates and clock times."""
    nanoseconds = parts.clock()
    notes: list[str] = []
    has_date = parts.has_date()
    if has_date:
        days, notes = _days(parts, nanoseconds, time_format)
        nanoseconds = days * DAY + nanoseconds
    else:
        nanoseconds = parts.numbers("days") * DAY + nanoseconds
    return _moments(parts.whole_texts, nanoseconds, has_date, has_date and not parts.has_zone())._replace(notes=notes)


def _moments(texts: Sequence[str | None], present: Integers, has_date: bool, is_local: bool) -> Moments:
    """Return moments from the nanoseconds of the texts that are present."""
    is_present = np.array([text is not None for text in texts])
    nanoseconds = np.zeros(len(texts), np.int64)
    nanoseconds[is_present] = present
    return Moments(nanoseconds, is_present, has_date, is_local)


def _pattern_of(text: str) -> re.Pattern[str] | None:
    match = _match(text)
    return match and match.re


def _match(text: str) -> re.Match[str] | None:
    for pattern in _PATTERNS:
        match = pattern.fullmatch(text.strip())
        if match:
            return match
    return None


class _Parts:
    """The parts of dates and clock times, as arrays with an entry for each row that has a time."""

    def __init__(
        self, texts: Sequence[str | None], matches: Mapping[int, Mapping[str, str | None]], place: Place
    ) -> None:
        self.whole_texts = texts
        self.rows = list(matches)
        self.matches = list(matches.values())
        self.place = place

    def texts(self, name: str) -> list[str]:
        """Return a part as texts; "" where it is missing."""
        return [match.get(name) or "" for match in self.matches]

    def numbers(self, name: str) -> Integers:
        """Return a part as numbers; 0 where it is missing."""
        return _integers(lambda text: int(text or 0), self.texts(name))

    def clock(self) -> Integers:
        """Return the nanoseconds since midnight in UTC, or in the unknown zone of all."""
        hours, minutes, seconds = self.numbers("hour"), self.numbers("minute"), self.numbers("second")
        halves = np.array(list(map(str.lower, self.texts("half"))))
        has_half = halves != ""
        is_late = (hours > 24) & (has_half | self.has_date())
        is_wrong_half = has_half & ((hours < 1) | (hours > 12))
        self.refuse(is_late | is_wrong_half | (minutes > 59) | (seconds > 60), "time of a day")
        hours = np.where(has_half, hours % 12 + 12 * (halves == "p"), hours)
        fractions = _integers(lambda text: int(text.ljust(9, "0")), self.texts("fraction"))
        return ((hours * 60 + minutes) * 60 + seconds) * SECOND + fractions - self._zone_offsets()

    def has_date(self) -> bool:
        """Return whether the times have a date."""
        return any(self.texts("day")) or any(self.texts("last"))

    def has_zone(self) -> bool:
        """Return whether the times have a time zone."""
        return any(self.texts("zone"))

    def _zone_offsets(self) -> Integers:
        zones = self.texts("zone")
        lacks_zone = (np.array(zones) == "") & (np.array(self.texts("hour")) != "")
        if self.has_zone():
            self.refuse(lacks_zone, "time with a time zone, as others are")
        return _integers(_offset_minutes, zones) * 60 * SECOND

    def refuse(self, is_wrong: Mask, what: str) -> None:
        """Raise the error of the first row that is wrong."""
        if is_wrong.any():
            row = self.rows[int(np.flatnonzero(is_wrong)[0])]
            raise self.place.error(row, f"{show(self.whole_texts[row], kind=False)}, which is no {what}", _ALLOWED)


def _integers(convert: Callable[[str], int], texts: Sequence[str]) -> Integers:
    """Return the whole numbers that texts mean."""
    return np.array(list(map(convert, texts)), np.int64)


def _offset_minutes(zone: str) -> int:
    if zone in ("", "Z", "UTC", "GMT"):
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    minutes = 60 * int(digits[:2]) + int(digits[2:])
    return -minutes if zone[0] == "-" else minutes


def _days(parts: _Parts, clock: Integers, time_format: str | None) -> tuple[Integers, list[str]]:
    """Return the days since 1970 of dates, and notes on what was taken as the day."""
    if not any(parts.texts("last")):
        months = parts.numbers("month")
        names = parts.texts("name")
        if any(names):
            months = _integers(_month_of, names)
            parts.refuse(months == 0, "date with an English month (time_format=d/m/y reads 31.05.2024)")
        years = _integers(_year, parts.texts("year"))
        days, is_valid = _days_since_1970(years, months, parts.numbers("day"))
        parts.refuse(~is_valid, "day of the calendar")
        return days, []
    return _days_in_unknown_order(parts, clock, time_format)


@cache
def _month_of(name: str) -> int:
    """Return the number of a month, 0 for no name of one in English."""
    beginning = name[:3].lower()
    return _MONTHS.index(beginning) + 1 if beginning in _MONTHS else 0


def _year(text: str) -> int:
    if len(text) == 2:
        return int(text) + (2000 if int(text) < 70 else 1900)
    return int(text)


def _days_since_1970(years: Integers, months: Integers, days: Integers) -> tuple[Integers, Mask]:
    """Return the days since 1970, and whether each date is in the calendar."""
    is_month = (months >= 1) & (months <= 12)
    counts = (years - 1970) * 12 + np.where(is_month, months, 1) - 1
    firsts = counts.astype("M8[M]").astype("M8[D]").astype(np.int64)
    lengths = (counts + 1).astype("M8[M]").astype("M8[D]").astype(np.int64) - firsts
    return firsts + days - 1, is_month & (days >= 1) & (days <= lengths)


def _days_in_unknown_order(parts: _Parts, clock: Integers, time_format: str | None) -> tuple[Integers, list[str]]:
    """Return the days of dates such as 03/04/2024, in the one order that fits or that the user says."""
    if time_format in ORDERS:
        days, is_valid = _days_in_order(parts, str(time_format))
        parts.refuse(~is_valid, f"date of the order {time_format}")
        return days, []
    days_by_order: dict[str, Integers] = {}
    for order in _usual_orders(parts):
        days, is_valid = _days_in_order(parts, order)
        if is_valid.all():
            days_by_order[order] = days
    if not days_by_order:
        parts.refuse(np.ones(len(parts.rows), bool), "date in the order of all others")
    if "d/m/y" in days_by_order and parts.texts("mark")[0] == ".":
        note = "dates were read as day.month.year."
        return days_by_order["d/m/y"], [note] if len(days_by_order) > 1 else []
    return _settled_days(parts, clock, days_by_order)


def _usual_orders(parts: _Parts) -> Sequence[str]:
    """Return the orders that dates may have; the year comes first only where it has to."""
    day_first, month_first, year_first = ORDERS
    has_short_years = len(parts.texts("last")[0]) == 2
    if has_short_years and max(parts.numbers("first")) > 31:
        return [year_first]
    return [day_first, month_first]


def _days_in_order(parts: _Parts, order: str) -> tuple[Integers, Mask]:
    """Return the days since 1970 of dates in an order, and whether each is in the calendar."""
    columns = [parts.texts("first"), parts.texts("middle"), parts.texts("last")]
    fields = dict(zip(order.split("/"), columns, strict=True))
    return _days_since_1970(_integers(_year, fields["y"]), _integers(int, fields["m"]), _integers(int, fields["d"]))


def _settled_days(parts: _Parts, clock: Integers, days_by_order: Mapping[str, Integers]) -> tuple[Integers, list[str]]:
    """Return the days in the order that alone gives even steps, where orders differ; else raise FieldError."""
    orders = list(days_by_order)
    first_days = days_by_order[orders[0]]
    if len(orders) == 1:
        return first_days, []
    if all((np.diff(days) == np.diff(first_days)).all() for days in days_by_order.values()):
        return first_days, []
    even_orders = [order for order, days in days_by_order.items() if _has_even_steps(days * DAY + clock)]
    if len(even_orders) == 1:
        return days_by_order[even_orders[0]], [f"dates were read as {even_orders[0]}, which gives even steps."]
    first = parts.matches[0]
    text = f"{first['first']}{first['mark']}{first['middle']}{first['mark']}{first['last']}"
    what = f"dates such as {text} in {parts.place.name(parts.rows[0])}, whose order is not clear"
    raise argument_error(
        "time_format", what, f"{' or '.join(orders)}, the order of day, month and year", parts.place.source
    )


def _has_even_steps(nanoseconds: Integers) -> bool:
    steps = np.diff(nanoseconds)
    return bool((steps > 0).all() and (steps <= 1.5 * np.median(steps)).all())


def _moments_by_strptime(texts: Sequence[str | None], time_format: str, place: Place) -> Moments:
    """Return the moments of texts of a format of strptime."""
    has_date = any(code in time_format for code in ("%d", "%j", "%x", "%c", "%V"))
    has_zone = "%z" in time_format or "%Z" in time_format
    rows, present_texts = zip(*_present(texts), strict=True)
    try:
        moments = pd.DatetimeIndex(pd.to_datetime(present_texts, format=time_format, errors="coerce", utc=True))
    except ValueError as error:
        what = f"{show(time_format, kind=False)} ({error})"
        raise argument_error("time_format", what, "a format of strptime") from None
    for index in np.flatnonzero(moments.isna())[:1].tolist():
        raise place.error(rows[index], show(present_texts[index], kind=False), f"the format {time_format}")
    counts = _nanoseconds(moments)
    return _moments(texts, counts if has_date else counts % DAY, has_date, has_date and not has_zone)


def _nanoseconds(moments: pd.DatetimeIndex) -> Integers:
    """Return nanoseconds since 1970; those of far centuries overflow, which leaves their differences right."""
    counts: Integers = moments.asi8 * int(pd.Timedelta(1, moments.unit) / pd.Timedelta(1, "ns"))
    return counts


def _moments_by_pandas(texts: Sequence[str | None]) -> Moments | None:
    """Return the moments of texts in the usual form of ISO 8601, which pandas reads fast; None for other texts."""
    present_texts = [text.strip() for _, text in _present(texts)]
    have_zones = {_ENDS_WITH_ZONE.search(text) is not None for text in present_texts}
    if len(have_zones) > 1:
        return None
    try:
        moments = pd.DatetimeIndex(pd.to_datetime(present_texts, format="ISO8601", utc=True))
    except ValueError:
        return None
    return _moments(texts, _nanoseconds(moments), has_date=True, is_local=have_zones == {False})


def _moments_by_isoformat(texts: Sequence[str | None], place: Place) -> Moments:
    """Return the moments of texts in the rarer forms of ISO 8601, such as weeks."""
    moments = []
    zones = set()
    for row, text in _present(texts):
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise place.error(row, show(text, kind=False), f"numbers, or {_ALLOWED}") from None
        zones.add(moment.tzinfo is not None)
        if len(zones) > 1:
            raise place.error(row, show(text, kind=False), "times that all have a time zone, or none")
        moments.append(moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC))
    return _moments(texts, _nanoseconds(pd.DatetimeIndex(moments)), has_date=True, is_local=True not in zones)


def _present(texts: Sequence[str | None]) -> Iterator[tuple[int, str]]:
    """Yield row and text of the times that are not missing."""
    for row, text in enumerate(texts):
        if text is not None:
            yield row, text
