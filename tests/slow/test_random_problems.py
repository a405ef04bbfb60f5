"""Random legal problems for 20 seconds, or as long as ``NARXBENCH_SECONDS`` says, in a process of their own.

``NARXBENCH_FIRST`` is the number of the first problem, so that long runs need not repeat others.
"""

import os
from pathlib import Path

import pytest
from tests.command import python

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).with_name("random_problems.py")


def test_runs_on_random_problems_hold_their_promises():
    seconds, first = os.environ.get("NARXBENCH_SECONDS", "20"), os.environ.get("NARXBENCH_FIRST", "1")
    *lines, last_line = python(SCRIPT, seconds, first).out.splitlines()
    assert [line for line in lines if line.startswith("VIOLATION")] == []
    assert " runs on the problems " in last_line
