"""The extended BIC for small structures among many candidates: BIC and 2 gamma ln(N_t) for each term.

ln(N_t over xi) is at most xi ln(N_t), and close to that while xi is small. Source: R. Foygel and M. Drton, Extended
Bayesian information criteria for Gaussian graphical models, Advances in Neural Information Processing Systems 23, 2010.
"""

from narxbench._fitness.criterion import Criterion
from narxbench._numerics.logarithm import natural_log


def _candidates(terms: int, samples: float, candidates: int, gamma: float) -> float:
    """Return 2 gamma xi ln(N_t)."""
    return 2.0 * gamma * terms * float(natural_log(float(candidates)))


CRITERION = Criterion("ebicl-GAMMA", "linear EBIC (γ = {})", "ebicl-1", surcharge=_candidates, most=10.0)
