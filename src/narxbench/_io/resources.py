"""The memory of a computation, which is refused if it needs too much."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from narxbench._io.errors import NarxbenchError

# Bytes of the process when it makes frames and pages.
_BASE = 450e6


class Use(NamedTuple):
    """Bytes that a step takes, and the setting, with its value, that they grow with."""

    step: str
    setting: str
    value: float
    size: float


def memory(largest: Sequence[Use], cores: int = 1, always: Sequence[Use] = ()) -> float:
    """Return the bytes of the process with what it ``always`` holds, and its ``largest`` step on each core."""
    return _BASE + sum(use.size for use in always) + cores * sum(use.size for use in largest)


def refuse(largest: Sequence[Use], cores: int = 1, always: Sequence[Use] = ()) -> None:
    """Raise NarxbenchError if steps on all cores need too much memory, with the setting that takes most of it."""
    allowed, needed = memory_of_machine(), memory(largest, cores, always)
    if needed <= allowed:
        return
    use = max((*always, *largest), key=lambda use: use.size)
    amount = f"{gigabytes(needed)} of memory"
    if cores > 1 and memory(largest, always=always) <= allowed:
        amount += f" with --cores {cores}"
    problem = f"{use.setting}: found {use.value:.15g}, with which {use.step} would take about {amount}"
    raise NarxbenchError(f"{problem}; allowed: up to {gigabytes(allowed)} on this machine")


def gigabytes(size: float) -> str:
    """Return a number of bytes in gigabytes, as ``0.7 GB``."""
    return f"{size / 1e9:.1f} GB"


def memory_of_machine() -> float:
    """Return the bytes of memory for this process: of the machine, or of its container."""
    limits = [float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):  # there is no such limit
            limits.append(float(Path("/sys/fs/cgroup", name).read_text()))
    return min(limits)
