"""Fits of prediction errors against plain loops, NumPy, SciPy, statsmodels, and what theory says."""

import math

import numpy as np
import pytest
from scipy.optimize import least_squares
from statsmodels.regression.linear_model import OLS
from statsmodels.tsa.arima.model import ARIMA

from narxbench import StructureProblem, load_system
from narxbench.fitness.kernel import prediction_error as kernel
from narxbench.fitness.prediction_error import NOISE_MODELS, Fit, PredictionErrors
from narxbench.model.structure import column
from narxbench.model.terms import OUTPUT, monomials_of

# A structure with everything that a free run feeds back: powers, products of two lags, and products with the input.
TERMS = ["1", "y(k-1)", "u(k-2)", "y(k-1)*y(k-3)", "y(k-2)*u(k-1)", "y(k-1)^2*y(k-2)"]
WEIGHTS = [0.02, 0.4, 0.3, -0.1, 0.2, 0.15]
MODELS = [("narx", []), ("narmax", [0.6]), ("narmax", [-0.7, 0.2]), ("noe", [])]


def plain_innovations(problem, noise_model, terms, coefficients, moving, initial=None):
    """Return the innovations of all stretches, sample by sample in plain floats.

    ``initial`` has the outputs before each stretch, the last one first, where they are not as measured.
    """
    y, innovations = problem.training_y.tolist(), []
    signals = [y, *problem.training_u.reshape(len(y), -1).T.tolist()]
    weighed = [(float(c), problem.monomials[term]) for c, term in zip(coefficients, terms, strict=True)]
    moving = list(map(float, moving))
    for stretch, (begin, end) in enumerate(problem.stretches.tolist()):
        own, past = [], list(y)
        for before, value in enumerate([] if initial is None else initial[stretch], 1):
            past[begin - before] = float(value)
        for k in range(begin, end):
            predicted = 0.0
            for coefficient, monomial in weighed:
                value = coefficient
                for signal, lag in monomial:
                    value *= past[k - lag] if signal == OUTPUT else signals[signal][k - lag]
                predicted += value
            for i, weight in enumerate(moving, 1):
                predicted += weight * own[-i] if len(own) >= i else 0.0
            own.append(y[k] - predicted)
            if noise_model == "noe":
                past[k] = predicted
        innovations += own
    return np.array(innovations)


def measured_initial(problem):
    """Return the outputs before each stretch as they were measured, the last one first."""
    return np.array([problem.training_y[begin - problem.n_y : begin][::-1] for begin, _ in problem.stretches])


def initial_of(problem, fit):
    """Return the outputs before each stretch where a fit begins, in units of the data."""
    return fit.initial * 2.0 ** math.frexp(np.abs(problem.training_y).max())[1]


def model(problem, noise_model, terms, weights, moving):
    """Return a model of given weights, for signals scaled as the fits have them."""
    initial = measured_initial(problem) / 2.0 ** math.frexp(np.abs(problem.training_y).max())[1]
    return Fit(noise_model, np.array(terms), np.array(weights), np.array(moving), 0.0, initial)


def counted_rows(problem):
    """Return the rows of all stretches whose errors count."""
    counted = []
    for begin, end in problem.stretches.tolist():
        skipped = min(30, int(0.05 * (end - begin)))
        counted += [row >= skipped for row in range(end - begin)]
    return np.flatnonzero(counted)


def numbers(problem, names):
    return [problem.terms.index(name) for name in names]


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
    (u, y), ends = record_data(lengths), np.cumsum(lengths)
    y = y if largest is None else largest * y / np.abs(y).max()
    rows = np.concatenate([np.arange(end - length + 2, end) for end, length in zip(ends, lengths, strict=True)])
    monomials = monomials_of([(0, 1), (0, 2), (1, 0), (2, 1)], 2)
    return StructureProblem.of_records(u, y, monomials, rows=rows, segments=[range(2, 12)])


