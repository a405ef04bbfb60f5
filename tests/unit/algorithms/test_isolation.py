"""An algorithm of another package can end its own run, and nothing else."""

import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys

import numpy as np
import psutil
import pytest
from tests.tiers import mostly_slow
from tests.unit.algorithms.plugins.cheats import CHEATS, HARMLESS, LIMIT, ROOT
from tests.workflow.project import wait_for

from narxbench import search
from narxbench.algorithms.isolation import host
from narxbench.algorithms.isolation.wire import BrokenMessageError, receive, send
from narxbench.algorithms.search import AlgorithmFailedError, prepared

FAILING = [name for name, cheat in CHEATS.items() if cheat.fails]


@pytest.mark.parametrize("name", mostly_slow(FAILING, "much_memory", "crashes"))
def test_a_run_fails_in_one_line(plugins, small_problem, name):
    fails = CHEATS[name].fails
    with pytest.raises(AlgorithmFailedError) as failure:
        search(small_problem, algorithm=name, seed=1, evaluations=300, time_limit=2 if fails == LIMIT else 60)
    text = str(failure.value)
    assert re.match(f"algorithm '{name}': seed 1: {fails}", text), text
    assert text.isprintable()


@pytest.mark.parametrize("name", mostly_slow(HARMLESS, "mutated_data"))
def test_a_run_depends_on_nothing_else(plugins, small_problem, name):
    with prepared(name, {}) as runner:
        first, _, again = (runner.run(small_problem, seed=seed, evaluations=300, time_limit=60) for seed in (1, 2, 1))
    assert first.result == again.result
    assert first.result.evaluations == 300
    np.testing.assert_array_equal(first.trace, again.trace)
    best = small_problem.evaluate(first.result.terms)
    assert (best.fitness, best.coefficients) == (first.result.fitness, first.result.coefficients)
    assert best.fitness == first.trace.min() == first.result.history[-1][1]


@pytest.mark.slow
def test_runs_after_one_that_failed_are_the_same(plugins, small_problem):
    """A run that ends its process, or is ended, leaves the next its start."""
    with prepared("honest_annealing", {}) as runner:
        right = runner.run(small_problem, seed=1, evaluations=300)
        for limit in (1e-4, 1e-2):
            with pytest.raises(AlgorithmFailedError, match="time limit"):
                runner.run(small_problem, seed=1, evaluations=100_000, time_limit=limit)
        assert runner.run(small_problem, seed=1, evaluations=300).result == right.result


@pytest.mark.skipif(not ROOT, reason="the limit of processes holds for ordinary users")
def test_nothing_that_a_run_has_started_outlives_it(plugins, small_problem):
    search(small_problem, algorithm="leaves_children", seed=1, evaluations=50)
    left = (plugins / "left.txt").read_text().split()
    assert len(left) == 2 and not any(psutil.pid_exists(int(pid)) for pid in left)


def test_files_that_it_writes_are_gone_with_its_process(plugins, small_problem, tmp_path):
    search(small_problem, algorithm="memory_file", seed=1, evaluations=50)
    with host.Host("memory_file") as process:
        folder = process._folder.name
        assert os.listdir(folder) == []
    assert list(tmp_path.iterdir()) == [] and not os.path.exists(folder)


STARTING = """
import os, threading
from narxbench.algorithms.isolation.worker import limit
os.getuid() or os.setuid(65534)
limit(1 << 20)
for start in (os.fork, threading.Thread(target=print).start):
    try:
        start()
    except (BlockingIOError, RuntimeError) as error:
        print(error)
try:
    bytes(1 << 30)
except MemoryError:
    print("no memory")
"""


def test_limits_of_an_ordinary_user():
    done = subprocess.run(host.python(STARTING), env=host.environment(), capture_output=True, text=True)
    reported = "[Errno 11] Resource temporarily unavailable\ncan't start new thread\nno memory\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, reported, "")


def test_a_run_that_starts_programs_may_do_so():
    code = STARTING.replace("1 << 20)", "1 << 20, starts_programs=True); os.fork() or os._exit(0)")
    done = subprocess.run(host.python(code), env=host.environment(), capture_output=True, text=True)
    assert "not" not in done.stderr and done.stdout.endswith("no memory\n")


