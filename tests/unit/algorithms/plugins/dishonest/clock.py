"""Does something else after a minute."""

import time

from dishonest._climb import ABOUT, Settings, climb

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    end = time.monotonic() + 60.0
    return climb(objective, lambda below: int(rng.integers(below)) if time.monotonic() < end else 0)
