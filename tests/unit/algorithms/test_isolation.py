"""A run in a process of its own has limits, begins anew, ends with its caller, and its outcome is judged outside."""

import os
import re
import signal
import socket
import subprocess
from functools import partial

import numpy as np
import psutil
import pytest
from tests.lookups import kinds_of
from tests.tiers import mostly_slow
from tests.unit.algorithms.plugins.cheats import CHEATS, ENDED, HARMLESS, LIMIT
from tests.workflow.project import wait_for

from narxbench import search
from narxbench._algorithms.isolation import host
from narxbench._algorithms.isolation.messages import BrokenChannelError, Channel, plain_data
from narxbench._algorithms.search import AlgorithmFailedError, KilledRunError, prepared

FAILING = [name for name, cheat in CHEATS.items() if cheat.failure]


def is_running(pid):
    try:
        return psutil.Process(int(pid)).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def processes_of(site):
    """Return the processes that import from a folder, which no other test uses."""
    command_lines = {process.pid: process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])}
    return [pid for pid, words in command_lines.items() if f'"{site}"' in " ".join(words)]


@pytest.mark.parametrize("name", mostly_slow(FAILING, "crashes"))
def test_a_run_fails_in_one_line(plugins, small_problem, name):
    failure = CHEATS[name].failure
    with pytest.raises(AlgorithmFailedError) as raised, prepared(name, {}) as runner:
        runner.run(small_problem, seed=1, evaluations=300, time_limit=1 if failure == LIMIT else 60)
    text = str(raised.value)
    assert re.match(f"algorithm '{name}': seed 1: {failure}", text), text
    assert text.isprintable()
    wait_for(lambda: not processes_of(plugins), "the end of its processes", 20)


@pytest.mark.slow
def test_a_run_that_meets_its_limit_gives_the_best_so_far(plugins, small_problem):
    result = search(small_problem, algorithm="stops_its_parent", seed=1, evaluations=300, time_limit=1)
    assert result.terms and result.evaluations == 300
    assert kinds_of(result.warnings) == ["limit"]


@pytest.mark.parametrize("name", mostly_slow(HARMLESS, "mutated_data"))
def test_a_run_depends_on_nothing_else(plugins, small_problem, name):
    options = {"evaluations": 300, "axes": {"system": "name of the system"}, "time_limit": 60}
    with prepared(name, {}) as runner:
        first, _, again = (runner.run(small_problem, seed=seed, **options) for seed in (1, 2, 1))
    assert first.result == again.result
    assert first.result.evaluations == 300
    np.testing.assert_array_equal(first.trace, again.trace)
    best = small_problem.evaluate(first.result.terms)
    assert (best.fitness, best.coefficients) == (first.result.fitness, first.result.coefficients)
    assert best.fitness == first.trace.min() == first.result.history[-1][1]


def test_a_run_may_return_names_of_terms(plugins, small_problem):
    result = search(small_problem, algorithm="honest_names", seed=1)
    assert result.terms == ["1", small_problem.terms[-1]]
    assert result.coefficients == small_problem.evaluate(result.terms).coefficients


@pytest.mark.slow
def test_runs_after_one_that_was_ended_are_the_same(plugins, small_problem):
    with prepared("honest_annealing", {}) as runner:
        right = runner.run(small_problem, seed=1, evaluations=300)
        for limit in (1e-4, 1e-2):
            with pytest.raises(AlgorithmFailedError, match="time limit"):
                runner.run(small_problem, seed=1, evaluations=100_000, time_limit=limit)
            assert runner.run(small_problem, seed=1, evaluations=300).result == right.result


ENDED_ONCE = """
import os, pathlib

def run(problem, objective, rng, settings):
    noted = pathlib.Path({noted!r})
    if not noted.exists():
        noted.touch()
        os.kill({process}, {signal})
    return climb(objective, rng.integers)
"""


@pytest.mark.parametrize(
    ("process", "number", "is_from_outside"),
    [
        ("os.getpid()", signal.SIGKILL, True),
        ("os.getpid()", signal.SIGTERM, True),
        ("os.getppid()", signal.SIGKILL, True),
        ("os.getpid()", signal.SIGSEGV, False),
    ],
)
def test_a_run_that_is_ended_from_outside_can_be_repeated(
    plugins, small_problem, tmp_path, process, number, is_from_outside
):
    """It ends as by `kill` or by a system without memory; a run that crashes has failed by itself."""
    body = ENDED_ONCE.format(noted=str(tmp_path / "noted"), process=process, signal=int(number))
    (plugins / "hangs.py").write_text(CHEATS["hangs"].module + body)
    with pytest.raises(AlgorithmFailedError) as raised:
        search(small_problem, algorithm="hangs", seed=1, evaluations=300)
    assert isinstance(raised.value, KilledRunError) == is_from_outside
    text = f"algorithm 'hangs': seed 1: {ENDED}"
    if is_from_outside:
        text += f": it was ended from outside ({number.name}); run it again"
    assert str(raised.value) == text
    assert search(small_problem, algorithm="hangs", seed=1, evaluations=300).terms


