"""Synthetic summaries of conditions, and the frames, tables, figures and page that are made of them."""

import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd

from narxbench.analysis import agreement, frames, performance, significance
from narxbench.analysis.published import Published, load_published
from narxbench.model.system import System, load_system
from narxbench.model.terms import candidate_terms
from narxbench.report.figures import paper_figures
from narxbench.report.page import Texts, render_page
from narxbench.report.tables import paper_tables

ROOT = Path(__file__).parents[3]
REFERENCE = ROOT / "data" / "reference"
CRITERIA = ("bic", "aic-2", "aic-8", "aic-64", "aic-256")
METHODS = {"upso2d": CRITERIA, "ga": CRITERIA[:1]}
SYSTEMS = ("S1", "S2", "S3", "S4")
UNKNOWN = "<script>X"
SAMPLES = 60
INTERPRETATIONS = """# What the open points do

Distances are explained [below](#how-it-is-computed); every number is in [`conditions.csv`](conditions.csv).

![Change of the <b>distance</b> by each option](interpretations/effects.svg)

## How it is computed

From [the paper](https://arxiv.org/abs/1812.08369).
"""


@cache
def published() -> Published:
    """Return the published values of the repository."""
    return load_published(REFERENCE / "published_tables.csv", REFERENCE / "system_terms.csv")


def system(name: str) -> System:
    """Return a system of the project; any other name is that of a system which the paper does not know."""
    if name in SYSTEMS:
        return load_system(name)
    return System(name, "y(k) = 0.5*u(k-1) - 0.25*y(k-2)^2", n_u=2, n_y=2, degree=2)


