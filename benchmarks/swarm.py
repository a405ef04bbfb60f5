"""The cost per evaluation of whole default runs, and its parts.

Runs are repeated with an objective that also keeps the structures of every iteration. These structures are then
evaluated alone, with and without the table of known structures, which gives the shares.
"""

import ctypes
from collections.abc import Callable
from typing import Any
from unittest import mock

import numba
import numpy as np
import pandas as pd
from numba import types
from numpy.typing import NDArray

import narxbench
from benchmarks.common import SYSTEMS, Part, cpu_seconds, make_problem, number, result_rows, size_of, table
from narxbench import StructureProblem
from narxbench._algorithms import objective, search
from narxbench._algorithms.objective import CountedObjective, EvaluationRecord, evaluate, view_of
from narxbench._algorithms.registry import algorithm as algorithm_of
from narxbench._fitness.kernel.evaluation import kernel_for
from narxbench._fitness.kernel.problem_data import ProblemData
from narxbench._numerics.addresses import address_of, call
from narxbench._numerics.random_streams import generator

EVALUATIONS = 6000
ALGORITHMS = ("upso2d", "ga")
SEEDS = {"full": range(1, 12), "quick": range(1, 4)}
REPEATS = 7


@numba.njit(error_model="numpy", nogil=True)
def _kernel_alone(kernel: Any, data: Any, positions: Any, ends: Any, fitness: Any, sse: Any, none: Any) -> None:
    start = 0
    for end in ends:
        values, errors = fitness[start:end], sse[start:end]
        call(kernel.evaluate_structures, kernel, data, positions[start:end], values, errors, none, none)
        start = end


@numba.njit(error_model="numpy", nogil=True)
def _evaluate_all(data: Any, record: Any, positions: Any, ends: Any, fitness: Any) -> None:
    start = 0
    for end in ends:
        evaluate(data, record, positions[start:end], fitness[start:end])
        start = end


_kept: list[NDArray[np.uint8]] = []


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
def _keep(address: int, structures: int, n_terms: int) -> None:
    _kept.append(np.frombuffer(ctypes.string_at(address, structures * n_terms), np.uint8).reshape(structures, n_terms))


@numba.njit(error_model="numpy")
def _evaluate_and_keep(data: Any, record: Any, positions: Any, fitness: Any) -> None:
    earlier = record.evaluations[0]
    objective._evaluate(data, record, positions, fitness)
    _keep(positions.ctypes, record.evaluations[0] - earlier, positions.shape[1])


class _Keeping(CountedObjective):
    @property
    def compiled(self) -> tuple[ProblemData, EvaluationRecord]:
        data, record = super().compiled
        kinds = numba.typeof(data), numba.typeof(record), types.uint8[:, ::1], types.float64[::1]
        return data, record._replace(evaluate=address_of(_evaluate_and_keep, *kinds))


def recorded(problem: StructureProblem, algorithm: str, seed: int) -> list[NDArray[np.uint8]]:
    """Return the structures of every iteration of a run."""
    _kept.clear()
    with mock.patch.object(search, "CountedObjective", _Keeping):
        narxbench.search(problem, algorithm=algorithm, seed=seed, evaluations=EVALUATIONS)
    return _kept.copy()


def new_structures(batches: list[NDArray[np.uint8]]) -> list[NDArray[np.uint8]]:
    """Return the structures of each iteration that did not occur before."""
    earlier: set[bytes] = set()
    new = []
    for batch in batches:
        rows = []
        for row in batch:
            if row.tobytes() not in earlier:
                earlier.add(row.tobytes())
                rows.append(row)
        if rows:
            new.append(np.array(rows))
    return new


def _flat(batches: list[NDArray[np.uint8]]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    return np.concatenate(batches), np.cumsum(list(map(len, batches)))


def measure(problem: StructureProblem, algorithm: str, seed: int) -> dict[str, float]:
    """Return microseconds per evaluation of a run and of its parts, and the share of repeated structures."""
    batches = recorded(problem, algorithm, seed)
    positions, ends = _flat(batches)
    new, new_ends = _flat(new_structures(batches))
    fitness, sse = np.empty(len(positions)), np.empty(len(positions))
    kernel = kernel_for(problem.data)

    def whole() -> None:
        narxbench.search(problem, algorithm=algorithm, seed=seed, evaluations=EVALUATIONS)

    searcher = algorithm_of(algorithm)
    settings = searcher.settings({})
    stream = {"purpose": "search", "algorithm": algorithm, "criterion": "bic", "seed": seed}

    def unchecked() -> None:
        objective = CountedObjective(problem, EVALUATIONS)
        searcher.imported.run(view_of(problem), objective, generator(**stream), settings)

    def with_table() -> None:
        _evaluate_all(*CountedObjective(problem, EVALUATIONS).compiled, positions, ends, fitness)

    def alone() -> None:
        _kernel_alone(kernel, problem.data, new, new_ends, fitness, sse, np.empty((0, 0)))

    calls: tuple[Callable[[], None], ...] = (whole, unchecked, with_table, alone)
    for run_it in calls:
        run_it()
    # The least of the repeats: other processes only add to them, and differences of medians may be negative.
    repeats = [list(map(cpu_seconds, calls)) for _ in range(REPEATS)]
    total, inside, evaluated, kernel = (1e6 * np.min(repeats, axis=0) / EVALUATIONS).tolist()
    return {
        "total": total,
        "kernel": kernel,
        "table": evaluated - kernel,
        "update": inside - evaluated,
        "checks": total - inside,
        "repeated": 1.0 - len(new) / len(positions),
        "cardinality": float(new.sum(axis=1).mean()),
    }


def run(quick: bool) -> Part:
    """Measure default runs of both algorithms on every system."""
    rows, lines = [], []
    seeds = SEEDS[size_of(quick)]
    for algorithm in ALGORITHMS:
        for name in SYSTEMS:
            problem = make_problem(name)[1]
            values = pd.DataFrame([measure(problem, algorithm, seed) for seed in seeds]).median()
            rows += result_rows("swarm", name, algorithm, values)
            shares = 100 * values[["kernel", "update"]] / values["total"]
            columns = [
                number(values["total"]),
                *map("{:.0f} %".format, shares),
                f"{100 * values['repeated']:.0f} %",
            ]
            lines.append([algorithm, name, *columns])
    header = ["algorithm", "system", "µs per evaluation", "kernel", "update", "repeated structures"]
    text = (
        f"## Whole default runs\n\nCPU time of runs of {EVALUATIONS} evaluations, everything included, divided by "
        "their number (equal structures count each time); median over "
        f"{len(seeds)} seeds. Kernel: evaluation of new structures. Update: everything that is not evaluation.\n\n"
        + table(header, lines)
    )
    return Part(text, rows)
