"""The tiny study from its settings to its report: all is made, nothing is left to do, and the linter is content."""

from hashlib import sha256

from tests.workflow.project import FRAMES, PAGES, RUNS, SUMMARIES


def test_everything_is_made_and_in_the_manifest(finished):
    contents = finished.files()
    del contents["reports/tiny/manifest.csv"]
    manifest = finished.manifest()
    for path, content in contents.items():
        assert manifest[path] == sha256(content).hexdigest(), path
    assert "reports/tiny/manifest.csv" not in manifest
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


def test_nothing_is_left_to_do_and_the_linter_finds_nothing(finished):
    assert finished.planned() == {}
    assert "Congratulations" in finished.snakemake("--lint")
