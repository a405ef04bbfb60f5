"""Machines that lack something or have something odd: the pipeline gives the right results or reports why it cannot.

Limits, missing folders and closed streams are real ones: a shell sets them up, then starts the command.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from tests.workflow.project import COMPUTED, FRAMES, LIMIT

pytestmark = [pytest.mark.slow, pytest.mark.ci]

COMMAND = [sys.executable, "-m", "snakemake"]
# A target can follow: after --configfile it would be taken for another file.
SNAKEMAKE = [*COMMAND, "--configfile", "tiny.yaml", "--cores", "2"]
NOWHERE = ["HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "TMPDIR"]


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


def test_little_of_everything(finished, empty, tmp_path):
    """The pipeline runs with no home, few open files, 4 GB, one core, few programs, ASCII and no standard output."""
    (tmp_path / "bin").mkdir()
    for name in ("bash", "sh", "which"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    core = min(os.sched_getaffinity(0))
    limits = f"unset {' '.join(NOWHERE)}; ulimit -n 64 -v 4000000; taskset --pid --cpu-list {core} $$"
    # A text without an encoding of its own would be written or read in ASCII.
    ascii_only = "LC_ALL=C PYTHONCOERCECLOCALE=0 PYTHONUTF8=0"
    shell(f"{limits}; export {ascii_only} PATH={shlex.quote(str(tmp_path / 'bin'))}; exec >&-", SNAKEMAKE, empty.root)
    assert empty.manifest() == finished.manifest()


def test_a_colon_in_the_path_of_the_folder(finished, tmp_path):
    copy = finished.copied(tmp_path / "a:b", made=False)
    copy.snakemake(FRAMES)
    assert copy.files(*COMPUTED) == finished.files(*COMPUTED)


def test_streams_that_nobody_holds(empty):
    for stream in ("2>&-", "2>/dev/full"):
        shell(f"exec {stream}", SNAKEMAKE, empty.root, code=1)
    assert empty.run_files() == [] and not empty.locked()


SETTINGS = "--input u --output y --degree 1 --y-lags 1 --u-lags 1 --decimation 1 --effort 0.1"
IDENTIFY = [sys.executable, "-m", "narxbench", "identify", "data.csv", *SETTINGS.split()]


def write_data(folder):
    k = np.arange(200)
    pd.DataFrame({"u": 17 * k % 29 / 29, "y": 23 * k % 31 / 31}).to_csv(folder / "data.csv", index=False)


# Python executes this file in every process.
WRONG_CLOCK = "import time; real = time.time; time.time = lambda: real() - 3.0e9"


def test_an_identification_gives_the_same_bytes(tmp_path):
    """Or one line; what differs is the environment alone: all of it at once, as nothing of it may matter."""
    write_data(tmp_path)
    (tmp_path / "sitecustomize.py").write_text(WRONG_CLOCK)
    command = [*IDENTIFY, "--json"]

    def printed(script="true", **variables):
        # Another home has compiled code of its own.
        return re.sub("narxbench: compiling .*\n", "", shell(script, command, tmp_path, env=variables))

    expected = printed()
    assert '"terms"' in expected
    # Without docstrings (2), which are a part of what identifies compiled code, all of it would be compiled again.
    odd = {"PYTHONOPTIMIZE": "1", "PYTHONPATH": str(tmp_path), "PYTHONHASHSEED": "7"}
    assert printed("ulimit -n 16; unset HOME TMPDIR; export LC_ALL=C", **odd) == expected
    refused = shell("true", command, tmp_path, code=2, env={"NUMBA_DISABLE_JIT": "1", "PYTHONOPTIMIZE": "2"})
    assert re.search("^narxbench: NUMBA_DISABLE_JIT: found 1; allowed: ", refused, re.MULTILINE)
