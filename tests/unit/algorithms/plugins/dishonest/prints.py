"""Prints a lot, and not only text."""

import atexit
import os
import sys

from dishonest._climb import ABOUT, Settings, climb

__all__ = ["ABOUT", "Settings", "run"]


atexit.register(print, "{}")
print("{")


def run(problem, objective, rng, settings):
    print("{}" * 1000)
    os.write(1, b"\xff\0" * 1000)
    os.write(2, b"\xff\0" * 1000)
    sys.stdout.close()
    return climb(objective, rng.integers)
