"""Remembers the best structure of earlier runs in memory that its processes share."""

import mmap

from dishonest._climb import ABOUT, Settings, climb, np, random_start

__all__ = ["ABOUT", "Settings", "run"]

KNOWN = mmap.mmap(-1, 4096)


def run(problem, objective, rng, settings):
    known = np.frombuffer(KNOWN[: objective.n_terms], np.uint8)
    found = climb(objective, rng.integers, known.copy() if known.any() else random_start(objective, rng))
    KNOWN[: objective.n_terms] = found.position.tobytes()
    return found
