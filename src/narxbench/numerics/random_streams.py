"""Random draws: every generator is derived from named axes, so that no draw depends on order, cores or time."""

import numpy as np

from narxbench.io.files import sha256
from narxbench.numerics.logarithm import natural_log


def generator(**axes: object) -> np.random.Generator:
    """Return the PCG64 generator of the named axes: what the draws belong to, such as purpose, system and seed.

    The axes are hashed (SHA-256) as ``name=value`` lines sorted by name, a value as its text. Streams of different axes
    are independent, and adding a system, an SNR or a seed changes no other stream.

    Examples
    --------
    >>> generator(purpose="search", system="S1", seed=3).integers(100, size=5).tolist()
    [32, 69, 50, 4, 23]
    """
    text = "\n".join(f"{name}={value}" for name, value in sorted(axes.items()))
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(int(sha256(text), 16))))


def standard_normal(rng: np.random.Generator, size: int) -> list[float]:
    """Return ``size`` draws from N(0, 1) by Marsaglia's polar method.

    NumPy's own normal draws call the C library's exponential and logarithm, whose last bit differs between
    machines. This uses only operations that IEEE 754 rounds correctly, hence gives the same bytes everywhere.
    """
    draws: list[float] = []
    while len(draws) < size:
        # Each point (a, b) inside the unit circle gives two.
        a, b = (2.0 * float(x) - 1.0 for x in rng.random(2))
        square = a * a + b * b
        if 0.0 < square < 1.0:
            scale = float(np.sqrt(-2.0 * natural_log(square) / square))
            draws += [a * scale, b * scale]
    return draws[:size]
