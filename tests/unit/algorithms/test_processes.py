"""Algorithms of other packages: each run has a process of its own, with limits, and its outcome is judged outside.

One that cannot be used is reported of in one line, without harm to the others.
"""

import os
import re
import signal
import socket
import subprocess
import sys
from functools import partial

import numpy as np
import psutil
import pytest
from tests.tiers import mostly_slow
from tests.unit.algorithms.plugins import SOURCE, install_text
from tests.unit.algorithms.plugins.cheats import CHEATS, ENDED, HARMLESS, LIMIT
from tests.workflow.project import wait_for

from narxbench import AlgorithmFailedError, AlgorithmUnavailableError, search
from narxbench._algorithms.isolation import host
from narxbench._algorithms.isolation.messages import BrokenChannelError, Channel, plain_data
from narxbench._algorithms.registry import Algorithm, packaged_names
from narxbench._algorithms.search import prepared

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
        runner.run(small_problem, seed=1, evaluations=300, time_limit={LIMIT: 1}.get(failure, 60))
    text = str(raised.value)
    assert re.match(f"algorithm '{name}': seed 1: {failure}", text), text
    assert text.isprintable()
    wait_for(lambda: not processes_of(plugins), "the end of its processes", 20)


@pytest.mark.parametrize("name", mostly_slow(HARMLESS, "memory"))
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
    ("process", "number"),
    [("getpid", signal.SIGKILL), ("getpid", signal.SIGTERM), ("getppid", signal.SIGKILL), ("getpid", signal.SIGSEGV)],
)
def test_a_run_that_is_ended_from_outside_can_be_repeated(plugins, small_problem, tmp_path, process, number):
    """It ends as by `kill` or by a system without memory; a run that crashes has failed by itself."""
    body = ENDED_ONCE.format(noted=str(tmp_path / "noted"), process=f"os.{process}()", signal=int(number))
    (plugins / "hangs.py").write_text(CHEATS["hangs"].module + body)
    with pytest.raises(AlgorithmFailedError) as raised:
        search(small_problem, algorithm="hangs", seed=1, evaluations=300)
    text, is_from_outside = f"algorithm 'hangs': seed 1: {ENDED}", number != signal.SIGSEGV
    if is_from_outside:
        text += f": it was ended from outside ({number.name}); run it again"
    assert str(raised.value) == text and raised.value.is_killed == is_from_outside
    assert search(small_problem, algorithm="hangs", seed=1, evaluations=300).terms


def test_what_a_run_has_left_is_ended(plugins, small_problem, tmp_path):
    """Processes in its group with it, and files that it writes with its process."""
    with prepared("leaves_children", {}) as runner:
        runner.run(small_problem, seed=1, evaluations=50)
        left = (plugins / "left.txt").read_text().split()
        assert len(left) == 2
        wait_for(lambda: not any(map(is_running, left)), "their end")
        folder = runner._process._folder.name
        assert os.listdir(folder) == []
    assert list(tmp_path.iterdir()) == [] and not os.path.exists(folder)


def test_messages_between_processes():
    (ours, theirs), content = socket.socketpair(), bytes(100_000)
    with ours, theirs:
        here, there = Channel(ours), Channel(theirs)
        for message in (b"", b"a\0", content):
            there.send(message)
            assert here.receive(100_000) == message
        there.send(bytes(101))
        with pytest.raises(BrokenChannelError, match="it sends a message of 101 bytes; allowed: 100"):
            here.receive(100)
        assert ours.recv(101) == bytes(101)
        here.deadline = 0.0
        with pytest.raises(TimeoutError):
            here.receive(100)
        here.deadline = None
        here.send(b"not received")
        theirs.close()
        for refused in (partial(here.receive, 100), partial(here.send, b"a")):
            with pytest.raises(BrokenChannelError, match="its process has ended"):
                refused()
    for message in (b"", b"\xff", b"[]", b"1" * 5000, b"[" * 100_000):
        with pytest.raises(BrokenChannelError, match="it sends no message"):
            plain_data(message)


