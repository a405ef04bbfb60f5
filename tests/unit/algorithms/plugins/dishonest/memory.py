"""Remembers the best structure of earlier runs."""

from dishonest._climb import ABOUT, Settings, climb, random_start

__all__ = ["ABOUT", "Settings", "run"]


KNOWN = []


def run(problem, objective, rng, settings):
    start = KNOWN[-1] if KNOWN else random_start(objective, rng)
    found = climb(objective, rng.integers, start.copy())
    KNOWN.append(found.position)
    return found
