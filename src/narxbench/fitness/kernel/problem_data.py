"""What all structures of a data set share: Gram matrix over the estimation rows, monomials over the validation rows."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from narxbench.fitness.kernel.simd import at, fill, load, store
from narxbench.model.structure import column
from narxbench.model.terms import OUTPUT, Monomial
from narxbench.numerics.compilation import compiled

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A simulation diverges when |y| passes this multiple of the largest measured |y|.
DIVERGENCE_FACTOR = 1e6
# Columns that stand side by side, and columns whose products with them are computed together.
BAND, TILE = 16, 4


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
    segment_end: Integers  # (segments,) where each segment ends among the L validation samples
    initial: Floats  # (segments, n_y) measured outputs just before each segment
    measured: Floats  # (L,) measured outputs
    bound: float  # a simulated |y| above this has diverged
    penalties: Floats  # (N_t + 1,) added to J for 0 to N_t terms


def products_over(u: Floats, y: Floats, monomials: list[Monomial], rows: Integers) -> Floats:
    """Return the inner products of the candidate columns and, last, y over some samples, shape (N_t + 1, N_t + 1).

    They are summed in the order of ``rows``. Sums over parts of the samples may be added.
    """
    # The candidate columns and y behind them, BAND columns side by side.
    n_terms = len(monomials)
    bands = np.zeros((n_terms // BAND + 1, len(rows), BAND))
    for i, monomial in enumerate(monomials):
        bands[i // BAND, :, i % BAND] = column(u, y, monomial, rows)
    bands[-1, :, n_terms % BAND] = y[rows]
    gram = np.empty((n_terms + 1, n_terms + 1))
    _inner_products(bands, gram)
    return gram


def prepare(
    u: Floats,
    y: Floats,
    monomials: list[Monomial],
    n_y: int,
    products: Floats,
    segments: list[range],
    penalties: Floats,
    one_step: bool,
) -> ProblemData:
    """Compute what all candidate structures of a data set share.

    The candidates are in canonical order, the ``products`` over the samples that estimate; each segment is simulated on
    its own from the measured outputs before it. ``one_step``: the error is that of the prediction one step ahead.
    """
    validation, gram = np.concatenate(segments), products.copy()
    moments = gram[-1].copy()
    moments[-1] = gram[-1] = gram[:, -1] = 0.0
    diagonal = gram.diagonal().copy()
    diagonal[-1] = 1.0
    split = [(tuple(f for f in m if f[0] == OUTPUT), tuple(f for f in m if f[0] != OUTPUT)) for m in monomials]
    if one_step:
        # Past outputs are known before the simulation: to the kernel they are inputs.
        split = [((), m) for m in monomials]
    # A candidate need not come with all of its parts: a node has its parents, though, and there is a constant.
    by_node = _numbered(node[:end] for node, _ in split for end in range(len(node) + 1))
    by_input = _numbered([(), *(inputs for _, inputs in split)])
    term_node = np.array([by_node[m] for m, _ in split])
    return ProblemData(
        gram=gram,
        diagonal=diagonal,
        moments=moments,
        inputs=np.vstack([np.array([column(u, y, m, validation) for m in by_input]).T, np.zeros((3, len(by_input)))]),
        term_node=term_node,
        term_input=np.array([by_input[m] for _, m in split]),
        term_order=np.argsort(term_node, kind="stable"),
        node_parent=np.array([by_node[m[:-1]] for m in by_node]),
        node_lag=np.array([m[-1][1] if m else 0 for m in by_node]),
        segment_end=np.cumsum([len(segment) for segment in segments]),
        initial=np.array([y[segment.start - n_y : segment.start] for segment in segments]),
        measured=y[validation],
        bound=DIVERGENCE_FACTOR * float(np.abs(y).max()),
        penalties=penalties,
    )


def _numbered(monomials: Iterable[Monomial]) -> dict[Monomial, int]:
    """Return the place of each different monomial in canonical order."""
    return {m: i for i, m in enumerate(sorted(set(monomials), key=lambda m: (len(m), m)))}


@compiled
def _inner_products(bands, gram):
    # Each sum runs over time in order. BAND columns meet TILE others at a time; all of their sums stay in registers.
    n, rows = gram.shape[0], bands.shape[1]
    columns, sums = bands.reshape(-1), np.empty(TILE * BAND)
    for first in range(0, n, BAND):
        for i in range(0, first + BAND, TILE):
            right, left = first * rows, i // BAND * BAND * rows + i % BAND
            a = b = c = d = fill(0.0, BAND)
            for k in range(0, rows * BAND, BAND):
                x = load(columns, right + k, BAND)
                a = a + x * fill(at(columns, left + k), BAND)
                b = b + x * fill(at(columns, left + k + 1), BAND)
                c = c + x * fill(at(columns, left + k + 2), BAND)
                d = d + x * fill(at(columns, left + k + 3), BAND)
            store(sums, 0, a)
            store(sums, BAND, b)
            store(sums, 2 * BAND, c)
            store(sums, 3 * BAND, d)
            for r in range(min(TILE, n - i)):
                for j in range(min(BAND, n - first)):
                    gram[i + r, first + j] = gram[first + j, i + r] = sums[r * BAND + j]
