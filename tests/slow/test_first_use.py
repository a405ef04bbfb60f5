"""The first use of a search, from an empty cache: what is said, what is kept, and where nothing can be kept."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.workflow.project import wait_for

import narxbench

pytestmark = pytest.mark.slow

# A search in each of two threads, and what was compiled.
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
found = {}

def search(algorithm, seed):
    found[algorithm, seed] = narxbench.search(problem, algorithm=algorithm, seed=seed, evaluations=200).fitness

threads = [threading.Thread(target=search, args=[ALGORITHM, seed]) for seed in (1, 2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(*(found[key] for key in sorted(found)))
print(Counter.compiled)
"""


def begun(folder, algorithm, **env):
    env = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), **env}
    code = f"ALGORITHM = {algorithm!r}\n{SEARCH}"
    return subprocess.Popen(
        [sys.executable, "-c", code], env=env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def outcome(process):
    """Return values of J, the number of compilations, and what was said."""
    printed, said = process.communicate()
    assert process.returncode == 0, said
    values, count = printed.splitlines()
    return values.split(), int(count), said.splitlines()


def test_compiled_once_by_processes_at_once_of_which_one_is_killed(tmp_path):
    """On a cluster many processes begin at once, and each may die while it writes."""
    env = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    killed = begun(tmp_path, "ga", **env)
    wait_for(lambda: list(tmp_path.glob("cache/*/*.nbc")), "the first compiled function")
    both = [begun(tmp_path, "ga", **env) for _ in range(2)]
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    (values, _, said), other = map(outcome, both)
    assert other[0] == values
    (line,) = said
    assert "once" in line and other[2] == [line]
    assert outcome(begun(tmp_path, "ga", **env)) == (values, 0, [])


@pytest.fixture
def unwritable(tmp_path):
    """The package where none of its folders can hold a cache, nor can the user's."""
    package = tmp_path / "src" / "narxbench"
    shutil.copytree(Path(narxbench.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(Path(narxbench.__file__).parents[2] / "config", tmp_path / "config")
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()
    (tmp_path / "home").touch()
    return tmp_path


def test_search_where_nothing_can_be_kept(unwritable):
    before = sorted(unwritable.rglob("*"))
    values, count, (line,) = outcome(begun(unwritable, "stepwise", PYTHONPATH=str(unwritable / "src")))
    assert len(values) == 2 and count
    assert "NUMBA_CACHE_DIR" in line
    assert sorted(unwritable.rglob("*")) == before
