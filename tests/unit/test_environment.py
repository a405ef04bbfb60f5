"""The pinned environment: one set of versions, in pyproject.toml for uv and in environment.yml for conda."""

import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONDA = YAML(typ="safe").load(ROOT / "environment.yml")
PINS = {canonicalize_name(pin.name): pin for pin in map(Requirement, PROJECT["tool"]["uv"]["constraint-dependencies"])}
GROUPS = [
    PROJECT["project"]["dependencies"],
    *PROJECT["project"]["optional-dependencies"].values(),
    *PROJECT["dependency-groups"].values(),
]
DEPENDENCIES = {text: Requirement(text) for group in GROUPS for text in group}.values()
CONDA_SPECS = [spec for spec in CONDA["dependencies"] if isinstance(spec, str)]


def pinned(name):
    (specifier,) = PINS[canonicalize_name(name)].specifier
    assert specifier.operator == "=="
    return specifier.version


def test_every_pin_is_one_exact_version():
    assert len(PINS) == len(PROJECT["tool"]["uv"]["constraint-dependencies"])
    assert all(pinned(name) and "*" not in pinned(name) for name in PINS)


@pytest.mark.parametrize("dependency", DEPENDENCIES, ids=lambda dependency: dependency.name)
def test_dependency_has_the_same_version_everywhere(dependency):
    version = pinned(dependency.name)
    assert dependency.specifier.contains(version)
    assert f"{dependency.name} =={version}" in CONDA_SPECS


def test_conda_has_nothing_else():
    rest = {spec for spec in CONDA_SPECS if spec.split()[0] not in {dependency.name for dependency in DEPENDENCIES}}
    assert rest == {f"python {PROJECT['project']['requires-python']}", "pip"}
    (pip,) = [spec["pip"] for spec in CONDA["dependencies"] if isinstance(spec, dict)]
    assert pip == ["--editable ."]
    assert set(CONDA) == {"name", "channels", "dependencies"}


def running():
    return {canonicalize_name(found.metadata["Name"]): found for found in metadata.distributions()}


def test_running_environment_has_the_pinned_versions():
    found = {name: distribution.version for name, distribution in running().items() if name in PINS}
    differing = {name: version for name, version in found.items() if version != pinned(name)}
    if any(canonicalize_name(dependency.name) in differing for dependency in DEPENDENCIES):
        pytest.skip(f"not running under the pins: {differing}")
    assert differing == {}


def test_pins_are_complete():
    """Every distribution that the project needs, however indirectly, is pinned."""
    distributions = running()
    missing, seen = set(), set()
    todo = [(dependency, "") for dependency in DEPENDENCIES]
    while todo:
        requirement, extra = todo.pop()
        name = canonicalize_name(requirement.name)
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        if name not in PINS:
            missing.add(name)
        for chosen in ("", *requirement.extras):
            if (name, chosen) not in seen and name in distributions:
                seen.add((name, chosen))
                todo += [(Requirement(text), chosen) for text in distributions[name].requires or ()]
    assert missing == set()
