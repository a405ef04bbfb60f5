"""BIC, the criterion of the paper."""

from narxbench._fitness.criteria.ebic import ExtendedBIC
from narxbench._fitness.criterion import Criterion


class BIC(Criterion):
    """The Bayesian information criterion, ln(L) for each term (G. Schwarz, Annals of Statistics 6, 1978, 461-464)."""

    form, heading, example = "bic", "BIC", "bic"

    def across_candidates(self) -> Criterion:
        """Return the extended BIC with 0.5: 0 admits spurious terms, 1 omits terms that models of real data need."""
        return ExtendedBIC(0.5)


CRITERION = BIC
