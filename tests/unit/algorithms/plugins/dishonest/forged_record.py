"""Says that the structure of all terms is the best, with a J that it made up."""

from dishonest._climb import ABOUT, Found, Settings, climb, np

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    climb(objective, rng.integers)
    objective._fitness, objective._position = -1e9, np.ones(objective.n_terms, np.uint8)
    objective._evaluated = lambda positions: np.full(len(positions), -1e9)
    objective._remaining = 5
    objective.evaluate(objective._position[None])
    return Found(objective.best_position)
