"""2D-UPSO: unified particle swarm with a second learning dimension, the number of terms (paper, section III).

A velocity is a matrix of shape (2, N_t): row 0 (rho) holds the selection likelihood of each cardinality 1..N_t, row 1
(sigma) that of each candidate term. Learning sets have the same shape. Positions are 0/1 vectors of length N_t.
Details of the learning sets are from Hafiz, Swain, Patel and Naik, Pattern Recognition 76 (2018).

The module is long because each option is beside the step that it changes.
"""

import sys
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field

from narxbench._algorithms.contract import About, Found, ProblemView
from narxbench._algorithms.objective import CountedObjective, copy_row, evaluate, index_of_best
from narxbench._algorithms.population import initial_positions, roulette
from narxbench._io.settings import Settings as BaseSettings
from narxbench._numerics.compilation import compiled
from narxbench._numerics.draws import draws_of, skip, uniform, uniform_ahead

ABOUT = About(
    reference="Hafiz, Swain, Mendes and Patel, Structure Selection of Polynomial NARX Models using Two Dimensional "
    "(2D) Particle Swarms, 2018, arXiv:1812.08369",
    options={
        "velocity_bound": [1.0],
        "bounded_rows": ["cardinality", "terms"],
        "row_scaling": ["sum", "maximum"],
        "random_weights": ["per_row", "per_particle"],
        "self_feedback": ["literal", "none"],
        "restart_count": ["reset_by_improvement", "reset_by_gbest", "until_improved"],
        "ring_radius": [2],
        "initial_positions": ["uniform_cardinality"],
        "shared_random_weights": [False],
        "first_self_feedback": ["positive", "negative"],
        "negative_likelihood": ["cumulative", "shifted"],
        "equal_likelihood": ["reverse", "random"],
        "learning_set": ["exemplar"],
        "count_initial_evaluations": [False],
    },
)


class Settings(BaseSettings):
    """Settings of 2D-UPSO: the paper's search parameters, then what the paper does not say."""

    swarm_size: int = Field(default=30, ge=1, le=100_000, description="number of particles, ps")
    inertia: float = Field(default=0.729, ge=0, le=1, description="inertia weight, omega")
    cognitive_acceleration: float = Field(default=1.49, ge=0, description="c_1")
    social_acceleration: float = Field(default=1.49, ge=0, description="c_2")
    unification_start: float = Field(default=0.2, ge=0, le=1, description="unification factor at the start, u_0")
    unification_end: float = Field(default=0.7, ge=0, le=1, description="unification factor at the end, u_f")
    refresh_gap: int = Field(default=10, ge=1, description="iterations without improvement before a restart, RG")
    velocity_bound: float | None = Field(
        default=None, gt=0, description="velocities are clipped to [0, this]; null: not bounded"
    )
    bounded_rows: Literal["both", "cardinality", "terms"] = Field(
        default="both", description="the rows of the velocity that velocity_bound bounds: rho and sigma, or one of them"
    )
    row_scaling: Literal["none", "sum", "maximum"] = Field(
        default="none",
        description="whether each row of a new velocity is divided by the sum of its positive entries, or by the "
        "largest entry",
    )
    random_weights: Literal["per_element", "per_row", "per_particle"] = Field(
        default="per_element",
        description="whether r_1 and r_2 are matrices, one number for each row, or one number for each particle",
    )
    shared_random_weights: bool = Field(
        default=True, description="whether v_g and v_l share r_1 and r_2, or each has its own"
    )
    self_feedback: Literal["range_normalised", "literal", "none"] = Field(
        default="range_normalised", description="how Delta is computed when J can be negative or infinite"
    )
    first_self_feedback: Literal["none", "positive", "negative"] = Field(
        default="none", description="Delta in the first iteration: 0, as if J had fallen, or as if it had not"
    )
    restart_count: Literal["literal", "reset_by_improvement", "reset_by_gbest", "until_improved"] = Field(
        default="literal",
        description="what resets the stagnation count: a restart only (literal), an improvement of pbest too, one of "
        "gbest too (for all particles), or an improvement of pbest only, with a restart in every iteration until then",
    )
    ring_radius: int = Field(default=1, ge=1, description="neighbours on each side in the ring topology")
    initial_positions: Literal["bernoulli", "uniform_cardinality"] = Field(
        default="bernoulli", description="each term with probability 1/2, or a uniform number of terms"
    )
    count_initial_evaluations: bool = Field(default=True, description="whether the first swarm spends the budget")
    negative_likelihood: Literal["zero", "cumulative", "shifted"] = Field(
        default="zero",
        description="in the roulette of cardinalities a negative rho counts as 0, lowers the cumulative sum as "
        "printed, or all are shifted by the smallest",
    )
    equal_likelihood: Literal["canonical", "reverse", "random"] = Field(
        default="canonical", description="equally likely terms rank in canonical, in reverse or in random order"
    )
    learning_set: Literal["difference", "exemplar"] = Field(
        default="difference", description="what is learnt of an exemplar: the terms that x lacks, or all its terms"
    )


