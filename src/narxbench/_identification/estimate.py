"""The resources of a machine that an identification needs."""

from narxbench._identification.search.scan import KEPT_TRIALS, Scan
from narxbench._identification.search.trial import MOST_ROWS
from narxbench._io.resources import COMPILING_SECONDS, JOB_BYTES, JOB_SECONDS, OTHER_JOBS, Estimate, Use


def measured_estimate(scan: Scan) -> Estimate:
    """Return what an identification takes, by what its scan has planned for the data."""
    by_size = sorted(scan.configurations, key=lambda configuration: configuration.size)
    largest, n_thorough = by_size[-1], scan.n_finalists * len(scan.jobs())
    n_resamples = max(map(scan.n_resamples, by_size))
    jobs = len(by_size) + n_thorough + n_resamples + OTHER_JOBS
    # Searches end in about half of the time that is planned for them.
    seconds = (n_thorough * scan.seconds("thorough", largest) + n_resamples * scan.seconds("resampled", largest)) / 2
    seconds += sum(scan.seconds("brief", configuration) for configuration in by_size)
    # Inner products of each part, and of all data, in as many configurations as are kept.
    products = sum(16 * configuration.size**2 for configuration in by_size[-KEPT_TRIALS:])
    step, rows = f"a search of {largest.size} candidate terms", 32 * min(scan.n_samples, MOST_ROWS) * largest.size
    uses = [
        Use(step, "identification.blocks", scan.n_parts, products * scan.n_parts),
        Use(step, "identification.degree with the lags: candidate terms", largest.size, 2 * products + rows),
    ]
    planned = Use("planning", "identification.seeds with blocks and resamples: jobs", jobs, JOB_BYTES * jobs)
    searches = jobs - OTHER_JOBS
    return Estimate(searches, seconds + JOB_SECONDS * jobs + COMPILING_SECONDS, planned, uses)
