"""Calls by address, between functions that are compiled separately.

Numba puts the code of every function that a function calls into its own, and optimises it there once more. Deep in a
chain of calls a large function is so compiled again and again. What is called by its address is compiled once.
"""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic


def address_of(function: Any, *arguments: types.Type) -> int:
    """Return where the machine code of a compiled function that returns nothing is in this process, for :func:`call`.

    The function is compiled for these types of its arguments, or loaded, if it is not there yet.
    """
    function.compile(arguments)
    code = function.overloads[arguments]
    return int(code.library.get_pointer_to_function(code.fndesc.llvm_func_name))


@intrinsic
def call(_: Any, address: Any, *arguments: Any) -> Any:
    """``call(address, ...)``: call a function that was compiled for arguments of exactly these types.

    Nothing can check the types against the address. At least every array is contiguous, as :func:`address_of` expects.
    """
    for kind in arguments:
        if isinstance(kind, types.Array) and (kind.layout != "C" or not kind.mutable):
            raise TypingError(f"call by address: found {kind}; allowed: contiguous arrays that can be written")

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        convention, given = context.call_conv, sig.args[1]
        kind = convention.get_function_type(types.none, given.types)
        function = builder.inttoptr(args[0], kind.as_pointer())
        values = cgutils.unpack_tuple(builder, args[1])
        status, _ = convention.call_function(builder, function, types.none, given.types, values)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.none(types.intp, types.StarArgTuple(arguments)), generate
