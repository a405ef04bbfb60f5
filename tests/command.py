"""The command ``narxbench`` as it is installed, run in this process, and Python in a process of its own."""

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple, TextIO

(_ENTRY,) = entry_points(group="console_scripts", name="narxbench")


class Outcome(NamedTuple):
    """How a command ended: its exit code, and what it printed on standard output and on standard error."""

    code: int
    out: str
    err: str


class TerminalStream(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def run(*words: str, out: TextIO | None = None, err: TextIO | None = None) -> Outcome:
    """Run the command with some words, with streams of its own or these."""
    streams = [out or io.StringIO(), err or io.StringIO()]
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        try:
            code = _ENTRY.load()([*map(str, words)])
        except SystemExit as end:
            code = end.code
    return Outcome(code, *(stream.getvalue() for stream in streams))


def succeeded(*words: str) -> str:
    """Run the command to its good end, and return what it printed."""
    outcome = run(*words)
    assert outcome.code == 0, outcome.err
    return outcome.out


def failed(*words: str) -> str:
    """Run the command to its end by a mistake, and return the line that says so."""
    outcome = run(*words)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("narxbench: ") and outcome.err.count("\n") == 1, outcome.err
    return outcome.err.removeprefix("narxbench: ").rstrip("\n")


def python(*words: object, folder: Path | None = None, code: int = 0, **variables: str) -> Outcome:
    """Run Python with some words and variables of the environment until it ends with an exit code."""
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=folder,
        env=os.environ | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    assert done.returncode == code, done.stdout + done.stderr
    return Outcome(done.returncode, done.stdout, done.stderr)
