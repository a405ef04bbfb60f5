"""Removes results of others."""

import os
from pathlib import Path

from dishonest._climb import ABOUT, Settings, climb

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    for change in (os.remove, lambda path: os.truncate(path, 0), lambda path: os.rename(path, "renamed")):
        try:
            change(Path("data") / "kept.json")
        except OSError:
            continue
    return climb(objective, rng.integers)
