"""Settings of a study: what is accepted, how files are merged, and how each mistake is told and whom it blames."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narxbench.experiment.interpretations import load_design_choices
from narxbench.experiment.study_settings import COMMAND_LINE, Study, load_study, schema, snr_label
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import canonical_json
from narxbench.io.yaml import read_mapping

CONFIG = Path(__file__).parents[3] / "config"
BASE = CONFIG / "paper.yaml"
CHOICES = load_design_choices()
VARIED = "variations: {criterion: bic, methods: [ga], reference: upso2d, combinations: [], "
VARIED += "finalists: {interpretations: [], criteria: []}"


def load(folder: Path, text: str = "{}", *command_line: str) -> Study:
    overlay = folder / "mine.yaml"
    overlay.write_text(text)
    return load_study([BASE, overlay], command_line, choices=CHOICES)


def mistake(folder: Path, text: str, *command_line: str) -> str:
    with pytest.raises(NarxbenchError) as error:
        load(folder, text, *command_line)
    return str(error.value)


def test_files_of_the_project() -> None:
    paper = load_study([BASE])
    assert (paper.study, paper.page, len(paper.seeds), paper.data.seeds) == ("paper", "paper", 40, [1])
    quick = load_study([BASE, CONFIG / "quick.yaml"])
    assert (quick.study, quick.snr_db, quick.seeds, quick.methods["ga"].criteria) == (
        "quick",
        [30],
        [1, 2, 3, 4],
        ["bic"],
    )
    varied = load_study([BASE, CONFIG / "interpretations.yaml"])
    assert (varied.study, varied.page, varied.data.seeds) == ("interpretations", "interpretations", [1, 2, 3, 4, 5])


def test_schema_is_up_to_date_and_fits_the_files() -> None:
    committed = CONFIG.parent / "workflow" / "schemas" / "study.schema.json"
    command = "python -m narxbench.experiment.study_settings > workflow/schemas/study.schema.json"
    assert committed.read_text() == canonical_json(schema(), indent=1), f"run: {command}"
    validator = pytest.importorskip("jsonschema").Draft202012Validator(json.loads(committed.read_text()))
    for name in ("paper", "quick", "interpretations"):
        assert [error.message for error in validator.iter_errors(read_mapping(CONFIG / f"{name}.yaml"))] == []
    assert validator.is_valid({"methods": {"ga": None}, "data": {"excitation": {"kind": "gaussian"}}, "seeds": [3]})
    for wrong in ({"snr_dbb": [1]}, {"methods": {"ga": {"algorithm": "ga", "settings": {"popsize": 1}}}}):
        assert not validator.is_valid(wrong)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("snr_dbb: [50]", "snr_dbb: unknown key; allowed: study, page, interpretation, systems, snr_db, seeds"),
        ("snr_dbb: [50]", "(did you mean 'snr_db'?)"),
        ("study: a b", "study: found 'a b'; allowed: a name of letters, digits, _ and -"),
        ("study: Reference", "study: found 'Reference', the folder of the published values; allowed: any other name"),
        ("study: null", "study: found null; allowed: a name"),
        ("page: papers", "page: found 'papers'; allowed: one of paper, interpretations (did you mean 'paper'?)"),
        ("interpretation: closests", "interpretation: found 'closests'; allowed: an interpretation of config/"),
        ("interpretation: closests", "(did you mean 'closest'?)"),
        ("interpretation: [closest]", "interpretation: found ['closest']; allowed: an interpretation"),
        ("data: {sampels: 5}", "data.sampels: unknown key; allowed: excitation, noise, realisation, samples"),
        ("systems: [S1, SS2]", "systems[1]: found 'SS2'; allowed: a file in config/systems, which has S1, S2, S3, S4"),
        ("systems: [S1, SS2]", "(did you mean 'S2'?)"),
        ("systems: [S1, S2, S1]", "systems[2]: found 'S1' twice; allowed: each once"),
        ("systems: [../S1]", "systems[0]: found '../S1'; allowed: a name of letters, digits, _ and -"),
        ("systems: [S1, s1]", "systems[1]: found 's1' beside 'S1'; allowed: names that differ in more than upper and"),
        ("systems: []", "systems: found [] (list); allowed: a list of at least one entry"),
        ("systems: S1", "systems: found 'S1'"),
        ("snr_db: [50, fifty, 30]", "snr_db[1]: found 'fifty' (text); allowed: a number from -300 to 300"),
        ("snr_db: [50, '30']", "(did you mean the number 30?)"),
        ("snr_db: [30, 50, 30.0]", "snr_db[2]: found 30.0 twice; allowed: each once"),
        ("snr_db: [true, 30]", "snr_db[0]: found true; allowed: a number"),
        ("seeds: -3", "seeds: found -3; allowed: a positive whole number, or a list of distinct positive whole"),
        ("seeds: true", "seeds: found true; allowed: a positive whole number"),
        ("seeds: [1, -2]", "seeds[1]: found -2; allowed: a positive whole number"),
        ("seeds: [4, 4]", "seeds[1]: found 4 twice; allowed: each once"),
        ("seeds_per_job: 0", "seeds_per_job: found 0; allowed: a whole number from 1 to"),
        ("evaluations: 0", "evaluations: found 0; allowed: a whole number from 1 to 1000000000"),
        (
            "evaluations: '6e3'",
            "evaluations: found '6e3' (text); allowed: a whole number from 1 to 1000000000 (did you",
        ),
        ("data: {validation_samples: 2000}", "found 2000; allowed: less than data.samples, which is 2000"),
        ("data: {noise: input}", "data.noise: found 'input'; allowed: one of output, equation"),
        ("data: {seeds: 2}", "data.seeds: found 2 seeds; allowed: one, for the paper's tables show one data set"),
        ("data: {excitation: {kind: gausian}}", "kind: found 'gausian'; allowed: one of autoregressive, gaussian,"),
        ("data: {excitation: {kind: uniform, low: 1}}", "data.excitation: found low 1 and high 1; allowed: low below"),
        ("data: {excitation: {kind: gaussian, low: 0}}", "data.excitation.low: unknown key; allowed: kind, sd"),
        ("fitness: {error: two_step}", "fitness.error: found 'two_step'; allowed: one of free_run, one_step"),
        ("methods: {GA: {algorithm: ga, criteria: [bic]}}", "methods.GA: found 'GA' beside 'ga'; allowed: names"),
        ("methods: {nul: {algorithm: ga, criteria: [bic]}}", "found 'nul', which Windows keeps for a device"),
        ("methods: {ga: {settings: {popsize: 9}}}", "methods.ga.settings.popsize: unknown key; allowed: population_"),
        ("methods: {ga: {settings: {elitism: 1}}}", "methods.ga.settings.elitism: found 1; allowed: true or false"),
        ("methods: {ga: {settings: {selection: propotional}}}", "(did you mean 'proportional'?)"),
        ("methods: {ga: {settings: null}}", "methods.ga.settings: found null"),
        ("methods: {ga: {algorithm: gaa}}", "methods.ga.algorithm: algorithm: found 'gaa'; allowed: 'ga', 'stepwise',"),
        ("methods: {ga: {criteria: [bicc]}}", "methods.ga.criteria[0]: "),
        ("methods: {ga: {criteria: [bic, bic]}}", "methods.ga.criteria[1]: found 'bic' twice; allowed: each once"),
        ("methods: {ga: {criteria: []}}", "methods.ga.criteria: found [] (list); allowed: a list of at least one"),
        ("methods: {a/b: {algorithm: ga, criteria: [bic]}}", "methods: found the key 'a/b' (text); allowed: a name"),
        ("methods: {new: {algorithm: ga}}", "methods.new.criteria: missing; allowed: a list of at least one entry"),
        ("methods: {ga: null, upso2d: null}", "methods: found {} (mapping); allowed: a mapping of names"),
        ("methods: [ga]", "methods: found ['ga'] (list); allowed: a mapping of names"),
        ("statistics: {threshold: 1.5}", "statistics.threshold: found 1.5; allowed: a number from 0 to 1"),
        ("statistics: {confidence: 95}", "statistics.confidence: found 95; allowed: a number above 0 and below 1"),
        ("figures: {snr_db: 33}", "figures.snr_db: found 33, which is not in snr_db; allowed: one of 50, 40, 30"),
        ("page: interpretations", "page: found interpretations without settings under variations; allowed: with"),
        (VARIED + "}", "variations: found settings; allowed: none with the page paper"),
        (f"page: interpretations\n{VARIED}, methods: [gaa]}}", "the key 'methods' is given twice"),
        (
            f"page: interpretations\n{VARIED.replace('[ga]', '[gaa]')}}}",
            "variations.methods[0]: found 'gaa'; allowed: a",
        ),
        (f"page: interpretations\n{VARIED.replace('upso2d', 'upso')}}}", "variations.reference: found 'upso'; allowed"),
        (
            f"page: interpretations\n{VARIED.replace('combinations: []', 'combinations: [{}, {tie: random}]')}}}",
            "variations.combinations[1].tie: unknown design choice; allowed: input, noise",
        ),
        (
            f"page: interpretations\n{VARIED.replace('interpretations: []', 'interpretations: [nobody]')}}}",
            "variations.finalists.interpretations[0]: found 'nobody'; allowed: a named interpretation: cited-source",
        ),
    ],
)
def test_a_mistake_is_one_line_of_file_key_found_and_allowed(tmp_path: Path, text: str, message: str) -> None:
    told = mistake(tmp_path, text)
    assert message in told
    assert told.startswith(f"{tmp_path}/mine.yaml: ")
    assert "\n" not in told


def test_each_line_blames_the_file_or_command_line_that_has_the_last_word(tmp_path: Path) -> None:
    text = "seeds: -1\nevaluations: 0\nstatistics: {treshold: 1}"
    told = mistake(tmp_path, text, "evaluations=many", "data={seed: -1}")
    places = [tuple(line.split(": ")[:2]) for line in told.splitlines()]
    mine = f"{tmp_path}/mine.yaml"
    expected = [(mine, "seeds"), (COMMAND_LINE, "evaluations"), (COMMAND_LINE, "data.seed")]
    assert places == [*expected, (mine, "statistics.treshold")]
    # The overlay dropped the SNR that the base shows.
    assert mistake(tmp_path, "snr_db: [50, 37.5]").startswith(f"{BASE}: figures.snr_db: found 30, which is not in snr_")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("evaluations", "found 'evaluations'; allowed: KEY=VALUE"),
        ("seeds=[1", "seeds: line 1"),
        ("x=1", "x: unknown key"),
    ],
)
def test_mistakes_of_the_command_line(tmp_path: Path, text: str, told: str) -> None:
    assert mistake(tmp_path, "{}", text).startswith(f"{COMMAND_LINE}: {told}")


def test_an_overlay_is_named_after_its_file_or_as_it_says(tmp_path: Path) -> None:
    assert load(tmp_path).study == "mine"
    assert load(tmp_path, "study: other").study == "other"
    assert load(tmp_path, "study: other", "study=third").study == "third"
    file = tmp_path / "not a name.yaml"
    file.write_text("{}")
    with pytest.raises(NarxbenchError, match=r"not a name\.yaml: study: found 'not a name'; allowed: a name"):
        load_study([BASE, file], choices=CHOICES)


def test_merging(tmp_path: Path) -> None:
    study = load(
        tmp_path, "systems: [S2]\ndata: {washout: 7}\nseeds: [7, 3]", "evaluations=900", "data={samples: 1000}"
    )
    assert (study.systems, study.seeds, study.evaluations) == (["S2"], [7, 3], 900)
    assert (study.data.washout, study.data.samples, study.data.validation_samples) == (7, 1000, 600)


def test_another_kind_or_algorithm_starts_anew(tmp_path: Path) -> None:
    study = load(tmp_path, "data: {excitation: {kind: gaussian, sd: 2.0}}\nmethods: {upso2d: {algorithm: ga}}")
    assert study.data.excitation.model_dump() == {"kind": "gaussian", "sd": 2.0}
    defaults = load(tmp_path, "methods: {ga: {settings: {population_size: 80}}}").methods["ga"].settings
    assert study.methods["upso2d"].settings == defaults
    study = load(tmp_path, "data: {excitation: {kind: gaussian}}", "data={excitation: {kind: uniform, high: 0.5}}")
    assert study.data.excitation.model_dump() == {"kind": "uniform", "low": -1.0, "high": 0.5}


def test_methods_may_be_named_like_keys(tmp_path: Path) -> None:
    method = "{algorithm: ga, criteria: [bic]}"
    study = load(tmp_path, f"methods: {{kind: {method}, algorithm: {method}, settings: {method}}}")
    assert list(study.methods) == ["upso2d", "ga", "kind", "algorithm", "settings"]
    assert study.methods["kind"].settings.model_dump()["selection"] == "proportional"


def test_null_leaves_a_method_out(tmp_path: Path) -> None:
    study = load(tmp_path, "methods: {ga: null, wide: {algorithm: ga, criteria: [aic-4]}}")
    assert list(study.methods) == ["upso2d", "wide"]


def test_the_interpretation_fills_in_what_is_not_given(tmp_path: Path) -> None:
    study = load(tmp_path, "interpretation: closest\nmethods: {new: {algorithm: upso2d, criteria: [bic]}}")
    for name in ("upso2d", "new"):
        assert study.methods[name].settings.model_dump()["velocity_bound"] == 1.75
    assert study.methods["ga"].settings.model_dump()["result"] == "last_generation"
    assert study.data.excitation.model_dump() == {"kind": "uniform", "low": -1.0, "high": 1.0}
    own = load(tmp_path, "interpretation: closest\nmethods: {upso2d: {settings: {velocity_bound: null}}}")
    assert own.methods["upso2d"].settings.model_dump()["velocity_bound"] is None
    own = load(tmp_path, "interpretation: closest\ndata: {excitation: {high: 0.5}}")
    assert own.data.excitation.model_dump() == {"kind": "uniform", "low": -1.0, "high": 0.5}


def test_labels_of_snr() -> None:
    assert [snr_label(x) for x in (50, 50.0, 37.5, -5, 0.0, -0.0)] == ["50", "50", "37.5", "-5", "0", "0"]
    assert snr_label(0.1 + 0.2) != snr_label(0.3)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.integers() | st.none(), inner, max_size=3)
    ),
    max_leaves=8,
)
_PLACES = [(), ("data",), ("data", "excitation"), ("fitness",), ("methods",), ("methods", "ga"), ("statistics",)]
_KEYS = ["kind", "algorithm", "settings", "criteria", "ga", "seeds", "snr_db", "data", "methods", "interpretation"]


@settings(max_examples=50, deadline=None)
@given(place=st.sampled_from(_PLACES), key=st.sampled_from(_KEYS) | st.text(), value=_VALUES)
def test_any_value_anywhere_is_accepted_or_told(place: tuple[str, ...], key: str, value: Any) -> None:
    overlay: dict[str, Any] = {key: value}
    for name in reversed(place):
        overlay = {name: overlay}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("narxbench.experiment.study_settings.read_mapping", lambda path: BASES[path]())
        BASES["mine.yaml"] = lambda: overlay
        try:
            study = load_study(["paper.yaml", "mine.yaml"], choices=CHOICES)
        except NarxbenchError as error:
            assert all(line.isprintable() and len(line) < 600 for line in str(error).split("\n"))
        else:
            canonical_json(study.model_dump(mode="json")).encode()


BASES: dict[str, Any] = {"paper.yaml": lambda: read_mapping(BASE)}
