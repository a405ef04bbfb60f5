"""Deliberate faults in the search by likelihood: each is found by the checks of `faults.py`.

The package is copied for each fault, and a process runs the checks on the copy, in seconds, since it compiles nothing.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.slow.likelihood_faults import FAULTS, with_fault

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.fixture
def package(tmp_path):
    """Return the folder of a copy of the package."""
    return shutil.copytree(ROOT / "src/narxbench", tmp_path / "narxbench")


def check(folder):
    """Run the checks on the package in a folder; return the exit code and what was printed."""
    command = [sys.executable, str(ROOT / "tests/slow/faults.py")]
    variables = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def test_without_a_fault_the_checks_pass(package):
    code, printed = check(package.parent)
    assert code == 0, printed


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_found(name, package):
    path, content = with_fault(name, package)
    path.write_text(content, encoding="utf-8")
    code, printed = check(package.parent)
    # An error of syntax would be found by anything.
    assert code == 1 and "AssertionError" in printed, printed
