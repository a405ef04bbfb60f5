"""Runs that fail, and results that were deleted, damaged, edited or exchanged: named, never taken into a table."""

import os
import re
import shutil

import pytest
from tests.workflow.project import CONDITIONS, FRAMES, unlike

pytestmark = pytest.mark.slow

S3, S4 = CONDITIONS[:3], CONDITIONS[3:]


def run_of(condition, seed=2):
    return f"data/tiny/runs/{condition}/seed-{seed}.json"


def summary_of(condition):
    return f"data/tiny/conditions/{condition}.json"


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


def emptied(path):
    os.truncate(path, 0)


def replaced(old, new):
    def damage(path):
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return damage


def exchanged(source):
    return lambda path: shutil.copyfile(source, path)


def untouched(copy, finished, *damaged):
    """Check that what is there next to the damaged files is right."""
    right = finished.files()
    assert [path for path, c in copy.files().items() if path not in damaged and c != right.get(path)] == []


def test_summaries_and_frames(finished, copy):
    """One after the other, for a step tells the first that it finds; deleted, each is made again."""
    summary, frame = summary_of(S3[1]), "data/tiny/frames/metrics.csv"
    for path, damage, words in (
        (summary, replaced('"candidates":', '"candidate":'), "no summary of a condition"),
        (frame, cut, frame),
        (summary, exchanged(finished / summary_of(S4[1])), "S4.* a second time"),
    ):
        damage(copy / path)
        *_, line = (line for line in copy.snakemake(code=1).splitlines() if line.startswith("narxbench: "))
        assert re.search(words, line)
        untouched(copy, finished, path)
        (copy / path).unlink()
        copy.snakemake(frame)
    assert copy.files("data/tiny") == finished.files("data/tiny")


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


def test_report_of_the_finished_conditions_needs_one(empty):
    *_, line = empty.snakemake("--config", "finished_only=true", code=1).splitlines()
    assert line.startswith("narxbench: command line (--config): finished_only: found no complete condition")


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
