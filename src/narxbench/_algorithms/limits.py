"""Limits of time and memory for runs in this process.

A thread watches each run. At a limit it tells the objective to stop, which ends compiled searches at their next
evaluation, and raises :class:`LimitReachedError` in the thread of the run, which ends Python code at its next
instruction. Compiled code that evaluates nothing ends first.
"""

import ctypes
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

from narxbench._algorithms.contract import ProblemView
from narxbench._io.errors import NarxbenchError
from narxbench._numerics.compilation import NOTICE

# Bytes that a run may take beyond the process as it begins, in addition to this many copies of the columns of
# all candidate terms.
_MEMORY, _COPIES = 4 << 30, 8
# Seconds between two looks at the memory.
_INTERVAL = 0.1
# Runs that are watched. They share the memory of the process, which does not say how much each has.
_WATCHES: "set[Watch]" = set()


class LimitReachedError(BaseException):
    """A run has met a limit.

    An algorithm may handle it to return its best structure so far. It is not an Exception, so that an algorithm that
    handles all of its errors does not go on.
    """


def memory_limit(view: ProblemView) -> int:
    """Return the bytes that a run on a problem may take in addition to those of its process."""
    return _MEMORY + _COPIES * 8 * len(view.terms) * len(view.training_y)


def time_text(time_limit: float) -> str:
    """Return the words for a run that has met its limit of time in seconds."""
    return f"not done after the time limit of {time_limit:g} s"


def memory_text(memory: int) -> str:
    """Return the words for a run that has met its limit of memory in bytes."""
    return f"it needs more than its memory limit of {memory / 2**30:.1f} GiB"


class Watch(threading.Thread):
    """A thread that watches a run for the time of a ``with`` block, which the thread of the run enters.

    At a limit it calls ``stop`` and raises LimitReachedError in the block. Where the system does not tell how much
    memory a process has, only the time is limited.

    Parameters
    ----------
    time_limit : float or None
        Seconds that the block may take, compilation not counted.
    memory : int
        Bytes that the process may take meanwhile, times the number of runs that are watched.
    stop : callable
        Called in the watching thread.

    Attributes
    ----------
    limit : str
        The words for the limit that was met; empty if none was.
    """

    def __init__(self, time_limit: float | None, memory: int, stop: Callable[[], None]) -> None:
        super().__init__(name="narxbench-limits", daemon=True)
        self.limit = ""
        self._time_limit, self._memory, self._stop_run = time_limit, memory, stop
        self._began = self._looked = time.monotonic()
        self._bytes_before = _resident_bytes()
        self._run_thread = threading.get_ident()
        self._ended, self._lock = threading.Event(), threading.Lock()

    def __enter__(self) -> Self:
        """Begin to watch."""
        try:
            self.start()
        except RuntimeError:
            raise NarxbenchError(
                "search: the thread that watches its limits cannot be started; "
                "needed: more memory, or a higher ulimit -u"
            ) from None
        _WATCHES.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        """End the watch. No exception of it reaches the thread of the run afterwards."""
        _WATCHES.discard(self)
        with self._lock:
            self._ended.set()
            if self.limit:
                _receive_exception(self._run_thread)

    def run(self) -> None:
        """Look from time to time whether a limit is met, until the block has ended."""
        while not self._ended.wait(self._interval()):
            if NOTICE.is_compiling:
                # It is done once, and an exception in the middle could break the compiler.
                self._began += time.monotonic() - self._looked
            else:
                limit = self._limit_met()
                if limit:
                    self._end_run(limit)
                    return
            self._looked = time.monotonic()

    def _interval(self) -> float:
        if self._time_limit is None:
            return _INTERVAL
        seconds_left = self._began + self._time_limit - time.monotonic()
        return min(_INTERVAL, max(seconds_left, 1e-3))

    def _limit_met(self) -> str:
        if self._time_limit is not None and time.monotonic() - self._began >= self._time_limit:
            return time_text(self._time_limit)
        if _resident_bytes() - self._bytes_before > self._memory * max(1, len(_WATCHES)):
            return memory_text(self._memory)
        return ""

    def _end_run(self, limit: str) -> None:
        with self._lock:
            if not self._ended.is_set():
                self.limit = limit
                self._stop_run()
                _set_exception(self._run_thread)


def _set_exception(thread: int) -> None:
    """Let a thread raise LimitReachedError at its next instruction of Python."""
    error = ctypes.py_object(LimitReachedError)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)


def _receive_exception(thread: int) -> None:
    """Raise and handle LimitReachedError in this thread, so that one that was not raised yet is not raised later.

    To take it back instead would make the interpreter look for it between all instructions, which makes Python
    several times slower, and under a tracer stops it.
    """
    with suppress(LimitReachedError):
        _set_exception(thread)
        while True:
            time.sleep(0)


def _resident_bytes() -> int:
    """Return the memory of this process in bytes, or 0 where the system does not say."""
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0
