"""Expressions: what they mean, what is refused, and functions whose last bit is right."""

import math
from decimal import Decimal, localcontext

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from narxbench._io.errors import NarxbenchError
from narxbench._model.expression import exponential, parse_expression, sine

quick = settings(max_examples=100, deadline=None)
SIGNALS = ([0.5, -0.25, 2.0], [1.0, 3.0, -0.5], [0.125, 0.75, -2.0])
K = 2
# Text and its value at sample K.
LEAVES = [("y(k-1)", -0.25), ("y(k-2)", 0.5), ("u(k-1)", 3.0), ("u(k-2)", 1.0)]
LEAVES += [("pi", math.pi), ("0.5", 0.5), (".25e1", 2.5), ("3", 3.0), ("u(t - 3)", 0.0)]


def joined(parts):
    (a, x), (b, y), operation = parts
    value = {"+": x + y, "-": x - y, "*": x * y, "/": x / y if y else math.nan}[operation]
    return f"({a} {operation} {b})", value


def wrapped(inner):
    return (
        st.tuples(inner, inner, st.sampled_from("+-*/")).map(joined)
        | inner.map(lambda part: (f"sin({part[0]})", math.sin(part[1]) if abs(part[1]) < 1e15 else math.nan))
        | inner.map(lambda part: (f"exp(-({part[0]})^2)", math.exp(-part[1] * part[1])))
        | st.tuples(inner, st.integers(1, 3)).map(
            lambda parts: (f"({parts[0][0]})^{parts[1]}", parts[0][1] ** parts[1])
        )
        | inner.map(lambda part: (f"(-{part[0]})", -part[1]))
    )


@given(st.recursive(st.sampled_from(LEAVES), wrapped, max_leaves=8))
@quick
def test_an_expression_means_what_it_says(part):
    text, value = part
    assume(math.isfinite(value) and abs(value) < 1e6)
    # The first term makes any second one part of a truth outside the candidates.
    expression = parse_expression(f"exp(u(k-1)) + {text.replace('**', '^')}")
    assert (expression.polynomial, expression.noise) == (None, [])
    assert expression.function(SIGNALS, K) == pytest.approx(math.exp(3.0) + value, rel=1e-6, abs=1e-6)


def test_operators_bind_as_in_mathematics():
    expression = parse_expression("8/u(k-1)/2 - -y(k-1)^2*2 - 1 - 1")
    assert expression.function(SIGNALS, K) == 8 / 3 / 2 + 2 * 0.25**2 - 2


@pytest.mark.parametrize(
    ("text", "polynomial", "noise"),
    [
        ("- 2*u(t-1)**2 − y(k-1) + 0.5*e(k-1)", "- 2*u(t-1)**2 - y(k-1)", [0.375]),
        ("0.1*e(k-2)^2*y(k-1) + 1 - e(k-1)", "+ 1", [0.1 * 0.125**2 * -0.25, -0.75]),
        ("-u(k-1)*e(k-1) + y(k-1)", "+ y(k-1)", [-2.25]),
        ("y(k-1) + (0.5*e(k-1)) + u(k-1)", "y(k-1) + u(k-1)", [0.375]),
        ("y(k-1) + exp(u(k-1) - 3)*e(k-1)", "y(k-1)", [0.75]),
    ],
)
def test_noise_terms_are_taken_out(text, polynomial, noise):
    expression = parse_expression(text)
    assert (expression.polynomial, expression.function) == (polynomial, None)
    assert [function(SIGNALS, K) for function in expression.noise] == pytest.approx(noise)


PIECES = ["y(k-1)", "u(k-2)", "e(k-1)", "exp(", "sin(", "pi", "(", ")", *"+-*/^ek.\n_", "**", "2", "0.5", "1e5", "007"]


@given(st.text(max_size=40) | st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
@quick
def test_any_text_is_an_expression_or_a_clear_error(text):
    try:
        expression = parse_expression(text)
    except NarxbenchError as error:
        assert str(error).isprintable() and len(str(error)) < 400
        return
    assert (expression.polynomial is None) is (expression.function is not None)
    functions = [*expression.noise]
    if expression.function is not None:
        functions.append(expression.function)
    for function in functions:
        assert isinstance(function(SIGNALS, K), float)


def exact_sine(x):
    """Sum the Taylor series itself, with digits enough for its large terms."""
    with localcontext(prec=400):
        term = total = Decimal(x)
        for order in range(1, 1200, 2):
            term *= -(Decimal(x) ** 2) / ((order + 1) * (order + 2))
            total += term
        return float(total)


@given(st.floats(-200, 200))
@quick
def test_last_bits(x):
    assert sine(x) == exact_sine(x)
    assert exponential(x) == pytest.approx(math.exp(x), rel=4e-16)
    with localcontext(prec=100):
        assert exponential(x) == float(Decimal(x).exp())


def test_beyond_all_bounds():
    assert exponential(math.inf) == math.inf and exponential(-1e300) == 0.0 and math.isnan(exponential(math.nan))
    for x in (math.inf, math.nan, 1e300):
        assert math.isnan(sine(x))
    assert math.isnan(parse_expression("1/y(k-1)").function(([0.0], [0.0], [0.0]), 1))
