"""A readable evaluation of one structure, written apart from the library: the standard that the kernel must meet."""

import math
import re

import numpy as np


def factors(term):
    """Return [(signal, lag), …] of a canonical term name."""
    pairs = []
    for signal, lag, power in re.findall(r"([yu])\(k-(\d+)\)(?:\^(\d+))?", term):
        pairs += [(signal, int(lag))] * int(power or 1)
    return pairs


def evaluate(u, y, terms, *, n_u, n_y, n_validation=600, bound=1e6):
    """Return (coefficients, SSE): least squares by QR, free run with a plain loop; SSE is inf on divergence."""
    n, start = len(y), len(y) - n_validation
    series = {"u": u, "y": y}
    rows = np.arange(max(n_u, n_y), start)
    columns = np.ones((len(rows), len(terms)))
    for i, term in enumerate(terms):
        for signal, lag in factors(term):
            columns[:, i] *= series[signal][rows - lag]
    coefficients = np.linalg.lstsq(columns, y[rows], rcond=None)[0]
    simulated = {"u": u, "y": y[:start].tolist()}
    for k in range(start, n):
        value = 0.0
        for term, coefficient in zip(terms, coefficients, strict=True):
            product = coefficient
            for signal, lag in factors(term):
                product *= simulated[signal][k - lag]
            value += product
        if not abs(value) <= bound * np.abs(y).max():
            return coefficients, math.inf
        simulated["y"].append(value)
    return coefficients, float(np.sum((y[start:] - np.array(simulated["y"][start:])) ** 2))
