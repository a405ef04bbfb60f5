"""Free-run simulation of a polynomial NARX model: what it predicts from the input and its own past outputs."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narxbench.model.system import DIVERGED
from narxbench.model.terms import OUTPUT, Monomial
from narxbench.numerics.compilation import compiled


def free_run(
    monomials: Sequence[Monomial],
    coefficients: Sequence[float],
    u: ArrayLike,
    y_initial: ArrayLike = (),
    *,
    bound: float = DIVERGED,
) -> NDArray[np.float64] | None:
    """Return the free run of a model.

    The operations are those of :meth:`narxbench.model.system.System.simulate`, in the order of the terms: the system's
    own terms and coefficients give its noise-free output to the last bit.

    Parameters
    ----------
    monomials : sequence of Monomial
        The terms of the model.
    coefficients : sequence of float
        Their weights, in the same order.
    u : array, shape (samples,)
        Input.
    y_initial : array, shape (initial,)
        The first outputs, which are given; at most as many as samples. What lies before the first sample is zero.
    bound : float
        An output of larger magnitude has diverged.

    Returns
    -------
    array of float, shape (samples,), or None
        The given outputs and then the predicted ones; None if they diverge.

    Examples
    --------
    >>> from narxbench.model.terms import parse_term
    >>> model = [parse_term("y(k-1)"), parse_term("u(k-1)")], [0.5, 1.0]
    >>> free_run(*model, u=[4.0, 0.0, 0.0, 1.0], y_initial=[2.0])
    array([2.  , 5.  , 2.5 , 1.25])
    >>> free_run([parse_term("y(k-1)^2")], [2.0], u=[0.0] * 9, y_initial=[1.0], bound=100.0) is None
    True
    """
    given = np.asarray(y_initial, np.float64)
    inputs = np.ascontiguousarray(u, np.float64)
    y = np.zeros(len(inputs))
    y[: len(given)] = given
    factors = [factor for monomial in monomials for factor in monomial]
    ends = np.cumsum([len(monomial) for monomial in monomials], dtype=np.int64)
    is_output = np.array([signal == OUTPUT for signal, _ in factors], np.bool_)
    lags = np.array([lag for _, lag in factors], np.int64)
    weights = np.array(coefficients, np.float64)
    return y if _simulate(ends, is_output, lags, weights, inputs, y, len(given), bound) else None


@compiled
def _simulate(ends, is_output, lags, weights, u, y, start, bound):  # type: ignore[no-untyped-def]
    # Tells whether y stays within the bound; of a term t the factors are those from ends[t - 1] to ends[t].
    for k in range(start, u.shape[0]):
        value = 0.0
        f = 0
        for t in range(ends.shape[0]):
            product = weights[t]
            while f < ends[t]:
                past = k - lags[f]
                if past < 0:
                    product *= 0.0
                elif is_output[f]:
                    product *= y[past]
                else:
                    product *= u[past]
                f += 1
            value += product
        if not abs(value) <= bound:
            return False
        y[k] = value
    return True
