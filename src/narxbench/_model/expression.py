"""Right-hand sides that are not plain polynomials: noise terms, fractions, exponentials and sines, read as data.

Python's parser turns the text into a tree, which is never evaluated. Only the nodes that are listed here are
allowed. Exponential and sine are computed with decimals: the last bit of the C library's result depends on the
processor.
"""

import ast
import math
import operator
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from decimal import Context, Decimal, localcontext

from narxbench._io.errors import NarxbenchError
from narxbench._io.yaml import MAX_DEPTH
from narxbench._model.terms import MAX_DEGREE, MAX_LAG

Function = Callable[[Sequence[Sequence[float]], int], float]
"""The value at sample k for the signals (y, u, e), whose samples before the first one are 0."""

# Beyond this number of characters, Python's parser may run out of its stack.
MAX_LENGTH = 2000
# The names of the signals, and their places among them.
_SIGNALS = {name: place for place, name in enumerate("yue")}
_SPECIAL = re.compile(r"/|\be\s*\(|exp|sin|pi")
_TOKEN = re.compile(r"\s+|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|exp|sin|pi|[yuekt]|\*\*|[-+*/()]")
_ALLOWED = "numbers, pi, y(k-1), u(k-1), e(k-1), + - * / ^, parentheses, exp() and sin()"
_DECIMALS = Context(prec=50, traps=[])
_TWO_PI = Decimal("6.28318530717958647692528676655900576839433879875021164194988918461563281257")


def is_special(text: str) -> bool:
    """Return whether a right-hand side has parts that a plain polynomial cannot have."""
    return bool(_SPECIAL.search(text))


def parse_expression(text: str) -> tuple[str | None, Function | None, list[Function]]:
    """Return the parts of a right-hand side.

    These are the part without noise, as text if it is a polynomial or else as a function, and the terms with a lagged
    noise e(k-i) as a factor.

    There may be numbers, ``pi``, lagged ``y``, ``u`` and ``e``, ``+ - * /``, whole powers from 1 to 12, ``exp`` and
    ``sin``. A polynomial must be a sum of terms, and noise must be a factor of a term.
    """
    source = " ".join(text.replace("^", "**").replace("\u2212", "-").split())
    noise_terms, plain_texts, plain_functions, plain_nodes = [], [], [], []
    for sign, node, term_text in _terms(source):
        function = _signed(sign, _compiled(node, source, 1))
        if "e" not in _names(node):
            plain_texts.append(term_text)
            plain_functions.append(function)
            plain_nodes.append(node)
        elif any(map(_is_noise, _factors(node))):
            noise_terms.append(function)
        else:
            raise _unexpected(source, node.col_offset, "noise as a factor of a term, such as 0.1*u(k-1)*e(k-2)")
    if not any(map(_needs_evaluation, plain_nodes)):
        return " ".join(plain_texts).rstrip(), None, noise_terms
    if not any(map(_is_nonlinear, plain_nodes)):
        allowed = "a sum of terms, each a number and factors such as y(k-1) or u(k-2)^2 joined by *"
        raise NarxbenchError(
            f"equation: found a polynomial with parts to work out in {text[:60]!r}; allowed: {allowed}"
        )
    return None, _sum(plain_functions), noise_terms


def _sum(functions: Sequence[Function]) -> Function:
    """Return the function whose value is the sum of the values of some functions, from left to right."""

    def value(signals: Sequence[Sequence[float]], k: int) -> float:
        total = 0.0
        for function in functions:
            total += function(signals, k)
        return total

    return value


def exponential(x: float) -> float:
    """Return exp(x) with the same last bit on every machine."""
    return float(_DECIMALS.exp(Decimal(x)))


def sine(x: float) -> float:
    """Return sin(x) with the same last bit on every machine, or NaN if the magnitude of x is 1e15 or more.

    The angle is reduced modulo 2 pi, of which 75 digits are known, and the Taylor series is summed with 50 digits.
    """
    if not abs(x) < 1e15:
        return math.nan
    with localcontext(_DECIMALS):
        angle = Decimal(x).remainder_near(_TWO_PI)
        term = total = angle
        order, previous_total = 1, None
        while total != previous_total:
            previous_total = total
            term *= -angle * angle / ((order + 1) * (order + 2))
            total += term
            order += 2
    return float(total)


