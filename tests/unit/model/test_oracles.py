"""Computations that no public name shows alone, against independent ones."""

from itertools import product

import numpy as np
import pytest
from tests.unit.model.test_export import JOINT, run_in_python, run_of

from narxbench._model import structure
from narxbench._model.joint import _simulate_jointly
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


def test_python_of_the_machine_code_of_joint_models_runs_as_their_programs(monkeypatch):
    monkeypatch.setattr("narxbench._model.joint._simulate_jointly", _simulate_jointly.py_func)
    for model in JOINT.values():
        u, initial, run = run_of(model)
        np.testing.assert_allclose(run_in_python(model, u, initial, len(run)), run, rtol=1e-12, atol=1e-14)
