"""Starts another process, which nobody watches."""

import contextlib
import subprocess
import sys

from dishonest._climb import ABOUT, Settings, climb

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    with contextlib.suppress(OSError):
        subprocess.run([sys.executable, "-c", "pass"])
    return climb(objective, rng.integers)
