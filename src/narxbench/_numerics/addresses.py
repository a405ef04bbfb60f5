"""Calls by address, between functions that are compiled separately.

Numba copies the code of every function that a function calls into the caller and optimises it there again. So a large
function deep in a chain of calls is compiled many times. A function that is called by its address is compiled once.
"""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic


def address_of(function: Any, *arguments: types.Type) -> int:
    """Return the address in this process of the machine code of a compiled function, for :func:`call`.

    The function must return nothing. It is compiled for these types of its arguments, or loaded from the cache, if that
    has not happened yet.
    """
    function.compile(arguments)
    code = function.overloads[arguments]
    return int(code.library.get_pointer_to_function(code.fndesc.llvm_func_name))


@intrinsic
def call(_: Any, address: Any, *arguments: Any) -> Any:
    """``call(address, ...)``: call a function that was compiled for arguments of exactly these types.

    Nothing can check the types against the address. But it is an error if an array is not contiguous, as
    :func:`address_of` expects it to be.
    """
    for argument in arguments:
        if isinstance(argument, types.Array) and (argument.layout != "C" or not argument.mutable):
            raise TypingError(f"call by address: found {argument}; allowed: contiguous arrays that can be written")

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        convention, argument_types = context.call_conv, sig.args[1].types
        function_type = convention.get_function_type(types.none, argument_types)
        function = builder.inttoptr(args[0], function_type.as_pointer())
        values = cgutils.unpack_tuple(builder, args[1])
        status, _ = convention.call_function(builder, function, types.none, argument_types, values)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.none(types.intp, types.StarArgTuple(arguments)), generate
