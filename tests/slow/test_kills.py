"""A pipeline that is interrupted, and two of them in one folder: nothing half-written, and the command goes on.

Ctrl-C and SIGHUP (a terminal that is closed) reach every process of the terminal's group; a shutdown or a batch system
sends SIGTERM to the main process; SIGKILL leaves behind the scripts that it has started. A power cut is no signal.
"""

import os
import signal
import subprocess
import time

import pytest
from tests.workflow.project import LIMIT, TINY, unlike, wait_for

pytestmark = pytest.mark.slow

FRAMES = "data/long/frames/claims.csv"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)


@pytest.fixture(scope="module")
def long(finished, tmp_path_factory):
    """Searches that last long enough to be interrupted, and their frames."""
    copy = finished.copied(tmp_path_factory.mktemp("long") / "project", made=False)
    project = copy.with_study("long", TINY.replace("200", "30000"))
    project.snakemake(FRAMES)
    return project


def seen(project):
    """Return the results without the hidden files that a kill may leave, which nothing reads."""
    return {path: content for path, content in project.files().items() if "/." not in path}


def others_of(group):
    """Return the processes of a group that are alive."""
    done = subprocess.run(["ps", "-A", "-o", "pgid=,stat=,pid="], capture_output=True, text=True, check=True)
    rows = (line.split() for line in done.stdout.splitlines())
    return [pid for pgid, state, pid in rows if int(pgid) == group and not state.startswith("Z")]


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_interrupted_in_the_middle_of_the_searches(long, tmp_path, number):
    copy, results = long.copied(tmp_path / "project", made=False), seen(long)
    with copy.under_way(FRAMES, "--cores", "2") as begun:
        wait_for(lambda: len(copy.run_files()) > 2, "some run files")
        if number in (signal.SIGTERM, signal.SIGKILL):
            begun.send_signal(number)
        for _ in range(9 if number == signal.SIGINT else number == signal.SIGHUP):
            # All but the first change nothing.
            os.killpg(begun.pid, number)
            time.sleep(0.02)
        printed, _ = begun.communicate(timeout=LIMIT)
        assert "Traceback" not in printed, printed
        assert number == signal.SIGKILL or others_of(begun.pid) == []
    assert [path for path, content in seen(copy).items() if content != results.get(path)] == []
    assert number == signal.SIGKILL or seen(copy) == copy.files()
    if copy.locked():
        assert number == signal.SIGKILL
        assert "cannot be locked" in copy.snakemake(FRAMES, code=1)
        copy.snakemake("--unlock")
    copy.snakemake(FRAMES)
    assert unlike(seen(copy), results) == []
    assert not copy.locked()
    assert begun.returncode == (-signal.SIGKILL if number == signal.SIGKILL else 1)


def test_second_pipeline_ends_at_once_and_changes_nothing(long, tmp_path):
    copy = long.copied(tmp_path / "project", made=False)
    with copy.under_way(FRAMES, "--cores", "2") as first:
        wait_for(copy.run_files, "the first run file")
        assert "cannot be locked" in copy.snakemake(FRAMES, code=1)
        # Nobody but the first unlocks, at its end.
        first.communicate(timeout=LIMIT if copy.locked() else 10)
    assert first.returncode == 0
    assert copy.files() == long.files()
    assert not copy.locked()