class UnifiedSwarmParameters(NamedTuple):
    """The settings in the form of the compiled loop."""

    swarm_size: int
    inertia: float
    cognitive: float
    social: float
    unification_start: float
    unification_end: float
    refresh_gap: int
    cardinality_bound: float
    term_bound: float
    sum_scales: bool
    maximum_scales: bool
    weights_of_rows: bool
    weights_of_particles: bool
    feedback_from: int  # the first iteration with self-feedback
    literal_feedback: bool
    first_feedback: int  # the sign of Delta in the first iteration
    restart_resets: bool
    improvement_resets: bool
    gbest_resets: bool
    ring_radius: int
    uniform_cardinality: bool
    shared_weights: bool
    cumulative_likelihood: bool
    shifted_likelihood: bool
    reversed_ties: bool
    random_ties: bool
    whole_exemplar: bool


@compiled
def learn(exemplar, own_terms, learned):
    """Write the learning set L of an exemplar, shape (2, N_t): its cardinality (one-hot), and its terms not owned yet.

    The exemplar is pbest, gbest or nbest, and the own terms are those of the particle. If there are none, and the
    particle itself is the exemplar, this is L_self.
    """
    cardinality = 0
    for j in range(exemplar.shape[0]):
        cardinality += exemplar[j]
        learned[0, j] = 0
        learned[1, j] = exemplar[j] & (1 - own_terms[j])
    if cardinality > 0:
        learned[0, cardinality - 1] = 1


@compiled
def update_velocity(velocity, inertia, c1, c2, r_global, r_local, delta, unification, pbest, gbest, nbest, itself):
    """Replace v_i by u v_gi + (1 - u) v_li (paper, equations 3 to 5), shape (2, N_t), in place.

    ``r_global`` and ``r_local`` are the random weights (r_1, r_2) of v_gi and of v_li. ``pbest``, ``gbest``, ``nbest``
    and ``itself`` are the learning sets L_cog, L_soc,1, L_soc,2 and L_self. ``delta`` and ``unification`` are Delta_i
    and u(t).
    """
    (a1, a2), (b1, b2) = r_global, r_local
    for row in range(2):
        for j in range(velocity.shape[1]):
            v, learned = inertia * velocity[row, j], pbest[row, j]
            v_global = v + c1 * a1[row, j] * learned + c2 * a2[row, j] * gbest[row, j] + delta * itself[row, j]
            v_local = v + c1 * b1[row, j] * learned + c2 * b2[row, j] * nbest[row, j] + delta * itself[row, j]
            velocity[row, j] = unification * v_global + (1.0 - unification) * v_local


@compiled
def scale_rows(velocity, by_sum):
    """Divide each row by the sum of its positive entries, or by its largest entry, unless no entry is positive."""
    for row in range(2):
        scale = 0.0
        for value in velocity[row]:
            if value > 0.0 and by_sum:
                scale += value
            elif value > 0.0:
                scale = max(scale, value)
        if scale > 0.0:
            for j in range(velocity.shape[1]):
                velocity[row, j] /= scale


@compiled
def clip_row(likelihood, bound):
    """Clip the entries of a row of the velocity to [0, bound]."""
    for j in range(likelihood.shape[0]):
        likelihood[j] = min(max(likelihood[j], 0.0), bound)


@compiled
def self_feedback(fitness, previous, is_literal):
    """Return Delta of every particle (paper, equation 6) from J of the swarm now and one iteration earlier.

    Literal: delta = 1 - f / max(F), positive if f_t / f_(t-1) < 1. Range-normalised: delta = 1 - (f - min F) / (max F
    - min F), in [-1, 1], positive if f_t < f_(t-1). Minimum and maximum are those of the finite J. The delta of a
    divergent particle is 0.
    """
    feedback = np.zeros(fitness.shape[0])
    lowest, highest = np.inf, -np.inf
    for f in fitness:
        if np.isfinite(f):
            lowest, highest = min(lowest, f), max(highest, f)
    for i in range(fitness.shape[0]):
        if is_literal and np.isfinite(fitness[i]):
            feedback[i] = _literal_feedback(fitness[i], previous[i], highest)
        elif np.isfinite(fitness[i]):
            feedback[i] = _normalised_feedback(fitness[i], previous[i], lowest, highest)
    return feedback


