"""Models of the tests, any of them, and their predictions in plain floats."""

import itertools

import numpy as np
from hypothesis import strategies as st

from narxbench import Model

ARX = Model(("y(k-1)", "u(k-1)"), (0.5, 1.0), ("u",), "y")
NAR = Model(("y(k-1)",), (0.5,), (), "y")
TWO = Model(("u1(k-2)", "u2(k)"), (0.5, 1.0), ("p", "q"), "y", decimation=12)


@st.composite
def models(draw, scaled=None):
    """Return any model of up to three inputs; ``scaled`` says whether it has offsets and scales, None: perhaps."""
    n_inputs = draw(st.integers(0, 3))
    output_factors = ["y(k-1)", "y(k-2)", "y(k-3)"]
    inputs = ["u"] if n_inputs == 1 else [f"u{number}" for number in range(1, 1 + n_inputs)]
    factors = [*output_factors, *(f"{name}({time})" for name in inputs for time in ("k", "k-4"))]
    products = ["1"]
    for degree in (1, 2, 3):
        products += map("*".join, itertools.combinations_with_replacement(factors, degree))
    terms = draw(st.lists(st.sampled_from(products), min_size=1, max_size=6, unique=True))
    weights = draw(lists_of(len(terms), st.floats(-0.4, 0.4)))
    if scaled is None:
        scaled = draw(st.booleans())
    scaling = {}
    if scaled:
        scaling["offsets"] = draw(lists_of(1 + n_inputs, st.floats(-1, 1)))
        scaling["scales"] = draw(lists_of(1 + n_inputs, st.floats(0.5, 3)))
    names = ("input 0", "input 1", "input 2")[:n_inputs]
    return Model(terms, weights, names, "out", decimation=draw(st.integers(1, 4)), **scaling)


def lists_of(size, values):
    """Return lists of some values that have one size."""
    return st.lists(values, min_size=size, max_size=size)


def signals(model, samples, seed=0):
    """Return inputs and outputs for a model."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (samples, model.n_inputs)), rng.uniform(-1, 1, samples)


def plain_step(model, u, y, k):
    """Return the output at sample k in plain floats; y(j) and u(j, i) are functions of the sample."""
    offsets = model.offsets or [0.0] * (1 + model.n_inputs)
    scales = model.scales or [1.0] * (1 + model.n_inputs)
    value = 0.0
    for weight, monomial in zip(model.coefficients, model.monomials, strict=True):
        product = weight
        for signal, lag in monomial:
            j = k - lag * model.decimation
            assert j >= 0
            product *= ((u(j, signal - 1) if signal else y(j)) - offsets[signal]) / scales[signal]
        value += product
    return value * scales[0] + offsets[0]


def plain_prediction(model, u, y, steps):
    """Return the prediction of each sample, made one by one from what was measured before."""
    samples, first, q = len(u), model.initial_samples, model.decimation

    def predicted(k, start):
        """Return the output at sample k where those before the sample ``start`` are measured."""
        if k < max(first, start):
            return float(y[k])
        if (k, start) not in predictions:
            predictions[k, start] = plain_step(model, lambda j, i: float(u[j, i]), lambda j: predicted(j, start), k)
        return predictions[k, start]

    predictions = {}
    return [predicted(k, 0 if steps is None else k - (steps - 1) * q) for k in range(samples)]
