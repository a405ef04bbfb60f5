"""Write what made the results that lie here: machine, commit and time spent, which no reproducible file holds."""

import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from scripts.step import step

from narxbench.io.files import write_atomically


def spent(logs: Sequence[str]) -> dict[str, float]:
    """Return the summed CPU and wall seconds of the steps that wrote these logs; a log that is gone counts as 0."""
    times = [json.loads(Path(log).read_text(encoding="utf-8")) for log in logs if Path(log).is_file()]
    return {kind: sum(time[kind] for time in times) for kind in ("cpu_seconds", "wall_seconds")}


def git(*arguments: str) -> str | None:
    """Return what git says of the current folder, or None where there is no git or no repository."""
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def processor() -> str:
    """Return the name of the processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def write_made(logs: Mapping[str, Sequence[str]], output: str) -> None:
    """Write the file; ``logs`` are the timing logs of each step by its name."""
    changes = git("status", "--porcelain")
    lines = ["# How the results beside this file were made", ""]
    lines += [
        f"- Machine: {processor()}, {os.cpu_count()} cores, {platform.platform()}, Python {platform.python_version()}"
    ]
    lines += [f"- Commit: {git('rev-parse', 'HEAD') or 'unknown, not a git checkout'}"]
    lines += [f"- Changed files at that time: {'unknown' if changes is None else len(changes.splitlines())}", ""]
    lines += ["| Step | Jobs | CPU seconds | Wall seconds, summed over jobs |", "|---|---:|---:|---:|"]
    for name, files in logs.items():
        time = spent(files)
        lines.append(f"| {name} | {len(files)} | {time['cpu_seconds']:.1f} | {time['wall_seconds']:.1f} |")
    write_atomically(output, "\n".join(lines) + "\n")


if __name__ == "__main__":
    # Snakemake defines this name before it runs the script.
    job = globals()["snakemake"]
    with step(job.log[0]):
        write_made(job.params.logs, job.output[0])
