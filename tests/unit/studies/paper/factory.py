"""Synthetic conditions, and the frames, tables, figures and pages that are made of them."""

import math
from collections.abc import Mapping, Sequence
from itertools import product
from types import SimpleNamespace
from typing import Any

import pandas as pd
from tests.unit.studies.paper.summaries import (
    CRITERIA,
    METHODS_AND_CRITERIA,
    REFERENCE,
    ROOT,
    SYSTEMS,
    make_summary,
    published,
)

from narxbench._model.system import System, load_system
from narxbench._studies.paper import analysis as study
from narxbench._studies.paper import frames
from narxbench._studies.paper.figures import paper_figures
from narxbench._studies.paper.kept import KeptResults
from narxbench._studies.paper.page import pages
from narxbench._studies.paper.printed import value_tables
from narxbench._studies.paper.site import Material, Site
from narxbench._studies.paper.status import run_status
from narxbench._studies.paper.tables import ordered_frames
from narxbench._study.design_choices import interpretation_settings, load_design_choices
from narxbench._study.run_record import RunRecord, StepTime

METHODS = {"upso2d": CRITERIA, "ga": CRITERIA[:1]}
ROLES = ("as described", "closest")
MEASURED = [(37 * k % 101) / 7 for k in range(60)]
INTERPRETATIONS = """# What the open points do

The deviance is explained [below](#how-it-is-computed); every number is in
[`nearness.csv`](interpretations/nearness.csv) and `conditions.csv` ([of another study](../interpretations/x.csv)).

![Change of the <b>distance</b> by each option](interpretations/effects.svg)

## How it is computed

From [the paper](https://arxiv.org/abs/1812.08369).
"""


def system(name: str) -> System:
    """Return a system of the project; any other name is that of a system which the paper does not know."""
    if name in SYSTEMS:
        return load_system(name)
    return System(name, "y(k) = 0.5*u(k-1) - 0.25*y(k-2)^2", n_u=2, n_y=2, degree=2)


def summary(
    name: str = "S1", snr_db: float = 50.0, method: str = "upso2d", criterion: str = "bic", **changes: Any
) -> dict[str, Any]:
    """Return the summary of one condition.

    Under the last criterion of the paper the free run of the final model diverges and the first run found nothing.
    """
    content = make_summary(name, snr_db, method, criterion, data_sha256=f"{snr_db:.0f}".ljust(64, "0"), **changes)
    coefficients = [0.123456789 * (-1) ** index for index in range(len(content["final_structure"]))]
    model = {"fitness": -1234.56789, "sse": 0.0123456789, "prediction": [value + 1 / 3000 for value in MEASURED]}
    if criterion == CRITERIA[-1]:
        model = dict.fromkeys(model)
        runs = content["runs"]
        runs["fitness"][0] = None
        runs["history_evaluations"][0], runs["history_fitness"][0] = [], []
    return content | {"measured": MEASURED, "final_model": {"coefficients": coefficients, **model}}


def paper_summaries(systems: Sequence[str] = SYSTEMS) -> list[dict[str, Any]]:
    """Return the conditions of the paper: every system and SNR, 2D-UPSO under five criteria and GA under BIC."""
    places = product(systems, (50, 40, 30), METHODS_AND_CRITERIA)
    return [summary(name, snr_db, *case) for name, snr_db, case in places]


def make_settings(
    systems: Sequence[str] = SYSTEMS, seeds: int = 40, methods: Mapping[str, Sequence[str]] = METHODS
) -> dict[str, Any]:
    """Return the settings of a study as plain data."""
    open_settings = interpretation_settings(load_design_choices(), {})
    settings_of_methods = {}
    for name, criteria in methods.items():
        settings = {"swarm_size": 30, **open_settings.get(name, {})}
        settings_of_methods[name] = {"algorithm": name, "criteria": list(criteria), "settings": settings}
    return {
        **{"study": "paper", "kind": "paper", "interpretation": "as-described", "systems": list(systems)},
        **{"snr_db": [50.0, 40.0, 30.0], "seeds": list(range(1, seeds + 1)), "evaluations": 6000},
        "data": {**open_settings["data"], "seeds": [1]},
        "fitness": open_settings["fitness"],
        "methods": settings_of_methods,
        "statistics": {"threshold": 0.9, "confidence": 0.95},
        "figures": {"snr_db": 30.0},
    }


RECORD = RunRecord(
    command="snakemake --cores 3 --config seeds=40",
    settings="--config seeds=40",
    date="2026-05-17T08:09:10Z",
    commit="0123456789abcdef0123456789abcdef01234567",
    changed_files=0,
    machine="a machine of 4 cores",
    wall_seconds=321.0,
    steps=[StepTime(step="search", jobs=99, cpu_seconds=222.0, wall_seconds=333.0)],
)
NO_FAILURES = frames.failures_frame([])
CHECKS = """# The paper

## Check a claim

Table III takes 7 minutes.
"""


def few_claims() -> list[Any]:
    """Return three claims."""
    words = {"quote": "a <b>", "source": "section V", "predicate": "r < 1"}
    return [SimpleNamespace(id=f"c{n}", title=f"Claim {n} on ν_max", **words) for n in range(3)]


# That of all conditions of the paper takes a second, and many tests ask for it.
_ANALYSES: dict[str, dict[str, pd.DataFrame]] = {}


