"""Right-hand sides that are no plain polynomial: noise terms, fractions, exponentials and sines, read as data.

Python's own parser makes a tree of the text, nothing is evaluated, and only the nodes that are listed here are known.
Exponential and sine are computed with decimals: the last bit of the C library's depends on the processor.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Context, Decimal, localcontext
from functools import reduce
from typing import NamedTuple

from narxbench.io.errors import NarxbenchError
from narxbench.model.terms import MAX_DEGREE, MAX_LAG

Function = Callable[[Sequence[Sequence[float]], int], float]
"""Value at sample k of the signals (y, u, e); lagged samples before the first one are 0."""

NOISE = 2
MAX_LENGTH, MAX_DEPTH = 2000, 50
_SIGNALS = {"y": 0, "u": 1, "e": NOISE}
_SPECIAL = re.compile(r"/|\be\s*\(|exp|sin|pi")
_TOKEN = re.compile(r"\s+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|exp|sin|pi|[yuekt]|\*\*|[-+*/()]")
_ALLOWED = "numbers, pi, y(k-1), u(k-1), e(k-1), + - * / ^, parentheses, exp() and sin()"
_LARGEST = 1e300
_DECIMALS = Context(prec=50, traps=[])
_TWO_PI = Decimal("6.28318530717958647692528676655900576839433879875021164194988918461563281257")


class Expression(NamedTuple):
    """A right-hand side in parts."""

    polynomial: str | None  # the part without noise as text, if it is a polynomial
    function: Function | None  # the part without noise, if it is no polynomial
    noise: list[Function]  # the terms with a lagged noise e(k-i) as a factor


def is_special(text: str) -> bool:
    """Return whether a right-hand side has what a plain polynomial cannot have."""
    return bool(_SPECIAL.search(text))


def parse_expression(text: str) -> Expression:
    """Return the parts of a right-hand side.

    There may be numbers, ``pi``, lagged ``y``, ``u`` and ``e``, ``+ - * /``, whole powers from 1 to 12, ``exp`` and
    ``sin``. A polynomial must be a sum of terms, and noise a factor of a term.
    """
    source = " ".join(text.replace("^", "**").replace("\u2212", "-").split())
    polynomial, noise, rest = [], [], []
    bends = special = False
    for sign, node, written in _terms(source):
        function, names, curved = _signed(sign, _compiled(node, source, 1)), _names(node), _curved(node)
        if "e" not in names:
            polynomial.append(written)
            rest.append(function)
            special = special or bool(curved) or "pi" in names
            bends = bends or any(curved)
        elif any(isinstance(factor, ast.Call) and _names(factor.func) == {"e"} for factor in _factors(node)):
            noise.append(function)
        else:
            raise _unexpected(source, node.col_offset, "noise as a factor of a term, such as 0.1*u(k-1)*e(k-2)")
    if not special:
        return Expression(" ".join(polynomial).rstrip(), None, noise)
    if not bends:
        allowed = "a sum of terms, each a number and factors such as y(k-1) or u(k-2)^2 joined by *"
        raise NarxbenchError(
            f"equation: found a polynomial with parts to work out in {text[:60]!r}; allowed: {allowed}"
        )
    return Expression(None, lambda signals, k: reduce(operator.add, (f(signals, k) for f in rest), 0.0), noise)


def exponential(x: float) -> float:
    """Return exp(x) with the same last bit on every machine."""
    return float(_DECIMALS.exp(Decimal(x)))


def sine(x: float) -> float:
    """Return sin(x) with the same last bit on every machine; NaN from 1e15 on.

    The angle is taken modulo 2 pi with seventy digits, and the Taylor series is summed with fifty.
    """
    if not abs(x) < 1e15:
        return math.nan
    with localcontext(_DECIMALS):
        angle = Decimal(x).remainder_near(_TWO_PI)
        term = total = angle
        order, before = 1, None
        while total != before:
            before = total
            term *= -angle * angle / ((order + 1) * (order + 2))
            total += term
            order += 2
    return float(total)


def _tree(source: str) -> ast.expr:
    if len(source) > MAX_LENGTH:
        raise NarxbenchError(f"equation: found {len(source)} characters; allowed: at most {MAX_LENGTH} with such terms")
    position = 0
    while match := _TOKEN.match(source, position):
        position = match.end()
    if position < len(source):
        raise _unexpected(source, position)
    try:
        return ast.parse(source, mode="eval").body
    except SyntaxError as error:
        raise _unexpected(source, max(0, (error.offset or 1) - 1)) from None
    except (ValueError, RecursionError, MemoryError):  # thousands of digits, signs or powers in a row
        raise NarxbenchError(f"equation: found too much nesting in {source[:60]!r}; allowed: {_ALLOWED}") from None


def _terms(source: str) -> Iterator[tuple[int, ast.expr, str]]:
    """Yield sign, tree and text of each term of a sum, in the order of the text."""
    node, later = _tree(source), []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        later.append((1 if isinstance(node.op, ast.Add) else -1, node.right))
        node = node.left
    start = 0
    for sign, term in [(1, node), *reversed(later)]:
        end = term.end_col_offset or 0
        # A parenthesis after the term before belongs to that one.
        yield sign, term, source[start:end].lstrip(" )")
        start = end


def _factors(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the factors of a product."""
    waiting = [node]
    while waiting:
        match waiting.pop():
            case ast.BinOp(left, ast.Mult(), right):
                waiting += [left, right]
            case ast.UnaryOp(_, operand) | ast.BinOp(operand, ast.Pow()):
                waiting.append(operand)
            case factor:
                yield factor


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _curved(node: ast.AST) -> list[bool]:
    """Return of each fraction and function whether it depends on the signals: it is no polynomial of them then."""
    inner = []
    for part in ast.walk(node):
        match part:
            case ast.BinOp(_, ast.Div(), right):
                inner.append(right)
            case ast.Call(ast.Name(name), [argument]) if name in _FUNCTIONS:
                inner.append(argument)
    return [not _names(part).isdisjoint(_SIGNALS) for part in inner]


