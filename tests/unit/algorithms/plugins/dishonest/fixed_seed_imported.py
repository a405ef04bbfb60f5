"""Has a seed of its own, from its import on; only the start depends on the seed that it is given."""

from dishonest._climb import ABOUT, Settings, climb, np, random_start

__all__ = ["ABOUT", "Settings", "run"]


OWN = np.random.default_rng(42)


def run(problem, objective, rng, settings):
    return climb(objective, OWN.integers, random_start(objective, rng))
