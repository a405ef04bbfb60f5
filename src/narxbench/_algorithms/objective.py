"""The observer of a run: it evaluates structures on a budget and records the evaluations in order."""

from typing import NamedTuple

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

from narxbench._algorithms.contract import Objective, ProblemView
from narxbench._fitness.kernel.evaluation import Kernel
from narxbench._fitness.kernel.problem_data import ProblemData
from narxbench._fitness.problem import StructureProblem
from narxbench._numerics.addresses import address_of, call
from narxbench._numerics.compilation import compiled, inner

# Terms in a word of the table of structures.
_WORD = np.iinfo(np.uint64).bits


class EvaluationRecord(NamedTuple):
    """The evaluations of one run, and a hash table of evaluated structures."""

    fitness: NDArray[np.float64]  # (budget,) J of each evaluation
    evaluations: NDArray[np.int64]  # (1,) evaluations so far; the budget, once the run has stopped
    is_stopped: NDArray[np.bool_]  # (1,) whether the run has met a limit and makes no more evaluations
    evaluations_at_stop: NDArray[np.int64]  # (1,) evaluations until it stopped, else -1
    best_position: NDArray[np.uint8]  # (N_t,) first structure that reached the lowest J
    best_fitness: NDArray[np.float64]  # (1,)
    known_structures: NDArray[np.uint64]  # (slots, words) the structure in each slot, one bit for each term
    known_fitness: NDArray[np.float64]  # (slots,) its J
    slot_used: NDArray[np.bool_]  # (slots,)
    kernel: Kernel
    evaluate: int  # address of the code that evaluates and records


@inner
def copy_row(source, target):
    """Copy one row to another by a loop, which compiles in a tenth of the time of an assignment of arrays."""
    for j in range(source.shape[0]):
        target[j] = source[j]


@inner
def index_of_best(fitness):
    """Return the index of the lowest J, the first of equal ones."""
    best = 0
    for i in range(1, fitness.shape[0]):
        if fitness[i] < fitness[best]:
            best = i
    return best


@inner
def _pack(positions, i, words):
    # Write a structure as words, one bit for each term. Returns a hash of it.
    mixed = np.uint64(0)
    for w in range(words.shape[0]):
        word = np.uint64(0)
        for t in range(w * _WORD, min((w + 1) * _WORD, positions.shape[1])):
            word |= np.uint64(positions[i, t]) << np.uint64(t - w * _WORD)
        words[w] = word
        mixed = (mixed ^ word) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
    return mixed


@inner
def _holds(structures, slot, words):
    w = 0
    while w < words.shape[0] and structures[slot, w] == words[w]:
        w += 1
    return w == words.shape[0]


@inner
def _find_slots(record, positions, slots, new):
    # Write the slot of each structure and the places of the new ones, whose slots are used from now on; returns the
    # number of these. Open addressing with linear probing, in a table that is at most half full.
    used, structures = record.slot_used, record.known_structures
    words, n_new = np.empty(structures.shape[1], np.uint64), 0
    for i in range(slots.shape[0]):
        slot = np.int64(_pack(positions, i, words) & np.uint64(used.shape[0] - 1))
        while used[slot] and not _holds(structures, slot, words):
            slot = (slot + 1) & (used.shape[0] - 1)
        slots[i] = slot
        if not used[slot]:
            used[slot] = True
            copy_row(words, structures[slot])
            new[n_new] = i
            n_new += 1
    return n_new


@compiled
def evaluate(data, record, positions, fitness):
    """Evaluate as many structures as the budget allows, and return their number, for compiled algorithms.

    ``positions``, shape (structures, N_t), has a 1 where a structure has the term. ``fitness`` receives J, +inf beyond
    the budget. A structure that was evaluated before spends budget again, but no time. A run that has stopped has spent
    its budget.
    """
    earlier = record.evaluations[0]
    call(record.evaluate, data, record, positions, fitness)
    if record.evaluations_at_stop[0] >= 0:
        return 0
    return record.evaluations[0] - earlier


@inner
def _evaluate(data, record, positions, fitness):
    earlier = record.evaluations[0]
    if record.is_stopped[0]:
        if record.evaluations_at_stop[0] < 0:
            record.evaluations_at_stop[0] = earlier
            record.evaluations[0] = record.fitness.shape[0]
        for i in range(positions.shape[0]):
            fitness[i] = np.inf
        return
    count = min(positions.shape[0], record.fitness.shape[0] - earlier)
    slots, new = np.empty(count, np.int64), np.empty(count, np.int64)
    n_new = _find_slots(record, positions, slots, new)
    structures, values = np.empty((n_new, positions.shape[1]), np.uint8), np.empty(n_new)
    for k in range(n_new):
        copy_row(positions[new[k]], structures[k])
    sse, nothing = np.empty(n_new), np.empty((0, 0))
    call(record.kernel.evaluate_structures, record.kernel, data, structures, values, sse, nothing, nothing)
    for k in range(n_new):
        record.known_fitness[slots[new[k]]] = values[k]
    for i in range(count, positions.shape[0]):
        fitness[i] = np.inf
    for i in range(count):
        fitness[i] = record.known_fitness[slots[i]]
        record.fitness[earlier + i] = fitness[i]
        if fitness[i] < record.best_fitness[0]:
            record.best_fitness[0] = fitness[i]
            copy_row(positions[i], record.best_position)
    record.evaluations[0] = earlier + count


