"""The arithmetic of the fitness kernel in plain Python floats, operation for operation.

This is the definition of a result's bytes: the kernel may change how it computes, but not what.
"""

import math

from narxbench.model.terms import OUTPUT, parse_term


def evaluate(u, y, terms, *, n_u, n_y, n_validation, segments=None):
    """Return (coefficients, SSE) of the terms in canonical order; SSE is inf when singular or divergent.

    Each segment, a range of samples, is simulated from measured outputs; None is one segment, the validation part.
    """
    u, y = list(map(float, u)), list(map(float, y))
    monomials = [parse_term(term) for term in terms]
    start = len(y) - n_validation

    def product(monomial, k):
        value = 1.0
        for signal, lag in monomial:
            value *= (y if signal == OUTPUT else u)[k - lag]
        return value

    columns = [[product(m, k) for k in range(max(n_u, n_y), start)] for m in monomials]
    target = y[max(n_u, n_y) : start]
    weights = _least_squares(columns, target)
    if weights is None:
        return [0.0] * len(terms), math.inf

    # c_m(k): the inputs of all terms that share the y-monomial m; nodes are these monomials and their beginnings.
    groups = {}
    for monomial, weight in zip(monomials, weights, strict=True):
        outputs = tuple(f for f in monomial if f[0] == OUTPUT)
        groups.setdefault(outputs, []).append((weight, tuple(f for f in monomial if f[0] != OUTPUT)))
    nodes = {m[:i] for m in groups for i in range(len(m) + 1)} | {()}
    last_to_first = sorted(nodes, key=lambda m: (len(m), m), reverse=True)
    bound = 1e6 * max(map(abs, y))
    sse = 0.0
    for segment in segments or [range(start, len(y))]:
        simulated = y[: segment.start]
        for k in segment:
            value = {}
            for m in nodes:
                value[m] = 0.0
                for weight, inputs in groups.get(m, ()):
                    value[m] += weight * product(inputs, k)
            for m in last_to_first:
                if m:
                    value[m[:-1]] += value[m] * simulated[k - m[-1][1]]
            if not abs(value[()]) <= bound:
                return weights, math.inf
            simulated.append(value[()])
            error = y[k] - value[()]
            sse += error * error
    return weights, sse


def _least_squares(columns, target):
    n = len(columns)
    gram = [[_sum_of_products(columns[i], columns[j]) for j in range(i + 1)] for i in range(n)]
    weights = [_sum_of_products(column, target) for column in columns]
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
    for i in range(n):
        for k in range(i):
            weights[i] -= factor[i][k] * weights[k]
        weights[i] *= inverse[i]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            weights[i] -= factor[k][i] * weights[k]
        weights[i] *= inverse[i]
    return weights


def _sum_of_products(a, b):
    total = 0.0
    for x, z in zip(a, b, strict=True):
        total += x * z
    return total
