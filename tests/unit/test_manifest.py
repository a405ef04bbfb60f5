"""The manifest: what it holds, that it reads back, and how differences are told."""

import csv
import dataclasses
import json
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from scripts.manifest import write_manifest
from scripts.verify import verify

from narxbench.experiment.study_settings import load_experiment
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import sha256
from narxbench.pipeline.manifest import (
    Manifest,
    check_configuration,
    compare,
    configuration,
    first_difference,
    found_files,
    kind_of,
    manifest_csv,
    manifest_of,
    read_manifest,
    verdict_text,
)
from narxbench.io.yaml import read_mapping

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "docs/results"
CONFIG = {"evaluations": 900, "seeds": [1, 2], "searches": {"ga": {"algorithm": "ga", "settings": {"elitism": False}}}}
VERSIONS = {"numpy": "2.4.6", "python": "3.11"}
DATA = "data/generated/S1/30dB.csv"
RUNS = [f"data/runs/S1/30dB/ga/bic/seed-{seed}.json" for seed in (1, 2)]
CELL = "data/cells/S1/30dB/ga/bic.json"
TABLE = "reports/tables/cells.csv"
PAGE = "reports/report.html"
# In the order of causes.
PATHS = [DATA, *RUNS, CELL, "reports/claims.json", TABLE, "reports/figures/convergence.pdf", PAGE]


def run(fitness: float | None, *terms: str, **versions: str) -> str:
    return json.dumps({"fitness": fitness, "terms": list(terms), "versions": VERSIONS | versions})


def write(folder: Path, **changed: str) -> Path:
    """Write one file of each kind; ``changed`` replaces contents by the names below."""
    cell = {"spurious_ratio": {"value": 0.25}, "spurious_frequency_max": {"value": 0.5}, "exact_runs": 1}
    contents = {
        DATA: changed.get("data", "u,y\n1.0,2.0\n"),
        RUNS[0]: changed.get("run", run(-12.5, "y(k-1)", "u(k-1)")),
        RUNS[1]: changed.get("other_run", run(None)),
        CELL: changed.get("cell", json.dumps(cell)),
        TABLE: changed.get("table", "system,r\nS1,0.25\nS2,0.5\n"),
        "reports/claims.json": "{}",
        "reports/figures/convergence.pdf": "%PDF",
        PAGE: changed.get("page", "<html>"),
    }
    for path, text in contents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def made(tmp_path: Path) -> Manifest:
    return manifest_of(PATHS, CONFIG, write(tmp_path / "made"))


def told(manifest: Manifest, folder: Path, kept: str = "kept") -> list[str]:
    found = found_files(PATHS, CONFIG, folder)
    return verdict_text(compare(manifest, found), manifest, found, "THE MANIFEST", kept, folder).splitlines()


def test_rows_say_what_the_files_say(made: Manifest, tmp_path: Path) -> None:
    assert {path: entry.value for path, entry in made.entries.items() if entry.value} == {
        RUNS[0]: "J = -12.5; terms = 2",
        RUNS[1]: "J = none; terms = 0",
        CELL: "r = 0.25; nu_max = 0.5; exact runs = 1",
    }
    digests = {path: sha256((tmp_path / "made" / path).read_bytes()) for path in PATHS}
    assert {path: entry.sha256 for path, entry in made.entries.items()} == digests


def test_order_is_that_of_causes(made: Manifest, tmp_path: Path) -> None:
    assert list(made.entries) == PATHS
    # Within a kind the order is the given one, so that seed 10 follows seed 9.
    assert list(manifest_of(reversed(PATHS), CONFIG, tmp_path / "made").entries)[:3] == [DATA, *reversed(RUNS)]


def test_conditions_are_versions_platform_and_settings(made: Manifest) -> None:
    assert made.conditions["environment/numpy"] == "2.4.6"
    assert {"environment/platform", "environment/matplotlib", "environment/plotly"} <= set(made.conditions)
    assert configuration(CONFIG) == {
        "configuration/evaluations": "900",
        "configuration/seeds": "[1, 2]",
        "configuration/searches.ga.algorithm": "ga",
        "configuration/searches.ga.settings.elitism": "false",
    }
    assert configuration(CONFIG).items() <= made.conditions.items()


def test_versions_are_those_that_computed_the_runs(tmp_path: Path) -> None:
    folder = write(tmp_path, other_run=run(None, numpy="2.4.7"))
    assert manifest_of(PATHS, CONFIG, folder).conditions["environment/numpy"] == "2.4.6, 2.4.7"


def test_manifest_reads_back(made: Manifest, tmp_path: Path) -> None:
    path = tmp_path / "manifest.csv"
    path.write_text(manifest_csv(made), encoding="utf-8")
    again = read_manifest(path)
    assert again == made
    assert (list(again.entries), list(again.conditions)) == (list(made.entries), list(made.conditions))
    assert manifest_csv(again) == path.read_text(encoding="utf-8")


