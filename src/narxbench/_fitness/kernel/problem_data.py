"""Data that all structures of a problem share: Gram matrix of the estimation rows, inputs of the validation rows."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from narxbench._fitness.kernel.free_run import STEPS
from narxbench._fitness.kernel.simd import WIDTH, at, fill, load, store
from narxbench._model.dataset import DIVERGENCE_FACTOR
from narxbench._model.structure import column_blocks
from narxbench._model.terms import OUTPUT, Monomial
from narxbench._numerics.compilation import compiled

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Masks = NDArray[np.uint8]

# The number of columns that are stored side by side, and of columns whose products with them are computed together.
BAND, TILE = 2 * WIDTH, 4


class ProblemData(NamedTuple):
    """A data set as the kernel needs it, with N_t candidate terms and L validation samples.

    Gram matrix, diagonal and moments have an entry N_t that represents no term: its products with terms and y are 0.
    """

    gram: Floats  # (N_t + 1, N_t + 1) inner products of the candidate columns over the estimation rows
    diagonal: Floats  # (N_t + 1,) its diagonal
    moments: Floats  # (N_t + 1,) inner products of the candidate columns with y
    inputs: Floats  # (L + STEPS - 1, u-monomials) over the validation rows, padded; column 0 is 1
    term_node: Integers  # (N_t,) node (y-monomial) of each candidate term
    term_input: Integers  # (N_t,) u-monomial of each candidate term
    term_order: Integers  # (N_t,) the terms ordered by node, and within a node in canonical order
    node_parent: Integers  # (nodes,) node without its last factor; node 0 is the constant
    node_lag: Integers  # (nodes,) lag of the last factor
    segment_end: Integers  # (segments,) end of each segment among the L validation samples
    initial: Floats  # (segments, n_y) measured outputs immediately before each segment
    measured: Floats  # (L,) measured outputs
    bound: float  # a simulated |y| above this has diverged
    penalties: Floats  # (N_t + 1,) added to J for 0 to N_t terms
    required: Masks  # (masks, N_t) a structure without a term of each mask has J = +inf


def products_over(u: Floats, y: Floats, monomials: Sequence[Monomial], rows: Integers) -> Floats:
    """Return the inner products of the candidate columns and y, which comes last, over some samples.

    The result has the shape (N_t + 1, N_t + 1). Products are summed in the order of ``rows``. Sums over parts of the
    samples may be added.
    """
    # The candidate columns, followed by y, BAND columns side by side.
    n_terms = len(monomials)
    bands = np.zeros((n_terms // BAND + 1, len(rows), BAND))
    for block, columns in column_blocks(u, y, monomials, rows):
        for first in range(0, n_terms, BAND):
            band = columns[first : first + BAND]
            bands[first // BAND, block, : len(band)] = band.T
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
    required: Masks,
    one_step: bool,
) -> ProblemData:
    """Return the data of a problem as the kernel needs them.

    Parameters
    ----------
    u, y : arrays
        Inputs and output of all samples.
    monomials : list of Monomial
        The candidate terms in canonical order.
    n_y : int
        The largest lag of the output.
    products : array of float, shape (N_t + 1, N_t + 1)
        Inner products as :func:`products_over` returns them, over the estimation rows.
    segments : list of range
        The validation samples. Each segment is simulated from the measured outputs before it.
    penalties : array of float, shape (N_t + 1,)
        Penalties of 0 to N_t terms.
    required : array of uint8, shape (masks, N_t)
        Sets of terms, a 1 for each member. A structure must have a term of each set.
    one_step : bool
        Whether the error is that of the prediction one step ahead.
    """
    validation, gram = np.concatenate(segments), products.copy()
    moments = gram[-1].copy()
    moments[-1] = gram[-1] = gram[:, -1] = 0.0
    diagonal = gram.diagonal().copy()
    diagonal[-1] = 1.0
    input_monomials, layout = _layout(tuple(monomials), one_step)
    # Rows of zeros behind the inputs: the kernel serves several steps at a time.
    inputs = np.zeros((len(validation) + STEPS - 1, len(input_monomials)))
    for block, columns in column_blocks(u, y, input_monomials, validation):
        inputs[block] = columns.T
    return ProblemData(
        gram=gram,
        diagonal=diagonal,
        moments=moments,
        inputs=inputs,
        **{name: array.copy() for name, array in layout.items()},
        segment_end=np.cumsum(list(map(len, segments))),
        initial=np.array([y[segment.start - n_y : segment.start] for segment in segments]),
        measured=y[validation],
        bound=DIVERGENCE_FACTOR * float(np.abs(y).max()),
        penalties=penalties,
        required=required,
    )


@lru_cache(maxsize=64)
def _layout(monomials: tuple[Monomial, ...], one_step: bool) -> tuple[tuple[Monomial, ...], dict[str, Integers]]:
    """Return the u-monomials, and the arrays of :class:`ProblemData` that follow from the candidate terms alone."""
    output_parts, input_parts = _parts(monomials)
    if one_step:
        # Past outputs are known before the simulation: to the kernel they are inputs.
        output_parts, input_parts = [()] * len(monomials), list(monomials)
    nodes = _node_places(output_parts)
    inputs = _places({(), *input_parts})
    term_node = np.array([nodes[monomial] for monomial in output_parts])
    return tuple(inputs), {
        "term_node": term_node,
        "term_input": np.array([inputs[monomial] for monomial in input_parts]),
        "term_order": np.argsort(term_node, kind="stable"),
        "node_parent": np.array([nodes[node[:-1]] for node in nodes]),
        "node_lag": np.array([node[-1][1] if node else 0 for node in nodes]),
    }


def _parts(monomials: Sequence[Monomial]) -> tuple[list[Monomial], list[Monomial]]:
    """Return the y-monomial and the u-monomial whose product each monomial is."""
    output_parts, input_parts = list[Monomial](), list[Monomial]()
    for monomial in monomials:
        output_parts.append(tuple(factor for factor in monomial if factor[0] == OUTPUT))
        input_parts.append(tuple(factor for factor in monomial if factor[0] != OUTPUT))
    return output_parts, input_parts


def _node_places(output_parts: list[Monomial]) -> dict[Monomial, int]:
    """Return the place of each node: the different y-monomials and all of their parents, which may be no candidates."""
    nodes: set[Monomial] = {()}
    for monomial in output_parts:
        for n_factors in range(1, len(monomial) + 1):
            nodes.add(monomial[:n_factors])
    return _places(nodes)


def _places(monomials: set[Monomial]) -> dict[Monomial, int]:
    """Return the place of each monomial in canonical order."""
    ordered = sorted(monomials, key=lambda monomial: (len(monomial), monomial))
    return {monomial: place for place, monomial in enumerate(ordered)}


@compiled
def _inner_products(bands, gram):
    # Each sum runs over time in order. BAND columns meet TILE columns at a time, and all these sums stay in registers.
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
