"""Reasons to doubt a model that a likelihood search has chosen, as data and as one line each.

The limits were chosen on the data sets of ``python -m benchmarks.recovery --development`` with the seed 31, so that
many wrong structures bring a warning and few right ones. ``benchmarks/recovery.md`` has the shares on other data.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from narxbench._algorithms.certainty import Certainty
from narxbench._algorithms.contract import SearchWarning
from narxbench._algorithms.likelihood_search import LikelihoodSearch
from narxbench._fitness.prediction_error import Fit, PredictionErrors
from narxbench._io.words import probability, probability_words
from narxbench._numerics.rounding import significant

Floats = NDArray[np.float64]

# Lags of the autocorrelation, and the probability by chance below which innovations are not white.
LAGS, BY_CHANCE = 25, 1e-4
# Squared innovations that go with the size of a term's effect by this many standard errors change their variance.
CHANGING_VARIANCE = 6.0
# A structure of less probability is in doubt, and so is a term, or the lack of a term of more.
LIKELY_STRUCTURE, LIKELY_TERM, LIKELY_MISSING = 0.3, 0.95, 0.6
# Another noise model that prefers another structure counts if its criterion is above the lowest by less.
CLOSE_NOISE_MODEL = 2.0
# Excess kurtosis above this, in standard errors, is a tail that a Gaussian does not have.
HEAVY = 5.0


def doubts(search: LikelihoodSearch, fit: Fit, certainty: Certainty, names: Sequence[str]) -> list[SearchWarning]:
    """Return all reasons to doubt a fit of a search, with the names of the candidate terms."""
    warnings = certainty_warnings(fit.terms.tolist(), certainty, names)
    innovations = winsorised(search.errors, fit)
    if innovations.any():
        warnings += _innovation_warnings(fit, innovations)
        warnings += _variance_warnings(search.errors, fit, innovations, names)
    return warnings + _noise_model_warnings(search, fit, names)


def _listed(terms: Sequence[str], most: int = 4) -> str:
    listed = ", ".join(terms[:most])
    return listed if len(terms) <= most else f"{listed} and {len(terms) - most} more"


def certainty_warnings(chosen: Sequence[int], certainty: Certainty, names: Sequence[str]) -> list[SearchWarning]:
    """Return reasons to doubt the chosen terms that their probabilities give."""
    weak = [term for term in chosen if certainty.terms[term] < LIKELY_TERM]
    missing = [term for term in np.flatnonzero(certainty.terms > LIKELY_MISSING).tolist() if term not in chosen]
    warnings = _structure_warnings(list(chosen), certainty, names)
    warnings += _term_warnings("uncertain_terms", "the data do not clearly support {}", weak, certainty, names)
    warnings += _term_warnings("missing_terms", "the data support {} too", missing, certainty, names)
    return warnings


def _structure_warnings(chosen: list[int], certainty: Certainty, names: Sequence[str]) -> list[SearchWarning]:
    """Return a warning if the structure of the chosen terms is not likely, with the strongest rival."""
    structure_probability = sum(
        structure.probability for structure in certainty.structures if structure.terms == chosen
    )
    rivals = [structure for structure in certainty.structures if structure.terms != chosen]
    if structure_probability >= LIKELY_STRUCTURE or not rivals:
        return []
    rival = rivals[0]
    differences = [f"with {names[term]}" for term in rival.terms if term not in chosen]
    differences += [f"without {names[term]}" for term in chosen if term not in rival.terms]
    message = (
        f"the probability of the structure is {probability_words(structure_probability)}, that of the next one, "
        f"{_listed(differences)}, is {probability_words(rival.probability)}"
    )
    values = {"probability": structure_probability, "rival": rival.probability}
    return [SearchWarning("uncertain_structure", message, values)]


def _term_warnings(
    kind: str, message: str, terms: Sequence[int], certainty: Certainty, names: Sequence[str]
) -> list[SearchWarning]:
    """Return a warning that lists some terms with their probabilities, if there are any."""
    if not terms:
        return []
    listed = _listed([f"{names[term]} ({probability(certainty.terms[term])})" for term in terms])
    values = {names[term]: float(certainty.terms[term]) for term in terms}
    return [SearchWarning(kind, message.format(listed), values)]


def _innovation_warnings(fit: Fit, innovations: Floats) -> list[SearchWarning]:
    warnings = []
    statistic, by_chance = ljung_box(innovations, LAGS, len(fit.noise_weights))
    if by_chance < BY_CHANCE:
        message = (
            f"the innovations are not white (Ljung-Box {statistic:.0f} over {LAGS} lags, p {by_chance:.1g}): the "
            "noise models or the candidate terms are not rich enough"
        )
        values = {"statistic": _rounded(statistic), "p": _rounded(by_chance)}
        warnings.append(SearchWarning("coloured_innovations", message, values))
    kurtosis = excess_kurtosis(innovations)
    error = math.sqrt(24.0 / len(innovations))
    if fit.noise_model.distribution.is_gaussian and kurtosis > HEAVY * error:
        message = f"the innovations have heavy tails (excess kurtosis {kurtosis:.1f}): look for outliers"
        warnings.append(SearchWarning("heavy_tails", message, {"excess_kurtosis": _rounded(kurtosis)}))
    return warnings


def _variance_warnings(
    errors: PredictionErrors, fit: Fit, innovations: Floats, names: Sequence[str]
) -> list[SearchWarning]:
    if not len(fit.terms):
        return []
    squares = innovations**2 - np.mean(innovations**2)
    squares /= np.std(squares) or 1.0
    sensitivities = np.concatenate(errors.counted(errors.sensitivities(fit)[:, fit.terms]))
    sizes = np.abs(sensitivities)
    sizes -= sizes.mean(axis=0)
    spread = sizes.std(axis=0)
    scores = np.abs(squares @ sizes) / np.where(spread > 0.0, spread, np.inf) / math.sqrt(len(squares))
    largest = int(np.argmax(scores))
    if not scores[largest] > CHANGING_VARIANCE:
        return []
    term = names[int(fit.terms[largest])]
    message = (
        f"the innovations are larger where {term} is large ({scores[largest]:.1f} standard errors): the noise is "
        "multiplied, or an input is measured with noise"
    )
    values = {"term": term, "standard_errors": _rounded(float(scores[largest]))}
    return [SearchWarning("changing_variance", message, values)]


def _noise_model_warnings(search: LikelihoodSearch, fit: Fit, names: Sequence[str]) -> list[SearchWarning]:
    chosen = set(fit.terms.tolist())
    warnings = []
    for leader in search.leaders():
        difference = search.value(leader) - search.value(fit)
        exchanged = sorted(chosen ^ set(leader.terms.tolist()))
        if not exchanged or not 0.0 < difference < CLOSE_NOISE_MODEL:
            continue
        title = leader.noise_model.description
        differing = _listed([names[term] for term in exchanged])
        message = (
            f"as {title} other terms are almost as likely, they differ in {differing} (criterion {difference:.1f} more)"
        )
        values = {"noise_model": leader.noise_model.name, "difference": _rounded(difference)}
        warnings.append(SearchWarning("noise_models_disagree", message, values))
    return warnings


def _rounded(value: float) -> float:
    # Sums of NumPy depend on the processor, but not in this many digits.
    return significant(value, 4)


def winsorised(errors: PredictionErrors, fit: Fit) -> Floats:
    """Return the innovations that count, with Student-t tails cut at three robust standard deviations."""
    innovations = np.concatenate(errors.counted(errors.innovations(fit)))
    # Units change no digit: they are powers of two, but squares could overflow.
    innovations = np.ldexp(innovations, -int(np.frexp(np.abs(innovations).max(initial=0.0))[1]))
    if not fit.noise_model.distribution.is_gaussian:
        limit = 3.0 * float(np.median(np.abs(innovations))) / 0.6745
        innovations = np.clip(innovations, -limit, limit)
    return np.asarray(innovations - innovations.mean())


def ljung_box(series: Floats, lags: int, n_parameters: int) -> tuple[float, float]:
    """Return the statistic of Ljung and Box of a series about zero, and its probability by chance: of zeros, 0 and 1.

    G. M. Ljung and G. E. P. Box, Biometrika 65, 1978, pages 297-303.
    """
    # It takes a second to import.
    from scipy.special import chdtrc

    n, energy, total = len(series), float(series @ series), 0.0
    if energy == 0.0:
        return 0.0, 1.0
    lags = min(lags, n // 4)
    for lag in range(1, lags + 1):
        correlation = float(series[lag:] @ series[:-lag]) / energy
        total += correlation**2 / (n - lag)
    statistic = n * (n + 2) * total
    return statistic, float(chdtrc(max(1, lags - n_parameters), statistic))


def excess_kurtosis(series: Floats) -> float:
    """Return the excess kurtosis of a series about zero: 0 of a Gaussian, and of zeros."""
    squares = series**2
    if not squares.any():
        return 0.0
    return float(np.mean(squares**2) / np.mean(squares) ** 2 - 3.0)
