"""The machine, the commit and the time behind the results that lie here, which no reproducible file holds."""

import os
import platform
import re
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_TIMES = re.compile(r"cpu ([0-9]{1,12}(?:\.[0-9]{1,6})?) s, wall ([0-9]{1,12}(?:\.[0-9]{1,6})?) s\n")


def run_info(logs: str, results: Iterable[str]) -> str:
    """Return machine, commit, and the time that jobs spent on results, by their logs in a folder for each step."""
    commit = _git("rev-parse", "HEAD")
    changed_files = len(_git("status", "--porcelain").splitlines()) if commit else "unknown"
    lines = [
        "# How the results next to this file were made",
        "",
        f"- Machine: {_processor()}, {os.cpu_count()} cores, {platform.platform()}, Python {platform.python_version()}",
        f"- Commit: {commit or 'unknown, not a git checkout'}",
        f"- Changed files at that time: {changed_files}",
        "",
        "| Step | Jobs | CPU seconds | Wall seconds, summed over jobs |",
        "|---|---:|---:|---:|",
    ]
    # A log has the name of its result without data/STUDY/FOLDER and the suffix; one of other settings has another.
    names = {path.split("/", 3)[-1].rpartition(".")[0] for path in results}
    for step in sorted(filter(Path.is_dir, Path(logs).iterdir())):
        files = [path for path in step.rglob("*.log") if str(path.relative_to(step)).removesuffix(".log") in names]
        cpu, wall = _time_spent(files)
        lines.append(f"| {step.name} | {len(files)} | {cpu:.1f} | {wall:.1f} |")
    return "\n".join(lines) + "\n"


def _time_spent(logs: Iterable[Path]) -> tuple[float, float]:
    """Return the CPU seconds and the wall seconds of some jobs; a log that a power cut has emptied counts as 0."""
    cpu = wall = 0.0
    for path in logs:
        times = _TIMES.fullmatch(path.read_text(encoding="utf-8", errors="replace"))
        if times:
            cpu += float(times[1])
            wall += float(times[2])
    return cpu, wall


def _processor() -> str:
    """Return the name of the processor."""
    description = Path("/proc/cpuinfo")
    if description.exists():
        model = re.search("^model name\\s*: (.*)$", description.read_text(), re.MULTILINE)
        if model:
            return model[1]
    return platform.processor() or platform.machine()


def _git(*arguments: str) -> str:
    """Return the output of a git command; "" where there is no git, or no checkout."""
    with suppress(OSError):
        command = ["git", *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.stdout.strip()
    return ""
