"""Whether a model lacks terms that are not among its candidates: a score test of further terms, and a richer model.

The part of the innovations that a missing term would explain remains. Columns of further terms are what the
prediction gains by their weights under the noise model, so that the reduction of the squared innovations by each of
them, over their variance, has a chi-squared distribution with one degree of freedom where no term is missing (R. F.
Engle, Wald, likelihood ratio, and Lagrange multiplier tests in econometrics, Handbook of Econometrics 2, 1984).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from narxbench._fitness.prediction_error import Fit, PredictionErrors
from narxbench._fitness.structure_fit import fit_noise_model, fit_structure
from narxbench._identification.data.arrangement import N_PARTS, Arrangement
from narxbench._identification.search.candidate import Candidate
from narxbench._identification.search.configurations import LARGEST, Configuration
from narxbench._identification.search.noise import prediction_errors
from narxbench._identification.search.problem import MOST_VALUES, shortened
from narxbench._identification.validation.fit import ModelFit
from narxbench._identification.validation.residuals import CHANCE
from narxbench._identification.validation.weights import DEPENDENT
from narxbench._model.noise_models import NoiseName
from narxbench._model.terms import OUTPUT, Factor, Monomial, max_lag_of, monomials_of, term_name
from narxbench._numerics.rounding import significant

Floats = NDArray[np.float64]

# Lags of a signal behind the largest one of the candidates, the degree up to which they make up further terms, and the
# terms that are added, one after the other (benchmarks/gains.md).
FURTHER_LAGS, FURTHER_DEGREE, MOST_ADDED = 2, 2, 4


def richer_structure(
    fit: ModelFit, structure: Candidate, families: Sequence[NoiseName], density: int
) -> tuple[Candidate, list[str], bool] | None:
    """Return a structure with the terms that it lacks, one degree higher or of later lags, or None where it lacks none.

    Behind it are the terms that it lacked, the clearest first, and whether no further term seems to be missing.

    Parameters
    ----------
    fit : ModelFit
        The fit of the structure.
    structure : Structure
        The structure that is tested.
    families : sequence of str
        Names of the noise models that are allowed.
    density : int
        How many samples of the data count as one.
    """
    monomials = extended_candidates(fit.monomials, fit.configuration)
    errors = _prediction_errors(fit, monomials)
    repeated = max(1.0, density / fit.configuration.decimation)
    numbers = [monomials.index(monomial) for monomial in fit.monomials]
    first = current = fit_noise_model(errors, numbers, fit.noise_model)
    added: list[int] = []
    term = missing_term(errors, current, repeated)
    while term is not None and len(added) < MOST_ADDED:
        richer = fit_structure(errors, [*current.terms.tolist(), term], families)
        if not richer.is_finite:
            break
        current = richer
        added.append(term)
        term = missing_term(errors, current, repeated)
    if current is first:
        return None
    n_inputs = len(fit.recording.inputs)
    names = [term_name(monomial, n_inputs) for monomial in monomials]
    terms = tuple(names[number] for number in current.terms.tolist())
    richer_candidate = replace(structure, kind="sparse", terms=terms, noise_model=current.noise_model)
    return richer_candidate, [names[number] for number in added], term is None


def extended_candidates(monomials: Sequence[Monomial], configuration: Configuration) -> list[Monomial]:
    """Return the terms of a structure and those that it may lack, in canonical order.

    They have the lagged signals of the structure up to one degree more than its candidates had, and the lags of all
    candidates and later ones up to degree 2. Where these are too many, they are of no higher degree than the structure,
    or linear.
    """
    factors: set[Factor] = set()
    for monomial in monomials:
        factors.update(monomial)
    further = _with_later_lags(configuration)
    extended: list[Monomial] = []
    for highest in (1 + configuration.degree, max(map(len, monomials)), 1):
        extended = monomials_of(factors, highest) + monomials_of(further, min(FURTHER_DEGREE, highest))
        if len(set(extended)) <= LARGEST:
            break
    return sorted({*extended, *monomials}, key=lambda monomial: (len(monomial), monomial))


def _with_later_lags(configuration: Configuration) -> list[Factor]:
    """Return the lagged signals of a configuration, each signal also with the lags that follow its largest one."""
    factors = []
    for signal, lags in enumerate((configuration.y_lags, *configuration.u_lags), OUTPUT):
        largest = max(lags, default=0)
        for lag in (*lags, *range(largest + 1, largest + 1 + FURTHER_LAGS)):
            factors.append((signal, lag))
    return factors


def _prediction_errors(fit: ModelFit, monomials: Sequence[Monomial]) -> PredictionErrors:
    """Return the prediction errors of terms on the data that estimate, of one phase, of long records on some pieces."""
    records, decimation, max_lag = fit.turns.records, fit.configuration.decimation, max_lag_of(monomials)
    one_phase = sum(map(len, records)) // decimation
    arrangement = Arrangement(records, decimation, max_lag, N_PARTS, one_phase)
    segments = arrangement.segments(arrangement.estimates())
    return prediction_errors(arrangement, monomials, shortened(segments, MOST_VALUES // len(monomials), max_lag))


def missing_term(errors: PredictionErrors, fit: Fit, repeated: float = 1.0) -> int | None:
    """Return the number of the candidate that a fit lacks most clearly, or None where it seems to lack none.

    As many samples count as one as ``repeated`` says. The level is for all terms of a degree together.
    """
    if not fit.is_finite or errors.samples <= len(fit.terms) + len(fit.noise_weights) + 1:
        return None
    columns, explained = errors.regression(fit)
    is_inside = np.ones(columns.shape[1], np.bool_)
    is_inside[: errors.n_terms] = False
    is_inside[fit.terms] = True
    statistics = _score_statistics(columns[:, is_inside], columns[:, ~is_inside], explained) / repeated
    outside = np.flatnonzero(~is_inside)
    degrees = [len(errors.monomials[number]) for number in outside.tolist()]
    counts = Counter(degrees)
    best, largest = None, 1.0
    for number, degree, statistic in zip(outside.tolist(), degrees, statistics.tolist(), strict=True):
        excess = significant(statistic / chdtri(1, CHANCE / counts[degree]))
        if excess > largest:
            best, largest = number, excess
    return best


def _score_statistics(inside: Floats, outside: Floats, explained: Floats) -> Floats:
    """Return by how much each column outside reduces the squares that remain after the inside, over their variance."""
    basis, _ = np.linalg.qr(inside)
    innovations = explained - basis @ (basis.T @ explained)
    variance = float(innovations @ innovations) / (len(innovations) - inside.shape[1])
    remaining = outside - basis @ (basis.T @ outside)
    energies, left = (outside**2).sum(axis=0), (remaining**2).sum(axis=0)
    statistics = np.zeros(len(left))
    is_independent = left > DEPENDENT**2 * energies
    if variance > 0.0:
        projections = remaining.T @ innovations
        statistics[is_independent] = projections[is_independent] ** 2 / left[is_independent] / variance
    return statistics
