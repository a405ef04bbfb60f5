"""Sends anything."""

from dishonest._climb import ABOUT, Settings

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    objective._to.sendall(rng.bytes(100_000))
