"""Fits of one structure: its weights, and the noise model that its own noise calls for.

Least squares would be biased by noise that is not white in the equation. So the structure is fitted under white noise
first. What that fit leaves says which filter of the noise promises the lowest criterion, and the fit under this filter
leaves new noise; this is repeated while

    -2 ln(likelihood) + p ln(N)

falls, p being the number of coefficients of the noise. Student-t innovations are tried where they gain more than they
cost. All structures that are estimated rather than searched for get their weights here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from narxbench.fitness.prediction_error import FilterChoice, Fit, PredictionErrors
from narxbench.model.noise_models import GAUSSIAN, Lags, NoiseModel, NoiseName, Place, noise_family
from narxbench.model.noise_models import noise_model as white_noise
from narxbench.numerics.logarithm import natural_log

# The largest order of an autoregression or a moving average of the noise.
LARGEST_ORDER = 8
# Filters that are fitted one after the other, each chosen from what the one before leaves.
MOST_FILTERS = 8
# A criterion that falls by less is as low: rounding differs between ways to the same model.
LEAST_GAIN = 1e-6


def noise_criterion(errors: PredictionErrors, fit: Fit) -> float:
    """Return the deviance of a fit and what the coefficients of its noise cost by BIC; +inf where it diverges."""
    return errors.deviance(fit) + noise_price(errors) * fit.noise_model.n_parameters


def noise_price(errors: PredictionErrors) -> float:
    """Return what each coefficient of the noise costs: that of BIC."""
    return float(natural_log(float(errors.samples)))


def fit_structure(
    errors: PredictionErrors,
    terms: Iterable[int],
    families: Sequence[NoiseName],
    *,
    largest_order: int = LARGEST_ORDER,
    tails: bool = True,
) -> Fit:
    """Fit a structure under each place of the noise that some families have; return the fit of lowest criterion.

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
    fits = [_fit_at(errors, chosen, _Filters(place, families, largest_order), tails) for place in places]
    return min(fits, key=lambda fit: noise_criterion(errors, fit))


def fit_noise_model(
    errors: PredictionErrors, terms: Iterable[int], noise_model: NoiseModel, near: Fit | None = None
) -> Fit:
    """Fit a structure under one noise model.

    Parameters
    ----------
    errors : PredictionErrors
        The data and the candidate terms.
    terms : iterable of int
        Numbers of the candidates that make up the structure.
    noise_model : NoiseModel
        Which coefficients of the noise are free.
    near : Fit, optional
        A fit of the same structure, perhaps to other samples of the same signals, whose weights to begin with; where
        they lead nowhere, the fit begins anew.
    """
    chosen = sorted(terms)
    if near is not None:
        noise_weights = near.autoregression, near.moving_average
        fit = errors.fit(noise_model, chosen, weights=near.weights, noise_weights=noise_weights)
        if fit.is_finite:
            return fit
    return _fit_anew(errors, chosen, noise_model)


def _fit_anew(errors: PredictionErrors, terms: list[int], noise_model: NoiseModel) -> Fit:
    """Fit a structure under one noise model, from the filter that the noise of white innovations calls for."""
    fit = errors.fit(white_noise(noise_model.place), terms)
    filters = [(noise_model.ar_lags, noise_model.ma_lags)]
    choices = [] if noise_model.is_integrated else errors.filters(fit, filters, 0.0)
    gaussian = replace(noise_model, distribution=GAUSSIAN)
    if choices:
        noise_weights = choices[0].autoregression, choices[0].moving_average
        fit = errors.fit(gaussian, terms, start=fit, weights=fit.weights, noise_weights=noise_weights)
    if not fit.is_finite or fit.noise_model != gaussian:
        fit = errors.fit(gaussian, terms)
    if gaussian != noise_model:
        fit = errors.fit(noise_model, terms, start=fit, weights=fit.weights)
    return fit


class _Filters:
    """The filters of the noise that some families have at one place."""

    def __init__(self, place: Place, families: Sequence[NoiseName], largest_order: int) -> None:
        self._families: dict[tuple[Lags, Lags], type[NoiseModel]] = {}
        for family in map(noise_family, families):
            if family.place == place:
                for lags in family.filters(largest_order):
                    self._families.setdefault(lags, family)

    @property
    def lags(self) -> list[tuple[Lags, Lags]]:
        """The lags of the autoregression and the moving average of each filter."""
        return list(self._families)

    @property
    def plainest(self) -> NoiseModel:
        """White noise if that is allowed, else the filter of lowest order."""
        lags = ((), ()) if ((), ()) in self._families else next(iter(self._families))
        return self._families[lags](*lags)

    def noise_model(self, choice: FilterChoice, before: NoiseModel) -> NoiseModel:
        """Return the noise model of a filter, otherwise as it was before."""
        lags = choice.ar_lags, choice.ma_lags
        return self._families[lags](*lags, before.is_integrated, before.distribution)


def _fit_at(errors: PredictionErrors, terms: list[int], filters: _Filters, tails: bool) -> Fit:
    """Fit a structure with the noise at one place."""
    fit = _adapt(errors, errors.fit(filters.plainest, terms), filters)
    if tails and fit.is_finite:
        fit = _with_tails(errors, fit, filters)
    return fit


def _adapt(errors: PredictionErrors, fit: Fit, filters: _Filters) -> Fit:
    """Return the best fit of the same structure, the filter of the noise being chosen anew from what it leaves."""
    best, value = fit, noise_criterion(errors, fit)
    for _ in range(MOST_FILTERS):
        choices = errors.filters(best, filters.lags, noise_price(errors))
        if not choices:
            return best
        choice = choices[0]
        noise_model = filters.noise_model(choice, best.noise_model)
        if noise_model == best.noise_model:
            return best
        noise_weights = choice.autoregression, choice.moving_average
        following = errors.fit(
            noise_model, best.terms.tolist(), start=best, weights=best.weights, noise_weights=noise_weights
        )
        criterion = noise_criterion(errors, following)
        if not criterion < value - LEAST_GAIN:
            return best
        best, value = following, criterion
    return best


def _with_tails(errors: PredictionErrors, fit: Fit, filters: _Filters) -> Fit:
    """Return the fit under Student-t innovations where these gain more than they cost."""
    distribution, gain = errors.tails(fit)
    if gain <= noise_price(errors):
        return fit
    heavy = replace(fit.noise_model, distribution=distribution)
    following = errors.fit(heavy, fit.terms.tolist(), start=fit, weights=fit.weights)
    following = _adapt(errors, following, filters)
    return following if noise_criterion(errors, following) < noise_criterion(errors, fit) else fit
