"""Interruptions of compiled code are what they were when they were raised."""

import pytest

from narxbench._algorithms.limits import LimitReachedError
from narxbench._io.interruptions import interruptible


def raise_as_compiled_code_does(error):
    """Raise an exception as Numba does after a call of Python, behind two errors of its own."""
    for _ in range(2):
        wrapped = SystemError("returned a result with an exception set")
        wrapped.__cause__, error = error, wrapped
    raise error


@pytest.mark.parametrize("kind", [KeyboardInterrupt, LimitReachedError])
def test_an_interruption_of_compiled_code_stays_what_it_is(kind):
    with pytest.raises(kind), interruptible():
        raise_as_compiled_code_does(kind())


@pytest.mark.parametrize("cause", [None, ValueError()])
def test_other_errors_pass(cause):
    with pytest.raises(SystemError), interruptible():
        raise_as_compiled_code_does(cause)
    with pytest.raises(ZeroDivisionError), interruptible():
        raise ZeroDivisionError
