"""Numbers that a user declares to mean a missing value, as loggers and archives write them.

The user is asked about a number that looks like one: the lowest or highest value of its column, far from all others.
"""

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench._identification.data.errors import argument_error
from narxbench._identification.data.signals import REPEATED, SAMPLES_PER_WEIGHT
from narxbench._io.errors import NarxbenchError, show

Array = NDArray[np.float64]
# Declared numbers, empty if every number is a value, or None if the user did not say.
MissingCodes = tuple[float, ...] | None

# Codes of loggers, well logs (LAS), climate archives and netCDF, of either sign: asked about if they come once.
_KNOWN = (999.0, 9999.0, 99999.0, 999999.0, 999.9, 9999.9, 999.25, 1e20, 1e30, 1e35, 9.969209968386869e36)
# Files may have them in single precision.
_KNOWN_CODES = frozenset({*_KNOWN, *map(float, np.array(_KNOWN, np.float32))})
# Any other number is asked about if it comes again and is this many standard deviations of the others from them: in
# 62 columns of measured records none is 0.2 away. A known code is farther from the others than these from each other.
DEVIATIONS = 2.0


def checked_codes(missing: Any) -> MissingCodes:
    """Return the numbers that a user declares as missing: a number, a list, a text such as ``-200,99999``, or none."""
    if missing is None:
        return None
    numbers = missing
    if isinstance(missing, str):
        numbers = [] if missing.strip().lower() == "none" else missing.split(",")
    elif isinstance(missing, Real) and not isinstance(missing, bool):
        numbers = [missing]
    try:
        codes = tuple(map(float, numbers))
    except (TypeError, ValueError):
        codes = (np.nan,)
    if isinstance(missing, bool) or not np.isfinite(codes).all():
        raise argument_error("missing", show(missing, kind=False), "numbers such as -200 or -200,99999, or none")
    return codes


def without_codes(values: Array, missing: MissingCodes, undeclared: Callable[[float, int], NarxbenchError]) -> Array:
    """Return values with NaN in the place of the numbers that were declared as missing.

    If none were, a number that looks like one raises the error that ``undeclared`` makes of it and its count.
    """
    if missing:
        # Files may have a number in single precision.
        codes = [*missing, *np.array(missing, np.float32).astype(float)]
        return np.where(np.isin(values, codes), np.nan, values)
    if missing is None:
        present = values[np.isfinite(values)]
        for code in (present.min(initial=0.0), present.max(initial=0.0)):
            count = int((present == code).sum())
            if count and _is_suspect(float(code), count, present):
                raise undeclared(float(code), count)
    return values


def _is_suspect(code: float, count: int, values: Array) -> bool:
    """Return whether the lowest or highest of some values may mean a missing one."""
    rest = values[values != code]
    if code == 0.0 or not len(rest) or count > len(values) / 2:
        return False
    low, high = float(rest.min()), float(rest.max())
    distance = max(code - high, low - code)
    if abs(code) in _KNOWN_CODES and distance > high - low > 0.0:
        return True
    if count < REPEATED or distance <= DEVIATIONS * float(rest.std()):
        return False
    return len(np.unique(rest)) >= SAMPLES_PER_WEIGHT
