"""The line of a terminal that says what a command does at the moment, for how long, and how long it still takes."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

# What only a terminal needs is imported where it is used: --help shall come at once.
if TYPE_CHECKING:
    import threading

    from narxbench._identification.search.steps import SearchProgress

# Seconds between two drawings of the line, slow enough to be read; a command that ends within the first shows none.
_INTERVAL = 0.5
# Share of the planned time from which on the remaining time is shown: a first estimate from less jumps to and fro.
_KNOWN_SHARE = 0.05


class StatusLine:
    """The last line of a terminal, which a thread draws anew, as a step may take long without a word.

    Whoever prints hides it meanwhile. Nothing is drawn where standard error is no terminal.
    """

    def __init__(self) -> None:
        self._lock: AbstractContextManager[object] = nullcontext()
        self._activity = ""
        self._began = self._searching_since = 0.0
        self._first: SearchProgress | None = None
        self._latest: SearchProgress | None = None
        self._latest_time = 0.0
        self._is_drawn = False

    @contextmanager
    def shown(self, activity: str) -> Iterator[None]:
        """Draw the line in this context, beginning with an activity such as ``reading the data``."""
        if not is_terminal(sys.stderr):
            yield
            return
        import logging
        import threading

        self._lock = threading.RLock()
        self.begin(activity)
        ended = threading.Event()
        thread = threading.Thread(target=self._draw_until, args=[ended], daemon=True)
        # What the package reports appears above the line.
        handler = logging.StreamHandler(self)
        logger = logging.getLogger("narxbench")
        logger.addHandler(handler)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            logger.removeHandler(handler)
            self._clear()

    def begin(self, activity: str) -> None:
        """Begin another activity, whose time is counted from now on."""
        with self._lock:
            self._activity, self._began = activity, time.monotonic()
            self._first = self._latest = None

    def show_progress(self, progress: "SearchProgress") -> None:
        """Show how far a search is."""
        with self._lock:
            now = time.monotonic()
            if self._latest is None or progress.share < self._latest.share:
                self._first, self._searching_since = progress, now
            self._latest, self._latest_time = progress, now

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Clear the line, and keep it away in this context, in which something is printed."""
        with self._lock:
            self._clear()
            yield

    def write(self, text: str) -> None:
        """Print a text on standard error, above the line."""
        with self.hidden():
            sys.stderr.write(text)

    def flush(self) -> None:
        """Print what is not printed yet."""
        sys.stderr.flush()

    def _draw_until(self, ended: "threading.Event") -> None:
        import shutil

        while not ended.wait(_INTERVAL):
            with self._lock:
                width = shutil.get_terminal_size().columns - 1
                self._draw(f"\r\x1b[K{self._text(time.monotonic())[:width]}")
                self._is_drawn = True

    def _clear(self) -> None:
        if self._is_drawn:
            self._draw("\r\x1b[K")
            self._is_drawn = False

    def _draw(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):
            # A terminal that was closed is no reason to end.
            return

    def _text(self, now: float) -> str:
        elapsed = duration(now - self._began)
        progress = self._latest
        if progress is None:
            return f"{self._activity}, {elapsed}"
        step = f"{progress.step} {progress.done}/{progress.planned}"
        best = ""
        if progress.rrse is not None:
            best = f"; best: error {progress.rrse:.3g}, {progress.terms} terms"
        return f"{step}{best}; {elapsed}{self._left(now)} (Ctrl-C: stop)"

    def _left(self, now: float) -> str:
        """Return the time that is left in words; nothing where it cannot be known."""
        if self._first is None or self._latest is None or self._latest.share < _KNOWN_SHARE:
            return ""
        done = self._latest.share - self._first.share
        if done <= 0.0:
            return ""
        searched = self._latest_time - self._searching_since
        left = searched / done * (1.0 - self._latest.share) - (now - self._latest_time)
        return f", about {duration(left)} left" if left >= 1.0 else ""


def is_terminal(stream: object) -> bool:
    """Return whether a stream is a terminal that can clear a line."""
    isatty = getattr(stream, "isatty", None)
    return isatty is not None and isatty() and os.environ.get("TERM") != "dumb"


def duration(seconds: float) -> str:
    """Return whole minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
