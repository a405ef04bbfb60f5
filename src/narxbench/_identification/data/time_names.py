"""Names of columns of times, and the units in them."""

import re
from collections.abc import Mapping

# Units of times that are numbers, in seconds. Days are those of MATLAB's datenum and of Excel.
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0, "d": 86_400.0}
# Further names of them.
SECONDS: Mapping[str, float] = UNITS | {
    **{"sec": 1.0, "second": 1.0, "seconds": 1.0, "µs": 1e-6, "μs": 1e-6, "msec": 1e-3},
    **{"minutes": 60.0, "hours": 3600.0, "hr": 3600.0, "day": 86_400.0, "days": 86_400.0},
}
_SUFFIXES = ("s", "sec", "second", "seconds", "ms", "us", "µs", "μs", "ns", "min", "minutes", "h", "hours")
_UNIT = rf"[ _]*[\[(/] *(?P<unit>[^\])]*?) *[\])]?|_(?P<suffix>{'|'.join(_SUFFIXES)})"
_WORDS = "time|timestamp|time[ _]stamp|(sampling|sample|elapsed)[ _]?time|datetime|date|zeit|zeitstempel|temps|tiempo"
_WORDS += "|date[ _/]?time|datum|uhrzeit|fecha|hora|heure|datenum|epoch|x_value"
# A single t is one of time, a T is rather a temperature.
_NAME_OF_TIME = re.compile(rf"(?P<word>t|(?i:{_WORDS}|sec|seconds))(?:{_UNIT})?")


def is_name_of_time(name: str) -> bool:
    """Return whether the name of a column says that it is a time."""
    return _NAME_OF_TIME.fullmatch(name) is not None


def unit_in_name(name: str) -> str:
    """Return the unit in the name of a column of times, "" if there is none."""
    match = _NAME_OF_TIME.fullmatch(name)
    if match is None:
        return ""
    return match["unit"] or match["suffix"] or ""
