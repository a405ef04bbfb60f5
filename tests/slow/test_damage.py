"""Runs that fail, and results that were deleted, damaged, edited or exchanged: named, never taken into a table."""

import json
import os
import re
import zipfile

import pandas as pd
import pytest
from tests.unit.algorithms.plugins import SOURCE, install_text
from tests.workflow.project import COMPUTED, CONDITIONS, FRAMES, links_to_files, unlike

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
    one = f"Different: 1 files, the first in the order of causes is {summary_of(S3[0])}"
    assert one in copy.snakemake("verify", code=1)
    (copy / summary_of(S3[0])).write_bytes((finished / summary_of(S3[0])).read_bytes())
    copy.snakemake("update_reference")
    assert "Versions and platform are those of the reference." in copy.snakemake("verify")
    *_, line = copy.snakemake("verify", "--config", "seeds=3", code=1).splitlines()
    assert line.startswith("narxbench: verify: reports/tiny/manifest.csv was made with other settings: seeds: found ")
    damaged = (run_of(S4[0]), "reports/tiny/tables/table_5.md")
    for path in damaged:
        append_unnoticed(copy / path, " ")
    different = f"Different: 2 files, the first in the order of causes is {run_of(S4[0])}"
    assert different in copy.snakemake("verify", code=1)
    # Kept results of other settings are not those of this study, which is compared with its own manifest.
    copy.edit("data/reference/tiny/manifest.csv", "settings/seeds,", "settings/seeds_before,")
    assert different in copy.snakemake("verify", code=1)


def test_verify_by_the_digests_that_results_name(copy):
    """A study that is not finished has no manifest; data sets have settings, and run files seals."""
    (copy / "reports/tiny/manifest.csv").unlink()
    right = "2 data sets and 12 run files are what their settings, seals and summaries say. There is no manifest"
    assert right in copy.snakemake("verify")
    run = copy / run_of(S4[0])
    content = run.read_bytes()
    run.write_bytes((copy / run_of(S4[0], 1)).read_bytes())
    assert f"narxbench: {run_of(S4[0])}: changed since it was summed up" in copy.snakemake("verify", code=1)
    run.write_bytes(content)
    edit_digit(copy / DATA)
    assert NAMED in copy.snakemake("verify", code=1)


def append_unnoticed(path, text):
    """Append to a file whose date stays, so that Snakemake does not notice."""
    times = path.stat()
    with path.open("a") as stream:
        stream.write(text)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


DATA = "data/tiny/problems/as-described/data-1/S3/30dB.csv"
NAMED = f"narxbench: {DATA}: changed since it was simulated; delete it and run again"


def edit_digit(path):
    """Change a digit of a file, which keeps its size."""
    text = path.read_text(encoding="utf-8")
    place = re.search("[12]", text.partition("\n")[2]).start() + text.index("\n") + 1
    other = {"1": "2", "2": "1"}[text[place]]
    path.write_text(f"{text[:place]}{other}{text[place + 1 :]}", encoding="utf-8")


@pytest.mark.parametrize("date", ["older", "same", "newer"])
def test_an_edited_data_set_is_named_whatever_its_date(finished, copy, date):
    """Following the line leads back to the same results."""
    edited = copy / DATA
    before = edited.stat()
    edit_digit(edited)
    if date == "older":
        os.utime(edited, (1e9, 1e9))
    elif date == "same":
        os.utime(edited, ns=(before.st_atime_ns, before.st_mtime_ns))
    # Other seeds would be searched with it.
    for settings in ((), ("--config", "seeds=3")):
        assert NAMED in copy.snakemake(*settings, code=1).splitlines()
    edited.unlink()
    copy.snakemake()
    remade = copy.files()
    # Runs of the third seed are there too, of the other data set.
    assert {name: remade[name] for name in finished.files()} == finished.files()


