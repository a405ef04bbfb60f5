"""The arithmetic of the fitness kernel in plain Python floats, operation for operation.

This is the definition of a result's bytes: the kernel may change how it computes, but not what.
"""

import math

from narxbench._model.terms import OUTPUT, parse_term


def evaluate(u, y, terms, *, n_u, n_y, n_validation, segments=None):
    """Return (coefficients, SSE) of the terms in canonical order; SSE is inf when singular or divergent.

    Each segment, a range of samples, is simulated from measured outputs; None is one segment, the validation part.
    """
    u, y = list(map(float, u)), list(map(float, y))
    monomials = list(map(parse_term, terms))
    first, start = max(n_u, n_y), len(y) - n_validation
    columns = [[_product(monomial, u, y, k) for k in range(first, start)] for monomial in monomials]
    weights = _least_squares(columns, y[first:start])
    if weights is None:
        return [0.0] * len(terms), math.inf

    groups = _group_by_outputs(monomials, weights)
    nodes = _nodes_of(groups)
    bound = 1e6 * max(map(abs, y))
    sse = 0.0
    for segment in segments or [range(start, len(y))]:
        simulated = y[: segment.start]
        for k in segment:
            prediction = _predict(groups, nodes, u, simulated, k)
            if not abs(prediction) <= bound:
                return weights, math.inf
            simulated.append(prediction)
            error = y[k] - prediction
            sse += error * error
    return weights, sse


def _product(monomial, u, y, k):
    return math.prod(((y if signal == OUTPUT else u)[k - lag] for signal, lag in monomial), start=1.0)


def _group_by_outputs(monomials, weights):
    """Return the (weight, input factors) of all terms that share a y-monomial, by this y-monomial."""
    groups = {}
    for monomial, weight in zip(monomials, weights, strict=True):
        outputs = tuple(factor for factor in monomial if factor[0] == OUTPUT)
        inputs = [factor for factor in monomial if factor[0] != OUTPUT]
        groups.setdefault(outputs, []).append((weight, inputs))
    return groups


def _nodes_of(groups):
    """Return the y-monomials and their beginnings, the last first."""
    nodes = {()}
    for monomial in groups:
        nodes |= {monomial[:length] for length in range(len(monomial) + 1)}
    return sorted(nodes, key=lambda node: (len(node), node), reverse=True)


def _predict(groups, nodes, u, simulated, k):
    """Return the output at k by Horner's rule: each node adds its value times its last factor to its beginning."""
    values = {}
    for node in nodes:
        values[node] = 0.0
        for weight, inputs in groups.get(node, ()):
            values[node] += weight * _product(inputs, u, simulated, k)
    for node in nodes:
        if node:
            values[node[:-1]] += values[node] * simulated[k - node[-1][1]]
    return values[()]


def _least_squares(columns, target):
    """Return the weights by Cholesky's algorithm, or None when the columns are dependent."""
    n = len(columns)
    gram = []
    for i, column in enumerate(columns):
        gram.append([_sum_of_products(column, earlier) for earlier in columns[: i + 1]])
    factorisation = _cholesky(gram)
    if factorisation is None:
        return None
    factor, inverse = factorisation
    weights = [_sum_of_products(column, target) for column in columns]
    for i in range(n):
        for k in range(i):
            weights[i] -= factor[i][k] * weights[k]
        weights[i] *= inverse[i]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            weights[i] -= factor[k][i] * weights[k]
        weights[i] *= inverse[i]
    return weights


def _cholesky(gram):
    """Return (lower triangle, inverse diagonal) of the factor, or None when a pivot is too small."""
    n = len(gram)
    factor = [[0.0] * n for _ in range(n)]
    inverse = [0.0] * n
    for i in range(n):
        for j in range(i):
            s = gram[i][j]
            for k in range(j):
                s -= factor[i][k] * factor[j][k]
            factor[i][j] = s * inverse[j]
        pivot = gram[i][i]
        for k in range(i):
            pivot -= factor[i][k] * factor[i][k]
        if not pivot > 1e-11 * gram[i][i]:
            return None
        inverse[i] = 1.0 / math.sqrt(pivot)
    return factor, inverse


def _sum_of_products(a, b):
    total = 0.0
    for x, z in zip(a, b, strict=True):
        total += x * z
    return total
