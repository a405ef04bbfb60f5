"""Functions of an input that are inputs of their own, such as ``abs(u)``."""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench.io.errors import NarxbenchError, did_you_mean, printable

Floats = NDArray[np.float64]

# One value at a time, by the C library: NumPy's differ in the last digit between processors.
FUNCTIONS: dict[str, Callable[[float], float]] = {
    "abs": abs,
    "sign": lambda value: math.copysign(1.0, value) if value else 0.0,
    **{name: getattr(math, name) for name in ("sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "atan")},
}


def parsed(name: Any) -> tuple[str, str] | None:
    """Return function and input of a name such as ``abs(u)``, whether there is such a function or not."""
    match = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*\(\s*(\S.*?)\s*\)\s*", name) if isinstance(name, str) else None
    return (match[1], match[2]) if match else None


def check_function(name: str) -> None:
    """Raise NarxbenchError unless there is a function of this name."""
    if name not in FUNCTIONS:
        allowed = f"{', '.join(FUNCTIONS)}{did_you_mean(name, FUNCTIONS)}"
        raise NarxbenchError(f"found no function {printable(name)}; allowed: {allowed}")


def applied(name: str, values: Floats) -> Floats:
    """Return a function of each value; NaN where it is not a finite number, as the root of a negative one."""

    def finite(value: float) -> float:
        try:
            result = FUNCTIONS[name](value)
        except (ValueError, OverflowError):
            return math.nan
        return result if math.isfinite(result) else math.nan

    return np.array([finite(value) for value in values.tolist()], np.float64)


def derived(inputs: Sequence[str]) -> dict[int, tuple[str, int]]:
    """Return the inputs that are functions of another one, by their place: the function, and the place of that one."""
    found = {}
    for place, name in enumerate(inputs):
        function, of = parsed(name) or ("", "")
        if function in FUNCTIONS and of in inputs:
            found[place] = function, list(inputs).index(of)
    return found


def completed(inputs: Sequence[str], values: Floats) -> Floats:
    """Return values, shape (samples, inputs), with those of functions among the inputs computed from the others."""
    values = values.copy()
    for place, (function, of) in derived(inputs).items():
        values[:, place] = applied(function, values[:, of])
    return values
