"""Vectors of doubles as compiled types: many candidate structures go through the same arithmetic side by side.

Each lane is a separate IEEE 754 computation in program order, so a result does not depend on its neighbours, on the
number of lanes or on the vector width of the processor. Compilers do not find this layout in plain loops. The number of
lanes is a compile-time constant, given where a vector is created. Arithmetic follows from the type.
"""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.codegen import get_host_cpu_features
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, models, register_model

from narxbench._numerics.compilation import compiled


def _register_width() -> int:
    """Return the doubles in a vector register with AVX-512, else with AVX, by the features that Numba compiles for."""
    # None, unless NUMBA_CPU_FEATURES is set.
    features = config.CPU_FEATURES
    if features is None:
        features = get_host_cpu_features()
    return 8 if "+avx512f" in features.split(",") else 4


# The sums that a loop computes side by side should fit in the registers: AVX-512 has 32 of 8 doubles, AVX 16 of 4.
WIDTH = _register_width()


class Lanes(types.Type):
    """Numba's type of a vector of ``count`` doubles."""

    def __init__(self, count: int) -> None:
        super().__init__(name=f"Lanes({count})")
        self.vector = ir.VectorType(ir.DoubleType(), count)


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, frontend_type: Any) -> None:
        super().__init__(manager, frontend_type, frontend_type.vector)


@compiled
def aligned(count):
    """Return an uninitialised array of doubles that begins where a vector register may, so that none crosses two lines.

    A line of the cache has one or two of them.
    """
    doubles = np.empty(count + WIDTH)
    start = (-(doubles.ctypes.data // 8)) % WIDTH
    return doubles[start : start + count]


def _element(context: Any, builder: Any, array_type: Any, array: Any, offset: Any) -> Any:
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [offset])


@intrinsic
def at(_: Any, array: Any, offset: Any) -> Any:
    """``at(array, offset)``: one element of a flat array. Unlike an index, an offset never counts from the end."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_element(context, builder, sig.args[0], args[0], args[1]))

    return array.dtype(array, types.intp), generate


@intrinsic(prefer_literal=True)
def load(_: Any, array: Any, offset: Any, lanes: Any) -> Any:
    """``load(array, offset, lanes)``: the ``lanes`` doubles of a flat array from ``offset`` on."""
    kind = Lanes(lanes.literal_value)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _element(context, builder, sig.args[0], args[0], args[1])
        vector = builder.load(builder.bitcast(pointer, kind.vector.as_pointer()))
        vector.align = 8
        return vector

    return kind(array, types.intp, lanes), generate


@intrinsic(prefer_literal=True)
def gather(_: Any, array: Any, rows: Any, first: Any, columns: Any, second: Any, lanes: Any) -> Any:
    """``gather(array, rows, first, columns, second, lanes)``: elements of a flat array.

    Lane number l receives ``array[rows[first + l] + columns[second + l]]``.
    """
    kind = Lanes(lanes.literal_value)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        vector = ir.Constant(kind.vector, ir.Undefined)

        def summand(argument: int, lane: int) -> Any:
            """Return the element of ``rows`` or ``columns`` for a lane."""
            place = builder.add(args[argument + 1], args[argument + 1].type(lane))
            return builder.load(_element(context, builder, sig.args[argument], args[argument], place))

        for lane in range(kind.vector.count):
            offset = builder.add(summand(1, lane), summand(3, lane))
            element = builder.load(_element(context, builder, sig.args[0], args[0], offset))
            vector = builder.insert_element(vector, element, ir.Constant(ir.IntType(32), lane))
        return vector

    return kind(array, rows, types.intp, columns, types.intp, lanes), generate


@intrinsic
def store(_: Any, array: Any, offset: Any, value: Any) -> Any:
    """``store(array, offset, value)``: write a vector into a flat array from ``offset`` on."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _element(context, builder, sig.args[0], args[0], args[1])
        builder.store(args[2], builder.bitcast(pointer, value.vector.as_pointer())).align = 8
        return context.get_dummy_value()

    return types.void(array, types.intp, value), generate


@intrinsic(prefer_literal=True)
def fill(_: Any, number: Any, lanes: Any) -> Any:
    """``fill(number, lanes)``: the same double in every lane."""
    kind = Lanes(lanes.literal_value)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        undefined = ir.Constant(kind.vector, ir.Undefined)
        first = builder.insert_element(undefined, args[0], ir.Constant(ir.IntType(32), 0))
        return _shuffle(builder, first, [0] * kind.vector.count)

    return kind(types.float64, lanes), generate


@intrinsic(prefer_literal=True)
def part(_: Any, value: Any, index: Any, lanes: Any) -> Any:
    """``part(value, index, lanes)``: the ``lanes`` doubles from ``index * lanes`` on."""
    kind, first = Lanes(lanes.literal_value), index.literal_value * lanes.literal_value

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _shuffle(builder, args[0], range(first, first + kind.vector.count))

    return kind(value, index, lanes), generate


@intrinsic(prefer_literal=True)
def repeat(_: Any, value: Any, lanes: Any) -> Any:
    """``repeat(value, lanes)``: the vector, repeated until it fills ``lanes``."""
    kind = Lanes(lanes.literal_value)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _shuffle(builder, args[0], [i % value.vector.count for i in range(kind.vector.count)])

    return kind(value, lanes), generate


def _shuffle(builder: Any, value: Any, lanes: Any) -> Any:
    order = ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), list(lanes))
    return builder.shuffle_vector(value, ir.Constant(value.type, ir.Undefined), order)


@intrinsic
def where_greater(_: Any, a: Any, b: Any, then: Any, otherwise: Any) -> Any:
    """``where_greater(a, b, then, otherwise)``: ``then`` where a > b, else ``otherwise`` (also for NaN)."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", args[0], args[1]), args[2], args[3])

    return a(a, b, then, otherwise), generate


@intrinsic
def inverse_root(_: Any, value: Any) -> Any:
    """``inverse_root(value)``: 1 / sqrt(value), root and quotient each rounded correctly."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        vector = value.vector
        kind = ir.FunctionType(vector, [vector])
        root = cgutils.get_or_insert_function(builder.module, kind, f"llvm.sqrt.v{vector.count}f64")
        return builder.fdiv(ir.Constant(vector, [1.0] * vector.count), builder.call(root, [args[0]]))

    return value(value), generate


def _define(operation: Any, instruction: str) -> None:
    @infer_global(operation)
    class _Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and isinstance(args[0], Lanes) and args[0] == args[1]:
                return signature(args[0], *args)
            return None

    @lower_builtin(operation, Lanes, Lanes)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, instruction)(*args)


_define(operator.add, "fadd")
_define(operator.sub, "fsub")
_define(operator.mul, "fmul")
