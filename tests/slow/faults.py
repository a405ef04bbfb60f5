"""Checks of the search by likelihood that take seconds without compiled code; `test_faults.py` runs them on faults.

The kernel runs as plain Python: its vectors are NumPy arrays here.
"""

import math
import os
from itertools import combinations
from types import SimpleNamespace

os.environ["NUMBA_DISABLE_JIT"] = "1"

import numpy as np

from narxbench._fitness.kernel import simd


def _store(array, offset, value):
    array[offset : offset + len(value)] = value


simd.aligned = np.empty
simd.at = lambda array, offset: array[offset]
simd.load = lambda array, offset, lanes: array[offset : offset + lanes].copy()
simd.fill = lambda number, lanes: np.full(lanes, number)
simd.store = _store

from narxbench._algorithms.certainty import GAMMA, Window, certainty  # noqa: E402
from narxbench._algorithms.doubts import ljung_box  # noqa: E402
from narxbench._algorithms.likelihood_search import LikelihoodSearch, criterion_of, term_penalties  # noqa: E402
from narxbench._algorithms.pem import Settings  # noqa: E402
from narxbench._fitness.prediction_error import PredictionErrors  # noqa: E402
from narxbench._model.noise_models import (  # noqa: E402
    Ararmax,
    Ararx,
    BoxJenkins,
    Distribution,
    Narmax,
    Narx,
    Noe,
)

MONOMIALS = [((0, 1),), ((1, 1),), ((0, 1), (1, 1)), ((1, 2),)]
TRUE = {0: 0.5, 1: 0.4, 2: 0.2}
MODELS = [
    Narx(),
    Narmax(ma_lags=(1, 2)),
    Ararmax((1,), (1,)),
    Noe(),
    BoxJenkins((1,), (1,)),
    BoxJenkins((1,), (), is_integrated=True),
    Narx(distribution=Distribution(3.0)),
    BoxJenkins((1,), distribution=Distribution(4.0)),
]


def training(lengths=(60, 50), deviation=0.2, ar=-0.6, seed=1):
    """Return data of two records with coloured noise on the output."""
    rng = np.random.default_rng(seed)
    samples = sum(lengths)
    u, x, w = rng.uniform(-1.0, 1.0, samples), np.zeros(samples), np.zeros(samples)
    for k in range(1, samples):
        x[k] = 0.5 * x[k - 1] + 0.4 * u[k - 1] + 0.2 * x[k - 1] * u[k - 1]
        w[k] = -ar * w[k - 1] + deviation * rng.normal()
    ends = np.cumsum(lengths)
    stretches = np.array([[end - length + 2, end] for end, length in zip(ends, lengths, strict=True)])
    y = 3.0 * (x + w)
    return SimpleNamespace(training_u=u, training_y=y, stretches=stretches, monomials=MONOMIALS)


def plain_innovations(problem, noise_model, weights, filters, initial):
    """Return the innovations by plain Python; ``weights`` by the number of the term, in units of the data."""
    innovations, y, u = [], problem.training_y.tolist(), problem.training_u.tolist()
    for stretch, (begin, end) in enumerate(problem.stretches.tolist()):
        past, errors = list(y), []
        for before, value in enumerate(initial[stretch], 1):
            past[begin - before] = float(value)
        for k in range(begin, end):
            predicted = 0.0
            for term, weight in weights.items():
                predicted += weight * math.prod((past, u)[signal][k - lag] for signal, lag in MONOMIALS[term])
            errors.append(y[k] - predicted)
            if noise_model.place == "output":
                past[k] = predicted
        innovations += noise_model.innovations(errors, *filters)
    return np.array(innovations)


