"""Evaluates on, whatever is said."""

import contextlib

from dishonest._climb import ABOUT, BudgetSpentError, Settings, random_start

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    while True:
        with contextlib.suppress(BudgetSpentError):
            objective.evaluate(random_start(objective, rng)[None])
