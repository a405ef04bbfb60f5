"""A vector of doubles as a compiled type: ``LANES`` candidate structures go through the same arithmetic side by side.

Each lane is its own IEEE 754 computation in program order, so a result does not depend on its neighbours, on the
number of lanes or on the vector width of the processor; compilers alone do not find this layout in plain loops.
"""

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, models, register_model

LANES = 16
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)


class LanesType(types.Type):
    """Numba's type of one vector of ``LANES`` doubles."""

    def __init__(self) -> None:
        super().__init__(name=f"Lanes{LANES}")


_lanes = LanesType()


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, frontend_type: Any) -> None:
        super().__init__(manager, frontend_type, _VECTOR)


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, offset: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [offset]), _VECTOR.as_pointer())


@intrinsic
def load(_: Any, array: Any, offset: Any) -> Any:
    """``load(array, offset)``: the ``LANES`` doubles of a flat array from ``offset`` on."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        vector = builder.load(_pointer(context, builder, sig.args[0], args[0], args[1]))
        vector.align = 8
        return vector

    return _lanes(array, types.intp), generate


@intrinsic
def store(_: Any, array: Any, offset: Any, value: Any) -> Any:
    """``store(array, offset, value)``: write the ``LANES`` doubles into a flat array from ``offset`` on."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        write = builder.store(args[2], _pointer(context, builder, sig.args[0], args[0], args[1]))
        write.align = 8
        return context.get_dummy_value()

    return types.void(array, types.intp, _lanes), generate


@intrinsic
def fill(_: Any, number: Any) -> Any:
    """``fill(number)``: the same double in every lane."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        undefined = ir.Constant(_VECTOR, ir.Undefined)
        first = builder.insert_element(undefined, args[0], ir.Constant(ir.IntType(32), 0))
        nowhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return builder.shuffle_vector(first, undefined, nowhere)

    return _lanes(types.float64), generate


@intrinsic
def larger_magnitude(_: Any, worst: Any, value: Any) -> Any:
    """``larger_magnitude(worst, value)``: abs(value) in the lanes where it exceeds worst, else worst (also for NaN)."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        negated = builder.fsub(ir.Constant(_VECTOR, [0.0] * LANES), args[1])
        magnitude = builder.select(builder.fcmp_ordered(">", args[1], negated), args[1], negated)
        return builder.select(builder.fcmp_ordered(">", magnitude, args[0]), magnitude, args[0])

    return _lanes(_lanes, _lanes), generate


def _define(operation: Any, instruction: str) -> None:
    @infer_global(operation)
    class _Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            return signature(_lanes, _lanes, _lanes) if args == (_lanes, _lanes) else None

    @lower_builtin(operation, LanesType, LanesType)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, instruction)(*args)


_define(operator.add, "fadd")
_define(operator.sub, "fsub")
_define(operator.mul, "fmul")
