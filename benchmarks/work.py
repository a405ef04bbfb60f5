"""The work of a part of the kernel, counted by running its own loops with vectors that only count.

An operation is an addition, subtraction, multiplication, division or square root of one structure's numbers. A move is
a load or store of a line of eight doubles, or of less: a processor needs the same time for a part of a line. Whole
numbers, which are indices, are loaded next to them and not counted. Bytes come from the second-level cache where a
first level of the given size, which forgets the least recently used line, lacks them. The path is the time of the
longest chain of operations that wait for each other, however many run at once.
"""

import sys
from collections import OrderedDict
from itertools import product
from types import SimpleNamespace
from typing import Any, NamedTuple, Self
from unittest import mock

import numba
import numpy as np

from narxbench._fitness.kernel.simd import LINE

LINE_BYTES = 8 * LINE


class Latencies(NamedTuple):
    """Nanoseconds until the result of an operation can be used."""

    add: float
    multiply: float
    inverse_root: float
    reload: float  # of a line that was just stored


class Work(NamedTuple):
    """The work of one call."""

    operations: float
    moves: float  # of lines
    far: float  # bytes from the second-level cache
    path: float  # nanoseconds


class Vector:
    """Numbers of which only the count is known, and when they are ready."""

    def __init__(self, counter: "Counter", lanes: int, ready: float) -> None:
        self.counter, self.lanes, self.ready = counter, lanes, ready

    def _with(self, operand: Any, latency: float, operations: int = 1) -> "Vector":
        self.counter.operations += operations * self.lanes
        return Vector(self.counter, self.lanes, max(self.ready, getattr(operand, "ready", 0.0)) + latency)

    def __add__(self, operand: Any) -> "Vector":
        return self._with(operand, self.counter.latencies.add)

    def __mul__(self, operand: Any) -> "Vector":
        return self._with(operand, self.counter.latencies.multiply)

    def root(self) -> "Vector":
        """Return the square root; that its time is the inverse's as well makes no difference here."""
        return self._with(None, self.counter.latencies.inverse_root)

    def __rtruediv__(self, operand: float) -> "Vector":
        return self._with(operand, 0.0)

    def __gt__(self, operand: Any) -> bool:
        return True

    __sub__, __rmul__ = __add__, __mul__


class Array:
    """An array whose accesses are counted; whole numbers have their values."""

    def __init__(self, counter: "Counter", values: Any) -> None:
        self.counter, self.shape, self.values = counter, values.shape, values.reshape(-1)
        counter.arrays += 1
        self.name = counter.arrays

    def reshape(self, _: int) -> Self:
        """Return the flat array."""
        return self

    def __getitem__(self, place: int | tuple[int, int]) -> Any:
        if isinstance(place, tuple):
            place = place[0] * self.shape[1] + place[1]
        ready = self.counter.load(self, place, 1)
        if self.values.dtype.kind == "i":
            return int(self.values[place])
        return ready

    def __setitem__(self, place: int, value: Any) -> None:
        self.counter.store(self, place, value)
        if self.values.dtype.kind == "i":
            self.values[place] = value


class Counter:
    """Stands for :mod:`narxbench._fitness.kernel.simd` while a part of the kernel runs uncompiled."""

    def __init__(self, latencies: Latencies, cache: int) -> None:
        self.latencies, self.lines = latencies, cache // LINE_BYTES
        self.operations, self.moves, self.misses, self.end, self.arrays = 0, 0, 0, 0.0, 0
        self.stored: dict[Any, float] = {}
        self.cache: OrderedDict[Any, None] = OrderedDict()

    def _lines(self, array: Array, offset: int, lanes: int) -> list[Any]:
        lines = list(product([array.name], range(offset // LINE, (offset + lanes - 1) // LINE + 1)))
        if array.values.dtype.kind == "f":
            self.moves += len(lines)
        for line in lines:
            if line in self.cache:
                self.cache.move_to_end(line)
                continue
            self.misses += 1
            self.cache[line] = None
            if len(self.cache) > self.lines:
                self.cache.popitem(last=False)
        return lines

    def counts(self) -> tuple[int, int, int]:
        """Return the operations, the moves, and the lines that were not in the cache, so far."""
        return self.operations, self.moves, self.misses

    def load(self, array: Array, offset: int, lanes: int) -> Vector:
        """Count a load; what was stored before can be had somewhat later."""
        reload = self.latencies.reload
        ready = [self.stored[x] + reload for x in self._lines(array, offset, lanes) if x in self.stored]
        return Vector(self, lanes, max(ready, default=0.0))

    def store(self, array: Array, offset: int, value: Any) -> None:
        """Count a store."""
        ready = getattr(value, "ready", 0.0)
        self.end = max(self.end, ready)
        self.stored |= dict.fromkeys(self._lines(array, offset, getattr(value, "lanes", 1)), ready)

    def gather(self, array: Array, rows: Array, first: int, columns: Array, second: int, lanes: int) -> Vector:
        """Count a load of a single number for each lane."""
        ready = 0.0
        for lane in range(lanes):
            ready = max(ready, array[rows[first + lane] + columns[second + lane]].ready)
        return Vector(self, lanes, ready)

    def names(self) -> dict[str, Any]:
        """Return what takes the place of the names that a module of the kernel imports."""

        def vector(value: Any, lanes: int) -> Vector:
            return Vector(self, lanes, getattr(value, "ready", 0.0))

        def later(*values: Vector) -> Vector:
            return vector(max(values, key=lambda v: v.ready), values[0].lanes)

        return {
            "load": self.load,
            "store": self.store,
            "gather": self.gather,
            "at": lambda array, offset: array[offset],
            "fill": vector,
            "repeat": vector,
            "part": lambda value, _, lanes: vector(value, lanes),
            "where_greater": later,
            "inverse_root": lambda value: value._with(None, self.latencies.inverse_root, operations=2),
            "math": SimpleNamespace(sqrt=Vector.root),
            "np": SimpleNamespace(empty=self._new, zeros=self._new, int64=np.int64),
        }

    def _new(self, size: int, kind: Any) -> Array:
        return Array(self, np.zeros(size, kind))


def work_of(function: Any, data: Any, *arguments: Any, latencies: Latencies, cache: int) -> Work:
    """Return what one call of ``function(data, *arguments)`` does when it was called before.

    Parameters
    ----------
    function
        A compiled function of the kernel.
    data : ProblemData
        Its first argument.
    *arguments
        The others; whole numbers must have the values they have in a call.
    latencies : Latencies
        Of the processor.
    cache : int
        Bytes of the first-level cache.
    """
    module = sys.modules[function.__module__]
    counter = Counter(latencies, cache)
    names, replacements = {}, counter.names()
    for name, value in vars(module).items():
        if name in replacements:
            names[name] = replacements[name]
        elif numba.extending.is_jitted(value):
            names[name] = value.py_func
    counted = []
    for value in (*data, *arguments):
        counted.append(Array(counter, value) if isinstance(value, np.ndarray) else value)
    counted_arguments = data._make(counted[: len(data)]), *counted[len(data) :]
    arrays = counter.arrays
    with mock.patch.multiple(module, **names):
        function.py_func(*counted_arguments)
        before, counter.stored, counter.end = counter.counts(), {}, 0.0
        # What the function allocates lies where it lay before.
        counter.arrays = arrays
        function.py_func(*counted_arguments)
    operations, moves, misses = np.subtract(counter.counts(), before).tolist()
    return Work(operations, moves, LINE_BYTES * misses, counter.end)
