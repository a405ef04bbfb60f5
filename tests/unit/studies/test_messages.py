"""Mistakes in settings, design choices and run files: `messages.txt` has the answers, each with file and key."""

import json
import os
import shutil
from functools import partial
from pathlib import Path

from tests.messages import calls
from tests.unit.studies.methods.scores import methods_study, write_scores
from tests.unit.studies.steps import edit, step
from tests.unit.study.searches import search, simulate, summarise

from narxbench._io.yaml import read_mapping, read_value
from narxbench._studies.loading import load_study
from narxbench._study.design_choices import DESIGN_CHOICES_FILE, load_design_choices, parse_interpretation
from narxbench._study.layers import merge, read_layers

CONFIG = Path(__file__).parents[3] / "config"
CHOICES = load_design_choices()
VARIED = "kind: interpretations\nvariations: {seeds: 1, methods: [%s], "
VARIED += "combinations: [%s], finalists: {interpretations: [%s], combinations: []}}"
RECORDED = "data: {excitation: {kind: recorded, file: %s}}"
COMPARED = "kind: methods\nmethods: {upso2d: {criteria: [bic]}}\nscenarios: {a: {description: x, %s}}"
SETTINGS = [
    *(
        "snr_dbb: [50]",
        "study: Reference",
        "study: buck",
        "study: a b",
        "kind: interpretations",
        "kind: methods",
        "kind: papers",
    ),
    *("kind: [1]", "interpretation: closests", "systems: [S1, SS2]", "snr_db: [30, 50, 30.0]", "seeds: -3"),
    *("seeds: 1:30", "evaluations: '6e3'", "data: {validation_samples: 2000}", "data: {seeds: 2}"),
    *("data: {samples: 603}", "data: {excitation: {kind: gaussian, low: 0}}", "seeds: -1\nevaluations: 0"),
    *(RECORDED % "u.csv", RECORDED % "'u{.csv'", RECORDED % "pipe.csv", RECORDED % "short.csv", RECORDED % "shord.csv"),
    RECORDED % "data/mine/problems/as-described/data-1/S1/30dB.csv",
    *("methods: {ga: {settings: {popsize: 9}}}", "methods: {ga: {settings: {selection: propotional}}}"),
    *("methods: {ga: {algorithm: gaa}}", "methods: {ga: {criteria: [bicc]}}", "methods: {new: {criteria: [bic]}}"),
    *("methods: {new: {algorithm: ga}}", VARIED.replace("kind: ", "#") % ("ga", "", "")),
    *(VARIED % ("gaa", "", ""), VARIED % ("ga", "{}, {tie: random}", "")),
    VARIED.replace("seeds: 1", "seeds: [1, 9]") % ("ga", "", ""),
    *(VARIED % ("ga", "", "nobody"), COMPARED % "systems: [S5]", COMPARED % "samples: 500"),
    *(COMPARED % "n_u: 99, degree: 3", COMPARED % "samples: 500, validation_samples: 497", "scenarios: {}"),
    *(COMPARED % "samples: 601", COMPARED % "n_y: 9999, n_u: 5, degree: 1", COMPARED % "degree: 1"),
    "methods: {ga: {criteria: [aic-2, bic, aic-02.0]}}",
    COMPARED % "systems: [S1]" + "\nheld_out: {systems: [S1], seeds: 2}",
    COMPARED.replace("[bic]}", "[bic], limits: {terms: 9}}") % "systems: [S1]",
    COMPARED % "systems: [S1]" + "\nsituations: {a: {description: x, systems: [S1]}}",
    COMPARED % "systems: [S1]" + "\nsituations: {b: {description: x, systems: [heated]}}",
    COMPARED.replace("[bic]", "[bic, aic-2]") % "systems: [S1]",
    COMPARED.replace("upso2d: ", "truth: {algorithm: frols, criteria: [bic]}, upso2d: ") % "systems: [S1]",
]
ON_THE_COMMAND_LINE = ["seeds", "seeds=[1", "data={seed: -1}"]
DESIGN_CHOICES = [
    *("interpretations: {a: {tie: random}}", "interpretations: {'../a': {}}", "design_choices: {ties: {part: upso}}"),
    "design_choices: {ties: {options: {random: {value: randm}}}}",
    "design_choices: {input: {options: {uniform: {value: {kind: uniform, low: 2.0}}}}}",
    "design_choices: {ring: {setting: refresh_gap}, ties: {setting: refresh_gap, options: {canonical: {value: 3}}}}",
    "design_choices: {noise: {part: ga, setting: elitism, "
    "options: {output: {value: true}, equation: {value: false}, input-output: {value: true}}}}",
    "design_choice: {}",
]
DAMAGE = """
runs 0 fitness = "low"
runs 0 fitness = null
runs 0 coefficients = []
runs 0 terms = ["1", "1"]
runs 0 terms = ["v(k-1)", "1"]
runs 0 history_fitness = []
runs 0 history_evaluations 0 = 201
runs 0 seed = 7
runs 0 evaluations = 400
condition system = "X2"
algorithm = "stepwise"
settings elitism = true
problem n_u = 3
"""
SCORES = """
methods 3 method = "frols"
methods 3 speed = 1.0
methods 3 runs 0 seed = 2
methods 3 runs 0 fitness = null
methods 3 runs 0 failure = "no\\nmemory"
"""


