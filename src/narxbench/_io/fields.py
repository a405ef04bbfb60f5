"""Fields of tables of measured data: which are numbers, missing values, truth values or times, and which other text."""

import re

from narxbench._io.decimals import is_truth_value, marks_of

MISSING = frozenset(("", "nan", "na", "n/a", "#n/a", "n.a.", "null", "none", "<na>", "nat", "-", "--"))
# Digits and separators of dates and clock times, and the texts that may follow them.
_TIME = re.compile(r"\d{1,4}[-/.:]\d{1,2}[-/.:T ].*|\d{1,2}:\d{2}.*|\d{1,4}[-/. ][^\W\d]{3,}[-/. ]\d{1,4}.*")


def is_missing(text: str) -> bool:
    """Return whether a field means that there is no value."""
    return text.strip().lower() in MISSING


def is_numeric(text: str) -> bool:
    """Return whether a field is some number, be it infinite, with a decimal comma or with thousands in groups."""
    try:
        float(text.replace(",", "."))
    except ValueError:
        return bool(marks_of(text.strip()))
    return True


def is_value(text: str) -> bool:
    """Return whether a field can be in a column of numbers."""
    return is_missing(text) or is_numeric(text) or is_truth_value(text)


def is_time(text: str) -> bool:
    """Return whether a field looks like a date or a clock time."""
    return _TIME.fullmatch(text.strip()) is not None
