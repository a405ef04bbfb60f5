"""Functions that are called by their address."""

import numpy as np
import pytest
from numba import types
from numba.core.errors import TypingError

from narxbench._numerics.addresses import address_of, call
from narxbench._numerics.compilation import compiled


@compiled
def _double(numbers, doubled):
    for i in range(numbers.shape[0]):
        if numbers[i] < 0.0:
            raise ValueError("negative")
        doubled[i] = 2.0 * numbers[i]


@compiled
def _twice(address, numbers, doubled):
    call(address, numbers, doubled)
    call(address, doubled, doubled)


@pytest.fixture(scope="module")
def address():
    return address_of(_double, types.float64[::1], types.float64[::1])


def test_a_call_by_address(address):
    doubled = np.empty(3)
    _twice(address, np.array([1.0, 2.0, 3.0]), doubled)
    assert doubled.tolist() == [4.0, 8.0, 12.0]


def test_an_exception_passes_through(address):
    with pytest.raises(ValueError, match="negative"):
        _twice(address, np.array([-1.0]), np.empty(1))


def test_an_array_that_is_not_contiguous_is_refused_when_the_call_is_compiled(address):
    with pytest.raises(TypingError, match="allowed: contiguous arrays that can be written"):
        _twice(address, np.ones(6)[::2], np.empty(3))
    read_only = np.ones(3)
    read_only.flags.writeable = False
    with pytest.raises(TypingError, match="allowed: contiguous arrays that can be written"):
        _twice(address, read_only, np.empty(3))
