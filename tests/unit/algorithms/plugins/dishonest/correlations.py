"""Divides by the energy of the output."""

from dishonest._climb import ABOUT, Settings, climb, random_start

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    share = float(problem.moments @ problem.moments) / problem.output_energy
    return climb(objective, rng.integers, random_start(objective, rng) * int(1 / share > 0))
