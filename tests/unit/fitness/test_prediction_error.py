"""Fits of prediction errors against plain loops, NumPy, SciPy, statsmodels, and what theory says."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.signal import lfilter
from statsmodels.regression.linear_model import OLS
from tests.lookups import values_of
from tests.regression import measured_records, numbers_of, product, rows_with_lags
from tests.unit.algorithms.likelihood import data_of, problem_of

from narxbench import StructureProblem, load_system
from narxbench._fitness.kernel import prediction_error as kernel
from narxbench._fitness.prediction_error import Fit, PredictionErrors
from narxbench._fitness.structure_fit import fit_noise_model, fit_structure
from narxbench._model.noise_models import (
    NOISE_NAMES,
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


def plain_innovations(problem, errors, fit):
    """Return the innovations of a fit for all stretches, sample by sample in plain floats."""
    y, innovations = problem.training_y.tolist(), []
    inputs = problem.training_u.reshape(len(y), -1).T.tolist()
    weights = list(zip(fit.terms, errors.coefficients(fit).tolist(), strict=True))
    for (begin, end), initial in zip(problem.stretches.tolist(), initial_of(problem, fit).tolist(), strict=True):
        noise, past = [], list(y)
        for lag, value in enumerate(initial, 1):
            past[begin - lag] = value
        for k in range(begin, end):
            predicted = sum(weight * product(problem.monomials[term], [past, *inputs], k) for term, weight in weights)
            noise.append(y[k] - predicted)
            if fit.noise_model.place == "output":
                past[k] = predicted
        innovations += fit.noise_model.innovations(noise, fit.autoregression.tolist(), fit.moving_average.tolist())
    return np.array(innovations)


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
        counted.append(np.arange(end - begin) >= skipped)
    return np.flatnonzero(np.concatenate(counted))


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


RECORD_TERMS = ["y(k-1)", "u1(k)", "y(k-2)*u2(k-1)"]


def record_problem(lengths=(80, 60), largest=None):
    """15 candidates, over records that stand one behind the other."""
    u, y = measured_records(2, lengths)
    if largest is not None:
        y = largest * y / np.abs(y).max()
    rows = rows_with_lags(lengths, 2)
    monomials = monomials_of([(0, 1), (0, 2), (1, 0), (2, 1)], 2)
    return StructureProblem.of_records(u, y, monomials, rows=rows, segments=[range(2, 12)])


def start_penalty(problem, fit):
    """Return the squared distance of the outputs where a fit begins from the measured ones, as it counts."""
    distance = initial_of(problem, fit) - measured_initial(problem)
    return fit.start_share * float(np.sum(distance**2))


# The problem, the terms that are fitted, and the number of samples that count.
FITTED = {
    "one record": (partial(plain_problem, scale_u=130.0, scale_y=0.37), TERMS, 147 - 7),
    "two records": (record_problem, RECORD_TERMS, 78 - 3 + 58 - 2),
}


@pytest.mark.parametrize("data", FITTED)
@pytest.mark.parametrize("name", MODELS)
def test_a_fit_is_that_of_plain_python(name, data):
    """Innovations, the likelihood, and the outputs before each record, which is predicted on its own."""
    noise_model, autoregression, moving_average = MODELS[name]
    make_problem, names, samples = FITTED[data]
    problem = make_problem()
    errors, terms = PredictionErrors(problem), numbers_of(problem, names)
    fit = errors.fit(noise_model, terms[::-1])
    assert fit.terms.tolist() == sorted(terms) and fit.is_finite
    assert (len(fit.autoregression), len(fit.moving_average)) == (len(autoregression), len(moving_average))
    expected = plain_innovations(problem, errors, fit)
    np.testing.assert_allclose(errors.innovations(fit), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    counted = expected[counted_rows(problem)]
    assert errors.samples == len(counted) == samples
    np.testing.assert_allclose(np.concatenate(errors.counted(errors.innovations(fit))), counted, rtol=1e-6, atol=1e-9)
    start, distribution = start_penalty(problem, fit), noise_model.distribution
    variance = fit.scale * unit_of(problem) ** 2
    if distribution.is_gaussian:
        variance = (float(np.sum(counted**2)) + start) / samples
        assert fit.objective * unit_of(problem) ** 2 == pytest.approx(samples * variance, rel=1e-9)
    density = distribution.log_likelihood(counted.tolist(), math.sqrt(variance)) - 0.5 * start / variance
    assert errors.log_likelihood(fit) == pytest.approx(density, rel=1e-9)
    assert errors.deviance(fit) == pytest.approx(-2.0 * density - samples * (math.log(2.0 * math.pi) + 1.0), rel=1e-8)
    check_start(problem, errors, fit, counted)


def check_start(problem, errors, fit, counted):
    """Check the outputs before records, and how their squares count, of a fit with these innovations."""
    noise_model, is_on_the_output = fit.noise_model, fit.noise_model.place == "output"
    assert (initial_of(problem, fit) != measured_initial(problem)).any() == is_on_the_output
    share = 1.0
    if is_on_the_output and not noise_model.is_white:
        # That of the variances of innovations and noise, the errors of the free run; drift has no variance.
        free = replace(fit, noise_model=Noe(), autoregression=np.zeros(0), moving_average=np.zeros(0))
        noise = plain_innovations(problem, errors, free)
        share = min(1.0, float(np.sum(counted**2) / np.sum(noise[counted_rows(problem)] ** 2)))
    lowest = 2.0**-10 if noise_model.is_integrated else 0.25 * share
    assert lowest <= fit.start_share <= (lowest if noise_model.is_integrated and is_on_the_output else share)


@pytest.mark.parametrize("name", GAUSSIAN_MODELS)
def test_sensitivities_are_differences_of_plain_innovations(name):
    noise_model, *filters = MODELS[name]
    problem, weights = record_problem((50, 45), largest=0.75), np.zeros(15)
    errors, step = PredictionErrors(problem), 1e-5
    weights[numbers_of(problem, [*RECORD_TERMS, "y(k-1)^2", "y(k-1)*y(k-2)"])] = 0.4, 0.3, -0.2, 0.15, -0.1
    fit = model(problem, noise_model, range(15), weights, filters)
    sensitivities = errors.sensitivities(fit).T

    def slope(**changes):
        """Return the slope of the innovations in the direction of a change."""
        ends = []
        for size in (-step, step):
            moved = {part: getattr(fit, part) + size * np.array(change) for part, change in changes.items()}
            ends.append(plain_innovations(problem, errors, replace(fit, **moved)))
        return (ends[0] - ends[1]) / (2.0 * step)

    slopes = [slope(weights=unit) for unit in np.eye(15)]
    slopes += [slope(autoregression=np.eye(len(filters[0]))[lag - 1]) for lag in noise_model.ar_lags]
    slopes += [slope(moving_average=np.eye(len(filters[1]))[lag - 1]) for lag in noise_model.ma_lags]
    np.testing.assert_allclose(sensitivities, slopes, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", MODELS)
def test_the_linearised_choice_of_terms_is_least_squares_of_the_sensitivities(name):
    noise_model, problem = MODELS[name][0], plain_problem()
    errors = PredictionErrors(problem)
    fit = errors.fit(noise_model, numbers_of(problem, TERMS))
    linear, counted = errors.linearised(fit), counted_rows(problem)
    columns, innovations = errors.sensitivities(fit)[counted], errors.innovations(fit)[counted]
    if not noise_model.distribution.is_gaussian:
        nu = noise_model.distribution.degrees_of_freedom
        roots = np.sqrt((nu + 1.0) / (nu + innovations**2 / fit.scale))
        columns, innovations = roots[:, None] * columns, roots * innovations
    explained = innovations + columns[:, fit.terms] @ fit.weights
    assert linear.finite and columns.shape[1] == 56 + len(noise_model.ar_lags) + len(noise_model.ma_lags)
    np.testing.assert_allclose(np.diag(linear.gram), np.sum(columns**2, 0), rtol=1e-7)
    np.testing.assert_allclose(linear.moments, columns.T @ explained, rtol=1e-7, atol=1e-8)
    assert linear.energy == pytest.approx(explained @ explained, rel=1e-7)
    candidates = [2, 7, 31, 55]
    linear.enter([*candidates, *candidates[:2], fit.terms[1]])
    entered = [*fit.terms, *candidates, *range(56, columns.shape[1])]
    np.testing.assert_allclose(linear.gram[entered], (columns.T @ columns)[entered], rtol=1e-7, atol=1e-8)
    weights = np.linalg.lstsq(columns[:, candidates], explained, rcond=None)[0]
    np.testing.assert_allclose(linear.weights(np.array(candidates)), weights, rtol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_at_the_end_of_a_fit_the_likelihood_is_flat(name):
    """Sensitivities have no correlation with the innovations, those of Student-t weighed by their size."""
    problem, noise_model = linear_problem(300, 2), MODELS[name][0]
    errors = PredictionErrors(problem)
    fit = errors.fit(noise_model, [1, 2])
    # At the edge of what is allowed it would be higher beyond it.
    is_inside = kernel.stable(fit.moving_average, 0.97) and kernel.stable(fit.autoregression, 0.99)
    assert is_inside or noise_model.is_integrated
    counted, innovations = counted_rows(problem), errors.innovations(fit)
    if not noise_model.distribution.is_gaussian:
        nu = noise_model.distribution.degrees_of_freedom
        innovations /= nu + innovations**2 / (fit.scale * unit_of(problem) ** 2)
    columns, innovations = errors.sensitivities(fit)[counted, 1:], innovations[counted]
    cosines = columns.T @ innovations / np.linalg.norm(columns, axis=0) / np.linalg.norm(innovations)
    np.testing.assert_allclose(cosines * is_inside, 0.0, atol=1e-4)


@pytest.mark.parametrize("name", PLAIN_MODELS)
def test_a_fit_does_not_depend_on_where_it_begins_and_units_change_no_bit(name):
    noise_model, problem = PLAIN_MODELS[name], plain_problem(250)
    errors, terms = PredictionErrors(problem), numbers_of(problem, TERMS)
    fit = errors.fit(noise_model, terms)
    other = errors.fit(noise_model, terms, start=errors.fit(noise_model, terms[:3]), weights=np.full(len(terms), 0.1))
    differences = np.abs(np.array([*other.weights, *other.noise_weights]) - [*fit.weights, *fit.noise_weights])
    assert (differences < 5e-3 * errors.uncertainty(fit).classical).all()
    scaled = PredictionErrors(plain_problem(250, scale_u=1024.0, scale_y=1024.0))
    in_units = scaled.fit(noise_model, terms)
    for values in ("weights", "autoregression", "moving_average", "initial"):
        np.testing.assert_array_equal(getattr(fit, values), getattr(in_units, values))
    degrees = np.array([len(problem.monomials[term]) for term in terms])
    np.testing.assert_array_equal(scaled.coefficients(in_units), 1024.0 ** (1 - degrees) * fit.weights)


@pytest.mark.parametrize("name", ["narx", "narmax", "ararmax"])
def test_standard_errors_are_those_of_statsmodels_for_the_sensitivities(name):
    problem = plain_problem(500)
    errors, terms, counted = PredictionErrors(problem), numbers_of(problem, TERMS), counted_rows(problem)
    fit = errors.fit(PLAIN_MODELS[name], terms)
    left_out = np.setdiff1d(np.arange(len(problem.terms)), terms)
    columns = np.delete(errors.sensitivities(fit), left_out, 1)[counted]
    weights = np.array([*fit.weights, *fit.noise_weights])
    theirs = OLS(errors.innovations(fit)[counted] + columns @ weights, columns)
    assert int(4 * (errors.samples / 100) ** (2 / 9)) == 5
    robust = theirs.fit(cov_type="HAC", cov_kwds={"maxlags": 5, "use_correction": False})
    uncertainty = errors.uncertainty(fit)
    np.testing.assert_allclose(weights, robust.params, atol=0.02 * robust.bse.min())
    np.testing.assert_allclose(uncertainty.classical, theirs.fit().bse, rtol=1e-3)
    np.testing.assert_allclose(uncertainty.robust, robust.bse, rtol=1e-3)
    expected = theirs.fit().cov_params()[: len(terms), : len(terms)]
    np.testing.assert_allclose(uncertainty.covariance, expected, rtol=0.01, atol=1e-3 * np.abs(expected).max())


# D(q) and C(q) of long noise on the output, and a noise model that has them.
LONG_NOISE = {
    "white": ((1.0,), (1.0,), Noe()),
    "AR": ((1.0, -1.1, 0.5), (1.0,), BoxJenkins((1, 2))),
    "MA": ((1.0,), (1.0, 0.7), Narmax(ma_lags=(1,))),
    "ARMA": ((1.0, -0.8), (1.0, 0.5), Ararmax((1,), (1,))),
}


@pytest.mark.parametrize("name", LONG_NOISE)
def test_filters_have_the_orders_and_coefficients_of_long_noise(name):
    """The output is two regressors and noise, without feedback."""
    autoregression, moving_average, noise_model = LONG_NOISE[name]
    rng = np.random.default_rng(6)
    u, e = rng.normal(size=8000), 0.5 * rng.normal(size=8000)
    y = lfilter([0.0, 0.6, -0.4], [1.0], u) + lfilter(moving_average, autoregression, e)
    problem = StructureProblem(u, y, n_u=2, n_y=1, degree=1, n_validation=100)
    errors, filters = PredictionErrors(problem), [((), ()), *BoxJenkins.filters(4)]
    fit = errors.fit(Noe(), numbers_of(problem, ["u(k-1)", "u(k-2)"]))
    choices = errors.filters(fit, filters, math.log(errors.samples))
    values = values_of(choices, "criterion")
    assert values == sorted(values) and len(choices) == len(filters)
    best = choices[0]
    coefficients = [*best.autoregression, *best.moving_average]
    np.testing.assert_allclose(coefficients, [*autoregression[1:], *moving_average[1:]], atol=0.04)
    again = errors.fit(noise_model, fit.terms.tolist())
    np.testing.assert_allclose(coefficients, again.noise_weights, atol=0.04)
    assert errors.filters(fit, filters[:1], 8.0) == []


def test_a_free_run_that_diverges_has_no_likelihood():
    problem = plain_problem()
    errors = PredictionErrors(problem)
    terms = numbers_of(problem, ["y(k-1)", "u(k-1)"])
    fit = errors.fit(Noe(), terms, weights=np.array([1.5, 0.5]))
    assert not fit.is_finite and errors.deviance(fit) == math.inf and not errors.bounded(fit)
    assert errors.log_likelihood(fit) == -math.inf
    # It is the free run that diverges, whatever the noise model.
    assert not errors.bounded(model(problem, Narx(), terms, fit.weights))
    assert errors.bounded(errors.fit(Narx(), terms)) and errors.bounded(errors.fit(Noe(), terms))


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_stability_is_that_of_the_roots(order):
    rng, counts = np.random.default_rng(9), [0, 0]
    for _ in range(400):
        half = (rng.uniform(0.5, 1.1, 2) * np.exp(1j * rng.uniform(0.0, math.pi, 2)))[: order // 2]
        single = (rng.choice([-1.0, 1.0], 1) * rng.uniform(0.5, 1.1))[: order % 2]
        moving = np.poly([*half, *half.conj(), *single])[1:].real
        expected = bool(np.abs(np.roots([1.0, *moving])).max() < 0.98)
        assert kernel.stable(moving, 0.98) == expected
        counts[expected] += 1
    assert min(counts) > 30


def two_inputs(u, y):
    """Return the problem of an output and two inputs."""
    monomials = monomials_of([(0, 1), (1, 1), (2, 1)], 1)
    return StructureProblem.of_records(u, y, monomials, rows=np.arange(1, len(y)), segments=[range(250, 300)])


U, Y = linear_data(300, 1)
# The inputs and the output, terms of them, and those that explain as much.
DEGENERATE = {
    "a column of zeros": (np.column_stack([U, np.zeros(300)]), Y, [0, 1, 2, 3], [0, 1, 2]),
    "equal columns": (np.column_stack([U, U]), Y, [0, 1, 2, 3], [0, 1, 2]),
    "no noise": (np.column_stack([U, Y]), linear_data(300, 1, deviation=0.0)[1], [0, 1, 2, 3], [1, 2]),
    "an output of zeros": (np.column_stack([U, Y]), np.zeros(300), [0, 1, 2, 3], []),
}


@pytest.mark.parametrize("case", DEGENERATE)
@pytest.mark.parametrize("noise_model", PLAIN_MODELS.values(), ids=PLAIN_MODELS)
def test_degenerate_data_have_a_finite_likelihood_and_rounding_makes_no_fit_better(noise_model, case):
    u, y, terms, fewer = DEGENERATE[case]
    errors = PredictionErrors(two_inputs(u, y))
    fit, shorter = errors.fit(noise_model, terms), errors.fit(noise_model, fewer)
    assert np.isfinite(fit.weights).all() and math.isfinite(errors.log_likelihood(fit))
    assert errors.deviance(fit) == pytest.approx(errors.deviance(shorter), rel=1e-9)
    for values in errors.uncertainty(fit):
        assert np.isfinite(values).all()
    if case == "no noise":
        np.testing.assert_allclose(errors.coefficients(shorter), [0.7, 0.5], rtol=1e-6)
        assert errors.deviance(errors.fit(noise_model, [1])) > errors.deviance(fit) + 1000.0


def test_tails_of_a_structure_are_fitted_where_they_are_allowed():
    problem = problem_of(*data_of("outliers on the output", 800))
    errors, terms = PredictionErrors(problem), numbers_of(problem, load_system("S1").terms)
    heavy = fit_structure(errors, terms, NOISE_NAMES, tails=True)
    gaussian = fit_structure(errors, terms, NOISE_NAMES, tails=False)
    assert gaussian.noise_model.distribution.is_gaussian and not heavy.noise_model.distribution.is_gaussian
    assert errors.deviance(heavy) < errors.deviance(gaussian) - 100.0
    anew = fit_noise_model(errors, terms, heavy.noise_model)
    np.testing.assert_allclose(anew.weights, heavy.weights, rtol=1e-2)
