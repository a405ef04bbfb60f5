"""Small made-up conditions of many interpretations."""

from itertools import product

import pandas as pd
from tests.unit.studies.paper.summaries import REFERENCE, ROOT, SYSTEMS, published
from tests.unit.studies.steps import read, step

BOUND, TIES, EXEMPLAR = "velocity-bound=1", "ties=random", "learning-set=exemplar"
FIGURES = ("published_reproduced", "effects")
TABLES = ("nearness", "values", "role_verdicts", "effects")
KEPT = REFERENCE / "interpretations/conditions.csv"
PLACES = [*product(SYSTEMS, (50.0, 40.0, 30.0))]
CANDIDATES = {"S1": 66, "S2": 66, "S3": 84, "S4": 66}


def condition(system="S1", snr_db=50.0, **values):
    """Return one row of the conditions frame, in which every run finds the true structure."""
    row = {"system": system, "snr_db": snr_db, "data_seed": 1, "interpretation": "baseline", "method": "upso2d"}
    row |= {"criterion": "bic", "algorithm": "upso2d", "runs": 40, "evaluations": 6000, "n_terms": CANDIDATES[system]}
    row |= {"nu": (40,) * len(published().systems[system]), "spurious": 0, "nu_max": 0, "exact_runs": 40}
    kinds = ("true", "best", "median", "median_low", "median_high", "third")
    row |= dict.fromkeys([f"{kind}_fitness" for kind in kinds], -1000.0)
    curve = tuple(-900.0 - 10 * tenth for tenth in range(1, 11))
    return row | {"cardinality": 4.0, "last_improvement": 500.0, "curve": curve} | values


def conditions_of(algorithm, interpretation, seeds=3, **values):
    """Return the twelve conditions of an interpretation on each data seed.

    A value may be a function of system, SNR and data seed.
    """
    method = {"algorithm": algorithm, "method": algorithm, "interpretation": interpretation}
    rows = []
    for seed, place in product(range(1, seeds + 1), PLACES):
        values_of_place = {}
        for name, value in values.items():
            values_of_place[name] = value(*place, seed) if callable(value) else value
        rows.append(condition(*place, data_seed=seed, **method, **values_of_place))
    return pd.DataFrame(rows)


def as_file(path, *groups):
    """Write conditions as a file and return its path."""
    conditions = pd.concat(groups).reset_index(drop=True)
    for name in ("nu", "curve"):
        conditions[name] = [";".join(map(str, values)) for values in conditions[name]]
    conditions[list(pd.read_csv(KEPT, nrows=0))].to_csv(path, index=False)
    return str(path)


def report(folder, *groups, **changed):
    """Return the document on some conditions with its figures and tables, by path."""
    names = ["interpretations.md", *(f"interpretations/{name}.svg" for name in FIGURES)]
    names += [f"interpretations/{name}.csv" for name in TABLES]
    inputs = {"published": "published_tables.csv", "system_terms": "system_terms.csv", "claims": "claims.yaml"}
    inputs = {name: str(REFERENCE / file) for name, file in inputs.items()}
    inputs |= {"choices": str(ROOT / "config/design_choices.yaml"), "conditions": str(folder / "conditions.csv")}
    if groups:
        as_file(inputs["conditions"], *groups)
    files = step("interpretations", input=inputs | changed, output={"": [str(folder / name) for name in names]})
    return {name: read(path) for name, path in zip(names, files, strict=True)}


def printed_spurious(system, snr_db):
    """Return the number of spurious terms that the paper prints for 2D-UPSO under BIC."""
    printed = published().values.query("criterion == 'bic' and algorithm == 'upso2d' and metric == 'r'")
    value = printed.groupby(["system", "snr_db"])["published"].first()
    return round(value[system, snr_db] * CANDIDATES[system])
