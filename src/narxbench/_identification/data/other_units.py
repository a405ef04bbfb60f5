"""Signs that the test records have a signal in another unit, or at another zero, than the other records."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# A signal is suspected where its spread differs from that of the known records this many times as much as those of the
# other signals do, or where it lies this many deviations away, and outside of their range.
SCALE, DEVIATIONS = 5.0, 5.0
# Factors between units in use, and how near a ratio of spreads must come to one to be called by it.
FACTORS = {
    "powers of ten": tuple(10.0**power for power in (-6, -3, -2, -1, 1, 2, 3, 6)),
    "seconds, minutes and hours": (60.0, 1 / 60.0, 3600.0, 1 / 3600.0),
    "degrees and radians": (180.0 / math.pi, math.pi / 180.0),
    "revolutions per minute and radians per second": (30.0 / math.pi, math.pi / 30.0),
    "millimetres and inches": (25.4, 1 / 25.4),
    "kilopascal and pound per square inch": (6.895, 1 / 6.895),
}
NEAR = 1.25


class SuspectedUnit(NamedTuple):
    """How a signal of the test differs from the known ones: ``scale`` times as wide, or moved by ``shift``."""

    scale: float | None
    shift: float | None
    units: str  # units between which there is about such a factor, "" where there are none


def suspected_units(known: Mapping[str, Array], test: Mapping[str, Array]) -> dict[str, SuspectedUnit]:
    """Return the signals of the test that may have another unit or zero, by name.

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
    for name, values in known.items():
        usual = _median_of_others(ratios, name)
        scale = ratios.get(name, usual) / usual
        # A test that hardly moves is a rest, not a unit.
        if scale > SCALE or (scale < 1 / SCALE and len(ratios) > 1 and usual > 1 / SCALE):
            suspected[name] = SuspectedUnit(ratios[name], None, _units_by(ratios[name]))
        elif _lies_apart(values, test[name]):
            shift = float(np.mean(test[name]) - np.mean(values))
            suspected[name] = SuspectedUnit(None, shift, "kelvin and degrees" if 270 < abs(shift) < 276 else "")
    return suspected


def _median_of_others(ratios: Mapping[str, float], name: str) -> float:
    """Return the median of the ratios of all signals but one; 1 where there is no other."""
    others = dict(ratios)
    others.pop(name, None)
    return float(np.median(list(others.values()))) if others else 1.0


def _lies_apart(known: Array, test: Array) -> bool:
    """Return whether no value of the test is near those that are known."""
    reach = float(np.ptp(known))
    if reach == 0.0:
        return False
    gap = max(float(test.min() - known.max()), float(known.min() - test.max()))
    return gap > reach and gap > DEVIATIONS * float(np.std(known))


def _units_by(ratio: float) -> str:
    """Return the units between which there is about such a factor; "" where there are none."""
    nearest, distance = "", math.log(NEAR)
    for units, factors in FACTORS.items():
        for factor in factors:
            if abs(math.log(ratio / factor)) < distance:
                nearest, distance = units, abs(math.log(ratio / factor))
    return nearest
