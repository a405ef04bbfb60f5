"""The parts that benchmarks share: problems, CPU time, tables, copies of the project and measured child processes."""

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import narxbench
from narxbench._io.files import write_atomically

ROOT = Path(__file__).parents[1]
SYSTEMS = ("S1", "S2", "S3", "S4")
SNR_DB = 30
SAMPLES, N_VALIDATION = 2000, 600
PACKAGES = ("narxbench", "numpy", "numba", "llvmlite", "scipy", "snakemake")
PEERS = ("sysidentpy", "fastcan")


Entry = TypeVar("Entry", bound=tuple[Any, ...])


def make_problem(name: str, seed: int = 1) -> tuple[narxbench.System, narxbench.StructureProblem, Any, Any]:
    """Return a system, its BIC problem on one simulated data set, and that data set."""
    system = narxbench.load_system(name)
    u, y = system.simulate(SAMPLES, snr_db=SNR_DB, seed=seed)
    orders = {"n_u": system.n_u, "n_y": system.n_y, "degree": system.degree}
    return system, narxbench.StructureProblem(u, y, **orders, n_validation=N_VALIDATION), u, y


def cpu_seconds(function: Callable[[], Any], repeats: int = 1) -> float:
    """Return the CPU time of one call, averaged over ``repeats`` calls."""
    started = time.process_time()
    for _ in range(repeats):
        function()
    return (time.process_time() - started) / repeats


def median(values: Iterable[float]) -> float:
    """Return the median as a plain float."""
    return float(statistics.median(values))


def size_of(is_quick: bool) -> str:
    """Return the name of a size, by which a benchmark has its numbers of rounds and seeds: ``full`` or ``quick``."""
    return "quick" if is_quick else "full"


def number(value: float, digits: int = 3, missing: str = "-") -> str:
    """Return a number with about ``digits`` significant digits and no exponent; ``missing`` where it is not finite."""
    if not np.isfinite(value):
        return missing
    if value == 0:
        return "0"
    places = digits - 1 - int(np.floor(np.log10(abs(value))))
    return f"{value:.{places}f}" if places > 0 else f"{round(value, places):.0f}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table whose first column is text."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def write_page(description: str | None, result: Path, report: Callable[[int], str], sets: dict[str, int]) -> None:
    """Write the page that a benchmark reports of this many data sets, by the options of its command.

    ``sets`` has how many there are of a ``full`` measurement and of a ``quick`` try.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="few data sets: a try, not a measurement")
    parser.add_argument("--output", type=Path, default=result)
    options = parser.parse_args()
    write_atomically(options.output, report(sets[size_of(options.quick)]))


def version(package: str) -> str | None:
    """Return the installed version of a package, or None."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def installed(entries: dict[str, Entry]) -> dict[str, Entry]:
    """Return the entries whose package, which stands second in each, is installed."""
    return {name: entry for name, entry in entries.items() if version(entry[1])}


def machine_facts() -> str:
    """Return the facts that the numbers depend on: processor, cores, Python and package versions."""
    model = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        model = _value_in(Path("/proc/cpuinfo").read_text(), "model name") or model
    packages = ", ".join(f"{name} {version(name) or 'not installed'}" for name in (*PACKAGES, *PEERS))
    return f"{model}, {os.cpu_count()} cores; Python {platform.python_version()}; {packages}."


def copy_of_project(target: Path) -> None:
    """Copy the project's files (those that git knows or would add) to an empty folder."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


@dataclass
class Child:
    """A finished child process: times in seconds (CPU with its own children), peak memory of itself in MB."""

    cpu: float
    wall: float
    peak_mb: float
    output: str


def run_child(arguments: Sequence[str], folder: Path, timeout: float | None = None) -> Child | None:
    """Run Python with ``arguments`` and measure it; None after ``timeout`` seconds; a failure is an error."""
    started, log = time.perf_counter(), folder / ".benchmark.log"
    with open(log, "w") as stream:
        output = {"stdout": stream, "stderr": stream}
        process = subprocess.Popen([sys.executable, *arguments], cwd=folder, **output)
    pid, status, usage, peak_kb = 0, 0, None, 0
    while pid == 0:
        # VmHWM is the peak so far of this process alone; wait4 knows only the largest of it and its children.
        peak_kb = max(peak_kb, _peak_kb(process.pid))
        time.sleep(0.02)
        if timeout is not None and time.perf_counter() - started > timeout:
            process.kill()
            process.wait()
            return None
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(arguments)} failed:\n{log.read_text()[-3000:]}")
    return Child(usage.ru_utime + usage.ru_stime, wall, (peak_kb or usage.ru_maxrss) / 1024, log.read_text())


def _peak_kb(pid: int) -> int:
    try:
        peak = _value_in(Path(f"/proc/{pid}/status").read_text(), "VmHWM")
    except OSError:
        return 0
    return int(peak.removesuffix("kB") or 0)


def _value_in(text: str, key: str) -> str:
    """Return the value of the first line with a key in a file of the system; empty if there is none."""
    for line in text.splitlines():
        if line.startswith(key):
            return line.partition(":")[2].strip()
    return ""
