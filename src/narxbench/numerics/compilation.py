"""Compilation to machine code, such that the same bytes come out on every machine.

No operation is reassociated or fused (no fastmath).
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit

# The packages that hold compiled functions.
_COMPILED = ("numerics", "fitness/kernel", "algorithms")


def _digest_of_compiled_modules() -> str:
    """Return one SHA-256 digest of all modules that hold compiled functions."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for folder in _COMPILED:
        for path in sorted((package / folder).glob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


_STAMP = _digest_of_compiled_modules()


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function to machine code that releases the interpreter lock, and cache the code on disk.

    Division by zero follows IEEE 754 as in NumPy: it gives an infinity or NaN, never an exception.

    Notes
    -----
    Numba refreshes a cached function only when its own file changes, although its machine code holds the functions
    that it calls in other files. Here the stamp covers all of them, so an edit is never ignored.
    """
    dispatcher = njit(cache=True, nogil=True, error_model="numpy")(function)
    dispatcher._cache._cache_file._source_stamp = _STAMP
    return dispatcher
