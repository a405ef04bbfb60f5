"""Settings of --configfile and --config: a mistake is one line at once, with the file, the key and what is allowed."""

import pytest
from tests.workflow.project import Project

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy in which nothing runs."""
    return Project.of_checkout(tmp_path_factory.mktemp("settings") / "project")


def the_line(printed):
    """Return the one line of a mistake."""
    (line,) = (line for line in printed.splitlines() if line.startswith("narxbench: "))
    return line


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["evaluatons=5"], "evaluatons: unknown key"),
        (["seeds=1:30"], "seeds: found '1:30' (text)"),
        (["seeds=1_0"], "seeds: found '1_0' (text)"),
        (["seeds=[1"], "seeds: line 1"),
        (["evaluations="], "evaluations: found null"),
        (["seeds=1", "evaluations=2", "seeds=2"], "seeds: found twice"),
    ],
)
def test_mistakes_of_the_command_line(project, given, words):
    line = the_line(project.snakemake("--dry-run", "--config", *given, code=1))
    assert line.startswith(f"narxbench: command line (--config): {words}")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("seeds: 1\nseeds: 2", "line 2, column 1"),
        ("__use_yte__: true\nseeds: 2\n", "__use_yte__"),
        ("a0: &a0 [x, x]\na1: [*a0, *a0]\n", "line 1"),
        ("#" * 100_001 + "\nseeds: 1\n", "cannot be read: found 100011 bytes"),
        ("study: paper\nseeds: 1\n", "study: found 'paper'"),
    ],
)
def test_mistakes_in_a_file(project, text, words):
    line = the_line(project.with_study("other", text).snakemake("--dry-run", code=1))
    assert line.startswith("narxbench: other.yaml: ") and words in line, line


def test_what_snakemake_refuses_itself(project):
    for text in ("a:\n\tb: 1", "- 1"):
        assert "Config file" in project.with_study("other", text).snakemake("--dry-run", code=1)


def test_files_and_command_line_are_merged_in_order(project):
    """Another kind of input replaces the whole, and null leaves a method out."""
    text = "methods: {ga: null, upso2d: {criteria: [bic]}}\nsystems: [S3]\nsnr_db: [30]\nseeds: 4\n"
    study = project.with_study("mine", text + "data: {excitation: {kind: gaussian, sd: 0.5}}\n")
    planned = study.planned("--config", "data={excitation: {kind: uniform, low: -0.5, high: 0.5}}", "seeds=3")
    assert len(planned["search"]) == 3 and all("/upso2d/" in path for path in planned["search"])
