"""Numbers as loggers and spreadsheets write them: with a point or a comma, with thousands in groups, true and false.

A field may be read under a decimal mark, ``.`` or ``,``, or under both: 1,234 is 1.234 with a decimal comma, and 1234
with a decimal point.
"""

import re
from collections.abc import Iterable

from narxbench._io.csv import number

MARKS = (".", ",")
_NAMES = {".": "points", ",": "commas", "'": "apostrophes", "’": "apostrophes"}
_BLANKS = " \u00a0\u2009\u202f"
_EXPONENT = r"(?:[eE][+-]?[0-9]+)?"
_PLAIN = {
    ".": re.compile(rf"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+){_EXPONENT}"),
    ",": re.compile(rf"[+-]?(?:[0-9]+(?:,[0-9]*)?|,[0-9]+){_EXPONENT}"),
}
_GROUPED = {
    ".": re.compile(rf"[+-]?[1-9][0-9]{{0,2}}(?P<sign>[,'’{_BLANKS}])[0-9]{{3}}(?:(?P=sign)[0-9]{{3}})*(?:\.[0-9]*)?"),
    ",": re.compile(rf"[+-]?[1-9][0-9]{{0,2}}(?P<sign>[.'’{_BLANKS}])[0-9]{{3}}(?:(?P=sign)[0-9]{{3}})*(?:,[0-9]*)?"),
}
_GROUP_SIGNS = re.compile(rf"[.,'’{_BLANKS}]")
TRUTH_VALUES = {
    **dict.fromkeys(("true", "on", "yes", "wahr", "vrai"), "1"),
    **dict.fromkeys(("false", "off", "no", "falsch", "faux"), "0"),
}


def marks_of(text: str) -> tuple[str, ...]:
    """Return the decimal marks under which a text is a number."""
    return tuple(mark for mark in MARKS if _PLAIN[mark].fullmatch(text) or _GROUPED[mark].fullmatch(text))


def settled_mark(texts: Iterable[str]) -> str | None:
    """Return the decimal mark of the first text that can be read under one mark only, or None."""
    for text in texts:
        if "," in text or "." in text:
            marks = marks_of(text.strip())
            if len(marks) == 1:
                return marks[0]
    return None


def other_mark(mark: str) -> str:
    """Return the other decimal mark."""
    return "." if mark == "," else ","


def is_grouped(text: str, mark: str) -> bool:
    """Return whether a text is a number whose thousands are in groups, under a decimal mark."""
    return _GROUPED[mark].fullmatch(text) is not None


def group_name(text: str) -> str:
    """Return the word of notes for the marks between the groups of a number."""
    sign = _GROUP_SIGNS.search(text)
    return _NAMES.get(sign[0] if sign else "", "blanks")


def is_truth_value(text: str) -> bool:
    """Return whether a field is a truth value, such as TRUE, off or yes."""
    return text.strip().lower() in TRUTH_VALUES


def canonical(text: str, mark: str) -> str:
    """Return a number under a decimal mark as Python writes it, or raise ValueError."""
    if _GROUPED[mark].fullmatch(text):
        group_signs = f",'’{_BLANKS}" if mark == "." else f".'’{_BLANKS}"
        text = re.sub(f"[{group_signs}]", "", text)
    elif not _PLAIN[mark].fullmatch(text):
        raise ValueError(text)
    text = text.replace(",", ".")
    number(text)
    return text
