"""Guard of a daemon, executed as a program with the daemon's command: whatever happens, no process of it is left."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import psutil  # type: ignore[import-untyped]

_PR_SET_CHILD_SUBREAPER = 36


def guard(command: Sequence[str]) -> int:
    """Run a command until it ends or standard input does; then end it and all that it started, daemons included.

    Standard input is a pipe from the tests, which closes when they say so and when they are killed.
    """
    # Processes that leave their parent come to this one instead of to the system's first.
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    with _started(command) as number:
        threading.Thread(target=_end_with_input, daemon=True).start()
        while True:
            ended, status = os.waitpid(-1, 0)
            if ended == number:
                return os.waitstatus_to_exitcode(status)


@contextmanager
def _started(command: Sequence[str]) -> Iterator[int]:
    try:
        yield subprocess.Popen(command, stdin=subprocess.DEVNULL).pid
    finally:
        _end_descendants()
        # Else they would stay as zombies where the system's first process does not care for them, as in containers.
        with suppress(ChildProcessError):
            while True:
                os.waitpid(-1, 0)


def _end_with_input() -> None:
    sys.stdin.read()
    _end_descendants()


def _end_descendants() -> None:
    """Stop all first: one that outlived another for a moment would tell the controller of it."""
    stopped: set[psutil.Process] = set()
    while new := set(psutil.Process().children(recursive=True)) - stopped:
        _send(new, signal.SIGSTOP)
        stopped |= new
    _send(stopped, signal.SIGKILL)


def _send(processes: set[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)


if __name__ == "__main__":
    sys.exit(guard(sys.argv[1:]))
