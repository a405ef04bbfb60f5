"""By how much a change of one term, or a swap of two, changes the error one step ahead, without an evaluation.

Only inner products of the candidates are needed. Source: A. Miller, Subset Selection in Regression, 2nd edition, 2002,
chapter 3.
"""

import numpy as np

from narxbench._fitness.kernel.least_squares import EXACT, SINGULAR, SMALLEST_SSE
from narxbench._numerics.compilation import compiled
from narxbench._numerics.logarithm import natural_log


@compiled
def predicted(gram, moments, energy, samples, penalty, position):
    """Predict the change of J by each change of one term and by each swap, from the error one step ahead.

    ``energy`` is y'y, ``samples`` multiplies the logarithm of the error, and a term costs ``penalty``. Returns the xi
    terms of the structure; the change of J when a term is added or dropped, shape (N_t,); and its change when one of
    these terms is exchanged for another, shape (xi, N_t), +inf where there is no such swap.
    """
    n = gram.shape[0]
    members = _members(position)
    size = members.shape[0]
    inverse = _inverse(gram, members)
    weights, error = np.zeros(size), energy
    for i in range(size):
        for j in range(size):
            weights[i] += inverse[i, j] * moments[members[j]]
    for i in range(size):
        error -= weights[i] * moments[members[i]]
    error = max(error, EXACT * energy, SMALLEST_SSE)
    squares, products, shares = _orthogonalised(gram, moments, members, inverse, weights)
    flips, swaps = np.empty(n), np.full((size, n), np.inf)
    for a in range(n):
        if not position[a]:
            gain = 0.0
            if squares[a] > SINGULAR * gram[a, a]:
                gain = products[a] * products[a] / squares[a]
            flips[a] = samples * _log_ratio(error - gain, error) + penalty
    for i in range(size):
        # Square and product of the term itself, made orthogonal to the other terms of the structure.
        square = product = 0.0
        if inverse[i, i] > 0.0:
            square = 1.0 / inverse[i, i]
            product = weights[i] * square
        error_without = error + product * weights[i]
        flips[members[i]] = samples * _log_ratio(error_without, error) - penalty
        for a in range(n):
            square_without = squares[a] + shares[i, a] * shares[i, a] * square
            if not position[a] and square_without > SINGULAR * gram[a, a]:
                product_without = products[a] + shares[i, a] * product
                gain = product_without * product_without / square_without
                swaps[i, a] = samples * _log_ratio(error_without - gain, error)
    return members, flips, swaps


@compiled
def _members(position):
    # The terms of a structure.
    members, size = np.empty(position.shape[0], np.int64), 0
    for t in range(position.shape[0]):
        members[size] = t
        size += position[t]
    return members[:size].copy()


@compiled
def _orthogonalised(gram, moments, members, inverse, weights):
    # The square of each candidate column after it is made orthogonal to the terms of the structure, the product of that
    # column with y, and the regression of the candidate on these terms.
    n, size = gram.shape[0], members.shape[0]
    squares, products, shares = np.empty(n), moments.copy(), np.zeros((size, n))
    for a in range(n):
        squares[a] = gram[a, a]
    for i in range(size):
        for j in range(size):
            factor, row = inverse[i, j], gram[members[j]]
            for a in range(n):
                shares[i, a] += factor * row[a]
        row = gram[members[i]]
        for a in range(n):
            products[a] -= row[a] * weights[i]
            squares[a] -= row[a] * shares[i, a]
    return squares, products, shares


@compiled
def _inverse(gram, members):
    # The inverse of the Gram matrix of some terms, by elimination in place. The row and the column of a term that
    # depends on the previous ones are zero.
    size = members.shape[0]
    inverse = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            inverse[i, j] = gram[members[i], members[j]]
    for p in range(size):
        pivot, factor = inverse[p, p], 0.0
        if pivot > SINGULAR * gram[members[p], members[p]]:
            factor = 1.0 / pivot
        for j in range(size):
            inverse[p, j] *= factor
        inverse[p, p] = factor
        for i in range(size):
            if i != p:
                weight, inverse[i, p] = inverse[i, p], 0.0
                for j in range(size):
                    inverse[i, j] -= weight * inverse[p, j]
    return inverse


@compiled
def _log_ratio(error, previous_error):
    return natural_log(max(error / previous_error, EXACT))
