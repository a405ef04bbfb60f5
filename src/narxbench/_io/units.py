"""Units of columns: in their names, as in ``y [°C]`` and ``u (V)``, or in a row below the names."""

import re
from collections.abc import Sequence

_PREFIXES = "[kmcdhµμun]"
_SYMBOLS = (
    "min|sec|s|h|hr|d|m|g|t|°C|°F|degC|degF|°|deg|grad|rad|K|C|F|A|V|W|VA|var|N|Pa|bara?|barg|psi|J|Wh|eV|Hz|rpm|Ohm|"
    "ohm|Ω|H|T|Wb|S|l|L|mol|lx|lm|cd|dBm?|dB|%|‰|ppm|ppb|pH|in|ft|lb|lbf|mi|mph|gal|Nm|Ah|U|g_n|g0|px|pu|a\\.u\\."
)
# Large prefixes are in use with few: (GT) is hardly a gigatesla.
_LARGE = "[GM](?:W|Wh|Hz|Pa|J|VA|var|eV|N|Ohm|ohm|Ω|V)"
_WORDS = "volts?|amps?|amperes?|seconds?|minutes?|hours?|percent|counts?|cycles|celsius|kelvin|bits?|none|samples?"
_FACTOR = rf"(?:{_PREFIXES}?(?:{_SYMBOLS})|{_LARGE}|1|(?i:{_WORDS}))(?:\^?-?[0-9]|[²³⁻¹]+)?"
_UNIT = re.compile(rf"{_FACTOR}(?: ?[*·./ ⋅] ?{_FACTOR})*")
# As loggers describe times in the place of a unit: hh:mm:ss.
_FORM_OF_TIME = re.compile(r"(?i:[dmyhst]+(?:[:./ -][dmyhs]+)+)")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]|\(([^()]*)\)")
# The brackets of x[0], y[k-1], u(t) and G(s) do not hold units.
_INDEX, _ARGUMENT = re.compile(r"[0-9ijkn+-]*"), re.compile(r"[0-9ijknstz+-]*")
# A name, and what may be its unit: [°C] after it in any form, (V) and /V only where that is a unit.
_NAME_AND_UNIT = re.compile(
    r"(?P<name>.*?\S)\s*(?:\[(?P<square>[^\[\]]*)\]|\((?P<round>[^()]*)\)|(?<=\s)/\s*(?P<ratio>\S+)|\sin\s(?P<word>\S+))"
)


def is_unit(text: str) -> bool:
    """Return whether a text is a unit that is in use, such as m/s², 1/min or %, perhaps in brackets."""
    text = text.strip()
    brackets = _BRACKETS.fullmatch(text)
    if brackets:
        text = (brackets[1] or brackets[2] or "").strip()
    return text in ("", "-", "–", "?") or bool(_UNIT.fullmatch(text) or _FORM_OF_TIME.fullmatch(text))


def are_units(fields: Sequence[str]) -> bool:
    """Return whether a row of texts is one of units: units that are in use, or anything in brackets."""
    texts = list(map(str.strip, fields))
    if not any(text.strip("-– ") for text in texts):
        return False
    return all(is_unit(text) or _BRACKETS.fullmatch(text) for text in texts)


def unit_of(field: str) -> str:
    """Return the unit that a field of a row of units holds, without brackets, or "" if it has none.

    Examples
    --------
    >>> unit_of("[m/s]"), unit_of("(V)"), unit_of("-")
    ('m/s', 'V', '')
    """
    text = field.strip()
    brackets = _BRACKETS.fullmatch(text)
    if brackets:
        text = (brackets[1] or brackets[2] or "").strip()
    return text.strip("-–?") and text


def split_name(name: str) -> tuple[str, str]:
    """Return a name without its unit, and the unit, "" if the name has none.

    Examples
    --------
    >>> split_name("y [°C]"), split_name("P (MW)"), split_name("CO(GT)"), split_name("x[0]")
    (('y', '°C'), ('P', 'MW'), ('CO(GT)', ''), ('x[0]', ''))
    """
    match = _NAME_AND_UNIT.fullmatch(name)
    if match is None:
        return name, ""
    unit = (match["square"] or match["round"] or match["ratio"] or match["word"] or "").strip()
    if _INDEX.fullmatch(unit) or (match["round"] and _ARGUMENT.fullmatch(unit)):
        return name, ""
    if match["square"] is None and not is_unit(unit):
        return name, ""
    return match["name"], unit


def split_names(full_names: Sequence[str], units_row: Sequence[str] = ()) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return names without their units, and the units, "" if there is none.

    If two names would be the same, both keep their units.
    """
    if not full_names:
        return (), ()
    short_names, units_in_names = zip(*map(split_name, full_names), strict=True)
    names, units = [], []
    for column, (short_name, unit) in enumerate(zip(short_names, units_in_names, strict=True)):
        is_unique = short_names.count(short_name) == 1
        names.append(short_name if is_unique else full_names[column])
        if column < len(units_row) and unit_of(units_row[column]):
            unit = unit_of(units_row[column])
        units.append(unit)
    return tuple(names), tuple(units)
