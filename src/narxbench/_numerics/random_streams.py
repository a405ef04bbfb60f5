"""Random draws: each generator is derived from named axes, so that draws do not depend on order, cores or time."""

import numpy as np

from narxbench._io.files import sha256
from narxbench._numerics.logarithm import natural_log


def generator(**axes: object) -> np.random.Generator:
    """Return the PCG64 generator of some named axes, which say what the draws are for: purpose, system, seed and so on.

    The axes are written as ``name=value`` lines, sorted by name, and hashed with SHA-256. Streams of different axes are
    independent, and adding a system, an SNR or a seed changes no other stream.

    Examples
    --------
    >>> generator(purpose="search", system="S1", seed=3).integers(100, size=5).tolist()
    [32, 69, 50, 4, 23]
    """
    text = "\n".join(f"{name}={value}" for name, value in sorted(axes.items()))
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(int(sha256(text), 16))))


def standard_normal(rng: np.random.Generator, size: int) -> list[float]:
    """Return ``size`` draws from N(0, 1) by Marsaglia's polar method.

    NumPy's normal draws call the exponential and logarithm of the C library, whose last bit differs between machines.
    This function uses only operations that IEEE 754 rounds correctly, so it gives the same bytes everywhere.
    """
    draws: list[float] = []
    while len(draws) < size:
        # Each point (a, b) inside the unit circle gives two draws.
        a, b = (2.0 * float(x) - 1.0 for x in rng.random(2))
        square = a * a + b * b
        if 0.0 < square < 1.0:
            scale = float(np.sqrt(-2.0 * natural_log(square) / square))
            draws += [a * scale, b * scale]
    return draws[:size]
