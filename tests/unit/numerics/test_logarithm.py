import math

import numpy as np
import pytest

from narxbench._numerics.logarithm import natural_log


@pytest.mark.parametrize("x", [5e-324, 1e-300, 0.1, 0.70710678, 1.0, 1.0 + 2**-52, 2.0, 600.0, 1e9, 1.7e308])
def test_natural_log(x):
    assert natural_log(x) == pytest.approx(math.log(x), rel=3e-16, abs=1e-17)


def test_natural_log_is_plain_arithmetic(rng):
    for x in np.exp(rng.uniform(-700, 700, 2000)).tolist():
        assert natural_log(x) == natural_log.py_func(x)
