"""Numbers as texts: any text is judged in a time that grows with its length, not with the square of it."""

import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from narxbench._io.csv import number
from narxbench._io.decimals import canonical, marks_of
from narxbench._io.fields import is_numeric, is_time, is_value

N = 20_000
TEXTS = {
    "digits": "1" * N,
    "digits and a letter": "1" * N + "x",
    "an exponent that is missing": "1" * N + "e",
    "a long exponent": "1e" + "1" * N + "x",
    "decimals": "1." + "1" * N + "x",
    "decimals after a comma": "1," + "1" * N + "x",
    "groups": "1" + ",111" * N + "x",
    "parts of a time": "1-" * N + "x",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("judged", [is_numeric, is_value, is_time, marks_of, number, lambda text: canonical(text, ".")])
def test_long_texts_take_no_time(text: str, judged: Callable[[str], object]) -> None:
    began = time.thread_time()
    with suppress(ValueError):
        judged(text)
    assert time.thread_time() - began < 2.0
