"""The report of synthetic cells, claims and statistics, for tests without and with a browser."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml
from tests.unit.cells import CRITERIA, ROOT, UNKNOWN, published

from narxbench import plots, report
from narxbench.model.system import System, load_system

ERRATA = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
FIDELITY = """# What the open points do

Distances are explained [below](#how-it-is-computed); every number is in [`cells.csv`](fidelity/cells.csv).

![Change of the <b>distance</b> by each option](fidelity/effects.svg)

## Which open points matter

| Reading | Distance |
| :--- | ---: |
| `velocity-bound=2` | 0.092 |

## How it is computed

From [the paper](https://arxiv.org/abs/1812.08369).
"""
METHOD = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
SEARCHES = {"upso2d": list(CRITERIA), "ga": ["bic"]}
SAMPLES = 600


def config(systems: Sequence[str], seeds: int = 40, searches: Mapping[str, list[str]] = SEARCHES) -> dict[str, Any]:
    settings = {"swarm_size": 30}
    return {
        "reading": "cited-source",
        "systems": list(systems),
        "snr_db": [50, 40, 30],
        "seeds": list(range(1, seeds + 1)),
        "evaluations": 6000,
        "searches": {n: {"algorithm": n, "criteria": c, "settings": settings} for n, c in searches.items()},
        "figures": {"snr_db": 30},
    }


def with_model(cell: dict[str, Any]) -> dict[str, Any]:
    """Return a cell with final model and measured outputs; under the last criterion its free run diverges."""
    terms = cell["final_structure"]
    runs_free = bool(terms) and cell["criterion"] != CRITERIA[-1]
    measured = [(37 * k % 101) / 7 for k in range(SAMPLES)]
    model = {
        "terms": terms,
        "coefficients": [0.123456789 * (-1) ** index for index in range(len(terms))],
        "fitness": -1234.56789 if runs_free else None,
        "sse": 0.0123456789 if runs_free else None,
        "prediction": [value + 1 / 3000 for value in measured] if runs_free else None,
    }
    return {**cell, "final_model": model, "measured": measured}


def claims() -> dict[str, Any]:
    verdicts = [(True, True), (True, False), (False, None)]
    return {
        "claims": [
            {
                "id": f"claim-{number}",
                "title": f"Claim {number} on ν_max",
                "quote": "a <b>quote</b>",
                "source": "section V-A",
                "predicate": "ν_max < 0.5",
                "published": {"holds": there, "evidence": "Holds at 3 of 3."},
                "here": {"holds": here, "evidence": "Holds at 1 of 3."},
            }
            for number, (there, here) in enumerate(verdicts, start=1)
        ]
    }


def statistics(cells: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return statistics in the form of ``reports/statistics.json``; their numbers mean nothing."""
    places = [{key: cell[key] for key in ("system", "snr_db", "criterion", "search")} for cell in cells]
    comparisons = [
        {
            **{key: place[key] for key in ("system", "snr_db", "criterion")},
            **{"a": "upso2d", "b": place["search"], "n_a": 40, "n_b": 40, "median_a": -20.04, "median_b": -10.0},
            **{"p_value": 0.00001, "p_holm": 0.012, "a12": 0.97, "magnitude": "large", "method": "exact"},
        }
        for place in places
        if place["search"] == "ga"
    ]
    recovery = [{**place, "exact": 3, "runs": 40, "rate": 0.075, "low": 0.026, "high": 0.199} for place in places]
    length = [
        {**place, "target": target, "target_name": name, "evaluations": reached, "runs": 40}
        for place in places
        for name, target, reached in (("true structure", -5.0, [300, 4000]), ("best known", None, []))
    ]
    numbers = {"median": [None, -3.0], "low": [None, -4.0], "high": [None, None]}
    budget = [{**place, "evaluations": [600, 6000], **numbers} for place in places]
    gap = {"best_known": -10.0, "true_structure": None, "median_gap_to_best": 0.0, "median_gap_to_true": -0.01}
    failures = {"criterion_failure": True, "search_failure_rate": 0.5}
    gaps = [{**place, **gap, **failures} for place in places]
    return {"comparisons": comparisons, "recovery": recovery, "run_length": length, "budget": budget, "gaps": gaps}


def render(
    systems: Sequence[str],
    cells: Sequence[dict[str, Any]],
    *,
    seeds: int = 40,
    searches: Mapping[str, list[str]] = SEARCHES,
    claims: Mapping[str, Any] | None = None,
    statistics: Mapping[str, Any] | None = None,
) -> str:
    """Return the page of these cells; without ``claims`` and ``statistics`` there are none."""
    unknown = System(UNKNOWN, "y(k) = 0.5*u(k-1) - 0.25*y(k-2)^2", n_u=2, n_y=2, degree=2)
    return report.render_report(
        config=config(systems, seeds, searches),
        cells=[with_model(cell) for cell in cells],
        systems=[unknown if name == UNKNOWN else load_system(name) for name in systems],
        published=published(),
        figures={
            "convergence": plots.convergence(cells, 30)["svg"].decode(),
            "term_frequency": plots.term_frequency(cells, 30, published())["svg"].decode(),
        },
        errata=ERRATA,
        method=METHOD,
        fidelity=FIDELITY,
        fidelity_figures={"fidelity/effects.svg": plots.convergence(cells, 30)["svg"].decode()},
        citation=CITATION,
        claims=claims or {},
        statistics=statistics or {},
        versions=report.versions_of(cells),
    )
