"""The commands of `docs/the_paper.md` by which each claim is checked, as they are typed."""

import re
import shlex
import subprocess
import sys

import pytest
from tests.workflow.project import ROOT, Project

pytestmark = pytest.mark.slow

SECTION = (ROOT / "docs/the_paper.md").read_text(encoding="utf-8").partition("\n## Check a claim\n")[2]
ROWS = [line.strip("| ").split(" | ") for line in SECTION.splitlines() if line.startswith("|") and "`" in line]
# Small values of settings, with which each step still runs.
SMALL = ("seeds=2", "evaluations=300", "statistics={bootstrap_samples: 50}")
# Commands that make files of every kind; the others differ from them in names alone.
KINDS = ("Tables I and II", "Table VI", "Table VII", "Figures 1 and 2", "The 18 claims")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    return Project.of_checkout(tmp_path_factory.mktemp("checks") / "project")


def files_of(row):
    return row[-1].strip("`").split("`, `")


def run(checkout, words):
    """Return what Snakemake prints."""
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *words],
        cwd=checkout.root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_every_table_figure_and_claim_has_a_command():
    results = " ".join(row[0] for row in ROWS)
    for numeral in ("I", "II", "III", "IV", "V", "VI", "VII"):
        assert re.search(rf"\b{numeral}\b", results), numeral
    assert "Figures 1 and 2" in results
    claims = (ROOT / "data/reference/claims.yaml").read_text(encoding="utf-8").count("- id:")
    assert sum(int(number) for number in re.findall(r"\b(\d+) claims", results)) == claims


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_command_makes_its_file_with_as_many_searches_as_the_table_says(checkout, row):
    _, command, n_searches, *_ = row
    printed = run(checkout, ["-n", *shlex.split(command.strip("`"))[1:]])
    searches = re.search(r"^narxbench: study \w+: (\d+) searches", printed, re.MULTILINE)[1]
    assert int(searches) == int(n_searches.replace(",", "")), printed
    for file in files_of(row):
        assert re.search(rf"\b{file}\b", printed) or file.startswith("data/reference/"), printed


@pytest.mark.parametrize("name", KINDS)
def test_a_command_runs_at_a_reduced_size(checkout, name):
    row = next(row for row in ROWS if row[0] == name)
    words = shlex.split(row[1].strip("`"))[1:]
    if "--config" in words:
        place = words.index("--config") + 1
        words[place:place] = SMALL
    else:
        words[2:2] = ["--config", *SMALL]
    (checkout / files_of(row)[0]).unlink(missing_ok=True)
    if "--" not in words:
        words += ["--"]
    run(checkout, words)
    for file in files_of(row):
        assert (checkout / file).stat().st_size > 0
