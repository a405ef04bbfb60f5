"""AIC with any weight, the other criterion of the paper."""

from narxbench._fitness.criterion import Criterion


class AIC(Criterion):
    """Akaike's information criterion with any weight, rho for each term (IEEE Trans. Automatic Control 19, 1974)."""

    form, heading, example = "aic-RHO", "AIC (ϱ = {})", "aic-2"

    def per_term(self, samples: float) -> float:
        """Return rho."""
        return self.number


CRITERION = AIC
