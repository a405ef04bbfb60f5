"""A study with the oldest version of Snakemake that is allowed; all other tests use the newest."""

import os
import shutil
import subprocess
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.version import Version
from tests.workflow.project import FRAMES, ROOT

pytestmark = [pytest.mark.slow, pytest.mark.ci]


@pytest.fixture(scope="module")
def oldest(tmp_path_factory):
    """A folder with the oldest version of Snakemake, and that version."""
    pipeline = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["pipeline"]
    (allowed,) = (each for each in map(Requirement, pipeline) if each.name == "snakemake")
    (version,) = (each.version for each in allowed.specifier if each.operator == ">=")
    folder = tmp_path_factory.mktemp("oldest")
    # `uv run` tells where it is.
    uv = os.environ.get("UV") or shutil.which("uv") or pytest.skip("no uv")
    command = [uv, "pip", "install", "--quiet", "--python", sys.executable]
    command += ["--target", str(folder), f"snakemake=={version}"]
    # Elsewhere, as the versions of this project do not bind here.
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"it cannot be installed here: {done.stderr.strip()[-200:]}")
    return folder, version


def test_the_same_bytes_with_the_oldest_version(oldest, finished, empty):
    folder, version = oldest
    environment = {"PYTHONPATH": str(folder)}
    assert empty.snakemake("--version", env=environment).strip() == version
    empty.snakemake(FRAMES, env=environment)
    assert empty.files("data/tiny") == finished.files("data/tiny")
    assert "Nothing to be done" in empty.snakemake(FRAMES, env=environment)
    # What one version has made is known to another.
    assert empty.planned(FRAMES) == {}
    assert Version(version) < Version("9.27")
