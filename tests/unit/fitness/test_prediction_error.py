"""Fits of prediction errors against plain loops, NumPy, SciPy, statsmodels, and what theory says."""

import itertools
import math
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize
from scipy.signal import lfilter
from statsmodels.regression.linear_model import OLS
from statsmodels.tsa.arima.model import ARIMA
from statsmodels.tsa.statespace.sarimax import SARIMAX
from tests.lookups import values_of
from tests.regression import numbers_of, regressors, rows_with_lags
from tests.tiers import mostly_slow
from tests.unit.algorithms.likelihood import data_of, problem_of

from narxbench import StructureProblem, load_system
from narxbench._fitness.kernel import prediction_error as kernel
from narxbench._fitness.prediction_error import Fit, PredictionErrors
from narxbench._model.noise_models import (
    Ararmax,
    Ararx,
    BoxJenkins,
    Distribution,
    Narmax,
    Narx,
    Noe,
)
from narxbench._model.terms import monomials_of

# A structure with everything that a free run feeds back: powers, products of two lags, and products with the input.
TERMS = ["1", "y(k-1)", "u(k-2)", "y(k-1)*y(k-3)", "y(k-2)*u(k-1)", "y(k-1)^2*y(k-2)"]
WEIGHTS = [0.02, 0.4, 0.3, -0.1, 0.2, 0.15]
HEAVY = Distribution(3.0)
# Noise models of every family with values of their coefficients: d_1, d_2, ... and c_1, c_2, ....
MODELS = {
    "narx": (Narx(), [], []),
    "narmax": (Narmax(ma_lags=(1,)), [], [0.6]),
    "narmax of lag 3": (Narmax(ma_lags=(1, 3)), [], [-0.6, 0.0, 0.2]),
    "ararx": (Ararx((1, 2)), [-0.8, 0.2], []),
    "ararmax": (Ararmax((1,), (1, 2)), [-0.5], [0.3, -0.1]),
    "noe": (Noe(), [], []),
    "box-jenkins": (BoxJenkins((1, 2), (1,)), [-0.7, 0.1], [0.4]),
    "box-jenkins of lag 4": (BoxJenkins((4,)), [0.0, 0.0, 0.0, 0.5], []),
    "drift in the equation": (Narx(is_integrated=True), [], []),
    "drift with a moving average": (Narmax(ma_lags=(1,), is_integrated=True), [], [-0.8]),
    "drift of the output": (BoxJenkins(is_integrated=True), [], []),
    "drift of the output, filtered": (BoxJenkins((1,), (1,), is_integrated=True), [-0.4], [-0.6]),
    "narx with tails": (Narx(distribution=HEAVY), [], []),
    "ararmax with tails": (Ararmax((1,), (1,), distribution=Distribution(10.0)), [0.4], [-0.3]),
    "noe with tails": (Noe(distribution=Distribution(2.0)), [], []),
    "box-jenkins with tails": (BoxJenkins((1,), distribution=HEAVY), [-0.5], []),
    "drift with tails": (BoxJenkins((), (1,), is_integrated=True, distribution=HEAVY), [], [-0.7]),
}
GAUSSIAN_MODELS = [name for name, (noise_model, *_) in MODELS.items() if noise_model.distribution.is_gaussian]
# One of each family, as a search begins with it.
PLAIN_MODELS = {
    "narx": Narx(),
    "narmax": Narmax(ma_lags=(1,)),
    "ararx": Ararx((1,)),
    "ararmax": Ararmax((1,), (1,)),
    "noe": Noe(),
    "box-jenkins": BoxJenkins((1,)),
}


def plain_innovations(problem, noise_model, terms, coefficients, filters, initial=None):
    """Return the innovations of all stretches, sample by sample in plain floats.

    ``filters`` are d_1, d_2, ... and c_1, c_2, .... ``initial`` has the outputs before each stretch, the last one
    first, where they are not as measured.
    """
    y, innovations = problem.training_y.tolist(), []
    inputs = problem.training_u.reshape(len(y), -1).T.tolist()
    monomials = [problem.monomials[term] for term in terms]
    if initial is None:
        initial = measured_initial(problem)
    for (begin, end), initial_outputs in zip(problem.stretches.tolist(), initial.tolist(), strict=True):
        errors, past = [], list(y)
        for lag, value in enumerate(initial_outputs, 1):
            past[begin - lag] = value
        for k in range(begin, end):
            predicted = plain_prediction([past, *inputs], monomials, coefficients, k)
            errors.append(y[k] - predicted)
            if noise_model.place == "output":
                past[k] = predicted
        innovations += noise_model.innovations(errors, *filters)
    return np.array(innovations)


def plain_prediction(signals, monomials, coefficients, k):
    """Return the sum of all terms at sample k in plain floats; the first signal is the output."""
    total = 0.0
    for monomial, coefficient in zip(monomials, coefficients, strict=True):
        value = float(coefficient)
        for signal, lag in monomial:
            value *= signals[signal][k - lag]
        total += value
    return total


def measured_initial(problem):
    """Return the outputs before each stretch as they were measured, the last one first."""
    lags = np.arange(1, problem.n_y + 1)
    return problem.training_y[problem.stretches[:, :1] - lags]


def initial_of(problem, fit):
    """Return the outputs before each stretch where a fit begins, in units of the data."""
    return fit.initial * unit_of(problem)


def unit_of(problem):
    """Return the power of two that the output is divided by."""
    return 2.0 ** math.frexp(np.abs(problem.training_y).max())[1]


