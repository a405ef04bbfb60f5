"""Linear equations with a positive definite matrix, against LAPACK and by their residuals."""

import numpy as np
import pytest

from narxbench._numerics.elimination import solved


@pytest.mark.parametrize(("n", "sides"), [(1, 1), (5, 3), (60, 60)])
def test_solutions_are_those_of_lapack(n, sides):
    rng = np.random.default_rng(n)
    columns = rng.normal(size=(3 * n, n))
    matrix, right = columns.T @ columns, rng.normal(size=(n, sides))
    before = matrix.copy(), right.copy()
    assert solved(matrix, right) == pytest.approx(np.linalg.solve(matrix, right), rel=1e-9)
    assert (matrix == before[0]).all() and (right == before[1]).all()


def test_columns_that_nearly_depend_on_each_other_leave_a_small_residual():
    base = np.random.default_rng(1).normal(size=(100, 3))
    columns = np.column_stack([base, base[:, 0] + 1e-6 * base[:, 1]])
    matrix = columns.T @ columns
    right = matrix @ np.ones((4, 1))
    assert matrix @ solved(matrix, right) == pytest.approx(right, rel=1e-9)
