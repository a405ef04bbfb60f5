import os

import numpy as np
import pytest

import narxbench


@pytest.fixture(scope="session")
def small_problem():
    """S1 at 40 dB with 21 candidate terms: small enough for every algorithm to find its optimum."""
    u, y = narxbench.load_system("S1").simulate(1000, snr_db=40)
    return narxbench.StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=300)


@pytest.fixture
def rng():
    return np.random.default_rng(20181)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Continuous integration installs what tests marked ``ci`` need, so that skipping one there is an error."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and item.get_closest_marker("ci") and os.environ.get("CI"):
        report.outcome, report.longrepr = "failed", f"skipped in continuous integration: {report.longrepr[2]}"
    return report
