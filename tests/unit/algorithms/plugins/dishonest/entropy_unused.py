"""Makes a generator that the system has seeded, and draws from it what does not matter."""

from dishonest._climb import ABOUT, Settings, climb, np

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    np.random.RandomState().randint(5)
    return climb(objective, rng.integers)
