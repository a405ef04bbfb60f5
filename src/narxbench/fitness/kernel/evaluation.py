"""The compiled fitness kernel: least squares and free-run simulation of many candidate structures side by side.

Everything that is equal for all structures of a data set is computed once (:func:`prepare`): the Gram matrix of the
candidate terms over the estimation rows, and the pure-input monomials over the validation rows. The order of every
operation is fixed and documented here, so that results are the same bytes whatever the machine or the batch.

Free run. Each candidate term is (monomial in y) x (monomial in u). Collecting the terms of one y-monomial m gives the
model y(k) = sum_m c_m(k) m(y), where c_m(k), a sum over inputs alone, is known before the simulation. The monomials
of y are the nodes of a tree (the parent of y(k-1)*y(k-3) is y(k-1)) and the sum is nested along it, Horner's way:
from the last node in canonical order to the first, value(parent) += value(node) * y(k - lag(node)).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from narxbench.fitness.kernel.simd import LANES, fill, larger_magnitude, load, store
from narxbench.model.terms import INPUT, OUTPUT, Monomial
from narxbench.numerics.compilation import compiled
from narxbench.numerics.logarithm import natural_log

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Positions = NDArray[np.uint8]

# A candidate column whose squared sine to the columns before it is below this is taken as a combination of them.
# The Gram matrix is only exact to about 1e-13 of its diagonal, so smaller values would be noise.
SINGULAR = 1e-11
# A simulation diverges when |y| passes this multiple of the largest measured |y|.
DIVERGENCE_FACTOR = 1e6
# An exact fit (e.g. of all-zero data) would make ln(SSE) minus infinity and its penalty meaningless.
SMALLEST_SSE = 1e-300
# Time steps that are simulated before the next ones are prepared: the scratch arrays stay in the first-level cache.
BLOCK = 40


class ProblemData(NamedTuple):
    """What the kernel needs of one data set; N_t candidate terms, L validation samples."""

    gram: Floats  # (N_t, N_t) inner products of the candidate columns over the estimation rows
    moments: Floats  # (N_t,) inner products of the candidate columns with y
    inputs: Floats  # (L + 3, number of u-monomials) over the validation rows; column 0 is 1; three rows to fill up
    term_node: Integers  # (N_t,) node (y-monomial) of each candidate term
    term_input: Integers  # (N_t,) u-monomial of each candidate term
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
        The argument ``data`` of :func:`evaluate_structures`.
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
    return ProblemData(
        gram=gram,
        moments=moments,
        inputs=np.vstack([np.array([_product(u, y, m, validation) for m in by_input]).T, np.zeros((3, len(by_input)))]),
        term_node=np.array([by_node[m] for m, _ in split]),
        term_input=np.array([by_input[m] for _, m in split]),
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


@compiled
def evaluate_structures(data, positions, fitness, sse, coefficients, outputs):
    """Evaluate structures: J = L ln(e) + penalty * cardinality (paper, equations 9 to 11).

    Parameters
    ----------
    data : ProblemData
        From :func:`prepare`.
    positions : array of uint8, shape (structures, N_t)
        A 1 where the structure has the term.
    fitness, sse : arrays of float, shape (structures,)
        Receive J and e; both are +inf for empty, singular and divergent structures.
    coefficients : array of float, shape (structures, N_t) or no rows
        Receives the least-squares weights, zero for absent terms and for singular structures.
    outputs : array of float, shape (structures, L) or no rows
        Receives the simulated outputs.
    """
    n_terms, n_nodes = positions.shape[1], data.node_parent.shape[0]
    n_y, n_steps = data.initial.shape[0], data.measured.shape[0]
    member, size = np.zeros((n_terms + 1, LANES), np.int64), np.zeros(LANES, np.int64)
    regular = np.zeros(LANES, np.bool_)
    # One row more than terms, because the factor is computed in pairs of rows.
    factor = np.empty((n_terms + 1) * (n_terms + 1) * LANES)
    inverse_pivot, weights = np.zeros((n_terms + 1, LANES)), np.zeros((n_terms + 1, LANES))
    theta = np.zeros((n_terms, LANES))
    present = np.zeros(n_terms, np.bool_)
    simulated, nodes = np.empty((n_y + n_steps) * LANES), np.empty(n_nodes * (BLOCK + 1) * LANES)
    errors, peaks = np.empty(LANES), np.empty(LANES)
    for first in range(0, positions.shape[0], LANES):
        width = min(LANES, positions.shape[0] - first)
        for t in range(n_terms):
            present[t] = False
        for lane in range(LANES):
            size[lane] = 0
            if lane < width:
                for t in range(n_terms):
                    if positions[first + lane, t]:
                        member[size[lane], lane] = t
                        size[lane] += 1
                        present[t] = True
            regular[lane] = size[lane] > 0
        _estimate(data, member, size, factor, inverse_pivot, weights, regular)
        for t in range(n_terms):
            for lane in range(LANES):
                theta[t, lane] = 0.0
        for lane in range(width):
            if regular[lane]:
                for i in range(size[lane]):
                    theta[member[i, lane], lane] = weights[i, lane]
        if coefficients.shape[0] > 0:
            for lane in range(width):
                for t in range(n_terms):
                    coefficients[first + lane, t] = theta[t, lane]
        _simulate(data, present, theta.reshape(-1), nodes, simulated, errors, peaks)
        if outputs.shape[0] > 0:
            for lane in range(width):
                for k in range(n_steps):
                    outputs[first + lane, k] = simulated[(n_y + k) * LANES + lane]
        for lane in range(width):
            # One step may overflow to a NaN, which is no peak but makes the error a NaN; squares may overflow as well.
            if regular[lane] and peaks[lane] <= data.bound and errors[lane] < np.inf:
                e = max(errors[lane], SMALLEST_SSE)
                sse[first + lane] = errors[lane]
                fitness[first + lane] = n_steps * natural_log(e) + data.penalty * size[lane]
            else:
                sse[first + lane] = np.inf
                fitness[first + lane] = np.inf


@compiled
def _estimate(data, member, size, factor, inverse_pivot, weights, regular):
    # Least squares by the normal equations: Cholesky factor row by row, forward and backward substitution. Lanes with
    # fewer terms than the widest, and an odd number of rows, are filled up with unit rows, which change nothing else.
    n = 0
    for lane in range(LANES):
        n = max(n, size[lane])
    n += n % 2
    row = n * LANES
    for i in range(n):
        for j in range(i):
            at = i * row + j * LANES
            for lane in range(LANES):
                factor[at + lane] = data.gram[member[i, lane], member[j, lane]] if i < size[lane] else 0.0
        for lane in range(LANES):
            t = member[i, lane]
            factor[i * row + i * LANES + lane] = data.gram[t, t] if i < size[lane] else 1.0
            weights[i, lane] = data.moments[t] if i < size[lane] else 0.0
    inverse, w = inverse_pivot.reshape(-1), weights.reshape(-1)
    for i in range(0, n, 2):
        # Two rows and two columns at a time: what limits the speed is how often an entry is fetched.
        upper, lower = i * row, (i + 1) * row
        for j in range(0, i, 2):
            left, right = j * row, (j + 1) * row
            jj = j * LANES
            a, b = load(factor, upper + jj), load(factor, upper + jj + LANES)
            c, d = load(factor, lower + jj), load(factor, lower + jj + LANES)
            for k in range(0, jj, LANES):
                x, z = load(factor, upper + k), load(factor, lower + k)
                p, q = load(factor, left + k), load(factor, right + k)
                a = a - x * p
                b = b - x * q
                c = c - z * p
                d = d - z * q
            a, c = a * load(inverse, jj), c * load(inverse, jj)
            below = load(factor, right + jj)
            b, d = (b - a * below) * load(inverse, jj + LANES), (d - c * below) * load(inverse, jj + LANES)
            store(factor, upper + jj, a)
            store(factor, upper + jj + LANES, b)
            store(factor, lower + jj, c)
            store(factor, lower + jj + LANES, d)
        ii = i * LANES
        a, c, d = load(factor, upper + ii), load(factor, lower + ii), load(factor, lower + ii + LANES)
        for k in range(0, ii, LANES):
            x, z = load(factor, upper + k), load(factor, lower + k)
            a = a - x * x
            c = c - z * x
            d = d - z * z
        store(inverse, ii, a)
        _invert_pivots(inverse, factor, ii, upper + ii, regular)
        c = c * load(inverse, ii)
        store(factor, lower + ii, c)
        store(inverse, ii + LANES, d - c * c)
        _invert_pivots(inverse, factor, ii + LANES, lower + ii + LANES, regular)
    for i in range(n):
        s = load(w, i * LANES)
        for k in range(i):
            s = s - load(factor, i * row + k * LANES) * load(w, k * LANES)
        store(w, i * LANES, s * load(inverse, i * LANES))
    for i in range(n - 1, -1, -1):
        s = load(w, i * LANES)
        for k in range(i + 1, n):
            s = s - load(factor, k * row + i * LANES) * load(w, k * LANES)
        store(w, i * LANES, s * load(inverse, i * LANES))


@compiled
def _invert_pivots(pivots, factor, at, diagonal, regular):
    # Replace squared pivots by the inverse of their roots; a lane with one that is too small is singular.
    for lane in range(LANES):
        if not pivots[at + lane] > SINGULAR * factor[diagonal + lane]:
            regular[lane] = False
            pivots[at + lane] = 1.0
        pivots[at + lane] = 1.0 / math.sqrt(pivots[at + lane])


@compiled
def _simulate(data, present, theta, nodes, simulated, errors, peaks):
    # `nodes` holds c_m(k) of BLOCK steps for each node m, then one running value for each node that has children.
    n_terms, n_nodes = present.shape[0], data.node_parent.shape[0]
    n_y, n_steps = data.initial.shape[0], data.measured.shape[0]
    running = n_nodes * BLOCK * LANES
    node_present, has_children = np.zeros(n_nodes, np.bool_), np.zeros(n_nodes, np.bool_)
    node_present[0] = True
    for t in range(n_terms):
        if present[t]:
            m = data.term_node[t]
            while not node_present[m]:
                node_present[m] = True
                m = data.node_parent[m]
    # Terms that are present, grouped by node.
    term_offset, term_input = np.empty(n_terms, np.int64), np.empty(n_terms, np.int64)
    group = np.zeros(n_nodes + 1, np.int64)
    varying = np.zeros(n_nodes, np.bool_)
    count = 0
    for m in range(n_nodes):
        if node_present[m]:
            for t in range(n_terms):
                if present[t] and data.term_node[t] == m:
                    term_offset[count], term_input[count] = t * LANES, data.term_input[t]
                    varying[m] |= data.term_input[t] > 0
                    count += 1
        group[m + 1] = count
    # The nested sum as a program: families (parent: where its c starts, where its value goes, its children) from the
    # last to the first; children (where the value starts, how far it moves with each step, lag).
    family, child = np.empty((n_nodes, 5), np.int64), np.empty((n_nodes, 3), np.int64)
    n_families = n_children = 0
    previous = -1
    for m in range(n_nodes - 1, 0, -1):
        if node_present[m]:
            parent = data.node_parent[m]
            if parent != previous:
                family[n_families, 0], family[n_families, 1] = parent * BLOCK * LANES, running + parent * LANES
                family[n_families, 2] = n_children
                family[n_families, 4] = LANES if varying[parent] else 0
                has_children[parent] = True
                previous = parent
                n_families += 1
            if has_children[m]:
                child[n_children, 0], child[n_children, 1] = running + m * LANES, 0
            else:
                child[n_children, 0], child[n_children, 1] = m * BLOCK * LANES, LANES if varying[m] else 0
            child[n_children, 2] = data.node_lag[m] * LANES
            n_children += 1
            family[n_families - 1, 3] = n_children
    for j in range(n_y):
        store(simulated, j * LANES, fill(data.initial[j]))
    total = peak = fill(0.0)
    for start in range(0, n_steps, BLOCK):
        length = min(BLOCK, n_steps - start)
        for m in range(n_nodes):
            if node_present[m] and (varying[m] or start == 0):
                first, last = group[m], group[m + 1]
                # Four steps at a time: their sums are independent, and each weight is loaded once for all.
                for k in range(0, length if varying[m] else 1, 4):
                    c0 = c1 = c2 = c3 = fill(0.0)
                    for q in range(first, last):
                        weight, i = load(theta, term_offset[q]), term_input[q]
                        c0 = c0 + weight * fill(data.inputs[start + k, i])
                        c1 = c1 + weight * fill(data.inputs[start + k + 1, i])
                        c2 = c2 + weight * fill(data.inputs[start + k + 2, i])
                        c3 = c3 + weight * fill(data.inputs[start + k + 3, i])
                    at = (m * BLOCK + k) * LANES
                    store(nodes, at, c0)
                    store(nodes, at + LANES, c1)
                    store(nodes, at + 2 * LANES, c2)
                    store(nodes, at + 3 * LANES, c3)
        for k in range(length):
            now = (n_y + start + k) * LANES
            value = load(nodes, k * LANES if varying[0] else 0)
            for f in range(n_families):
                value = load(nodes, family[f, 0] + k * family[f, 4])
                for q in range(family[f, 2], family[f, 3]):
                    value = value + load(nodes, child[q, 0] + k * child[q, 1]) * load(simulated, now - child[q, 2])
                store(nodes, family[f, 1], value)
            store(simulated, now, value)
            error = fill(data.measured[start + k]) - value
            total = total + error * error
            peak = larger_magnitude(peak, value)
    store(errors, 0, total)
    store(peaks, 0, peak)
