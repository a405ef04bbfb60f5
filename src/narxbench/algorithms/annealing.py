"""Simulated annealing: terms are added, dropped and swapped; a worse structure is accepted the less, the colder it is.

Source: S. Kirkpatrick, C. D. Gelatt and M. P. Vecchi, Optimization by simulated annealing, Science 220, 1983, pages
671-680; for the selection of regressors R. Meiri and J. Zahavi, Using simulated annealing to optimize the feature
selection problem in marketing applications, European Journal of Operational Research 171, 2006, pages 842-858.

A move adds a term, drops one or swaps one for another, each kind equally often, the terms uniformly. So without any J
the number of terms would be uniform, not near N_t / 2. The search starts from one random term and first walks through
all structures of finite J, to see how much J rises in a move. It begins at the temperature at which a mean rise is
accepted with a given probability, 0.8 as Kirkpatrick proposes, and cools in stages by a constant factor, 0.9 as in the
source, with equally many moves in each. It ends when a term that explains nothing, and costs its penalty, is hardly
ever accepted.
"""

import math

import numpy as np
from pydantic import Field

from narxbench.algorithms.contract import About, Found, ProblemView
from narxbench.algorithms.objective import CountedObjective, copy_row, evaluate
from narxbench.io.settings import Settings as BaseSettings
from narxbench.numerics.compilation import compiled
from narxbench.numerics.draws import draws_of, uniform
from narxbench.numerics.logarithm import natural_log

ABOUT = About(
    reference="Kirkpatrick, Gelatt and Vecchi, Optimization by simulated annealing, Science 220, 1983",
    options={"sampled_moves": [50], "first_acceptance": [0.5], "cooling": [0.5], "last_temperature": [0.5]},
)

ADD, DROP, SWAP = 0, 1, 2


class Settings(BaseSettings):
    """Settings of simulated annealing."""

    sampled_moves: int = Field(
        default=100, ge=1, description="moves of the walk that finds the first temperature; they spend the budget"
    )
    first_acceptance: float = Field(
        default=0.8, gt=0, lt=1, description="probability of a mean rise of J at the first temperature"
    )
    cooling: float = Field(default=0.9, gt=0, le=0.999, description="factor of the temperature from stage to stage")
    last_temperature: float = Field(
        default=0.1, gt=0, description="temperature of the last stage, as a multiple of the penalty of a term"
    )


@compiled
def move(position, draws):
    """Add a term, drop one, or swap one for another, in place; of N_t >= 2 terms the last one is never dropped."""
    size = 0
    for t in range(position.shape[0]):
        size += position[t]
    while True:
        kind = int(uniform(draws) * 3)
        if not ((kind != DROP and size == position.shape[0]) or (kind == DROP and size == 1)):
            break
    dropped = _nth(position, 1, int(uniform(draws) * size)) if kind != ADD else -1
    added = _nth(position, 0, int(uniform(draws) * (position.shape[0] - size))) if kind != DROP else -1
    if dropped >= 0:
        position[dropped] = 0
    if added >= 0:
        position[added] = 1


@compiled
def _nth(position, value, n):
    # The index of the n-th term, from 0, that is present (1) or absent (0).
    for t in range(position.shape[0]):
        if position[t] == value:
            if n == 0:
                return t
            n -= 1
    return -1


@compiled
def walk(data, record, draws, position, current, temperature, moves):
    """Make moves at one temperature, as far as the budget goes.

    A move is accepted if J rises by less than -T ln(r), r uniform: that is the rule of Metropolis. From a structure of
    infinite J every move is accepted, to one none. ``position``, whose J is ``current``, is where the walk starts,
    and receives where it ends. Returned are J of that structure, and the mean rise of J over the moves by which it rose
    from finite to finite values; 0 if there were none.
    """
    candidate, fitness = np.empty((1, position.shape[0]), np.uint8), np.empty(1)
    rises, total = 0, 0.0
    for _ in range(moves):
        if record.evaluations[0] == record.fitness.shape[0]:
            break
        copy_row(position, candidate[0])
        move(candidate[0], draws)
        evaluate(data, record, candidate, fitness)
        limit = -temperature * natural_log(1.0 - uniform(draws))
        if not current < np.inf:
            accepted = True
        else:
            change = fitness[0] - current
            if 0.0 < change < np.inf:
                rises += 1
                total += change
            accepted = change <= 0.0 or change < limit
        if accepted:
            current = fitness[0]
            copy_row(candidate[0], position)
    return current, total / max(rises, 1)


def stages(first: float, last: float, cooling: float) -> list[float]:
    """Return the temperatures of the stages: from ``first`` to ``last``, each ``cooling`` times the one before."""
    temperatures = [max(first, last)]
    while temperatures[-1] * cooling >= last:
        temperatures.append(temperatures[-1] * cooling)
    return temperatures


def run(problem: ProblemView, objective: CountedObjective, rng: np.random.Generator, settings: Settings) -> Found:
    """Spend the objective's budget on one annealing."""
    with draws_of(rng, 1) as draws:
        start = np.zeros((1, objective.n_terms), np.uint8)
        start[0, int(uniform(draws) * objective.n_terms)] = 1
        position, current = start[0], float(objective.evaluate(start)[0])
        sampled = min(settings.sampled_moves, objective.remaining)
        current, rise = walk(*objective.compiled, draws, position, current, math.inf, sampled)
        first = rise / -natural_log(settings.first_acceptance)
        temperatures = stages(first, settings.last_temperature * problem.penalty, settings.cooling)
        moves = objective.remaining
        for k, temperature in enumerate(temperatures):
            count = moves * (k + 1) // len(temperatures) - moves * k // len(temperatures)
            current, _ = walk(*objective.compiled, draws, position, current, temperature, count)
    return Found(objective.best_position)
