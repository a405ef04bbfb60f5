"""The container recipes: the script that they run works here, and their texts and digests are right."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.workflow.project import COMPUTED, FRAMES, ROOT, Project

pytestmark = pytest.mark.slow

DOCKERFILE = (ROOT / "containers/Dockerfile").read_text(encoding="utf-8")
APPTAINER = (ROOT / "containers/narxbench.def").read_text(encoding="utf-8")
REQUIREMENTS = (ROOT / "requirements.txt").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SCRIPT = "containers/install.sh"
# Where packages come from and whom to trust with them is the one thing that the script takes from the environment.
INDEX = re.compile(r"(PIP|UV)_\w*(INDEX|LINKS|CERT|TLS)\w*|SSL_CERT_\w+|\w+_PROXY", re.IGNORECASE)
# The words of pip, and of uv.
NO_INDEX = re.compile("from versions: none|Failed to fetch|error sending request")


def section(name):
    """Return the lines of a section of the Apptainer recipe."""
    (text,) = re.findall(rf"^%{name}\n((?: +.*\n|\n)*)", APPTAINER, re.MULTILINE)
    return re.findall(r"^ +(.*\S)", text, re.MULTILINE)


def test_both_recipes_run_the_script_on_the_same_image():
    commands = [f"sh /build/{SCRIPT} /opt/narxbench", "rm -rf /build"]
    assert re.findall("^RUN (.*)$", DOCKERFILE, re.MULTILINE) == [" && ".join(commands)]
    assert section("post") == commands
    (image,) = re.findall("^FROM (.*)$", DOCKERFILE, re.MULTILINE)
    tag, digest = image.split("@")
    assert re.fullmatch("sha256:[0-9a-f]{64}", digest)
    assert f"# {tag}, " in APPTAINER
    # Apptainer takes no image with both a tag and a digest.
    assert f"\nBootstrap: docker\nFrom: {tag.split(':')[0]}@{digest}\n" in APPTAINER


def docker_copies():
    """Return each copy of the Docker recipe as its source and its whole target, sorted."""
    copies = []
    for line in re.findall("^COPY (.*)$", DOCKERFILE, re.MULTILINE):
        *sources, target = line.split()
        for source in sources:
            name = Path(source).name if target.endswith("/") else ""
            copies.append(f"{source} {target}{name}")
    return sorted(copies)


def test_both_recipes_copy_the_files_that_the_script_needs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    documents = {project["project"]["readme"], *project["project"]["license-files"]}
    needed = {"pyproject.toml", "requirements.txt", "src", SCRIPT} | documents | included.keys()
    copies = sorted(f"{source} /build/{source}" for source in needed)
    assert docker_copies() == copies
    assert sorted(section("files")) == copies


def run(command, folder, environment=None):
    """Run a command to its good end, or skip where packages are not to be had."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run(command, cwd=folder, env=environment, **pipes)
    if done.returncode and NO_INDEX.search(done.stdout):
        pytest.skip(f"no package index: {done.stdout}")
    assert done.returncode == 0, done.stdout


@pytest.mark.ci
def test_installed_environment_makes_the_same_results(finished, tmp_path):
    """The environment has only the Python of this one, and compiles the functions itself."""
    clone = Project.of_checkout(tmp_path / "clone")
    for path in clone.root.glob("src/**/*.nb[ic]"):
        path.unlink()
    before = clone.files(".")
    # Nothing of this environment but its Python is there.
    (tmp_path / "programs").mkdir()
    version = ".".join(map(str, sys.version_info[:2]))
    (tmp_path / "programs/python3").symlink_to(Path(sys.base_prefix, "bin", f"python{version}"))
    environment = {name: value for name, value in os.environ.items() if INDEX.fullmatch(name)}
    environment["PATH"] = f"{tmp_path / 'programs'}:{os.defpath}"
    run(["sh", str(clone / SCRIPT), str(tmp_path / "environment")], tmp_path, environment)
    assert clone.files(".") == before
    command = ["snakemake", FRAMES, "--cores", "2", "--configfile", "tiny.yaml"]
    run(command, clone.root, {"PATH": f"{tmp_path / 'environment/bin'}:{os.defpath}"})
    results, expected = clone.files(*COMPUTED), finished.files(*COMPUTED)
    assert len(results) > 20
    for path, content in results.items():
        assert content == expected[path], path


def requirements(text):
    """Return the digests of each requirement; without line breaks in between, one line is one requirement."""
    lines = [line.split(" --hash=sha256:") for line in text.replace(" \\\n    ", " ").splitlines()]
    return {requirement: set(digests) for requirement, *digests in lines}


@pytest.mark.ci
def test_requirements_are_those_that_the_registry_gives(tmp_path):
    """The registry may have more files by now, such as those for a new Python, with other digests."""
    (command,) = re.findall("^python3 -m uv (export .*) --output-file requirements.txt$", CONTRIBUTING, re.MULTILINE)
    for name in ("pyproject.toml", ".python-version"):
        shutil.copy(ROOT / name, tmp_path)
    uv = os.environ.get("UV") or shutil.which("uv") or pytest.skip("no uv")
    run([uv, *command.split(), "--output-file", "output"], tmp_path)
    kept = requirements(REQUIREMENTS)
    exported = requirements((tmp_path / "output").read_text(encoding="utf-8"))
    assert kept.keys() == exported.keys()
    for requirement, digests in kept.items():
        assert digests <= exported[requirement], requirement
