"""Errors that say that memory is missing."""

import errno

import pytest

from narxbench._io.errors import lacks_memory


def raised_from(cause):
    error = ImportError("a library cannot be loaded")
    error.__context__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError(), True),
        (OSError(errno.ENOMEM, "no words"), True),
        (OSError("libsolver.so: failed to map segment from shared object"), True),
        (raised_from(OSError("libsolver.so: Cannot allocate memory in static TLS block")), True),
        (raised_from(OSError(errno.ENOENT, "No such file")), False),
        (ImportError("no module"), False),
    ],
)
def test_lacks_memory(error, expected):
    assert lacks_memory(error) is expected
