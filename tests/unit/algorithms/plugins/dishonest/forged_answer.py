"""Answers itself, in place of the process that it runs in, and leaves out what was noted of it."""

import os

from dishonest._climb import ABOUT, Settings, climb, np

from narxbench.algorithms.isolation.wire import send

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    best = climb(objective, lambda below: np.random.randint(below)).position
    send(objective._to, {"kind": "found", "fitness": -1e9, "evaluations": 1}, {"position": best})
    os._exit(0)