def _settings(text, *command_line):
    Path("mine.yaml").write_text(text)
    layers = [*read_layers([CONFIG / "paper.yaml"]), *read_layers(["mine.yaml"], command_line)]
    load_study(layers, choices=CHOICES)


def _design_choices(change):
    Path("choices.yaml").write_text(json.dumps(merge(read_mapping(DESIGN_CHOICES_FILE), read_value(change, ""))))
    load_design_choices("choices.yaml")


def _runs(*names):
    summarise(Path("summary.json"), list(names), "data.csv", [1, 2])


def _edit(path, change):
    place, value = change.split(" = ")
    keys = [int(key) if key.isdigit() else key for key in place.split()]
    edit(Path(path), *keys, value=json.loads(value))


def _damaged(change):
    shutil.copy("seed-2.json", "other.json")
    _edit("other.json", change)
    if " terms = " in change:
        _edit("other.json", "runs 0 coefficients = [1.0, 2.0]")
    _runs("seed-1.json", "other.json")


def _score(change):
    (path,) = write_scores(Path(), methods_study(("S1",), ("base",), data_seeds=1))
    _edit(path, change)
    step("rank", {"ranking": {"confidence": 0.95}}, input={"scores": [str(path)], "repeats": []})


def _mistakes_in_settings():
    mistakes = calls("settings", _settings, SETTINGS, describe=lambda text: " | ".join(text.splitlines()[-2:]))
    for text in ON_THE_COMMAND_LINE:
        mistakes[f"command line {text}"] = partial(_settings, "{}", text)
    mistakes["command line seeds=2 seeds=3"] = partial(_settings, "{}", "seeds=2", "seeds=3")
    return mistakes


def _mistakes_in_interpretations():
    texts = ("ties=random+ties=random", "ties", "")
    return {
        **calls("design choices", _design_choices, DESIGN_CHOICES),
        **calls("interpretation", partial(parse_interpretation, CHOICES), texts, describe=repr),
    }


def _mistakes_in_results():
    mistakes = calls("run file", _damaged, DAMAGE.strip().splitlines())
    mistakes |= calls("score file", _score, SCORES.strip().splitlines())
    for names in (["cut.json"], ["seed-1.json", "none.json"], ["seed-1.json"], ["seed-2.json", "seed-1.json"]):
        mistakes[f"run files {names}"] = partial(_runs, *names)
    return mistakes


def test_messages(review, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    simulate(Path("data.csv"))
    for seed in (1, 2):
        search(Path(f"seed-{seed}.json"), "data.csv", [seed])
    Path("short.csv").write_text("u\n" + "0.5\n" * 2099)
    os.mkfifo("pipe.csv")
    Path("cut.json").write_text(Path("seed-1.json").read_text()[:-20])
    review(_mistakes_in_settings() | _mistakes_in_interpretations() | _mistakes_in_results())
