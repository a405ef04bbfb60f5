"""Machines that lack something or have something odd: the pipeline gives the right results or reports why it cannot.

Limits, missing folders and closed streams are real ones: a shell sets them up, then starts the command.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from tests.slow.test_disk import read_only
from tests.workflow.project import FRAMES, LIMIT, hiding

pytestmark = [pytest.mark.slow, pytest.mark.ci]

RUN = "data/tiny/runs/S3/30dB/ga/bic/seed-2.json"
COMMAND = [sys.executable, "-m", "snakemake"]
# A target can follow: after --configfile it would be taken for another file.
SNAKEMAKE = [*COMMAND, "--configfile", "tiny.yaml", "--cores", "2"]
NOWHERE = ["HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "TMPDIR"]
# The second algorithm needs another package, so that it has a process of its own.
APART = """\
systems: [S3]
snr_db: [30]
seeds: 1
evaluations: 200
methods: {upso2d: {criteria: [bic]}, pymoo-ga: {algorithm: pymoo_ga, criteria: [bic]}}
"""


def shell(script, command, folder, code=0, env=None):
    """Run a command in a folder after a script of the shell; return what it prints."""
    done = subprocess.run(
        ["bash", "-c", f'{script}\nexec "$@"', "bash", *command],
        cwd=folder,
        env=os.environ | (env or {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    printed = done.stdout + done.stderr
    assert done.returncode == code, printed
    assert "Traceback" not in printed, printed
    return printed


def error_message(printed):
    """Return the only line that reports a mistake."""
    (line,) = re.findall("^narxbench: (.*; (?:allowed|needed): .*)$", printed, re.MULTILINE)
    return line


def programs(folder, *names):
    """Return a folder that has some programs only."""
    folder.mkdir()
    for name in names:
        (folder / name).symlink_to(shutil.which(name))
    return str(folder)


def test_little_of_everything(finished, empty, tmp_path):
    """The pipeline runs with no home, few open files, 4 GB, one core, few programs, ASCII and no standard output."""
    program_folder = programs(tmp_path / "bin", "bash", "sh", "which")
    core = min(os.sched_getaffinity(0))
    limits = f"unset {' '.join(NOWHERE)}; ulimit -n 64 -v 4000000; taskset --pid --cpu-list {core} $$"
    # A text without an encoding of its own would be written or read in ASCII.
    ascii_only = "LC_ALL=C PYTHONCOERCECLOCALE=0 PYTHONUTF8=0"
    shell(f"{limits}; export {ascii_only} PATH={shlex.quote(program_folder)}; exec >&-", SNAKEMAKE, empty.root)
    assert empty.manifest() == finished.manifest()


def test_a_colon_in_the_path_of_the_folder(finished, tmp_path):
    """Steps and algorithms with a process of their own import this checkout, because no other one is installed."""
    copy = finished.copied(tmp_path / "a:b", made=False)
    (tmp_path / "hiding").mkdir()
    environment = hiding(tmp_path / "hiding")
    copy.snakemake(FRAMES, env=environment)
    assert copy.files("data/tiny") == finished.files("data/tiny")
    apart = copy.with_study("apart", APART)
    apart.snakemake("data/apart/conditions/S3/30dB/pymoo-ga/bic.json", env=environment)
    assert b'"failure"' not in apart.run_files()[0].read_bytes()
    (tmp_path / "elsewhere").mkdir()
    command = [*COMMAND, "--cores", "2", "--snakefile", str(copy / "Snakefile")]
    assert "found a colon" in error_message(shell("", command, tmp_path / "elsewhere", code=1))


def test_a_folder_that_cannot_be_written(empty):
    with read_only(empty.root):
        for option in ("--cores=2", "--dry-run"):
            assert "cannot be written: Read-only file system" in empty.snakemake(option, code=1)


def test_streams_that_nobody_holds(empty):
    for stream in ("2>&-", "2>/dev/full"):
        shell(f"exec {stream}", SNAKEMAKE, empty.root, code=1)
    assert empty.run_files() == [] and not empty.locked()