def _compiled(node: ast.expr, source: str, depth: int) -> Function:
    """Return the function that a tree stands for."""
    if depth > MAX_DEPTH:
        raise _unexpected(source, node.col_offset, f"at most {MAX_DEPTH} levels")
    match node:
        case ast.Constant(int() | float() as number) if number <= _LARGEST:
            value = float(number)
            return lambda signals, k: value
        case ast.Name("pi"):
            return lambda signals, k: math.pi
        case ast.Call(ast.Name(name), [ast.BinOp(ast.Name("k" | "t"), ast.Sub(), ast.Constant(int() as lag))]) if (
            name in _SIGNALS and 1 <= lag <= MAX_LAG
        ):
            signal = _SIGNALS[name]
            return lambda signals, k: signals[signal][k - lag] if k >= lag else 0.0
        case ast.Call(ast.Name(name), [argument]) if name in _FUNCTIONS:
            function, inner = _FUNCTIONS[name], _compiled(argument, source, depth + 1)
            return lambda signals, k: function(inner(signals, k))
        case ast.UnaryOp(ast.USub() | ast.UAdd() as sign, operand):
            return _signed(-1 if isinstance(sign, ast.USub) else 1, _compiled(operand, source, depth + 1))
        case ast.BinOp(base, ast.Pow(), ast.Constant(int() as power)) if 1 <= power <= MAX_DEGREE:
            factor = _compiled(base, source, depth + 1)
            return lambda signals, k: math.prod([factor(signals, k)] * power)
        case ast.BinOp(left, operation, right) if type(operation) in _OPERATIONS:
            combined = _OPERATIONS[type(operation)]
            first, second = _compiled(left, source, depth + 1), _compiled(right, source, depth + 1)
            return lambda signals, k: combined(first(signals, k), second(signals, k))
    raise _unexpected(source, node.col_offset)


def _signed(sign: int, function: Function) -> Function:
    return function if sign > 0 else lambda signals, k: -function(signals, k)


_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    # Python raises where b is 0; the system has then diverged.
    ast.Div: lambda a, b: a / b if b else math.nan,
}
_FUNCTIONS = {"exp": exponential, "sin": sine}


def _unexpected(source: str, position: int, allowed: str = _ALLOWED) -> NarxbenchError:
    found = repr(source[position : position + 12]) if position < len(source) else "its end"
    where = f"at column {position + 1} of {source[:60]!r}"
    return NarxbenchError(f"equation: did not expect {found} {where}; allowed: {allowed}")