def model(problem, noise_model, terms, weights, filters=((), ())):
    """Return a model of these weights, for signals scaled as the fits have them."""
    initial = measured_initial(problem) / unit_of(problem)
    values = [np.array(coefficients, float) for coefficients in filters]
    return Fit(noise_model, np.array(terms), np.array(weights), *values, 0.0, initial)


def counted_rows(problem):
    """Return the rows of all stretches whose errors count."""
    counted = []
    for begin, end in problem.stretches.tolist():
        skipped = min(30, int(0.05 * (end - begin)))
        counted += [row >= skipped for row in range(end - begin)]
    return np.flatnonzero(counted)


def plain_problem(samples=150, scale_u=1.0, scale_y=1.0, seed=1):
    """56 candidates; u and y have a maximum of 0.75 times their scale."""
    u, y = load_system("S1").simulate(samples, snr_db=20, seed=seed)
    u, y = scale_u * (0.75 * u / np.abs(u).max()), scale_y * (0.75 * y / np.abs(y).max())
    return StructureProblem(u, y, n_u=2, n_y=3, degree=3, n_validation=50)


def linear_data(samples, seed, a=0.7, b=0.5, deviation=0.3):
    """Return u, y of y(k) = a x(k-1) + b u(k-1) + e(k), x being the output without the noise."""
    rng = np.random.default_rng(seed)
    u, x = rng.normal(size=samples), np.zeros(samples)
    for k in range(1, samples):
        x[k] = a * x[k - 1] + b * u[k - 1]
    return u, x + deviation * rng.normal(size=samples)


def linear_problem(*args, **options):
    return StructureProblem(*linear_data(*args, **options), n_u=1, n_y=1, degree=1, n_validation=50)


def record_data(lengths=(80, 60), seed=3):
    """Return two inputs and the output of records that stand one behind the other."""
    rng = np.random.default_rng(seed)
    u, outputs = rng.uniform(-1.0, 1.0, (sum(lengths), 2)), []
    for start, length in zip(np.cumsum([0, *lengths]), lengths, strict=False):
        y = rng.normal(size=length)
        for k in range(2, length):
            y[k] = 0.5 * y[k - 1] + 0.4 * u[start + k, 0] - 0.3 * u[start + k - 1, 1] * y[k - 2]
            y[k] += 0.1 * rng.normal()
        outputs.append(y)
    return u, np.concatenate(outputs)


RECORD_TERMS = ["y(k-1)", "u1(k)", "y(k-2)*u2(k-1)"]


def record_problem(lengths=(80, 60), largest=None):
    """15 candidates, over records that stand one behind the other."""
    u, y = record_data(lengths)
    if largest is not None:
        y = largest * y / np.abs(y).max()
    rows = rows_with_lags(lengths, 2)
    monomials = monomials_of([(0, 1), (0, 2), (1, 0), (2, 1)], 2)
    return StructureProblem.of_records(u, y, monomials, rows=rows, segments=[range(2, 12)])


def filters_of(fit):
    return fit.autoregression.tolist(), fit.moving_average.tolist()


def innovations_of_fit(problem, errors, fit):
    """Return the innovations of a fit in plain floats."""
    coefficients, initial = errors.coefficients(fit), initial_of(problem, fit)
    return plain_innovations(problem, fit.noise_model, fit.terms, coefficients, filters_of(fit), initial)


def start_penalty(problem, fit):
    """Return the squared distance of the outputs where a fit begins from the measured ones, as it counts."""
    distance = initial_of(problem, fit) - measured_initial(problem)
    return fit.start_share * float(np.sum(distance**2))


# The problem, the terms that are fitted, and the number of samples that count.
FITTED = {
    "one record": (partial(plain_problem, scale_u=130.0, scale_y=0.37), TERMS, 147 - 7),
    "two records": (record_problem, RECORD_TERMS, 78 - 3 + 58 - 2),
}
every_fit = pytest.mark.parametrize(
    ("name", "data"), [pytest.param(*case, id="-".join(case)) for case in itertools.product(MODELS, FITTED)]
)


@cache
def fitted(name, data):
    """Return the problem, its prediction errors and a fit."""
    make_problem, names, _ = FITTED[data]
    problem = make_problem()
    errors = PredictionErrors(problem)
    return problem, errors, errors.fit(MODELS[name][0], numbers_of(problem, names)[::-1])


