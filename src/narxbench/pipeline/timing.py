"""Time spent by a step, written beside its result: results themselves hold no clock."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from narxbench.io.files import write_atomically


@contextmanager
def timed(log: str | os.PathLike[str]) -> Iterator[None]:
    """Write CPU and wall seconds of the block, as spent by this thread, to ``log`` as JSON when it succeeds."""
    wall, cpu = time.perf_counter(), time.thread_time()
    yield
    spent = {"cpu_seconds": time.thread_time() - cpu, "wall_seconds": time.perf_counter() - wall}
    write_atomically(log, json.dumps(spent) + "\n")
