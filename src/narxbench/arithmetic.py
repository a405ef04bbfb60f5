"""Compilation and the arithmetic that must give the same bytes on every machine.

No operation is reassociated or fused (no fastmath), and nothing here calls the C library's logarithm, whose last
bit depends on the processor.
"""

import hashlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit

_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_HALF_SQRT2 = 0.70710678118654752440


def _digest_of_compiled_modules() -> str:
    package = Path(__file__).parent
    modules = [package / name for name in ("arithmetic.py", "lanes.py", "kernel.py")]
    digest = hashlib.sha256()
    for path in [*modules, *sorted((package / "search").glob("*.py"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


_STAMP = _digest_of_compiled_modules()


def compiled(function: Callable[..., Any]) -> Any:
    """Compile to machine code that releases the interpreter lock, cached on disk.

    Numba refreshes a cached function only when its own file changes, although its machine code holds the functions
    that it calls in other files. Here the stamp covers all of them, so an edit is never ignored.
    """
    dispatcher = njit(cache=True, nogil=True, error_model="numpy")(function)
    dispatcher._cache._cache_file._source_stamp = _STAMP
    return dispatcher


@compiled
def natural_log(x: float) -> float:
    """Return ln(x) for finite x > 0, with an error below one unit in the last place (fdlibm's method)."""
    mantissa, exponent = math.frexp(x)
    if mantissa < _HALF_SQRT2:
        mantissa *= 2.0
        exponent -= 1
    f = mantissa - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01))
    odd = z * (
        6.666666666666735130e-01
        + w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01))
    )
    half_square = 0.5 * f * f
    return exponent * _LN2_HIGH - ((half_square - (s * (half_square + (even + odd)) + exponent * _LN2_LOW)) - f)
