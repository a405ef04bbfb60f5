"""The compiled fitness of many candidate structures, side by side.

The order of every operation is fixed and documented, so that results are the same bytes whatever the machine or the
batch.
"""

from functools import cache
from typing import NamedTuple

import numba
import numpy as np
from numba import types

from narxbench._fitness.kernel import free_run, least_squares
from narxbench._fitness.kernel.free_run import simulate, write_program
from narxbench._fitness.kernel.least_squares import SMALLEST_SSE, estimate, factor_size
from narxbench._fitness.kernel.problem_data import ProblemData
from narxbench._fitness.kernel.simd import aligned
from narxbench._numerics.addresses import address_of, call
from narxbench._numerics.compilation import compiled, inlined, inner
from narxbench._numerics.logarithm import natural_log

GROUP, PART = free_run.LANES, least_squares.LANES
STEPS, KEPT = free_run.STEPS, free_run.KEPT


class Kernel(NamedTuple):
    """Addresses of the parts of the kernel in this process, which compiled code calls by :func:`call`."""

    estimate: int
    simulate: int
    evaluate_structures: int


_kernels: dict[tuple[tuple[object, ...], ...], Kernel] = {}


def kernel_for(data: ProblemData) -> Kernel:
    """Return the kernel for the types of these data, compiled or loaded."""
    # An identification has thousands of problems of the same types, which Numba takes a third of a millisecond to find.
    layout = tuple(map(_layout_of, data))
    if layout not in _kernels:
        _kernels[layout] = _kernel(numba.typeof(data))
    return _kernels[layout]


