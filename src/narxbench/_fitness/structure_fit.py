"""Fits of one structure: its weights, and the noise model that its own noise calls for.

Least squares would be biased by noise that is not white in the equation. So the structure is fitted under white noise
first. Its residuals show which filter of the noise promises the lowest criterion, and the fit under this filter has
other residuals. This is repeated while

    -2 ln(likelihood) + p ln(N)

falls, p being the number of coefficients of the noise. Student-t innovations are tried where they gain more than they
cost. All structures that are estimated rather than searched for get their weights here.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from narxbench._fitness.prediction_error import FilterChoice, Fit, PredictionErrors
from narxbench._model.noise_models import (
    GAUSSIAN,
    Distribution,
    Lags,
    NoiseFamily,
    NoiseModel,
    NoiseName,
    Place,
    noise_family,
)
from narxbench._numerics.logarithm import natural_log

# The largest order of a filter of the noise, with which ``benchmarks/recovery.md`` is measured.
LARGEST_ORDER = 8
# A criterion that falls by less is as low: rounding differs between ways to the same model.
LEAST_GAIN = 1e-6


def noise_criterion(errors: PredictionErrors, fit: Fit) -> float:
    """Return the deviance of a fit and what the coefficients of its noise cost by BIC, or +inf where it diverges."""
    return errors.deviance(fit) + noise_price(errors) * fit.noise_model.n_parameters


def noise_price(errors: PredictionErrors) -> float:
    """Return what each coefficient of the noise costs by BIC."""
    return float(natural_log(float(errors.samples)))


def fit_structure(
    errors: PredictionErrors,
    terms: Iterable[int],
    families: Sequence[NoiseName],
    *,
    largest_order: int = LARGEST_ORDER,
    tails: bool = True,
) -> Fit:
    """Fit a structure under each place of the noise that some families have, and return the fit of lowest criterion.

    Parameters
    ----------
    errors : PredictionErrors
        The data and the candidate terms.
    terms : iterable of int
        Numbers of the candidates that make up the structure.
    families : sequence of str
        Names of the noise models that are allowed.
    largest_order : int
        Of an autoregression or a moving average of the noise.
    tails : bool
        Whether the innovations may be Student-t.
    """
    chosen = sorted(terms)
    places = dict.fromkeys(noise_family(name).place for name in families)
    filters = NoiseFilters(families, largest_order)
    fits = [_fit_at(errors, chosen, place, filters, tails) for place in places]
    return min(fits, key=lambda fit: noise_criterion(errors, fit))


def fit_noise_model(
    errors: PredictionErrors, terms: Iterable[int], noise_model: NoiseModel, near: Fit | None = None
) -> Fit:
    """Fit a structure under one noise model; without a fit to begin near, Gaussian innovations come before tails.

    Parameters
    ----------
    errors : PredictionErrors
        The data and the candidate terms.
    terms : iterable of int
        Numbers of the candidates that make up the structure.
    noise_model : NoiseModel
        Which coefficients of the noise are free.
    near : Fit, optional
        A fit of the same structure, perhaps to other samples of the same signals, whose weights to begin with. Where
        that fails, the fit begins anew.
    """
    chosen = sorted(terms)
    if near is not None:
        noise_weights = near.autoregression, near.moving_average
        fit = errors.fit(noise_model, chosen, weights=near.weights, noise_weights=noise_weights)
        if fit.is_finite:
            return fit
    gaussian = replace(noise_model, distribution=GAUSSIAN)
    fit = errors.fit(gaussian, chosen)
    if gaussian != noise_model:
        fit = errors.fit(noise_model, chosen, start=fit, weights=fit.weights)
    return fit


class NoiseFilters:
    """The filters of the noise that some families have, by place.

    Parameters
    ----------
    families : sequence of str
        Names of the noise models that are allowed.
    largest_order : int
        Of an autoregression or a moving average.
    """

    def __init__(self, families: Sequence[NoiseName], largest_order: int) -> None:
        self._families: dict[Place, dict[tuple[Lags, Lags], NoiseFamily]] = {}
        for family in map(noise_family, families):
            for lags in family.filters(largest_order):
                self._families.setdefault(family.place, {}).setdefault(lags, family)

    @property
    def places(self) -> list[Place]:
        """The places where the noise may enter."""
        return list(self._families)

    def lags(self, place: Place, largest_lag: float = math.inf) -> list[tuple[Lags, Lags]]:
        """Return the lags of the autoregression and the moving average of each filter, up to a lag."""
        return [pair for pair in self._families[place] if max((*pair[0], *pair[1]), default=0) <= largest_lag]

    def noise_model(
        self,
        place: Place,
        ar_lags: Lags = (),
        ma_lags: Lags = (),
        *,
        is_integrated: bool = False,
        distribution: Distribution = GAUSSIAN,
    ) -> NoiseModel:
        """Return the noise model at a place with a filter, or the one of lowest order if no family has this filter."""
        families = self._families[place]
        lags = ar_lags, ma_lags
        if lags not in families:
            lags = min(families, key=lambda pair: len(pair[0]) + len(pair[1]))
        family = families[lags]
        if is_integrated and not any(lags):
            # An integration is a filter: the noise is no longer white.
            family = next((coloured for pair, coloured in families.items() if any(pair)), family)
        return family(*lags, is_integrated, distribution)

    def like(self, choice: FilterChoice, before: NoiseModel) -> NoiseModel:
        """Return the noise model of a filter that was chosen, otherwise as it was before."""
        return self.noise_model(
            before.place,
            choice.ar_lags,
            choice.ma_lags,
            is_integrated=before.is_integrated,
            distribution=before.distribution,
        )


# Fits the structure of a fit under another noise model, from coefficients of its filter to begin with.
FitFilter = Callable[[Fit, NoiseModel, FilterChoice], Fit]


def adapt_filter(
    errors: PredictionErrors, fit: Fit, filters: NoiseFilters, fit_filter: FitFilter, largest_lag: float = math.inf
) -> Fit:
    """Return the best fit of the same structure, the filter of the noise being chosen anew from its residuals.

    Parameters
    ----------
    errors : PredictionErrors
        The data and the candidate terms.
    fit : Fit
        Where to begin.
    filters : NoiseFilters
        The filters that are allowed.
    fit_filter : callable
        Fits the structure under another noise model.
    largest_lag : float
        Of the filters that are tried.
    """
    best, value = fit, noise_criterion(errors, fit)
    while True:
        choices = errors.filters(best, filters.lags(fit.noise_model.place, largest_lag), noise_price(errors))
        if not choices:
            return best
        noise_model = filters.like(choices[0], best.noise_model)
        if noise_model == best.noise_model:
            return best
        following = fit_filter(best, noise_model, choices[0])
        criterion = noise_criterion(errors, following)
        if not criterion < value - LEAST_GAIN:
            return best
        best, value = following, criterion


def _fit_at(errors: PredictionErrors, terms: list[int], place: Place, filters: NoiseFilters, tails: bool) -> Fit:
    """Fit a structure with the noise at one place."""

    def fit_filter(fit: Fit, noise_model: NoiseModel, choice: FilterChoice) -> Fit:
        noise_weights = choice.autoregression, choice.moving_average
        return errors.fit(noise_model, terms, start=fit, weights=fit.weights, noise_weights=noise_weights)

    fit = adapt_filter(errors, errors.fit(filters.noise_model(place), terms), filters, fit_filter)
    if not tails or not fit.is_finite:
        return fit
    distribution, gain = errors.tails(fit)
    if gain <= noise_price(errors):
        return fit
    heavy_tailed = replace(fit.noise_model, distribution=distribution)
    following = errors.fit(heavy_tailed, terms, start=fit, weights=fit.weights)
    following = adapt_filter(errors, following, filters, fit_filter)
    return following if noise_criterion(errors, following) < noise_criterion(errors, fit) else fit