def check_fit(problem, noise_model):
    """Compare a fit with plain Python and its sensitivities with differences, and check that it is at a minimum."""
    errors = PredictionErrors(problem)
    fit = errors.fit(noise_model, TRUE)
    assert fit.is_finite
    unit = 2.0 ** math.frexp(np.abs(problem.training_y).max())[1]
    # Inputs have the unit 1 here.
    assert 0.5 <= np.abs(problem.training_u).max() < 1.0
    coefficients = dict(zip(TRUE, errors.coefficients(fit).tolist(), strict=True))
    filters = fit.autoregression.tolist(), fit.moving_average.tolist()
    initial = fit.initial * unit
    expected = plain_innovations(problem, noise_model, coefficients, filters, initial)
    assert np.allclose(errors.innovations(fit), expected, rtol=1e-8, atol=1e-8)

    counted = counted_rows(problem.stretches.tolist())
    assert errors.samples == len(counted)

    measured = np.array([problem.training_y[begin - 1 : begin] for begin, _ in problem.stretches])
    start = fit.start_share * float(np.sum((initial - measured) ** 2))
    is_gaussian = noise_model.distribution.is_gaussian
    variance = (float(np.sum(expected[counted] ** 2)) + start) / len(counted) if is_gaussian else fit.scale * unit**2
    density = noise_model.distribution.log_likelihood(expected[counted].tolist(), math.sqrt(variance))
    assert math.isclose(errors.log_likelihood(fit), density - 0.5 * start / variance, rel_tol=1e-8)

    sensitivities = errors.sensitivities(fit)
    check_sensitivities(problem, fit, coefficients, initial, sensitivities, unit)
    check_minimum(errors, fit, sensitivities[counted], expected[counted] / unit, variance / unit**2)


def counted_rows(stretches):
    """Return the rows that count: the transient at the beginning of each stretch is left out."""
    counted, row = [], 0
    for begin, end in stretches:
        length = end - begin
        transient = min(30, int(0.05 * length))
        counted += range(row + transient, row + length)
        row += length
    return counted


def check_sensitivities(problem, fit, coefficients, initial, sensitivities, unit):
    noise_model, step = fit.noise_model, 1e-5
    lags = [*noise_model.ar_lags, *noise_model.ma_lags]
    for place in range(len(MONOMIALS) + len(lags)):
        sides = []
        for sign in (1.0, -1.0):
            weights = dict(coefficients)
            filters = [fit.autoregression.tolist(), fit.moving_average.tolist()]
            if place < len(MONOMIALS):
                weights[place] = weights.get(place, 0.0) + sign * step
            else:
                number = place - len(MONOMIALS)
                filters[number >= len(noise_model.ar_lags)][lags[number] - 1] += sign * step
            sides.append(plain_innovations(problem, noise_model, weights, filters, initial))
        slopes = (sides[1] - sides[0]) / (2.0 * step)
        # For scaled signals: that of a candidate is for its scaled weight.
        outputs = sum(signal == 0 for signal, _ in MONOMIALS[place]) if place < len(MONOMIALS) else 1
        assert np.allclose(sensitivities[:, place], slopes / unit**outputs, rtol=1e-5, atol=1e-7), place


def check_minimum(errors, fit, sensitivities, innovations, variance):
    columns = [*fit.terms.tolist(), *range(len(MONOMIALS), sensitivities.shape[1])]
    row_weights = np.ones(len(innovations))
    if not fit.noise_model.distribution.is_gaussian:
        nu = fit.noise_model.distribution.degrees_of_freedom
        row_weights = (nu + 1.0) / (nu + innovations**2 / variance)
        # The best scale: the weighed squares have the mean of the squared scale.
        assert math.isclose(float(np.mean(row_weights * innovations**2)), variance, rel_tol=1e-6)
    slopes = sensitivities[:, columns].T @ (row_weights * innovations)
    sizes = np.sqrt(np.sum(sensitivities[:, columns] ** 2, 0) * float(innovations @ innovations))
    assert np.abs(slopes / sizes).max() < 1e-4


def check_filters():
    problem = training((300, 200), deviation=0.4, ar=-0.7)
    errors = PredictionErrors(problem)
    fit = errors.fit(Noe(), TRUE)
    best = errors.filters(fit, [((), ()), ((1,), ()), ((2,), ()), ((), (1,))], math.log(errors.samples))[0]
    assert (best.ar_lags, best.ma_lags) == ((1,), ())
    assert abs(best.autoregression[0] + 0.7) < 0.12


