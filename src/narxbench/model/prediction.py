"""Free-run simulation of a polynomial NARX model: what it predicts from the inputs and its own past outputs."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narxbench.model.system import DIVERGED
from narxbench.model.terms import Monomial
from narxbench.numerics.compilation import compiled


def simulated(
    monomials: Sequence[Monomial],
    coefficients: Sequence[float],
    u: ArrayLike,
    y_initial: ArrayLike = (),
    *,
    bound: float = DIVERGED,
    stride: int = 1,
    offset: float = 0.0,
    scale: float = 1.0,
) -> tuple[NDArray[np.float64], int]:
    """Return the free run of a model as far as it goes, and how far that is.

    The operations are those of :meth:`narxbench.model.system.System.simulate`, in the order of the terms: the system's
    own terms and coefficients give its noise-free output to the last bit. ``y_initial`` are the first outputs; what
    lies before the first sample is zero. An output above ``bound`` in magnitude has diverged; ``stride`` is the number
    of samples in a step of a lag. The terms are of ``(y - offset) / scale``, as their sum is; outputs are not.

    Returns outputs, shape (samples,), and the first sample that diverges: the number of samples if none does.
    """
    given = np.asarray(y_initial, np.float64)
    inputs = np.ascontiguousarray(u, np.float64)
    inputs = inputs[:, None] if inputs.ndim == 1 else inputs
    y = np.zeros(len(inputs))
    y[: len(given)] = given
    factors = [factor for monomial in monomials for factor in monomial]
    ends = np.cumsum([len(monomial) for monomial in monomials], dtype=np.int64)
    signals = np.array([signal for signal, _ in factors], np.int64)
    delays = np.array([lag * stride for _, lag in factors], np.int64)
    weights = np.array(coefficients, np.float64)
    return y, _simulate(
        ends, signals, delays, weights, inputs, y, len(given), float(bound), float(offset), float(scale)
    )


@compiled
def _simulate(ends, signals, delays, weights, u, y, start, bound, offset, scale):  # type: ignore[no-untyped-def]
    # Returns the first sample outside the bound; of a term t the factors are those from ends[t - 1] to ends[t].
    scaled = (y - offset) / scale
    for k in range(start, u.shape[0]):
        value = 0.0
        f = 0
        for t in range(ends.shape[0]):
            product = weights[t]
            while f < ends[t]:
                past = k - delays[f]
                if past < 0:
                    product *= 0.0
                elif signals[f] == 0:
                    product *= scaled[past]
                else:
                    product *= u[past, signals[f] - 1]
                f += 1
            value += product
        # The output is what is passed on, as in a program that sees nothing else.
        value = value * scale + offset
        if not abs(value) <= bound:
            return k
        y[k] = value
        scaled[k] = (value - offset) / scale
    return u.shape[0]
