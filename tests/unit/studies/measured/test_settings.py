"""The settings of a study of measured data, and mistakes in them and in the data."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.lookups import roles_of

from narxbench._io.errors import NarxbenchError
from narxbench._io.files import canonical_json
from narxbench._io.yaml import read_mapping
from narxbench._studies.measured.settings import MeasuredStudy, load_measured, schema
from narxbench._study.layers import read_layers

ROOT = Path(__file__).parents[4]
COMMAND_LINE = "command line (--config)"
STUDY = "kind: measured\ndata: {files: a.csv, input: u, output: y}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in a folder with two files of data."""
    monkeypatch.chdir(tmp_path)
    for name, u in zip(("a.csv", "b.csv"), np.random.default_rng(1).uniform(size=(2, 300)), strict=True):
        y = np.convolve(u, [0, 0.5, 0.25])[:300]
        pd.DataFrame({"time": np.arange(300) / 10, "u": u, "y": y}).to_csv(name, index=False)


def load(text: str, *command_line: str) -> MeasuredStudy:
    Path("mine.yaml").write_text(text)
    return load_measured(read_layers(["mine.yaml"], command_line))[0]


def mistake(text: str, *command_line: str) -> str:
    with pytest.raises(NarxbenchError) as error:
        load(text, *command_line)
    return str(error.value)


def test_a_study_needs_no_other_file_and_is_named_as_its_own() -> None:
    study = load(STUDY)
    assert (study.study, study.files, study.data.test_files) == ("mine", ["a.csv"], [])
    assert study.reading == {"data": ["a.csv"], "input": "u", "output": "y"}
    assert study.identification.resamples == 0


def test_overlays_and_command_line_are_merged() -> None:
    Path("other.yaml").write_text("data: {test: b.csv}\nidentification: {seeds: 2, effort: 3}\n")
    Path("mine.yaml").write_text(STUDY)
    study, scan = load_measured(
        read_layers(["mine.yaml", "other.yaml"], ["identification={seeds: 7, degree: 2}", "study=last"])
    )
    assert (study.study, study.identification.seeds, study.identification.effort) == ("last", 7, 3.0)
    assert (study.reading["test"], study.files) == (["b.csv"], ["a.csv", "b.csv"])
    assert {configuration.degree for configuration in scan.configurations} == {2}
    assert scan.settings == study.identification
    assert set(roles_of(scan.recording.records)) == {None, "test"}


def test_a_share_is_no_file() -> None:
    study = load(STUDY.replace("output: y", "output: y, test: 20%, units: {y: V}, time: false"))
    assert study.files == ["a.csv"] and study.data.test_files == []
    reading = {"data": ["a.csv"], "input": "u", "output": "y", "test": "20%", "time": False, "units": {"y": "V"}}
    assert study.reading == reading


def test_the_example_of_the_documentation_is_a_study() -> None:
    text = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
    example = text[text.index("kind: measured\ndata:") :].partition("```")[0]
    for name in ("run1.csv", "run2.csv"):
        Path(name).write_text(Path("a.csv").read_text().replace("time,u,y", "valve,level,flow"))
    study = load(example)
    assert (study.files, study.data.test, study.reading["input"]) == (["run1.csv", "run2.csv"], "20%", ["valve", 3])


def test_mistakes_of_the_command_line_and_of_names() -> None:
    assert mistake(STUDY, "data={output: z}").startswith(f"{COMMAND_LINE}: data.output: a.csv: found no column 'z'; ")
    assert mistake(STUDY, "study=reference").startswith(f"{COMMAND_LINE}: study: found 'reference', the folder of ")
    Path("data/mine").mkdir(parents=True)
    Path("a.csv").rename("data/mine/a.csv")
    reported = mistake(STUDY.replace("a.csv", "data/mine/a.csv"))
    assert reported.startswith("mine.yaml: study: found 'mine', but data/mine holds data, and would hold results;")


def test_schema_is_up_to_date_and_fits_the_file() -> None:
    committed = ROOT / "workflow" / "schemas" / "measured.schema.json"
    command = "python -m narxbench._studies.measured.settings > workflow/schemas/measured.schema.json"
    assert committed.read_text() == canonical_json(schema(), indent=1), f"run: {command}"
    validator = pytest.importorskip("jsonschema").Draft202012Validator(json.loads(committed.read_text()))
    assert validator.is_valid(read_mapping(ROOT / "config" / "measured.yaml"))
    assert validator.is_valid({"data": {"files": ["a.csv"], "test": 0.2, "input": ["u", 2], "time": False}})
    for wrong in ({"daten": {}}, {"data": {"file": "a.csv"}}, {"identification": {"seeds": "four"}}):
        assert not validator.is_valid(wrong)
