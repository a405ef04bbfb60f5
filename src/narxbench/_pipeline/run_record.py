"""The record of a run: its command, machine, commit and time, which no reproducible file holds."""

import json
import os
import platform
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from narxbench._study.run_record import RunRecord

_TIMES = re.compile(r"cpu ([0-9]{1,12}(?:\.[0-9]{1,6})?) s, wall .* s\n")
# The variable by which the process that was started tells its jobs how and when it was started.
_STARTED = "NARXBENCH_STARTED"
# The folder of this checkout of the project.
PROJECT = Path(__file__).resolve().parents[3]
# The options of Snakemake that name settings.
_OF_SETTINGS = ("--config", "--configfile", "--configfiles")


def note_start() -> None:
    """Keep the command line and the time for the record of this run. A job keeps those of the process that began it."""
    os.environ.setdefault(_STARTED, json.dumps([time.time(), typed(sys.argv)]))


def typed(arguments: Sequence[str]) -> list[str]:
    """Return a command line as it was typed: the program by its name."""
    return ["snakemake", *arguments[1:]]


def settings_options(arguments: Iterable[str]) -> list[str]:
    """Return the options of a command line that name settings, with their values."""
    options: list[str] = []
    is_of_settings = False
    for argument in arguments:
        if argument.startswith("-"):
            is_of_settings = argument.partition("=")[0] in _OF_SETTINGS
        if is_of_settings:
            options.append(argument)
    return options


def run_record(logs: str, results: Iterable[str]) -> RunRecord:
    """Return the record of a run, by the logs of its jobs in a folder for each step.

    ``results`` are the files that count: a log of other settings has the name of none of them.
    """
    started, command = json.loads(os.environ.get(_STARTED) or json.dumps([time.time(), typed(sys.argv)]))
    # A log has the name of its result without data/STUDY/FOLDER and the suffix.
    names = {path.split("/", 3)[-1].rpartition(".")[0] for path in results}
    steps, oldest = {}, time.time()
    for folder in sorted(filter(Path.is_dir, Path(logs).iterdir())):
        files = [path for path in folder.rglob("*.log") if str(path.relative_to(folder)).removesuffix(".log") in names]
        oldest = min([oldest, *(path.stat().st_mtime for path in files)])
        if files:
            steps[folder.name] = round(sum(map(_cpu_seconds, files)), 1)
    commit = _git("rev-parse", "HEAD")
    return RunRecord(
        command=shlex.join(command),
        settings=shlex.join(settings_options(command)),
        date=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        commit=commit,
        changed_files=len(_git("status", "--porcelain").splitlines()) if commit else 0,
        machine=f"{_processor()}, {os.cpu_count()} cores, {platform.platform()}, Python {platform.python_version()}",
        wall_seconds=round(time.time() - started, 1) if oldest >= started else None,
        steps=steps,
    )


def _cpu_seconds(log: Path) -> float:
    """Return the CPU seconds of a job by its log, or 0 if a power cut has emptied the log."""
    times = _TIMES.fullmatch(log.read_text(encoding="utf-8", errors="replace"))
    return float(times[1]) if times else 0.0


def _processor() -> str:
    """Return the name of the processor."""
    description = Path("/proc/cpuinfo")
    if description.exists():
        model = re.search("^model name\\s*: (.*)$", description.read_text(), re.MULTILINE)
        if model:
            return model[1]
    return platform.processor() or platform.machine()


def _git(*arguments: str) -> str:
    """Return the output of a git command on the project, or "" without git or outside a checkout."""
    if not (PROJECT / ".git").exists():
        return ""
    with suppress(OSError):
        command = ["git", "-C", str(PROJECT), *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.stdout.strip()
    return ""
