"""A study with the oldest version of Snakemake that is allowed; all other tests use the newest."""

import subprocess
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.version import Version
from tests.workflow.project import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def oldest(tmp_path_factory):
    """A folder with the oldest version of Snakemake, and that version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (allowed,) = (each for each in map(Requirement, project["dependencies"]) if each.name == "snakemake")
    (version,) = (each.version for each in allowed.specifier if each.operator == ">=")
    folder = tmp_path_factory.mktemp("oldest")
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", sys.executable]
    done = subprocess.run([*command, "--target", str(folder), f"snakemake=={version}"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"it cannot be installed here: {done.stderr.strip()[-200:]}")
    return folder, version


def test_the_same_bytes_with_the_oldest_version(oldest, finished, empty):
    folder, version = oldest
    environment = {"PYTHONPATH": str(folder)}
    assert empty.snakemake("--version", env=environment).strip() == version
    empty.snakemake(env=environment)
    assert empty.manifest() == finished.manifest()
    assert "Nothing to be done" in empty.snakemake(env=environment)
    # What one version has made is known to another.
    assert empty.planned() == {}
    assert Version(version) < Version("9.27")
