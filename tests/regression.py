"""Regressions in plain NumPy, which many tests compare with: terms by number, columns, products and probabilities."""

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


def probabilities_of(criteria):
    """Return the probability of each structure from the criterion of each."""
    return dict(zip(criteria, softmax(np.multiply(-0.5, [*criteria.values()])), strict=True))


def term_probability(probabilities, term):
    """Return the probability of a term: the sum of those of all structures that have it."""
    return math.fsum(p for structure, p in probabilities.items() if term in structure)
