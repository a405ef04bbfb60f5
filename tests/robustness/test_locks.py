"""The lock of a folder: who has it, and what to do."""

import re

from tests.robustness.pipelines import LOCKED, SMALL_RUN, UNLOCK, differences, send, started, wait_for


def locked(project):
    """Whether a pipeline holds the lock of the project's folder."""
    return any((project / ".snakemake/locks").glob("*.lock"))


def test_two_pipelines_in_one_folder(undisturbed, clean):
    with started(clean, *SMALL_RUN) as first:
        wait_for(lambda: locked(clean), first)
        printed = clean.snakemake(*SMALL_RUN, code=1)
        assert first.poll() is None
        told = f"narxbench: snakemake is already making these files in this folder, as process {first.pid}; wait until"
        assert told in printed
        assert UNLOCK not in printed
        assert "Traceback" not in printed and "LockException" not in printed
        first.communicate()
    assert first.returncode == 0
    assert differences(clean, undisturbed[1]) == []


def test_two_pipelines_at_the_same_moment(undisturbed, clean):
    with started(clean, *SMALL_RUN) as first, started(clean, *SMALL_RUN) as second:
        printed = [process.communicate()[0] for process in (first, second)]
    # Both may have looked for a lock before either had set it.
    assert 0 in (first.returncode, second.returncode), printed
    assert not any("--unlock" in text for text in printed)
    clean.snakemake(*SMALL_RUN)
    assert differences(clean, undisturbed[1]) == []


def test_lock_of_a_killed_pipeline(undisturbed, clean):
    with started(clean, *SMALL_RUN) as process:
        wait_for(lambda: (clean / "data/runs/S1").exists(), process)
        send(process, "SIGKILL")
        process.wait()
        printed = clean.snakemake(*SMALL_RUN, code=1)
        assert LOCKED in printed
        assert re.search(rf"^    {UNLOCK}$", printed, re.MULTILINE)
        assert "Traceback" not in printed and "LockException" not in printed
        clean.snakemake(*UNLOCK.split()[1:])
    clean.snakemake(*SMALL_RUN)
    assert differences(clean, undisturbed[1]) == []