NO_ARRAYS = [None, ["|u1"], ["|O", [1]], [["<f8"], [1]], ["<f8", 3], ["<f8", ["a", 10**9]], ["<f8", [-1, -1]]]
NO_ARRAYS += [["<f8", [1.5]], ["|u1", [1, 1, 1]], ["|u1", [101]], ["<f8", [10**30, 10**30]]]
NO_HEADERS = [b"", b"\xff", b"[]", b"1" * 5000, b"[" * 100_000, b'{"content": {}}', b'{"content": [], "arrays": {}}']
NO_HEADERS += [json.dumps({"content": {}, "arrays": {"a": array}}).encode() for array in NO_ARRAYS]


class TestMessages:
    @pytest.fixture
    def ends(self):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            yield ours, theirs

    def test_what_is_sent_is_received(self, ends, rng):
        arrays = {"fitness": np.array([1.5, np.inf]), "positions": rng.integers(0, 2, (3, 4)).astype(np.uint8)}
        send(ends[1], {"text": "ä"}, arrays)
        content, found = receive(ends[0], 100)
        assert content == {"text": "ä"}
        assert all((found[name] == array).all() and found[name].dtype == array.dtype for name, array in arrays.items())

    @pytest.mark.parametrize("header", NO_HEADERS)
    def test_anything_else_is_refused(self, ends, header):
        ends[1].sendall(struct.pack("!I", len(header)) + header + bytes(8))
        with pytest.raises(BrokenMessageError, match=r"^it (sends|evaluates)"):
            receive(ends[0], 100)

    def test_a_length_that_is_too_long_is_not_waited_for(self, ends):
        ends[1].sendall(b"\xff" * 4)
        with pytest.raises(BrokenMessageError, match="no message"):
            receive(ends[0], 100)

    @pytest.mark.parametrize("part", [b"", b"\0", struct.pack("!I", 9) + b"{"])
    def test_a_message_that_breaks_off(self, ends, part):
        ends[1].sendall(part)
        ends[1].close()
        with pytest.raises(BrokenMessageError, match="its process has ended"):
            receive(ends[0], 100)


HANGING = """
import signal, narxbench
# Whoever runs the tests in the background of a script lets their processes ignore interruptions.
signal.signal(signal.SIGINT, signal.default_int_handler)
u, y = narxbench.load_system("S1").simulate(300)
problem = narxbench.StructureProblem(u, y, n_u=1, n_y=1, degree=2, n_validation=100)
narxbench.search(problem, algorithm="hangs", seed=1)
"""


@pytest.fixture
def hanging(plugins):
    """A process with a run that does not end, and the processes that it has started."""
    command, env = [sys.executable, "-c", HANGING], host.environment()
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True, start_new_session=True) as caller:
        try:
            parent = psutil.Process(caller.pid)
            started = wait_for(lambda: len(found := parent.children(recursive=True)) == 2 and found, "a run", 60)
            # The run has begun when it uses the processor.
            wait_for(lambda: started[1].cpu_times().user > 0.1, "work", 60)
            yield caller, started
        finally:
            caller.kill()


@pytest.mark.slow
def test_nothing_is_left_of_a_process_that_was_killed(hanging):
    caller, started = hanging
    caller.kill()
    gone, left = psutil.wait_procs(started, timeout=20)
    assert (len(gone), left) == (2, [])


@pytest.mark.slow
def test_an_interruption_ends_the_run_too(hanging):
    caller, started = hanging
    os.killpg(caller.pid, signal.SIGINT)
    reported = caller.communicate(timeout=20)[1]
    assert reported.count("Traceback") == 1 and reported.rstrip().endswith("KeyboardInterrupt")
    assert psutil.wait_procs(started, timeout=20)[1] == []


def test_a_process_is_kept_until_an_error(plugins):
    with host.kept_host("honest.honest_annealing") as first:
        pass
    with host.kept_host("honest.honest_annealing") as again, host.kept_host("honest.honest_annealing") as other:
        assert again is first is not other
    with pytest.raises(KeyError), host.kept_host("honest.honest_annealing"):
        raise KeyError
    with host.kept_host("honest.honest_annealing") as left:
        assert left in (first, other)
    with host.kept_host("honest.honest_annealing") as one, host.kept_host("honest.honest_annealing") as new:
        assert one is left and new not in (first, other)
