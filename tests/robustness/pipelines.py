"""What the tests of this folder share: a pipeline that is under way, and how long it may take."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TypeVar

from tests.workflow.project import QUICK, ROOT, Copy, Project, differences

__all__ = ["COMMAND", "LIMIT", "QUICK", "ROOT", "Copy", "Project", "differences", "end", "under_way", "wait_for"]

T = TypeVar("T")

# The documented command's arguments, beside the configuration that every copy adds.
COMMAND = ("--cores", "2")
# Seconds in which anything here ends on a busy machine, unless it hangs.
LIMIT = 300.0


@contextmanager
def under_way(
    copy: Copy, *arguments: str, env: Mapping[str, str] | None = None, output: int = subprocess.PIPE
) -> Iterator[subprocess.Popen[str]]:
    """Begin the pipeline, by default with the documented command; whatever happens, none of it is left running."""
    begun = copy.begin(*(arguments or COMMAND), env=env, output=output)
    try:
        yield begun
    finally:
        end(begun)


def end(begun: subprocess.Popen[str]) -> None:
    """Kill what is left of a pipeline: its main process and the scripts that it started, which are of its group."""
    with suppress(ProcessLookupError):
        os.killpg(begun.pid, signal.SIGKILL)
    begun.wait()
    if begun.stdout is not None:
        begun.stdout.close()


def wait_for(condition: Callable[[], T], what: str, limit: float = LIMIT) -> T:
    """Return the first true value of a condition; it is an error when there is none within the limit."""
    last = time.monotonic() + limit
    while not (value := condition()):
        if time.monotonic() > last:
            raise TimeoutError(f"waited {limit:g} s in vain for {what}")
        time.sleep(0.01)
    return value
