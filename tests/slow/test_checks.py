"""The commands of `docs/the_paper.md` by which each claim is checked, as they are typed."""

import re
import shlex
from itertools import takewhile

import pytest
from tests.command import python
from tests.workflow.project import ROOT, Project

from narxbench._pipeline.plan import plan_of

pytestmark = pytest.mark.slow

SECTION = (ROOT / "docs/the_paper.md").read_text(encoding="utf-8").partition("\n## Check a claim\n")[2]
ROWS = [line.strip("| ").split(" | ") for line in SECTION.splitlines() if line.startswith("|") and "`" in line]
NAMES = [row[0] for row in ROWS]
# Small values of settings, with which each step still runs.
SMALL = ("seeds=2", "evaluations=300")
# Commands that make files of every kind, those first whose runs others need; the rest differs in names alone.
KINDS = ("The 18 claims", "Table VII", "Figures 1 and 2", "Tables I and II")


def arguments(command):
    """Return the words of a command after its name."""
    return shlex.split(command.strip("`"))[1:]


def test_every_table_figure_and_claim_has_a_command():
    results = " ".join(NAMES)
    for numeral in ("I", "II", "III", "IV", "V", "VI", "VII"):
        assert re.search(rf"\b{numeral}\b", results), numeral
    assert "Figures 1 and 2" in results
    claims = (ROOT / "data/reference/claims.yaml").read_text(encoding="utf-8").count("- id:")
    assert sum(map(int, re.findall(r"\b(\d+) claims", results))) == claims


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_a_command_has_as_many_searches_as_the_table_says(row):
    _, command, n_searches, *_ = row
    options = arguments(command)
    study = plan_of(list(map(ROOT.joinpath, values_of("--configfile", options))), values_of("--config", options))
    assert study.estimate.searches == int(n_searches.replace(",", ""))


def values_of(option, words):
    """Return the values of an option, which end with the next one."""
    if option not in words:
        return []
    values = words[words.index(option) + 1 :]
    return list(takewhile(lambda word: not word.startswith("--"), values))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    return Project.of_checkout(tmp_path_factory.mktemp("checks") / "project")


@pytest.mark.parametrize("name", KINDS)
def test_a_command_runs_at_a_reduced_size(checkout, name):
    row = next(row for row in ROWS if row[0] == name)
    words, files = arguments(row[1]), row[-1].strip("`").split("`, `")
    place = words.index("--config") + 1 if "--config" in words else 2
    words[place:place] = SMALL if "--config" in words else ["--config", *SMALL]
    for file in files:
        (checkout / file).unlink(missing_ok=True)
    python("-m", "snakemake", *words, folder=checkout.root)
    for file in files:
        assert (checkout / file).stat().st_size > 0
