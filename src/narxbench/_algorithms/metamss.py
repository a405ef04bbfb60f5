"""MetaMSS: structures attract each other by gravity and lose their insignificant terms before each evaluation.

Source: W. R. Lacerda Junior, S. A. M. Martins and E. G. Nepomuceno, Meta-model structure selection: building
polynomial NARX models for regression and classification, 2021, arXiv:2109.09917, and its implementation in SysIdentPy
(development version of August 2026: ``BPSOGSA`` and ``MetaMSS``). The search is the binary hybrid of particle swarm
and gravitational search of S. Mirjalili, G.-G. Wang and L. dos S. Coelho, Neural Computing and Applications 25, 2014,
pages 1423-1435.

The following parts are taken from the source:

- The search. Masses follow from fitness. Forces are exerted by the k heaviest agents, where k falls from all to few. A
  gravitational constant falls exponentially, the best structure so far attracts, and a bit flips with the probability
  abs(tanh(velocity)).
- The test. Before an agent is evaluated, a two-sided t-test of the least squares on the estimation part drops every
  term whose weight does not differ from zero significantly. The agent keeps the remaining terms.

This method minimises J like all methods here, instead of the cost of the source (the relative error of the free run,
times a penalty from the derivative of a sigmoid). Where paper and code differ, it follows the code: the transfer
function is abs(tanh), in the paper abs(2/pi arctan(pi/2 v)); only the inertia is random, in the paper the accelerations
are. Neither says what happens if the budget allows more evaluations than the iterations need: here the search starts
again. Masses are those of the development version: by how much the cost is below the worst one. In releases up to 0.9.0
it is by how much it is below 0.99 times the worst, which would have no meaning for a J that may be negative.

Like the source, it estimates on one part of the record and judges the free run on the rest.

For the forces the paper refers to gravitational search (E. Rashedi, H. Nezamabadi-pour and S. Saryazdi, Information
Sciences 179, 2009), in which they fall with the Euclidean distance R, and so they do here. The code divides by R^2,
where R is the "norm of order -2", which is zero unless two agents differ in every term: then the forces are so large
that an agent flips every bit in which a heavier one differs. Here, a structure of infinite J has no mass. The test
returns a structure unchanged if it is singular or has no significant term.
"""

from decimal import Context, Decimal
from typing import NamedTuple

import numpy as np
from pydantic import Field

from narxbench._algorithms.contract import About, Found, ProblemView
from narxbench._algorithms.objective import CountedObjective, copy_row, evaluate
from narxbench._algorithms.population import initial_positions
from narxbench._algorithms.significance import drop_insignificant, squared_t_values
from narxbench._io.settings import Settings as BaseSettings
from narxbench._numerics.compilation import compiled
from narxbench._numerics.draws import draws_of, uniform
from narxbench._numerics.logarithm import natural_log

ABOUT = About(
    reference="Lacerda Junior, Martins and Nepomuceno, Meta-Model Structure Selection, 2021, arXiv:2109.09917",
    minimises=False,
    options={
        "agents": [20],
        "iterations": [10],
        "significance": [1e-6, None],
        "gravity": [1.0],
        "gravity_decay": [5.0],
    },
)


class Settings(BaseSettings):
    """Settings of MetaMSS; the defaults are the source's."""

    agents: int = Field(default=10, ge=1, le=100_000, description="number of agents")
    iterations: int = Field(default=30, ge=1, description="iterations of one search, before it starts again")
    significance: float | None = Field(
        default=0.05, gt=0, lt=1, description="p-value above which a term is dropped; null: no term is dropped"
    )
    gravity: float = Field(default=100.0, ge=0, description="gravitational constant before the first iteration, G_0")
    gravity_decay: float = Field(default=23.0, ge=0, description="alpha: G = G_0 exp(-alpha t / iterations)")
    last_attractors: float = Field(
        default=0.02, ge=0, le=1, description="share of the agents that exert forces in the end"
    )


class GravityParameters(NamedTuple):
    """The settings in the form of the compiled loop."""

    agents: int
    iterations: int
    gravity: float
    gravity_factor: float
    last_attractors: float
    output_energy: float
    n_rows: int


@compiled
def masses(fitness):
    """Return the mass of each agent, in proportion to how far J is below the worst finite one. Their sum is 5."""
    worst = -np.inf
    for f in fitness:
        if f < np.inf:
            worst = max(worst, f)
    mass, total = np.zeros(fitness.shape[0]), 0.0
    for i in range(fitness.shape[0]):
        if fitness[i] < worst:
            mass[i] = worst - fitness[i]
            total += mass[i]
    for i in range(fitness.shape[0]):
        if total > 0.0:
            mass[i] = 5.0 * mass[i] / total
        else:
            mass[i] = 5.0 / fitness.shape[0]
    return mass


