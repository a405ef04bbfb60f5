"""Runs that fail, and results that were deleted, damaged, edited or exchanged: named, never taken into a table."""

import os
import re

import pytest
from tests.workflow.project import CONDITIONS, FRAMES, unlike

pytestmark = pytest.mark.slow

S3, S4 = CONDITIONS[:3], CONDITIONS[3:]


def run_of(condition, seed=2):
    return f"data/tiny/runs/{condition}/seed-{seed}.json"


def summary_of(condition):
    return f"data/tiny/conditions/{condition}.json"


def test_verify(finished, copy):
    # Without reference results the study is compared with its own manifest, and nothing is made anew before.
    assert "files are the same as in reports/tiny/manifest.csv" in copy.snakemake("verify")
    copy.append(summary_of(S3[0]), " ")
    printed = copy.snakemake("verify", code=1)
    assert f"Different: 1 files, the first in the order of causes is {summary_of(S3[0])}" in printed
    (copy / summary_of(S3[0])).write_bytes((finished / summary_of(S3[0])).read_bytes())
    copy.snakemake("update_reference")
    assert "Versions and platform are those of the reference." in copy.snakemake("verify")
    *_, line = copy.snakemake("verify", "--config", "seeds=3", code=1).splitlines()
    assert line.startswith(
        "narxbench: verify: data/reference/tiny/manifest.csv was made with other settings: seeds: found "
    )
    # Changed behind Snakemake's back.
    for path in (run_of(S4[0]), "reports/tiny/tables/agreement.md"):
        times = (copy / path).stat()
        with (copy / path).open("a") as stream:
            stream.write(" ")
        os.utime(copy / path, ns=(times.st_atime_ns, times.st_mtime_ns))
    printed = copy.snakemake("verify", code=1)
    assert f"Different: 2 files, the first in the order of causes is {run_of(S4[0])}" in printed
    assert set(unlike(copy.files(), finished.files())) == {run_of(S4[0]), "reports/tiny/tables/agreement.md"}


FAULT = """
    if job.output[0].endswith("/S3/30dB/ga/bic/seed-2.json"):
        raise ArithmeticError("no pivot")
"""


def test_search_that_fails_for_one_seed(finished, empty):
    """The steps that need it are left out; asked for, there is a report of the rest; mended, everything is made."""
    right = (empty / "scripts/search.py").read_text(encoding="utf-8")
    empty.edit("scripts/search.py", '    """Write the run file."""\n', '    """Write the run file."""\n' + FAULT)
    printed = empty.snakemake("--keep-going", code=1)
    assert "ArithmeticError" in printed and "no pivot" in printed and run_of(S3[2]) in printed
    made = empty.files("data/tiny/runs", "data/tiny/conditions", "data/tiny/problems")
    wanted = finished.files("data/tiny/runs", "data/tiny/conditions", "data/tiny/problems")
    assert wanted.keys() - made.keys() == {run_of(S3[2]), summary_of(S3[2])}
    assert {path: wanted[path] for path in made} == made
    assert not (empty / "data/tiny/frames").exists()

    empty.snakemake("--config", "finished_only=true")
    rows = (empty / "data/tiny/frames/conditions.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert len(rows) == len(CONDITIONS) - 1
    assert (empty / "reports/tiny/report.html").exists() and not (empty / summary_of(S3[2])).exists()

    empty.write("scripts/search.py", right)
    empty.snakemake(FRAMES)
    assert empty.files("data/tiny") == finished.files("data/tiny")


def test_report_of_snakemake(copy, monkeypatch):
    """It is made without a network, and holds tables, figures and page with their captions."""
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    copy.snakemake("--report", "x.html")
    text = (copy / "x.html").read_text(encoding="utf-8")
    assert not re.search(r"<(script|link|img)\b[^>]*\b(src|href)=[\"']?(https?:)?//", text)
    assert all(path in text for path in copy.files("reports/tiny/tables") if path.endswith(".csv"))
    assert all(path in text for path in ("reports/tiny/figures/convergence.svg", "reports/tiny/report.html"))
    assert "The paper's figures from the runs of this study." in text.replace("&#x27;", "'")
