"""Parts of population-based algorithms: random first structures and the roulette wheel."""

import numpy as np

from narxbench._numerics.compilation import compiled
from narxbench._numerics.draws import uniform


@compiled
def initial_positions(draws, count, n_terms, uniform_cardinality):
    """Draw random structures, shape (count, N_t).

    Each structure has each term with probability 1/2. With ``uniform_cardinality`` the number of terms is uniform on
    1..N_t, and the terms are a uniform random subset of that size.
    """
    positions = np.zeros((count, n_terms), np.uint8)
    for i in range(count):
        if uniform_cardinality:
            missing = 1 + int(uniform(draws) * n_terms)
            for t in range(n_terms):
                # Selection sampling: each subset of this size is equally likely.
                if uniform(draws) * (n_terms - t) < missing:
                    positions[i, t] = 1
                    missing -= 1
        else:
            for t in range(n_terms):
                positions[i, t] = uniform(draws) < 0.5
    return positions


@compiled
def roulette(weights, fraction):
    """Return the index that a roulette wheel selects with a uniform draw ``fraction`` from [0, 1).

    It is the j with sum(weights[:j]) <= fraction * sum(weights) < sum(weights[:j+1]), where negative weights count as
    0. If no weight is positive, every j is equally likely.
    """
    total = 0.0
    last = -1
    for j in range(weights.shape[0]):
        if weights[j] > 0.0:
            total += weights[j]
            last = j
    if last < 0:
        return int(fraction * weights.shape[0])
    threshold, accumulated = fraction * total, 0.0
    for j in range(last):
        if weights[j] > 0.0:
            accumulated += weights[j]
            if threshold < accumulated:
                return j
    return last
