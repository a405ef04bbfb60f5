"""The criterion of Hannan and Quinn."""

from narxbench._fitness.criterion import Criterion
from narxbench._numerics.logarithm import natural_log


class HannanQuinn(Criterion):
    """2 ln(ln(L)) for each term (E. J. Hannan and B. G. Quinn, J. Royal Statistical Society B 41, 1979, 190-195)."""

    form, heading, example = "hq", "HQ", "hq"

    def per_term(self, samples: float) -> float:
        """Return 2 ln(ln(L)), or 0 for L below e, where it would be negative."""
        return 2.0 * float(natural_log(max(super().per_term(samples), 1.0)))


CRITERION = HannanQuinn
