"""Draws for the compiled parts of algorithms."""

import pytest

from narxbench.numerics.draws import draws_of


@pytest.fixture
def draws(rng):
    with draws_of(rng, longest=200) as draws:
        yield draws
