"""The line of a terminal that shows the current activity of a command, its duration, and the remaining time."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

# Modules that only a terminal needs are imported where they are used, so that --help comes at once.
if TYPE_CHECKING:
    import threading

    from narxbench._identification.search.steps import SearchProgress

# Seconds between two drawings of the line, slow enough to be read. A command that ends earlier shows no line.
_INTERVAL = 0.5
# Share of the planned time, or of the steps of a study, from which on the remaining time is shown: a first estimate
# from less jumps to and fro, and the first steps compile.
KNOWN_SHARE = 0.05


class StatusLine:
    """The last line of a terminal, which a thread redraws, because a step may take long without printing.

    It is hidden while anything else is printed, and drawn only if standard error is a terminal.
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
        """Flush standard error."""
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
            # A search goes on although its terminal was closed.
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
        """Return the remaining time in words, or an empty text if it cannot be estimated."""
        if self._first is None or self._latest is None or self._latest.share < KNOWN_SHARE:
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
