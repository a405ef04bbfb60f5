"""MetaMSS: a swarm of structures that attract each other by gravity, rid of insignificant terms before each evaluation.

Source: W. R. Lacerda Junior, S. A. M. Martins and E. G. Nepomuceno, Meta-model structure selection: building
polynomial NARX models for regression and classification, 2021, arXiv:2109.09917, and its implementation in SysIdentPy
(development version of August 2026: ``BPSOGSA`` and ``MetaMSS``). The search is the binary hybrid of particle swarm
and gravitational search of S. Mirjalili, G.-G. Wang and L. dos S. Coelho, Neural Computing and Applications 25, 2014,
pages 1423-1435.

Taken from it are

- the search: masses from fitness, forces of the k heaviest agents, k falling from all to few; a gravitational constant
  that falls exponentially; attraction by the best structure so far; and bits that flip with the probability
  the magnitude of tanh(velocity);
- the test: before an agent is evaluated, every term is dropped whose weight differs from zero with no significance in
  a two-sided t-test of the least squares on the estimation part. The agent keeps what is left.

What is minimized is the J of all methods here, not the cost of the source (relative error of the free run times a
penalty from the derivative of a sigmoid). Where the paper and the code differ, this follows the code: the transfer
function is abs(tanh), in the paper abs(2/pi arctan(pi/2 v)); only the inertia is random, in the paper the
accelerations are. Neither says what becomes of the search when more evaluations may be made than it has iterations:
here it starts again. Masses are those of the development version: how far the cost is below the worst one. In releases
up to 0.9.0 it is 0.99 times the worst, which would have no meaning for a J that may be negative.

Like the source, it estimates on one part of the record and judges the free run on the rest.

For the forces the paper refers to gravitational search (E. Rashedi, H. Nezamabadi-pour and S. Saryazdi, Information
Sciences 179, 2009), where they fall with the Euclidean distance R. The code divides by R^2, R being the "norm of order
-2", which is zero unless two agents differ in every term: the forces are then so large that an agent flips every bit
in which a heavier one differs. ``distance`` chooses; the default is the paper's. A structure of infinite J has no mass
here. A structure that is singular, and one of which no term is significant, stays as it is.
"""

from decimal import Context, Decimal
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field

from narxbench.algorithms.contract import About, Found, ProblemView
from narxbench.algorithms.objective import CountedObjective, copy_row, evaluate
from narxbench.algorithms.population import initial_positions
from narxbench.algorithms.significance import drop_insignificant, squared_t_values
from narxbench.io.settings import Settings as BaseSettings
from narxbench.numerics.compilation import compiled
from narxbench.numerics.draws import draws_of, uniform
from narxbench.numerics.logarithm import natural_log

ABOUT = About(
    reference="Lacerda Junior, Martins and Nepomuceno, Meta-Model Structure Selection, 2021, arXiv:2109.09917",
    minimises=False,
    options={
        "agents": [20],
        "iterations": [10],
        "significance": [1e-6, None],
        "gravity": [1.0],
        "gravity_decay": [5.0],
        "distance": ["minus_two_norm"],
        "initial_positions": ["uniform_cardinality"],
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
    distance: Literal["euclidean", "minus_two_norm"] = Field(
        default="euclidean", description="what forces fall with: R, or SysIdentPy's R^2 of order -2"
    )
    initial_positions: Literal["bernoulli", "uniform_cardinality"] = Field(
        default="bernoulli", description="each term with probability 1/2, or a uniform number of terms"
    )


class Parameters(NamedTuple):
    """The settings as the compiled loop takes them."""

    agents: int
    iterations: int
    gravity: float
    gravity_factor: float
    last_attractors: float
    euclidean: bool
    uniform_cardinality: bool
    output_energy: float
    n_rows: int


@compiled
def masses(fitness):
    """Return the mass of each agent: in proportion to how far J is below the worst finite one, 5 together."""
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
        mass[i] = 5.0 * mass[i] / total if total > 0.0 else 5.0 / fitness.shape[0]
    return mass


@compiled
def attraction(positions, i, mass, heaviest, euclidean, draws, force):
    """Write into ``force``, shape (N_t,), the sum of the forces on agent i, without the gravitational constant.

    Each of the ``heaviest`` exerts one, with a draw for each term. It falls with the Euclidean distance of the two
    structures, or with the square of the norm of order -2.
    """
    n_terms = positions.shape[1]
    for j in range(n_terms):
        force[j] = 0.0
    for other in heaviest:
        if other == i:
            continue
        differing = 0
        for j in range(n_terms):
            differing += positions[i, j] != positions[other, j]
        divisor = np.sqrt(float(differing)) if euclidean else (differing == n_terms) / n_terms
        strength = mass[other] / (divisor + np.finfo(np.float64).eps)
        for j in range(n_terms):
            force[j] += uniform(draws) * strength * (np.float64(positions[other, j]) - np.float64(positions[i, j]))


@compiled
def below_tanh(draw, velocity):
    """Return whether a draw from [0, 1) is below abs(tanh(velocity)), without an exponential of the C library."""
    return 0.5 * natural_log((1.0 + draw) / (1.0 - draw)) < abs(velocity)


@compiled
def _search(data, record, draws, thresholds, p):
    n_terms = record.best_position.shape[0]
    fitness, force, best_position = np.empty(p.agents), np.empty(n_terms), np.empty(n_terms, np.uint8)
    while record.evaluations[0] < record.fitness.shape[0]:
        positions = initial_positions(draws, p.agents, n_terms, p.uniform_cardinality)
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
            past = t / p.iterations
            past *= past * past
            before = positions.copy()
            for i in range(p.agents):
                attraction(before, i, mass, heaviest, p.euclidean, draws, force)
                for j in range(n_terms):
                    velocity = uniform(draws) * velocities[i, j] + (2.0 - 2.0 * past) * gravity * force[j]
                    velocity += (2.0 + 2.0 * past) * (np.float64(best_position[j]) - np.float64(before[i, j]))
                    velocities[i, j] = velocity
                    if below_tanh(uniform(draws), velocity):
                        positions[i, j] = 1 - positions[i, j]


def exponential(x: float) -> float:
    """Return exp(x), rounded correctly by decimal arithmetic: the C library's last bit depends on the machine."""
    return float(Context(prec=30).exp(Decimal(x)))


def run(problem: ProblemView, objective: CountedObjective, rng: np.random.Generator, settings: Settings) -> Found:
    """Spend the objective's budget on searches, one after the other."""
    thresholds = np.empty(0)
    if settings.significance is not None:
        thresholds = squared_t_values(settings.significance, problem.n_rows, objective.n_terms)
    parameters = Parameters(
        agents=settings.agents,
        iterations=settings.iterations,
        gravity=float(settings.gravity),
        gravity_factor=exponential(-settings.gravity_decay / settings.iterations),
        last_attractors=float(settings.last_attractors),
        euclidean=settings.distance == "euclidean",
        uniform_cardinality=settings.initial_positions == "uniform_cardinality",
        output_energy=problem.output_energy,
        n_rows=problem.n_rows,
    )
    with draws_of(rng, 1) as draws:
        _search(*objective.compiled, draws, thresholds, parameters)
    return Found(objective.best_position)
