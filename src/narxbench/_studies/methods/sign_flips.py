"""The test of a mean difference over systems: which sign a system's difference has is a matter of chance, or is it?

If two methods are alike, the difference in each system is as likely to be positive as negative. A difference d of the
means is then tested by the sums that other signs would give. To flip the signs of d_i - delta in a subset S of the
systems changes the sum by twice the sum over S, so the sum is as large as the observed one or larger if the mean of d_i
over S is at most delta. The p-values of all delta therefore follow from the means over subsets of the systems, and the
interval of all delta that are not rejected lies between two of these means (J. A. Hartigan, Journal of the American
Statistical Association 64, 1969, pages 1303-1317). So p and the interval are one test and cannot contradict each other.

Up to `LARGEST` systems all subsets count and the test is exact; of more systems so many random subsets are drawn, which
keeps its size. Sums are of whole numbers, so that no rounding depends on their order.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from narxbench._numerics.rounding import significant

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# With up to this many systems all subsets count.
LARGEST = 13
# Random subsets of more systems.
RANDOM_SUBSETS = 2**15 - 1
# Differences are whole numbers in units of 1e-12.
_UNIT = 10**12


def least_p(n_systems: int) -> float:
    """Return the least p-value that is possible with so many systems."""
    return 2 / (_n_subsets(n_systems) + 1)


def fewest_systems(alpha: float) -> int:
    """Return the least number of systems with which a p-value can be as low as ``alpha``."""
    n_systems = 1
    while least_p(n_systems) > alpha and n_systems <= LARGEST:
        n_systems += 1
    return n_systems


def _n_subsets(n_systems: int) -> int:
    return 2**n_systems - 1 if n_systems <= LARGEST else RANDOM_SUBSETS


@dataclass(frozen=True)
class SignFlips:
    """Sign-flip tests of the means of some columns; ``means`` has the sorted means over subsets of each column."""

    means: Floats
    p_values: list[float]

    @classmethod
    def of(cls, differences: Floats, rng: np.random.Generator) -> "SignFlips":
        """Return the tests of differences of shape (systems, columns); ``rng`` draws subsets of many systems."""
        members = _subsets(len(differences), rng)
        sums = members @ np.rint(differences * _UNIT).astype(np.int64)
        sizes = members.sum(axis=1)
        # The subsets without a positive sum, and without a negative one; the empty subset is among both.
        n_low, n_high = 1 + (sums <= 0).sum(axis=0), 1 + (sums >= 0).sum(axis=0)
        p_values = np.minimum(1.0, 2 * np.minimum(n_low, n_high) / (len(members) + 1))
        return cls(np.sort(sums / (sizes[:, None] * _UNIT), axis=0), p_values.tolist())

    def limits(self, column: int, level: float) -> tuple[float, float]:
        """Return the least and the greatest mean of which p is above a level; infinite where no mean is rejected."""
        means = self.means[:, column]
        n_rejected = math.floor(level * (len(means) + 1) / 2 * (1 + 1e-12))
        if not n_rejected:
            return -math.inf, math.inf
        return float(means[n_rejected - 1]), float(means[-n_rejected])


def _subsets(n_systems: int, rng: np.random.Generator) -> Integers:
    """Return the members of subsets that are not empty, 1 or 0, shape (subsets, systems)."""
    if n_systems <= LARGEST:
        numbers = np.arange(1, 2**n_systems)
        return (numbers[:, None] >> np.arange(n_systems)) & 1
    members = rng.integers(0, 2, (RANDOM_SUBSETS, n_systems))
    # An empty one, once in more than ten thousand, becomes the first system alone.
    members[members.sum(axis=1) == 0, 0] = 1
    return members


def share_limits(values: Floats, level: float) -> tuple[float, float]:
    """Return the limits of the mean of shares, one for each system, that hold near 0 and 1 too, to 12 digits.

    They are those of C. J. Clopper and E. S. Pearson (Biometrika 26, 1934, pages 404-413), with the sum of the shares
    as the number of successes: of all values between 0 and 1 with the same mean, 0 and 1 alone vary most. Where 13 of
    13 systems have the share 1, the lower limit at the level 0.05 is 0.753. No value has no limits.
    """
    n = len(values)
    if not n:
        return math.nan, math.nan
    successes = math.fsum(values)
    failures = math.fsum(1 - value for value in values)
    low = float(betaincinv(successes, failures + 1, level / 2)) if successes > 0 else 0.0
    high = float(betaincinv(successes + 1, failures, 1 - level / 2)) if failures > 0 else 1.0
    return significant(low), significant(high)
