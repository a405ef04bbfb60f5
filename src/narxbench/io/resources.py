"""What a computation takes of the machine: CPU time and memory, estimated, and refused where it is too much."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from narxbench.io.errors import NarxbenchError

# Share of the memory of a machine that steps may take; bytes in a gigabyte.
_SHARE, _GB = 0.95, 1e9
# Bytes of the process when it makes frames and pages, and of each job that it has planned.
_BASE, JOB_BYTES = 450e6, 17e3
# Seconds to start and end a job, and of what is compiled at the first use.
JOB_SECONDS, COMPILING_SECONDS = 6e-3, 15.0
# Jobs of the analysis and of the pages, and the one that asks for all.
OTHER_JOBS = 8


class Use(NamedTuple):
    """Bytes that a step takes, and the setting that they grow with."""

    step: str
    setting: str
    found: float
    size: float


class Estimate(NamedTuple):
    """What a study takes: CPU seconds of everything, memory that is taken all the time and by the largest step."""

    jobs: int
    runs: int  # searches among the jobs; 0 where these are not counted
    seconds: float
    planned: Use
    largest: Sequence[Use]

    def memory(self, cores: int = 1) -> float:
        """Return the bytes of the process with so many of the largest step at a time."""
        return _BASE + self.planned.size + cores * sum(use.size for use in self.largest)

    def line(self) -> str:
        """Return it in one line."""
        counted = f"{self.runs} runs in {self.jobs} jobs" if self.runs else f"{self.jobs} jobs"
        units = (("days", 86_400), ("h", 3600), ("min", 60))
        unit, size = next((each for each in units if self.seconds >= 1.5 * each[1]), ("s", 1))
        time, memory = max(1, round(self.seconds / size)), self.memory() / _GB
        return f"{counted}: about {time} {unit} of CPU time; the largest step takes about {memory:.1f} GB"


def refuse(estimate: Estimate, cores: int = 1) -> None:
    """Raise NarxbenchError, with the setting that does most to it, if so many steps at a time need too much memory."""
    allowed, taken = _SHARE * memory_of_machine(), estimate.memory(cores)
    if taken > allowed:
        use = max((estimate.planned, *estimate.largest), key=lambda use: use.size)
        found = f"{use.setting}: found {use.found:.15g}, with which {use.step} would take about {taken / _GB:.1f} GB"
        at_a_time = f" with --cores {cores}" if cores > 1 and estimate.memory() <= allowed else ""
        raise NarxbenchError(f"{found} of memory{at_a_time}; allowed: up to {allowed / _GB:.1f} GB on this machine")


def memory_of_machine() -> float:
    """Return the bytes of memory that there are for this process: of the machine, or of its container."""
    limits = [float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):  # there is no such limit
            limits.append(float(Path("/sys/fs/cgroup", name).read_text()))
    return min(limits)
