"""Models of the tests, and any models."""

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