def summary(
    name: str = "S1",
    snr_db: float = 50.0,
    method: str = "upso2d",
    criterion: str = "bic",
    *,
    algorithm: str | None = None,
    runs: int = 40,
    counts: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Return the summary of one condition; ``counts`` fixes how many runs select a term, the others are drawn.

    Under the last criterion of the paper the free run of the final model diverges and the first run found nothing.
    """
    draw = random.Random(f"{name} {snr_db} {method} {criterion}")
    known = system(name)
    candidates = candidate_terms(n_y=known.n_y, n_u=known.n_u, degree=known.degree)
    weak = 0.35 if method == "ga" else 0.05
    structures: list[list[int]] = [[] for _ in range(runs)]
    for index, term in enumerate(candidates):
        chance = 0.97 if term in known.terms else weak * draw.random() ** 3
        count = (counts or {}).get(term, sum(draw.random() < chance for _ in range(runs)))
        for run in range(count):
            structures[run].append(index)
    diverges = criterion == CRITERIA[-1]
    final = [term for i, term in enumerate(candidates) if sum(i in s for s in structures) >= 0.9 * runs]
    base = -3000 + 500 * sum(map(ord, name)) % 1700 + (100 if method == "ga" else 0)
    ends = [base + draw.random() for _ in range(runs)]
    histories = [[end + 400, end + 50 * draw.random(), end] for end in ends]
    measured = [(37 * k % 101) / 7 for k in range(SAMPLES)]
    return {
        **{"system": name, "snr_db": float(snr_db), "data_seed": 1, "interpretation": "baseline", "method": method},
        **{"algorithm": algorithm or method, "criterion": criterion, "settings": {"swarm_size": 30}},
        **{"versions": {"python": "3.11", "narxbench": "0.2.0"}, "data_sha256": f"{snr_db:.0f}".ljust(64, "0")},
        **{"realisations": 1, "evaluations": 6000, "seeds": list(range(1, runs + 1)), "candidates": candidates},
        **{"system_terms": list(known.terms), "true_coefficients": list(known.coefficients)},
        "true_structure": {"coefficients": list(known.coefficients), "fitness": base + 0.5},
        "true_fitness": [base + 0.5] * runs,
        "runs": {
            **{"fitness": [None if diverges and not i else end for i, end in enumerate(ends)], "sse": [1.0] * runs},
            **{"evaluations": [6000] * runs, "structures": structures},
            "history_evaluations": [[1, 500, 4000] if not diverges or i else [] for i in range(runs)],
            "history_fitness": [history if not diverges or i else [] for i, history in enumerate(histories)],
        },
        **{"threshold": 0.9, "final_structure": final, "measured": measured},
        "final_model": {
            "coefficients": [0.123456789 * (-1) ** index for index in range(len(final))],
            "fitness": None if diverges else -1234.56789,
            "sse": None if diverges else 0.0123456789,
            "prediction": None if diverges else [value + 1 / 3000 for value in measured],
        },
        "best_run": {"seed": 1, "terms": final, "coefficients": [], "fitness": base, "sse": 1.0},
    }


def paper_summaries(systems: Sequence[str] = SYSTEMS) -> list[dict[str, Any]]:
    """Return the conditions of the paper: every system and SNR, 2D-UPSO under five criteria and GA under BIC."""
    return [
        summary(name, snr_db, method, criterion)
        for name in systems
        for snr_db in (50, 40, 30)
        for method, criteria in METHODS.items()
        for criterion in criteria
    ]


def make_settings(
    systems: Sequence[str] = SYSTEMS, seeds: int = 40, methods: Mapping[str, Sequence[str]] = METHODS
) -> dict[str, Any]:
    """Return the settings of a study as plain data."""
    entry = {"settings": {"swarm_size": 30}}
    return {
        **{"study": "paper", "page": "paper", "interpretation": "cited-source", "systems": list(systems)},
        **{"snr_db": [50.0, 40.0, 30.0], "seeds": list(range(1, seeds + 1)), "evaluations": 6000},
        "methods": {n: {"algorithm": n, "criteria": list(criteria), **entry} for n, criteria in methods.items()},
        "statistics": {"threshold": 0.9, "confidence": 0.95, "bootstrap_samples": 50},
        "figures": {"snr_db": 30.0},
    }


def few_claims() -> list[Any]:
    """Return three claims."""
    words = {"quote": "a <b>", "source": "section V", "predicate": "r < 1"}
    return [SimpleNamespace(id=f"c{n}", title=f"Claim {n} on ν_max", **words) for n in range(3)]


def make_frames(summaries: Sequence[dict[str, Any]]) -> dict[str, pd.DataFrame]:
    """Return all frames of the analysis of these conditions; the verdicts on the claims are all that there can be."""
    runs, conditions = frames.runs_frame(summaries), frames.conditions_frame(summaries, published())
    metrics = frames.metrics_frame(summaries, conditions, 0.95, 50)
    values = agreement.agreement_values(conditions, metrics, published(), 0.95)
    verdicts = zip((0, 0, 1, 1, 2, 2), ("published", "here") * 3, (True, True, True, False, False, None), strict=True)
    return {
        "metrics": metrics,
        "selection": frames.selection_frame(summaries, published(), 0.95),
        **{name: getattr(performance, name)(runs) for name in ("convergence", "run_length", "budget", "gaps")},
        "recovery": performance.recovery(conditions, 0.95),
        "comparisons": significance.comparisons(runs),
        "agreement_values": values,
        "agreement": agreement.agreement(values),
        "claims": frames.framed("claims", [(f"c{n}", side, holds, "Holds.") for n, side, holds in verdicts]),
    }


def render(
    summaries: Sequence[dict[str, Any]],
    settings: Mapping[str, Any] | None = None,
    *,
    told: Sequence[Any] | None = None,
    systems: Sequence[System] | None = None,
    drawn: bool = False,
    **changed: pd.DataFrame,
) -> str:
    """Return the page of these conditions; ``changed`` frames take the place of those of the analysis."""
    settings = settings or make_settings(list(dict.fromkeys(each["system"] for each in summaries)))
    made = make_frames(summaries) | changed
    claims = few_claims() if told is None else told
    figures = paper_figures(made, settings) if drawn else {}
    return render_page(
        settings=settings,
        frames=made,
        summaries=summaries,
        tables=paper_tables(made, settings, systems or map(system, settings["systems"]), claims),
        figures={name: files["svg"].decode() for name, files in figures.items()},
        claims=claims,
        texts=Texts(
            errata=(ROOT / "docs" / "errata.md").read_text(encoding="utf-8"),
            method=(ROOT / "docs" / "method.md").read_text(encoding="utf-8"),
            interpretations=INTERPRETATIONS,
            interpretation_figures={"interpretations/effects.svg": "<svg><g id='a'/></svg>"},
            citation=(REFERENCE / "citation.bib").read_text(encoding="utf-8"),
        ),
        folder="paper/",
    )
