"""The pipeline on a Slurm of two nodes: the same results as on one machine, whatever happens to jobs and nodes."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.cluster.slurm import NODES, SECONDS, Slurm
from tests.robustness.pipelines import LIMIT, end, wait_for
from tests.workflow.project import Copy, differences

pytestmark = pytest.mark.ci

# What docs/cluster.md says of a cluster without accounting; and looks at the jobs that come sooner.
PROFILES = {
    "slurm": (
        "--workflow-profile=profiles/slurm",
        "--slurm-status-command=squeue",
        "--slurm-no-account",
        "--slurm-init-seconds-before-status-checks=2",
    ),
    "cluster": ("--workflow-profile=profiles/cluster", "--seconds-between-status-checks=2"),
}
LOGS = {
    "slurm": ".snakemake/slurm_logs/rule_search_1_to_5/S3_30_ga_bic/{job}.log",
    "cluster": ".snakemake/cluster-{job}.log",
}
# A job of three seeds and one of two for each of the two cells.
GROUPED = ("--config", "seeds_per_job=3")
JOBS = 2 * 2
UNLOCK = ("--unlock", "--workflow-profile", "none", "--cores", "1")
CELL = "data/cells/S3/30dB/ga/bic.json"
DIVERGING = 'n_u: 1\nn_y: 1\ndegree: 2\nequation: "y(k) = 2*y(k-1) + u(k-1)"\n'
WORK = "    with timed(log):\n"
NOTHING = "Nothing to be done (all requested files are present and up to date)."

BATCH = re.compile(r"slurmstepd: \[(\d+)\.batch\]")
# The job of three seeds of the slower search, which takes two seconds from the first run file to the last.
TARGET = " --target-jobs search_1_to_3:system=S3,snr_db=30,search=upso2d,criterion=bic "
RUNS = [f"data/runs/S3/30dB/upso2d/bic/seed-{seed}.json" for seed in (1, 2, 3)]


class Main:
    """The pipeline's main process on a cluster."""

    def __init__(self, process: subprocess.Popen[str], printed: Path) -> None:
        self.process, self._printed = process, printed

    def printed(self) -> str:
        return self._printed.read_text(encoding="utf-8", errors="replace")

    def finish(self, code: int = 0) -> None:
        assert self.process.wait(LIMIT) == code, self.printed()


class AtWork(NamedTuple):
    """A job that has written some of its run files and not yet all, and where it runs."""

    number: int
    node: str


@pytest.fixture
def copy(local: Copy, tmp_path: Path) -> Copy:
    """A copy in which nothing is made yet."""
    return local.copied(tmp_path / "project", made=False)


@contextmanager
def on_cluster(copy: Copy, slurm: Slurm, *arguments: str) -> Iterator[Main]:
    """Begin the pipeline; whatever happens, its main process ends with the context."""
    # A file, because nobody reads a pipe meanwhile.
    path = copy.root.parent / "printed.txt"
    with path.open("w", encoding="utf-8") as output:
        process = copy.begin(*arguments, env=slurm.environment, output=output.fileno())
    try:
        yield Main(process, path)
    finally:
        end(process)


def make_on_cluster(copy: Copy, slurm: Slurm, *arguments: str) -> None:
    with on_cluster(copy, slurm, *arguments) as main:
        main.finish()


def at_work(copy: Copy, slurm: Slurm, main: Main) -> AtWork:
    """Wait until a job is in the middle of its runs."""

    def found() -> AtWork | None:
        assert main.process.poll() is None, main.printed()
        for node in NODES:
            commands = "\n".join(slurm.commands(node))
            job = BATCH.search(commands)
            if job and TARGET in commands and 0 < sum((copy / run).exists() for run in RUNS) < len(RUNS):
                return AtWork(int(job[1]), node)
        return None

    job = wait_for(found, "a job at work")
    assert job
    return job


def states(slurm: Slurm) -> dict[int, str]:
    return {job.number: job.state for job in slurm.jobs()}


def status(copy: Copy, slurm: Slurm, job: int) -> str:
    """Return what profiles/cluster says of a job."""
    command = [str(copy / "profiles/cluster/status.sh"), str(job)]
    environment = os.environ | slurm.environment
    printed: str = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    return printed.strip()


# With profiles/cluster as it stands, whose 50 seeds of a job are more than a cell has.
@pytest.mark.parametrize(("profile", "grouped", "expected"), [("slurm", GROUPED, JOBS), ("cluster", (), 2)])
def test_both_nodes_make_what_one_machine_makes(
    local: Copy, copy: Copy, slurm: Slurm, profile: str, grouped: tuple[str, ...], expected: int
) -> None:
    make_on_cluster(copy, slurm, *PROFILES[profile], *grouped)
    assert differences(local, copy) == []
    done = slurm.jobs()
    assert [job.state for job in done] == ["COMPLETED"] * expected
    assert {job.node for job in done} == set(NODES)
    # The form of the jobs is no reason to run anything again, in either direction.
    assert NOTHING in copy.make("--dry-run", "--cores", "2")
    assert NOTHING in local.make("--dry-run", *PROFILES[profile], *grouped, env=slurm.environment)