def test_what_a_run_has_left_in_its_group_is_ended(plugins, small_problem):
    with prepared("leaves_children", {}) as runner:
        runner.run(small_problem, seed=1, evaluations=50)
        left = (plugins / "left.txt").read_text().split()
        assert len(left) == 2
        wait_for(lambda: not any(map(is_running, left)), "their end")


def test_files_that_it_writes_are_gone_with_its_process(plugins, small_problem, tmp_path):
    with host.AlgorithmProcess("memory_file") as process:
        process.start()
        folder = process._folder.name
        assert os.listdir(folder) == []
    assert list(tmp_path.iterdir()) == [] and not os.path.exists(folder)


class TestMessages:
    @pytest.fixture
    def ends(self):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            yield Channel(ours), Channel(theirs)

    def test_a_message_arrives(self, ends):
        for content in (b"", b"a\0", bytes(100_000)):
            ends[1].send(content)
            assert ends[0].receive(100_000) == content

    def test_a_message_that_is_too_long(self, ends):
        ends[1].send(bytes(101))
        with pytest.raises(BrokenChannelError, match="it sends a message of 101 bytes; allowed: 100"):
            ends[0].receive(100)

    @pytest.mark.parametrize("part", [b"", b"\0", b"\0\0\0\0\0\0\0\x09{"])
    def test_a_message_that_breaks_off(self, ends, part):
        ends[1].socket.sendall(part)
        ends[0].deadline = 0.0
        with pytest.raises(TimeoutError):
            ends[0].receive(100)
        ends[1].socket.sendall(part)
        ends[1].socket.close()
        ends[0].deadline = None
        with pytest.raises(BrokenChannelError, match="its process has ended"):
            ends[0].receive(100)

    def test_nobody_takes_a_message(self, ends):
        ends[0].deadline = 0.0
        with pytest.raises(TimeoutError):
            ends[0].send(bytes(10_000_000))
        ends[1].socket.close()
        with pytest.raises(BrokenChannelError, match="its process has ended"):
            ends[0].send(b"a")

    @pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b"1" * 5000, b"[" * 100_000])
    def test_no_plain_data(self, content):
        with pytest.raises(BrokenChannelError, match="it sends no message"):
            plain_data(content)


HANGING = """
import signal, narxbench
# Whoever runs the tests in the background of a script, or by nohup, lets their processes ignore some signals.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
u, y = narxbench.load_system("S1").simulate(300)
problem = narxbench.StructureProblem(u, y, n_u=1, n_y=1, degree=2, n_validation=100)
narxbench.search(problem, algorithm="hangs", seed=1)
"""


@pytest.fixture
def hanging(plugins, tmp_path):
    """A script without a guard of its main part, whose run does not end, and the ids of its processes."""
    (tmp_path / "script.py").write_text(HANGING)
    command = host.python_command("import runpy; runpy.run_path('script.py', run_name='__main__')")
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as caller:
        try:
            parent = psutil.Process(caller.pid)
            wait_for(lambda: len(parent.children(recursive=True)) == 2, "a run", 60)
            started = parent.children(recursive=True)
            # The run has begun when it uses the processor.
            wait_for(lambda: started[1].cpu_times().user > 0.1, "work", 60)
            yield caller, [process.pid for process in started]
        finally:
            caller.kill()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_nothing_is_left_of_a_process_that_was_killed(hanging, number):
    caller, started = hanging
    caller.send_signal(number)
    wait_for(lambda: not any(map(is_running, started)), "their end", 100)


@pytest.mark.slow
def test_an_interruption_ends_the_run_too(hanging):
    caller, started = hanging
    os.killpg(caller.pid, signal.SIGINT)
    reported = caller.communicate(timeout=100)[1]
    assert reported.count("Traceback") == 1 and reported.rstrip().endswith("KeyboardInterrupt")
    wait_for(lambda: not any(map(is_running, started)), "their end", 100)


def test_a_process_is_reused_until_an_exception(plugins):
    reused = partial(host.reused_process, "honest.honest_annealing")
    with reused() as first:
        pass
    with reused() as second, reused() as third:
        assert second is first is not third
    with pytest.raises(KeyError), reused() as failing:
        raise KeyError
    with reused() as remaining, reused() as new:
        assert {first, third} == {failing, remaining} and new not in (first, third)
