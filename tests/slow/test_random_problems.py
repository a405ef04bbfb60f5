"""Random legal problems for 20 seconds, or as long as ``NARXBENCH_SECONDS`` says, in a process of their own.

``NARXBENCH_FIRST`` is the number of the first problem, so that long runs need not repeat others.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).with_name("random_problems.py")


def test_runs_on_random_problems_hold_their_promises():
    seconds, first = os.environ.get("NARXBENCH_SECONDS", "20"), os.environ.get("NARXBENCH_FIRST", "1")
    command = [sys.executable, str(SCRIPT), seconds, first]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    last_case = lines[-1] if lines else ""
    assert done.returncode == 0, f"more than the CPU time of a run, or an error: {last_case}\n{done.stderr[-3000:]}"
    assert [line for line in lines if line.startswith("VIOLATION")] == []
    assert " runs on the problems " in last_case
