"""Candidate terms of a polynomial NARX model: their number, their names, their one canonical order, and parsing.

The model is y(k) = sum_i theta_i x_i(k) + e(k), where each candidate term x_i is a monomial of degree 0 to n_l in
y(k-1), …, y(k-n_y), u(k-1), …, u(k-n_u) (paper, section II).

A monomial is a sorted tuple of factors ``(signal, lag)``: ``((OUTPUT, 1), (INPUT, 2))`` is ``y(k-1)*u(k-2)``. The
empty tuple is the constant term, named ``1``. Measured data may have several inputs: the signals 1, 2, …, named ``u1``,
``u2``, …. They may also have terms with the current input, of lag 0, named ``u(k)``.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb
from typing import NamedTuple

from narxbench._io.errors import NarxbenchError, did_you_mean, is_whole_number

SIGNALS = "yu"
# A signal is its place among their names.
OUTPUT, INPUT = map(SIGNALS.index, "yu")
# Larger values are slips of the pen: a lag of five digits, a term of thirteen factors. The inner products of 5000
# terms fill 200 MB.
MAX_LAG, MAX_DEGREE, MAX_TERMS = 9999, 12, 5000

Factor = tuple[int, int]
Monomial = tuple[Factor, ...]

_TOKEN = re.compile(
    r"""(?P<factor>(?P<signal>y|u[0-9]{0,3})\s*\(\s*[kt]\s*(?:-\s*(?P<lag>[0-9]+)\s*)?\)
        (?:\s*(?:\^|\*\*)\s*(?P<power>[0-9]+))?)
    |(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<times>\*(?!\*))
    |(?P<sign>[+\-\u2212])""",
    re.VERBOSE | re.ASCII,
)


class Token(NamedTuple):
    """One piece of a term or an equation: ``kind`` is factor, number, times or sign."""

    kind: str
    text: str
    monomial: Monomial
    column: int


def model_size(*, n_y: int, n_u: int, degree: int, n_e: int = 0) -> int:
    """Return N_t, the number of candidate terms of a polynomial NARMAX model.

    N_t = n_0 + … + n_l with n_0 = 1 and n_i = n_(i-1) (n_y + n_u + n_e + i - 1) / i (paper, section II, equations 1
    and 2), which is a binomial coefficient. The constant term is counted.

    Parameters
    ----------
    n_y, n_u, n_e : int
        Largest lags of output, input and noise.
    degree : int
        Largest degree of a term, n_l in the paper.

    Raises
    ------
    NarxbenchError
        If a lag is outside 0 to 9999, the degree outside 1 to 12, or neither output nor input has a lag.

    Examples
    --------
    >>> model_size(n_y=5, n_u=5, degree=2), model_size(n_y=3, n_u=3, degree=3)
    (66, 84)
    """
    orders = (
        ("n_y", n_y, 0, MAX_LAG),
        ("n_u", n_u, 0, MAX_LAG),
        ("degree", degree, 1, MAX_DEGREE),
        ("n_e", n_e, 0, MAX_LAG),
    )
    for name, value, least, most in orders:
        if not is_whole_number(value, least, most):
            raise NarxbenchError(f"{name}: found {value!r}; allowed: a whole number from {least} to {most}")
    if n_y + n_u == 0:
        raise NarxbenchError("n_y and n_u: found 0 and 0; allowed: at least one of them positive")
    return comb(n_y + n_u + n_e + degree, degree)


def candidate_monomials(*, n_y: int, n_u: int, degree: int) -> list[Monomial]:
    """Return every candidate monomial in canonical order: constant, by degree, then y before u by lag.

    More than 5000 candidates, and orders that :func:`model_size` refuses, raise :class:`NarxbenchError`.
    """
    size = model_size(n_y=n_y, n_u=n_u, degree=degree)
    if size > MAX_TERMS:
        raise NarxbenchError(
            f"n_y={n_y}, n_u={n_u}, degree={degree}: {size} candidate terms; allowed: at most {MAX_TERMS}, "
            f"for the inner products of {size} would fill {8e-9 * size**2:.2g} GB"
        )
    factors = [(OUTPUT, lag) for lag in range(1, n_y + 1)] + [(INPUT, lag) for lag in range(1, n_u + 1)]
    return monomials_of(factors, degree)


def candidate_terms(*, n_y: int, n_u: int, degree: int) -> list[str]:
    """Return the names of all N_t candidate terms in canonical order, with the same errors as :func:`model_size`.

    Examples
    --------
    >>> candidate_terms(n_y=1, n_u=1, degree=2)
    ['1', 'y(k-1)', 'u(k-1)', 'y(k-1)^2', 'y(k-1)*u(k-1)', 'u(k-1)^2']
    """
    return [term_name(m) for m in candidate_monomials(n_y=n_y, n_u=n_u, degree=degree)]


def monomials_of(factors: Iterable[Factor], degree: int) -> list[Monomial]:
    """Return every monomial of some lagged signals in canonical order: constant, by degree, then by factors."""
    ordered = sorted(set(factors))
    monomials: list[Monomial] = []
    for total_degree in range(degree + 1):
        monomials.extend(combinations_with_replacement(ordered, total_degree))
    return monomials


def max_lag_of(monomials: Iterable[Monomial]) -> int:
    """Return the largest lag of any signal in some monomials, or 0 if they have no lags.

    Examples
    --------
    >>> max_lag_of([parse_term("1", 1), parse_term("y(k-1)*u(k-3)", 1)])
    3
    """
    largest = 0
    for monomial in monomials:
        for _, lag in monomial:
            largest = max(largest, lag)
    return largest


def lags_of(monomials: Iterable[Monomial], signal: int) -> list[int]:
    """Return the lags of a signal that occur in some monomials, in ascending order.

    Examples
    --------
    >>> lags_of([parse_term("y(k-1)*u(k-3)", 1), parse_term("u(k-1)", 1)], INPUT)
    [1, 3]
    """
    lags = set()
    for monomial in monomials:
        lags |= {lag for factor_signal, lag in monomial if factor_signal == signal}
    return sorted(lags)


def signal_name(signal: int, n_inputs: int = 1) -> str:
    """Return the name of a signal in terms: ``y`` or ``u``, and with several inputs ``u1``, ``u2``, …."""
    if signal == OUTPUT:
        return SIGNALS[OUTPUT]
    if n_inputs > 1:
        return f"{SIGNALS[INPUT]}{signal}"
    return SIGNALS[INPUT]


def term_name(monomial: Monomial, n_inputs: int = 1) -> str:
    """Return the canonical name of a monomial: y before u, lags ascending, a power instead of a repeated factor."""
    return _term_name(monomial, n_inputs)


@lru_cache(maxsize=20_000)
def _term_name(monomial: Monomial, n_inputs: int) -> str:
    names = []
    for factor in dict.fromkeys(monomial):
        signal, lag = factor
        time = f"k-{lag}" if lag else "k"
        name = f"{signal_name(signal, n_inputs)}({time})"
        power = monomial.count(factor)
        if power > 1:
            name += f"^{power}"
        names.append(name)
    return "*".join(names) or "1"


def parse_term(text: str, n_inputs: int = 1, *, current: bool = False) -> Monomial:
    """Return the monomial that ``text`` names.

    Factors may come in any order, with ``*`` between them or without. ``t`` may stand for ``k`` and ``**`` for ``^``.
    With ``current`` there may also be factors of the current input, such as ``u(k)``. Lags are 1 to 9999 and degrees at
    most 12. Errors name the column of the text that is not a factor.
    """
    if not isinstance(text, str):
        raise NarxbenchError(f"term: found {text!r}; allowed: text such as 'y(k-1)*u(k-2)', or '1' for the constant")
    return _parse_term(text, n_inputs, current)


@lru_cache(maxsize=10_000)
def _parse_term(text: str, n_inputs: int, current: bool) -> Monomial:
    tokens = tokenize(text, "term", n_inputs, current=current)
    if [token.text for token in tokens] == ["1"]:
        return ()
    return product_of(tokens, "term", text)


def product_of(tokens: Iterable[Token], source: str, text: str, *, after_number: bool = False) -> Monomial:
    """Return the monomial of factors with or without ``*`` between them, or raise NarxbenchError.

    ``source`` says in messages what ``text`` is: a term or an equation.
    """
    factors: list[Factor] = []
    expects_factor = not after_number
    for token in tokens:
        if token.kind == "factor":
            factors.extend(token.monomial)
        elif token.kind != "times" or expects_factor:
            raise _unexpected(source, text, token.column)
        expects_factor = token.kind == "times"
    if expects_factor:
        raise _unexpected(source, text, len(text))
    if len(factors) > MAX_DEGREE:
        raise NarxbenchError(f"{source} {_shortened(text)}: found degree {len(factors)}; allowed: at most {MAX_DEGREE}")
    return tuple(sorted(factors))


def tokenize(text: str, source: str, n_inputs: int = 1, *, current: bool = False) -> list[Token]:
    """Cut a term or the right-hand side of an equation into tokens, or raise NarxbenchError.

    ``source`` says in messages what ``text`` is: a term or an equation.
    """
    tokens, position = [], 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        match = _TOKEN.match(text, position)
        if not match:
            raise _unexpected(source, text, position)
        monomial: Monomial = ()
        if match["factor"]:
            monomial = _lagged_signal(match, source, n_inputs, current=current)
        tokens.append(Token(str(match.lastgroup), match[0], monomial, position))
        position = match.end()
    return tokens


def _lagged_signal(match: re.Match[str], source: str, n_inputs: int, *, current: bool) -> Monomial:
    """Return a lagged signal, as often as its power says."""
    signals = {signal_name(signal, n_inputs): signal for signal in range(n_inputs + 1)}
    signal = signals.get(match["signal"])
    may_be_current = current and signal != OUTPUT
    if signal is None or (match["lag"] is None and not may_be_current):
        raise _unexpected(source, match.string, match.start())
    smallest_lag = int(not may_be_current)
    lag = _whole_number("lag", match["lag"] or "0", smallest_lag, MAX_LAG, source, match.string)
    power = _whole_number("power", match["power"] or "1", 1, MAX_DEGREE, source, match.string)
    return ((signal, lag),) * power


def _whole_number(name: str, digits: str, least: int, most: int, source: str, text: str) -> int:
    # The length is checked before int(), which is slow for a number of a million digits.
    if len(digits) > 9 or not least <= int(digits) <= most:
        finding = f"found {name} {digits[:12]}; allowed: {least} to {most}"
        raise NarxbenchError(f"{source} {_shortened(text)}: {finding}")
    return int(digits)


def index_of_terms(names: Iterable[str], candidates: dict[Monomial, int], n_inputs: int = 1) -> list[int]:
    """Return the position of each term among the candidates, whose positions are given.

    Terms may be named in any spelling, but each only once.
    """
    indices: dict[int, None] = {}
    current = any(map(_has_current_input, candidates))
    for name in names:
        monomial = parse_term(name, n_inputs, current=current)
        if monomial not in candidates:
            hint = did_you_mean(term_name(monomial, n_inputs), [term_name(m, n_inputs) for m in candidates])
            raise NarxbenchError(
                f"term {_shortened(name)}: not among the {len(candidates)} candidate terms of this problem{hint}; "
                "its lags and degree must lie within n_y, n_u and degree"
            )
        if candidates[monomial] in indices:
            raise NarxbenchError(f"term {_shortened(name)}: named twice; allowed: each term once")
        indices[candidates[monomial]] = None
    return list(indices)


def _has_current_input(monomial: Monomial) -> bool:
    return any(signal != OUTPUT and lag == 0 for signal, lag in monomial)


def _unexpected(source: str, text: str, position: int) -> NarxbenchError:
    finding = "its end"
    if position < len(text):
        finding = repr(text[position : position + 12])
    factors = "factors such as y(k-1) or u(k-2)^2 joined by *"
    allowed = {"term": f"{factors}, or 1 for the constant", "equation": f"a number first, then {factors}"}
    finding = f"did not expect {finding} at column {position + 1}"
    return NarxbenchError(f"{source} {_shortened(text)}: {finding}; allowed: {allowed[source]}")


def _shortened(text: str) -> str:
    if len(text) > 60:
        text = text[:57] + "…"
    return repr(text)
