"""Style, types and what must not be in the repository."""

import re
import subprocess
import sys

import pytest
from project import ROOT, committed_files

# One environment serves the whole workflow: environment.yml for conda, pyproject.toml for uv.
LINT_EXCEPTION = "Specify a conda environment or container for each rule."
TEXT = [name for name in committed_files() if not name.endswith((".png", ".pdf"))]


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy"],
        ["snakefmt", "--check", "."],
    ],
    ids=" ".join,
)
def test_tool_is_content(command):
    pytest.importorskip(command[0])
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_snakemake_lint(clean):
    printed = clean.snakemake("--lint", code=1)
    found = re.findall(r"^ {4}\* (.*?):$", printed, re.MULTILINE)
    assert set(found) == {LINT_EXCEPTION}


@pytest.mark.parametrize(
    "unwanted",
    [
        r"pypi\.org|python[h]osted|[a-z]+\.anaconda\.org|prefix\.dev|index[-]url",
        r"(?<![\w.~/])/(work|root|home/[a-z]+)/",
    ],
)
def test_no_address_of_a_registry_or_a_machine(unwanted):
    found = {name: re.search(unwanted, (ROOT / name).read_text(encoding="utf-8")) for name in TEXT}
    assert {name: match[0] for name, match in found.items() if match} == {}


def test_no_kept_number_is_missing():
    kept = [name for name in TEXT if name.endswith((".csv", ".json")) or name.startswith("docs/results/")]
    assert "data/reference/published_tables.csv" in kept
    found = {name: re.search(r"\b(NaN|nan|Infinity|inf)\b", (ROOT / name).read_text(encoding="utf-8")) for name in kept}
    assert [name for name, match in found.items() if match] == []


def test_nothing_that_is_made_is_kept():
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "--cached", "--ignored", "--exclude-standard"]
    ignored = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (ignored.returncode, ignored.stdout) == (0, "")
