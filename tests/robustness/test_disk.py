"""A disk that is full and folders that cannot be written: one line that says so, and nothing wrong or half-written.

The small and the read-only file systems are real ones, which root can mount.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.robustness.kills import count_runs, is_locked
from tests.robustness.outcomes import told, wrong_results
from tests.robustness.pipelines import COMMAND, QUICK, Copy, differences
from tests.workflow.project import RESULTS

REMEDY = "; needed: room on the disk and a folder that may be written to"
FULL = "cannot be written: No space left on device"
READ_ONLY = "cannot be written: Read-only file system"
RUN = "data/runs/S3/30dB/ga/bic/seed-2.json"
BLOCK = 4096  # bytes, of which a file takes a whole number


def mounted(folder: Path, *options: str) -> None:
    subprocess.run(["mount", *options, str(folder)], check=True, capture_output=True)


def unmounted(folder: Path) -> None:
    # Lazily: it must not stay because something still looks into it.
    subprocess.run(["umount", "--lazy", str(folder)], check=True, capture_output=True)


@pytest.fixture(scope="module")
def mounts(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What needs the right to mount file systems; root has it, but for containers that withhold it."""
    folder = tmp_path_factory.mktemp("mount")
    if os.geteuid() != 0:
        pytest.skip("only root can make a small or a read-only file system")
    try:
        mounted(folder, "-t", "tmpfs", "tmpfs")
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no file system can be mounted here: {error}")
    unmounted(folder)


class Disk:
    """A small file system that is filled up to a number of free bytes."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def free(self) -> int:
        state = os.statvfs(self.root)
        return state.f_bavail * state.f_frsize

    def leave(self, size: int) -> None:
        """Fill the disk but for ``size`` bytes."""
        ballast = self.root / "ballast"
        ballast.unlink(missing_ok=True)
        with ballast.open("wb") as stream:
            os.posix_fallocate(stream.fileno(), 0, self.free() - size)
        assert abs(self.free() - size) < 2 * BLOCK

    def clear(self) -> None:
        (self.root / "ballast").unlink()


@pytest.fixture
def disk(mounts: None, tmp_path: Path) -> Iterator[Disk]:
    """A file system with room for the project and its results, and some more."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted(folder, "-t", "tmpfs", "-o", "size=128m", "tmpfs")
    try:
        yield Disk(folder)
    finally:
        unmounted(folder)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Make a folder one that cannot be written, not even by root."""
    mounted(folder, "--bind", str(folder))
    try:
        mounted(folder, "-o", "remount,bind,ro")
        yield
    finally:
        unmounted(folder)


def still_right(copy: Copy, ordinary: Copy) -> None:
    assert wrong_results(copy, ordinary) == set()
    assert not is_locked(copy)


@pytest.mark.ci
def test_disk_of_the_results_that_fills_up(ordinary: Copy, disk: Disk, tmp_path: Path) -> None:
    """Full in the searches, then in the reports: the file that found no room is named, and the command goes on."""
    copy = ordinary.copied(tmp_path / "project", made=False)
    for folder in ("data/runs", "reports"):
        (disk.root / folder).mkdir(parents=True)
        (copy / folder).symlink_to(disk.root / folder)
    runs = count_runs(ordinary)

    disk.leave(runs // 2 * BLOCK)
    files = told(copy.make("reports/tables/cells.csv", *COMMAND, code=1), REMEDY)
    assert set(files.values()) == {FULL}
    assert {path.split("/")[1] for path in files} == {"runs"}
    assert 0 < count_runs(copy) < runs
    still_right(copy, ordinary)

    tables, figure = "reports/tables/selection_frequency.csv", "reports/figures/convergence.svg"
    disk.leave((runs - count_runs(copy)) * BLOCK + (ordinary / tables).stat().st_size // 2)
    files = told(copy.make(tables, figure, *COMMAND, "--keep-going", code=1), REMEDY)
    assert set(files.values()) == {FULL}
    assert tables in files
    assert {path.split("/")[0] for path in files} == {"reports"}
    assert count_runs(copy) == runs
    assert not (copy / tables).exists()
    still_right(copy, ordinary)

    disk.clear()
    copy.make(*COMMAND)
    assert differences(ordinary, copy) == []


@pytest.mark.ci
def test_disk_of_the_whole_project_that_fills_up(ordinary: Copy, disk: Disk) -> None:
    """Snakemake's own files find no room either: before the start, and in the searches."""
    copy = ordinary.copied(disk.root / "project", made=False)
    table = "reports/tables/cells.csv"

    disk.leave(0)
    assert told(copy.make(table, *COMMAND, code=1), REMEDY)[".snakemake"] == FULL
    assert copy.contents(*RESULTS) == {}

    # A run makes three files: itself, its time and Snakemake's record.
    disk.leave(2 * count_runs(ordinary) * BLOCK)
    printed = copy.make(table, *COMMAND, code=1)
    of_snakemake = printed.count("No space left on device). Please ensure write permissions for the directory ")
    assert len(told(printed, REMEDY)) + of_snakemake > 0
    assert 0 < count_runs(copy) < count_runs(ordinary)
    still_right(copy, ordinary)

    disk.clear()
    copy.make(table, *COMMAND)
    assert (copy / table).read_bytes() == (ordinary / table).read_bytes()
    still_right(copy, ordinary)


@pytest.mark.ci
def test_folders_that_cannot_be_written(ordinary: Copy, complete: Copy, mounts: None) -> None:
    """Read-only: a folder of runs, Snakemake's own, and one in which a folder is to be made."""
    (complete / RUN).unlink()
    with read_only((complete / RUN).parent):
        assert told(complete.make(*COMMAND, code=1), REMEDY) == {RUN: READ_ONLY}
    still_right(complete, ordinary)

    with read_only(complete / ".snakemake"):
        ((file, words),) = told(complete.make(*COMMAND, code=1), REMEDY).items()
        assert words == READ_ONLY
        assert Path(file).is_relative_to(complete / ".snakemake")
    still_right(complete, ordinary)

    folder = (complete / RUN).parent
    shutil.rmtree(folder)
    with read_only(folder.parent):
        printed = complete.make(*COMMAND, code=1)
    assert "Traceback" not in printed
    assert f"\nFailed to create output directory {Path(RUN).parent}.\nOSError: [Errno 30] Read-only file sys" in printed
    still_right(complete, ordinary)

    complete.make(*COMMAND)
    assert differences(ordinary, complete) == []


@pytest.mark.ci
def test_results_that_cannot_be_replaced(ordinary: Copy, complete: Copy, mounts: None) -> None:
    """Files that are there and out of date are named as write-protected before anything is computed."""
    complete.write("mine.yaml", "statistics: {threshold: 0.8}\n")
    for folder in ("data", "reports"):
        with read_only(complete / folder):
            printed = complete.snakemake("--keep-going", *QUICK, "mine.yaml", code=1)
        assert "Traceback" not in printed
        assert "\nWrite-protected output files for rule " in printed
        assert f"    affected files:\n        {folder}/" in printed
        still_right(complete, ordinary)
    assert complete.planned(*QUICK) == {}
