"""What population-based algorithms share: how the first structures are drawn, and drawing by weight."""

import numpy as np

from narxbench.numerics.compilation import compiled


@compiled
def initial_positions(draws, count, n_terms, uniform_cardinality):
    """Return ``count`` random structures as 0/1 rows of shape (count, N_t).

    Each term is chosen with probability 1/2, or, with ``uniform_cardinality``, the number of terms is uniform on 1..N_t
    and the terms are a uniform subset of that size.
    """
    positions = np.zeros((count, n_terms), np.uint8)
    for i in range(count):
        if uniform_cardinality:
            left = 1 + int(draws.random() * n_terms)
            for t in range(n_terms):
                # Selection sampling: each subset of the wanted size is equally likely.
                if draws.random() * (n_terms - t) < left:
                    positions[i, t] = 1
                    left -= 1
        else:
            for t in range(n_terms):
                positions[i, t] = draws.random() < 0.5
    return positions


@compiled
def roulette(weights, fraction):
    """Return j with sum(weights[:j]) <= fraction * sum(weights) < sum(weights[:j+1]), counting negative weights as 0.

    ``fraction`` is uniform on [0, 1). If no weight is positive, every j is equally likely.
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