def test_node_that_dies_costs_its_job_and_no_result(local: Copy, copy: Copy, slurm: Slurm) -> None:
    with on_cluster(copy, slurm, *PROFILES["cluster"], *GROUPED) as main:
        lost = at_work(copy, slurm, main)
        slurm.kill_node(lost.node)
        main.finish()
    assert differences(local, copy) == []
    found = states(slurm)
    assert found.pop(lost.number) == "NODE_FAIL"
    # Slurm has not started it again itself, Snakemake has.
    assert list(found.values()) == ["COMPLETED"] * JOBS
    assert {status(copy, slurm, job) for job in found} == {"success"}
    assert status(copy, slurm, lost.number) == "failed"


def test_cancelled_job_is_started_again(local: Copy, copy: Copy, slurm: Slurm) -> None:
    with on_cluster(copy, slurm, *PROFILES["slurm"], *GROUPED) as main:
        cancelled = at_work(copy, slurm, main)
        assert status(copy, slurm, cancelled.number) == "running"
        slurm.cancel(cancelled.number)
        main.finish()
    assert differences(local, copy) == []
    found = states(slurm)
    assert found.pop(cancelled.number) == "CANCELLED"
    assert list(found.values()) == ["COMPLETED"] * JOBS
    assert status(copy, slurm, cancelled.number) == "failed"


def test_main_process_is_killed_and_the_command_repeated(local: Copy, copy: Copy, slurm: Slurm) -> None:
    """At once, while jobs of the first start are still running."""
    command = (*PROFILES["slurm"], *GROUPED)
    with on_cluster(copy, slurm, *command) as main:
        left = at_work(copy, slurm, main)
        os.killpg(main.process.pid, signal.SIGKILL)
        main.finish(-signal.SIGKILL)
    assert [job.number for job in slurm.running(left.node)] == [left.number]
    copy.make(*UNLOCK)
    make_on_cluster(copy, slurm, *command)
    assert differences(local, copy) == []
    assert states(slurm)[left.number] == "COMPLETED"


def test_interrupt_cancels_the_jobs(copy: Copy, slurm: Slurm) -> None:
    interrupt(copy, slurm, *PROFILES["slurm"], *GROUPED)


def test_one_machine_goes_on_with_what_was_begun_on_a_cluster(local: Copy, copy: Copy, slurm: Slurm) -> None:
    """With the plain command, and a job for each seed."""
    interrupt(copy, slurm, *PROFILES["cluster"], *GROUPED)
    copy.make("--cores", "2")
    assert differences(local, copy) == []


def interrupt(copy: Copy, slurm: Slurm, *arguments: str) -> None:
    """Press Ctrl-C while jobs run and wait; then none is left."""
    with on_cluster(copy, slurm, *arguments) as main:
        job = at_work(copy, slurm, main)
        main.process.send_signal(signal.SIGINT)
        main.finish(1)
    wait_for(lambda: not slurm.unfinished(), "no job left", SECONDS)
    assert states(slurm)[job.number] == "CANCELLED"


# The Slurm plugin looks at intervals that grow with every failure, so that further attempts would take a minute.
@pytest.mark.parametrize(("profile", "options", "attempts"), [("slurm", ("--retries=0",), 1), ("cluster", (), 3)])
def test_job_that_always_fails_is_tried_again_with_more_memory_and_shown(
    copy: Copy, slurm: Slurm, profile: str, options: tuple[str, ...], attempts: int
) -> None:
    copy.edit("scripts/search.py", WORK, '    raise OSError("nothing but trouble")\n' + WORK)
    with on_cluster(copy, slurm, CELL, *PROFILES[profile], *options) as main:
        main.finish(1)
    found = slurm.jobs()
    assert [(job.state, job.memory) for job in found] == [("FAILED", f"{n}000M") for n in range(1, attempts + 1)]
    logs = [copy / LOGS[profile].format(job=job.number) for job in found]
    assert all("nothing but trouble" in log.read_text(encoding="utf-8") for log in logs)
    assert main.printed().count("\nnothing but trouble\n") == attempts, main.printed()


def test_no_job_of_a_data_set_that_fails(copy: Copy, slurm: Slurm) -> None:
    copy.write("config/systems/D.yaml", DIVERGING)
    settings = ("--config", "systems=[D]", "seeds_per_job=5")
    with on_cluster(copy, slurm, "data/cells/D/30dB/ga/bic.json", *PROFILES["slurm"], *settings) as main:
        main.finish(1)
    told = {line for line in main.printed().splitlines() if line.startswith("narxbench: ")}
    assert len(told) == 1
    assert told.pop().startswith("narxbench: system D: its output diverges ")
    assert slurm.jobs() == []


def test_cluster_needs_the_seeds_of_a_job(copy: Copy, slurm: Slurm) -> None:
    """On the command line, --config replaces the profile's."""
    with on_cluster(copy, slurm, *PROFILES["cluster"], "--config", "seeds=4") as main:
        main.finish(1)
    assert main.printed().splitlines()[-1] == (
        "narxbench: command line (--config): seeds_per_job: missing; on a cluster, give the seeds of a job: "
        "seeds_per_job=50"
    )
    assert slurm.jobs() == []
