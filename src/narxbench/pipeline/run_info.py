"""What made the results that lie here: machine, commit and time spent, which no reproducible file holds."""

import os
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_TIMES = re.compile(r"cpu ([0-9]{1,12}(?:\.[0-9]{1,6})?) s, wall ([0-9]{1,12}(?:\.[0-9]{1,6})?) s\n")


def run_info(logs: Mapping[str, Sequence[str]]) -> str:
    """Return machine, commit and time spent as Markdown."""
    changes = _git("status", "--porcelain")
    system = f"{_processor()}, {os.cpu_count()} cores, {platform.platform()}, Python {platform.python_version()}"
    lines = [
        "# How the results next to this file were made",
        "",
        f"- Machine: {system}",
        f"- Commit: {_git('rev-parse', 'HEAD') or 'unknown, not a git checkout'}",
        f"- Changed files at that time: {'unknown' if changes is None else len(changes.splitlines())}",
        "",
        "| Step | Jobs | CPU seconds | Wall seconds, summed over jobs |",
        "|---|---:|---:|---:|",
    ]
    for step, files in logs.items():
        # A log that is gone, or that a power cut has emptied, counts as 0.
        texts = (Path(log).read_text(encoding="utf-8", errors="replace") for log in files if Path(log).is_file())
        times = [tuple(map(float, found.groups())) for text in texts if (found := _TIMES.fullmatch(text))]
        cpu, wall = map(sum, zip((0.0, 0.0), *times, strict=True))
        lines.append(f"| {step} | {len(files)} | {cpu:.1f} | {wall:.1f} |")
    return "\n".join(lines) + "\n"


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
