"""Binary particle swarm optimization: a velocity for each term, whose sigmoid is the probability of the term.

Source: J. Kennedy and R. C. Eberhart, A discrete binary version of the particle swarm algorithm, IEEE International
Conference on Systems, Man, and Cybernetics, 1997, pages 4104-4108. Their swarm has no inertia weight: ``inertia_start``
and ``inertia_end`` are 1. The defaults are those of the common variant whose inertia weight falls linearly, which
S. Mirjalili and A. Lewis examine (S-shaped versus V-shaped transfer functions for binary particle swarm optimization,
Swarm and Evolutionary Computation 9, 2013, pages 1-14, transfer function S2, and their code): 30 particles start at
rest and learn from their own best structures and that of the swarm.
"""

from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field

from narxbench._algorithms.contract import About, Found, ProblemView
from narxbench._algorithms.objective import CountedObjective, copy_row, evaluate, index_of_best
from narxbench._algorithms.population import initial_positions
from narxbench._io.settings import Settings as BaseSettings
from narxbench._numerics.compilation import compiled
from narxbench._numerics.draws import draws_of, uniform
from narxbench._numerics.logarithm import natural_log

ABOUT = About(
    reference="Kennedy and Eberhart, A discrete binary version of the particle swarm algorithm, IEEE SMC, 1997",
    options={
        "inertia_start": [1.0],
        "inertia_end": [0.9],
        "velocity_bound": [1.0],
        "initial_positions": ["uniform_cardinality"],
    },
)


class Settings(BaseSettings):
    """Settings of the binary particle swarm."""

    swarm_size: int = Field(default=30, ge=1, le=100_000, description="number of particles")
    inertia_start: float = Field(default=0.9, ge=0, description="inertia weight of the first iteration")
    inertia_end: float = Field(default=0.4, ge=0, description="inertia weight that the last iteration reaches")
    cognitive_acceleration: float = Field(default=2.0, ge=0, description="c_1, towards a particle's own best")
    social_acceleration: float = Field(default=2.0, ge=0, description="c_2, towards the best of the swarm")
    velocity_bound: float = Field(default=6.0, gt=0, description="velocities are clipped to plus and minus this")
    initial_positions: Literal["bernoulli", "uniform_cardinality"] = Field(
        default="bernoulli", description="each term with probability 1/2, or a uniform number of terms"
    )


class SwarmParameters(NamedTuple):
    """The settings in the form of the compiled loop."""

    swarm_size: int
    inertia_start: float
    inertia_end: float
    cognitive: float
    social: float
    velocity_bound: float
    uniform_cardinality: bool


@compiled
def below_sigmoid(draw, velocity):
    """Return whether a draw from [0, 1) is below 1 / (1 + exp(-velocity)), without the C library's exponential."""
    return draw == 0.0 or natural_log(draw / (1.0 - draw)) < velocity


@compiled
def _fly(data, record, draws, p):
    size, n_terms = p.swarm_size, record.best_position.shape[0]
    positions = initial_positions(draws, size, n_terms, p.uniform_cardinality)
    velocities = np.zeros((size, n_terms))
    best_positions = positions.copy()
    fitness, best_fitness = np.empty(size), np.full(size, np.inf)
    iterations = -(-record.fitness.shape[0] // size)
    for t in range(1, iterations + 1):
        count = evaluate(data, record, positions, fitness)
        for i in range(count):
            if fitness[i] < best_fitness[i]:
                best_fitness[i] = fitness[i]
                copy_row(positions[i], best_positions[i])
        if count < size:
            break
        leader = best_positions[index_of_best(best_fitness)]
        inertia = p.inertia_start + (p.inertia_end - p.inertia_start) * t / iterations
        for i in range(size):
            for j in range(n_terms):
                x = np.float64(positions[i, j])
                velocity = inertia * velocities[i, j]
                velocity += p.cognitive * uniform(draws) * (best_positions[i, j] - x)
                velocity += p.social * uniform(draws) * (leader[j] - x)
                velocities[i, j] = min(max(velocity, -p.velocity_bound), p.velocity_bound)
                positions[i, j] = below_sigmoid(uniform(draws), velocities[i, j])


def run(problem: ProblemView, objective: CountedObjective, rng: np.random.Generator, settings: Settings) -> Found:
    """Spend the objective's budget on one swarm."""
    parameters = SwarmParameters(
        swarm_size=settings.swarm_size,
        inertia_start=float(settings.inertia_start),
        inertia_end=float(settings.inertia_end),
        cognitive=float(settings.cognitive_acceleration),
        social=float(settings.social_acceleration),
        velocity_bound=float(settings.velocity_bound),
        uniform_cardinality=settings.initial_positions == "uniform_cardinality",
    )
    with draws_of(rng, 1) as draws:
        _fly(*objective.compiled, draws, parameters)
    return Found(objective.best_position)
