"""The first use of a search with an empty cache: its messages and its cached code."""

import os
import signal
import subprocess
import sys

import pytest
from tests.workflow.project import wait_for

pytestmark = pytest.mark.slow

# A search in each of two threads prints their values of J and the number of compilations.
SEARCH = """
import threading
from numba.core import event
import narxbench

class Counter(event.Listener):
    compiled = 0
    def on_start(self, event):
        Counter.compiled += 1
    def on_end(self, event):
        pass

event.register("numba:compile", Counter())
u, y = narxbench.load_system("S1").simulate(1000, snr_db=40)
problem = narxbench.StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=300)
values = {}

def search(seed):
    values[seed] = narxbench.search(problem, algorithm="stepwise", seed=seed, evaluations=200).fitness

threads = [threading.Thread(target=search, args=[seed]) for seed in (1, 2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(*(values[key] for key in sorted(values)))
print(Counter.compiled)
"""


def begin_search(folder, **env):
    env = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), **env}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", SEARCH], env=env, cwd=folder, **pipes)


def outcome(process):
    """Return values of J, the number of compilations, and the messages."""
    printed, messages = process.communicate()
    assert process.returncode == 0, messages
    values, count = printed.splitlines()
    return values, int(count), messages.splitlines()


def test_compiled_once_by_processes_at_once_of_which_one_is_killed(tmp_path):
    """On a cluster many processes begin at once, and each may die while it writes."""
    env = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    killed = begin_search(tmp_path, **env)
    wait_for(lambda: list(tmp_path.glob("cache/*/*.nbc")), "the first compiled function")
    others = [begin_search(tmp_path, **env) for _ in range(2)]
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    first, second = map(outcome, others)
    assert (first[0], first[2]) == (second[0], second[2]) and len(first[2]) == 1 and "once" in first[2][0]
    assert outcome(begin_search(tmp_path, **env)) == (first[0], 0, [])
