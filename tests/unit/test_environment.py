"""The pinned environment: one set of versions and digests, for uv, for pip and for conda."""

import re
import runpy
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from ruamel.yaml import YAML

from narxbench.io.extras import EXTRAS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
UV = PROJECT["tool"]["uv"]
CONDA = YAML(typ="safe").load(ROOT / "environment.yml")
PINS = {canonicalize_name(pin.name): pin for pin in map(Requirement, UV["constraint-dependencies"])}
BUILD = PROJECT["dependency-groups"]["build"]
GROUPS = [
    PROJECT["project"]["dependencies"],
    *PROJECT["project"]["optional-dependencies"].values(),
    *(group for group in PROJECT["dependency-groups"].values() if group != BUILD),
]
NAME = PROJECT["project"]["name"]
# An extra may name others of the package itself.
DEPENDENCIES = {text: Requirement(text) for group in GROUPS for text in group if Requirement(text).name != NAME}
CONDA_SPECS = [spec for spec in CONDA["dependencies"] if isinstance(spec, str)]
needed = runpy.run_path(str(ROOT / "docs/write_notices.py"))["needed"]
PYTHON = (ROOT / ".python-version").read_text(encoding="utf-8").strip()
ENTRY = re.compile(r"^(\S[^\n]*?)((?: \\\n {4}--hash=sha256:[0-9a-f]{64})+)\n", re.MULTILINE)


def pinned(name):
    (specifier,) = PINS[canonicalize_name(name)].specifier
    assert specifier.operator == "==" and "*" not in specifier.version
    return specifier.version


@pytest.mark.parametrize("dependency", DEPENDENCIES.values(), ids=lambda dependency: dependency.name)
def test_dependency_has_the_same_version_everywhere(dependency):
    version = pinned(dependency.name)
    assert dependency.specifier.contains(version)
    assert f"{dependency.name} =={version}" in CONDA_SPECS


def test_the_environment_of_steps_is_a_part_of_that_of_conda():
    steps = YAML(typ="safe").load(ROOT / "workflow/envs/narxbench.yaml")
    assert steps["channels"] == CONDA["channels"]
    assert set(steps["dependencies"]) <= set(CONDA_SPECS)
    extras = PROJECT["project"]["optional-dependencies"]
    run = {Requirement(text).name for text in [*PROJECT["project"]["dependencies"], *extras["report"]]}
    run |= {Requirement(text).name for text in extras["pipeline"]} - {NAME}
    assert {spec.split()[0] for spec in steps["dependencies"]} == {"python", *run}


def test_conda_has_nothing_else():
    assert {spec.split()[0] for spec in CONDA_SPECS} - {each.name for each in DEPENDENCIES.values()} == {
        "python",
        "pip",
    }
    assert f"python ={PYTHON}" in CONDA_SPECS and {"pip": ["--editable ."]} in CONDA["dependencies"]
    assert set(CONDA) == {"name", "channels", "dependencies"}


def test_running_environment_has_the_pinned_versions():
    running = {canonicalize_name(found.metadata["Name"]): found.version for found in metadata.distributions()}
    differing = {name: version for name, version in running.items() if name in PINS and version != pinned(name)}
    if any(canonicalize_name(dependency.name) in differing for dependency in DEPENDENCIES.values()):
        pytest.skip(f"not running under the pins: {differing}")
    assert differing == {}


def test_pins_are_complete():
    """Every distribution that the project needs, however indirectly, is pinned."""
    assert needed([*BUILD, *DEPENDENCIES]) <= PINS.keys()


def test_what_builds_the_package_is_pinned():
    """Also for pip, which reads nothing but build-system; uv's constraints for builds are those for all else."""
    assert PROJECT["build-system"]["requires"] == BUILD
    assert all(Requirement(text).specifier == PINS[Requirement(text).name].specifier for text in BUILD)
    constraints = {pin.name: pin for pin in map(Requirement, UV["build-constraint-dependencies"])}
    assert all(pin.specifier == PINS[name].specifier for name, pin in constraints.items())
    assert constraints.keys() <= locked().keys()


def test_python_and_uv_are_the_same_everywhere():
    assert Requirement(f"python{PROJECT['project']['requires-python']}").specifier.contains(PYTHON)
    files = ("containers/Dockerfile", "containers/narxbench.def", ".github/workflows/ci.yml")
    found = {path: re.findall(r"\bpython:([\d.]+)", (ROOT / path).read_text(encoding="utf-8")) for path in files}
    assert found == {path: [PYTHON] for path in files}
    files = ("README.md", "CONTRIBUTING.md", "docs/cluster.md", ".ci/run")
    found = {path: {*re.findall(r"pip install (?:--\w+ )*(uv\b[^\s`]*)", (ROOT / path).read_text())} for path in files}
    assert found == {path: {f"uv=={UV['required-version'].removeprefix('>=')}"} for path in files}


def locked():
    """Return what requirements.txt asks for, and the digests of the files, by name."""
    found = ENTRY.findall((ROOT / "requirements.txt").read_text(encoding="utf-8"))
    return {Requirement(line).name: (Requirement(line), set(re.findall("[0-9a-f]{64}", rest))) for line, rest in found}


def test_requirements_are_pinned_versions_with_digests_and_nothing_else():
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert ENTRY.sub("", text) == ""
    assert not re.search(r"//|@|pypi", text)
    assert all(entry.specifier == PINS[name].specifier for name, (entry, _) in locked().items())


def test_requirements_are_complete():
    """Renewed as CONTRIBUTING.md says, they have what runs, what is compared, what clusters need and what builds."""
    wanted = needed([f"{NAME}[pipeline,methods]", *PROJECT["dependency-groups"]["cluster"], *BUILD])
    found = {name for name, (entry, _) in locked().items() if entry.marker is None or entry.marker.evaluate()}
    assert wanted <= found
    # What builds is not installed where the tests run.
    assert found - wanted <= {Requirement(text).name for text in UV["build-constraint-dependencies"]}


def test_a_missing_extra_is_named_with_what_pyproject_has_in_it():
    found = {extra: set(modules.values()) for extra, modules in EXTRAS.items()}
    optional = PROJECT["project"]["optional-dependencies"]
    assert found == {extra: {Requirement(text).name for text in optional[extra]} for extra in EXTRAS}


def test_the_core_is_small_and_has_no_pipeline_and_no_plotting():
    core = needed(PROJECT["project"]["dependencies"])
    assert len(core) <= 30
    assert not core & {"snakemake", "matplotlib", "jinja2", "scikit-learn"}
