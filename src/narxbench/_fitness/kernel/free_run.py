"""Free-run simulation of several structures side by side.

Each candidate term is (monomial in y) x (monomial in u). Collecting the terms of one y-monomial m gives the model
y(k) = sum_m c_m(k) m(y), where c_m(k), a sum over inputs alone, is known before the simulation. The monomials of y are
the nodes of a tree (the parent of y(k-1)*y(k-3) is y(k-1)), and the sum is nested along the tree as in Horner's method:
from the last node in canonical order to the first, value(parent) += value(node) * y(k - lag(node)).
"""

import numpy as np

from narxbench._fitness.kernel.simd import WIDTH, at, fill, load, store, where_greater
from narxbench._numerics.compilation import inlined, inner

# The number of structures that are simulated side by side, and of time steps whose c_m(k) are computed together: each
# weight is loaded once for all these steps.
LANES, STEPS = 2 * WIDTH, 4
# The number of simulated outputs that are kept in addition to those within the largest lag. So few stay in the
# first-level cache.
KEPT = 60


@inlined
def write_program(data, present, place, input_program, output_program):
    """Write programs for :func:`simulate`, which simulates the terms that occur in a group of structures.

    ``present``, shape (N_t,), says which terms occur. ``place``, shape (N_t,), receives the place of each of them among
    the weights.

    ``input_program``, shape (N_t + 2 nodes,), computes the c_m(k). It receives for each node the slot of c_m(k) and the
    u-monomial of each of its terms; -1 ends the node. Nodes that never change come first.

    ``output_program``, shape (4 nodes,), nests the sum. It receives for each node with children the slot of its value,
    and the lag and the slot of each child; a lag of 0 ends the node. The constant comes last: its value is y(k).

    Returns the number of nodes that never change, of nodes that change with k, and of nodes with children (including
    the constant).
    """
    occurs, changes = _nodes(data, present)
    slot = np.empty(occurs.shape[0], np.int64)
    fixed, changing = _write_input_program(data, present, occurs, changes, slot, place, input_program)
    families = _write_output_program(data, occurs, slot, output_program)
    return fixed, changing, families


@inlined
def _nodes(data, present):
    # Which nodes occur, and of which of them the slot changes with k.
    n_nodes = data.node_parent.shape[0]
    occurs, changes = np.zeros(n_nodes, np.bool_), np.zeros(n_nodes, np.bool_)
    occurs[0] = changes[0] = True
    for t in range(present.shape[0]):
        if present[t]:
            m = data.term_node[t]
            changes[m] |= data.term_input[t] > 0
            while not occurs[m]:
                occurs[m] = True
                m = data.node_parent[m]
                # The value of a node with children overwrites its c_m(k).
                changes[m] = True
    return occurs, changes


@inlined
def _write_input_program(data, present, occurs, changes, slot, place, program):
    # First the nodes that never change, then the others. Returns the number of each.
    count = np.zeros(2, np.int64)
    end = n_weights = 0
    for changing in range(2):
        q = 0
        for m in range(occurs.shape[0]):
            is_written = occurs[m] and changes[m] == (changing == 1)
            if is_written:
                slot[m] = (count[0] + count[1]) * STEPS * LANES
                program[end] = slot[m]
                count[changing] += 1
                end += 1
            while q < present.shape[0] and data.term_node[data.term_order[q]] == m:
                t = data.term_order[q]
                if is_written and present[t]:
                    place[t] = n_weights
                    program[end] = data.term_input[t]
                    n_weights += 1
                    end += 1
                q += 1
            if is_written:
                program[end] = -1
                end += 1
    return count[0], count[1]


