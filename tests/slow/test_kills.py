"""A pipeline that is interrupted: nothing half-written, and the command goes on.

Ctrl-C and SIGHUP (a terminal that is closed) reach every process of the terminal's group; a shutdown or a batch system
sends SIGTERM to the main process; SIGKILL leaves behind the scripts that it has started. A power cut is no signal.
"""

import os
import signal
import subprocess

import pytest
from tests.workflow.project import LIMIT, TINY, unlike, wait_for

pytestmark = pytest.mark.slow

FRAMES = "data/long/frames/claims.csv"
# Seconds that a system which shuts down leaves to its processes.
GRACE = 15.0


@pytest.fixture(scope="module")
def long(finished, tmp_path_factory):
    """Return a study whose searches last long enough to be interrupted, with its frames."""
    copy = finished.copied(tmp_path_factory.mktemp("long") / "project", made=False)
    project = copy.with_study("long", TINY.replace("200", "30000").replace("[S3, S4]", "[S3]"))
    project.snakemake(FRAMES)
    return project


def visible_results(project):
    """Return the results without the hidden files that a kill may leave, which nothing reads."""
    return {path: content for path, content in project.files().items() if "/." not in path}


def living_processes(group):
    """Return the processes of a group that are alive."""
    printed = subprocess.run(["ps", "-A", "-o", "pgid=,stat=,pid="], capture_output=True, text=True, check=True).stdout
    processes = map(str.split, printed.splitlines())
    return [pid for pgid, state, pid in processes if int(pgid) == group and not state.startswith("Z")]


def press_ctrl_c(process):
    os.killpg(process.pid, signal.SIGINT)


def close_terminal(process):
    os.killpg(process.pid, signal.SIGHUP)


def shut_down(process):
    """Ask to end, and kill what has not ended after a while, as a system that shuts down does.

    Snakemake waits for itself forever if the signal comes while its scheduler holds the lock that its handler takes.
    """
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)


def interrupted(copy, interrupt):
    """Return the process of a pipeline after its end by an interruption in the middle of the searches."""
    with copy.under_way(FRAMES, "--cores", "2") as process:
        wait_for(lambda: len(copy.run_files()) > 2, "some run files")
        interrupt(process)
        printed, _ = process.communicate(timeout=LIMIT)
        # Snakemake shows where it was; no line of this project's code is among them.
        assert "src/narxbench" not in printed, printed
        # A killed main process leaves behind the scripts that it has started.
        assert process.returncode < 0 or living_processes(process.pid) == []
    return process


def check_goes_on(copy, complete):
    """Check that what is there is right, and that the same command makes the rest, after unlocking if necessary."""
    expected = visible_results(complete)
    assert visible_results(copy).items() <= expected.items()
    if copy.locked():
        assert "cannot be locked" in copy.snakemake(FRAMES, code=1)
        copy.snakemake("--unlock")
    copy.snakemake(FRAMES)
    assert unlike(visible_results(copy), expected) == []
    assert not copy.locked()


@pytest.mark.parametrize(
    ("interrupt", "codes"),
    [
        (press_ctrl_c, {1}),
        (shut_down, {1, -signal.SIGKILL}),
        (subprocess.Popen.kill, {-signal.SIGKILL}),
        (close_terminal, {-signal.SIGHUP}),
    ],
)
def test_interrupted_in_the_middle_of_the_searches(long, tmp_path, interrupt, codes):
    copy = long.copied(tmp_path / "project", made=False)
    assert interrupted(copy, interrupt).returncode in codes
    if interrupt is press_ctrl_c:
        assert visible_results(copy) == copy.files() and not copy.locked()
    check_goes_on(copy, long)
