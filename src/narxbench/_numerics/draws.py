"""Uniform draws in compiled code: the numbers of a NumPy generator, each of which can be computed without the others.

A swarm multiplies most of its random numbers by zero. These are skipped in one step, and the other numbers are the same
as if all had been drawn.

References
----------
M. E. O'Neill, PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms for Random Number Generation,
2014: the generator PCG-XSL-RR 128/64, NumPy's ``PCG64``. F. Brown, Random Number Generation with Arbitrary Stride,
1994: d steps x -> a x + c of such a generator are one step x -> A x + C.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from narxbench._numerics.compilation import compiled, inner

_WORD, _DOUBLE_WORD = ir.IntType(64), ir.IntType(128)
# The a of O'Neill, and what keeps 128 bits.
_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
_MASK = (1 << _DOUBLE_WORD.width) - 1


class CompiledGenerator(NamedTuple):
    """A generator for compiled code, where a number of 128 bits is two words, the upper one first."""

    state: NDArray[np.uint64]  # (2,)
    jumps: NDArray[np.uint64]  # (longest + 1, 4) for each number of steps, A and C of the jump


@contextmanager
def draws_of(rng: np.random.Generator, longest: int) -> Iterator[CompiledGenerator]:
    """Give a PCG64 generator to compiled code. Afterwards the generator continues where that code stopped.

    ``longest`` is the largest number of steps that :func:`uniform_ahead` and :func:`skip` may take at once. Another
    kind of generator raises a TypeError.
    """
    if not isinstance(rng.bit_generator, np.random.PCG64):
        raise TypeError(f"random generator: found {type(rng.bit_generator).__name__}; allowed: PCG64")
    bit_generator: Any = rng.bit_generator
    state = bit_generator.state
    increment = state["state"]["inc"]
    jumps, factor, addend = [], 1, 0
    for _ in range(longest + 1):
        jumps.append([*_words(factor), *_words(addend)])
        factor, addend = factor * _MULTIPLIER & _MASK, (addend * _MULTIPLIER + increment) & _MASK
    draws = CompiledGenerator(np.array(_words(state["state"]["state"]), np.uint64), np.array(jumps, np.uint64))
    try:
        yield draws
    finally:
        high, low = (int(word) for word in draws.state)
        bit_generator.state = state | {"state": {"state": high << 64 | low, "inc": increment}}


def _words(number: int) -> list[int]:
    return [number >> 64, number & (1 << 64) - 1]


@compiled
def uniform(draws):
    """Return the next draw from [0, 1)."""
    skip(draws, 1)
    return _output(draws.state[0], draws.state[1])


@compiled
def uniform_ahead(draws, steps):
    """Return the number that the ``steps``-th call of :func:`uniform` from now would return."""
    return _output(*_state_after(draws, steps))


@compiled
def skip(draws, steps):
    """Skip a number of draws."""
    draws.state[0], draws.state[1] = _state_after(draws, steps)


@inner
def _state_after(draws, steps):
    # Element by element: a row would be a new array, whose references are counted at each draw.
    state, jumps = draws.state, draws.jumps
    return _jump(state[0], state[1], jumps[steps, 0], jumps[steps, 1], jumps[steps, 2], jumps[steps, 3])


@intrinsic
def _jump(_: Any, high: Any, low: Any, a_high: Any, a_low: Any, c_high: Any, c_low: Any) -> Any:
    # A x + C, modulo 2^128.
    pair = types.UniTuple(types.uint64, 2)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        def join(upper: Any, lower: Any) -> Any:
            shifted = builder.shl(builder.zext(upper, _DOUBLE_WORD), _DOUBLE_WORD(64))
            return builder.or_(shifted, builder.zext(lower, _DOUBLE_WORD))

        state = builder.add(builder.mul(join(*args[2:4]), join(*args[:2])), join(*args[4:]))
        upper = builder.trunc(builder.lshr(state, _DOUBLE_WORD(64)), _WORD)
        return context.make_tuple(builder, pair, [upper, builder.trunc(state, _WORD)])

    return pair(*[types.uint64] * 6), generate


@intrinsic
def _output(_: Any, high: Any, low: Any) -> Any:
    # The two words of the state, combined by exclusive or, are rotated by the upper six bits of the state. The upper 53
    # bits of the result make the double.
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        word, distance = builder.xor(*args), builder.lshr(args[0], _WORD(58))
        back = builder.and_(builder.sub(_WORD(0), distance), _WORD(63))
        rotated = builder.or_(builder.lshr(word, distance), builder.shl(word, back))
        number = builder.uitofp(builder.lshr(rotated, _WORD(11)), ir.DoubleType())
        return builder.fmul(number, ir.Constant(ir.DoubleType(), 2.0**-53))

    return types.float64(types.uint64, types.uint64), generate
