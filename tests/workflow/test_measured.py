"""A study of measured data end to end: what the library finds, the same bytes again, and what a change makes anew."""

import json
import re

import pytest

import narxbench
from narxbench.io.files import sha256

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
    """A small study of measured data, complete; not to be changed."""
    copied = finished.copied(tmp_path_factory.mktemp("measured") / "project", made=False)
    project = copied.with_study("mine", MINE)
    project.printed = project.snakemake("--cores", "1")
    return project


def test_one_job_for_each_search_and_the_result_of_the_library(measured):
    assert "narxbench: the page of this study is reports/mine/report.html" in measured.printed
    made = measured.files()
    briefs = [path for path in made if path.startswith("data/mine/brief/")]
    assert 1 <= len(briefs) <= 6
    # Each of few is searched thoroughly: two seeds on all data, one without each part.
    jobs = [(0, 1), (0, 2), (1, 1), (2, 1), (3, 1)]
    searches = {f"rank-{rank + 1}/part-{part}/seed-{seed}" for rank in range(len(briefs)) for part, seed in jobs}
    found = {path for path in made if path.startswith("data/mine/thorough/")}
    assert found == {f"data/mine/thorough/{name}.json" for name in searches}
    assert {"data/mine/resampled/1.json", "data/mine/resampled/2.json", "reports/mine/model.c"} <= set(made)
    data = {path: (measured / path).read_bytes() for path in FILES}
    digests = {path: sha256(text) for path, text in {**made, **data}.items()}
    assert digests.pop("reports/mine/manifest.csv")
    assert {name: value for name, value in measured.manifest().items() if name in digests} == digests
    arguments = {"input": "input", "output": "y", "test": str(measured / FILES[1]), "units": {"y": "V"}}
    found = narxbench.identify(measured / FILES[0], **arguments, **SETTINGS)
    folder = narxbench.write_report(found, measured / "by_library").parent
    assert (folder / "identification.json").exists()
    for path in folder.iterdir():
        assert path.read_bytes() == made[f"reports/mine/{path.name}"], path.name


def test_the_same_bytes_with_more_cores_and_reference_results_of_them(measured, tmp_path):
    other = measured.copied(tmp_path / "project", made=False)
    other.snakemake("update_reference", "--cores", "4")
    assert other.files() == measured.files()
    kept = other.files("data/reference/mine")
    assert {path.rpartition("/")[2] for path in kept} == {"identification.json", "manifest.csv"}
    printed = other.snakemake("verify")
    assert re.search(r"(\d+) of \1 files are the same as in data/reference/mine/manifest.csv", printed), printed
    reported = other.snakemake("verify", "--config", "identification={seeds: 3}", code=1)
    assert "with other settings: identification.seeds: found 3; needed: 2" in reported


def test_what_a_change_makes_anew(measured, tmp_path):
    assert measured.planned() == {}
    copy = measured.copied(tmp_path / "project")
    lost = "data/mine/thorough/rank-1/part-0/seed-2.json"
    (copy / lost).unlink()
    assert copy.planned()["thorough_search"] == [lost]
    copy.append("src/narxbench/report/templates/model.css", "\n/* edited */\n")
    copy.append(FILES[1], "0.02,2.2,15.6\n")
    planned = copy.planned()
    searching = {"brief_search", "rank_configurations", "thorough_search", "choose_structure", "resample"}
    assert set(planned) == searching | {"conclude", "run_info", "manifest", "all"}
    assert len(planned["thorough_search"]) == len(list((copy / "data/mine/thorough").rglob("seed-*.json"))) + 1
