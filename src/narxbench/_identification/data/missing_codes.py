"""Numbers that stand for a missing value, as loggers and archives write them: -9999, -999.25, 1e30."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Numbers in use, of either sign: of loggers, of well logs (LAS), of climate archives, the default of netCDF.
_CODES = (999.0, 9999.0, 99999.0, 999999.0, 999.9, 9999.9, 999.25, 1e20, 1e30, 1e35, 9.969209968386869e36)
# Files may have them in single precision.
CODES = frozenset({*_CODES, *map(float, np.array(_CODES, np.float32))})
# They lie this many times the range of all other values away from these, and are at most this share of the values.
APART, MOST = 3.0, 0.5


def missing_codes(values: Array) -> list[float]:
    """Return the codes among some values that stand for missing ones: far outside of all that are no codes.

    Parameters
    ----------
    values : array, shape (samples,)
        Values, NaN where one is missing.

    Examples
    --------
    >>> missing_codes(np.array([1.0, 2.0, -9999.0, 1.5])), missing_codes(np.array([0.0, 999.0, 500.0]))
    ([-9999.0], [])
    """
    codes: list[float] = []
    left = values[np.isfinite(values)]
    while len(left):
        code = float(max(left.min(), left.max(), key=abs))
        others = left[left != code]
        if abs(code) not in CODES or len(others) < (1.0 - MOST) * len(left):
            break
        low, high = float(others.min()), float(others.max())
        if not max(code - high, low - code) > APART * (high - low) > 0.0:
            break
        codes.append(code)
        left = others
    return codes
