"""Compilation to machine code whose results are the same bytes on every machine.

No operation is reassociated or fused (no fastmath).
"""

import gc
import math
import time
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core import event

from narxbench._numerics.code_cache import CodeCache, logger


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function to machine code that releases the interpreter lock, and cache the code on disk.

    Division by zero follows IEEE 754 as in NumPy: it gives an infinity or NaN, never an exception.
    """
    return _dispatcher(function, "never")


def inner(function: Callable[..., Any]) -> Any:
    """Compile a function that compiled functions can call, but not Python.

    The code by which Python would call it takes as long to compile as a short function. To call it raises TypeError.
    """
    dispatcher = _dispatcher(function, "never", no_cpython_wrapper=True)
    # Numba would let Python call an address that is zero.
    dispatcher._insert = _ignore
    dispatcher._compile_for_args = _refuse
    return dispatcher


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function as a part of its only caller, a compiled function.

    That takes less time than to compile it alone first. Where Python calls it, it is compiled alone.
    """
    return _dispatcher(function, "always")


def _ignore(*_: Any) -> None:
    """Do not list code as what Python may call."""


def _refuse(*_: Any, **__: Any) -> None:
    raise TypeError("found a call from Python; allowed: calls from compiled code, as there is no other")


def _dispatcher(function: Callable[..., Any], inline: str, **options: bool) -> Any:
    # Nobody calls these functions from C.
    dispatcher = njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, inline=inline, **options)(function)
    # As njit(cache=True) does, but with our cache.
    dispatcher._cache = CodeCache(function)
    return dispatcher


class Notice(event.Listener):
    """Warn once in a process when compiling functions of this package has taken more than ``patience`` seconds.

    The message is a warning because messages of lower levels are not shown by default: without it, the first search
    would seem to hang.

    Numba reports the beginning and the end of each compilation, including those of the functions that a function calls,
    but not the loading of code. It holds a lock meanwhile, so only one thread at a time is here. During a compilation
    Python's cyclic garbage collector is off: it would traverse the compiler's objects many times and free nothing.
    """

    def __init__(self, patience: float) -> None:
        self._left = patience
        self._outermost: Any = None
        self._began = 0.0
        self._collecting = False

    @property
    def is_compiling(self) -> bool:
        """Whether a function of this package is being compiled."""
        return self._outermost is not None

    def on_start(self, event: Any) -> None:
        """Start the clock if no function of this package is being compiled yet, and warn if that has taken too long."""
        # Parts that Numba itself lifts out of a function have no cache.
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
                "no folder for compiled code can be written; set NUMBA_CACHE_DIR to one that only you can write to"
            )

    def on_end(self, event: Any) -> None:
        """Stop the clock when the outermost compilation ends."""
        if event.data is self._outermost:
            self._left -= time.monotonic() - self._began
            self._outermost = None
            if self._collecting:
                gc.enable()


# One small function takes tenths of a second, which needs no warning.
NOTICE = Notice(patience=1.0)
event.register("numba:compile", NOTICE)
