"""The extended BIC: BIC and 2 gamma ln(number of structures of this size).

Among many candidates, some terms fit by chance. Source: J. Chen and Z. Chen, Extended Bayesian information criteria for
model selection with large model spaces, Biometrika 95, 2008, pages 759-771.
"""

import math
from functools import lru_cache

from narxbench._fitness.criterion import Criterion
from narxbench._numerics.logarithm import natural_log


def _structures(terms: int, samples: float, candidates: int, gamma: float) -> float:
    """Return 2 gamma ln(N_t over xi)."""
    return 2.0 * gamma * _log_binomials(candidates)[terms]


@lru_cache(maxsize=32)
def _log_binomials(n: int) -> list[float]:
    """Return ln of the number of structures with 0 to n of n terms."""
    steps = [natural_log(float(n - i)) - natural_log(float(i + 1)) for i in range(n)]
    return [math.fsum(steps[:k]) for k in range(n + 1)]


CRITERION = Criterion("ebic-GAMMA", "EBIC (γ = {})", "ebic-0.5", surcharge=_structures, most=1.0)