def make_frames(summaries: Sequence[dict[str, Any]]) -> dict[str, pd.DataFrame]:
    """Return all frames of the analysis of these conditions; the verdicts on the claims are all that there can be."""
    key = repr(summaries)
    if key not in _ANALYSES:
        _ANALYSES[key] = study.analyse(summaries, published(), [], confidence=0.95, figure_snr_db=30)
    frames_of_study = {name: frame.copy() for name, frame in _ANALYSES[key].items()}
    verdicts = [
        *(("c0", "published", "holds"), ("c0", "here", "holds"), ("c1", "published", "holds")),
        *(("c1", "here", "undecided"), ("c2", "published", "fails")),
        ("c2", "here", "fails"),
    ]
    rows = [(*verdict, "every place; one clear miss fails", 10, 1, 12, "It holds at 10 of 12.") for verdict in verdicts]
    return frames_of_study | {"claims": frames.framed("claims", rows)}


def nearness_rows() -> list[tuple[Any, ...]]:
    """Return rows that say how near the published values are: in each role for both algorithms and each of them."""
    near = [309.0, 280.5, 330.0, 61.0, 50.0, 72.0, -0.012, -0.151, 0.203, 51.0, 46.0, 56.0, math.nan, 0.004]
    near += [1296.0, "S1, S2", 4]
    parts = product(ROLES, ("joint", "upso2d", "ga"))
    return [(role, "all", 5, algorithm, "baseline", 735, *near) for role, algorithm in parts]


def verdict_rows(claims: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return majority verdicts of every kind in each role."""
    verdicts = ("holds", "fails", "undecided")
    rows = []
    for (number, claim), role in product(enumerate(claims), ROLES):
        rows.append((claim.id, role, verdicts[number % 3], 5, 1, 2, 8, 50, 60, ""))
    return rows


def value_rows() -> list[tuple[Any, ...]]:
    """Return the published values as the kept medians in each role; one of them differs clearly as described."""
    rows = []
    for role, value in product(ROLES, published().once.itertuples(index=False)):
        place = value.system, value.algorithm, value.criterion, value.snr_db, value.metric, value.label
        different = (role, *place) == ("as described", "S2", "upso2d", "bic", 30.0, "nu_max", "")
        data_sets = 10 if value.criterion == "bic" else 3
        numbers = (value.published, value.published, 0.0, 1.0, different, data_sets, "")
        rows.append((role, "baseline", value.table, *place, *numbers))
    return rows


def make_kept(claims: Sequence[Any], conditions: pd.DataFrame) -> KeptResults:
    """Return kept results: those of the study of interpretations, with these conditions as described."""
    return KeptResults(
        frames={
            "kept_conditions": conditions,
            "kept_nearness": frames.framed("nearness", nearness_rows()),
            "kept_verdicts": frames.framed("role_verdicts", verdict_rows(claims)),
            "kept_values": frames.framed("values", value_rows()),
        },
        record=RECORD.model_copy(
            update={"command": "snakemake --configfile kept.yaml", "date": "2025-01-02T03:04:05Z"}
        ),
        document=INTERPRETATIONS,
        figures={"interpretations/effects.svg": "<svg xmlns='http://www.w3.org/2000/svg'><g id='a'/></svg>"},
        missing=(),
    )


def make_material(
    summaries: Sequence[dict[str, Any]],
    settings: Mapping[str, Any] | None = None,
    *,
    stated: Sequence[Any] | None = None,
    systems: Sequence[System] | None = None,
    drawn: bool = False,
    kept: KeptResults | None = None,
    record: RunRecord = RECORD,
    failures: pd.DataFrame = NO_FAILURES,
    **changed: pd.DataFrame,
) -> Material:
    """Return the material of the pages; ``changed`` frames take the place of those of the analysis."""
    if settings is None:
        settings = make_settings(list(dict.fromkeys(summary["system"] for summary in summaries)))
    claims = few_claims() if stated is None else stated
    all_frames = ordered_frames(make_frames(summaries) | changed, settings)
    kept = make_kept(claims, all_frames["conditions"]) if kept is None else kept
    choices = load_design_choices()
    status = run_status(settings, all_frames["metrics"], all_frames["agreement_values"], choices)
    figures = {}
    if drawn:
        for name, content in paper_figures(all_frames, settings).items():
            if name.endswith(".svg"):
                figures[name.removesuffix(".svg")] = content.decode()
    method = (ROOT / "docs/method.md").read_text(encoding="utf-8")
    citation = (REFERENCE / "citation.bib").read_text(encoding="utf-8")
    return Material(
        site=Site(settings["study"], above=True),
        settings=settings,
        record=record,
        status=status,
        frames=all_frames,
        summaries=summaries,
        failures=failures,
        systems=systems or [system(name) for name in settings["systems"]],
        values=value_tables(
            all_frames, published(), settings["systems"], is_compared=status.is_complete, kept=kept.values
        ),
        figures=figures,
        claims=claims,
        texts={"method": method, "checks": CHECKS, "citation": citation},
        choices=choices,
        published=published(),
        kept=kept,
    )


def render(*arguments: Any, **options: Any) -> dict[str, str]:
    """Return the pages of these conditions by file name; the parameters are those of `make_material`."""
    return pages(make_material(*arguments, **options))
