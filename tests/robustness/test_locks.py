"""Two pipelines in one folder: one works, the other says so; a lock that a kill has left is explained and cleared."""

import os
import signal
import subprocess

import pytest
from tests.robustness.kills import count_runs, is_locked, run, unlock_as_told, wrong_files
from tests.robustness.pipelines import COMMAND, Copy, differences, under_way, wait_for

CELL = "data/cells/S3/30dB/ga/bic.json"
BUSY = (
    "narxbench: snakemake is already making these files in this folder, as process {}; "
    "wait until it has ended, then repeat the command. Nothing was changed.\n"
)
KILLED = (
    "narxbench: this folder is locked, but no snakemake of this machine runs in it: an earlier one was killed.\n"
    "Nothing is lost. If none runs on another machine either, unlock the folder, then repeat the command:\n"
    "    snakemake --unlock\n"
)
MOMENT = (
    "narxbench: another snakemake began or ended in this folder in the same moment. "
    "Nothing is lost; repeat the command.\n"
)
# Snakemake that finds no lock of another: as if both had looked before either of them locked.
BLIND = """
import sys
from snakemake.cli import main
from snakemake.persistence import PersistenceBase
assert isinstance(PersistenceBase.locked, property)
PersistenceBase.locked = property(lambda self: False)
main(sys.argv[1:])
"""
# The same on a file system that holds no file for a process.
BLIND_WITHOUT_HOLDS = f"""
import errno, fcntl
def flock(handle, operation):
    raise OSError(errno.EOPNOTSUPP, "Operation not supported")
assert callable(fcntl.flock)
fcntl.flock = flock
{BLIND}"""


def begin_blind(copy: Copy, code: str, *targets: str) -> subprocess.Popen[str]:
    """Begin a Snakemake that this code alters."""
    # The name tells others that this is Snakemake.
    script = copy.root.parent / "snakemake"
    script.write_text(code, encoding="utf-8")
    return copy.begin(*targets, *COMMAND, program=[str(script)])


def test_second_pipeline_ends_at_once_and_leaves_the_first_alone(ordinary: Copy, empty: Copy) -> None:
    with under_way(empty) as first:
        wait_for(lambda: count_runs(empty) > 0, "the first run file")
        printed = empty.make(*COMMAND, code=1)
        assert first.poll() is None
        assert printed.endswith(BUSY.format(first.pid))
        assert "Traceback" not in printed
        assert is_locked(empty)
        first.communicate()
    assert first.returncode == 0
    assert wrong_files(empty, ordinary, hidden_allowed=False) == []
    assert differences(ordinary, empty) == []
    assert not is_locked(empty)


def test_two_that_start_in_the_same_moment(ordinary: Copy, empty: Copy) -> None:
    """One of them works; the other says so, or finds nothing left to be done."""
    with under_way(empty, CELL, *COMMAND) as one, under_way(empty, CELL, *COMMAND) as other:
        said = [one.communicate()[0], other.communicate()[0]]
    codes = [one.returncode, other.returncode]
    assert 0 in codes
    for code, pid, printed in zip(codes, (other.pid, one.pid), said, strict=True):
        assert "Traceback" not in printed
        assert code == 0 or printed.endswith((BUSY.format(pid), MOMENT))
    assert wrong_files(empty, ordinary, hidden_allowed=False) == []
    assert (empty / CELL).read_bytes() == (ordinary / CELL).read_bytes()


def test_only_one_works_when_both_have_looked_before_either_locked(ordinary: Copy, empty: Copy) -> None:
    one = begin_blind(empty, BLIND)
    wait_for(lambda: count_runs(empty) > 0, "the first run file")
    one.send_signal(signal.SIGSTOP)
    try:
        locks = sorted((empty / ".snakemake/locks").iterdir())
        other = begin_blind(empty, BLIND)
        printed, _ = other.communicate()
        assert other.returncode == 1
        assert printed.endswith(BUSY.format(one.pid))
        assert "Traceback" not in printed
        # What it has locked it has unlocked, and nothing else.
        assert sorted((empty / ".snakemake/locks").iterdir()) == locks != []
    finally:
        one.send_signal(signal.SIGCONT)
        one.communicate()
    assert one.returncode == 0
    assert not is_locked(empty)
    assert wrong_files(empty, ordinary, hidden_allowed=False) == []
    assert differences(ordinary, empty) == []


def test_two_that_know_nothing_of_each_other_make_nothing_wrong(ordinary: Copy, empty: Copy) -> None:
    """Files are written whole, and every run gives the same bytes: the worst is a step that fails or repeats."""
    for begun in [begin_blind(empty, BLIND_WITHOUT_HOLDS, CELL) for _ in range(2)]:
        printed, _ = begun.communicate()
        assert "Traceback" not in printed
        # Both worked.
        assert "\nsearches " in printed
        assert begun.returncode == 0 or MOMENT in printed or "\nfailed: " in printed
    assert wrong_files(empty, ordinary, hidden_allowed=False) == []
    empty.make(CELL, *COMMAND)
    assert (empty / CELL).read_bytes() == (ordinary / CELL).read_bytes()


@pytest.fixture
def killed(empty: Copy) -> Copy:
    """A copy in which a pipeline was killed while it searched."""
    with under_way(empty, CELL, *COMMAND) as begun:
        wait_for(lambda: count_runs(empty) > 0, "the first run file")
        os.kill(begun.pid, signal.SIGKILL)
        begun.communicate()
    assert is_locked(empty)
    return empty


def test_lock_of_a_killed_pipeline_is_explained_with_the_command_that_clears_it(ordinary: Copy, killed: Copy) -> None:
    code, printed = run(killed)
    assert code == 1
    assert printed.endswith(KILLED)
    assert "Traceback" not in printed
    assert is_locked(killed)
    assert unlock_as_told(killed) == []
    killed.make(CELL, *COMMAND)
    assert (killed / CELL).read_bytes() == (ordinary / CELL).read_bytes()
    assert wrong_files(killed, ordinary, hidden_allowed=True) == []
