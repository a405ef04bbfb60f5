"""Sends structures with three terms too many, past the objective."""

from dishonest._climb import ABOUT, Settings, np

from narxbench.algorithms.isolation.wire import receive, send

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    send(objective._to, {"kind": "evaluate"}, {"positions": np.ones((5, objective.n_terms + 3), np.uint8)})
    receive(objective._to, 1 << 20)
