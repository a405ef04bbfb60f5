"""What made the results that lie here: machine, commit and time spent, which no reproducible file holds."""

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
    known = Path("/proc/cpuinfo")
    found = re.search("^model name\\s*: (.*)$", known.read_text() if known.exists() else "", re.MULTILINE)
    processor = found[1] if found else platform.processor() or platform.machine()
    lines = [
        "# How the results next to this file were made",
        "",
        f"- Machine: {processor}, {os.cpu_count()} cores, {platform.platform()}, Python {platform.python_version()}",
        f"- Commit: {(commit := _git('rev-parse', 'HEAD')) or 'unknown, not a git checkout'}",
        f"- Changed files at that time: {len(_git('status', '--porcelain').splitlines()) if commit else 'unknown'}",
        "",
        "| Step | Jobs | CPU seconds | Wall seconds, summed over jobs |",
        "|---|---:|---:|---:|",
    ]
    # Without data/STUDY/FOLDER, and the suffix; a log of other settings has another name.
    names = {path.split("/", 3)[-1].rpartition(".")[0] for path in results}
    for step in sorted(path for path in Path(logs).iterdir() if path.is_dir()):
        files = [path for path in step.rglob("*.log") if str(path.relative_to(step)).removesuffix(".log") in names]
        # A log that a power cut has emptied counts as 0.
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in files]
        times = [tuple(map(float, found.groups())) for text in texts if (found := _TIMES.fullmatch(text))]
        cpu, wall = map(sum, zip((0.0, 0.0), *times, strict=True))
        lines.append(f"| {step.name} | {len(files)} | {cpu:.1f} | {wall:.1f} |")
    return "\n".join(lines) + "\n"


def _git(*arguments: str) -> str:
    with suppress(OSError):
        return subprocess.run(["git", *arguments], capture_output=True, text=True).stdout.strip()
    return ""
