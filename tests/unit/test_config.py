"""The configuration: what is accepted, and how each mistake is told, with the file that made it."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.fuzz.targets import merged

from narxbench.experiment.study_settings import check_config_files, label, load_experiment, read_mapping, schema
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import canonical_json
from narxbench.experiment.interpretations import READINGS_FILE, load_readings, reading_settings
from narxbench.model.system import load_system
from narxbench.model.terms import candidate_terms

ROOT = Path(__file__).parents[2]
BASE = ROOT / "config" / "config.yaml"


def load(tmp_path: Path, text: str = "", command_line: dict[str, Any] | None = None) -> Any:
    overlay = tmp_path / "mine.yaml"
    overlay.write_text(text or "{}")
    config = merged(merged(read_mapping(BASE), yaml.safe_load(overlay.read_text())), command_line or {})
    return load_experiment(config, [BASE, overlay])


@pytest.mark.parametrize("overlays", [[], ["quick.yaml"]])
def test_committed_files_are_valid(overlays: list[str]) -> None:
    paths = [BASE, *(ROOT / "config" / name for name in overlays)]
    config: dict[str, Any] = {}
    for path in paths:
        config = merged(config, read_mapping(path))
    experiment = load_experiment(config, paths)
    runs = len(list(experiment.cells())) * len(experiment.seeds)
    assert runs == (64 if overlays else 2880)


def test_config_and_reading_list_every_setting(tmp_path: Path) -> None:
    given, readings = read_mapping(BASE), load_readings()
    chosen = reading_settings(readings, readings.named[given["reading"]])
    defaults = {part: chosen[part] for part in ("data", "fitness")}
    defaults["searches"] = {name: {"settings": chosen[name]} for name in ("upso2d", "ga")}
    resolved = load(tmp_path).model_dump(mode="json")
    assert merged(defaults, given) | {"seeds": list(range(1, 41))} == resolved


def test_a_reading_gives_what_is_not_set_otherwise(tmp_path: Path) -> None:
    file = tmp_path / "readings.yaml"
    mapping = read_mapping(READINGS_FILE)
    mapping["readings"]["mine"] = {"velocity-bound": "4", "selection": "tournament", "input": "gaussian"}
    file.write_text(yaml.safe_dump(mapping))

    def read(**changes: Any) -> Any:
        config = merged(read_mapping(BASE), {"reading": "mine", **changes})
        return load_experiment(config, [BASE], readings_file=file)

    plain = read()
    assert plain.searches["upso2d"].settings.model_dump()["velocity_bound"] == 4.0
    assert plain.searches["ga"].settings.model_dump()["selection"] == "tournament"
    assert plain.data.excitation.model_dump() == {"kind": "gaussian", "sd": 0.5}
    own = read(
        searches={"upso2d": {"settings": {"velocity_bound": None}}, "third": {"algorithm": "ga", "criteria": ["bic"]}},
        data={"excitation": {"kind": "uniform"}},
    )
    assert own.searches["upso2d"].settings.model_dump()["velocity_bound"] is None
    assert own.searches["third"].settings.model_dump()["selection"] == "tournament"
    assert own.data.excitation.model_dump() == {"kind": "uniform", "low": -1.0, "high": 1.0}
    with pytest.raises(NarxbenchError, match=r"reading: found 'mein'; allowed: .*\(did you mean 'mine'\?\)"):
        read(reading="mein")


def test_readme_explains_every_setting() -> None:
    def keys(value: Any) -> set[str]:
        return set().union(*({key} | keys(v) for key, v in value.items())) if isinstance(value, dict) else set()

    text = (ROOT / "config" / "README.md").read_text()
    assert [key for key in sorted(keys(read_mapping(BASE))) if f"`{key}`" not in text] == []


def test_schema_is_up_to_date() -> None:
    committed = (ROOT / "workflow" / "schemas" / "config.schema.json").read_text()
    assert committed == canonical_json(schema()), (
        "run: python -m narxbench.config > workflow/schemas/config.schema.json"
    )
    assert json.loads(committed)["additionalProperties"] is False


def test_editors_accept_the_committed_files_and_see_mistakes() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(schema())
    assert [
        e.message
        for name in ("config", "quick")
        for e in validator.iter_errors(read_mapping(BASE.parent / f"{name}.yaml"))
    ] == []
    for mistake in ({"snr_dbb": [1]}, {"searches": {"ga": {"algorithm": "ga", "settings": {"popsize": 1}}}}):
        assert list(validator.iter_errors(mistake))
    assert validator.is_valid({"searches": {"ga": None}, "data": {"excitation": {"kind": "gaussian"}}, "seeds": [3]})


@pytest.mark.parametrize(("name", "terms", "candidates"), [("S1", 4, 66), ("S2", 5, 66), ("S3", 4, 84), ("S4", 23, 66)])
def test_committed_systems_are_the_published_ones(name: str, terms: int, candidates: int) -> None:
    system = load_system(name, BASE.parent / "systems")
    expected = candidate_terms(n_y=system.n_y, n_u=system.n_u, degree=system.degree)
    assert (len(system.terms), len(expected)) == (terms, candidates)
    assert set(system.terms) <= set(expected)
    assert read_mapping(BASE.parent / "systems" / f"{name}.yaml").keys() >= {"description", "equation"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("snr_dbb: [50]", "snr_dbb: unknown key; allowed: reading, systems, snr_db, seeds"),
        ("snr_dbb: [50]", "(did you mean 'snr_db'?)"),
        ("data: {sampels: 5}", "data.sampels: unknown key; allowed: excitation, noise, realisation, samples"),
        ("systems: [S1, SS2]", "systems[1]: found 'SS2'; allowed: a file in config/systems, which has S1, S2, S3, S4"),
        ("systems: [S1, SS2]", "(did you mean 'S2'?)"),
        ("systems: [S1, S2, S1]", "systems[2]: found 'S1' twice; allowed: each once"),
        ("systems: [../S1]", "systems[0]: found '../S1'; allowed: a name of letters, digits, _ and -"),
        ("systems: []", "systems: found [] (list); allowed: a list of at least one entry"),
        ("systems: S1", "systems: found 'S1'"),
        ("snr_db: [50, fifty, 30]", "snr_db[1]: found 'fifty' (text); allowed: a number from -300 to 300"),
        ("snr_db: [50, '30']", "(did you mean the number 30?)"),
        ("snr_db: [30, 50, 30.0]", "snr_db[2]: found 30.0 twice; allowed: each once"),
        ("snr_db: [.nan, 30]", "snr_db[0]: found nan; allowed: a number"),
        ("snr_db: [true, 30]", "snr_db[0]: found true; allowed: a number"),
        ("snr_db: 30", "snr_db: found 30; allowed: a list of at least one entry"),
        (
            "seeds: -3",
            "seeds: found -3; allowed: a positive whole number of runs, or a list of distinct positive whole",
        ),
        ("seeds: 0", "seeds: found 0; allowed: a positive whole number of runs"),
        ("seeds: true", "seeds: found true; allowed: a positive whole number of runs"),
        ("seeds: [1, -2]", "seeds[1]: found -2; allowed: a positive whole number"),
        ("seeds: [4, 4]", "seeds[1]: found 4 twice; allowed: each once"),
        ("evaluations: 0", "evaluations: found 0; allowed: a whole number from 1 to 1000000000"),
        (
            "evaluations: 6e3",
            "evaluations: found '6e3' (text); allowed: a whole number from 1 to 1000000000 (did you mean the number",
        ),
        ("data: {validation_samples: 2000}", "found 2000; allowed: less than data.samples, which is 2000"),
        ("data: {noise: input}", "data.noise: found 'input'; allowed: one of output, equation"),
        ("systems: [S1, s1]", "systems[1]: found 's1' beside 'S1'; allowed: names that differ in more than upper and"),
        ("searches: {GA: {algorithm: ga, criteria: [bic]}}", "searches.GA: found 'GA' beside 'ga'; allowed: names"),
        ("data: {excitation: {kind: gausian}}", "kind: found 'gausian'; allowed: one of autoregressive, gaussian,"),
        ("data: {excitation: {kind: uniform, low: 1}}", "data.excitation: found low 1 and high 1; allowed: low below"),
        ("searches: {ga: {settings: {popsize: 9}}}", "searches.ga.settings.popsize: unknown key; allowed: population_"),
        ("searches: {ga: {settings: {elitism: 1}}}", "searches.ga.settings.elitism: found 1; allowed: true or false"),
        ("searches: {ga: {settings: {selection: propotional}}}", "(did you mean 'proportional'?)"),
        ("searches: {ga: {algorithm: gaa}}", "searches.ga.algorithm: "),
        ("searches: {ga: {criteria: [bicc]}}", "searches.ga.criteria[0]: "),
        ("searches: {ga: {criteria: [bic, bic]}}", "searches.ga.criteria[1]: found 'bic' twice; allowed: each once"),
        ("searches: {ga: {criteria: []}}", "searches.ga.criteria: found [] (list); allowed: a list of at least one"),
        ("searches: {a/b: {algorithm: ga, criteria: [bic]}}", "searches: found the key 'a/b' (text); allowed: a name"),
        ("searches: {new: {algorithm: ga}}", "searches.new.criteria: missing; allowed: a list of at least one entry"),
        ("searches: {ga: null, upso2d: null}", "searches: found {} (mapping); allowed: a mapping of names"),
        ("statistics: {threshold: 1.5}", "statistics.threshold: found 1.5; allowed: a number from 0 to 1"),
        ("statistics: {confidence: 95}", "statistics.confidence: found 95; allowed: a number above 0 and below 1"),
        ("figures: {snr_db: 33}", "figures.snr_db: found 33, which is not in snr_db; allowed: one of 50, 40, 30"),
    ],
)
def test_mistakes(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(NarxbenchError) as error:
        load(tmp_path, text)
    assert message in str(error.value)
    assert str(error.value).startswith(f"{tmp_path}/mine.yaml: ")


def test_an_overlay_that_drops_the_snr_of_the_figures(tmp_path: Path) -> None:
    with pytest.raises(NarxbenchError) as error:
        load(tmp_path, "snr_db: [50, 37.5]")
    assert str(error.value) == (f"{BASE}: figures.snr_db: found 30, which is not in snr_db; allowed: one of 50, 37.5")


def test_each_line_names_the_place_that_has_the_last_word(tmp_path: Path) -> None:
    with pytest.raises(NarxbenchError) as error:
        load(
            tmp_path,
            "seeds: -1\nevaluations: 0\nstatistics: {treshold: 1}",
            {"evaluations": "many", "data": {"seed": -1}},
        )
    places = [tuple(line.split(": ")[:2]) for line in str(error.value).splitlines()]
    mine, command_line = f"{tmp_path}/mine.yaml", "command line (--config)"
    assert places == [
        (mine, "seeds"),
        (command_line, "evaluations"),
        (command_line, "data.seed"),
        (mine, "statistics.treshold"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seeds: 4\nsnr_db: [30]\nseeds: 5\n", "line 3, column 1: the key 'seeds' is given twice (first in line 1)"),
        ("data:\n  seed: 1\n  seed: 2\n", "line 3, column 3: the key 'seed' is given twice (first in line 2)"),
        ("seeds: [1, 2\nsnr_db: [30]\n", "line 2, column 7: "),
        ("seeds: 4\n\tsnr_db: 3\n", "line 2, column 1: "),
        ("- seeds\n", "found ['seeds'] (list) at the top level; allowed: a mapping (KEY: VALUE)"),
        ("", "found null at the top level; allowed: a mapping"),
        ("a: \x07", "not YAML: "),
        ("? [a]\n: b\n", "line 1, column 3: found unhashable key"),
    ],
)
def test_unreadable_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(NarxbenchError) as error:
        check_config_files([BASE, path])
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_missing_and_binary_files(tmp_path: Path) -> None:
    with pytest.raises(NarxbenchError, match=r"nowhere\.yaml: cannot be read: No such file"):
        check_config_files([tmp_path / "nowhere.yaml"])
    with pytest.raises(
        NarxbenchError, match=r"^--configfile: found 'verify', no file; if it is a target, put it first$"
    ):
        check_config_files([BASE, "verify"])
    (tmp_path / "binary.yaml").write_bytes(b"a: \xff\xfe")
    with pytest.raises(NarxbenchError, match=r"binary\.yaml: not text in UTF-8"):
        check_config_files([tmp_path / "binary.yaml"])


def test_another_kind_does_not_inherit_settings(tmp_path: Path) -> None:
    experiment = load(tmp_path, "data: {excitation: {kind: gaussian, sd: 0.5}}\nsearches: {upso2d: {algorithm: ga}}")
    assert experiment.data.excitation.model_dump() == {"kind": "gaussian", "sd": 0.5}
    assert experiment.searches["upso2d"].settings == experiment.searches["ga"].settings
    experiment = load(tmp_path, "", {"data": {"excitation": {"kind": "uniform", "high": 0.5}}})
    assert experiment.data.excitation.model_dump() == {"kind": "uniform", "low": -1.0, "high": 0.5}


def test_a_setting_of_the_abandoned_kind_in_the_same_file_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(NarxbenchError, match=r"mine\.yaml: data\.excitation\.low: unknown key; allowed: kind, sd"):
        load(tmp_path, "data: {excitation: {kind: gaussian, low: 0}}")


def test_null_leaves_a_search_out_and_settings_have_defaults(tmp_path: Path) -> None:
    experiment = load(tmp_path, "searches: {ga: null, wide: {algorithm: ga, criteria: [aic-4]}}")
    assert list(experiment.searches) == ["upso2d", "wide"]
    assert experiment.searches["wide"].settings.model_dump()["population_size"] == 80


def test_cells_in_order(tmp_path: Path) -> None:
    experiment = load(tmp_path, "systems: [S2]\nsnr_db: [30, 50]\nsearches: {upso2d: {criteria: [bic, aic-2]}}")
    assert list(experiment.cells()) == [
        ("S2", snr_db, search, criterion)
        for snr_db in (30, 50)
        for search, criterion in (("upso2d", "bic"), ("upso2d", "aic-2"), ("ga", "bic"))
    ]


def test_seeds_as_number_and_list(tmp_path: Path) -> None:
    assert load(tmp_path, "seeds: 3").seeds == [1, 2, 3]
    assert load(tmp_path, "seeds: [7, 3]").seeds == [7, 3]


def test_labels() -> None:
    assert [label(x) for x in (50, 50.0, 37.5, -5, 0.0, -0.0)] == ["50", "50", "37.5", "-5", "0", "0"]
    assert label(0.1 + 0.2) != label(0.3)
