"""The pinned environment: one set of versions and digests, for uv, for pip and for conda."""

import re
import runpy
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
UV = PROJECT["tool"]["uv"]
CONDA = YAML(typ="safe").load(ROOT / "environment.yml")
BUILD = PROJECT["dependency-groups"]["build"]
NAME = PROJECT["project"]["name"]
EXTRA_DEPENDENCIES = PROJECT["project"]["optional-dependencies"]
*CONDA_SPECS, CONDA_PIP = CONDA["dependencies"]
needed = runpy.run_path(str(ROOT / "docs/write_notices.py"))["needed"]
PYTHON = (ROOT / ".python-version").read_text(encoding="utf-8").strip()
WORKFLOWS = [f".github/workflows/{name}.yml" for name in ("ci", "release", "scheduled")]
ENTRY = re.compile(r"^(\S[^\n]*?)((?: \\\n {4}--hash=sha256:[0-9a-f]{64})+)\n", re.MULTILINE)


def requirements_by_name(texts):
    """Return parsed requirements by their canonical names."""
    return {canonicalize_name(requirement.name): requirement for requirement in map(Requirement, texts)}


def names_of(texts):
    """Return the names of requirements, of pip or of conda, as they are written."""
    return {re.match(r"[\w.-]+", text)[0] for text in texts}


def all_dependencies():
    """Return all requirements but those for builds, by their texts; an extra may name the package itself."""
    lists = [*EXTRA_DEPENDENCIES.values(), *PROJECT["dependency-groups"].values()]
    texts = {*PROJECT["project"]["dependencies"], *chain(*lists)} - {*BUILD}
    return {text: Requirement(text) for text in sorted(texts) if Requirement(text).name != NAME}


PINS = requirements_by_name(UV["constraint-dependencies"])
DEPENDENCIES = all_dependencies()


def pinned(name):
    (specifier,) = PINS[canonicalize_name(name)].specifier
    assert specifier.operator == "==" and "*" not in specifier.version
    return specifier.version


@pytest.mark.parametrize("dependency", DEPENDENCIES.values(), ids=lambda dependency: dependency.name)
def test_dependency_has_the_same_version_everywhere(dependency):
    version = pinned(dependency.name)
    assert dependency.specifier.contains(version)
    assert f"{dependency.name} =={version}" in CONDA_SPECS


def test_conda_has_nothing_else():
    assert names_of(CONDA_SPECS) - names_of(DEPENDENCIES) == {"python", "pip"}
    assert f"python ={PYTHON}" in CONDA_SPECS and CONDA_PIP == {"pip": ["--editable ."]}
    assert set(CONDA) == {"name", "channels", "dependencies"}


def test_pins_are_complete():
    """Every distribution that the project needs, however indirectly, is pinned."""
    assert needed([*BUILD, *DEPENDENCIES]) <= PINS.keys()


def test_what_builds_the_package_is_pinned():
    """Pip reads nothing but build-system; uv's constraints for builds are those for all else."""
    assert PROJECT["build-system"]["requires"] == BUILD
    for requirement in map(Requirement, [*BUILD, *UV["build-constraint-dependencies"]]):
        assert requirement.specifier == PINS[requirement.name].specifier, requirement


def test_python_is_the_same_everywhere():
    assert Requirement(f"python{PROJECT['project']['requires-python']}").specifier.contains(PYTHON)
    for path in ("containers/Dockerfile", "containers/narxbench.def", *WORKFLOWS):
        text = (ROOT / path).read_text(encoding="utf-8")
        assert {*re.findall(r"\bpython:([\d.]+)", text)} == {PYTHON}, path


def test_uv_is_the_same_everywhere():
    version = UV["required-version"].removeprefix(">=")
    for path in ("README.md", "CONTRIBUTING.md", "docs/cluster.md"):
        text = (ROOT / path).read_text(encoding="utf-8")
        assert {*re.findall(r"pip install (?:--\w+ )*(uv\b[^\s`]*)", text)} == {f"uv=={version}"}, path
    ((requirement, _),) = ENTRY.findall((ROOT / ".ci/uv.txt").read_text(encoding="utf-8"))
    assert requirement == f"uv=={version}"


def locked():
    """Return the requirements in requirements.txt, by name."""
    entries = ENTRY.findall((ROOT / "requirements.txt").read_text(encoding="utf-8"))
    return requirements_by_name(line for line, _ in entries)


def test_requirements_are_pinned_versions_with_digests_and_nothing_else():
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert ENTRY.sub("", text) == ""
    assert not re.search(r"//|@|pypi", text)
    for name, requirement in locked().items():
        assert requirement.specifier == PINS[name].specifier, name


def test_the_core_is_small_and_has_no_pipeline_and_no_plotting():
    core = needed(PROJECT["project"]["dependencies"])
    assert len(core) <= 30
    assert not core & {"snakemake", "matplotlib", "jinja2", "scikit-learn"}
