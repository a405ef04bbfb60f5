"""The extended BIC with a penalty that is linear in the number of terms."""

from narxbench._fitness.criterion import Criterion
from narxbench._numerics.logarithm import natural_log


class LinearExtendedBIC(Criterion):
    """BIC and 2 gamma ln(N_t) for each term: the extended BIC for small structures among many candidates.

    ln(N_t over xi) is at most xi ln(N_t), and close to that while xi is small. R. Foygel and M. Drton, Extended
    Bayesian information criteria for Gaussian graphical models, Advances in Neural Information Processing Systems 23,
    2010.
    """

    form, heading, example = "ebicl-GAMMA", "linear EBIC (γ = {})", "ebicl-1"
    most = 10.0

    def surcharge(self, terms: int, samples: float, candidates: int) -> float:
        """Return 2 gamma xi ln(N_t)."""
        return 2.0 * self.number * terms * float(natural_log(float(candidates)))


CRITERION = LinearExtendedBIC
