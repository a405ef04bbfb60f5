"""AIC with any weight, the other criterion of the paper: rho for each term.

Source: H. Akaike, IEEE Trans. Automatic Control 19, 1974.
"""

from narxbench._fitness.criterion import Criterion


def _rho(samples: float, rho: float) -> float:
    return rho


CRITERION = Criterion("aic-RHO", "AIC (ϱ = {})", "aic-2", per_term=_rho)
