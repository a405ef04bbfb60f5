"""Runs that fail, and results that were deleted, damaged, edited or exchanged: named, never taken into a table."""

import os
import re
import zipfile

import pytest
from tests.workflow.project import CONDITIONS, FRAMES, links_to_files, unlike

from narxbench._studies.paper.site import PAGES

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
    damaged = (run_of(S4[0]), "reports/tiny/tables/table_5.md")
    for path in damaged:
        append_unnoticed(copy / path, " ")
    printed = copy.snakemake("verify", code=1)
    assert f"Different: 2 files, the first in the order of causes is {run_of(S4[0])}" in printed
    assert set(unlike(copy.files(), finished.files())) == set(damaged)


def append_unnoticed(path, text):
    """Append to a file whose date stays, so that Snakemake does not notice."""
    times = path.stat()
    with path.open("a") as stream:
        stream.write(text)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


FAULT = """
    if job.output[0].endswith("/S3/30dB/ga/bic/seed-2.json"):
        raise ArithmeticError("no pivot")
"""


def test_search_that_fails_for_one_seed(finished, empty):
    """The steps that need it are left out; a report of the rest can be made; after a repair, everything is made."""
    right = (empty / "scripts/search.py").read_text(encoding="utf-8")
    empty.edit("scripts/search.py", '    """Write the run file."""\n', '    """Write the run file."""\n' + FAULT)
    printed = empty.snakemake("--keep-going", code=1)
    assert "ArithmeticError" in printed and "no pivot" in printed and run_of(S3[2]) in printed
    (log,) = re.findall(r"^failed: search; log: (\S+)$", "\n".join(printed.splitlines()[-3:]), re.MULTILINE)
    assert "no pivot" in (empty / log).read_text(encoding="utf-8")
    results = empty.files("data/tiny/runs", "data/tiny/conditions", "data/tiny/problems")
    complete = finished.files("data/tiny/runs", "data/tiny/conditions", "data/tiny/problems")
    assert sorted(unlike(results, complete)) == sorted([run_of(S3[2]), summary_of(S3[2])])
    assert not (empty / "data/tiny/frames").exists()

    empty.snakemake("--config", "finished_only=true")
    rows = (empty / "data/tiny/frames/conditions.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert len(rows) == len(CONDITIONS) - 1
    assert (empty / "reports/tiny/report.html").exists() and not (empty / summary_of(S3[2])).exists()

    empty.write("scripts/search.py", right)
    empty.snakemake(FRAMES)
    assert empty.files("data/tiny") == finished.files("data/tiny")


def test_report_of_snakemake(copy, monkeypatch):
    """The report is made without a network, and holds all pages, tables and figures; no link of a page is dead."""
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    copy.snakemake("--report", "report.zip")
    with zipfile.ZipFile(copy / "report.zip") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    first = files.pop("report/report.html").decode()
    assert not re.search(r"<(script|link|img)\b[^>]*\b(src|href)=[\"']?(https?:)?//", first)
    assert "From settings to pages" in first and "tables from the runs of this study" in first
    for name, label, system in ("table_5", "table_5", "S3"), ("selection_S4", "selection", "S4"):
        labels = f'"labels": {{"Name": "{label}", "System": "{system}"}}'
        assert f'"name": "{name}.csv", "filename": "{name}.csv", {labels}' in first
    (main_page,) = [name for name in files if name.endswith("/report.html")]
    folder = main_page.removesuffix("report.html")
    n_links = 0
    for page in PAGES:
        links = links_to_files(files[f"{folder}{page}.html"].decode())
        for link in links:
            assert f"{folder}{link}" in files, f"{page}: {link}"
        n_links += len(links)
    assert n_links > 50
