"""AIC for few samples."""

import math

from narxbench._fitness.criterion import Criterion


class CorrectedAIC(Criterion):
    """AIC with rho = 2, corrected for few samples (C. M. Hurvich and C.-L. Tsai, Biometrika 76, 1989, 297-307)."""

    form, heading, example = "aicc", "AICc", "aicc"

    def per_term(self, samples: float) -> float:
        """Return 2."""
        return 2.0

    def surcharge(self, terms: int, samples: float, candidates: int) -> float:
        """Return 2 xi (xi + 1) / (L - xi - 1), which grows without bounds as xi approaches L - 1."""
        remaining = samples - terms - 1
        if remaining <= 0:
            return math.inf
        return 2.0 * terms * (terms + 1) / remaining


CRITERION = CorrectedAIC
