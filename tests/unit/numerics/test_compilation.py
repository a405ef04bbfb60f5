"""Compiled functions: their cache hangs on all modules that hold such functions."""

from narxbench.numerics import compilation
from narxbench.numerics.compilation import compiled
from narxbench.numerics.logarithm import natural_log


def test_the_stamp_of_the_cache_covers_the_callers_and_the_called():
    assert natural_log._cache._cache_file._source_stamp == compilation._digest_of_compiled_modules()


def test_division_follows_ieee_754():
    assert compiled(_ratio)(1.0, 0.0) == float("inf")


def _ratio(a, b):
    return a / b
