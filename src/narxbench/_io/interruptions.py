"""Interruptions by a signal or by another thread, which compiled code turns into another error."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise an interruption of this block as it was, even if it passed through compiled code.

    Compiled code calls Python to make an array. An exception that a signal or another thread raises there comes out of
    Numba as the cause of a SystemError.
    """
    try:
        yield
    except SystemError as error:
        cause = error.__cause__
        while isinstance(cause, Exception):
            cause = cause.__cause__
        if cause is None:
            raise
        raise cause from None
