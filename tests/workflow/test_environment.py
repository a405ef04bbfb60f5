"""The pinned environment: one set of versions, in pyproject.toml for uv and in environment.yml for conda."""

import tomllib
from importlib import metadata

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from project import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
PINS = {canonicalize_name(pin.name): pin for pin in map(Requirement, PROJECT["tool"]["uv"]["constraint-dependencies"])}
DEPENDENCIES = [*map(Requirement, PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["test"])]
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


def test_conda_can_read_the_specs():
    rattler = pytest.importorskip("rattler", reason="py-rattler reads specs as conda does")
    for spec in CONDA_SPECS:
        assert rattler.MatchSpec(spec).name.normalized == spec.split()[0]


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
