"""Signs that the test records have a signal in another unit, or at another zero, than the other records."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# A signal is compared with units if the ratio of its spread to the known records is at least this, also relative to the
# ratios of the other signals, or if it is this many deviations away from the known range. Experiments with one system
# differ less.
FAR = 5.0
# The factor and the shift that convert values from a first unit to a second one.
CONVERSIONS = (
    *(("powers of ten", 10.0**power, 0.0) for power in (1, 2, 3, 6)),
    ("seconds, minutes and hours", 60.0, 0.0),
    ("seconds, minutes and hours", 3600.0, 0.0),
    ("degrees and radians", 180.0 / math.pi, 0.0),
    ("revolutions per minute and radians per second", 30.0 / math.pi, 0.0),
    ("metres per second and kilometres per hour", 3.6, 0.0),
    ("millimetres and inches", 25.4, 0.0),
    ("kilopascal and pound per square inch", 6.895, 0.0),
    ("degrees Celsius and Fahrenheit", 1.8, 32.0),
    ("kelvin and degrees Celsius", 1.0, 273.15),
)


def suspected_units(known: Mapping[str, Array], test: Mapping[str, Array]) -> dict[str, dict[str, Any]]:
    """Return the signals of the test that have the spread and the level of another unit, by name.

    Each has the conversion from a known value to a value of the test, ``scale`` times it plus ``shift``, and the
    ``units`` that have this conversion.

    Parameters
    ----------
    known, test : mapping of str to array
        The values of each signal, the output first.
    """
    ratios = {}
    for name, values in known.items():
        deviation, of_test = float(np.std(values)), float(np.std(test[name]))
        if deviation > 0.0 and of_test > 1e-9 * deviation:
            ratios[name] = of_test / deviation
    suspected = {}
    for name, ratio in ratios.items():
        usual = _median_of_others(ratios, name)
        # A test that hardly moves is a rest, not a unit.
        is_less = len(ratios) > 1 and usual > 1 / FAR and ratio < min(usual, 1.0) / FAR
        is_more = ratio > FAR * max(usual, 1.0)
        if not (is_less or is_more or _lies_apart(known[name], test[name])):
            continue
        unit = _unit_that_fits(known[name], test[name], ratio / usual)
        if unit is not None:
            suspected[name] = unit
    return suspected


def _median_of_others(ratios: Mapping[str, float], name: str) -> float:
    """Return the median of the ratios of all other signals, or 1 if there are none."""
    remaining = dict(ratios)
    remaining.pop(name)
    return float(np.median(list(remaining.values()))) if remaining else 1.0


def _lies_apart(known: Array, test: Array) -> bool:
    """Return whether no value of the test is near those that are known."""
    gap = max(float(test.min() - known.max()), float(known.min() - test.max()))
    return gap > float(np.ptp(known)) and gap > FAR * float(np.std(known))


def _unit_that_fits(known: Array, test: Array, ratio: float) -> dict[str, Any] | None:
    """Return the conversion nearest to a ratio of spreads whose level fits, or None."""
    # Tests of one process spread up to twice as much or as little, an octave, and their mean differs by a deviation.
    nearest, distance = None, 1.0
    for units, factor, zero in CONVERSIONS:
        for scale, shift in ((factor, zero), (1.0 / factor, -zero / factor)):
            is_level = abs((np.mean(test) - shift) / scale - np.mean(known)) <= np.std(known)
            if is_level and abs(math.log2(ratio / scale)) < distance:
                nearest, distance = {"scale": scale, "shift": shift, "units": units}, abs(math.log2(ratio / scale))
    return nearest
