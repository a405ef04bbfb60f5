"""Starts at random, then draws from a generator of its own."""

from dishonest._climb import ABOUT, Settings, climb, np, random_start

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    return climb(objective, np.random.Generator(np.random.PCG64(7)).integers, random_start(objective, rng))