class CountedObjective(Objective):
    """The objective of a structure problem, which evaluates, counts and records structures within a budget."""

    def __init__(self, problem: StructureProblem, budget: int) -> None:
        self.n_terms, self.budget, self._data = len(problem.terms), budget, problem.data
        slots = 1 << (2 * budget - 1).bit_length()
        record = EvaluationRecord(
            fitness=np.empty(budget),
            evaluations=np.zeros(1, np.int64),
            is_stopped=np.zeros(1, np.bool_),
            evaluations_at_stop=np.full(1, -1, np.int64),
            best_position=np.zeros(self.n_terms, np.uint8),
            best_fitness=np.full(1, np.inf),
            known_structures=np.zeros((slots, -(-self.n_terms // _WORD)), np.uint64),
            known_fitness=np.zeros(slots),
            slot_used=np.zeros(slots, np.bool_),
            kernel=problem.kernel,
            evaluate=0,
        )
        self._record = record._replace(evaluate=_address(self._data, record))

    @property
    def compiled(self) -> tuple[ProblemData, EvaluationRecord]:
        """The first arguments of :func:`evaluate`, for compiled algorithms that run in this process."""
        return self._data, self._record

    @property
    def remaining(self) -> int:
        """The number of evaluations that remain."""
        if self.is_stopped:
            return 0
        return self.budget - self.evaluations

    @property
    def evaluations(self) -> int:
        """The number of evaluations so far."""
        at_stop = int(self._record.evaluations_at_stop[0])
        if at_stop >= 0:
            return at_stop
        return int(self._record.evaluations[0])

    @property
    def is_stopped(self) -> bool:
        """Whether the run has met a limit."""
        return bool(self._record.is_stopped[0])

    def stop(self) -> None:
        """Make no more evaluations. Another thread may call this."""
        self._record.is_stopped[0] = True

    @property
    def best_position(self) -> NDArray[np.uint8]:
        """The first structure that reached the lowest J so far, shape (N_t,); empty if no J was finite."""
        return self._record.best_position.copy()

    @property
    def best_fitness(self) -> float:
        """The lowest J so far, or +inf if no J was finite."""
        return float(self._record.best_fitness[0])

    def _evaluated(self, positions: NDArray[np.uint8]) -> NDArray[np.float64]:
        fitness = np.empty(len(positions))
        evaluate(self._data, self._record, positions, fitness)
        return fitness

    def known_fitness(self, position: NDArray[np.uint8]) -> float | None:
        """Return J of a structure that was evaluated, else None."""
        record = self._record
        bits = np.zeros(record.known_structures.shape[1] * _WORD, np.uint8)
        bits[: self.n_terms] = position
        words = np.packbits(bits, bitorder="little").view(np.uint64)
        slots = np.flatnonzero(record.known_structures[:, 0] == words[0])
        slots = slots[record.slot_used[slots] & (record.known_structures[slots] == words).all(axis=1)]
        if not len(slots):
            return None
        return float(record.known_fitness[slots[0]])

    def trace(self) -> NDArray[np.float64]:
        """Return J of every evaluation in order, shape (evaluations,)."""
        return self._record.fitness[: self.evaluations].copy()

    def history(self) -> list[tuple[int, float]]:
        """Return (evaluations so far, best J) at each improvement of the best J."""
        trace = self.trace()
        lowest_before = np.minimum.accumulate(np.concatenate([[np.inf], trace]))[:-1]
        improved = np.flatnonzero(trace < lowest_before)
        return list(zip((improved + 1).tolist(), trace[improved].tolist(), strict=True))


# All problems have the same types and therefore the same code, whose address is kept here.
_ADDRESS: list[int] = []


def _address(data: ProblemData, record: EvaluationRecord) -> int:
    if not _ADDRESS:
        arguments = numba.typeof(data), numba.typeof(record), types.uint8[:, ::1], types.float64[::1]
        _ADDRESS.append(address_of(_evaluate, *arguments))
    return _ADDRESS[0]


def view_of(problem: StructureProblem) -> ProblemView:
    """Return the part of a problem that an algorithm may see."""
    return ProblemView(
        terms=problem.terms,
        monomials=problem.monomials,
        n_u=problem.n_u,
        n_y=problem.n_y,
        degree=problem.degree,
        gram=lambda: problem.data.gram[:-1, :-1],
        moments=lambda: problem.data.moments[:-1],
        u=lambda: problem.estimation_part[0],
        y=lambda: problem.estimation_part[1],
        rows=lambda: problem.estimation_rows,
        criterion=problem.criterion,
        penalty=float(problem.data.penalties[1]),
        penalties=lambda: problem.data.penalties,
        training_u=lambda: problem.training_u,
        training_y=lambda: problem.training_y,
        stretches=lambda: problem.stretches,
        segments=lambda: [(part.start, part.stop) for part in problem.segments],
        n_validation=len(problem.data.measured),
    )
