"""Disks that are full and folders that cannot be written to. Mounts need root: without it these tests are skipped."""

import contextlib
import re
import resource
import shutil
import subprocess
import sys

import pytest
from tests.robustness.pipelines import LOCKED, SMALL_RUN, differences, leftovers_of
from tests.workflow.project import Project

from narxbench.errors import NarxbenchError
from narxbench.files import write_atomically

RUNS = "data/runs/S1/30dB/upso2d/bic"


@contextlib.contextmanager
def mounted(path, *arguments):
    """Mount something on a folder; a machine that does not allow it skips the test."""
    done = subprocess.run(["mount", *arguments, str(path)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"mount is not allowed here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)


def remount(path, options):
    subprocess.run(["mount", "-o", f"remount,{options}", str(path)], check=True)


@pytest.fixture
def disk(tmp_path):
    """A disk of 1 MB."""
    path = tmp_path / "disk"
    path.mkdir()
    with mounted(path, "-t", "tmpfs", "-o", "size=1m", "tmpfs"):
        yield path


def test_write_to_a_full_disk(disk):
    write_atomically(disk / "before.json", "whole")
    with pytest.raises(NarxbenchError, match=r"large\.json: cannot be written: No space left on device; needed: room"):
        write_atomically(disk / "large.json", "x" * 2**21)
    with pytest.raises(NarxbenchError, match=r"before\.json: cannot be written"):
        write_atomically(disk / "before.json", "x" * 2**21)
    assert [path.name for path in disk.iterdir()] == ["before.json"]
    assert (disk / "before.json").read_text(encoding="utf-8") == "whole"


LIMITED = """
import sys
from narxbench.files import write_atomically
try:
    write_atomically(sys.argv[1], "x" * 10_000)
except ValueError as error:
    print(error)
"""


def test_write_beyond_the_quota(tmp_path):
    """The same on any machine: here the system limits the size of a file."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path / "run.json")],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith(f"{tmp_path / 'run.json'}: cannot be written: File too large; needed: room on the")
    assert list(tmp_path.iterdir()) == []


def test_write_where_a_file_is_in_the_way(tmp_path):
    (tmp_path / "runs").write_text("a file", encoding="utf-8")
    with pytest.raises(NarxbenchError, match=r"runs/run\.json: cannot be written: "):
        write_atomically(tmp_path / "runs/run.json", "{}")


def test_disk_of_the_runs_is_full(undisturbed, clean):
    runs = clean / "data/runs"
    runs.mkdir(parents=True)
    # Room for some of the four run files.
    with mounted(runs, "-t", "tmpfs", "-o", "size=8k", "tmpfs"):
        printed = clean.snakemake(*SMALL_RUN, code=1)
        told = rf"^{RUNS}/seed-\d\.json: cannot be written: No space left on device; needed: room on the disk "
        assert re.search(told, printed, re.MULTILINE), printed
        assert "Traceback" not in printed
        assert leftovers_of(clean) == []
        assert differences(clean, undisturbed[1], complete=False) == []
        assert not (clean / "data/cells").exists()
        remount(runs, "size=1m")
        clean.snakemake(*SMALL_RUN)
        assert differences(clean, undisturbed[1]) == []


def test_disk_of_the_whole_project_is_full(undisturbed, clean, tmp_path):
    """Snakemake's own notes do not fit either: whatever it says, the command goes on once there is room."""
    folder = tmp_path / "disk"
    folder.mkdir()
    with mounted(folder, "-t", "tmpfs", "-o", "size=64m", "tmpfs"):
        project = Project(shutil.copytree(clean.root, folder / "project"))
        # Room for the first results.
        free = shutil.disk_usage(folder).free
        (folder / "other").write_bytes(b"x" * (free - 96 * 1024))
        printed = project.snakemake(*SMALL_RUN, code=1)
        assert "No space left on device" in printed
        assert differences(project, undisturbed[1], complete=False) == []
        (folder / "other").unlink()
        if LOCKED in project.snakemake("--dry-run", *SMALL_RUN):
            project.snakemake("--unlock")
        project.snakemake(*SMALL_RUN)
        assert differences(project, undisturbed[1]) == []


def test_folder_that_cannot_be_written_to(undisturbed, complete):
    runs = complete / "data/runs"
    (complete / RUNS / "seed-2.json").unlink()
    with mounted(runs, "--bind", str(runs)):
        remount(runs, "bind,ro")
        printed = complete.snakemake(*SMALL_RUN, code=1)
        told = rf"^{RUNS}/seed-2\.json: cannot be written: Read-only file system; needed: .*a folder that may be"
        assert re.search(told, printed, re.MULTILINE), printed
        assert "Traceback" not in printed
        assert differences(complete, undisturbed[1], complete=False) == []
    complete.snakemake(*SMALL_RUN)
    assert differences(complete, undisturbed[1]) == []
