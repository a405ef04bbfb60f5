"""Parts of sentences that findings have in common: numbers with units, lists of names, settings."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from narxbench._identification.finding import Finding
from narxbench._identification.trust.validation import FREE_RUN
from narxbench._io.errors import printable
from narxbench._io.words import listed

# A reader can hold this many names in a sentence.
MOST_NAMES = 6
# Where the rest is of what a sentence does not name.
REST = "--json has all"

Values = Mapping[str, Any]
# Writes a setting, and perhaps its value, as an argument or an option.
Setting = Callable[..., str]
# Returns text and advice on a finding.
Phrase = Callable[[Finding, Setting], tuple[str, str]]


def as_argument(name: str, value: object = None) -> str:
    """Return a setting as an argument in Python: ``degree=1``, or its name."""
    if value is not None:
        return f"{name}={value!r}".replace("'", '"')
    return name if "lags" in name else f"{name}="


def as_option(name: str, value: object = None) -> str:
    """Return a setting as an option of the command, its value quoted for a shell: ``--degree 1``, or its flag."""
    flag = f"--{name.replace('_', '-')}"
    return flag if value is None else f"{flag} {shlex.quote(str(value))}"


def first_of(names: Sequence[str]) -> str:
    """Return names as a list in a sentence; of many the first, and how many more there are."""
    if len(names) <= MOST_NAMES:
        return listed(names)
    return listed([*names[:MOST_NAMES], f"{len(names) - MOST_NAMES} more ({REST})"])


def unless_fine(finding: Finding, advice: str) -> str:
    """Return an advice, or "" for a finding that needs none."""
    return "" if finding.status == "fine" else advice


def signal_title(column: str, term: str) -> str:
    """Return how a sentence names a signal: the only input and the output need no name."""
    return {"y": "the output", "u": "the input"}.get(term, f"input {column}")


# What to do about a test in another unit.
OTHER_UNIT = "Give the test records in the units of the others."


def unit_of(units: Mapping[str, str], name: str) -> str:
    """Return the unit of a signal behind a blank, or "" where it has none."""
    return f" {printable(units[name])}" if units.get(name) else ""


def how_predicted(values: Values) -> str:
    """Return the kind of prediction that a finding is about: in free run, or some steps ahead."""
    if values["kind"] == FREE_RUN:
        return "in free run"
    ahead = f"{values['steps']} step{plural_s(values['steps'])} ahead"
    horizon = values.get("horizon")
    return ahead if horizon in (None, values["steps"]) else f"{ahead} (horizon: {horizon} samples)"


def count_samples(number: int, period: float | None) -> str:
    """Return a number of samples, with the time that they take where it is known."""
    samples = f"{number} sample{plural_s(number)}"
    if period is None:
        return samples
    units = (("h", 3600.0, 2.0), ("min", 60.0, 2.0), ("s", 1.0, 0.1), ("ms", 1e-3, 0.1), ("µs", 1e-6, 0.0))
    unit, size = next((unit, size) for unit, size, least in units if number * period >= least * size)
    return f"{samples} ({number * period / size:.3g} {unit})"


def percent(share: float) -> str:
    """Return a share in per cent: small ones with two digits, others as a whole number."""
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"


def capital(text: str) -> str:
    """Return a text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def count_terms(number: int) -> str:
    """Return a number of terms in words."""
    return f"{number} term{plural_s(number)}"


def plural_s(number: int) -> str:
    """Return the ending of a noun that so many are of."""
    return "" if number == 1 else "s"
