"""Candidate terms: their number, order and names, and how text is read as a term."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.regression import term_names

from narxbench._io.errors import NarxbenchError
from narxbench._model import terms
from narxbench._model.terms import candidate_terms, index_of_terms, model_size, monomials_of, parse_term, term_name

quick = settings(max_examples=50, deadline=None)
monomials = st.lists(st.tuples(st.integers(0, 1), st.integers(1, 9999)), max_size=12).map(lambda m: tuple(sorted(m)))


@pytest.mark.parametrize(
    ("orders", "size"), [((1, 1, 1), 3), ((5, 5, 2), 66), ((3, 3, 3), 84), ((2, 0, 4), 15), ((0, 3, 2), 10)]
)
def test_as_many_candidates_as_the_recurrence_says(orders, size):
    n_y, n_u, degree = orders
    candidates = candidate_terms(n_y=n_y, n_u=n_u, degree=degree)
    assert len(candidates) == len(set(candidates)) == model_size(n_y=n_y, n_u=n_u, degree=degree) == size
    assert model_size(n_y=5, n_u=5, n_e=5, degree=2) == 136


def test_canonical_order():
    expected = "1 y(k-1) y(k-2) u(k-1) y(k-1)^2 y(k-1)*y(k-2) y(k-1)*u(k-1) y(k-2)^2 y(k-2)*u(k-1) u(k-1)^2"
    assert candidate_terms(n_y=2, n_u=1, degree=2) == expected.split()


@given(monomial=monomials, data=st.data())
@quick
def test_every_way_to_write_a_term_is_read(monomial, data):
    blank = st.sampled_from(["", " ", "\t", "\n"])
    factors = []
    for signal, lag in data.draw(st.permutations(monomial)):
        time, power = data.draw(st.sampled_from("kt")), data.draw(st.sampled_from(["", "^1", "**1", " ^ 1"]))
        factors.append(f"{terms.SIGNALS[signal]}{data.draw(blank)}({time}-{data.draw(blank)}{lag}){power}")
    text = data.draw(st.sampled_from(["*", " * ", " ", ""])).join(factors)
    assert parse_term(text or "1") == parse_term(term_name(monomial)) == monomial


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

    def test_the_current_input_is_found_where_there_is_one(self):
        candidates = {m: i for i, m in enumerate(monomials_of([(0, 2), (1, 0), (2, 5)], 2))}
        names = term_names(candidates, 2)
        assert index_of_terms(names, candidates, 2) == list(range(10))
