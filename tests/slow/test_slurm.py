"""The pipeline on a Slurm of two nodes: the same summaries and frames as on one machine, whatever happens to jobs."""

import subprocess

import pytest
from tests.slow.slurm import NODES, Slurm, unusable
from tests.workflow.project import LIMIT, unlike, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.ci]

# A search lasts a second, so that jobs can be met at work.
CLUSTER = """\
systems: [S3]
snr_db: [30]
seeds: 6
evaluations: 80000
methods: {upso2d: {criteria: [bic]}}
statistics: {bootstrap_samples: 50}
"""
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
FRAMES = "data/cluster/frames/claims.csv"
COMPARED = ("data/cluster/conditions", "data/cluster/frames")


@pytest.fixture(scope="module")
def local(finished, tmp_path_factory):
    """The study, made on this machine with a job for each seed."""
    copy = finished.copied(tmp_path_factory.mktemp("local") / "project", made=False)
    project = copy.with_study("cluster", CLUSTER)
    project.snakemake(FRAMES)
    return project


@pytest.fixture
def slurm(tmp_path_factory):
    if reason := unusable():
        pytest.skip(reason)
    with Slurm(tmp_path_factory.mktemp("slurm")) as two_nodes:
        yield two_nodes


def lose_a_job(local, slurm, root, profile, lose):
    """Run the study with a profile, lose its first running job, and return the states of that job and of the others."""
    copy, printed = local.copied(root / "project", made=False), root / "printed.txt"
    options = (*PROFILES[profile], "--config", "seeds_per_job=3")
    # A file, because nobody reads a pipe meanwhile.
    with printed.open("wb") as stream, copy.under_way(FRAMES, *options, env=slurm.environment, output=stream) as begun:
        lost, *_ = wait_for(lambda: [job for job in slurm.jobs() if job.state == "RUNNING"], "a running job")
        lose(lost)
        assert begun.wait(LIMIT) == 0, printed.read_text(errors="replace")
    assert {path.name for path in copy.run_files()} == {"seeds-1-to-3.json", "seeds-4-to-6.json"}
    for folder in COMPARED:
        assert unlike(copy.files(folder), local.files(folder)) == []
    assert "Nothing to be done" in copy.snakemake(FRAMES, "--dry-run", "--config", "seeds_per_job=3")
    assert {job.node for job in slurm.jobs()} == set(NODES)
    states = {job.number: job.state for job in slurm.jobs()}
    return copy, lost.number, states.pop(lost.number), list(states.values())


def status(copy, slurm, job):
    """Return what profiles/cluster says of a job."""
    command = [str(copy / "profiles/cluster/status.sh"), str(job)]
    return subprocess.run(command, env=slurm.environment, check=True, capture_output=True, text=True).stdout.strip()


# Slurm has not started the lost job again itself, Snakemake has: two jobs of three seeds for each of two conditions.
@pytest.mark.parametrize(("profile", "state"), [("slurm", "CANCELLED"), ("cluster", "NODE_FAIL")])
def test_a_job_or_a_node_that_is_lost_costs_no_result(local, slurm, tmp_path, profile, state):
    def lose(job):
        slurm.run("scancel", str(job.number)) if profile == "slurm" else slurm.kill(job.node)

    copy, number, lost, others = lose_a_job(local, slurm, tmp_path, profile, lose)
    assert (lost, others) == (state, ["COMPLETED"] * 4)
    assert status(copy, slurm, number) == "failed"
    assert {status(copy, slurm, job.number) for job in slurm.jobs()[-4:]} == {"success"}
