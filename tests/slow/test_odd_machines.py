"""Machines that lack something, or have something odd: the pipeline runs with the right results, or says why not.

Limits, missing folders and closed streams are real ones: a shell sets them up, then starts the command.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest
from tests.slow.test_disk import read_only
from tests.slow.test_kills import others_of
from tests.workflow.project import FRAMES, LIMIT, TINY, hiding, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.ci]

RUN = "data/tiny/runs/S3/30dB/ga/bic/seed-2.json"
COMMAND = [sys.executable, "-m", "snakemake"]
# A target can follow: after --configfile it would be taken for another file.
SNAKEMAKE = [*COMMAND, "--configfile", "tiny.yaml", "--cores", "2"]
NOWHERE = ["HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "TMPDIR"]
# One of this package that needs another, so that it has a process of its own.
APART = """\
systems: [S3]
snr_db: [30]
seeds: 1
evaluations: 200
methods: {upso2d: {criteria: [bic]}, pymoo-ga: {algorithm: pymoo_ga, criteria: [bic]}}
"""


def shell(script, command, folder, code=0, env=None):
    """Run a command in a folder after a shell has done what a script says; return what it prints."""
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


def reported(printed):
    """Return the one line that tells a mistake."""
    (line,) = re.findall("^narxbench: (.*; (?:allowed|needed): .*)$", printed, re.MULTILINE)
    return line


def programs(folder, *names):
    """Return a folder that has some programs only."""
    folder.mkdir()
    for name in names:
        (folder / name).symlink_to(shutil.which(name))
    return str(folder)


def test_little_of_everything(finished, empty, tmp_path):
    """No home, few open files, 4 GB, one core, few other programs, ASCII only, nobody who reads what is printed."""
    few = programs(tmp_path / "bin", "bash", "sh", "which")
    core = min(os.sched_getaffinity(0))
    limits = f"unset {' '.join(NOWHERE)}; ulimit -n 64 -v 4000000; taskset --pid --cpu-list {core} $$"
    # A text without an encoding of its own would be written or read in ASCII.
    ascii_only = "LC_ALL=C PYTHONCOERCECLOCALE=0 PYTHONUTF8=0"
    shell(f"{limits}; export {ascii_only} PATH={shlex.quote(few)}; exec >&-", SNAKEMAKE, empty.root)
    assert empty.manifest() == finished.manifest()


def test_few_processes_and_no_shared_memory(finished, empty):
    """Limits do not bind root, so that somebody else meets them."""
    apart = ["unshare", "--mount", "bash", "-c", 'mount -t tmpfs -o ro,mode=000 none /dev/shm && exec "$@"', "bash"]
    bounded = [f"--{kind}=-all,+dac_override" for kind in ("inh-caps", "ambient-caps", "bounding-set")]
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *bounded]
    limited = ["bash", "-c", 'ulimit -u 16; exec "$@"', "bash"]
    if subprocess.run(["chown", "-R", "65534", str(empty.root)], capture_output=True).returncode or (
        subprocess.run([*apart, *nobody, *limited, "touch", str(empty.root)], capture_output=True).returncode
    ):
        pytest.skip("nobody can become somebody else here, or file systems cannot be taken away")
    shell("", [*apart, *nobody, *limited, *SNAKEMAKE, FRAMES], empty.root)
    assert empty.files("data/tiny") == finished.files("data/tiny")


def test_a_colon_in_the_path_of_the_folder(finished, tmp_path):
    """Steps and algorithms with a process of their own import this checkout: another one is not to be found."""
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
    assert "found a colon" in reported(shell("", command, tmp_path / "elsewhere", code=1))


def pipe(path):
    os.mkfifo(path)


def endless(path):
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    ("path", "make"),
    [
        ("config/systems/S3.yaml", pipe),
        ("config/paper.yaml", endless),
    ],
)
def test_settings_that_are_no_file(copy, monkeypatch, path, make):
    """It is reported at the start: to read it would never end."""
    monkeypatch.chdir(copy.root)
    (copy / path).unlink()
    make(copy / path)
    printed = copy.snakemake(code=1)
    assert f"{path}: cannot be read: not a regular file" in printed, printed
    assert not copy.locked()


def test_a_folder_that_cannot_be_written(empty):
    with read_only(empty.root):
        for option in ("--cores=2", "--dry-run"):
            assert "cannot be written: Read-only file system" in empty.snakemake(option, code=1)


def test_repeated_interrupts(finished, tmp_path):
    """All but the first change nothing."""
    copy = finished.copied(tmp_path / "project", made=False).with_study("long", TINY.replace("200", "60000"))
    with copy.under_way("--cores", "2") as begun:
        wait_for(copy.run_files, "the first run file")
        for _ in range(9):
            os.killpg(begun.pid, signal.SIGINT)
            time.sleep(0.02)
        printed, _ = begun.communicate(timeout=LIMIT)
        assert others_of(begun.pid) == []
    assert begun.returncode == 1
    assert "Traceback" not in printed, printed
    assert not copy.locked()


def test_streams_that_nobody_holds(empty):
    for stream in ("2>&-", "2>/dev/full"):
        shell(f"exec {stream}", SNAKEMAKE, empty.root, code=1)
    assert empty.run_files() == [] and not empty.locked()


@pytest.fixture(scope="module")
def identify(tmp_path_factory):
    """A command that identifies a model, its folder, and what it prints."""
    folder = tmp_path_factory.mktemp("identify")
    values, rows = [0.0, 0.0], ["u,y"]
    for k in range(200):
        u = (k * k % 17) / 17 - 0.5
        rows.append(f"{u!r},{values[-1]!r}")
        values.append(0.5 * values[-1] + u)
    (folder / "data.csv").write_text("\n".join(rows) + "\n")
    command = [sys.executable, "-m", "narxbench.cli", "identify", "data.csv", "--output", "y", "--input", "u"]
    command += ["--degree", "1", "--y-lags", "1", "--u-lags", "1", "--decimation", "1", "--json"]
    return command, folder, shell("", command, folder)


@pytest.mark.parametrize(
    "odd",
    [
        f"export {' '.join(f'{name}=/dev/null/x' for name in NOWHERE)} LC_ALL=xx_YY.odd PATH=/nowhere",
        f"unset {' '.join(NOWHERE)}; ulimit -n 16 -v 4000000; exec 2>&-",
    ],
)
def test_identify_on_a_poor_machine(identify, odd):
    command, folder, right = identify
    assert right in shell(odd, command, folder)


@pytest.mark.parametrize(
    ("odd", "line"),
    [
        ("exec >&-", "standard output: found closed; allowed: open, or >/dev/null"),
        ("exec >/dev/full", "standard output: cannot be written: No space left on device; needed: room for it"),
        ("rm data.csv; mkfifo data.csv", "data.csv: cannot be read: not a regular file"),
    ],
)
def test_identify_tells_why_not(identify, tmp_path, odd, line):
    command, folder, _ = identify
    copy = shutil.copytree(folder, tmp_path / "copy")
    assert shell(odd, command, copy, code=2) == f"narxbench: {line}\n"
