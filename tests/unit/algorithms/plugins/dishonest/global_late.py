"""Draws from the global generator of NumPy after evaluation 750."""

from dishonest._climb import ABOUT, Settings, climb, np

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    def draw(below):
        late = objective.budget - objective.remaining > 750
        return (np.random.randint if late else rng.integers)(below)

    return climb(objective, draw)
