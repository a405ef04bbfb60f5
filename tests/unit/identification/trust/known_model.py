"""A model with known weights, and records that it made."""

from narxbench._model.narx import Model
from narxbench._model.records import Record
from narxbench._numerics.random_streams import generator

TERMS, WEIGHTS = ("y(k-1)", "u(k-1)", "u(k-2)^2"), (0.6, 1.0, 0.4)


def model(decimation=1, weights=WEIGHTS, terms=TERMS):
    return Model(terms, weights, inputs=("u",), output="y", decimation=decimation)


def record(seed, samples, role, decimation=1, noise=0.1):
    rng = generator(purpose="validation", seed=seed)
    u = rng.standard_normal(samples)
    y = rng.standard_normal(samples)
    for k in range(2 * decimation, samples):
        y[k] = 0.6 * y[k - decimation] + u[k - decimation] + 0.4 * u[k - 2 * decimation] ** 2
        y[k] += noise * rng.standard_normal()
    return Record(str(seed), u[:, None], y, role)
