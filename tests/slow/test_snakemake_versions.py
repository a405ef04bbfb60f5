"""A study with the oldest version of Snakemake that is allowed; all other tests use the newest."""

import os
import shutil
import subprocess
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.version import Version
from tests.lookups import items_by_name
from tests.workflow.project import COMPUTED, FRAMES, ROOT

pytestmark = [pytest.mark.slow, pytest.mark.ci]


def oldest_version():
    """Return the oldest version of Snakemake that the project allows."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pipeline = project["optional-dependencies"]["pipeline"]
    requirements = items_by_name(map(Requirement, pipeline))
    (version,) = [bound.version for bound in requirements["snakemake"].specifier if bound.operator == ">="]
    return version


@pytest.fixture(scope="module")
def oldest(tmp_path_factory):
    """Return a folder with the oldest version of Snakemake, and that version."""
    version = oldest_version()
    folder = tmp_path_factory.mktemp("oldest")
    # `uv run` tells where it is.
    uv = os.environ.get("UV") or shutil.which("uv") or pytest.skip("no uv")
    command = [uv, "pip", "install", "--quiet", "--python", sys.executable]
    command += ["--target", str(folder), f"snakemake=={version}"]
    # In another folder, so that the versions of this project do not bind here.
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"it cannot be installed here: {done.stderr.strip()[-200:]}")
    return folder, version


def test_the_same_bytes_with_the_oldest_version(oldest, finished, empty):
    folder, version = oldest
    environment = {"PYTHONPATH": str(folder)}
    assert empty.snakemake("--version", env=environment).strip() == version
    empty.snakemake(FRAMES, env=environment)
    assert empty.files(*COMPUTED) == finished.files(*COMPUTED)
    assert "Nothing to be done" in empty.snakemake(FRAMES, env=environment)
    # The newest version accepts the results of the oldest.
    assert empty.planned(FRAMES) == {}
    assert Version(version) < Version("9.27")