@compiled
def attraction(positions, i, mass, heaviest, draws, force):
    """Write into ``force``, shape (N_t,), the sum of the forces on agent i, without the gravitational constant.

    Each of the ``heaviest`` agents exerts a force, with a draw for each term. It falls with the Euclidean distance of
    the two structures.
    """
    n_terms = positions.shape[1]
    for j in range(n_terms):
        force[j] = 0.0
    for attractor in heaviest:
        if attractor == i:
            continue
        differing = 0
        for j in range(n_terms):
            differing += positions[i, j] != positions[attractor, j]
        strength = mass[attractor] / (np.sqrt(float(differing)) + np.finfo(np.float64).eps)
        for j in range(n_terms):
            force[j] += uniform(draws) * strength * (np.float64(positions[attractor, j]) - np.float64(positions[i, j]))


@compiled
def below_tanh(draw, velocity):
    """Return whether a draw from [0, 1) is below abs(tanh(velocity)), without the C library's exponential."""
    return 0.5 * natural_log((1.0 + draw) / (1.0 - draw)) < abs(velocity)


@compiled
def _move_agents(positions, velocities, best_position, mass, heaviest, gravity, t, p, draws):
    # Move all agents at iteration t.
    n_terms = positions.shape[1]
    force = np.empty(n_terms)
    past = t / p.iterations
    past *= past * past
    previous = positions.copy()
    for i in range(p.agents):
        attraction(previous, i, mass, heaviest, draws, force)
        for j in range(n_terms):
            velocity = uniform(draws) * velocities[i, j] + (2.0 - 2.0 * past) * gravity * force[j]
            velocity += (2.0 + 2.0 * past) * (np.float64(best_position[j]) - np.float64(previous[i, j]))
            velocities[i, j] = velocity
            if below_tanh(uniform(draws), velocity):
                positions[i, j] = 1 - positions[i, j]


@compiled
def _search(data, record, draws, thresholds, p):
    # Make searches, one after the other, until the budget is spent.
    n_terms = record.best_position.shape[0]
    fitness, best_position = np.empty(p.agents), np.empty(n_terms, np.uint8)
    while record.evaluations[0] < record.fitness.shape[0]:
        positions = initial_positions(draws, p.agents, n_terms, False)
        velocities = np.zeros((p.agents, n_terms))
        best, gravity = np.inf, p.gravity
        for t in range(p.iterations):
            if thresholds.shape[0] > 0:
                for position in positions:
                    drop_insignificant(data.gram, data.moments, p.output_energy, p.n_rows, thresholds, position)
            if evaluate(data, record, positions, fitness) < p.agents:
                return
            for i in range(p.agents):
                if fitness[i] < best:
                    best = fitness[i]
                    copy_row(positions[i], best_position)
            if not best < np.inf:
                break
            mass = masses(fitness)
            share = p.last_attractors + (1.0 - t / p.iterations) * (1.0 - p.last_attractors)
            heaviest = np.argsort(-mass, kind="mergesort")[: int(p.agents * share + 0.5)]
            gravity *= p.gravity_factor
            _move_agents(positions, velocities, best_position, mass, heaviest, gravity, t, p, draws)


def exponential(x: float) -> float:
    """Return exp(x), correctly rounded by decimal arithmetic: the C library's last bit depends on the machine."""
    return float(Context(prec=30).exp(Decimal(x)))


def run(problem: ProblemView, objective: CountedObjective, rng: np.random.Generator, settings: Settings) -> Found:
    """Spend the objective's budget on searches, one after the other."""
    thresholds = np.empty(0)
    if settings.significance is not None:
        thresholds = squared_t_values(settings.significance, problem.n_rows, objective.n_terms)
    parameters = GravityParameters(
        agents=settings.agents,
        iterations=settings.iterations,
        gravity=float(settings.gravity),
        gravity_factor=exponential(-settings.gravity_decay / settings.iterations),
        last_attractors=float(settings.last_attractors),
        output_energy=problem.output_energy,
        n_rows=problem.n_rows,
    )
    with draws_of(rng, 1) as draws:
        _search(*objective.compiled, draws, thresholds, parameters)
    return Found(objective.best_position)
