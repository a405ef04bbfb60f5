"""Binary genetic algorithm for structure selection (paper, section IV-A).

The paper cites Siedlecki and Sklansky (1989) and Grefenstette (1986) for it. An individual is a 0/1 vector of length
N_t. The steps of a generation are the selection of parents, the crossover of pairs, and bit-flip mutation.
"""

from enum import IntEnum, auto
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field

from narxbench._algorithms.contract import About, Found, ProblemView
from narxbench._algorithms.objective import CountedObjective, copy_row, evaluate, index_of_best
from narxbench._algorithms.population import initial_positions, roulette
from narxbench._io.settings import Settings as BaseSettings
from narxbench._numerics.compilation import compiled
from narxbench._numerics.draws import draws_of, uniform


class ParentSelection(IntEnum):
    """How parents are selected, by the names of the setting."""

    proportional = auto()
    linear_rank = auto()
    tournament = auto()
    maximising = auto()
    cumulative = auto()


ABOUT = About(
    reference="Siedlecki and Sklansky, A note on genetic algorithms for large-scale feature selection, "
    "Pattern Recognition Letters 10, 1989",
    options={
        "selection": ["linear_rank", "tournament", "maximising", "cumulative"],
        "crossover": ["two_point", "uniform"],
        "elitism": [True],
        "generation_gap": [0.5],
        "divergent_fitness": [1e10],
        "initial_positions": ["uniform_cardinality"],
        "count_initial_evaluations": [False],
        "result": ["last_generation"],
    },
)


class Settings(BaseSettings):
    """Settings of the GA: the paper's search parameters, then what the paper does not say."""

    population_size: int = Field(default=80, ge=2, le=100_000, description="number of individuals, N")
    crossover_probability: float = Field(default=0.45, ge=0, le=1, description="p_c, for a pair of parents")
    mutation_probability: float = Field(default=0.01, ge=0, le=1, description="p_m, for each bit")
    selection: Literal["proportional", "linear_rank", "tournament", "maximising", "cumulative"] = Field(
        default="proportional",
        description="roulette on (worst J - J), roulette on ranks, the better of two; roulette on J where it is "
        "positive, as if it were to be maximised; or on the cumulative sums of -J as they come, though some may fall",
    )
    crossover: Literal["one_point", "two_point", "uniform"] = Field(
        default="one_point", description="where the tails of two parents are exchanged"
    )
    elitism: bool = Field(default=False, description="whether the best individual always survives")
    generation_gap: float = Field(default=1.0, gt=0, le=1, description="share of the population that is replaced")
    initial_positions: Literal["bernoulli", "uniform_cardinality"] = Field(
        default="bernoulli", description="each term with probability 1/2, or a uniform number of terms"
    )
    count_initial_evaluations: bool = Field(default=True, description="whether the first population spends the budget")
    divergent_fitness: float | None = Field(
        default=None, description="J that proportional selection sees for divergent individuals; null: they weigh 0"
    )
    result: Literal["best_ever", "last_generation"] = Field(
        default="best_ever", description="the best individual of all generations, or of the last one"
    )


class GeneticParameters(NamedTuple):
    """The settings in the form of the compiled loop."""

    population_size: int
    crossover_probability: float
    mutation_probability: float
    selection: int
    crossover_points: int  # 0: each bit is exchanged with probability 1/2
    elitism: bool
    survivors: int
    uniform_cardinality: bool
    divergent_fitness: float
    last_generation: bool


@compiled
def selection_weights(fitness, scheme, divergent_fitness):
    """Return the roulette weight of each individual, 0 for a divergent one.

    Proportional: worst - J, where worst is the largest finite J. If an individual is divergent and
    ``divergent_fitness`` is finite and larger, worst is ``divergent_fitness``: then all others have nearly the same
    weight. Linear rank: from N for the best down to 1, where the earlier one of equal individuals is better.
    Maximising: J. Cumulative: -J. The last two may be negative.
    """
    weights = np.zeros(fitness.shape[0])
    worst = _worst(fitness, divergent_fitness)
    for i in range(fitness.shape[0]):
        if not fitness[i] < np.inf:
            continue
        if scheme == ParentSelection.proportional:
            weights[i] = worst - fitness[i]
        elif scheme == ParentSelection.maximising:
            weights[i] = fitness[i]
        elif scheme == ParentSelection.cumulative:
            weights[i] = -fitness[i]
        else:
            weights[i] = fitness.shape[0] - _number_ahead(fitness, i)
    return weights


@compiled
def _worst(fitness, divergent_fitness):
    # The largest J, where a divergent individual has ``divergent_fitness`` if that is finite.
    worst = -np.inf
    for f in fitness:
        if f < np.inf:
            worst = max(worst, f)
        elif divergent_fitness < np.inf:
            worst = max(worst, divergent_fitness)
    return worst


@compiled
def _number_ahead(fitness, i):
    # The number of individuals that are better than i, or equally good and earlier.
    ahead = 0
    for j in range(fitness.shape[0]):
        ahead += fitness[j] < fitness[i] or (fitness[j] == fitness[i] and j < i)
    return ahead


@compiled
def select_parent(fitness, weights, scheme, draws):
    """Return the index of one parent: the better of two random individuals, or the choice of a roulette wheel."""
    if scheme == ParentSelection.tournament:
        a = int(uniform(draws) * fitness.shape[0])
        b = int(uniform(draws) * fitness.shape[0])
        return a if fitness[a] <= fitness[b] else b
    if scheme == ParentSelection.cumulative:
        return first_beyond(weights, uniform(draws))
    return roulette(weights, uniform(draws))


