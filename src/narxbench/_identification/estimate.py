"""The memory that an identification needs."""

from narxbench._identification.search.scan import KEPT_TRIALS, Scan
from narxbench._identification.search.trial import MOST_ROWS
from narxbench._io.resources import Use


def memory_uses(scan: Scan) -> list[Use]:
    """Return what a search of the largest configuration takes, by what its scan has planned for the data."""
    by_size = sorted(scan.configurations, key=lambda configuration: configuration.size)
    largest = by_size[-1]
    # Inner products of each part, and of all data, in as many configurations as are kept.
    products = sum(16 * configuration.size**2 for configuration in by_size[-KEPT_TRIALS:])
    step, rows = f"a search of {largest.size} candidate terms", 32 * min(scan.n_samples, MOST_ROWS) * largest.size
    taken = (2 + scan.n_parts) * products + rows
    return [Use(step, "degree with the lags: candidate terms", largest.size, taken)]
