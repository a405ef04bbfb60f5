"""What the container recipes do: the script that they run, on this machine, and the recipes themselves as texts."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.workflow.project import ROOT, Copy, differences

DOCKERFILE = (ROOT / "containers/Dockerfile").read_text(encoding="utf-8")
APPTAINER = (ROOT / "containers/narxbench.def").read_text(encoding="utf-8")
SCRIPT = "containers/install.sh"

# Where packages come from and whom to trust with them is the one thing that the script takes from the environment.
INDEX = re.compile(r"(PIP|UV)_\w*(INDEX|LINKS|CERT|TLS)\w*|SSL_CERT_\w+|\w+_PROXY", re.IGNORECASE)
# The words of pip and of uv.
NO_INDEX = re.compile(r"satisfies the requirement uv|Failed to fetch|error sending request")


def section(name: str) -> list[str]:
    """Return the lines of a section of the Apptainer recipe."""
    found = re.search(rf"^%{name}\n((?: +.*\n|\n)*)", APPTAINER, re.MULTILINE)
    assert found
    return [line.strip() for line in found[1].splitlines() if line.strip()]


def docker(instruction: str) -> list[str]:
    return re.findall(rf"^{instruction} (.*)$", DOCKERFILE, re.MULTILINE)


def docker_copies() -> list[tuple[str, str]]:
    copies = []
    for line in docker("COPY"):
        *sources, target = line.split()
        copies += [(source, target + Path(source).name if target.endswith("/") else target) for source in sources]
    return copies


def apptainer_copies() -> list[tuple[str, str]]:
    return [(source, target) for source, target in (line.split() for line in section("files"))]


def tree(root: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return mode, time and content of every file."""
    files = (path for path in root.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_mode, path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def test_both_recipes_run_the_script_and_nothing_else() -> None:
    commands = [f"sh /build/{SCRIPT} /opt/narxbench", "rm -rf /build"]
    assert docker("RUN") == [" && ".join(commands)]
    assert section("post") == commands
    assert docker("ENV") == ["PATH=/opt/narxbench/bin:$PATH"]
    assert section("environment") == ["export PATH=/opt/narxbench/bin:$PATH"]
    (image,) = docker("FROM")
    assert f"\nBootstrap: docker\nFrom: {image}\n" in APPTAINER


def test_both_recipes_copy_what_the_script_needs_and_nothing_else() -> None:
    needed = set(re.findall(r'"\$checkout/([^"]+)"', (ROOT / SCRIPT).read_text(encoding="utf-8"))) | {SCRIPT}
    assert len(needed) > 5
    wanted = sorted((source, f"/build/{source}") for source in needed)
    assert sorted(docker_copies()) == wanted
    assert sorted(apptainer_copies()) == wanted


@pytest.mark.ci
def test_installed_environment_makes_the_same_results(local: Copy, tmp_path: Path) -> None:
    """With nothing of this environment but its Python, by that alone, and with searches that it compiles."""
    clone = Copy.of_checkout(tmp_path / "clone", local.overlays)
    before = tree(clone.root)
    programs = tmp_path / "programs"
    programs.mkdir()
    version = ".".join(map(str, sys.version_info[:2]))
    (programs / "python3").symlink_to(Path(sys.base_prefix, "bin", f"python{version}"))
    folder = tmp_path / "environment"
    environment = {name: value for name, value in os.environ.items() if INDEX.fullmatch(name)}
    environment["PATH"] = f"{programs}:{os.defpath}"
    done = run(["sh", str(clone / SCRIPT), str(folder)], tmp_path, environment)
    if done.returncode and NO_INDEX.search(done.stdout):
        pytest.skip(f"no package index: {done.stdout}")
    assert done.returncode == 0, done.stdout
    assert tree(clone.root) == before

    clone.write("small.yaml", (local / "small.yaml").read_text(encoding="utf-8"))
    command = ["snakemake", "--cores", "2", *local.overlays]
    done = run(command, clone.root, {"PATH": f"{folder / 'bin'}:{os.defpath}"})
    assert done.returncode == 0, done.stdout
    assert differences(local, clone) == []


def run(command: list[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