def test_a_run_of_another_seed_in_the_place_of_a_run_is_named(finished, copy):
    """The date and the seal are those of a right run."""
    run, exchanged = copy / run_of(S3[0], 1), copy / run_of(S3[0], 2)
    before = run.stat()
    run.write_bytes(exchanged.read_bytes())
    os.utime(run, ns=(before.st_atime_ns, before.st_mtime_ns))
    *_, line = copy.snakemake(code=1).splitlines()
    assert line == f"narxbench: {run_of(S3[0], 1)}: changed since it was summed up; delete it and run again"
    run.unlink()
    copy.snakemake()
    assert unlike(copy.files(), finished.files()) == []


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
    assert empty.files(*COMPUTED) == finished.files(*COMPUTED)


ACCIDENTS = """
import os, pathlib

def run(problem, objective, rng, settings):
    noted = pathlib.Path({noted!r})
    if not noted.exists():
        noted.touch()
        os.kill(os.getpid(), 9)
    if rng.random() < 0.5:
        raise ArithmeticError("no pivot")
    while objective.remaining:
        objective.evaluate(rng.integers(0, 2, (1, objective.n_terms)))
    return Found(objective.best_position)
"""
ACCIDENTAL = """\
systems: [S3]
snr_db: [30]
seeds: 6
evaluations: 200
methods: {upso2d: {criteria: [bic]}, ga: null, mine: {algorithm: accidental, criteria: [bic]}}
"""


def test_runs_that_are_ended_from_outside_and_runs_that_fail(copy, monkeypatch, tmp_path):
    """The first are made again by the same command, the second are recorded, counted and named at the end."""
    (tmp_path / "site").mkdir()
    module = SOURCE.partition("def run")[0] + ACCIDENTS.format(noted=str(tmp_path / "noted"))
    install_text(monkeypatch, tmp_path / "site", {"accidental": "accidental"}, "accidents", accidental=module)
    env = {"PYTHONPATH": str(tmp_path / "site")}
    study = copy.with_study("accidental", ACCIDENTAL)
    printed = study.snakemake("--keep-going", code=1, env=env)
    assert re.search("^narxbench: method mine: .*: it was ended from outside .SIGKILL.; run it again$", printed, re.M)
    assert len([path for path in study.run_files() if "/mine/" in str(path)]) == 5
    printed = study.snakemake(env=env)
    runs = [json.loads(path.read_bytes())["runs"][0] for path in study.run_files()]
    failures = {run["seed"]: run["failure"] for run in runs if "failure" in run}
    assert 0 < len(failures) < 6 and all("no pivot" in failure for failure in failures.values())
    number, first = f"{len(failures)} (run has|runs have)", re.escape(failures[min(failures)])
    last_lines = "\n".join(printed.splitlines()[-2:])
    assert re.search(f"^narxbench: {number} failed; the first: {first}$", last_lines, re.MULTILINE)
    conditions = pd.read_csv(study / "data/accidental/frames/conditions.csv").set_index("method")
    assert conditions["runs"].to_dict() == {"upso2d": 6, "mine": 6 - len(failures)}


def test_report_of_snakemake(copy, monkeypatch):
    """The report is made without a network, and holds all pages, tables and figures; no link of a page is dead."""
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    copy.snakemake("--report", "report.zip")
    with zipfile.ZipFile(copy / "report.zip") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    first = files.pop("report/report.html").decode()
    assert not re.search(r"<(script|link|img)\b[^>]*\b(src|href)=[\"']?(https?:)?//", first)
    labels = '"labels": {"Name": "selection", "System": "S4"}'
    assert f'"name": "selection_S4.csv", "filename": "selection_S4.csv", {labels}' in first
    (main_page,) = [name for name in files if name.endswith("/report.html")]
    folder = main_page.removesuffix("report.html")
    links = set()
    for page in files:
        if page.startswith(folder) and page.endswith(".html"):
            links |= {f"{folder}{link}" for link in links_to_files(files[page].decode())}
    assert len(links) > 20 and links <= files.keys()
