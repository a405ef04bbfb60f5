import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narxbench import NarxbenchError, candidate_terms, model_size
from narxbench.model.terms import candidate_monomials, parse_term, term_name


@pytest.mark.parametrize(
    ("orders", "size"),
    [
        ({"n_y": 5, "n_u": 5, "degree": 2}, 66),
        ({"n_y": 3, "n_u": 3, "degree": 3}, 84),
        ({"n_y": 5, "n_u": 5, "degree": 2, "n_e": 5}, 136),
        ({"n_y": 0, "n_u": 3, "degree": 2}, 10),
        ({"n_y": 1, "n_u": 1, "degree": 1}, 3),
    ],
)
def test_model_size(orders, size):
    assert model_size(**orders) == size


@pytest.mark.parametrize("orders", [(1, 1, 1), (5, 5, 2), (3, 3, 3), (2, 0, 4), (0, 2, 3)])
def test_as_many_candidates_as_the_recurrence_says(orders):
    n_y, n_u, degree = orders
    terms = candidate_terms(n_y=n_y, n_u=n_u, degree=degree)
    assert len(terms) == len(set(terms)) == model_size(n_y=n_y, n_u=n_u, degree=degree)


def test_canonical_order():
    assert candidate_terms(n_y=2, n_u=1, degree=2) == [
        "1",
        "y(k-1)",
        "y(k-2)",
        "u(k-1)",
        "y(k-1)^2",
        "y(k-1)*y(k-2)",
        "y(k-1)*u(k-1)",
        "y(k-2)^2",
        "y(k-2)*u(k-1)",
        "u(k-1)^2",
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("1", "1"),
        ("u(k-2)*y(k-1)", "y(k-1)*u(k-2)"),
        ("u(t-2) y(t-1)", "y(k-1)*u(k-2)"),
        ("u(k-1)u(k-1)", "u(k-1)^2"),
        ("u( k - 1 ) ** 3", "u(k-1)^3"),
        ("y(k-2)^2*y(k-1)", "y(k-1)*y(k-2)^2"),
    ],
)
def test_spellings_of_one_term(text, name):
    assert term_name(parse_term(text)) == name


@pytest.mark.parametrize(
    "text",
    ["", "2", "y(k)", "y(k+1)", "x(k-1)", "y(k-1)*", "*y(k-1)", "y(k-1)**", "y(k-0)", "y(k-1)^0", "y(k-1)+u(k-1)"]
    + ["y(k-99999999999999999999)", "y(k-1)^99999999999999999", "y(k-1)^7*u(k-1)^7", "__import__('os')", "y(k-١)"],
)
def test_nonsense_is_a_clear_error(text):
    with pytest.raises(NarxbenchError, match="term"):
        parse_term(text)


@given(st.permutations(range(6)), st.integers(0, 5))
def test_any_factor_order_names_the_same_term(order, start):
    factors = ["y(k-1)", "y(k-3)", "u(k-2)", "u(k-2)", "y(k-1)", "u(k-5)"]
    shuffled = [factors[i] for i in order][start:]
    assert parse_term("*".join(shuffled)) == parse_term(" ".join(sorted(shuffled)))


@given(st.text(max_size=40))
def test_parsing_never_fails_otherwise(text):
    try:
        name = term_name(parse_term(text))
    except NarxbenchError:
        return
    assert term_name(parse_term(name)) == name


def test_names_read_back_as_their_monomials():
    for monomial in itertools.chain(candidate_monomials(n_y=3, n_u=3, degree=3)):
        assert parse_term(term_name(monomial)) == monomial


@pytest.mark.parametrize(
    "orders",
    [
        {"n_y": -1, "n_u": 1, "degree": 1},
        {"n_y": 0, "n_u": 0, "degree": 1},
        {"n_y": 1, "n_u": 1, "degree": 0},
        {"n_y": 1.5, "n_u": 1, "degree": 1},
        {"n_y": 9999, "n_u": 9999, "degree": 3},
        {"n_y": True, "n_u": 1, "degree": 1},
    ],
)
def test_impossible_orders(orders):
    with pytest.raises(NarxbenchError, match="allowed"):
        candidate_terms(**orders)
