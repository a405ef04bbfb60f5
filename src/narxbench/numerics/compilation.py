"""Compilation to machine code, such that the same bytes come out on every machine.

No operation is reassociated or fused (no fastmath).
"""

import gc
import math
import time
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core import event

from narxbench.numerics.code_cache import CodeCache, logger


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function to machine code that releases the interpreter lock, and cache the code on disk.

    Division by zero follows IEEE 754 as in NumPy: it gives an infinity or NaN, never an exception.
    """
    # Nobody calls these functions from C.
    dispatcher = njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True)(function)
    # What njit(cache=True) does, with our cache.
    dispatcher._cache = CodeCache(function)
    return dispatcher


class Notice(event.Listener):
    """Says once in a process that functions of this package are being compiled, when that has lasted ``patience``
    seconds.

    Meanwhile Python collects no cyclic garbage: it would search what the compiler builds again and again, in vain.
    Numba reports the beginning and the end of each compilation, also of the functions that the function calls, but not
    of code that it loads. It holds its lock meanwhile, so that threads take turns here. The level is that of a warning
    because lower ones are not shown unless the program asks for them: then the first search would seem to hang.
    """

    def __init__(self, patience: float) -> None:
        self._left = patience
        self._outermost: Any = None
        self._began = 0.0
        self._collecting = False

    def on_start(self, event: Any) -> None:
        """Take the time if nothing of ours is being compiled yet; say what goes on if that has lasted."""
        # What Numba itself lifts out of a function has no cache.
        if self._outermost is None and isinstance(getattr(event.data["dispatcher"], "_cache", None), CodeCache):
            self._outermost, self._began = event.data, time.monotonic()
            self._collecting = gc.isenabled()
            gc.disable()
        if self._outermost is None or time.monotonic() - self._began < self._left:
            return
        self._left = math.inf
        if self._outermost["dispatcher"]._cache.keeps:
            logger.warning("narxbench: compiling the search for this processor, once; this takes some seconds")
        else:
            logger.warning(
                "narxbench: compiling the search, which takes some seconds in every process: "
                "no folder for compiled code can be written; set NUMBA_CACHE_DIR to one that can"
            )

    def on_end(self, event: Any) -> None:
        """Stop taking the time when the outermost compilation ends."""
        if event.data is self._outermost:
            self._left -= time.monotonic() - self._began
            self._outermost = None
            if self._collecting:
                gc.enable()


# A single small function takes tenths of a second.
NOTICE = Notice(patience=1.0)
event.register("numba:compile", NOTICE)
