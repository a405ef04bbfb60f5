"""The criterion of Hannan and Quinn: 2 ln(ln(L)) for each term.

Source: E. J. Hannan and B. G. Quinn, J. Royal Statistical Society B 41, 1979, pages 190-195.
"""

from narxbench._fitness.criterion import Criterion, log_samples
from narxbench._numerics.logarithm import natural_log


def _log_log_samples(samples: float, number: float) -> float:
    """Return 2 ln(ln(L)), or 0 for L below e, where it would be negative."""
    return 2.0 * float(natural_log(max(log_samples(samples, number), 1.0)))


CRITERION = Criterion("hq", "HQ", "hq", per_term=_log_log_samples)
