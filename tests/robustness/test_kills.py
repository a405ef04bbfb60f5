"""Interruptions: whenever a run is ended, repeating the command gives the bytes of a run that was not."""

import random
import subprocess
import sys

import pytest
from tests.robustness.pipelines import (
    HANGING,
    LOCKED,
    SIGNALS,
    SMALL_RUN,
    differences,
    interrupted,
    leftovers_of,
    resume,
    send,
    started,
    wait_for,
)

# A result whose appearance tells how far the pipeline is, and the signal that ends it there.
INTERRUPTIONS = [
    ("data/runs/S1", "SIGKILL"),
    ("data/runs/S1", "SIGTERM"),
    ("data/cells/S1", "SIGINT"),
    ("reports/tables/agreement.csv", "SIGTERM"),
    ("reports/figures/convergence.svg", "SIGKILL"),
]


@pytest.mark.parametrize(("stage", "name"), INTERRUPTIONS)
def test_interrupted_at_a_stage(undisturbed, clean, stage, name):
    _, results = undisturbed
    with started(clean, *SMALL_RUN) as process:
        wait_for(lambda: (clean / stage).exists(), process)
        send(process, name)
        process.wait(timeout=HANGING)
        assert process.returncode != 0
        assert differences(clean, results, complete=False) == []
        # Steps that outlive a killed main process may still write while the pipeline goes on.
        unlocked = resume(clean, *SMALL_RUN)
    assert unlocked == (name == "SIGKILL")
    assert differences(clean, results) == []


def test_interrupted_again_and_again_at_random_moments(undisturbed, clean):
    _, results = undisturbed
    draws = random.Random(1)
    names = [*SIGNALS, *SIGNALS]
    draws.shuffle(names)
    interruptions = 0
    for name in names:
        ended = interrupted(clean, SMALL_RUN, name, draws.uniform(0.0, 8.0))
        interruptions += ended.interrupted
        assert differences(clean, results, complete=False) == []
        if LOCKED in ended.printed:
            clean.snakemake("--unlock")
    assert interruptions
    resume(clean, *SMALL_RUN)
    assert differences(clean, results) == []


SIGTERM_IN_THE_SCHEDULER = """
import os, signal, sys
from snakemake.cli import main
from snakemake.scheduling.job_scheduler import JobScheduler

finish = JobScheduler._finish_jobs

def interrupted(scheduler):
    # The first of the searches is finished: the scheduler holds its lock while it writes that down.
    if any(job.rule.name == "search" for job in scheduler._tofinish):
        JobScheduler._finish_jobs = finish
        os.kill(os.getpid(), signal.SIGTERM)
    finish(scheduler)

JobScheduler._finish_jobs = interrupted
main(sys.argv[1:])
"""


def test_sigterm_while_the_scheduler_holds_its_lock(undisturbed, clean):
    """Snakemake's own handler waits for that lock in the thread that holds it, for ever."""
    command = [sys.executable, "-c", SIGTERM_IN_THE_SCHEDULER, "--cores", "2", *SMALL_RUN]
    done = subprocess.run(command, cwd=clean.root, capture_output=True, text=True, timeout=HANGING)
    assert done.returncode == 1, done.stderr
    assert "Will exit after finishing currently running jobs" in done.stderr
    assert not resume(clean, *SMALL_RUN)
    assert differences(clean, undisturbed[1]) == []


def test_leftovers_of_a_kill_are_no_results(undisturbed, clean):
    """Half-written files that a kill can leave lie beside every result of the pipeline while it runs, and after it."""
    _, results = undisturbed
    for path, content in results.items():
        hidden = clean / path
        hidden.parent.mkdir(parents=True, exist_ok=True)
        hidden.with_name(f".{hidden.name}.k1ll3d_x").write_bytes(content[: len(content) // 2])
    clean.snakemake(*SMALL_RUN)
    assert differences(clean, results) == []
    assert len(leftovers_of(clean)) == len(results)
    assert clean.planned(*SMALL_RUN) == {}