DIGEST = "0" * 64


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: found []; allowed: path,sha256,value"),
        ("path,value\n", "line 1: found ['path', 'value']; allowed: path,sha256,value"),
        (f"path,sha256,value\n{PAGE},{DIGEST}\n", "line 2: found ['reports/report.html', "),
        (f"path,sha256,value\n{PAGE},{DIGEST[1:]},\n", "allowed: path, SHA-256 digest or nothing, value"),
        (f"path,sha256,value\n{PAGE},{DIGEST},\n{PAGE},{DIGEST},\n", "line 3: found 'reports/report.html' twice"),
        (f"path,sha256,value\n{PAGE},,\n", "line 2: found 'reports/report.html' without a digest"),
        (f"path,sha256,value\nREADME.md,{DIGEST},\n", "README.md: not a result; allowed: "),
        ('path,sha256,value\n"a', "not a CSV text file in UTF-8"),
    ],
)
def test_damaged_manifest(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "manifest.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(NarxbenchError) as raised:
        read_manifest(path)
    assert message in str(raised.value)
    assert str(raised.value).startswith(f"{path}: ")
    assert len(str(raised.value).splitlines()) == 1


def test_missing_manifest(tmp_path: Path) -> None:
    with pytest.raises(NarxbenchError, match=r"manifest\.csv: cannot be read: No such file or directory$"):
        read_manifest(tmp_path / "manifest.csv")


@pytest.mark.parametrize("path", ["reports/made.md", "reports/manifest.csv", "logs/runs/S1.json", "docs/x.csv", ""])
def test_what_is_not_a_result(path: str) -> None:
    with pytest.raises(NarxbenchError, match="not a result"):
        kind_of(path)


def test_manifest_needs_every_file_whole(tmp_path: Path) -> None:
    folder = write(tmp_path, run='{"fitness": -12')
    with pytest.raises(NarxbenchError, match=r"seed-1\.json: damaged; delete it and run again$"):
        manifest_of(PATHS, CONFIG, folder)
    (folder / CELL).unlink()
    with pytest.raises(NarxbenchError, match=r"^data/cells/S1/30dB/ga/bic\.json: missing$"):
        manifest_of([DATA, CELL], CONFIG, folder)


def test_same_files(made: Manifest, tmp_path: Path) -> None:
    assert told(made, tmp_path / "made") == [
        "8 of 8 files are the same as in THE MANIFEST.",
        "Versions and platform are those of the manifest.",
    ]


def test_the_first_difference_is_the_first_cause(made: Manifest, tmp_path: Path) -> None:
    folder = write(tmp_path / "here", page="<HTML>", run=run(-12.25, "y(k-1)"), cell=json.dumps({"damaged": True}))
    lines = told(made, folder)
    digests = [made.entries[RUNS[0]].sha256, sha256((folder / RUNS[0]).read_bytes())]
    assert lines == [
        "5 of 8 files are the same as in THE MANIFEST.",
        "Different: 1 of 2 run files, 1 of 1 cell, 1 of 1 report.",
        "Of the 2 runs and cells that differ, 0 say the same numbers.",
        f"The first, in the order of causes: {RUNS[0]}",
        f"  manifest: J = -12.5; terms = 2; SHA-256 {digests[0][:12]}...",
        f"  here: J = -12.25; terms = 1; SHA-256 {digests[1][:12]}...",
        "Versions and platform are those of the manifest.",
    ]


def test_a_data_set_comes_before_the_runs(made: Manifest, tmp_path: Path) -> None:
    lines = told(made, write(tmp_path / "here", data="u,y\n", run=run(-12.25)))
    assert f"The first, in the order of causes: {DATA}" in lines


def test_other_versions_are_told_apart_from_other_numbers(made: Manifest, tmp_path: Path) -> None:
    lines = told(made, write(tmp_path / "here", run=run(-12.5, "y(k-1)", "u(k-1)", numpy="2.4.7")))
    assert "Of the 1 run or cell that differs, 1 says the same numbers." in lines
    assert lines[-1] == "Made in another environment: numpy 2.4.7, 2.4.6 (manifest: 2.4.6)."


def test_the_first_line_that_differs_of_a_kept_table(made: Manifest, tmp_path: Path) -> None:
    folder = write(tmp_path / "here", table="system,r\nS1,0.25\nS2,0.75\nS3,1.0\n")
    told_without = told(made, folder)
    (folder / "kept").mkdir()
    # Not the version that the manifest names.
    (folder / "kept/cells.csv").write_text("system,r\n")
    assert told(made, folder) == told_without
    (folder / "kept/cells.csv").write_text("system,r\nS1,0.25\nS2,0.5\n")
    start = told(made, folder).index(f"The first line that differs in {TABLE} is line 3:")
    assert told(made, folder)[start + 1 : start + 3] == ["  manifest: S2,0.5", "  here: S2,0.75"]


def test_long_lines_are_shown_where_they_differ(made: Manifest, tmp_path: Path) -> None:
    old, new = ("x" * 1000 + middle + "y" * 1000 for middle in ("1", "2"))
    manifest = manifest_of(PATHS, CONFIG, write(tmp_path / "made", table=old))
    folder = write(tmp_path / "here", table=new)
    (folder / "kept").mkdir()
    (folder / "kept/cells.csv").write_text(old)
    shown = [line for line in told(manifest, folder) if "xxx" in line]
    assert ["x1y" in shown[0], "x2y" in shown[1]] == [True, True]
    assert max(map(len, shown)) < 180


@pytest.mark.parametrize(
    ("a", "b", "found"),
    [
        ("1\n2\n", "1\n2\n", None),
        ("1\n2\n", "1\n3\n", (2, "2", "3")),
        ("1\n", "1\n2\n", (2, "", "2")),
        ("1\n2\n", "", (1, "1", "")),
    ],
)
def test_first_difference(a: str, b: str, found: tuple[int, str, str] | None) -> None:
    assert first_difference(a, b) == found


def test_missing_and_other_files(made: Manifest, tmp_path: Path) -> None:
    folder = tmp_path / "made"
    (folder / RUNS[1]).unlink()
    entries = {path: entry for path, entry in made.entries.items() if path != PAGE}
    lines = told(dataclasses.replace(made, entries=entries), folder)
    assert lines == [
        "6 of 7 files are the same as in THE MANIFEST.",
        "Missing: 1 of 2 run files, made by `snakemake --cores 2`.",
        f"The first that is missing: {RUNS[1]}",
        f"Not in the manifest: {PAGE}",
        "Versions and platform are those of the manifest.",
    ]


def test_another_configuration_is_an_error(made: Manifest, tmp_path: Path) -> None:
    path = tmp_path / "manifest.csv"
    path.write_text(manifest_csv(made), encoding="utf-8")
    check_configuration(path, CONFIG, ["config/config.yaml"])
    with pytest.raises(NarxbenchError) as raised:
        check_configuration(path, {**CONFIG, "evaluations": 901, "new": 1}, ["config/config.yaml", "mine.yaml"])
    message = str(raised.value)
    assert "config/config.yaml, mine.yaml" in message
    assert "evaluations: found 901; allowed: 900" in message
    assert "new: found 1; allowed: nothing" in message
    assert "seeds" not in message
    assert "\n" not in message


def test_verify_hashes_the_files_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(write(tmp_path))
    for path in ("docs/results/manifest.csv", "reports/manifest.csv"):
        write_manifest(PATHS, CONFIG, path)
    names = {"made": "reports/manifest.csv", "log": "log.txt", "config": CONFIG, "kept": "docs/results/manifest.csv"}
    assert verify(**names)
    assert capsys.readouterr().out.startswith("8 of 8 files are the same as in docs/results/manifest.csv.\n")
    Path(PAGE).write_text("changed")
    assert not verify(**names)
    assert f"The first, in the order of causes: {PAGE}" in Path("log.txt").read_text()
    Path("docs/results/manifest.csv").write_text("damaged")
    assert not verify(**names)
    assert Path("log.txt").read_text().startswith("docs/results/manifest.csv: line 1: ")
    assert capsys.readouterr().out == ""


@pytest.fixture(scope="module")
def kept() -> Manifest:
    return read_manifest(KEPT / "manifest.csv")


def test_kept_manifest_is_that_of_the_configuration(kept: Manifest) -> None:
    config = ROOT / "config/config.yaml"
    check_configuration(
        KEPT / "manifest.csv", load_experiment(read_mapping(config), [config]).model_dump(mode="json"), []
    )
    assert Counter(map(kind_of, kept.entries)).items() >= {"data set": 12, "run file": 2880, "cell": 72}.items()


def test_kept_manifest_was_made_with_the_pinned_versions(kept: Manifest) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pins = {pin.name: str(pin.specifier) for pin in map(Requirement, project["tool"]["uv"]["constraint-dependencies"])}
    versions = {name: text for name, text in kept.conditions.items() if name.startswith("environment/")}
    assert versions.pop("environment/platform") == "Linux x86_64"
    assert versions.pop("environment/narxbench") == project["project"]["version"]
    assert versions.pop("environment/python").startswith("3.")
    assert {name: f"=={version}" for name, version in versions.items()} == {
        f"environment/{name}": pins[name]
        for name in ("llvmlite", "numba", "numpy", "matplotlib", "fonttools", "kiwisolver", "plotly", "jinja2")
    } | {"environment/markdown-it-py": pins["markdown-it-py"]}


def test_kept_manifest_belongs_to_the_kept_results(kept: Manifest) -> None:
    by_name = {Path(path).name: entry for path, entry in kept.entries.items() if path.startswith("reports/")}
    files = {path.name: path for path in KEPT.iterdir() if path.name != "manifest.csv"}
    assert len(files) > 10
    differing = [name for name, path in files.items() if by_name[name].sha256 != sha256(path.read_bytes())]
    assert differing == []
    with (KEPT / "cells.csv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            path = f"data/cells/{row['system']}/{row['snr_db']}dB/{row['search']}/{row['criterion']}.json"
            said = f"r = {row['r']}; nu_max = {row['nu_max']}; exact runs = {row['exact_runs']}"
            assert kept.entries[path].value == said
