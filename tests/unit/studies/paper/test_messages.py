"""Answers to damaged files and impossible studies; `messages.txt` has them."""

import json
from functools import partial
from pathlib import Path

import pandas as pd
from tests.unit.studies.paper.interpretations.interpretation_studies import (
    BOUND,
    TIES,
    as_file,
    condition,
    conditions_of,
    report,
)
from tests.unit.studies.paper.runs import PUBLISHED
from tests.unit.studies.paper.summaries import REFERENCE, make_summary
from tests.unit.studies.steps import read, step

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
    *(
        ("claims:", "claim:"),
        ("id: bic-separates", "id: bic-separate"),
        ("id: bic-separates", "id: bic-finds-all-terms"),
    ),
    *(("    source: section V-A\n", ""), ("    source:", "    sauce:"), ("id: upso-finds-s4", "id: new")),
]
SUMMARIES = {
    "a list": lambda s: [],
    "one key": lambda s: {"system": "S1"},
    "seeds as text": lambda s: s | {"seeds": ["1"] * 2},
    "one seed": lambda s: s | {"seeds": [1]},
    "unknown system term": lambda s: s | {"system_terms": ["y(k-9)"]},
    "one coefficient": lambda s: s | {"true_coefficients": [1.0]},
    "unknown candidate": lambda s: s | {"structures": [[0], [66]]},
    "unequal histories": lambda s: s | {"history_fitness": [[0.0], [0.0]]},
    "fitness as text": lambda s: s | {"fitness": [None, "x"]},
}
ROW = condition(runs=4, evaluations=400, nu=(4, 4, 4, 3), spurious=1, nu_max=1, exact_runs=2)
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
KEY = "system,snr_db,data_seed,interpretation,method,criterion"
CURVE = f"{KEY},evaluations,mean\nS1,50,1,baseline,upso2d,bic,10,-9.0\n"
TERM = f"{KEY},term,label,system_term,count,runs,frequency,low,high\n"
TERM += "S1,40,1,baseline,upso2d,bic,y(k-1),T1,true,1,2,0.5,0.1,0.9\n"
VERDICTS = ["id,side,verdict,rule,held,missed,places,evidence", "a,x,holds,,2,0,2,", "b,y,holds,,2,0,2,"]


def analysed(*contents, **changed):
    """Analyse summaries, with some of the reference files changed."""
    paths = []
    for number, content in enumerate(contents):
        paths.append(f"{number}.json")
        Path(paths[-1]).write_text(json.dumps(content), encoding="utf-8")
    inputs = {**PUBLISHED, "claims": REFERENCE / "claims.yaml", "summaries": paths, **changed}
    step("analyse", {"confidence": 0.95}, input=inputs, output={"claims": "made.csv"})


def with_change(name, file, old, new):
    """Analyse nothing, with one text of a reference file in place of another."""
    text = read(REFERENCE / file)
    assert old in text
    Path(file).write_text(text.replace(old, new, 1), encoding="utf-8")
    analysed(**{name: file})


def conditions(*groups, **changed):
    report(Path(), *groups, **changed)


def two_conditions(column, value):
    rows = [ROW, {**ROW, "data_seed": 2, column: value}]
    as_file("conditions.csv", pd.DataFrame(rows))
    conditions()


def frames(script, **texts):
    for name, text in texts.items():
        Path(f"{name}.csv").write_text(text, encoding="utf-8")
    step(script, {"study": {}}, input={name: f"{name}.csv" for name in texts})


def mistakes_in_reference_files():
    mistakes = {}
    for row in VALUES:
        mistakes[f"value {row}"] = partial(with_change, "published", "published_tables.csv", FIRST, row)
    for change in TERMS:
        mistakes[f"term {change}"] = partial(with_change, "system_terms", "system_terms.csv", *change)
    for change in CLAIMS:
        mistakes[f"claim {change}"] = partial(with_change, "claims", "claims.yaml", *change)
    return mistakes


def mistakes_in_summaries_and_frames():
    small = make_summary(runs=2)
    mistakes = {f"summary: {name}": partial(analysed, change(small)) for name, change in SUMMARIES.items()}
    mistakes["summary: twice"] = partial(analysed, small, small)
    for change in CONDITIONS:
        mistakes[f"condition: {change}"] = partial(two_conditions, *change)
    mistakes["frame: a row less"] = partial(frames, "tables", claims="\n".join(VERDICTS))
    mistakes["frame: a row twice"] = partial(frames, "tables", claims="\n".join([*VERDICTS, VERDICTS[1]]))
    mistakes["frame: of another study"] = partial(frames, "figures", convergence=CURVE, selection=TERM)
    return mistakes


def mistakes_in_interpretations():
    mistakes = {f"interpretations: {name}": partial(conditions, *groups) for name, groups in STUDIES.items()}
    values = read(PUBLISHED["published"]).splitlines(keepends=True)
    without_ga = "".join(line for line in values if ",ga," not in line)
    Path("without_ga.csv").write_text(without_ga, encoding="utf-8")
    both = FULL, conditions_of("ga", "baseline")
    mistakes["interpretations: no published values"] = partial(conditions, *both, published="without_ga.csv")
    return mistakes


def test_messages(review):
    review(mistakes_in_reference_files() | mistakes_in_summaries_and_frames() | mistakes_in_interpretations())
