"""The memory that an identification needs."""

from narxbench._identification.search.plan import KEPT_PROBLEMS, SearchPlan
from narxbench._identification.search.problem import MOST_ROWS
from narxbench._io.resources import Use


def memory_uses(plan: SearchPlan) -> list[Use]:
    """Return what a search of the largest configuration takes, by what is planned for the data."""
    by_size = sorted(plan.configurations, key=lambda configuration: configuration.size)
    largest = by_size[-1]
    # Inner products of each part, and of all data, in as many configurations as are kept.
    products = sum(16 * configuration.size**2 for configuration in by_size[-KEPT_PROBLEMS:])
    step, rows = f"a search of {largest.size} candidate terms", 32 * min(plan.n_samples, MOST_ROWS) * largest.size
    taken = (2 + plan.effort.n_parts) * products + rows
    return [Use(step, "degree with the lags: candidate terms", largest.size, taken)]