@every_fit
def test_innovations_are_those_of_plain_python(name, data):
    """Each record is predicted on its own."""
    problem, errors, fit = fitted(name, data)
    _, autoregression, moving_average = MODELS[name]
    _, names, samples = FITTED[data]
    assert fit.terms.tolist() == sorted(numbers_of(problem, names)) and fit.is_finite
    assert (len(fit.autoregression), len(fit.moving_average)) == (len(autoregression), len(moving_average))
    expected = innovations_of_fit(problem, errors, fit)
    np.testing.assert_allclose(errors.innovations(fit), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    counted = expected[counted_rows(problem)]
    assert errors.samples == len(counted) == samples
    np.testing.assert_allclose(np.concatenate(errors.counted(errors.innovations(fit))), counted, rtol=1e-6, atol=1e-9)


@every_fit
def test_outputs_before_a_record_are_estimated_where_the_noise_is_on_the_output(name, data):
    problem, _, fit = fitted(name, data)
    is_on_the_output = fit.noise_model.place == "output"
    assert (initial_of(problem, fit) != measured_initial(problem)).any() == is_on_the_output
    if is_on_the_output and not fit.noise_model.is_white:
        assert 2.0**-10 <= fit.start_share <= 1.0
    else:
        assert fit.start_share == 1.0


@every_fit
def test_the_likelihood_is_that_of_plain_python(name, data):
    problem, errors, fit = fitted(name, data)
    counted = innovations_of_fit(problem, errors, fit)[counted_rows(problem)]
    samples, start = len(counted), start_penalty(problem, fit)
    distribution, variance = fit.noise_model.distribution, fit.scale * unit_of(problem) ** 2
    if distribution.is_gaussian:
        variance = (float(np.sum(counted**2)) + start) / samples
        assert fit.objective * unit_of(problem) ** 2 == pytest.approx(samples * variance, rel=1e-9)
    density = distribution.log_likelihood(counted.tolist(), math.sqrt(variance)) - 0.5 * start / variance
    assert errors.log_likelihood(fit) == pytest.approx(density, rel=1e-9)
    assert errors.deviance(fit) == pytest.approx(-2.0 * density - samples * (math.log(2.0 * math.pi) + 1.0), rel=1e-8)


@pytest.mark.parametrize("name", ["narx", "narmax", "ararx", "narx with tails"])
def test_weights_of_records_are_the_true_ones(name):
    problem, errors, fit = fitted(name, "two records")
    assert problem.stretches.tolist() == [[2, 80], [82, 140]]
    weights = np.zeros(len(problem.terms))
    weights[fit.terms] = errors.coefficients(fit)
    np.testing.assert_allclose(weights[numbers_of(problem, RECORD_TERMS)], [0.5, 0.4, -0.3], atol=0.08)


@pytest.mark.parametrize("name", ["narx with tails", "noe with tails", "box-jenkins with tails", "drift with tails"])
def test_no_other_scale_of_student_t_is_more_likely(name):
    problem = plain_problem()
    errors, noise_model = PredictionErrors(problem), MODELS[name][0]
    fit = errors.fit(noise_model, numbers_of(problem, TERMS))
    counted = errors.innovations(fit)[counted_rows(problem)].tolist()
    scale = math.sqrt(fit.scale) * unit_of(problem)
    best = noise_model.distribution.log_likelihood(counted, scale)
    for factor in (0.9, 0.999, 1.001, 1.1):
        assert noise_model.distribution.log_likelihood(counted, factor * scale) < best


def innovations_after(change, place, problem, noise_model, weights, filters):
    """Return the innovations of a model after a change of a weight, or of a free coefficient of the noise."""
    weights, autoregression, moving_average = weights.copy(), [*filters[0]], [*filters[1]]
    n_terms, n_ar = len(weights), len(noise_model.ar_lags)
    if place < n_terms:
        weights[place] += change
    elif place < n_terms + n_ar:
        autoregression[noise_model.ar_lags[place - n_terms] - 1] += change
    else:
        moving_average[noise_model.ma_lags[place - n_terms - n_ar] - 1] += change
    present = np.flatnonzero(weights)
    return plain_innovations(problem, noise_model, present, weights[present], (autoregression, moving_average))


@pytest.mark.parametrize(
    ("make_problem", "names", "values"),
    [
        pytest.param(partial(plain_problem, 60), TERMS, WEIGHTS, id="one record"),
        pytest.param(partial(record_problem, (50, 45), 0.75), RECORD_TERMS, [0.4, 0.3, -0.2], id="two records"),
    ],
)
@pytest.mark.parametrize("name", GAUSSIAN_MODELS)
def test_sensitivities_are_differences_of_plain_innovations(name, make_problem, names, values):
    noise_model, *filters = MODELS[name]
    problem = make_problem()
    errors, terms, n_terms = PredictionErrors(problem), numbers_of(problem, names), len(problem.terms)
    fit = model(problem, noise_model, terms, values, filters)
    assert errors.coefficients(fit).tolist() == values
    weights = np.zeros(n_terms)
    weights[terms] = values
    sensitivities, step = errors.sensitivities(fit), 1e-5
    assert sensitivities.shape[1] == n_terms + len(noise_model.ar_lags) + len(noise_model.ma_lags)
    for place, sensitivity in enumerate(sensitivities.T):
        below = innovations_after(-step, place, problem, noise_model, weights, filters)
        above = innovations_after(step, place, problem, noise_model, weights, filters)
        np.testing.assert_allclose(sensitivity, (below - above) / (2.0 * step), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["narmax", "noe", "box-jenkins", "drift of the output", "noe with tails"])
def test_normal_equations_are_the_products_of_all_columns(name):
    noise_model, *filters = MODELS[name]
    # So many columns of outputs before stretches that they fill a band.
    problem = record_problem((20, 25) * 9)
    errors, terms = PredictionErrors(problem), numbers_of(problem, RECORD_TERMS)
    fit = model(problem, noise_model, terms, [0.4, 0.3, -0.2], filters)
    data, noise, state = errors._data, errors._noise(fit), errors._state(fit)
    assert kernel.objective(data, noise, fit.terms, state) < math.inf
    depth = data.depth if noise.on_output else 0
    free = len(terms) + len(noise.ar_lags) + len(noise.ma_lags)
    columns, rows = free + len(data.begin) * depth + 1, len(state.innovations)
    assert columns - free - 1 == (36 if noise_model.place == "output" else 0)
    bands = kernel.aligned(kernel.columns_size(rows, columns))
    kernel.linearise(data, noise, fit.terms, state, fit.terms, depth, bands)
    every, lower = np.empty((columns, columns)), np.zeros((columns, columns))
    kernel.products(data, rows, bands, np.arange(columns), every)
    kernel.normal_equations(data, rows, bands, free, lower)
    np.testing.assert_array_equal(lower, np.tril(every))


@pytest.mark.parametrize("name", MODELS)
def test_the_linearised_choice_of_terms_is_least_squares_of_the_sensitivities(name):
    noise_model, *filters = MODELS[name]
    problem = plain_problem()
    errors, terms = PredictionErrors(problem), numbers_of(problem, TERMS)
    fit = model(problem, noise_model, terms, WEIGHTS, filters)
    linear, counted = errors.linearised(fit), counted_rows(problem)
    columns, innovations = errors.sensitivities(fit)[counted], errors.innovations(fit)[counted]
    n_noise = columns.shape[1] - 56
    if not noise_model.distribution.is_gaussian:
        squares = innovations**2
        nu, scale = noise_model.distribution.degrees_of_freedom, 1.0
        for _ in range(500):
            scale = float(np.mean(squares * (nu + 1.0) / (nu + squares / scale)))
        roots = np.sqrt((nu + 1.0) / (nu + squares / scale))
        columns, innovations = roots[:, None] * columns, roots * innovations
    explained = innovations + columns[:, terms] @ WEIGHTS
    assert linear.finite and n_noise == len(noise_model.ar_lags) + len(noise_model.ma_lags)
    np.testing.assert_allclose(np.diag(linear.gram), np.sum(columns**2, 0), rtol=1e-7)
    np.testing.assert_allclose(linear.moments, columns.T @ explained, rtol=1e-7, atol=1e-8)
    assert linear.energy == pytest.approx(explained @ explained, rel=1e-7)
    candidates = [2, 7, 31, 55]
    linear.enter([*candidates, *candidates[:2], terms[1]])
    entered = [*terms, *candidates, *range(56, 56 + n_noise)]
    np.testing.assert_allclose(linear.gram[entered], (columns.T @ columns)[entered], rtol=1e-7, atol=1e-8)
    weights = np.linalg.lstsq(columns[:, candidates], explained, rcond=None)[0]
    np.testing.assert_allclose(linear.weights(np.array(candidates)), weights, rtol=1e-6)


def with_change(fit, place, change):
    """Return a fit one of whose free coefficients has changed, and which is to be evaluated again."""
    n, ar_lags = len(fit.terms), fit.noise_model.ar_lags
    weights, autoregression, moving_average = fit.weights.copy(), fit.autoregression.copy(), fit.moving_average.copy()
    if place < n:
        weights[place] += change
    elif place < n + len(ar_lags):
        autoregression[ar_lags[place - n] - 1] += change
    else:
        moving_average[fit.noise_model.ma_lags[place - n - len(ar_lags)] - 1] += change
    return replace(fit, weights=weights, autoregression=autoregression, moving_average=moving_average)


def plain_deviance(problem, fit, errors):
    """Return -2 times the logarithm of the likelihood of a model, its scale being the best one, but for a constant."""
    counted = innovations_of_fit(problem, errors, fit)[counted_rows(problem)]
    start = start_penalty(problem, fit)
    if fit.noise_model.distribution.is_gaussian:
        return len(counted) * math.log((float(counted @ counted) + start) / len(counted))
    nu, scale = fit.noise_model.distribution.degrees_of_freedom, float(np.mean(counted**2))
    for _ in range(200):
        scale = float(np.mean(counted**2 * (nu + 1.0) / (nu + counted**2 / scale)))
    return -2.0 * fit.noise_model.distribution.log_likelihood(counted.tolist(), math.sqrt(scale)) + start / scale


@pytest.mark.parametrize("name", MODELS)
def test_no_change_of_a_coefficient_makes_a_fit_more_likely(name):
    problem = linear_problem(300, 2)
    errors, noise_model = PredictionErrors(problem), MODELS[name][0]
    fit = errors.fit(noise_model, [1, 2])
    lowest = plain_deviance(problem, fit, errors)
    units = [*(errors.coefficients(fit) / fit.weights), *np.ones(len(fit.noise_weights))]
    for place, step in enumerate(errors.uncertainty(fit).classical / units):
        for change in (-0.3 * step, 0.3 * step):
            changed = with_change(fit, place, change)
            # Coefficients at the edge of what is allowed would be more likely beyond it.
            if kernel.stable(changed.moving_average, 0.97) and kernel.stable(changed.autoregression, 0.99):
                assert plain_deviance(problem, changed, errors) > lowest


HELD_AGAINST_SCIPY = ["narmax", "ararx", "ararmax", "noe", "box-jenkins", "narx with tails"]


@pytest.mark.parametrize("name", mostly_slow(HELD_AGAINST_SCIPY, "ararmax", "box-jenkins", "narx with tails"))
@pytest.mark.parametrize("is_true_structure", [True, False])
def test_fits_are_those_of_scipy(name, is_true_structure):
    problem = plain_problem(250)
    terms = numbers_of(problem, load_system("S1").terms if is_true_structure else TERMS)
    errors, counted, n = PredictionErrors(problem), counted_rows(problem), len(terms)
    noise_model = PLAIN_MODELS.get(name, MODELS[name][0])
    fit = errors.fit(noise_model, terms)
    measured, n_free = measured_initial(problem), n + len(fit.noise_weights)
    n_initial = 0
    if noise_model.place == "output":
        n_initial = measured.size

    def residuals(p):
        initial = measured.copy()
        initial.flat[:n_initial] = p[n_free:]
        middle = n + len(fit.autoregression)
        innovations = plain_innovations(problem, noise_model, terms, p[:n], (p[n:middle], p[middle:n_free]), initial)
        distance = (initial - measured).ravel()[:n_initial]
        return np.concatenate([innovations[counted], math.sqrt(fit.start_share) * distance])

    start = np.concatenate([errors.fit(Narx(), terms).weights, np.zeros(n_free - n), measured.ravel()[:n_initial]])
    if not noise_model.distribution.is_gaussian:
        check_student(errors, fit, residuals, start)
        return
    expected = least_squares(residuals, start, jac="3-point", xtol=1e-13, ftol=1e-15, gtol=1e-13)
    assert fit.objective == pytest.approx(2.0 * expected.cost, rel=1e-8)
    # The sum of squares is flat at its lowest: weights are known to a share of their standard errors.
    differences = np.abs([*fit.weights, *fit.noise_weights] - expected.x[:n_free])
    assert (differences < 5e-3 * errors.uncertainty(fit).classical).all()
    if noise_model.is_white:
        np.testing.assert_allclose(fit.initial.ravel()[:n_initial], expected.x[n_free:], atol=1e-4)
        assert not is_true_structure or (differences < 1e-6).all()


def check_student(errors, fit, residuals, start):
    """Hold a fit with Student-t innovations in the equation against a minimiser of its likelihood."""
    distribution = fit.noise_model.distribution

    def minus_log_likelihood(p):
        return -distribution.log_likelihood(residuals(p[:-1]).tolist(), math.exp(p[-1]))

    first = [*start, math.log(np.std(residuals(start)))]
    options = {"maxiter": 500, "gtol": 1e-6}
    lowest = minimize(minus_log_likelihood, first, method="BFGS", options=options)
    assert errors.log_likelihood(fit) == pytest.approx(-lowest.fun, abs=1e-5)
    assert 0.5 * math.log(fit.scale) == pytest.approx(lowest.x[-1], abs=1e-3)


@pytest.mark.parametrize("noise_model", PLAIN_MODELS.values(), ids=PLAIN_MODELS)
def test_a_fit_goes_on_from_weights_to_begin_with(noise_model):
    problem = plain_problem(250)
    errors, terms = PredictionErrors(problem), numbers_of(problem, TERMS)
    start = errors.fit(noise_model, terms[:3])
    weights = np.full(len(terms), 0.1)
    kept = weights.copy(), start.noise_weights.copy()
    plain, begun = errors.fit(noise_model, terms), errors.fit(noise_model, terms, start=start, weights=weights)
    differences = np.abs(np.array([*begun.weights, *begun.noise_weights]) - [*plain.weights, *plain.noise_weights])
    scale = errors.uncertainty(plain).classical
    assert (differences < 5e-3 * scale).all()
    np.testing.assert_array_equal(weights, kept[0])
    np.testing.assert_array_equal(start.noise_weights, kept[1])


def test_narmax_is_the_arma_model_of_statsmodels():
    rng = np.random.default_rng(4)
    e, y = rng.normal(size=1600), np.zeros(1600)
    for k in range(2, 1600):
        y[k] = 1.2 * y[k - 1] - 0.5 * y[k - 2] + e[k] + 0.6 * e[k - 1] + 0.3 * e[k - 2]
    y = y[100:]
    problem = StructureProblem(rng.normal(size=1500), y, n_u=1, n_y=2, degree=1, n_validation=100)
    errors = PredictionErrors(problem)
    fit = errors.fit(Narmax(ma_lags=(1, 2)), numbers_of(problem, ["y(k-1)", "y(k-2)"]))
    theirs = ARIMA(y, order=(2, 0, 2), trend="n").fit()
    weights, expected = [*errors.coefficients(fit), *fit.moving_average], theirs.params[:4]
    assert theirs.param_names[:4] == ["ar.L1", "ar.L2", "ma.L1", "ma.L2"]
    np.testing.assert_allclose(weights, expected, atol=0.02)
    assert (np.abs(weights - expected) < 3.0 * theirs.bse[:4]).all()
    np.testing.assert_allclose(errors.uncertainty(fit).classical, theirs.bse[:4], rtol=0.1)


REGRESSIONS = {
    "AR": ((2, 0, 0), (1.0, -1.1, 0.5), (1.0,), BoxJenkins((1, 2))),
    "MA": ((0, 0, 1), (1.0,), (1.0, 0.7), Narmax(ma_lags=(1,))),
    "ARMA": ((1, 0, 1), (1.0, -0.8), (1.0, 0.5), Ararmax((1,), (1,))),
    "ARIMA": ((0, 1, 1), (1.0, -1.0), (1.0, -0.6), Narmax(ma_lags=(1,), is_integrated=True)),
}


def regression(name, samples=1200, seed=6):
    """Return the problem of an output that is two regressors and noise, without feedback, and a true noise model."""
    order, autoregression, moving_average, noise_model = REGRESSIONS[name]
    rng = np.random.default_rng(seed)
    u, e = rng.normal(size=samples), 0.5 * rng.normal(size=samples)
    y = lfilter([0.0, 0.6, -0.4], [1.0], u) + lfilter(moving_average, autoregression, e)
    return StructureProblem(u, y, n_u=2, n_y=1, degree=1, n_validation=100), order, noise_model


@pytest.mark.parametrize("name", REGRESSIONS)
def test_regressions_with_arma_noise_are_those_of_statsmodels(name):
    """Kalman filters know more of the beginning, which does not count here."""
    problem, order, noise_model = regression(name)
    errors, rows = PredictionErrors(problem), np.arange(2, 1200)
    fit = errors.fit(noise_model, numbers_of(problem, ["u(k-1)", "u(k-2)"]))
    u, y = problem.training_u, problem.training_y
    exog = np.column_stack([u[rows - 1], u[rows - 2]])
    theirs = SARIMAX(y[rows], exog, order=order, trend=None).fit(disp=False)
    assert theirs.param_names[-1] == "sigma2"
    # They write the autoregression with the other sign.
    weights = [*errors.coefficients(fit), *(-fit.autoregression), *fit.moving_average]
    np.testing.assert_allclose(weights, theirs.params[:-1], atol=0.01)
    counted = float(theirs.llf_obs[len(rows) - errors.samples :].sum())
    assert errors.log_likelihood(fit) == pytest.approx(counted, abs=1.0)


@pytest.mark.parametrize("name", ["AR", "MA", "ARMA"])
def test_filters_have_the_orders_and_coefficients_of_long_noise(name):
    problem, order, noise_model = regression(name, samples=8000)
    errors = PredictionErrors(problem)
    fit = errors.fit(Noe(), numbers_of(problem, ["u(k-1)", "u(k-2)"]))
    choices = errors.filters(fit, BoxJenkins.filters(4), math.log(errors.samples))
    values = values_of(choices, "criterion")
    assert values == sorted(values) and len(choices) == len([*BoxJenkins.filters(4)])
    best = choices[0]
    assert (len(best.ar_lags), len(best.ma_lags)) == (order[0], order[2])
    expected = [*REGRESSIONS[name][1][1:], *REGRESSIONS[name][2][1:]]
    np.testing.assert_allclose([*best.autoregression, *best.moving_average], expected, atol=0.04)
    again = errors.fit(noise_model, fit.terms.tolist())
    np.testing.assert_allclose([*best.autoregression, *best.moving_average], again.noise_weights, atol=0.04)


def test_white_noise_needs_no_filter():
    errors = PredictionErrors(linear_problem(4000, 3))
    choices = errors.filters(errors.fit(Noe(), [1, 2]), [((), ()), *BoxJenkins.filters(4)], math.log(errors.samples))
    assert (choices[0].ar_lags, choices[0].ma_lags) == ((), ())
    assert errors.filters(errors.fit(Noe(), [1, 2]), [((), ())], 8.0) == []


@pytest.mark.parametrize("nu", [3.0, math.inf])
def test_tails_are_those_of_the_innovations(nu):
    rng, is_heavy = np.random.default_rng(7), math.isfinite(nu)
    e = rng.standard_t(nu, 3000) if is_heavy else rng.normal(size=3000)
    u, y = rng.normal(size=3000), np.zeros(3000)
    y[1:] = 0.5 * u[:-1] + 0.3 * e[1:]
    problem = StructureProblem(u, y, n_u=1, n_y=1, degree=1, n_validation=100)
    errors = PredictionErrors(problem)
    fit = errors.fit(Narx(), [2])
    distribution, gain = errors.tails(fit)
    if is_heavy:
        assert distribution.degrees_of_freedom in (2.0, 3.0, 4.0) and gain > 100.0
    else:
        assert distribution.is_gaussian and gain == 0.0
    heavy = errors.fit(Narx(distribution=distribution), [2])
    # With other weights the likelihood is a little larger still.
    assert 0.0 <= errors.deviance(fit) - errors.deviance(heavy) - gain < 10.0
    if is_heavy:
        assert math.sqrt(heavy.scale) * unit_of(problem) == pytest.approx(0.3, rel=0.1)


def test_noise_on_the_output_biases_narx_towards_zero_but_not_noe():
    """y(k) = a y(k-1) + b u(k-1) + e(k) - a e(k-1)."""
    a, b, deviation = 0.7, 0.5, 0.3
    errors = PredictionErrors(linear_problem(20_000, 5, a=a, b=b, deviation=deviation))
    noe, narx = (errors.fit(noise_model, (1, 2)) for noise_model in (Noe(), Narx()))
    np.testing.assert_allclose(errors.coefficients(noe), [a, b], atol=0.01)
    assert noe.objective < narx.objective
    assert math.sqrt(math.exp(errors.deviance(noe) / errors.samples)) == pytest.approx(deviation, rel=0.02)
    power = b**2 / (1.0 - a**2)
    biased = a * power / (power + deviation**2)
    assert biased < 0.65
    np.testing.assert_allclose(errors.coefficients(narx), [biased, b], atol=0.01)


class TestStandardErrors:
    def test_those_of_narx_are_those_of_statsmodels_as_are_the_weights(self):
        problem = plain_problem(500, scale_u=7.0, scale_y=0.03)
        errors, terms = PredictionErrors(problem), numbers_of(problem, TERMS)
        fit, rows = errors.fit(Narx(), terms), 3 + counted_rows(problem)
        u, y = problem.training_u, problem.training_y
        chosen = [problem.monomials[term] for term in terms]
        model = OLS(y[rows], regressors(u, y, chosen, rows))
        robust = model.fit(cov_type="HAC", cov_kwds={"maxlags": 5, "use_correction": False})
        assert int(4 * (errors.samples / 100) ** (2 / 9)) == 5
        uncertainty = errors.uncertainty(fit)
        np.testing.assert_allclose(errors.coefficients(fit), model.fit().params, rtol=1e-8)
        np.testing.assert_allclose(uncertainty.classical, model.fit().bse, rtol=1e-7)
        np.testing.assert_allclose(uncertainty.robust, robust.bse, rtol=1e-7)

    @pytest.mark.parametrize("name", ["noe", "narmax"])
    def test_they_are_the_spread_of_many_estimates(self, name):
        weights, classical, robust = [], [], []
        for seed in range(150):
            errors = PredictionErrors(linear_problem(300, seed))
            fit = errors.fit(PLAIN_MODELS[name], [1, 2])
            uncertainty = errors.uncertainty(fit)
            weights.append([*errors.coefficients(fit), *fit.noise_weights])
            classical.append(uncertainty.classical)
            robust.append(uncertainty.robust)
        spread = np.std(weights, axis=0, ddof=1)
        np.testing.assert_allclose(np.sqrt(np.mean(np.square(classical), 0)), spread, rtol=0.25)
        np.testing.assert_allclose(np.sqrt(np.mean(np.square(robust), 0)), spread, rtol=0.35)


@pytest.mark.parametrize("name", MODELS)
def test_powers_of_two_as_units_change_no_bit(name):
    plain, scaled = plain_problem(), plain_problem(scale_u=1024.0, scale_y=1024.0)
    terms = numbers_of(plain, TERMS)
    noise_model = MODELS[name][0]
    plain_fit = PredictionErrors(plain).fit(noise_model, terms)
    scaled_fit = PredictionErrors(scaled).fit(noise_model, terms)
    assert plain_fit.weights.tobytes() == scaled_fit.weights.tobytes()
    assert plain_fit.noise_weights.tobytes() == scaled_fit.noise_weights.tobytes()
    assert plain_fit.objective == scaled_fit.objective and plain_fit.scale == scaled_fit.scale
    degrees = np.array([len(plain.monomials[term]) for term in terms])
    converted = 1024.0 ** (1 - degrees) * plain_fit.weights
    assert PredictionErrors(scaled).coefficients(scaled_fit).tolist() == converted.tolist()


class TestErrorsOfRecords:
    # Where y(k-2) is in no term, it stays as it was measured.
    @pytest.mark.parametrize(("records", "changed"), [(20, [True, False]), (21, [])])
    def test_outputs_before_them_are_estimated_unless_they_are_many(self, records, changed):
        problem = record_problem((12,) * records)
        errors, terms = PredictionErrors(problem), numbers_of(problem, ["y(k-1)", "u1(k)"])
        fit = errors.fit(Noe(), terms)
        assert fit.initial.shape == (records, len(changed))
        expected = plain_innovations(problem, Noe(), terms, errors.coefficients(fit), (), initial_of(problem, fit))
        np.testing.assert_allclose(errors.innovations(fit), expected, rtol=1e-9, atol=1e-10)
        measured = measured_initial(problem)[:, : len(changed)]
        assert (initial_of(problem, fit) != measured).any(axis=0).tolist() == changed

    def test_the_lags_before_each_stretch_lie_in_none(self):
        rng = np.random.default_rng(7)
        u, y = record_data((120,))
        monomials = monomials_of([(0, 1), (0, 4), (1, 2)], 1)
        shorter = 0
        for _ in range(40):
            rows = np.sort(rng.choice(np.arange(4, 90), 80, replace=False))
            first = int(rng.integers(91, 97))
            segments = [range(first, first + 8), range(first + 10, 118)]
            problem = StructureProblem.of_records(u, y, monomials, rows=rows, segments=segments)
            samples = np.concatenate([rows, *segments])
            covered = np.concatenate([np.arange(begin, end) for begin, end in problem.stretches])
            assert len(covered) == len({*covered}) and np.isin(covered, samples).all()
            lags_before = np.subtract.outer(problem.stretches[:, 0], [1, 2, 3, 4])
            assert not np.isin(lags_before, covered).any()
            # What is left out is a lag of the stretch behind it.
            lags_behind = np.add.outer(problem.stretches[:, 1], [0, 1, 2, 3])
            left_out = np.setdiff1d(samples, covered)
            assert np.isin(left_out, lags_behind).all()
            shorter += len(left_out) > 0
        assert shorter > 20


class TestDivergingFits:
    def test_a_free_run_that_diverges_has_no_likelihood(self):
        problem = plain_problem()
        errors = PredictionErrors(problem)
        terms = numbers_of(problem, ["y(k-1)", "u(k-1)"])
        fit = errors.fit(Noe(), terms, weights=np.array([1.5, 0.5]))
        assert not fit.is_finite and errors.deviance(fit) == math.inf and not errors.bounded(fit)
        assert errors.log_likelihood(fit) == -math.inf
        # It is the free run that diverges, whatever the noise model.
        assert not errors.bounded(model(problem, Narx(), terms, fit.weights))
        assert errors.bounded(errors.fit(Narx(), terms)) and errors.bounded(errors.fit(Noe(), terms))

    @pytest.mark.parametrize("coefficients", [[1.1], [-2.4, 1.44], [0.0, 0.0, 3.0]])
    def test_filters_that_do_not_forget_are_pulled_inside_to_begin_with(self, coefficients):
        errors, lags = PredictionErrors(plain_problem()), tuple(range(1, len(coefficients) + 1))
        start = np.array(coefficients), np.array(coefficients)
        fit = errors.fit(Ararmax(lags, lags), [1], weights=np.array([0.5]), noise_weights=start)
        assert fit.is_finite and kernel.stable(fit.autoregression, kernel.AR_RADIUS)
        assert kernel.stable(fit.moving_average, kernel.RADIUS)

    def test_zeros_on_the_circle_are_kept_inside(self):
        """Differences of white noise have a zero at 1."""
        e = np.random.default_rng(8).normal(size=5001)
        errors = PredictionErrors(StructureProblem(e[1:], np.diff(e), n_u=1, n_y=1, degree=1))
        moving = errors.fit(Narmax(ma_lags=(1,)), []).moving_average
        assert -kernel.RADIUS < moving[0] < -0.97

    @pytest.mark.parametrize("order", [1, 2, 3, 4])
    def test_stability_is_that_of_the_roots(self, order):
        rng, counts = np.random.default_rng(9), [0, 0]
        for _ in range(400):
            half = (rng.uniform(0.5, 1.1, 2) * np.exp(1j * rng.uniform(0.0, math.pi, 2)))[: order // 2]
            single = (rng.choice([-1.0, 1.0], 1) * rng.uniform(0.5, 1.1))[: order % 2]
            moving = np.poly([*half, *half.conj(), *single])[1:].real
            expected = bool(np.abs(np.roots([1.0, *moving])).max() < 0.98)
            assert kernel.stable(moving, 0.98) == expected
            counts[expected] += 1
        assert min(counts) > 30


def test_drift_on_the_output_does_not_keep_a_fit_from_beginning():
    """Least squares takes the random walk for a pole beyond 1, where the free run diverges."""
    problem = problem_of(*data_of("random walk on the output", 800, seed=2))
    errors, terms = PredictionErrors(problem), numbers_of(problem, load_system("S1").terms)
    start = errors.fit(Narx(), terms).weights
    assert not errors.fit(BoxJenkins(is_integrated=True), terms, weights=start).is_finite
    fit = errors.fit(BoxJenkins(is_integrated=True), terms)
    np.testing.assert_allclose(errors.coefficients(fit), [0.5, 0.3, 0.3, 0.5], atol=0.02)


class TestDegenerateData:
    @pytest.mark.parametrize("noise_model", PLAIN_MODELS.values(), ids=PLAIN_MODELS)
    def test_a_column_of_zeros_gets_no_weight(self, noise_model):
        _, y = linear_data(300, 1)
        errors = PredictionErrors(StructureProblem(np.zeros(300), y, n_u=1, n_y=1, degree=1, n_validation=50))
        fit = errors.fit(noise_model, [0, 1, 2])
        without = errors.fit(noise_model, [0, 1])
        assert fit.weights[2] == 0.0 and np.isfinite(fit.weights).all() and math.isfinite(errors.deviance(fit))
        np.testing.assert_array_equal(fit.weights[:2], without.weights)
        for values in errors.uncertainty(fit):
            assert np.isfinite(values).all()

    @pytest.mark.parametrize("noise_model", PLAIN_MODELS.values(), ids=PLAIN_MODELS)
    def test_equal_columns_fit_as_one(self, noise_model):
        u, y = linear_data(300, 1)
        monomials = monomials_of([(0, 1), (1, 1), (2, 1)], 1)
        options = {"rows": np.arange(1, 300), "segments": [range(250, 300)]}
        problem = StructureProblem.of_records(np.column_stack([u, u]), y, monomials, **options)
        errors = PredictionErrors(problem)
        first, second = numbers_of(problem, ["u1(k-1)", "u2(k-1)"])
        y_term = problem.terms.index("y(k-1)")
        both, single = errors.fit(noise_model, [y_term, first, second]), errors.fit(noise_model, [y_term, first])
        assert np.isfinite(both.weights).all()
        assert both.objective == pytest.approx(single.objective, rel=1e-9)
        for values in errors.uncertainty(both):
            assert np.isfinite(values).all()

    @pytest.mark.parametrize("noise_model", PLAIN_MODELS.values(), ids=PLAIN_MODELS)
    def test_data_without_noise_have_a_finite_likelihood(self, noise_model):
        errors = PredictionErrors(linear_problem(300, 1, deviation=0.0))
        fit = errors.fit(noise_model, [1, 2])
        np.testing.assert_allclose(errors.coefficients(fit), [0.7, 0.5], rtol=1e-6)
        assert math.isfinite(errors.deviance(fit)) and math.isfinite(errors.log_likelihood(fit))
        assert errors.deviance(fit) < errors.deviance(errors.fit(noise_model, [1])) - 1000.0
        # Rounding does not make one exact fit better than another.
        larger = errors.fit(noise_model, [0, 1, 2])
        assert errors.deviance(larger) == errors.deviance(fit)

    @pytest.mark.parametrize("noise_model", PLAIN_MODELS.values(), ids=PLAIN_MODELS)
    def test_an_output_of_zeros(self, noise_model):
        u = np.random.default_rng(2).normal(size=100)
        errors = PredictionErrors(StructureProblem(u, np.zeros(100), n_u=1, n_y=1, degree=1, n_validation=30))
        fit = errors.fit(noise_model, [0, 1, 2])
        assert not fit.weights.any() and math.isfinite(errors.deviance(fit))
