"""Style, types, the direction of imports, the doctests, and what must not be in the repository."""

import doctest
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from tests.tiers import mostly_slow

import narxbench

ROOT = Path(__file__).parents[2]
MODULES = sorted(module.name for module in pkgutil.walk_packages(narxbench.__path__, "narxbench."))


def git_files(*options):
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", *options]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    return [name for name in names if (ROOT / name).is_file()]


def texts(*patterns):
    """Return the text of every file of the project that matches, whether committed already or not."""
    names = git_files("--cached", "--others", "--exclude-standard", "--", *patterns)
    return {name: (ROOT / name).read_text("utf-8") for name in names if not name.endswith((".png", ".pdf"))}


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy"],
        ["snakefmt", "--check", "."],
        ["lint-imports", "--no-cache", "--no-logo"],
        ["bandit", "--quiet", "--configfile", "pyproject.toml", "--recursive", "src", "scripts"],
        ["zizmor", "--offline", "--strict-collection", "--persona", "auditor", "."],
    ],
    ids=" ".join,
)
def test_tool_is_content(command):
    program = Path(sys.executable).with_name(command[0])
    done = subprocess.run([program, *command[1:]], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


# Examples that search or identify take seconds.
SLOW_EXAMPLES = (
    "narxbench._algorithms.",
    "narxbench._identification.",
    "narxbench._report.model_page",
    "narxbench._report.reports",
    "narxbench.plot",
)
FAST_MODULES = [name for name in MODULES if not name.startswith(SLOW_EXAMPLES)]


@pytest.mark.parametrize("name", mostly_slow(["narxbench", *MODULES], *FAST_MODULES))
def test_examples_in_docstrings(name):
    failed, _ = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "unwanted",
    [
        r"pypi\.org|python[h]osted|[a-z]+\.anaconda\.org|prefix\.dev|index[-]url",
        r"(?<![\w.~/])/(work|root|home/[a-z]+)/",
    ],
)
def test_no_address_of_a_registry_or_a_machine(unwanted):
    addresses = {}
    for name, text in texts().items():
        match = re.search(unwanted, text)
        if match:
            addresses[name] = match[0]
    assert addresses == {}


def test_no_kept_number_is_missing():
    kept = texts("data", "*.json")
    assert "data/reference/published_tables.csv" in kept
    for name, text in kept.items():
        assert not re.search(r"\b(NaN|nan|Infinity|inf)\b", text), name


def test_nothing_that_is_made_is_kept():
    assert git_files("--cached", "--ignored", "--exclude-standard") == []
