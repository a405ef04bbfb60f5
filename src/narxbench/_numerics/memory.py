"""Memory that arrays have left."""

import ctypes
from contextlib import suppress


def give_back() -> None:
    """Give freed memory back to the system, where the C library keeps it until it is asked, as that of GNU does."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