def check_prices(problem):
    errors = PredictionErrors(problem)
    samples = errors.samples
    for gamma in (0.5, 1.25):
        penalties = term_penalties(errors, gamma)
        expected = np.arange(5) * (math.log(samples) + 2.0 * gamma * math.log(4))
        assert np.allclose(penalties, expected)
    for noise_model, parameters in ((Ararx((1, 2)), 2), (BoxJenkins((1,), is_integrated=True), 2), (Narx(), 0)):
        fit = errors.fit(noise_model, [0, 1])
        deviance = -2.0 * errors.log_likelihood(fit) - samples * (math.log(2.0 * math.pi) + 1.0)
        price = penalties[2] + parameters * math.log(samples)
        assert math.isclose(criterion_of(errors, fit, penalties), deviance + price, rel_tol=1e-9)
    assert [*Narmax.filters(2)] == [((), (1,)), ((), (1, 2))]
    assert [*Ararx.filters(2)] == [((1,), ()), ((1, 2), ())]
    assert [errors.advanced(term) for term in range(4)] == [[], [], [], [1]]


SETTINGS = Settings(noise_models=["narx"], drift=False, tails=False)


def check_costs(problem):
    """Compare the predicted costs of flipping each term with those of the fits."""
    search = LikelihoodSearch(PredictionErrors(problem), SETTINGS)
    structure = np.array([1, 1, 0, 0], np.uint8)
    value = search.fit(Narx(), structure)
    linear = search.errors.linearised(search.fits[Narx(), structure.tobytes()])
    _, flips, _ = search.costs(linear, structure)
    for term in range(4):
        changed = structure.copy()
        changed[term] ^= 1
        assert abs(search.fit(Narx(), changed) - value - flips[term]) < 1e-5


def check_search(problem):
    """Compare the best structure and the probabilities of terms with the fits of all structures."""
    errors = PredictionErrors(problem)
    search = LikelihoodSearch(errors, SETTINGS)
    search.run()
    criteria = extended_criteria(errors, gamma=1.25)
    assert tuple(search.best().terms.tolist()) == min(criteria, key=criteria.get)
    criteria = extended_criteria(errors, gamma=GAMMA)
    least = min(criteria.values())
    weights = {terms: math.exp(-0.5 * (criterion - least)) for terms, criterion in criteria.items()}
    total = math.fsum(weights.values())
    assert max(weights.values()) / total < 0.95
    probabilities = [math.fsum(weights[terms] for terms in weights if term in terms) / total for term in range(4)]
    computed = certainty(Window(search)).terms
    assert np.allclose(computed, probabilities, atol=0.005), (computed, probabilities)


def extended_criteria(errors, gamma):
    """Return the linearly extended BIC of every structure, by its terms."""
    price = math.log(errors.samples) + 2.0 * gamma * math.log(4)
    criteria = {}
    for size in range(1, 5):
        for terms in combinations(range(4), size):
            criteria[terms] = errors.deviance(errors.fit(Narx(), terms)) + size * price
    return criteria


def check_ljung_box():
    series = np.random.default_rng(1).normal(size=60)
    correlations = [float(series[lag:] @ series[:-lag]) / float(series @ series) for lag in range(1, 11)]
    expected = 60 * 62 * sum(r * r / (60 - lag) for lag, r in enumerate(correlations, 1))
    assert math.isclose(ljung_box(series, 10, 0)[0], expected)


def main():
    problem = training()
    for noise_model in MODELS:
        check_fit(problem, noise_model)
    check_filters()
    check_prices(problem)
    noisy_problem = training(deviation=0.5, ar=0.0, seed=4)
    check_costs(noisy_problem)
    check_search(noisy_problem)
    check_ljung_box()


if __name__ == "__main__":
    main()
