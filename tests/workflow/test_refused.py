"""What Snakemake says at its start: what the study costs, or in one line why it is refused."""

import re
from pathlib import Path

import pytest
from tests.workflow.project import Project

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy of the project in which nothing is made."""
    found = Project.of_checkout(tmp_path_factory.mktemp("refused") / "project")
    for name in (b"not\xfftext.yaml", b"\x1b[31mred.yaml", b"two\nlines.yaml"):
        Path(found.root, "config", "systems").joinpath(name.decode(errors="surrogateescape")).write_text("n_u: 1\n")
    return found


def reported(printed: str) -> list[str]:
    return [line for line in printed.splitlines() if line.startswith("narxbench: ")]


def test_a_plan_begins_with_what_it_costs(project: Project) -> None:
    (line,) = reported(project.snakemake("--dry-run"))
    assert re.match("narxbench: 12 runs in 28 jobs: about [0-9]+ s of CPU time; the largest step takes about 0", line)


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ("evaluations=1000000000", "evaluations: found 1000000000; allowed: a whole number of at least 1 and at most"),
        ("systems=[S3, SS4]", "systems[1]: found 'SS4'; allowed: a file in config/systems, which has S1, S2, S3, S4,"),
    ],
)
def test_a_mistake_is_one_line_that_can_be_shown(project: Project, settings: str, line: str) -> None:
    (found,) = reported(project.snakemake("--dry-run", "--config", settings, code=1))
    assert found.startswith(f"narxbench: command line (--config): {line}") and found.isprintable()
