"""Answers to damaged files and impossible studies; `messages.txt` has them."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd
from tests.unit.studies.paper.interpretations.interpretation_studies import (
    BOUND,
    TIES,
    choices,
    conditions_of,
    frame_of,
    study,
)
from tests.unit.studies.paper.summaries import REFERENCE, make_summary, published
from tests.unit.studies.paper.test_frames import ROW

from narxbench._io.csv import write_table
from narxbench._io.files import write_atomically
from narxbench._studies.paper import claims
from narxbench._studies.paper.frames import framed, load_summaries, read_frame, read_frames
from narxbench._studies.paper.interpretations.nearness import make_study
from narxbench._studies.paper.published import load_published

FIRST = "fitness_S1,S1,upso2d,bic,50,nu,T1,1.0"
VALUES = [
    *("fitness_S1,S9,upso2d,bic,50,nu,T1,1.0", "fitnes_S1,S1,upso2d,bic,50,nu,T1,1.0"),
    *("fitness_S1,S1,upso2d,bic,50,mu,T1,1.0", "fitness_S1,S1,upso2d,bic,50,nu,T5,1.0"),
    *("fitness_S1,S1,upso2d,bic,50,r,T1,1.0", "fitness_S1,S1,,bic,50,nu,T1,1.0"),
    *("fitness_S1,S1,upso2d,bic,5e1,nu,T1,1.0", "fitness_S1,S1,upso2d,bic,50,nu,T1,1.2"),
    *("fitness_S1,S1,upso2d,bic,50,nu,T1,nan", "fitness_S1,S1,upso2d,bic,50,nu,T1,0.97", f"{FIRST}\n{FIRST}"),
]
TERMS = [
    *(("S1,T2,", "S1,T3,"), ("y(k-1)*u(k-1)", "u(k-1)*y(k-1)"), ("y(k-1)*u(k-1)", "z(k-1)")),
    *(("T2,u(k-1),0.3,T2", "T2,y(k-1),0.3,T2"), ("0.3,T2", "0,T2"), ("0.3,T2", "0.3,2")),
    ("system,label", "label,system"),
]
CLAIMS = [
    *(("id: bic-separates", "id: bic-separate"), ("id: bic-separates", "id: bic-finds-all-terms")),
    *(("    source: section V-A\n", ""), ("    source:", "    sauce:"), ("id: upso-finds-s4", "id: new")),
]
SUMMARIES = {
    "a list": lambda s: [],
    "one key": lambda s: {"system": "S1"},
    "seeds as text": lambda s: s | {"seeds": ["1"] * 2},
    "one seed": lambda s: s | {"seeds": [1]},
    "unknown system term": lambda s: s | {"system_terms": ["y(k-9)"]},
    "one coefficient": lambda s: s | {"true_coefficients": [1.0]},
    "unknown candidate": lambda s: s | {"runs": s["runs"] | {"structures": [[0], [66]]}},
    "unequal histories": lambda s: s | {"runs": s["runs"] | {"history_fitness": [[0.0], [0.0]]}},
    "fitness as text": lambda s: s | {"runs": s["runs"] | {"fitness": [None, "x"]}},
}
CONDITIONS = [
    *(("runs", 0), ("runs", 3), ("nu", ()), ("nu", (4, 4, 4, -1)), ("spurious", 63), ("spurious", 0), ("nu_max", 5)),
    *(("exact_runs", 5), ("data_seed", 1), ("curve", (1.0,)), ("data_seed", "x"), ("median_fitness", "1_0")),
]
FULL = conditions_of("upso2d", "baseline")
STUDIES = {
    "unknown design choice": [FULL, conditions_of("upso2d", "tie=random", 1)[:1]],
    "order of options": [FULL, conditions_of("upso2d", f"{TIES}+{BOUND}", 1)[:1]],
    "option of another": [FULL, conditions_of("ga", TIES, 1)[:1]],
    "no 2D-UPSO": [conditions_of("ga", "baseline")],
    "a condition less": [FULL[:-1]],
    "a data seed less": [FULL, conditions_of("ga", "baseline", 2)],
    "a data seed more": [FULL, conditions_of("stepwise", "baseline", 4)],
}


def load_changed(load, name, old, new):
    """Load a file of the repository with one text in place of another."""
    text = (REFERENCE / name).read_text(encoding="utf-8")
    assert old in text
    write_atomically(name, text.replace(old, new, 1))
    load(name)


def summaries(*contents):
    for number, content in enumerate(contents):
        Path(f"{number}.json").write_text(json.dumps(content), encoding="utf-8")
    load_summaries([f"{number}.json" for number in range(len(contents))])


def conditions(column, value):
    frame = pd.DataFrame([ROW, {**ROW, "data_seed": 2, column: value}])
    write_atomically("conditions.csv", write_table(frame))
    read_frame("conditions", "conditions.csv")


def frames(**rows):
    for name, rows_of_frame in rows.items():
        write_atomically(f"{name}.csv", write_table(framed(name, rows_of_frame)))
    read_frames({name: f"{name}.csv" for name in rows})


def values(path):
    load_published(path, REFERENCE / "system_terms.csv")


def terms(path):
    load_published(REFERENCE / "published_tables.csv", path)


def mistakes_in_reference_files():
    mistakes = {}
    for row in VALUES:
        mistakes[f"value {row}"] = partial(load_changed, values, "published_tables.csv", FIRST, row)
    for change in TERMS:
        mistakes[f"term {change}"] = partial(load_changed, terms, "system_terms.csv", *change)
    for change in CLAIMS:
        mistakes[f"claim {change}"] = partial(load_changed, claims.load_claims, "claims.yaml", *change)
    return mistakes


def mistakes_in_summaries_and_frames():
    small = make_summary(runs=2)
    key = (1, "baseline", "upso2d", "bic")
    point = ("S1", 50.0, *key, 10, -9.0)
    term = ("S1", 40.0, *key, "y(k-1)", "T1", True, 1, 2, 0.5, 0.1, 0.9)
    verdicts = [("a", "x", "holds", 1, 0, 0, 1, 2, 2, ""), ("b", "y", "holds", 1, 0, 0, 1, 2, 2, "")]
    mistakes = {f"summary: {name}": partial(summaries, change(small)) for name, change in SUMMARIES.items()}
    mistakes["summary: twice"] = partial(summaries, small, small)
    for change in CONDITIONS:
        mistakes[f"condition: {change}"] = partial(conditions, *change)
    mistakes["frame: a row less"] = partial(frames, role_verdicts=verdicts)
    mistakes["frame: a row twice"] = partial(frames, role_verdicts=verdicts[:1] * 2)
    mistakes["frame: of another study"] = partial(frames, convergence=[point], selection=[term])
    return mistakes


def mistakes_in_interpretations():
    mistakes = {f"interpretations: {name}": partial(study, *groups) for name, groups in STUDIES.items()}
    without_ga = replace(published(), values=published().values.query("algorithm != 'ga'"))
    both = frame_of(FULL, conditions_of("ga", "baseline"))
    mistakes["interpretations: no published values"] = partial(make_study, both, choices(), without_ga)
    return mistakes


def test_messages(review):
    review(mistakes_in_reference_files() | mistakes_in_summaries_and_frames() | mistakes_in_interpretations())
