"""Settings of a study: valid values, how files are merged, and the place that a mistake names."""

import json
import re
from pathlib import Path

import pytest

from narxbench._io.errors import NarxbenchError
from narxbench._io.files import canonical_json
from narxbench._io.yaml import read_mapping
from narxbench._studies.loading import load_study, schema
from narxbench._study.design_choices import load_design_choices
from narxbench._study.layers import COMMAND_LINE, merge_layers, read_layers
from narxbench._study.settings import SHIPPED, Study

CONFIG = Path(__file__).parents[3] / "config"
BASE = CONFIG / "paper.yaml"
CHOICES = load_design_choices()


def load(folder: Path, text: str = "{}", *command_line: str) -> Study:
    overlay = folder / "mine.yaml"
    overlay.write_text(text)
    layers = [*read_layers([BASE]), *read_layers([overlay], command_line)]
    return load_study(layers, choices=CHOICES)


def test_schema_is_up_to_date_and_fits_the_files() -> None:
    committed = CONFIG.parent / "workflow" / "schemas" / "study.schema.json"
    command = "python -m narxbench._studies.loading > workflow/schemas/study.schema.json"
    assert committed.read_text() == canonical_json(schema(), indent=1), f"run: {command}"
    validator = pytest.importorskip("jsonschema").Draft202012Validator(json.loads(committed.read_text()))
    for name in ("paper", "quick", "interpretations", "methods", "methods_quick"):
        before = ["methods.yaml"] if name == "methods_quick" else []
        files = [CONFIG / file for file in (*before, f"{name}.yaml")]
        assert load_study([*read_layers([BASE]), *read_layers(files)]).study == name
        assert validator.is_valid(read_mapping(CONFIG / f"{name}.yaml"))
    assert validator.is_valid({"methods": {"ga": None}, "data": {"excitation": {"kind": "gaussian"}}, "seeds": [3]})
    for wrong in ({"snr_dbb": [1]}, {"methods": {"ga": {"algorithm": "ga", "settings": {"popsize": 1}}}}):
        assert not validator.is_valid(wrong)


def test_each_line_blames_the_file_or_command_line_that_has_the_last_word(tmp_path: Path) -> None:
    text = "seeds: -1\nevaluations: 0\nstatistics: {treshold: 1}"
    with pytest.raises(NarxbenchError) as error:
        load(tmp_path, text, "evaluations=many", "data={seed: -1}")
    places = [tuple(line.split(": ")[:2]) for line in str(error.value).splitlines()]
    mine = f"{tmp_path}/mine.yaml"
    expected = [(mine, "seeds"), (COMMAND_LINE, "evaluations"), (COMMAND_LINE, "data.seed")]
    assert places == [*expected, (mine, "statistics.treshold")]
    # The overlay dropped the SNR that the base shows.
    with pytest.raises(NarxbenchError, match=rf"^{BASE}: figures\.snr_db: found 30, which is not in snr_"):
        load(tmp_path, "snr_db: [50, 37.5]")


def test_an_overlay_is_named_after_its_file_or_as_it_says(tmp_path: Path) -> None:
    assert load(tmp_path).study == "mine"
    assert load(tmp_path, "study: other", "study=third").study == "third"


def test_a_study_that_a_file_names_prevails_over_the_name_of_a_later_file(tmp_path: Path) -> None:
    (tmp_path / "first.yaml").write_text("study: named")
    (tmp_path / "second.yaml").write_text("seeds: 2")
    files = [tmp_path / "first.yaml", tmp_path / "second.yaml"]
    assert merge_layers(read_layers(files)) == {"study": "named", "seeds": 2}
    assert merge_layers(read_layers(files[::-1])) == {"study": "named", "seeds": 2}
    assert merge_layers(read_layers(files[1:])) == {"study": "second", "seeds": 2}


def test_no_study_has_the_name_of_a_folder_that_comes_with_the_project() -> None:
    """Git keeps what is in these folders, and ignores the results of studies beside them."""
    ignored = (CONFIG.parent / ".gitignore").read_text(encoding="utf-8")
    assert set(re.findall(r"^!/data/(.*)/$", ignored, re.MULTILINE)) == SHIPPED.keys()


def test_another_kind_or_algorithm_starts_anew(tmp_path: Path) -> None:
    study = load(tmp_path, "data: {excitation: {kind: gaussian, sd: 2.0}}\nmethods: {upso2d: {algorithm: ga}}")
    assert study.data.washout == 100
    assert study.data.excitation.model_dump() == {"kind": "gaussian", "sd": 2.0}
    defaults = load(tmp_path, "methods: {ga: {settings: {population_size: 80}}}").methods["ga"].settings
    assert study.methods["upso2d"].settings == defaults
    study = load(tmp_path, "data: {excitation: {kind: gaussian}}", "data={excitation: {kind: uniform, high: 0.5}}")
    assert study.data.excitation.model_dump() == {"kind": "uniform", "low": -1.0, "high": 0.5}


def test_methods_are_left_out_by_null_and_may_be_named_like_keys(tmp_path: Path) -> None:
    method = "{algorithm: ga, criteria: [bic]}"
    study = load(tmp_path, f"methods: {{ga: null, kind: {method}, algorithm: {method}, settings: {method}}}")
    assert list(study.methods) == ["upso2d", "kind", "algorithm", "settings"]
    assert study.methods["kind"].settings.model_dump()["selection"] == "proportional"


def test_the_interpretation_fills_in_what_is_not_given(tmp_path: Path) -> None:
    study = load(tmp_path, "interpretation: reset\nmethods: {new: {algorithm: upso2d, criteria: [bic]}}")
    for name in ("upso2d", "new"):
        assert study.methods[name].settings.model_dump()["restart_count"] == "reset_by_improvement"
    assert study.data.snr_of == "variance" and load(tmp_path, "interpretation: closest").data.snr_of == "power"
    assert study.data.excitation.model_dump() == {"kind": "uniform", "low": -1.0, "high": 1.0}
    literal = load(tmp_path, "interpretation: reset\nmethods: {upso2d: {settings: {restart_count: literal}}}")
    assert literal.methods["upso2d"].settings.model_dump()["restart_count"] == "literal"