def _layout_of(value: object) -> tuple[object, ...]:
    """Return what the type of a value hangs on: of an array its numbers, its dimensions and its flags."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        return value.dtype.str, value.ndim, flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned
    return (type(value),)


@cache
def _kernel(data: types.Type) -> Kernel:
    integers, floats, matrix = types.int64[::1], types.float64[::1], types.float64[:, ::1]
    counts = types.UniTuple(types.int64, 3)
    parts = (
        address_of(estimate, data, integers, integers, floats, floats, floats),
        address_of(simulate, data, counts, integers, integers, floats, floats, floats, floats, floats, matrix),
    )
    kernel = numba.typeof(Kernel(0, 0, 0))
    positions = types.uint8[:, ::1]
    whole = address_of(evaluate_structures, kernel, data, positions, floats, floats, matrix, matrix)
    return Kernel(*parts, whole)


@compiled
def evaluate_structures(kernel, data, positions, fitness, sse, coefficients, outputs):
    """Evaluate structures: J = L ln(e) + penalty (paper, equations 9 to 11).

    ``positions``, of uint8 and shape (structures, N_t), has a 1 where a structure has the term. ``fitness`` and ``sse``
    receive J and e, both +inf for empty, singular and divergent structures; J alone is +inf for structures that lack a
    required term. ``coefficients``, shape (structures, N_t), receive the weights, zero for absent terms and singular
    structures; ``outputs``, shape (structures, L), the simulation. The last two may have no rows.
    """
    n_structures, n_terms = positions.shape
    n_nodes, n_y, n_steps = data.node_parent.shape[0], data.initial.shape[1], data.measured.shape[0]
    sizes = _sizes(positions)
    order = _by_size(sizes, n_terms)
    largest, n_simulated = 0, 0
    if n_structures > 0:
        largest = sizes[order[-1]]
    if outputs.shape[0] > 0:
        n_simulated = GROUP
    # Places for terms, factor and weights, one more than terms.
    places = (largest + 1) * PART
    scratch = np.empty(places, np.int64), aligned(factor_size(largest)), aligned(places)
    theta, sound = np.empty((GROUP, n_terms)), np.empty(GROUP, np.bool_)
    present, place = np.empty(n_terms, np.bool_), np.empty(n_terms, np.int64)
    input_program, output_program = np.empty(n_terms + 2 * n_nodes, np.int64), np.empty(4 * n_nodes, np.int64)
    weights, values = aligned(n_terms * GROUP), aligned(n_nodes * STEPS * GROUP)
    past, errors, peaks = aligned((n_y + KEPT) * GROUP), np.empty(GROUP), np.empty(GROUP)
    simulated = np.empty((n_simulated, n_steps))
    end = 0
    while end < n_structures:
        # The first group, of the smallest structures, is the one that may not be full.
        first, end = end, end + 1 + (n_structures - end - 1) % GROUP
        group = order[first:end]
        _mark_present(positions, group, present)
        _estimate_group(kernel, data, positions, group, scratch, theta, sound)
        counts = write_program(data, present, place, input_program, output_program)
        _copy_weights(theta, end - first, present, place, weights)
        call(
            kernel.simulate,
            data,
            counts,
            input_program,
            output_program,
            weights,
            values,
            past,
            errors,
            peaks,
            simulated,
        )
        for g in range(end - first):
            s = group[g]
            # A step may overflow to a NaN. The peak ignores it, but the error is a NaN. Squares may overflow, too.
            if sound[g] and peaks[g] <= data.bound and errors[g] < np.inf:
                sse[s] = errors[g]
                fitness[s] = n_steps * natural_log(max(errors[g], SMALLEST_SSE)) + data.penalties[sizes[s]]
            else:
                sse[s] = fitness[s] = np.inf
            if not _has_required_terms(data.required, positions[s]):
                fitness[s] = np.inf
        _copy_rows(theta, group, coefficients)
        _copy_rows(simulated, group, outputs)


@inlined
def _has_required_terms(required, position):
    # Whether a structure has a term of each mask.
    for mask in range(required.shape[0]):
        t = 0
        while t < position.shape[0] and required[mask, t] & position[t] == 0:
            t += 1
        if t == position.shape[0]:
            return False
    return True


@inlined
def _sizes(positions):
    # The number of terms of each structure.
    sizes = np.zeros(positions.shape[0], np.int64)
    for s in range(positions.shape[0]):
        for t in range(positions.shape[1]):
            sizes[s] += positions[s, t]
    return sizes


@inlined
def _mark_present(positions, group, present):
    # Mark the terms that occur in a structure of the group.
    for t in range(present.shape[0]):
        present[t] = False
    for s in group:
        for t in range(present.shape[0]):
            present[t] |= positions[s, t] > 0


@inlined
def _copy_weights(theta, size, present, place, weights):
    # Write the weights of each present term side by side, zero for lanes without a structure.
    for t in range(present.shape[0]):
        if present[t]:
            first = place[t] * GROUP
            for g in range(size):
                weights[first + g] = theta[g, t]
            for g in range(size, GROUP):
                weights[first + g] = 0.0


@inner
def _copy_rows(rows, group, target):
    # Write the rows of a group to the places of its structures, if the target has rows.
    if target.shape[0] > 0:
        for g in range(group.shape[0]):
            for j in range(target.shape[1]):
                target[group[g], j] = rows[g, j]


@inlined
def _estimate_group(kernel, data, positions, group, scratch, theta, sound):
    # Estimate a few structures at a time. Rows of theta receive the weights, which are zero for singular structures.
    member, factor, weights = scratch
    part_size, regular = np.empty(PART, np.int64), np.empty(PART)
    end = 0
    while end < group.shape[0]:
        first, end = end, end + 1 + (group.shape[0] - end - 1) % PART
        for lane in range(PART):
            part_size[lane] = 0
            if lane < end - first:
                part_size[lane] = _list_terms(positions[group[first + lane]], member, lane)
        call(kernel.estimate, data, member, part_size, factor, weights, regular)
        for g in range(first, end):
            lane = g - first
            sound[g] = part_size[lane] > 0 and regular[lane] > 0.0
            for t in range(theta.shape[1]):
                theta[g, t] = 0.0
            if sound[g]:
                for i in range(lane, part_size[lane] * PART, PART):
                    theta[g, member[i]] = weights[i]


@inlined
def _list_terms(position, member, lane):
    # Without a branch, which a processor could not predict: the next term overwrites an entry that is not a term.
    n = 0
    for t in range(position.shape[0]):
        member[lane + n * PART] = t
        n += position[t]
    return n


@inlined
def _by_size(sizes, largest):
    # The structures from small to large. Structures of equal size keep their order.
    first = np.zeros(largest + 2, np.int64)
    for size in sizes:
        first[size + 1] += 1
    for size in range(largest + 1):
        first[size + 1] += first[size]
    order = np.empty(sizes.shape[0], np.int64)
    for i in range(sizes.shape[0]):
        order[first[sizes[i]]] = i
        first[sizes[i]] += 1
    return order
