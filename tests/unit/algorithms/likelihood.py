"""Data with noise of every kind, and the criterion of the prediction error method by its definition."""

import math
from itertools import combinations

import numpy as np
from scipy.signal import lfilter

from narxbench import StructureProblem, load_system, search
from narxbench._fitness.prediction_error import PredictionErrors
from narxbench._model.noise_models import NOISE_MODELS
from narxbench._model.terms import monomials_of

S1 = load_system("S1").terms
WEIGHTS = [0.5, 0.3, 0.3, 0.5]
# Settings under which few noise models are tried.
LOW_ORDERS = {"largest_order": 1, "tails": False, "drift": False}
# Where the noise enters, C(q) and D(q).
FILTERS = {
    "white in the equation": ("equation", [1.0], [1.0]),
    "moving average in the equation": ("equation", [1.0, 0.8], [1.0]),
    "autoregression in the equation": ("equation", [1.0], [1.0, -0.8]),
    "white on the output": ("output", [1.0], [1.0]),
    "autoregression on the output": ("output", [1.0], [1.0, -0.8]),
    "both on the output": ("output", [1.0, 0.6], [1.0, -0.8]),
    "long moving average on the output": ("output", [1.0, 0.7, 0.6, 0.5, 0.6], [1.0]),
    "season on the output": ("output", [1.0], [1.0, *[0.0] * 11, -0.8]),
    "random walk on the output": ("output", [1.0], [1.0, -1.0]),
    "outliers on the output": ("output", [1.0], [1.0]),
}


def data_of(noise, samples, seed=1, deviation=0.05, weights=WEIGHTS):
    """Return u, y of S1 with one of the kinds of noise; 2 % of the outliers are 15 times as large."""
    of_output, of_input, of_product, of_square = weights
    rng = np.random.default_rng(seed)
    place, moving_average, autoregression = FILTERS[noise]
    u, e = rng.uniform(-1.0, 1.0, samples + 100), deviation * rng.normal(size=samples + 100)
    if noise.startswith("outliers"):
        e = np.where(rng.random(samples + 100) < 0.02, 15.0 * e, e)
    w = lfilter(moving_average, autoregression, e)
    y, past = np.zeros(samples + 100), np.zeros(samples + 100)
    for k in range(1, samples + 100):
        before = past[k - 1]
        predicted = of_output * before + (of_input + of_product * before) * u[k - 1] + of_square * u[k - 1] ** 2
        y[k] = predicted + w[k]
        past[k] = y[k] if place == "equation" else predicted
    return u[100:], y[100:]


def problem_of(u, y, **options):
    return StructureProblem(u, y, **({"n_u": 2, "n_y": 2, "degree": 2, "n_validation": 100} | options))


def pem(problem, **settings):
    return search(problem, algorithm="pem", seed=1, **settings)


def small_problem(u, y, n_terms=8):
    """Return a problem of so few candidates that all structures can be fitted; six have all true terms."""
    chosen = [((0, 1),), ((1, 1),), ((0, 1), (1, 1)), ((1, 1), (1, 1)), ((0, 2),), ((1, 2),), (), ((0, 1), (0, 1))]
    monomials = [m for m in monomials_of([(0, 1), (0, 2), (1, 1), (1, 2)], 2) if tuple(m) in chosen[:n_terms]]
    samples = len(y)
    rows, segments = np.arange(2, samples), [range(2 * samples // 3, samples)]
    return StructureProblem.of_records(u[:, None], y, monomials, rows=rows, segments=segments)


def noise_models_of(names=tuple(NOISE_MODELS), largest_order=1):
    """Return Gaussian noise models without drift, all that the settings allow."""
    noise_models = []
    for name in names:
        family = NOISE_MODELS[name]
        for ar_lags, ma_lags in dict.fromkeys(family.filters(largest_order)):
            noise_models.append(family(ar_lags, ma_lags))
    return noise_models


def plain_criterion(errors, noise_model, terms, gamma=1.25):
    """Return the criterion of a structure by its definition, from innovations in the units of the data."""
    fit = errors.fit(noise_model, terms)
    if not fit.is_finite:
        return math.inf
    deviance = -2.0 * errors.log_likelihood(fit) - errors.samples * (math.log(2.0 * math.pi) + 1.0)
    per_term = math.log(errors.samples) + 2.0 * gamma * math.log(errors.n_terms)
    return deviance + len(terms) * per_term + noise_model.n_parameters * math.log(errors.samples)


def structures_of(n_terms):
    """Yield the terms of every structure that has any."""
    for size in range(1, n_terms + 1):
        yield from combinations(range(n_terms), size)


def all_criteria(problem, noise_models, gamma=1.25):
    """Return the criterion of every structure under every noise model."""
    errors = PredictionErrors(problem)
    criteria = {}
    for noise_model in noise_models:
        for terms in structures_of(len(problem.terms)):
            criteria[noise_model, terms] = plain_criterion(errors, noise_model, terms, gamma)
    return criteria