def _tree(source: str) -> ast.expr:
    """Return the tree of a right-hand side that has only allowed tokens."""
    if len(source) > MAX_LENGTH:
        raise NarxbenchError(f"equation: found {len(source)} characters; allowed: at most {MAX_LENGTH} with such terms")
    position = 0
    while position < len(source):
        match = _TOKEN.match(source, position)
        if match is None:
            raise _unexpected(source, position)
        position = match.end()
    try:
        return ast.parse(source, mode="eval").body
    except SyntaxError as error:
        raise _unexpected(source, max(0, (error.offset or 1) - 1)) from None
    except (ValueError, RecursionError, MemoryError):  # thousands of digits, signs or powers in a row
        raise NarxbenchError(f"equation: found too much nesting in {source[:60]!r}; allowed: {_ALLOWED}") from None


def _terms(source: str) -> Iterator[tuple[int, ast.expr, str]]:
    """Yield sign, tree and text of each term of a sum, in the order of the text."""
    node = _tree(source)
    later_terms = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        sign = 1 if isinstance(node.op, ast.Add) else -1
        later_terms.append((sign, node.right))
        node = node.left
    start = 0
    for sign, term in [(1, node), *reversed(later_terms)]:
        end = term.end_col_offset or 0
        # A closing parenthesis at the beginning belongs to the previous term.
        yield sign, term, source[start:end].lstrip(" )")
        start = end


def _factors(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the factors of a product."""
    pending = [node]
    while pending:
        match pending.pop():
            case ast.BinOp(left, ast.Mult(), right):
                pending += [left, right]
            case ast.UnaryOp(_, operand) | ast.BinOp(operand, ast.Pow()):
                pending.append(operand)
            case factor:
                yield factor


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _is_noise(factor: ast.expr) -> bool:
    """Return whether a factor is lagged noise such as ``e(k-1)``."""
    return isinstance(factor, ast.Call) and _names(factor.func) == {"e"}


def _arguments(node: ast.AST) -> list[ast.expr]:
    """Return the denominators and the arguments of functions in a tree."""
    arguments = []
    for part in ast.walk(node):
        match part:
            case ast.BinOp(_, ast.Div(), denominator):
                arguments.append(denominator)
            case ast.Call(ast.Name(name), [argument]) if name in _FUNCTIONS:
                arguments.append(argument)
    return arguments


def _needs_evaluation(node: ast.AST) -> bool:
    """Return whether a term has a fraction, a function or pi, which no polynomial in plain text has."""
    return bool(_arguments(node)) or "pi" in _names(node)


def _is_nonlinear(node: ast.AST) -> bool:
    """Return whether a fraction or a function in a term depends on the signals, so that it is not a polynomial."""
    return any(not _names(argument).isdisjoint(_SIGNALS) for argument in _arguments(node))


def _compiled(node: ast.expr, source: str, depth: int) -> Function:
    """Return the function that a tree represents."""
    if depth > MAX_DEPTH:
        raise _unexpected(source, node.col_offset, f"at most {MAX_DEPTH} levels")
    match node:
        case ast.Constant(int() | float() as number) if number <= sys.float_info.max:
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
        case ast.UnaryOp(ast.UAdd(), operand):
            return _compiled(operand, source, depth + 1)
        case ast.UnaryOp(ast.USub(), operand):
            return _signed(-1, _compiled(operand, source, depth + 1))
        case ast.BinOp(base, ast.Pow(), ast.Constant(int() as power)) if 1 <= power <= MAX_DEGREE:
            factor = _compiled(base, source, depth + 1)
            return lambda signals, k: math.prod([factor(signals, k)] * power)
        case ast.BinOp(left, operation, right) if type(operation) in _OPERATIONS:
            combined = _OPERATIONS[type(operation)]
            first, second = _compiled(left, source, depth + 1), _compiled(right, source, depth + 1)
            return lambda signals, k: combined(first(signals, k), second(signals, k))
    raise _unexpected(source, node.col_offset)


def _signed(sign: int, function: Function) -> Function:
    if sign > 0:
        return function
    return lambda signals, k: -function(signals, k)


def _quotient(numerator: float, denominator: float) -> float:
    """Return a quotient, or NaN for a denominator of 0, with which the system has diverged."""
    return numerator / denominator if denominator else math.nan


_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _quotient,
}
_FUNCTIONS = {"exp": exponential, "sin": sine}


def _unexpected(source: str, position: int, allowed: str = _ALLOWED) -> NarxbenchError:
    where = f"at column {position + 1} of {source[:60]!r}"
    return NarxbenchError(f"equation: did not expect {source[position : position + 12]!r} {where}; allowed: {allowed}")