@compiled
def _literal_feedback(f, previous, highest):
    delta = 0.0
    if highest != 0.0:
        delta = 1.0 - f / highest
    if np.isinf(previous) or (previous != 0.0 and f / previous < 1.0):
        return delta
    return -delta


@compiled
def _normalised_feedback(f, previous, lowest, highest):
    delta = 0.0
    if highest > lowest:
        delta = 1.0 - (f - lowest) / (highest - lowest)
    if f < previous:
        return delta
    return -delta


@compiled
def nth_largest(values, n, scratch):
    """Return the n-th largest of the values, n from 1; ``scratch`` has their shape and is overwritten."""
    for k in range(values.shape[0]):
        scratch[k] = values[k]
    first, last, target = 0, values.shape[0] - 1, n - 1
    while first < last:
        # Values larger than the pivot move to the front. There is no branch, which a processor could not predict.
        middle = (first + last) // 2
        pivot = scratch[middle]
        scratch[middle] = scratch[last]
        end = first
        for k in range(first, last):
            value = scratch[k]
            scratch[k] = scratch[end]
            scratch[end] = value
            end += value > pivot
        scratch[last] = scratch[end]
        scratch[end] = pivot
        if end == target:
            return pivot
        if end > target:
            last = end - 1
        else:
            first = end + 1
    return scratch[target]


@compiled
def first_order(n_terms, is_reversed):
    """Return the order in which equally likely terms rank at the start: the canonical one, or its reverse."""
    order = np.arange(n_terms)
    if is_reversed:
        for k in range(n_terms):
            order[k] = n_terms - 1 - k
    return order


@compiled
def random_order(draws, order):
    """Write a random permutation of 0, 1, ... into ``order``."""
    for k in range(order.shape[0]):
        order[k] = k
    for i in range(order.shape[0] - 1, 0, -1):
        j = int(uniform(draws) * (i + 1))
        order[i], order[j] = order[j], order[i]


@compiled
def draw_cardinality(likelihood, fraction, is_cumulative, is_shifted):
    """Return the cardinality xi, in 1..N_t, by roulette on rho (paper, algorithm 1, lines 3 to 5).

    ``fraction`` is r divided by the sum of rho, in [0, 1). A negative entry of rho counts as 0. With ``is_shifted``, if
    the smallest entry is negative, it is subtracted from all. With ``is_cumulative`` cumulative sums are as printed:
    the result is the first j whose sum exceeds r, and every j is equally likely if the sum of all is not positive.
    """
    n = likelihood.shape[0]
    if is_cumulative:
        total = 0.0
        for j in range(n):
            total += likelihood[j]
        if not total > 0.0:
            return int(fraction * n) + 1
        threshold, accumulated = fraction * total, 0.0
        for j in range(n):
            accumulated += likelihood[j]
            if threshold < accumulated:
                return j + 1
        return n
    if is_shifted:
        lowest = 0.0
        for j in range(n):
            lowest = min(lowest, likelihood[j])
        shifted = np.empty(n)
        for j in range(n):
            shifted[j] = likelihood[j] - lowest
        return roulette(shifted, fraction) + 1
    return roulette(likelihood, fraction) + 1


@compiled
def update_position(velocity, cardinality, order, scratch, position):
    """Write the new position (paper, algorithm 1): the likeliest terms by sigma, as many as the cardinality.

    Of equally likely terms, those that come first in ``order``, a permutation, are chosen. ``scratch``, shape (N_t,),
    is overwritten. In the example of the paper, r = 3.5 gives the cardinality 3, and the likeliest terms are the fifth,
    the second and the first.

    >>> rho, sigma = np.array([0.82, 2.53, 2.22, 0.28, 0.95]), np.array([1.61, 1.88, 0.80, 1.33, 2.88])
    >>> position, cardinality = np.empty(5, np.uint8), draw_cardinality(rho, 3.5 / rho.sum(), False, False)
    >>> update_position(np.array([rho, sigma]), cardinality, np.arange(5), np.empty(5), position)
    >>> cardinality, position.tolist()
    (3, [1, 1, 0, 0, 1])
    """
    sigma = velocity[1]
    least = nth_largest(sigma, cardinality, scratch)
    missing = cardinality
    for t in range(sigma.shape[0]):
        position[t] = sigma[t] > least
        missing -= position[t]
    for k in range(order.shape[0]):
        is_added = sigma[order[k]] == least and missing > 0
        position[order[k]] |= is_added
        missing -= is_added


