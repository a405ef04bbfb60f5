"""The tiny study from its settings to its report: all is made, nothing is left to do, and the linter is content."""

from tests.workflow.project import FRAMES, RUNS, SUMMARIES

from narxbench._io.files import sha256
from narxbench._studies.paper.site import PAGES


def test_the_manifest_names_everything(finished):
    contents = finished.files()
    del contents["reports/tiny/manifest.csv"]
    manifest = finished.manifest()
    for path, content in contents.items():
        assert manifest[path] == sha256(content), path
    assert "reports/tiny/manifest.csv" not in manifest


def test_everything_is_made(finished):
    contents = finished.files()
    assert finished.files("data/tiny/runs").keys() == set(RUNS)
    assert finished.files("data/tiny/conditions").keys() == set(SUMMARIES)
    data = "data/tiny/problems/as-described/data-1/S3/30dB.csv"
    assert {data, FRAMES, "data/tiny/pages/report.html"} <= set(contents)
    for suffix in ("csv", "md", "tex"):
        assert f"reports/tiny/tables/table_7.{suffix}" in contents
    for suffix in ("pdf", "svg"):
        assert f"reports/tiny/figures/figure_1.{suffix}" in contents
    for page in PAGES:
        assert (finished / f"reports/tiny/{page}.html").exists(), page


def test_nothing_is_left_to_do(finished):
    assert finished.planned() == {}


def test_the_linter_finds_nothing(finished):
    assert "Congratulations" in finished.snakemake("--lint")
