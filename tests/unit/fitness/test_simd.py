"""Vectors of doubles: how many fit in a register."""

import pytest
from numba import config

from narxbench._fitness.kernel.simd import _register_width


@pytest.mark.parametrize(
    ("features", "width"), [("+avx2,+avx512f,+fma", 8), ("+avx2,-avx512f", 4), ("", 4)], ids=["wide", "narrow", "none"]
)
def test_the_width_is_that_of_the_processor_that_numba_compiles_for(monkeypatch, features, width):
    monkeypatch.setattr(config, "CPU_FEATURES", features)
    assert _register_width() == width
