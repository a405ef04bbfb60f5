"""The calls of scripts by the rules: every script has a function ``main(job)``.

``job`` has the files, parameters and wildcards of a rule. Steps run in threads of the main process (``run:`` under
``force-use-threads``): a separate process, as of ``script:``, takes 926 ms of CPU to import numba, a search 10 ms.
Each measures its own time, because ``benchmark:`` costs 15 ms a job, and counts all threads of the process.
"""

import importlib.util
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from types import SimpleNamespace
from typing import Any

from snakemake.logging import logger

from narxbench._io.errors import NarxbenchError
from narxbench._io.files import write_atomically
from narxbench._pipeline.code import SCRIPTS

# Held by the step that loads a script.
_LOADING = threading.Lock()


class StepFailedError(Exception):
    """The error of a step that has ended with a mistake, which was reported already."""


@contextmanager
def ended_in_one_line() -> Iterator[None]:
    """End the process with one line for a mistake in the block, or in the function that this decorates."""
    try:
        yield
    except NarxbenchError as mistake:
        sys.exit(f"narxbench: {mistake}")


def call(script: str, **job: Any) -> None:
    """Call ``main`` of a script in this thread. A mistake is reported, and raises StepFailedError."""
    try:
        with timed(job["log"][0]):
            _main(script)(SimpleNamespace(**job))
    except NarxbenchError as mistake:
        # Snakemake's logger is used, because other lines of threads can end up in the middle of its own.
        logger.error(f"narxbench: {mistake}")
        raise StepFailedError from None


def _main(script: str) -> Any:
    """Return ``main`` of a script, which is executed once a process."""
    with _LOADING:
        # The code of a search imports this package when it is loaded, and so may another step at the same time. Its
        # modules import one another, and threads that begin with different ones would wait for each other. It is not
        # imported to plan, which takes a tenth less time without.
        import scipy.linalg.cython_blas  # noqa: F401

        return _loaded(script).main


@cache
def _loaded(script: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"narxbench_script_{script}", SCRIPTS / f"{script}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def timed(log: str) -> Iterator[None]:
    """Write the seconds that the block takes in this thread to the log of a step, or the error that ends it."""
    wall, cpu = time.perf_counter(), time.thread_time()
    try:
        yield
    except Exception as error:
        text = f"narxbench: {error}\n" if isinstance(error, NarxbenchError) else traceback.format_exc()
        # On a full disk the log cannot be written either, but the mistake is on the terminal.
        with suppress(NarxbenchError):
            write_atomically(log, text)
        raise
    write_atomically(log, f"cpu {time.thread_time() - cpu:.6f} s, wall {time.perf_counter() - wall:.6f} s\n")
