"""AIC with rho = 2, corrected for few samples.

Source: C. M. Hurvich and C.-L. Tsai, Biometrika 76, 1989, pages 297-307.
"""

import math

from narxbench._fitness.criterion import Criterion


def _two(samples: float, number: float) -> float:
    return 2.0


def _correction(terms: int, samples: float, candidates: int, number: float) -> float:
    """Return 2 xi (xi + 1) / (L - xi - 1), which grows without bounds as xi approaches L - 1."""
    remaining = samples - terms - 1
    if remaining <= 0:
        return math.inf
    return 2.0 * terms * (terms + 1) / remaining


CRITERION = Criterion("aicc", "AICc", "aicc", per_term=_two, surcharge=_correction)
