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
from narxbench._studies.methods.frames import framed
from narxbench._studies.paper import analysis as study
from narxbench._studies.paper import frames
from narxbench._studies.paper.causes import CAUSES
from narxbench._studies.paper.figures import paper_figures
from narxbench._studies.paper.interpretations.findings import FRAMES
from narxbench._studies.paper.page import pages
from narxbench._studies.paper.site import Material, Site
from narxbench._studies.paper.tables import in_order
from narxbench._study.design_choices import interpretation_settings, load_design_choices

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
        "statistics": {"threshold": 0.9, "confidence": 0.95, "bootstrap_samples": 50},
        "figures": {"snr_db": 30.0},
    }


def few_claims() -> list[Any]:
    """Return three claims."""
    words = {"quote": "a <b>", "source": "section V", "predicate": "r < 1"}
    return [SimpleNamespace(id=f"c{n}", title=f"Claim {n} on ν_max", **words) for n in range(3)]


def make_frames(summaries: Sequence[dict[str, Any]]) -> dict[str, pd.DataFrame]:
    """Return all frames of the analysis of these conditions; the verdicts on the claims are all that there can be."""
    frames_of_study = study.analyse(summaries, published(), [], confidence=0.95, figure_snr_db=30)
    verdicts = [
        *(("c0", "published", "holds"), ("c0", "here", "holds"), ("c1", "published", "holds")),
        *(("c1", "here", "undecided"), ("c2", "published", "fails")),
        ("c2", "here", "cannot be judged"),
    ]
    rows = [(*verdict, "needs every place", 10, 1, 12, "Holds.") for verdict in verdicts]
    return frames_of_study | {"claims": frames.framed("claims", rows)}


def nearness_rows() -> list[tuple[Any, ...]]:
    """Return rows that say how near the published values are: in each role for both algorithms and each of them."""
    near = [309.0, 280.5, 330.0, 61.0, 50.0, 72.0, -0.012, -0.151, 0.203, 51.0, 46.0, 56.0, math.nan, 0.004]
    near += [1296.0, "S1, S2", 4]
    parts = product(ROLES, ("joint", "upso2d", "ga"))
    return [(role, "bic", 5, algorithm, "baseline", 738, *near) for role, algorithm in parts]


