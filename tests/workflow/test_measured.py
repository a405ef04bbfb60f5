"""A study of measured data end to end: results are those of the library, and a change repeats what depends on it."""

import json
import re

import pytest

import narxbench
from narxbench._io.files import sha256

pytestmark = pytest.mark.slow

SETTINGS = {"degree": 2, "y_lags": 2, "u_lags": 2, "decimation": 9, "seeds": 2, "blocks": 3, "resamples": 2}
SETTINGS["effort"] = 2
FILES = ["data/buck/buck_id.csv", "data/buck/buck_valid.csv"]
MINE = f"""\
kind: measured
data: {{files: {FILES[0]}, input: input, output: y, test: {FILES[1]}, units: {{y: V}}}}
identification: {json.dumps(SETTINGS)}
"""


@pytest.fixture(scope="module")
def measured(finished, tmp_path_factory):
    """Return a complete small study of measured data; tests must not change it."""
    copied = finished.copied(tmp_path_factory.mktemp("measured") / "project", made=False)
    project = copied.with_study("mine", MINE)
    project.printed = project.snakemake("--cores", "1")
    return project


def test_one_job_for_each_search(measured):
    assert "; page: reports/mine/report.html\n" in measured.printed
    briefs = measured.files("data/mine/brief")
    assert 1 <= len(briefs) <= 6
    # Each of few is searched thoroughly: two seeds on all data, one without each part.
    searches = ("part-0/seed-1", "part-0/seed-2", "part-1/seed-1", "part-2/seed-1", "part-3/seed-1")
    expected = set()
    for rank in range(1, len(briefs) + 1):
        expected |= {f"data/mine/thorough/rank-{rank}/{search}.json" for search in searches}
    assert measured.files("data/mine/thorough").keys() == expected
    assert {"data/mine/resampled/1.json", "data/mine/resampled/2.json", "reports/mine/model.c"} <= set(measured.files())


def test_the_manifest_names_results_and_data(measured):
    contents = measured.files()
    assert contents.pop("reports/mine/manifest.csv")
    for path in FILES:
        contents[path] = (measured / path).read_bytes()
    manifest = measured.manifest()
    for path, content in contents.items():
        assert manifest[path] == sha256(content), path


def test_the_result_is_that_of_the_library(measured):
    results = measured.files("reports/mine")
    data = {"input": "input", "output": "y", "test": str(measured / FILES[1]), "units": {"y": "V"}}
    identification = narxbench.identify(measured / FILES[0], **data, **SETTINGS)
    folder = narxbench.write_report(identification, measured / "by_library").parent
    assert (folder / "identification.json").exists()
    for path in folder.iterdir():
        assert path.read_bytes() == results[f"reports/mine/{path.name}"], path.name


def test_the_same_bytes_with_more_cores_and_reference_results_of_them(measured, tmp_path):
    copy = measured.copied(tmp_path / "project", made=False)
    # As on a fresh clone, former results are there.
    (copy / "data/reference/mine").mkdir()
    for name in ("identification.json", "manifest.csv"):
        copy.write(f"data/reference/mine/{name}", "former")
    copy.snakemake("update_reference", "--cores", "4")
    assert copy.files() == measured.files()
    kept = copy.files("data/reference/mine")
    assert {path.rpartition("/")[2] for path in kept} == {"identification.json", "manifest.csv"}
    assert (copy / "data/reference/mine/run.json").read_bytes() == (copy / "reports/mine/run.json").read_bytes()
    printed = copy.snakemake("verify")
    assert re.search(r"(\d+) of \1 files are the same as in data/reference/mine/manifest.csv", printed), printed
    reported = copy.snakemake("verify", "--config", "identification={seeds: 3}", code=1)
    assert "with other settings: identification.seeds: found 3; needed: 2" in reported


def test_what_a_change_makes_anew(measured, tmp_path):
    assert measured.planned() == {}
    copy = measured.copied(tmp_path / "project")
    lost = "data/mine/thorough/rank-1/part-0/seed-2.json"
    (copy / lost).unlink()
    assert copy.planned()["thorough_search"] == [lost]
    copy.append("src/narxbench/_report/templates/model.css", "\n/* edited */\n")
    copy.append(FILES[1], "0.02,2.2,15.6\n")
    planned = copy.planned()
    searching = {"brief_search", "rank_configurations", "thorough_search", "choose_structure", "resample"}
    assert set(planned) == searching | {"define", "conclude", "run_record", "manifest", "site", "all"}
    assert len(planned["thorough_search"]) == len(list((copy / "data/mine/thorough").rglob("seed-*.json"))) + 1
