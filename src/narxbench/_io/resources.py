"""Estimates of the CPU time and memory of a computation, which is refused if it needs too much memory."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from narxbench._io.errors import NarxbenchError

# Share of the memory of a machine that steps may take; bytes in a gigabyte.
_SHARE, _GB = 0.95, 1e9
# Bytes of the process when it makes frames and pages, and of each job that it has planned.
_BASE, JOB_BYTES = 450e6, 17e3
# Seconds to start and end a job, and to compile functions at their first use.
JOB_SECONDS, COMPILING_SECONDS = 6e-3, 15.0
# Jobs that make the frames, tables, figures and pages.
OTHER_JOBS = 8


class Use(NamedTuple):
    """Bytes that a step takes, and the setting, with its value, that they grow with."""

    step: str
    setting: str
    value: float
    size: float


class Estimate(NamedTuple):
    """Searches and CPU seconds of a whole study, its memory at all times, and that of its largest step."""

    searches: int
    seconds: float
    planned: Use
    largest: Sequence[Use]

    def memory(self, cores: int = 1) -> float:
        """Return the bytes of the process with so many of the largest step at a time."""
        return _BASE + self.planned.size + cores * sum(use.size for use in self.largest)

    def line(self) -> str:
        """Return the estimate in one line."""
        largest_step = f"the largest step takes about {self.memory() / _GB:.1f} GB"
        return f"{self.searches} searches, about {_duration(self.seconds)} of CPU time with compilation; {largest_step}"


def _duration(seconds: float) -> str:
    """Return a duration in whole numbers of the unit that suits it."""
    for unit, size in (("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 1.5 * size:
            return f"{round(seconds / size)} {unit}"
    return f"{max(1, round(seconds))} s"


def refuse(estimate: Estimate, cores: int = 1) -> None:
    """Raise NarxbenchError if so many steps at a time need too much memory, with the setting that takes most of it."""
    allowed, needed = _SHARE * memory_of_machine(), estimate.memory(cores)
    if needed <= allowed:
        return
    use = max((estimate.planned, *estimate.largest), key=lambda use: use.size)
    amount = f"{needed / _GB:.1f} GB of memory"
    if cores > 1 and estimate.memory() <= allowed:
        amount += f" with --cores {cores}"
    problem = f"{use.setting}: found {use.value:.15g}, with which {use.step} would take about {amount}"
    raise NarxbenchError(f"{problem}; allowed: up to {allowed / _GB:.1f} GB on this machine")


def memory_of_machine() -> float:
    """Return the bytes of memory for this process: of the machine, or of its container."""
    limits = [float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):  # there is no such limit
            limits.append(float(Path("/sys/fs/cgroup", name).read_text()))
    return min(limits)
