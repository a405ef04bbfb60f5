"""Values of terms: those of many at once are those of each alone to the last bit."""

import gc
from itertools import product

import numpy as np
import pytest

from narxbench._model import structure
from narxbench._model.structure import candidate_columns, column
from narxbench._model.terms import monomials_of


@pytest.mark.parametrize("n_inputs", [0, 1, 2])
def test_columns_of_many_terms_are_those_of_each(monkeypatch, rng, n_inputs):
    u, y = rng.normal(size=(60, n_inputs)), rng.normal(size=60)
    factors = [(0, 1), (0, 3), *product(range(1, n_inputs + 1), (0, 2))]
    # A term alone, without those that it begins with, is there too.
    monomials = [*monomials_of(factors, 3)[::-1], ((0, 2), (0, 2), (0, 5))]
    rows = np.arange(5, 60)[rng.permutation(55)]
    # Blocks of rows, the last of which is shorter.
    monkeypatch.setattr(structure, "BLOCK", 20)
    values = candidate_columns(u, y, monomials, rows)
    for monomial, of_many in zip(monomials, values, strict=True):
        np.testing.assert_array_equal(of_many, column(u, y, monomial, rows))


def test_columns_are_freed_without_the_garbage_collector(rng):
    # Columns of a million samples that wait for the collector are hundreds of megabytes.
    u, y = rng.normal(size=(60, 1)), rng.normal(size=60)
    monomials = monomials_of([(0, 1), (1, 0)], 3)
    gc.collect()
    gc.disable()
    try:
        candidate_columns(u, y, monomials, np.arange(5, 60))
        assert gc.collect() == 0
    finally:
        gc.enable()
