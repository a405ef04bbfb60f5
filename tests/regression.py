"""Regressions in plain NumPy, which many tests compare with: terms by number, columns, records and probabilities."""

import math

import numpy as np
from scipy.special import softmax

from narxbench._model.structure import column
from narxbench._model.terms import parse_term, term_name


def terms_at(problem, numbers):
    """Return the candidate terms with these numbers."""
    return [problem.terms[number] for number in numbers]


def numbers_of(problem, terms):
    """Return the numbers of terms among the candidates."""
    return list(map(problem.terms.index, terms))


def parse_terms(terms, n_inputs=1):
    """Return the monomials of these names, among which may be those of the current input."""
    return [parse_term(term, n_inputs, current=True) for term in terms]


def term_names(monomials, n_inputs=1):
    """Return the names of monomials."""
    return [term_name(monomial, n_inputs) for monomial in monomials]


def regressors(u, y, monomials, rows):
    """Return the matrix of regressors at these samples, a column for each monomial."""
    return np.column_stack([column(u, y, monomial, rows) for monomial in monomials])


def product(monomial, signals, k):
    """Return the value of a monomial, pairs of signal and lag, at sample k."""
    return math.prod(signals[signal][k - lag] for signal, lag in monomial)


def rows_with_lags(lengths, lag):
    """Return the samples of records, one behind the other, that have their lags."""
    ends = np.cumsum(lengths)
    return np.concatenate([np.arange(end - n + lag, end) for end, n in zip(ends, lengths, strict=True)])


def measured_records(n_inputs, lengths):
    """Return inputs and output of records that stand one behind the other."""
    rng = np.random.default_rng([1, n_inputs])
    u, outputs = rng.standard_normal((sum(lengths), n_inputs)), []
    for start, length in zip(np.cumsum([0, *lengths]), lengths, strict=False):
        y = rng.standard_normal(length)
        for k in range(2, length):
            y[k] = 0.4 * y[k - 1] - 0.3 * y[k - 2] + 0.05 * y[k - 1] * y[k - 2] + 0.2 * rng.standard_normal()
            for i in range(n_inputs):
                y[k] += 0.3 * u[start + k - i, i] + 0.1 * u[start + k - 1, i] * np.tanh(y[k - 1])
        outputs.append(y)
    return u, np.concatenate(outputs)


def probabilities_of(criteria):
    """Return the probability of each structure from the criterion of each."""
    return dict(zip(criteria, softmax(np.multiply(-0.5, [*criteria.values()])), strict=True))


def term_probability(probabilities, term):
    """Return the probability of a term: the sum of those of all structures that have it."""
    return math.fsum(p for structure, p in probabilities.items() if term in structure)
