"""What the container recipes do: the script that they run, on this machine, and the recipes themselves as texts."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.workflow.project import ROOT, Project, unlike

pytestmark = pytest.mark.slow

DOCKERFILE = (ROOT / "containers/Dockerfile").read_text(encoding="utf-8")
APPTAINER = (ROOT / "containers/narxbench.def").read_text(encoding="utf-8")
SCRIPT = "containers/install.sh"
# Where packages come from and whom to trust with them is the one thing that the script takes from the environment.
INDEX = re.compile(r"(PIP|UV)_\w*(INDEX|LINKS|CERT|TLS)\w*|SSL_CERT_\w+|\w+_PROXY", re.IGNORECASE)
# The words of pip and of uv.
NO_INDEX = re.compile(r"satisfies the requirement uv|Failed to fetch|error sending request")


def section(name):
    """Return the lines of a section of the Apptainer recipe."""
    found = re.search(rf"^%{name}\n((?: +.*\n|\n)*)", APPTAINER, re.MULTILINE)
    return [line.strip() for line in found[1].splitlines() if line.strip()]


def test_both_recipes_copy_what_the_script_needs_and_run_it():
    commands = [f"sh /build/{SCRIPT} /opt/narxbench", "rm -rf /build"]
    assert re.findall("^RUN (.*)$", DOCKERFILE, re.MULTILINE) == [" && ".join(commands)]
    assert section("post") == commands
    (image,) = re.findall("^FROM (.*)$", DOCKERFILE, re.MULTILINE)
    assert f"\nBootstrap: docker\nFrom: {image}\n" in APPTAINER
    needed = set(re.findall(r'"\$checkout/([^"]+)"', (ROOT / SCRIPT).read_text(encoding="utf-8"))) | {SCRIPT}
    docker = []
    for line in re.findall("^COPY (.*)$", DOCKERFILE, re.MULTILINE):
        *sources, target = line.split()
        docker += [f"{source} {target}{Path(source).name if target.endswith('/') else ''}" for source in sources]
    assert sorted(docker) == sorted(section("files")) == sorted(f"{source} /build/{source}" for source in needed)


def run(command, folder, environment):
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.run(command, cwd=folder, env=environment, **pipes)


@pytest.mark.ci
def test_installed_environment_makes_the_same_results(finished, tmp_path):
    """With nothing of this environment but its Python, and with functions that it compiles."""
    clone = Project.of_checkout(tmp_path / "clone")
    for path in clone.root.glob("src/**/*.nb[ic]"):
        path.unlink()
    before = clone.files(".")
    (tmp_path / "programs").mkdir()
    version = ".".join(map(str, sys.version_info[:2]))
    (tmp_path / "programs/python3").symlink_to(Path(sys.base_prefix, "bin", f"python{version}"))
    environment = {name: value for name, value in os.environ.items() if INDEX.fullmatch(name)}
    environment["PATH"] = f"{tmp_path / 'programs'}:{os.defpath}"
    done = run(["sh", str(clone / SCRIPT), str(tmp_path / "environment")], tmp_path, environment)
    if done.returncode and NO_INDEX.search(done.stdout):
        pytest.skip(f"no package index: {done.stdout}")
    assert done.returncode == 0, done.stdout
    assert clone.files(".") == before
    command = ["snakemake", "--cores", "2", "--configfile", "tiny.yaml"]
    done = run(command, clone.root, {"PATH": f"{tmp_path / 'environment/bin'}:{os.defpath}"})
    assert done.returncode == 0, done.stdout
    assert unlike(clone.manifest(), finished.manifest()) == []