@pytest.mark.parametrize("of_records", [False, True])
@pytest.mark.parametrize(("noise_model", "moving"), MODELS)
def test_innovations_are_those_of_plain_loops(noise_model, moving, of_records):
    """Each record is predicted on its own."""
    problem = record_problem() if of_records else plain_problem(scale_u=130.0, scale_y=0.37)
    errors, terms = PredictionErrors(problem), numbers(problem, RECORD_TERMS if of_records else TERMS)
    fit = errors.fit(noise_model, terms[::-1], order=max(1, len(moving)))
    assert fit.terms.tolist() == sorted(terms) and len(fit.moving) == len(moving)
    initial, coefficients = initial_of(problem, fit), errors.coefficients(fit)
    expected = plain_innovations(problem, noise_model, fit.terms, coefficients, fit.moving, initial)
    np.testing.assert_allclose(errors.innovations(fit), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    sse = float(np.sum(expected[counted_rows(problem)] ** 2) + np.sum((initial - measured_initial(problem)) ** 2))
    assert (initial != measured_initial(problem)).any() == (noise_model == "noe")
    samples = len(counted_rows(problem))
    assert errors.samples == samples == (78 - 3 + 58 - 2 if of_records else 147 - 7)
    assert errors.deviance(fit) == pytest.approx(samples * math.log(sse / samples), rel=1e-9)
    density = -0.5 * samples * (math.log(2.0 * math.pi * sse / samples) + 1.0)
    assert errors.log_likelihood(fit) == pytest.approx(density, rel=1e-9)
    if of_records:
        assert problem.stretches.tolist() == [[2, 80], [82, 140]]
        by_name = dict(zip([problem.terms[term] for term in fit.terms], coefficients, strict=True))
        found = [by_name[name] for name in RECORD_TERMS]
        np.testing.assert_allclose(found, [0.5, 0.4, -0.3], atol=0.15 if noise_model == "noe" else 0.08)


@pytest.mark.parametrize("of_records", [False, True])
@pytest.mark.parametrize(("noise_model", "moving"), MODELS)
def test_sensitivities_are_differences_of_plain_innovations(noise_model, moving, of_records):
    problem = record_problem((50, 45), 0.75) if of_records else plain_problem(100)
    given = dict(zip(RECORD_TERMS, (0.4, 0.3, -0.2), strict=True) if of_records else zip(TERMS, WEIGHTS, strict=True))
    errors, terms, n = PredictionErrors(problem), numbers(problem, given), len(problem.terms)
    fit = model(problem, noise_model, terms, [*given.values()], moving)
    assert errors.coefficients(fit).tolist() == [*given.values()]
    found, step = errors.sensitivities(fit), 1e-5
    for place in range(n + len(moving)):
        sides = []
        for sign in (1.0, -1.0):
            weights = np.zeros(n + len(moving))
            weights[terms], weights[n:] = [*given.values()], moving
            weights[place] += sign * step
            present = np.flatnonzero(weights[:n])
            sides.append(plain_innovations(problem, noise_model, present, weights[present], weights[n:]))
        np.testing.assert_allclose(found[:, place], (sides[1] - sides[0]) / (2.0 * step), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("noise_model", "moving"), MODELS)
def test_the_linearised_choice_of_terms_is_least_squares_of_the_sensitivities(noise_model, moving):
    problem = plain_problem()
    errors, terms = PredictionErrors(problem), numbers(problem, TERMS)
    fit = model(problem, noise_model, terms, WEIGHTS, moving)
    linear, counted = errors.linearised(fit), counted_rows(problem)
    columns = errors.sensitivities(fit)[counted]
    explained = errors.innovations(fit)[counted] + columns[:, terms] @ WEIGHTS
    assert linear.finite
    np.testing.assert_allclose(np.diag(linear.gram), np.sum(columns**2, 0), rtol=1e-10)
    np.testing.assert_allclose(linear.moments, columns.T @ explained, rtol=1e-9, atol=1e-10)
    assert linear.energy == pytest.approx(explained @ explained, rel=1e-10)
    others = [2, 7, 31, 55]
    linear.enter([*others, *others[:2], terms[1]])
    known = [*terms, *others, *range(56, 56 + len(moving))]
    np.testing.assert_allclose(linear.gram[known], (columns.T @ columns)[known], rtol=1e-9, atol=1e-10)
    weights = np.linalg.lstsq(columns[:, others], explained, rcond=None)[0]
    np.testing.assert_allclose(linear.weights(np.array(others)), weights, rtol=1e-7)


@pytest.mark.parametrize(("noise_model", "order"), [("narmax", 1), ("narmax", 2), ("noe", 0)])
@pytest.mark.parametrize("true_structure", [True, False])
def test_fits_are_those_of_scipy(noise_model, order, true_structure):
    problem = plain_problem(250)
    terms = numbers(problem, load_system("S1").terms if true_structure else TERMS)
    errors, counted, n = PredictionErrors(problem), counted_rows(problem), len(terms)

    measured, free = measured_initial(problem), n + order
    begun = measured.size if noise_model == "noe" else 0

    def residuals(p):
        initial = p[free:].reshape(measured.shape) if begun else measured
        errors_of = plain_innovations(problem, noise_model, terms, p[:n], p[n:free], initial)[counted]
        return np.concatenate([errors_of, (initial - measured).ravel()])

    start = np.concatenate([errors.fit("narx", terms).weights, np.zeros(order), measured.ravel()[:begun]])
    expected = least_squares(residuals, start, jac="3-point", xtol=1e-13, ftol=1e-15, gtol=1e-13)
    fit = errors.fit(noise_model, terms, order=order)
    assert fit.sse == pytest.approx(2.0 * expected.cost, rel=1e-9)
    # The sum of squares is flat at its lowest: weights are known to a share of their standard errors.
    differences = np.abs([*fit.weights, *fit.moving] - expected.x[:free])
    assert (differences < 1e-3 * errors.uncertainty(fit).classical).all()
    np.testing.assert_allclose(fit.initial.ravel()[:begun], expected.x[free:], atol=1e-4)
    if noise_model == "noe" and true_structure:
        assert (differences < 1e-6).all()


def test_a_fit_goes_on_from_given_weights():
    problem = plain_problem(250)
    errors, terms = PredictionErrors(problem), numbers(problem, TERMS)
    given = {"weights": np.full(len(terms), 0.1), "moving": np.array([0.3])}
    kept = {name: values.copy() for name, values in given.items()}
    for noise_model in ("narmax", "noe"):
        plain, begun = errors.fit(noise_model, terms, order=1), errors.fit(noise_model, terms, **given)
        differences = np.abs(np.array([*begun.weights, *begun.moving]) - [*plain.weights, *plain.moving])
        assert differences.any() and (differences < 1e-3 * errors.uncertainty(plain).classical).all()
    for name, values in kept.items():
        np.testing.assert_array_equal(given[name], values)


def test_narmax_is_the_arma_model_of_statsmodels():
    rng = np.random.default_rng(4)
    e, y = rng.normal(size=1600), np.zeros(1600)
    for k in range(2, 1600):
        y[k] = 1.2 * y[k - 1] - 0.5 * y[k - 2] + e[k] + 0.6 * e[k - 1] + 0.3 * e[k - 2]
    y = y[100:]
    problem = StructureProblem(rng.normal(size=1500), y, n_u=1, n_y=2, degree=1, n_validation=100)
    errors = PredictionErrors(problem)
    fit = errors.fit("narmax", numbers(problem, ["y(k-1)", "y(k-2)"]), order=2)
    theirs = ARIMA(y, order=(2, 0, 2), trend="n").fit()
    found, expected = [*errors.coefficients(fit), *fit.moving], theirs.params[:4]
    assert theirs.param_names[:4] == ["ar.L1", "ar.L2", "ma.L1", "ma.L2"]
    np.testing.assert_allclose(found, expected, atol=0.02)
    assert (np.abs(found - expected) < 3.0 * theirs.bse[:4]).all()
    np.testing.assert_allclose(errors.uncertainty(fit).classical, theirs.bse[:4], rtol=0.1)


def test_noise_on_the_output_biases_narx_towards_zero_but_not_noe():
    """y(k) = a y(k-1) + b u(k-1) + e(k) - a e(k-1)."""
    a, b, deviation = 0.7, 0.5, 0.3
    errors = PredictionErrors(linear_problem(20_000, 5, a=a, b=b, deviation=deviation))
    noe, narx = (errors.fit(noise_model, (1, 2)) for noise_model in ("noe", "narx"))
    np.testing.assert_allclose(errors.coefficients(noe), [a, b], atol=0.01)
    assert noe.sse < narx.sse
    assert math.sqrt(math.exp(errors.deviance(noe) / errors.samples)) == pytest.approx(deviation, rel=0.02)
    power = b**2 / (1.0 - a**2)
    biased = a * power / (power + deviation**2)
    assert biased < 0.65
    np.testing.assert_allclose(errors.coefficients(narx), [biased, b], atol=0.01)


class TestStandardErrors:
    def test_those_of_narx_are_those_of_statsmodels_as_are_the_weights(self):
        problem = plain_problem(500, scale_u=7.0, scale_y=0.03)
        errors, terms = PredictionErrors(problem), numbers(problem, TERMS)
        fit, rows = errors.fit("narx", terms), 3 + counted_rows(problem)
        u, y = problem.training_u, problem.training_y
        model = OLS(y[rows], np.column_stack([column(u, y, problem.monomials[term], rows) for term in terms]))
        robust = model.fit(cov_type="HAC", cov_kwds={"maxlags": 5, "use_correction": False})
        assert int(4 * (errors.samples / 100) ** (2 / 9)) == 5
        found = errors.uncertainty(fit)
        np.testing.assert_allclose(errors.coefficients(fit), model.fit().params, rtol=1e-8)
        np.testing.assert_allclose(found.classical, model.fit().bse, rtol=1e-7)
        np.testing.assert_allclose(found.robust, robust.bse, rtol=1e-7)

    @pytest.mark.parametrize("noise_model", ["noe", "narmax"])
    def test_they_are_the_spread_of_many_estimates(self, noise_model):
        weights, classical, robust = [], [], []
        for seed in range(150):
            errors = PredictionErrors(linear_problem(300, seed))
            fit = errors.fit(noise_model, [1, 2], order=1)
            uncertainty = errors.uncertainty(fit)
            weights.append([*errors.coefficients(fit), *fit.moving])
            classical.append(uncertainty.classical)
            robust.append(uncertainty.robust)
        spread = np.std(weights, axis=0, ddof=1)
        np.testing.assert_allclose(np.sqrt(np.mean(np.square(classical), 0)), spread, rtol=0.25)
        np.testing.assert_allclose(np.sqrt(np.mean(np.square(robust), 0)), spread, rtol=0.35)


@pytest.mark.parametrize(("noise_model", "moving"), MODELS)
def test_powers_of_two_as_units_change_no_bit(noise_model, moving):
    plain, scaled = plain_problem(), plain_problem(scale_u=1024.0, scale_y=1024.0)
    terms = numbers(plain, TERMS)
    fits = [PredictionErrors(p).fit(noise_model, terms, order=max(1, len(moving))) for p in (plain, scaled)]
    assert fits[0].weights.tobytes() == fits[1].weights.tobytes()
    assert fits[0].moving.tobytes() == fits[1].moving.tobytes() and fits[0].sse == fits[1].sse
    converted = [1024.0 ** (1 - len(plain.monomials[t])) * w for t, w in zip(terms, fits[0].weights, strict=True)]
    assert PredictionErrors(scaled).coefficients(fits[1]).tolist() == converted


class TestRecords:
    @pytest.mark.parametrize(("records", "estimated"), [(20, True), (21, False)])
    def test_outputs_before_them_are_estimated_unless_they_are_many(self, records, estimated):
        problem = record_problem((12,) * records)
        errors, terms = PredictionErrors(problem), numbers(problem, ["y(k-1)", "u1(k)"])
        fit = errors.fit("noe", terms)
        assert fit.initial.shape == (records, 2 if estimated else 0)
        expected = plain_innovations(problem, "noe", terms, errors.coefficients(fit), [], initial_of(problem, fit))
        np.testing.assert_allclose(errors.innovations(fit), expected, rtol=1e-9, atol=1e-10)
        # Where y(k-2) is in no term, it stays as it was measured.
        changed = (initial_of(problem, fit) != measured_initial(problem)[:, : fit.initial.shape[1]]).any(axis=0)
        assert changed.tolist() == ([True, False] if estimated else [])

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
            wanted = {*rows.tolist(), *segments[0], *segments[1]}
            covered = [k for begin, end in problem.stretches for k in range(begin, end)]
            assert len(covered) == len({*covered}) and {*covered} <= wanted
            assert not {k - lag for k in problem.stretches[:, 0] for lag in (1, 2, 3, 4)} & {*covered}
            # What is left out is a lag of the stretch behind it.
            assert wanted - {*covered} <= {end + lag for end in problem.stretches[:, 1] for lag in range(4)}
            shorter += len(covered) < len(wanted)
        assert shorter > 20


class TestDivergence:
    def test_a_free_run_that_diverges_has_no_likelihood(self):
        problem = plain_problem()
        errors = PredictionErrors(problem)
        terms = numbers(problem, ["y(k-1)", "u(k-1)"])
        fit = errors.fit("noe", terms, weights=np.array([1.5, 0.5]))
        assert fit.sse == math.inf and errors.deviance(fit) == math.inf and not errors.bounded(fit)
        assert errors.log_likelihood(fit) == -math.inf
        # It is the free run that diverges, whatever the noise model.
        assert not errors.bounded(model(problem, "narx", terms, fit.weights, fit.moving))
        assert errors.bounded(errors.fit("narx", terms)) and errors.bounded(errors.fit("noe", terms))

    def test_a_moving_average_that_does_not_forget_is_refused(self):
        errors = PredictionErrors(plain_problem())
        assert errors.fit("narmax", [1], weights=np.array([0.5]), moving=np.array([1.1])).sse == math.inf

    def test_zeros_on_the_circle_are_kept_inside(self):
        """Differences of white noise have a zero at 1."""
        e = np.random.default_rng(8).normal(size=5001)
        errors = PredictionErrors(StructureProblem(e[1:], np.diff(e), n_u=1, n_y=1, degree=1))
        moving = errors.fit("narmax", [], order=1).moving
        assert -kernel.RADIUS < moving[0] < -0.97

    @pytest.mark.parametrize("order", [1, 2, 3, 4])
    def test_stability_is_that_of_the_roots(self, order):
        rng, counts = np.random.default_rng(9), [0, 0]
        for _ in range(400):
            half = (rng.uniform(0.5, 1.1, 2) * np.exp(1j * rng.uniform(0.0, math.pi, 2)))[: order // 2]
            single = (rng.choice([-1.0, 1.0], 1) * rng.uniform(0.5, 1.1))[: order % 2]
            moving = np.poly([*half, *half.conj(), *single])[1:].real
            expected = bool(np.abs(np.roots([1.0, *moving])).max() < 0.98)
            assert kernel.stable(moving) == expected
            counts[expected] += 1
        assert min(counts) > 30


class TestCorners:
    @pytest.mark.parametrize("noise_model", NOISE_MODELS)
    def test_a_column_of_zeros_gets_no_weight(self, noise_model):
        _, y = linear_data(300, 1)
        errors = PredictionErrors(StructureProblem(np.zeros(300), y, n_u=1, n_y=1, degree=1, n_validation=50))
        fit = errors.fit(noise_model, [0, 1, 2], order=1)
        without = errors.fit(noise_model, [0, 1], order=1)
        assert fit.weights[2] == 0.0 and np.isfinite(fit.weights).all() and math.isfinite(errors.deviance(fit))
        np.testing.assert_array_equal(fit.weights[:2], without.weights)
        assert all(np.isfinite(values).all() for values in errors.uncertainty(fit))

    @pytest.mark.parametrize("noise_model", NOISE_MODELS)
    def test_equal_columns_fit_as_one(self, noise_model):
        u, y = linear_data(300, 1)
        monomials = monomials_of([(0, 1), (1, 1), (2, 1)], 1)
        options = {"rows": np.arange(1, 300), "segments": [range(250, 300)]}
        problem = StructureProblem.of_records(np.column_stack([u, u]), y, monomials, **options)
        errors = PredictionErrors(problem)
        first, second = numbers(problem, ["u1(k-1)", "u2(k-1)"])
        y_term = problem.terms.index("y(k-1)")
        both, one = errors.fit(noise_model, [y_term, first, second]), errors.fit(noise_model, [y_term, first])
        assert np.isfinite(both.weights).all()
        assert both.sse == pytest.approx(one.sse, rel=1e-9)
        assert all(np.isfinite(values).all() for values in errors.uncertainty(both))

    @pytest.mark.parametrize("noise_model", NOISE_MODELS)
    def test_data_without_noise_have_a_finite_likelihood(self, noise_model):
        errors = PredictionErrors(linear_problem(300, 1, deviation=0.0))
        fit = errors.fit(noise_model, [1, 2])
        np.testing.assert_allclose(errors.coefficients(fit), [0.7, 0.5], rtol=1e-6)
        assert math.isfinite(errors.deviance(fit)) and math.isfinite(errors.log_likelihood(fit))
        assert errors.deviance(fit) < errors.deviance(errors.fit(noise_model, [1])) - 1000.0
        # Rounding does not make one exact fit better than another.
        larger = errors.fit(noise_model, [0, 1, 2])
        assert errors.deviance(larger) == errors.deviance(fit)

    @pytest.mark.parametrize("noise_model", NOISE_MODELS)
    def test_an_output_of_zeros(self, noise_model):
        u = np.random.default_rng(2).normal(size=100)
        errors = PredictionErrors(StructureProblem(u, np.zeros(100), n_u=1, n_y=1, degree=1, n_validation=30))
        fit = errors.fit(noise_model, [0, 1, 2])
        assert not fit.weights.any() and math.isfinite(errors.deviance(fit))
