"""Evaluates until it is stopped."""

from dishonest._climb import ABOUT, Settings, random_start

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    while True:
        objective.evaluate(random_start(objective, rng)[None])
