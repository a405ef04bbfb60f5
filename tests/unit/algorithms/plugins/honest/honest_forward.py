"""Forward selection one step ahead: no draws, few evaluations."""

import numpy as np

from narxbench.algorithms.contract import About, Found
from narxbench.io.settings import Settings as Strict

ABOUT = About(
    reference="Billings, Chen and Korenberg, International Journal of Control 49, 1989",
    deterministic=True,
    stops_early=True,
)


class Settings(Strict):
    """None."""


def run(problem, objective, rng, settings):
    columns, output = problem.regressors().copy(), problem.outputs().copy()
    position = np.zeros(objective.n_terms, np.uint8)
    for _ in range(min(objective.budget, objective.n_terms)):
        energy = (columns * columns).sum(axis=0)
        usable = np.isfinite(energy) & (energy > 1e-9 * energy.max(initial=0.0)) & (position == 0)
        if not usable.any():
            break
        gain = np.where(usable, (columns * output[:, None]).sum(axis=0) ** 2 / np.where(usable, energy, 1.0), -1.0)
        chosen = int(np.nan_to_num(gain, nan=-1.0).argmax())
        position[chosen] = 1
        unit = columns[:, chosen] / np.sqrt(energy[chosen])
        columns -= unit[:, None] * (columns * unit[:, None]).sum(axis=0)
        output = output - unit * (output * unit).sum()
        objective.evaluate(position[None])
    return Found(objective.best_position)
