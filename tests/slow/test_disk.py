"""A disk that is full and folders that cannot be written: one line that says so, and nothing wrong or half-written.

The small and the read-only file systems are real ones, which root can mount.
"""

import os
import re
import subprocess
from contextlib import contextmanager

import pytest
from tests.workflow.project import FRAMES, LIMIT

pytestmark = [pytest.mark.slow, pytest.mark.ci]

REMEDY = "; needed: room on the disk and a folder that may be written to"
RUN = "data/tiny/runs/as-described/data-1/S3/30dB/ga/bic/seed-2.json"


def failures(printed):
    """Return the reason why each file could not be written."""
    return dict(re.findall(rf"^narxbench: (\S+): (.*){re.escape(REMEDY)}$", printed, re.MULTILINE))


@contextmanager
def mounted(folder, *options):
    """Mount a file system, or skip where nobody may."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", *options, str(folder)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield
    finally:
        # Lazily: it must not stay because something still looks into it.
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def read_only(folder):
    """Make a folder one that cannot be written, not even by root."""
    with mounted(folder, "--bind", str(folder)):
        subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
        yield


def check_finished_files(copy, finished):
    """Check that all files in the copy are those of the complete study, and that it is not locked."""
    expected = finished.files()
    for path, content in copy.files().items():
        assert content == expected.get(path), path
    assert not copy.locked()


def fill(folder, blocks):
    """Fill the disk except for some blocks; a file takes a whole number of them."""
    state = os.statvfs(folder)
    with (folder / "ballast").open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, (state.f_bavail - blocks) * state.f_frsize)


def test_disk_that_fills_up(finished, empty, tmp_path):
    """Searches, then reports, name the file that has no room; when there is room, the command goes on."""
    disk = tmp_path / "disk"
    with mounted(disk, "-t", "tmpfs", "-o", "size=64m", "tmpfs"):
        for folder in ("data/tiny", "reports"):
            (disk / folder).mkdir(parents=True)
            (empty / folder).symlink_to(disk / folder)
        fill(disk, 30)
        reasons = failures(empty.snakemake(code=1))
        assert reasons and set(reasons.values()) == {"cannot be written: No space left on device"}
        check_finished_files(empty, finished)
        (disk / "ballast").unlink()
        empty.snakemake(FRAMES)
        fill(disk, 4)
        reasons = failures(empty.snakemake("--keep-going", code=1))
        # Definitions of steps are written beside reports, when there is still room for one of them.
        assert any(path.startswith("reports/") for path in reasons)
        for path in reasons:
            assert path.startswith(("reports/", "data/tiny/steps/"))
        assert set(reasons.values()) == {"cannot be written: No space left on device"}
        check_finished_files(empty, finished)


def test_folders_that_cannot_be_written(finished, copy):
    (copy / RUN).unlink()
    for folder in (copy / RUN).parent, copy / ".snakemake":
        with read_only(folder):
            # Snakemake, which may write there first, prints lines of its own code.
            with copy.under_way("--cores", "2") as begun:
                printed, _ = begun.communicate(timeout=LIMIT)
            assert begun.returncode == 1 and "Read-only file system" in printed
            assert "narxbench/" not in printed.replace(str(copy.root), "")
        check_finished_files(copy, finished)
    copy.snakemake(RUN)
    assert copy.files("data/tiny/runs") == finished.files("data/tiny/runs")
    with read_only(copy / "reports"):
        printed = copy.snakemake("--config", "statistics={threshold: 0.8}", code=1)
        assert "Write-protected output files" in printed
    assert copy.files("reports") == finished.files("reports")
