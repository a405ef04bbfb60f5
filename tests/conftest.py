import os
import re
from pathlib import Path

# Tests run side by side: threads of linear algebra would only wait for each other. NumPy reads it when it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest
from xdist.scheduler import LoadScopeScheduling

import narxbench

pytest.register_assert_rewrite("tests.messages")  # so that it shows the difference

SLOW = Path(__file__).parent / "slow"
TOGETHER = {
    "tests/slow/browser/test_browser.py",
    "tests/slow/browser/test_leaderboard_page.py",
    "tests/slow/test_kills.py",
    "tests/slow/test_own_algorithm.py",
    "tests/slow/test_slurm.py",
    "tests/slow/test_torture.py",
}


# They begin first, so that no process has to wait for them in the end.
LONGEST = ("test_the_site_is_built_offline", "test_installed_environment_makes", "sysidentpy_aols")


def pytest_addoption(parser):
    parser.addoption("--renew-messages", action="store_true", help="write the reviewed files of messages again")


def pytest_xdist_auto_num_workers(config):
    """Run whole tiers on all processors, and tests that are named in this process, which starts at once."""
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        # Part of what slow tests do is waiting.
        return processors + (config.option.markexpr == "slow")
    config.option.dist = "no"
    return 0


def pytest_ignore_collect(collection_path, config):
    """Import no file of slow tests where none of them runs."""
    runs_none = config.option.markexpr == "not slow" and config.args_source is pytest.Config.ArgsSource.TESTPATHS
    return (runs_none and collection_path == SLOW) or None


def pytest_collection_modifyitems(items):
    """Run tests that compile nothing next to those that compile most: two processes would compile the same code.

    The longest tests, all of them slow ones, begin first.
    """
    compiling = re.compile(r"unit/(algorithms|docs|fitness|identification|model/test_loading|numerics|test_)")

    def order(item):
        is_long = item.get_closest_marker("slow") and any(name in item.nodeid for name in LONGEST)
        return not is_long, "test_corner_cases" not in item.nodeid, bool(compiling.search(item.nodeid))

    items.sort(key=order)


class SlowScheduling(LoadScopeScheduling):
    """Run slow tests where there is room, except in files that make something large for all of their tests."""

    def _split_scope(self, nodeid):
        file = nodeid.partition("::")[0]
        return file if file in TOGETHER else nodeid


def pytest_xdist_make_scheduler(config, log):
    """Keep the tests of a file, which share fixtures and compiled code, in one process; spread slow ones."""
    if "not slow" not in config.option.markexpr:
        return SlowScheduling(config, log)
    config.option.loadscopereorder = False  # in the order of pytest_collection_modifyitems
    return None


@pytest.fixture
def review(request, tmp_path, monkeypatch):
    """Compare the answers to mistakes, made in an empty folder, with the text file of its name next to the test."""
    from tests import messages

    monkeypatch.chdir(tmp_path)
    name = request.path.stem.removeprefix("test_")
    file, renew = request.path.with_name(f"{name}.txt"), request.config.getoption("--renew-messages")
    return lambda mistakes: messages.compare(mistakes, file, renew=renew)


@pytest.fixture(scope="session")
def small_problem():
    """Return S1 at 40 dB with 21 candidate terms: small enough for every algorithm to find its optimum."""
    u, y = narxbench.load_system("S1").simulate(1000, snr_db=40)
    return narxbench.StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=300)


@pytest.fixture
def rng():
    return np.random.default_rng(20181)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Fail tests marked ``ci`` that are skipped in continuous integration, which installs all that they need."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and item.get_closest_marker("ci") and os.environ.get("CI"):
        report.outcome, report.longrepr = "failed", f"skipped in continuous integration: {report.longrepr[2]}"
    return report