def verdict_rows(claims: Sequence[Any]) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return the rows of an overview of claims, with verdicts of every kind, and of the verdicts in each role."""
    groups, verdicts = ("all", "none", "some", "unjudged"), ("holds", "fails", "cannot be judged")
    overview, in_roles = [], []
    for n, claim in enumerate(claims):
        verdict = verdicts[n % 3]
        overview.append((claim.id, claim.title, verdict, verdict, 5, 40, 7 * n, groups[n % 4]))
        missed_system = "S4" if verdict == "fails" else ""
        for role in ROLES:
            in_roles.append((claim.id, role, verdict, 5, 0, 0, 5, 50, 60, missed_system))
    return overview, in_roles


def value_rows() -> list[tuple[Any, ...]]:
    """Return the published values as those of each role; one of them differs clearly as described."""
    rows = []
    for role, value in product(ROLES, published().once.itertuples(index=False)):
        place = value.system, value.algorithm, value.criterion, value.snr_db, value.metric, value.label
        different = (role, *place) == ("as described", "S2", "upso2d", "bic", 30.0, "nu_max", "")
        data_sets = 10 if value.criterion == "bic" else 3
        numbers = (value.published, value.published, 0.0, 1.0, different, data_sets, "")
        rows.append((role, "baseline", value.table, *place, *numbers))
    return rows


def search_rows() -> list[tuple[Any, ...]]:
    """Return the rows of searches that find the exact structure of each system at some rate."""
    searches = [("Add/drop/swap", "stepwise", 0.9), ("2D-UPSO as described", "upso2d", 0.25), ("GA", "ga", 0.1)]
    rows = []
    for (label, name, rate), system_name in product(searches, SYSTEMS):
        counts = (15, 600, round(600 * rate))
        rows.append((label, name, "baseline", system_name, *counts, rate, rate - 0.1, rate + 0.1))
    return rows


def overviews(claims: Sequence[Any]) -> dict[str, pd.DataFrame]:
    """Return frames of a study of interpretations: two roles, verdicts of every kind, an option of each algorithm."""
    claim_overview, role_verdicts = verdict_rows(claims)
    by_system, by_table = [], []
    for role, name in product(ROLES, SYSTEMS):
        by_system.append((role, "bic", name, "baseline", 5, 90, 80.0, 60.0, 95.0, 40.0, 6, 6))
        by_table.append((role, "upso2d", "bic", name, "baseline", 5, 18, 30.0, 15.0, 3))
    rows: dict[str, list[tuple[Any, ...]]] = {
        "nearness": nearness_rows(),
        "by_system": by_system,
        "by_table": by_table,
        "claim_overview": claim_overview,
        "role_verdicts": role_verdicts,
        "found": search_rows(),
        "effects_overview": [
            ("upso2d", "1.75", "velocity-bound", "not bounded", -240.0, -300.0, -180.0, 1),
            ("ga", "tournament", "selection", "", 120.0, 80.0, 160.0, 1),
        ],
    }
    rows["values"] = value_rows()
    overview_frames = {name: frames.framed(name, rows_of_frame) for name, rows_of_frame in rows.items()}
    return overview_frames | of_other_studies()


def of_other_studies() -> dict[str, pd.DataFrame]:
    """Return frames of the kept results of other studies: causes, where J misleads, the scores of two methods."""
    why = [
        ("upso2d", "upso2d", "velocity-bound", "1.75", "not bounded", "S1", 10.0, 40.0, 2, 1.0),
        ("ga", "ga", "selection", "tournament", "", "S4", 60.0, 1100.0, 2, 1.0),
    ]
    scored = []
    for (name, exact), system_name in product((("pem", 1.0), ("upso2d", 0.5)), SYSTEMS):
        scored.append(("development", "base", system_name, name, exact, 1.0, 0.0, 0.0))
    kept = {
        **{"settings/data.seeds": "[1, 2]", "settings/snr_db": "[40.0]"},
        "settings/scenarios.base.description": "2000 samples at 40 dB",
    }
    return {
        "causes": pd.DataFrame(why, columns=CAUSES),
        "misled": pd.DataFrame({"system": ["S1", "S3"], "misled": [0, 4], "data_sets": [15, 15]}),
        "scored": framed("systems", scored),
        "compared": pd.DataFrame(list(kept.items()), columns=["name", "value"]),
    }


def make_material(
    summaries: Sequence[dict[str, Any]],
    settings: Mapping[str, Any] | None = None,
    *,
    stated: Sequence[Any] | None = None,
    systems: Sequence[System] | None = None,
    drawn: bool = False,
    **changed: pd.DataFrame,
) -> Material:
    """Return the material of the pages; ``changed`` frames take the place of those of the analysis."""
    if settings is None:
        settings = make_settings(list(dict.fromkeys(summary["system"] for summary in summaries)))
    claims = few_claims() if stated is None else stated
    all_frames = make_frames(summaries) | overviews(claims) | changed
    figures = {"interpretations/effects.svg": "<svg xmlns='http://www.w3.org/2000/svg'><g id='a'/></svg>"}
    if drawn:
        for name, content in paper_figures(all_frames, settings).items():
            if name.endswith(".svg"):
                figures[name.removesuffix(".svg")] = content.decode()
    for name in all_frames.keys() - {*FRAMES, "values", *of_other_studies()}:
        all_frames[name] = in_order(all_frames[name], settings)
    paths = {
        "errata": ROOT / "docs/errata.md",
        "method": ROOT / "docs/method.md",
        "citation": REFERENCE / "citation.bib",
        "answer": REFERENCE / "methods" / "answer.md",
        "words": ROOT / "docs/glossary.md",
    }
    texts = {name: path.read_text(encoding="utf-8") for name, path in paths.items()}
    return Material(
        site=Site(settings["study"], above=True),
        settings=settings,
        frames=all_frames,
        summaries=summaries,
        systems=systems or [system(name) for name in settings["systems"]],
        figures=figures,
        claims=claims,
        texts=texts | {"document": INTERPRETATIONS},
        choices=load_design_choices(),
        published=published(),
    )


def render(*arguments: Any, **options: Any) -> dict[str, str]:
    """Return the pages of these conditions by file name; the parameters are those of `make_material`."""
    return pages(make_material(*arguments, **options))
