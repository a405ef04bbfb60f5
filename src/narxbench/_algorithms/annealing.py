"""Simulated annealing: terms are added, dropped and swapped; worse structures are accepted less often as it cools.

Source: S. Kirkpatrick, C. D. Gelatt and M. P. Vecchi, Optimization by simulated annealing, Science 220, 1983, pages
671-680; for the selection of regressors R. Meiri and J. Zahavi, Using simulated annealing to optimize the feature
selection problem in marketing applications, European Journal of Operational Research 171, 2006, pages 842-858.

A move adds a term, drops one or swaps one for another, with equal probabilities; terms are chosen uniformly. So if J
were constant, the number of terms would be uniform instead of near N_t / 2. The search starts from one random term with
a walk that accepts all structures of finite J, to measure how much J rises in a move. The first temperature is the one
at which a mean rise is accepted with a given probability, 0.8 as Kirkpatrick et al. propose. Stages with equal numbers
of moves follow, in which the temperature falls by a constant factor, 0.9 as in the source. The search ends when a term
that explains nothing, and costs only its penalty, is hardly ever accepted. Where a term costs nothing, it ends at a
thousandth of the first temperature.
"""

import math

import numpy as np
from pydantic import Field

from narxbench._algorithms.contract import About, Found, ProblemView
from narxbench._algorithms.objective import CountedObjective, copy_row, evaluate
from narxbench._io.settings import Settings as BaseSettings
from narxbench._numerics.compilation import compiled
from narxbench._numerics.draws import draws_of, uniform
from narxbench._numerics.logarithm import natural_log

ABOUT = About(
    reference="Kirkpatrick, Gelatt and Vecchi, Optimization by simulated annealing, Science 220, 1983",
    options={"sampled_moves": [50], "first_acceptance": [0.5], "cooling": [0.5], "last_temperature": [0.5]},
)

ADD, DROP, SWAP = 0, 1, 2
# The last temperature as a share of the first, where the penalty of a term gives none.
LAST_SHARE = 1e-3


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
    """Add a term, drop one, or swap one for another, in place; the only term of a structure is never dropped.

    There must be at least two candidate terms.
    """
    size = 0
    for t in range(position.shape[0]):
        size += position[t]
    kind = int(uniform(draws) * 3)
    while not _is_possible(kind, size, position.shape[0]):
        kind = int(uniform(draws) * 3)
    dropped = added = -1
    if kind != ADD:
        dropped = _nth(position, 1, int(uniform(draws) * size))
    if kind != DROP:
        added = _nth(position, 0, int(uniform(draws) * (position.shape[0] - size)))
    if dropped >= 0:
        position[dropped] = 0
    if added >= 0:
        position[added] = 1


@compiled
def _is_possible(kind, size, n_terms):
    # The only term cannot be dropped, and there must be a term to add or to exchange for.
    if kind == DROP:
        return size > 1
    return size < n_terms


@compiled
def _nth(position, value, n):
    # The index of the n-th term, from 0, that is present (value 1) or absent (value 0).
    for t in range(position.shape[0]):
        if position[t] == value:
            if n == 0:
                return t
            n -= 1
    return -1


@compiled
def walk(data, record, draws, position, current, temperature, moves):
    """Make moves at one temperature, within the budget.

    By the rule of Metropolis, a move is accepted if J rises by less than -T ln(r), where r is uniform. All moves from a
    structure of infinite J are accepted, and no move from a finite to an infinite J. The walk starts at ``position``,
    whose J is ``current``; ``position`` receives the structure at which it ends. Returns J of that structure, and the
    mean rise of J over the moves with a finite rise, 0 if there were none.
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
    """Return the temperatures of the stages: from ``first`` to ``last``, each ``cooling`` times the previous one.

    If ``last`` is 0, as where a term costs nothing, they fall to a thousandth of ``first``.
    """
    if last == 0.0:
        last = LAST_SHARE * first
    temperatures = [max(first, last)]
    cooled = temperatures[0] * cooling
    # Temperatures of 0 or infinity do not fall, nor do the smallest numbers.
    while last <= cooled < temperatures[-1]:
        temperatures.append(cooled)
        cooled *= cooling
    return temperatures


def run(problem: ProblemView, objective: CountedObjective, rng: np.random.Generator, settings: Settings) -> Found:
    """Spend the objective's budget on one annealing run."""
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