@compiled
def ring_best(fitness, i, radius):
    """Return the index of the best particle among i and ``radius`` neighbours on each side of the ring."""
    n = fitness.shape[0]
    best = i
    for step in range(1, min(radius, n // 2) + 1):
        for j in ((i - step) % n, (i + step) % n):
            if fitness[j] < fitness[best]:
                best = j
    return best


@compiled
def unification_factor(t, iterations, start, end):
    """Return the unification factor u(t) = u_0 + (u_f - u_0) t / iterations (paper, algorithm 2)."""
    return start + (end - start) * t / iterations


@compiled
def _draw(draws, numbers):
    # A matrix of draws, row by row.
    n = numbers.shape[1]
    for row in range(numbers.shape[0]):
        for j in range(n):
            numbers[row, j] = uniform_ahead(draws, j + 1)
        skip(draws, n)


@compiled
def _draw_weights(draws, of_rows, of_particles, learned, also_learned, weights):
    # Draw r_1 or r_2: a number for each element, for each row or for each particle. Numbers that are multiplied by zero
    # are skipped and keep their old values.
    n = weights.shape[1]
    if of_rows or of_particles:
        r = uniform(draws)
        for row in range(2):
            if row == 1 and of_rows:
                r = uniform(draws)
            for j in range(n):
                weights[row, j] = r
    else:
        for row in range(2):
            for j in range(n):
                if learned[row, j] | also_learned[row, j]:
                    weights[row, j] = uniform_ahead(draws, j + 1)
            skip(draws, n)


@compiled
def _draw_all_weights(draws, p, learned, random):
    # Draw r_1 and r_2 of v_g into random[:2], and those of v_l, unless they are the same, into random[2:].
    pbest, gbest, nbest = learned[0], learned[1], learned[2]
    of_rows, of_particles = p.weights_of_rows, p.weights_of_particles
    _draw_weights(draws, of_rows, of_particles, pbest, pbest, random[0])
    _draw_weights(draws, of_rows, of_particles, gbest, nbest, random[1])
    if not p.shared_weights:
        _draw_weights(draws, of_rows, of_particles, pbest, pbest, random[2])
        _draw_weights(draws, of_rows, of_particles, nbest, nbest, random[3])


@compiled
def _limit_velocity(velocity, p):
    # Scale and clip the rows of a velocity, as the settings say.
    if p.sum_scales or p.maximum_scales:
        scale_rows(velocity, p.sum_scales)
    if p.cardinality_bound < np.inf:
        clip_row(velocity[0], p.cardinality_bound)
    if p.term_bound < np.inf:
        clip_row(velocity[1], p.term_bound)


@compiled
def _update_best(positions, fitness, count, improvement_resets, best_positions, best_fitness, stagnation):
    # Update pbest and the stagnation counts of the particles that were evaluated.
    for i in range(count):
        if fitness[i] < best_fitness[i]:
            best_fitness[i] = fitness[i]
            copy_row(positions[i], best_positions[i])
            if improvement_resets:
                stagnation[i] = 0
        else:
            stagnation[i] += 1


@compiled
def _fly(data, record, draws, p):
    # Algorithm 2 of the paper.
    size, n_terms = p.swarm_size, record.best_position.shape[0]
    positions = initial_positions(draws, size, n_terms, p.uniform_cardinality)
    velocities = np.empty((size, 2, n_terms))
    for i in range(size):
        _draw(draws, velocities[i])
    fitness, previous = np.empty(size), np.full(size, np.inf)
    evaluate(data, record, positions, fitness)
    if p.first_feedback <= 0:
        copy_row(fitness, previous)
    best_positions, best_fitness = positions.copy(), fitness.copy()
    stagnation, feedback = np.zeros(size, np.int64), np.zeros(size)
    nothing, order, scratch = np.zeros(n_terms, np.uint8), first_order(n_terms, p.reversed_ties), np.empty(n_terms)
    learned, random = np.empty((4, 2, n_terms), np.uint8), np.zeros((4, 2, n_terms))
    pbest, gbest, nbest, itself = learned[0], learned[1], learned[2], learned[3]
    r_global, r_local = (random[0], random[1]), (random[2], random[3])
    if p.shared_weights:
        r_local = r_global
    iterations = -(-(record.fitness.shape[0] - record.evaluations[0]) // size)
    for t in range(1, iterations + 1):
        unification = unification_factor(t, iterations, p.unification_start, p.unification_end)
        if t >= p.feedback_from:
            feedback = self_feedback(fitness, previous, p.literal_feedback)
        leader = index_of_best(best_fitness)
        for i in range(size):
            velocity, position = velocities[i], positions[i]
            if stagnation[i] >= p.refresh_gap:
                _draw(draws, velocity)
                if p.restart_resets:
                    stagnation[i] = 0
            own_terms = position
            if p.whole_exemplar:
                own_terms = nothing
            learn(best_positions[i], own_terms, pbest)
            learn(best_positions[leader], own_terms, gbest)
            learn(best_positions[ring_best(best_fitness, i, p.ring_radius)], own_terms, nbest)
            learn(position, nothing, itself)
            _draw_all_weights(draws, p, learned, random)
            update_velocity(
                velocity,
                p.inertia,
                p.cognitive,
                p.social,
                r_global,
                r_local,
                feedback[i],
                unification,
                pbest,
                gbest,
                nbest,
                itself,
            )
            _limit_velocity(velocity, p)
            fraction = uniform(draws)
            if p.random_ties:
                random_order(draws, order)
            cardinality = draw_cardinality(velocity[0], fraction, p.cumulative_likelihood, p.shifted_likelihood)
            update_position(velocity, cardinality, order, scratch, position)
        copy_row(fitness, previous)
        lowest = best_fitness[leader]
        count = evaluate(data, record, positions, fitness)
        _update_best(positions, fitness, count, p.improvement_resets, best_positions, best_fitness, stagnation)
        if count < size:
            break
        if p.gbest_resets and best_fitness.min() < lowest:
            stagnation[:] = 0


def run(problem: ProblemView, objective: CountedObjective, rng: np.random.Generator, settings: Settings) -> Found:
    """Spend the objective's budget on one run of 2D-UPSO."""
    cardinality_bound = term_bound = np.inf
    if settings.velocity_bound is not None and settings.bounded_rows != "terms":
        cardinality_bound = float(settings.velocity_bound)
    if settings.velocity_bound is not None and settings.bounded_rows != "cardinality":
        term_bound = float(settings.velocity_bound)
    # In the first iteration there is no earlier fitness to compare with.
    feedback_from = 2 if settings.first_self_feedback == "none" else 1
    if settings.self_feedback == "none":
        feedback_from = sys.maxsize
    parameters = UnifiedSwarmParameters(
        swarm_size=settings.swarm_size,
        inertia=float(settings.inertia),
        cognitive=float(settings.cognitive_acceleration),
        social=float(settings.social_acceleration),
        unification_start=float(settings.unification_start),
        unification_end=float(settings.unification_end),
        refresh_gap=settings.refresh_gap,
        cardinality_bound=cardinality_bound,
        term_bound=term_bound,
        sum_scales=settings.row_scaling == "sum",
        maximum_scales=settings.row_scaling == "maximum",
        weights_of_rows=settings.random_weights == "per_row",
        weights_of_particles=settings.random_weights == "per_particle",
        feedback_from=feedback_from,
        literal_feedback=settings.self_feedback == "literal",
        first_feedback=["negative", "none", "positive"].index(settings.first_self_feedback) - 1,
        restart_resets=settings.restart_count != "until_improved",
        improvement_resets=settings.restart_count in ("reset_by_improvement", "until_improved"),
        gbest_resets=settings.restart_count == "reset_by_gbest",
        ring_radius=settings.ring_radius,
        uniform_cardinality=settings.initial_positions == "uniform_cardinality",
        shared_weights=settings.shared_random_weights,
        cumulative_likelihood=settings.negative_likelihood == "cumulative",
        shifted_likelihood=settings.negative_likelihood == "shifted",
        reversed_ties=settings.equal_likelihood == "reverse",
        random_ties=settings.equal_likelihood == "random",
        whole_exemplar=settings.learning_set == "exemplar",
    )
    with draws_of(rng, objective.n_terms) as draws:
        _fly(*objective.compiled, draws, parameters)
    return Found(objective.best_position)