@compiled
def first_beyond(weights, fraction):
    """Return the first index at which the cumulative sum of the weights exceeds a fraction of their sum, or the last.

    That is a usual implementation of a roulette wheel for positive weights, applied to any weights.

    >>> [first_beyond(np.array([1.0, -3.0, 2.0, 4.0]), fraction) for fraction in (0.1, 0.3, 0.9)]
    [0, 3, 3]
    """
    total = 0.0
    for weight in weights:
        total += weight
    accumulated = 0.0
    for j in range(weights.shape[0]):
        accumulated += weights[j]
        if accumulated > fraction * total:
            return j
    return weights.shape[0] - 1


@compiled
def cross_over(a, b, n_points, draws):
    """Exchange parts of two individuals in place: behind one point, between two, or, without a point, bit by bit."""
    n = a.shape[0]
    low, high = n, n
    if n_points == 1:
        low = 1 + int(uniform(draws) * (n - 1))
    elif n_points == 2:
        first, second = 1 + int(uniform(draws) * (n - 1)), 1 + int(uniform(draws) * (n - 1))
        low, high = min(first, second), max(first, second)
    for j in range(n):
        exchanges = low <= j < high
        if n_points == 0:
            exchanges = uniform(draws) < 0.5
        if exchanges:
            a[j], b[j] = b[j], a[j]


@compiled
def mutate(individual, probability, draws):
    """Flip each bit in place with a probability."""
    for j in range(individual.shape[0]):
        if uniform(draws) < probability:
            individual[j] = 1 - individual[j]


@compiled
def random_survivors(size, count, elite, draws):
    """Return ``count`` random individuals that survive intact, among them ``elite``, unless that is -1."""
    chosen = np.empty(count, np.int64)
    order = np.arange(size)
    if elite >= 0:
        order[0], order[elite] = order[elite], order[0]
    for k in range(count):
        if k > 0 or elite < 0:
            j = k + int(uniform(draws) * (size - k))
            order[k], order[j] = order[j], order[k]
        chosen[k] = order[k]
    return chosen


@compiled
def _reproduce(population, weights, fitness, draws, p, children):
    # Fill the rows of ``children``, an even number, with pairs of children.
    n_terms = population.shape[1]
    for c in range(0, children.shape[0], 2):
        copy_row(population[select_parent(fitness, weights, p.selection, draws)], children[c])
        copy_row(population[select_parent(fitness, weights, p.selection, draws)], children[c + 1])
        if uniform(draws) < p.crossover_probability and n_terms > 1:
            cross_over(children[c], children[c + 1], p.crossover_points, draws)
        mutate(children[c], p.mutation_probability, draws)
        mutate(children[c + 1], p.mutation_probability, draws)


@compiled
def _evolve(data, record, draws, p):
    # Evolve generations until the budget is spent. Returns the best individual.
    size, n_terms = p.population_size, record.best_position.shape[0]
    population = initial_positions(draws, size, n_terms, p.uniform_cardinality)
    fitness = np.empty(size)
    evaluate(data, record, population, fitness)
    while record.evaluations[0] < record.fitness.shape[0]:
        n_survivors, elite = p.survivors, -1
        if p.elitism:
            n_survivors, elite = max(n_survivors, 1), index_of_best(fitness)
        survivors = random_survivors(size, n_survivors, elite, draws)
        weights = selection_weights(fitness, p.selection, p.divergent_fitness)
        # Children come in pairs: if their number is odd, there is one more than needed.
        n_children = size - n_survivors
        next_population = np.empty((size + n_children % 2, n_terms), np.uint8)
        next_fitness = np.empty(size)
        for k in range(n_survivors):
            copy_row(population[survivors[k]], next_population[k])
            next_fitness[k] = fitness[survivors[k]]
        _reproduce(population, weights, fitness, draws, p, next_population[n_survivors:])
        population, fitness = next_population[:size], next_fitness
        evaluate(data, record, population[n_survivors:], fitness[n_survivors:])
    best_position = record.best_position.copy()
    if p.last_generation:
        best = index_of_best(fitness)
        is_finite = fitness[best] < np.inf
        for t in range(n_terms):
            best_position[t] = population[best, t] if is_finite else 0
    return best_position


def run(problem: ProblemView, objective: CountedObjective, rng: np.random.Generator, settings: Settings) -> Found:
    """Spend the objective's budget on one run of the GA."""
    # At least one individual is replaced in each generation, as the search would never end otherwise.
    replaced = max(1, round(settings.generation_gap * settings.population_size))
    divergent_fitness = np.inf
    if settings.divergent_fitness is not None:
        divergent_fitness = float(settings.divergent_fitness)
    parameters = GeneticParameters(
        population_size=settings.population_size,
        crossover_probability=float(settings.crossover_probability),
        mutation_probability=float(settings.mutation_probability),
        selection=ParentSelection[settings.selection].value,
        crossover_points=["uniform", "one_point", "two_point"].index(settings.crossover),
        elitism=settings.elitism,
        survivors=settings.population_size - replaced,
        uniform_cardinality=settings.initial_positions == "uniform_cardinality",
        divergent_fitness=divergent_fitness,
        last_generation=settings.result == "last_generation",
    )
    with draws_of(rng, 1) as draws:
        return Found(_evolve(*objective.compiled, draws, parameters))
