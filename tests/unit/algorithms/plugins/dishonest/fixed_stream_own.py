"""Starts at random, then draws by a formula of its own."""

from dishonest._climb import ABOUT, Settings, climb, random_start

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    state = 1

    def draw(below):
        nonlocal state
        state = (1103515245 * state + 12345) % 2**31
        return (state >> 8) % below

    return climb(objective, draw, random_start(objective, rng))
