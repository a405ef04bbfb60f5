"""Candidate terms: their number, order and names, and how text is read as a term."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narxbench.io.errors import NarxbenchError
from narxbench.model import terms
from narxbench.model.system import System
from narxbench.model.terms import (
    candidate_monomials,
    candidate_terms,
    index_of_terms,
    model_size,
    monomials_of,
    parse_term,
    signal_name,
    term_name,
)

quick = settings(max_examples=50, deadline=None)
monomials = st.lists(st.tuples(st.integers(0, 1), st.integers(1, 9999)), max_size=12).map(lambda m: tuple(sorted(m)))


@pytest.mark.parametrize(
    ("orders", "size"), [((1, 1, 1), 3), ((5, 5, 2), 66), ((3, 3, 3), 84), ((2, 0, 4), 15), ((0, 3, 2), 10)]
)
def test_as_many_candidates_as_the_recurrence_says(orders, size):
    n_y, n_u, degree = orders
    found = candidate_terms(n_y=n_y, n_u=n_u, degree=degree)
    assert len(found) == len(set(found)) == model_size(n_y=n_y, n_u=n_u, degree=degree) == size
    assert model_size(n_y=5, n_u=5, n_e=5, degree=2) == 136


def test_canonical_order():
    expected = "1 y(k-1) y(k-2) u(k-1) y(k-1)^2 y(k-1)*y(k-2) y(k-1)*u(k-1) y(k-2)^2 y(k-2)*u(k-1) u(k-1)^2"
    assert candidate_terms(n_y=2, n_u=1, degree=2) == expected.split()


@pytest.mark.parametrize("values", [(-1, 1, 1), (0, 0, 1), (1, 1, 0), (1.5, 1, 1), (9999, 9999, 3), (True, 1, 1)])
def test_impossible_orders(values):
    with pytest.raises(NarxbenchError, match="allowed"):
        candidate_terms(**dict(zip(("n_y", "n_u", "degree"), values, strict=True)))


@given(monomial=monomials, data=st.data())
@quick
def test_every_way_to_write_a_term_is_read(monomial, data):
    blank = st.sampled_from(["", " ", "\t", "\n"])
    written = data.draw(st.sampled_from(["*", " * ", " ", ""])).join(
        f"{terms.SIGNALS[signal]}{data.draw(blank)}({data.draw(st.sampled_from('kt'))}-{data.draw(blank)}{lag})"
        + data.draw(st.sampled_from(["", "^1", "**1", " ^ 1"]))
        for signal, lag in data.draw(st.permutations(monomial))
    )
    assert parse_term(written or "1") == parse_term(term_name(monomial)) == monomial


def test_powers_are_repeated_factors():
    assert parse_term("u( k - 1 ) ** 3 y(k-2)^2*y(k-1)") == parse_term("y(k-1)y(k-2)y(k-2)u(k-1)u(k-1)u(k-1)")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y(k-1)^" + "9" * 100_000, "found power 999999999999; allowed: 1 to 12"),
        ("y(k-" + "9" * 100_000 + ")", "found lag 999999999999; allowed: 1 to 9999"),
        ("y(k-0)", "found lag 0; allowed: 1 to 9999"),
        ("y(k-1)^7*u(k-1)^7", "found degree 14; allowed: at most 12"),
        ("y(k-1)" * 20_000, "found degree 20000; allowed: at most 12"),
        *((text, f"did not expect {text!r} at column 1") for text in ("y(k)", "y(k+1)", "x(k-1)", "y(k−1)", "y(k-１)")),
        ("y(k-1)²", "did not expect '²' at column 7"),
        ("y(k-1)\x00", "did not expect '\\x00' at column 7"),
        ("y(k-1)*", "did not expect its end at column 8"),
        ("\ud800", "did not expect '\\ud800' at column 1"),
        ("", "did not expect its end at column 1"),
        ("2", "did not expect '2' at column 1"),
        ("y(" + " " * 200_000 + "k", "did not expect 'y(          ' at column 1"),
        (["y(k-1)"], "term: found ['y(k-1)']; allowed: text such as"),
        (None, "term: found None; allowed: text such as"),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_what_is_no_term(text, message):
    with pytest.raises(NarxbenchError) as error:
        parse_term(text)
    assert message in str(error.value)
    assert len(str(error.value)) < 300


@given(st.text(max_size=60) | st.text("yuk(t)-^*1290. \n", max_size=60))
@quick
def test_any_text_is_a_term_or_a_clear_error(text):
    try:
        monomial = parse_term(text)
    except NarxbenchError as error:
        assert str(error).isprintable()
        return
    assert list(monomial) == sorted(monomial) and len(monomial) <= terms.MAX_DEGREE
    assert parse_term(term_name(monomial)) == monomial


def test_terms_are_found_among_many_candidates():
    candidates = {((0, lag),): lag for lag in range(1, 9999)}
    assert index_of_terms((f"y(k-{lag})" for lag in range(1, 9999)), candidates) == list(range(1, 9999))
    with pytest.raises(NarxbenchError, match="not among the 9998 candidate terms"):
        index_of_terms(["u(k-1)"], candidates)
    with pytest.raises(NarxbenchError, match="named twice"):
        index_of_terms(["y(k-1)", "y(t-1)"], candidates)


class TestSeveralInputs:
    """Terms of measured data: u1, u2, … and the current input."""

    @given(n_inputs=st.integers(1, 12), data=st.data())
    @quick
    def test_every_name_is_read_as_what_it_names(self, n_inputs, data):
        output = st.tuples(st.just(0), st.integers(1, 9999))
        inputs = st.tuples(st.integers(1, n_inputs), st.integers(0, 9999))
        monomial = tuple(sorted(data.draw(st.lists(output | inputs, max_size=12))))
        name = term_name(monomial, n_inputs)
        assert parse_term(name, n_inputs, current=True) == monomial
        if any(lag == 0 for _, lag in monomial):
            with pytest.raises(NarxbenchError):
                parse_term(name, n_inputs)
        else:
            assert parse_term(name, n_inputs) == monomial

    def test_names(self):
        assert [signal_name(i) for i in (0, 1)] == ["y", "u"]
        assert [signal_name(i, 3) for i in range(4)] == ["y", "u1", "u2", "u3"]
        assert term_name(((0, 1), (1, 0), (1, 0), (2, 3)), 2) == "y(k-1)*u1(k)^2*u2(k-3)"
        assert parse_term("u12(t) u2(k-0)", 12, current=True) == ((2, 0), (12, 0))

    @pytest.mark.parametrize(
        ("text", "n_inputs", "current"),
        [
            ("u(k)", 1, False),
            ("y(k-1)*u(k)", 1, False),
            ("y(k)", 1, True),
            ("y(k-0)", 1, True),
            ("u1(k-1)", 1, True),
            ("u2(k-1)", 1, True),
            ("u(k-1)", 2, True),
            ("u0(k-1)", 2, True),
            ("u3(k-1)", 2, True),
            ("u01(k-1)", 2, True),
            ("u1(k)", 2, False),
            ("u1(k-0)", 2, False),
            ("u(k-1)", 0, True),
        ],
    )
    def test_what_is_no_term_of_these_signals(self, text, n_inputs, current):
        with pytest.raises(NarxbenchError, match="allowed"):
            parse_term(text, n_inputs, current=current)

    @given(n_y=st.integers(0, 4), n_u=st.integers(0, 4), degree=st.integers(1, 3), data=st.data())
    @quick
    def test_monomials_of_the_plain_lags_are_the_candidates(self, n_y, n_u, degree, data):
        if n_y + n_u:
            factors = [(0, lag) for lag in range(1, n_y + 1)] + [(1, lag) for lag in range(1, n_u + 1)]
            written = data.draw(st.permutations(factors)) + factors[:1]
            assert monomials_of(written, degree) == candidate_monomials(n_y=n_y, n_u=n_u, degree=degree)

    def test_monomials_of_no_signal(self):
        assert monomials_of([], 3) == [()]

    def test_the_current_input_is_found_where_there_is_one(self):
        candidates = {m: i for i, m in enumerate(monomials_of([(0, 2), (1, 0), (2, 5)], 2))}
        names = [term_name(m, 2) for m in candidates]
        assert index_of_terms(names, candidates, 2) == list(range(10))
        with pytest.raises(NarxbenchError, match=r"not among the 10 .*did you mean 'u1\(k\)'"):
            index_of_terms(["u1(k-1)"], candidates, 2)


@pytest.mark.parametrize("wrong", ["u(k)", "u(k-0)", "u1(k-1)", "u(k)/2", "exp(u(k))"])
def test_a_system_has_one_input_and_not_its_current_value(wrong):
    with pytest.raises(NarxbenchError):
        System("own", f"y(k) = 0.5*y(k-1) + {wrong}", n_u=1, n_y=1, degree=2)
    assert System("own", "y(k) = 0.5*y(k-1) + u(k-1)", n_u=1, n_y=1, degree=2).terms
