"""What all structures of a data set share: Gram matrix over the estimation rows, monomials over the validation rows."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from narxbench.model.terms import INPUT, OUTPUT, Monomial
from narxbench.numerics.compilation import compiled

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A simulation diverges when |y| passes this multiple of the largest measured |y|.
DIVERGENCE_FACTOR = 1e6


class ProblemData(NamedTuple):
    """What the kernel needs of one data set; N_t candidate terms, L validation samples.

    In Gram matrix, diagonal and moments an N_t-th term stands for none: it belongs to no other term and to no y.
    """

    gram: Floats  # (N_t + 1, N_t + 1) inner products of the candidate columns over the estimation rows
    diagonal: Floats  # (N_t + 1,) its diagonal
    moments: Floats  # (N_t + 1,) inner products of the candidate columns with y
    inputs: Floats  # (L + 3, number of u-monomials) over the validation rows; column 0 is 1; three rows to fill up
    term_node: Integers  # (N_t,) node (y-monomial) of each candidate term
    term_input: Integers  # (N_t,) u-monomial of each candidate term
    term_order: Integers  # (N_t,) the terms ordered by node, those of a node in canonical order
    node_parent: Integers  # (nodes,) node without its last factor; node 0 is the constant
    node_lag: Integers  # (nodes,) lag of the last factor
    initial: Floats  # (n_y,) measured outputs just before the validation part
    measured: Floats  # (L,) measured outputs of the validation part
    bound: float  # a simulated |y| above this has diverged
    penalty: float  # added to J for each term


def prepare(
    u: Floats,
    y: Floats,
    monomials: list[Monomial],
    *,
    n_y: int,
    first_row: int,
    n_validation: int,
    penalty: float,
    estimation_end: int,
    one_step: bool,
) -> ProblemData:
    """Compute what all candidate structures of a data set share.

    Parameters
    ----------
    u, y : arrays of float, shape (samples,)
        Input and output.
    monomials : list of Monomial
        The N_t candidate terms in canonical order.
    n_y : int
        Largest lag of the output.
    first_row, estimation_end : int
        Rows ``first_row`` to ``estimation_end - 1`` estimate.
    n_validation : int
        L: the last L rows validate.
    penalty : float
        Added to J for each term.
    one_step : bool
        Whether the error is that of the prediction one step ahead from measured outputs, not of the free run.

    Returns
    -------
    ProblemData
        The argument ``data`` of :func:`narxbench.fitness.kernel.evaluation.evaluate_structures`.
    """
    n = len(y)
    estimation, validation = np.arange(first_row, estimation_end), np.arange(n - n_validation, n)
    columns = np.empty((len(estimation), len(monomials)))
    for i, monomial in enumerate(monomials):
        columns[:, i] = _product(u, y, monomial, estimation)
    gram, moments = _inner_products(columns, y[estimation])
    # One step ahead, past outputs are known before the simulation: to the kernel they are inputs.
    simulated, known = ((), (INPUT, OUTPUT)) if one_step else ((OUTPUT,), (INPUT,))
    by_node = {m: i for i, m in enumerate(m for m in monomials if all(f[0] in simulated for f in m))}
    by_input = {m: i for i, m in enumerate(m for m in monomials if all(f[0] in known for f in m))}
    split = [(tuple(f for f in m if f[0] in simulated), tuple(f for f in m if f[0] in known)) for m in monomials]
    term_node = np.array([by_node[m] for m, _ in split])
    return ProblemData(
        gram=np.pad(gram, (0, 1)),
        diagonal=np.append(gram.diagonal(), 1.0),
        moments=np.append(moments, 0.0),
        inputs=np.vstack([np.array([_product(u, y, m, validation) for m in by_input]).T, np.zeros((3, len(by_input)))]),
        term_node=term_node,
        term_input=np.array([by_input[m] for _, m in split]),
        term_order=np.argsort(term_node, kind="stable"),
        node_parent=np.array([by_node[m[:-1]] for m in by_node]),
        node_lag=np.array([m[-1][1] if m else 0 for m in by_node]),
        initial=y[n - n_validation - n_y : n - n_validation].copy(),
        measured=y[n - n_validation :].copy(),
        bound=DIVERGENCE_FACTOR * float(np.abs(y).max()),
        penalty=penalty,
    )


def _product(u: Floats, y: Floats, monomial: Monomial, rows: Integers) -> Floats:
    column = np.ones(len(rows))
    for signal, lag in monomial:
        column *= (y if signal == OUTPUT else u)[rows - lag]
    return column


@compiled
def _inner_products(columns, target):
    # Row by row: each sum runs over time in order, and the inner loop is free of reductions.
    n = columns.shape[1]
    gram, moments = np.zeros((n, n)), np.zeros(n)
    for k in range(columns.shape[0]):
        for i in range(n):
            x = columns[k, i]
            for j in range(i + 1):
                gram[i, j] += x * columns[k, j]
            moments[i] += x * target[k]
    for i in range(n):
        for j in range(i):
            gram[j, i] = gram[i, j]
    return gram, moments
