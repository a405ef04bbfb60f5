"""Parts of sentences that findings have in common: numbers with units, lists of names, settings."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from narxbench._io.errors import printable
from narxbench._io.words import SHOWN, listed

# Where to find the names that a sentence does not have.
REST = "--json has all"
# What to do about a test in another unit, and about a model that diverges when inputs are held.
OTHER_UNIT = "Give the test records in the units of the others."
MOVING_INPUTS = "Use inputs that move as in the data."

Values = Mapping[str, Any]


def setting(name: str, value: object) -> str:
    """Return a setting as a sentence has it: an argument of Python in backticks.

    A terminal shows it as an option of its shell (:func:`narxbench._report.findings.for_shell`).

    Examples
    --------
    >>> setting("test", "20%")
    '`test="20%"`'
    """
    return f"`{name}={json.dumps(value)}`"


def names_of(signals: Iterable[str]) -> str:
    """Return names that come from the data as a list in a sentence."""
    return listed(map(printable, signals))


def first_of(names: Sequence[str]) -> str:
    """Return names as a list in a sentence: all, or the first ones and how many more there are."""
    if len(names) <= SHOWN:
        return listed(names)
    return listed([*names[:SHOWN], f"{len(names) - SHOWN} more ({REST})"])


def signal_title(column: str, term: str) -> str:
    """Return how a sentence names a signal: the only input and the output need no name."""
    return {"y": "the output", "u": "the input"}.get(term, f"input {column}")


def unit_of(units: Mapping[str, str], name: str) -> str:
    """Return the unit of a signal behind a blank, or "" where it has none."""
    return f" {printable(units[name])}" if units.get(name) else ""


def prediction_kind(steps: int | None) -> str:
    """Return a kind of prediction by the steps ahead, of which a free run has None.

    Examples
    --------
    >>> prediction_kind(None), prediction_kind(1), prediction_kind(3)
    ('free run', '1 step ahead', '3 steps ahead')
    """
    return "free run" if steps is None else f"{steps} step{plural_s(steps)} ahead"


def how_predicted(values: Values) -> str:
    """Return the kind of prediction that a finding is about, as an adverb, with the horizon of the user."""
    steps, horizon = values["steps"], values.get("horizon")
    kind = prediction_kind(steps)
    if steps is None:
        return f"in {kind}"
    return kind if horizon in (None, steps) else f"{kind} (horizon: {horizon} samples)"


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
    """Return the ending of a noun that this many are of."""
    return "" if number == 1 else "s"