@inlined
def _write_output_program(data, occurs, slot, program):
    # Families, which are a parent with its children, from the last node to the first. Returns their number.
    end = families = 0
    parent = -1
    for m in range(occurs.shape[0] - 1, 0, -1):
        if occurs[m]:
            if data.node_parent[m] != parent:
                if families > 0:
                    program[end] = 0
                    end += 1
                parent = data.node_parent[m]
                program[end] = slot[parent]
                families += 1
                end += 1
            program[end], program[end + 1] = data.node_lag[m], slot[m]
            end += 2
    if families > 0:
        program[end] = 0
        end += 1
    if parent != 0:
        program[end], program[end + 1] = slot[0], 0
        families += 1
    return families


@inner
def simulate(data, counts, input_program, output_program, weights, values, past, errors, peaks, outputs):
    """Simulate ``LANES`` structures over the segments of the validation part, each from measured outputs.

    ``counts``, ``input_program`` and ``output_program`` are from :func:`write_program`. ``weights``, flat and of shape
    (terms present, LANES), are 0 where a structure does not have the term. ``values``, shape (nodes * STEPS * LANES,),
    and ``past``, shape ((n_y + KEPT) * LANES,), are scratch. ``errors`` and ``peaks``, shape (LANES,), receive the sum
    of squared errors and the largest |y|, which a NaN does not change. ``outputs`` receives the outputs of as many
    structures as it has rows, L samples of each.
    """
    fixed, changing, families = counts
    n_inputs, n_y = data.inputs.shape[1], data.initial.shape[1]
    inputs = data.inputs.reshape(-1)
    total = peak = fill(0.0, LANES)
    first_changing = first_weight = end = 0
    for segment in range(data.segment_end.shape[0]):
        begin, end = end, data.segment_end[segment]
        for j in range(n_y):
            store(past, j * LANES, fill(data.initial[segment, j], LANES))
        newest = n_y * LANES
        for start in range(begin, end, STEPS):
            q, w = first_changing, first_weight
            row = start * n_inputs
            nodes = changing
            if start == 0:
                nodes = fixed + changing
            for m in range(nodes):
                if start == 0 and m == fixed:
                    first_changing, first_weight = q, w
                to = at(input_program, q)
                q += 1
                column = at(input_program, q)
                c0 = c1 = c2 = c3 = fill(0.0, LANES)
                while column >= 0:
                    weight, u = load(weights, w, LANES), row + column
                    c0 = c0 + weight * fill(at(inputs, u), LANES)
                    c1 = c1 + weight * fill(at(inputs, u + n_inputs), LANES)
                    c2 = c2 + weight * fill(at(inputs, u + 2 * n_inputs), LANES)
                    c3 = c3 + weight * fill(at(inputs, u + 3 * n_inputs), LANES)
                    w += LANES
                    q += 1
                    column = at(input_program, q)
                q += 1
                store(values, to, c0)
                store(values, to + LANES, c1)
                store(values, to + 2 * LANES, c2)
                store(values, to + 3 * LANES, c3)
            for k in range(min(STEPS, end - start)):
                q, step = 0, k * LANES
                value = fill(0.0, LANES)
                for _ in range(families):
                    to = at(output_program, q) + step
                    q += 1
                    value = load(values, to, LANES)
                    lag = at(output_program, q)
                    while lag > 0:
                        child = load(values, at(output_program, q + 1) + step, LANES)
                        value = value + child * load(past, newest - lag * LANES, LANES)
                        q += 2
                        lag = at(output_program, q)
                    q += 1
                    store(values, to, value)
                store(past, newest, value)
                newest += LANES
                error = fill(data.measured[start + k], LANES) - value
                total = total + error * error
                magnitude = fill(0.0, LANES) - value
                magnitude = where_greater(value, magnitude, value, magnitude)
                peak = where_greater(magnitude, peak, magnitude, peak)
                for lane in range(outputs.shape[0]):
                    outputs[lane, start + k] = past[newest - LANES + lane]
            if newest > (n_y + KEPT - STEPS) * LANES:
                for j in range(0, n_y * LANES, LANES):
                    store(past, j, load(past, newest - n_y * LANES + j, LANES))
                newest = n_y * LANES
    store(errors, 0, total)
    store(peaks, 0, peak)
