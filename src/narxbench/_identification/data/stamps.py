"""Dates and clock times in the forms that loggers write, as moments that can be subtracted from each other.

A column has one form, given by its first value. Which of two numbers is the day follows from the values, from
``time_format``, or the user is asked.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from narxbench._identification.data.errors import argument_error
from narxbench._identification.data.sources import Source
from narxbench._identification.data.time_names import UNITS
from narxbench._io.errors import show

Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

# In nanoseconds.
SECOND = round(1.0 / UNITS["ns"])
DAY = round(UNITS["d"]) * SECOND
# A step of more than this many medians is a jump: nearer to two steps than to one, samples are missing.
JUMP = 1.5
# Orders of the numbers of a date, as time_format has them.
ORDERS = ("d/m/y", "m/d/y", "y/m/d")

_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,:](?P<fraction>\d{1,9}))?)?"
    r"(?:\s*(?P<half>[AaPp][Mm]))?\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?"
)
_COMPACT_CLOCK = r"(?P<hour>\d{2}):?(?P<minute>\d{2})(?::?(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?(?P<zone>Z?)"
_WEEKDAY = r"(?:(?P<weekday>[^\W\d]{2,10})\.?,?\s+)?"
_DATES = (
    r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})",
    r"(?P<first>\d{1,2})[-/.](?P<middle>\d{1,2})[-/.](?P<last>\d{4}|\d{2})",
    r"(?P<day>\d{1,2})\.?[-/ ]*(?P<name>[^\W\d]{3,})\.?[-/ ,]*(?P<year>\d{4}|\d{2})",
    r"(?P<name>[^\W\d]{3,})\.?\s+(?P<day>\d{1,2}),?\s+(?P<year>\d{4})",
)
_PATTERNS = [re.compile(rf"{_WEEKDAY}{date}(?:(?:T|,?\s+|_){_CLOCK})?") for date in _DATES]
_PATTERNS.append(re.compile(rf"(?P<year>\d{{4}})(?P<month>\d{{2}})(?P<day>\d{{2}})(?:[T _]?{_COMPACT_CLOCK})?"))
_PATTERNS.append(re.compile(rf"{_WEEKDAY}(?P<name>[^\W\d]{{3,}})\s+(?P<day>\d{{1,2}})\s+{_CLOCK}\s*(?P<year>\d{{4}})"))
_CLOCK_TIME = re.compile(rf"(?:(?P<days>\d{{1,6}}) days?,? )?{_CLOCK}")
_PATTERNS.append(_CLOCK_TIME)
# The codes of strptime for the parts of a date, by the number of their letters or digits where that matters.
_CODES = {
    **{"weekday": "%A", "weekday3": "%a", "name": "%B", "name3": "%b", "year": "%Y", "year2": "%y", "month": "%m"},
    **{"day": "%d", "hour": "%H", "minute": "%M", "second": "%S", "fraction": "%f", "half": "%p", "zone": "%z"},
}
_PARTS_OF_ORDER = {"d": "day", "m": "month", "y": "year"}
_ENDS_WITH_ZONE = re.compile(r":\d.*(?:Z|[+-]\d{2}(?::?\d{2})?)$")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMES_OF_MONTHS = {*_MONTHS, "january", "february", "march", "april", "june", "july", "august", "september", "october"}
_NAMES_OF_MONTHS |= {"november", "december"}
_ALLOWED = "a date and time such as 2024-05-31T12:00:00.01, 31.05.2024 12:00, 31-May-2024 or 12:00:00 PM"


class Moments(NamedTuple):
    """Moments in nanoseconds."""

    nanoseconds: Integers  # since 1970, or since midnight without a date, and 0 where a moment is missing
    is_present: Mask
    has_date: bool
    is_local: bool  # whether the clock may change between summer and winter
    notes: Sequence[str] = ()


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
    match = _CLOCK_TIME.fullmatch(text.strip())
    return match is not None and not match["days"]


def moments_of_texts(texts: Sequence[str | None], time_format: str | None, source: Source, title: str) -> Moments:
    """Return the moments of texts, None where one is missing, of a column of this title.

    A text of another form than the first is refused.
    """
    if time_format is not None and "%" in time_format:
        return _moments_by_strptime(texts, time_format, source, title)
    row, first_text = next((row, text) for row, text in enumerate(texts) if text is not None)
    if time_format in UNITS:
        what = f"{time_format}, but {show(first_text, kind=False)} in {source.place(row)} is no number"
        raise argument_error("time_format", what, f"{', '.join(ORDERS)}, or a format of strptime", source.name)
    match = _match(first_text)
    if match is None:
        return _moments_by_isoformat(texts, source, title)
    if match.re is _PATTERNS[0]:
        moments = _moments_by_pandas(texts)
        if moments is not None:
            return moments
    parts = match.groupdict()
    if parts.get("name") and str(parts["name"]).lower() not in _NAMES_OF_MONTHS:
        what = f"{show(first_text, kind=False)}, which is no date with an English month"
        raise source.error(row, title, f"{what} (time_format=d/m/y reads 31.05.2024)", _ALLOWED)
    column = _Column(texts, match, source, title)
    if match.re is _CLOCK_TIME and not parts["half"] and not parts["zone"]:
        return column.durations()
    if parts.get("last"):
        return _moments_in_unknown_order(column, time_format)
    return column.moments()


def _match(text: str) -> re.Match[str] | None:
    for pattern in _PATTERNS:
        match = pattern.fullmatch(text.strip())
        if match:
            return match
    return None


class _Column:
    """Texts of the form of the first of them."""

    def __init__(self, texts: Sequence[str | None], match: re.Match[str], source: Source, title: str) -> None:
        self.match, self.source, self.title = match, source, title
        self.is_present = _is_present(texts)
        self.rows = np.flatnonzero(self.is_present)
        self.texts = pd.Series([text.strip() for text in texts if text is not None], dtype=object)
        mark = "."
        if match.groupdict().get("fraction"):
            mark = match.string[match.start("fraction") - 1]
        if mark != "." or any("," in text for text in self.texts):
            # The mark before fractions is a point to strptime.
            self.texts = self.texts.str.replace(r"(:\d\d:\d\d)[,:](?=\d)", r"\1.", regex=True)

    def moments(self, order: str = "d/m/y") -> Moments:
        """Return the moments, with the numbers of a date in an order. A text of another form is refused."""
        moments = self._parsed(order)
        for index in np.flatnonzero(moments.isna())[:1].tolist():
            needed = f"date of the form of {self.match.string!r}"
            if self.match.groupdict().get("last"):
                needed = f"date of the order {order}"
            elif self.match.groupdict().get("zone"):
                needed = "time with a time zone, as others are"
            what = f"{show(self.texts[index], kind=False)}, which is no {needed}"
            raise self.source.error(int(self.rows[index]), self.title, what, _ALLOWED)
        has_date = self.match.re is not _CLOCK_TIME
        counts = _nanoseconds(moments)
        if not has_date:
            counts = counts % DAY
        is_local = has_date and not self.match.groupdict().get("zone")
        return _moments(self.is_present, counts, has_date, is_local)

    def orders(self) -> list[str]:
        """Return the orders that all dates may have by the size of their numbers, or else the usual one.

        The year comes first only where it has to.
        """
        day_first, month_first, year_first = ORDERS
        if len(self.match["last"]) == 2 and int(self.match["first"]) > 31:
            return [year_first]
        largest = self.texts.str.extract(r"(\d+)\D(\d+)").astype(float).max()
        orders = []
        if largest[1] <= len(_MONTHS):
            orders.append(day_first)
        if largest[0] <= len(_MONTHS):
            orders.append(month_first)
        return orders or [day_first]

    def durations(self) -> Moments:
        """Return clock times as those since midnight, which may count more than a day."""
        texts = self.texts
        if not self.match["second"]:
            texts = texts + ":00"
        durations = pd.TimedeltaIndex(pd.to_timedelta(texts, errors="coerce"))
        is_wrong = np.asarray(durations.isna()) | ~texts.str.fullmatch(_CLOCK_TIME).to_numpy(bool)
        minutes = texts.str.extract(r":(\d\d):(\d\d)").astype(float).to_numpy()
        is_wrong |= ~(minutes < (60, 61)).all(axis=1)
        for index in np.flatnonzero(is_wrong)[:1].tolist():
            what = f"{show(self.texts[index], kind=False)}, which is no clock time"
            raise self.source.error(int(self.rows[index]), self.title, what, _ALLOWED)
        counts = durations.as_unit("ns").asi8
        return _moments(self.is_present, counts, has_date=False, is_local=False)

    def _parsed(self, order: str) -> pd.DatetimeIndex:
        """Return the moments in an order, with NaT for texts of another form."""
        first_format, *further_formats = self._formats(order)
        moments = _by_format(self.texts, first_format)
        for time_format in further_formats:
            is_other = np.asarray(moments.isna())
            if is_other.any():
                further = pd.Series(_by_format(self.texts[is_other], time_format), np.flatnonzero(is_other))
                moments = pd.DatetimeIndex(pd.Series(moments).mask(is_other, further))
        return moments

    def _formats(self, order: str) -> list[str]:
        """Return the formats of strptime that the first text has in an order, with a fraction of seconds and without.

        May is the name of a month and its abbreviation.
        """
        parts = self.match.groupdict()
        names = dict(zip(("first", "middle", "last"), order.split("/"), strict=True))
        text, end = "", 0
        for name, part in sorted(parts.items(), key=lambda item: self.match.start(item[0])):
            if not part:
                continue
            start, stop = self.match.span(name)
            name = _PARTS_OF_ORDER.get(names.get(name, ""), name)
            code = _CODES.get(f"{name}{stop - start}", _CODES[name])
            if name == "hour" and parts.get("half"):
                code = "%I"
            elif part in ("UTC", "GMT"):
                code = "%Z"
            text += self.match.string[end:start].replace("%", "%%") + code
            end = stop
        text = (text + self.match.string[end:]).replace("%S,%f", "%S.%f").replace("%S:%f", "%S.%f")
        text = text.replace("%S.%f", "%S")
        formats = [text.replace("%S", "%S.%f"), text]
        formats += [time_format.replace("%b", "%B") for time_format in formats]
        if not parts.get("fraction"):
            formats = [text, *formats]
        return list(dict.fromkeys(formats))


def _by_format(texts: Any, time_format: str) -> pd.DatetimeIndex:
    return pd.DatetimeIndex(pd.to_datetime(texts, format=time_format, errors="coerce", utc=True))


def _moments(is_present: Mask, present: Integers, has_date: bool, is_local: bool) -> Moments:
    """Return moments from the nanoseconds of the texts that are present."""
    nanoseconds = np.zeros(len(is_present), np.int64)
    nanoseconds[is_present] = present
    return Moments(nanoseconds, is_present, has_date, is_local)


def _moments_in_unknown_order(column: _Column, time_format: str | None) -> Moments:
    """Return the moments of dates such as 03/04/2024, in the one order that fits or that the user says."""
    if time_format in ORDERS:
        return column.moments(str(time_format))
    moments_by_order = {order: column.moments(order) for order in column.orders()}
    moments = next(iter(moments_by_order.values()))
    if len(moments_by_order) == 1:
        return moments
    if "." in column.match.string[: column.match.end("middle")]:
        return moments._replace(notes=["dates were read as day.month.year."])
    return _settled_moments(column, moments_by_order)


def _settled_moments(column: _Column, moments_by_order: Mapping[str, Moments]) -> Moments:
    """Return the moments in the only order that gives even steps if orders differ, or raise FieldError."""
    steps_by_order = {}
    for order, moments in moments_by_order.items():
        steps_by_order[order] = np.diff(moments.nanoseconds[moments.is_present])
    first_steps, *further_steps = steps_by_order.values()
    if all((steps == first_steps).all() for steps in further_steps):
        return next(iter(moments_by_order.values()))
    even_orders = [order for order, steps in steps_by_order.items() if _are_even(steps)]
    if len(even_orders) == 1:
        note = f"dates were read as {even_orders[0]}, which gives even steps."
        return moments_by_order[even_orders[0]]._replace(notes=[note])
    date = column.match.string[column.match.start("first") : column.match.end("last")]
    what = f"dates such as {date} in {column.source.place(int(column.rows[0]))}, whose order is not clear"
    allowed = f"{' or '.join(moments_by_order)}, the order of day, month and year"
    raise argument_error("time_format", what, allowed, column.source.name)


def _are_even(steps: Integers) -> bool:
    return bool((steps > 0).all() and (steps <= JUMP * np.median(steps)).all())


def _moments_by_strptime(texts: Sequence[str | None], time_format: str, source: Source, title: str) -> Moments:
    """Return the moments of texts of a format of strptime."""
    has_date = any(code in time_format for code in ("%d", "%j", "%x", "%c", "%V"))
    has_zone = "%z" in time_format or "%Z" in time_format
    rows, present_texts = zip(*_present(texts), strict=True)
    try:
        moments = _by_format(present_texts, time_format)
    except ValueError as error:
        what = f"{show(time_format, kind=False)} ({error})"
        raise argument_error("time_format", what, "a format of strptime") from None
    for index in np.flatnonzero(moments.isna())[:1].tolist():
        what = show(present_texts[index], kind=False)
        raise source.error(rows[index], title, what, f"the format {time_format}")
    counts = _nanoseconds(moments)
    return _moments(_is_present(texts), counts if has_date else counts % DAY, has_date, has_date and not has_zone)


def _nanoseconds(moments: pd.DatetimeIndex) -> Integers:
    """Return nanoseconds since 1970. In far centuries they overflow, but their differences remain right."""
    counts: Integers = moments.asi8 * int(pd.Timedelta(1, moments.unit) / pd.Timedelta(1, "ns"))
    return counts


def _moments_by_pandas(texts: Sequence[str | None]) -> Moments | None:
    """Return the moments of texts in the usual form of ISO 8601, which pandas reads fast, or None for others."""
    present_texts = [text.strip() for text in texts if text is not None]
    have_zones = {_ENDS_WITH_ZONE.search(text) is not None for text in present_texts}
    if len(have_zones) > 1:
        return None
    try:
        moments = pd.DatetimeIndex(pd.to_datetime(present_texts, format="ISO8601", utc=True))
    except ValueError:
        return None
    return _moments(_is_present(texts), _nanoseconds(moments), has_date=True, is_local=have_zones == {False})


def _moments_by_isoformat(texts: Sequence[str | None], source: Source, title: str) -> Moments:
    """Return the moments of texts in the rarer forms of ISO 8601, such as weeks."""
    moments = []
    zones = set()
    for row, text in _present(texts):
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise source.error(row, title, show(text, kind=False), f"numbers, or {_ALLOWED}") from None
        zones.add(moment.tzinfo is not None)
        if len(zones) > 1:
            raise source.error(row, title, show(text, kind=False), "times that all have a time zone, or none")
        moments.append(moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC))
    return _moments(
        _is_present(texts), _nanoseconds(pd.DatetimeIndex(moments)), has_date=True, is_local=True not in zones
    )


def _is_present(texts: Sequence[str | None]) -> Mask:
    """Return for each time whether it is not missing."""
    return np.array([text is not None for text in texts])


def _present(texts: Sequence[str | None]) -> Iterator[tuple[int, str]]:
    """Yield row and text of the times that are not missing."""
    for row, text in enumerate(texts):
        if text is not None:
            yield row, text