HANGING = """
import signal, narxbench
# Whoever runs the tests in the background of a script, or by nohup, lets their processes ignore some signals.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
u, y = narxbench.load_system("S1").simulate(300)
problem = narxbench.StructureProblem(u, y, n_u=1, n_y=1, degree=2, n_validation=100)
narxbench.search(problem, algorithm="hangs", seed=1)
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_nothing_is_left_of_a_process_that_was_killed_or_interrupted(plugins, tmp_path, number):
    """A script without a guard of its main part, whose run does not end."""
    (tmp_path / "script.py").write_text(HANGING)
    command = host.python_command("import runpy; runpy.run_path('script.py', run_name='__main__')")
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as caller:
        try:
            parent = psutil.Process(caller.pid)
            wait_for(lambda: len(parent.children(recursive=True)) == 2, "a run", 60)
            started = parent.children(recursive=True)
            # The run has begun when it uses the processor.
            wait_for(lambda: started[1].cpu_times().user > 0.1, "work", 60)
            if number == signal.SIGINT:
                os.killpg(caller.pid, number)
                reported = caller.communicate(timeout=100)[1]
                assert reported.count("Traceback") == 1 and reported.rstrip().endswith("KeyboardInterrupt")
            else:
                caller.send_signal(number)
            wait_for(lambda: not any(is_running(process.pid) for process in started), "their end", 100)
        finally:
            caller.kill()


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


# ---- How algorithms are found, and what cannot be used.


def test_an_installed_algorithm_is_not_imported_here(plugins, small_problem):
    result = search(small_problem, algorithm="honest_annealing", seed=1, evaluations=50, first_temperature=9.0)
    assert result.settings == {"first_temperature": 9.0}
    assert "honest" not in sys.modules


def test_a_file_in_the_folder_that_nobody_has_reviewed_runs_apart(monkeypatch, tmp_path):
    (tmp_path / "dropped.py").write_text(SOURCE)
    monkeypatch.setattr("narxbench._algorithms.__path__", [str(tmp_path)])
    assert packaged_names() == ["dropped"]
    assert not Algorithm("dropped", "narxbench._algorithms.dropped").in_process


def test_no_installation_changes_what_a_name_of_this_package_means(monkeypatch, tmp_path, small_problem):
    expected = search(small_problem, algorithm="ga", seed=1, evaluations=100)
    install_text(monkeypatch, tmp_path, {"ga": "added"}, "added", added=SOURCE)
    assert search(small_problem, algorithm="ga", seed=1, evaluations=100) == expected


NEEDED = "algorithm 'added': needs nothing-of-this-name, which is not installed; python3 -m pip install nothing-of"
IMPORT = "algorithm 'added': cannot be imported: .*"
UNAVAILABLE = {
    "missing": ("import nothing_of_this_name\n", IMPORT + r"No module named .* \(added\.py, line 1\)"),
    "crash": ("import ctypes\nctypes.string_at(0)\n", IMPORT + r"its import ends the process \(exit code -11\)"),
    "load": (SOURCE + "\ndef load():\n    1 / 0\n", IMPORT + r"ZeroDivisionError: .* \(added\.py, line \d+\)"),
    "no run": (SOURCE.replace("def run", "def walk"), IMPORT + r"added has no def run\(problem, objective, rng"),
    "one name": (SOURCE.replace("'None'", "'None', requires='fastcan'"), IMPORT + "requires: found 'fastcan'; allowed"),
    "no data": (SOURCE.replace("'None'", "'None', options={'a': [object]}"), IMPORT + "TypeError: .*not JSON"),
    "needs": (SOURCE.replace("'None'", "'None', requires=('nothing-of-this-name',)"), NEEDED),
    "endless": ("while True:\n    pass\n", IMPORT + "its import takes more than 2 s"),
}


@pytest.mark.parametrize("what", mostly_slow(UNAVAILABLE, "missing", "crash", "no run", "needs"))
def test_one_that_cannot_be_used_is_reported_in_one_line(monkeypatch, tmp_path, small_problem, what):
    source, words = UNAVAILABLE[what]
    install_text(monkeypatch, tmp_path, {"added": "added"}, "distribution", added=source)
    if what == "endless":
        monkeypatch.setattr(host, "START_SECONDS", 2.0)
    with pytest.raises(AlgorithmUnavailableError) as failure:
        search(small_problem, algorithm="added", seed=1, evaluations=10)
    text = str(failure.value)
    assert re.match(words, text), text
    assert text.isprintable()
    assert search(small_problem, algorithm="stepwise", seed=1, evaluations=10).evaluations == 10
