"""Inputs that are computed from other inputs, such as ``abs(u)``."""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench._io.errors import NarxbenchError, did_you_mean, printable

Floats = NDArray[np.float64]


def _sign(value: float) -> float:
    """Return -1, 0 or 1."""
    return math.copysign(1.0, value) if value else 0.0


def _reciprocal(value: float) -> float:
    """Return 1 / value."""
    return 1.0 / value


# The functions of the C library, one value at a time: NumPy's results differ in the last digit between processors.
FUNCTIONS: dict[str, Callable[[float], float]] = {
    "abs": abs,
    "sign": _sign,
    "reciprocal": _reciprocal,
    **{name: getattr(math, name) for name in ("sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "atan")},
}


def parsed(name: Any) -> tuple[str, str] | None:
    """Return function and input of a name such as ``abs(u)``, whether or not such a function exists, or else None.

    ``1/u`` is another name of ``reciprocal(u)``.
    """
    if not isinstance(name, str):
        return None
    quotient = re.fullmatch(r"\s*1\s*/\s*(\S.*?)\s*", name)
    if quotient is not None:
        return "reciprocal", quotient[1]
    match = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*\(\s*(\S.*?)\s*\)\s*", name)
    if match is None:
        return None
    return match[1], match[2]


def check_function(name: str) -> None:
    """Raise NarxbenchError unless a function of this name exists."""
    if name not in FUNCTIONS:
        allowed = f"{', '.join(FUNCTIONS)}{did_you_mean(name, FUNCTIONS)}"
        raise NarxbenchError(f"found no function {printable(name)}; allowed: {allowed}")


def applied(name: str, values: Floats) -> Floats:
    """Return a function of each value, NaN where the result is not a finite number, as for sqrt(-1)."""
    function = FUNCTIONS[name]
    results = []
    for value in values.tolist():
        try:
            result = function(value)
        except (ValueError, ArithmeticError):
            result = math.nan
        results.append(result)
    array = np.array(results, np.float64)
    array[~np.isfinite(array)] = np.nan
    return array


def derived(inputs: Sequence[str]) -> dict[int, tuple[str, int]]:
    """Return the inputs that are functions of other inputs.

    Returns
    -------
    dict of int to (str, int)
        For the position of each such input, the name of the function and the position of its argument.

    Examples
    --------
    >>> derived(["u", "abs(u)"])
    {1: ('abs', 0)}
    """
    functions = {}
    for position, name in enumerate(inputs):
        function, argument = parsed(name) or ("", "")
        # A column that is called 1/u was measured: reading calls what it computes reciprocal(u).
        if name.strip().startswith(function) and function in FUNCTIONS and argument in inputs:
            functions[position] = function, list(inputs).index(argument)
    return functions


def completed(inputs: Sequence[str], values: Floats) -> Floats:
    """Return values, shape (samples, inputs), in which inputs that are functions of others have been computed.

    They are NaN where a function is not finite, and :func:`check_domains` refuses such values.
    """
    values = values.copy()
    for position, (function, argument) in derived(inputs).items():
        values[:, position] = applied(function, values[:, argument])
    return values


def check_domains(name: str, inputs: Sequence[str], values: Floats) -> None:
    """Raise NarxbenchError, which calls the argument ``name``, if a computed input is not a finite number."""
    for position, (function, argument) in derived(inputs).items():
        rows = np.flatnonzero(~np.isfinite(values[:, position]))
        if len(rows):
            finding = f"found {values[rows[0], argument]:g} of {printable(inputs[argument])} at sample {rows[0] + 1}"
            raise NarxbenchError(f"{name}: {finding}; allowed: values for which {function} is a finite number")
