"""The public interface."""

import re
import subprocess
import sys
import tomllib
import types
from importlib.resources import files
from pathlib import Path

import narxbench
import narxbench.algorithms as algorithms

ROOT = Path(__file__).parents[2]


def test_every_public_name_is_there_and_documented():
    for name in narxbench.__all__:
        assert getattr(narxbench, name).__doc__, name
    assert set(narxbench.__all__) <= set(dir(narxbench))


def test_a_package_is_a_module_and_the_search_a_function():
    assert isinstance(algorithms, types.ModuleType)
    assert callable(narxbench.search)


def test_the_package_is_a_command_and_says_its_version():
    done = subprocess.run([sys.executable, "-m", "narxbench", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"narxbench {narxbench.__version__}\n"


def test_its_types_are_for_others_too():
    assert files("narxbench").joinpath("py.typed").is_file()


def test_the_version_is_one():
    texts = {
        name: (ROOT / name).read_text(encoding="utf-8") for name in ("pyproject.toml", "CITATION.cff", "CHANGELOG.md")
    }
    assert tomllib.loads(texts["pyproject.toml"])["project"]["version"] == narxbench.__version__
    assert f"\nversion: {narxbench.__version__}\n" in texts["CITATION.cff"]
    # What comes next has no version yet.
    released = [name for name in re.findall(r"^## (\S+)", texts["CHANGELOG.md"], re.MULTILINE) if name != "Unreleased"]
    assert released[0] == narxbench.__version__
