"""The pipeline on a Slurm of two nodes: it gives the summaries and frames of one machine though jobs are lost."""

import pytest
from tests.lookups import names_of, values_of
from tests.slow.slurm import NODES, Slurm, unusable
from tests.workflow.project import LIMIT, unlike, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.ci]

# A job lasts some ten seconds, so that it can be met at work, and lost before it has ended.
CLUSTER = """\
systems: [S3]
snr_db: [30]
seeds: 6
evaluations: 400000
methods: {upso2d: {criteria: [bic]}, ga: null}
"""
# The options of docs/cluster.md for a cluster without accounting; jobs are examined sooner.
PROFILES = {
    "slurm": (
        "--workflow-profile=profiles/slurm",
        "--slurm-status-command=squeue",
        "--slurm-no-account",
        "--slurm-init-seconds-before-status-checks=2",
    ),
    "cluster": ("--workflow-profile=profiles/cluster", "--seconds-between-status-checks=2"),
}
UNDER_WAY = ("RUNNING", "COMPLETING")
FRAMES = "data/cluster/frames/claims.csv"
COMPARED = ("data/cluster/conditions", "data/cluster/frames")


@pytest.fixture(scope="module")
def local(finished, tmp_path_factory):
    """Return the study, made on this machine with a job for each seed."""
    copy = finished.copied(tmp_path_factory.mktemp("local") / "project", made=False)
    project = copy.with_study("cluster", CLUSTER)
    project.snakemake(FRAMES)
    return project


@pytest.fixture
def slurm(tmp_path_factory):
    reason = unusable()
    if reason:
        pytest.skip(reason)
    with Slurm(tmp_path_factory.mktemp("slurm")) as two_nodes:
        yield two_nodes


def lose_a_job(slurm, lose, check_run):
    """Lose the running job that was the last to begin, and return it as it has ended."""

    def at_work():
        check_run()
        return [job for job in slurm.jobs() if job.state == "RUNNING"]

    *_, running = wait_for(at_work, "a running job")
    lose(running)

    def ended():
        return [job for job in slurm.jobs() if job.number == running.number and job.state not in UNDER_WAY]

    (lost,) = wait_for(ended, "the end of a job")
    return lost


def run_and_lose_a_job(copy, slurm, profile, lose, printed):
    """Run the study with a profile, lose a running job, and return the number of this job."""
    options = (*PROFILES[profile], "--config", "seeds_per_job=3")
    # A file, because nobody reads a pipe meanwhile.
    with printed.open("wb") as stream, copy.under_way(FRAMES, *options, env=slurm.environment, output=stream) as begun:

        def check_run():
            assert begun.poll() is None, printed.read_text(errors="replace")

        # Where the machine is busy, a job may end before it is lost.
        while (lost := lose_a_job(slurm, lose, check_run)).state == "COMPLETED":
            slurm.renew()
        assert begun.wait(LIMIT) == 0, printed.read_text(errors="replace")
    return lost.number


def check_results(copy, local):
    """Check that no result is missing or different from those of one machine."""
    assert set(names_of(copy.run_files())) == {"seeds-1-to-3.json", "seeds-4-to-6.json"}
    for folder in COMPARED:
        assert unlike(copy.files(folder), local.files(folder)) == []
    assert "Nothing to be done" in copy.snakemake(FRAMES, "--dry-run", "--config", "seeds_per_job=3")


# Slurm has not started the lost job again itself, Snakemake has: two jobs of three seeds.
@pytest.mark.parametrize(("profile", "state"), [("slurm", "CANCELLED"), ("cluster", "NODE_FAIL")])
def test_a_job_or_a_node_that_is_lost_costs_no_result(local, slurm, tmp_path, profile, state):
    def lose(job):
        slurm.run("scancel", str(job.number)) if profile == "slurm" else slurm.kill(job.node)

    copy = local.copied(tmp_path / "project", made=False)
    lost = run_and_lose_a_job(copy, slurm, profile, lose, tmp_path / "printed.txt")
    check_results(copy, local)
    jobs = slurm.jobs()
    # Which node takes a job depends on how busy the machine is.
    assert set(values_of(jobs, "node")) <= set(NODES)
    states = {job.number: job.state for job in jobs}
    assert states.pop(lost) == state
    assert list(states.values()) == ["COMPLETED"] * 2
    for number, reported in {lost: "failed", **dict.fromkeys(states, "success")}.items():
        assert slurm.run(str(copy / "profiles/cluster/status.sh"), str(number)).strip() == reported
