"""Synthetic summaries of cells, for tests of what is shown: small, seeded, and in the form of ``data/cells``."""

import json
import math
import random
from pathlib import Path
from typing import Any

from narxbench.published import Published, load_published
from narxbench.terms import candidate_terms

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "data" / "reference"
CRITERIA = ("bic", "aic-2", "aic-8", "aic-64", "aic-256")
UNKNOWN = "<script>X"
ORDERS = {"S3": (3, 3, 3), UNKNOWN: (2, 2, 2)}  # n_y, n_u, degree; 5, 5, 2 otherwise


def published() -> Published:
    """Return the published values of the repository."""
    return load_published(REFERENCE / "published_tables.csv", REFERENCE / "system_terms.csv")


def true_structure(system: str) -> tuple[list[str], list[float]]:
    """Return terms and coefficients in equation order: appendix order for a published system."""
    entries = sorted(published().system_terms.get(system, {}).values(), key=lambda entry: int(entry.appendix_label[1:]))
    if entries:
        return [entry.term for entry in entries], [entry.coefficient for entry in entries]
    return ["u(k-1)", "y(k-2)^2"], [0.5, -0.25]


def make_cell(
    system: str = "S1",
    snr_db: int = 50,
    search: str = "upso2d",
    criterion: str = "bic",
    *,
    algorithm: str | None = None,
    runs: int = 40,
    counts: dict[str, int] | None = None,
) -> dict[str, Any]:
    """Return the summary of one cell; ``counts`` fixes how many runs select a term, the others are drawn."""
    draw = random.Random(f"{system} {snr_db} {search} {criterion}")
    n_y, n_u, degree = ORDERS.get(system, (5, 5, 2))
    candidates = candidate_terms(n_y=n_y, n_u=n_u, degree=degree)
    true, coefficients = true_structure(system)
    weak = 0.35 if search == "ga" else 0.12
    terms: list[dict[str, Any]] = []
    for name in candidates:
        chance = 0.97 if name in true else weak * draw.random()
        count = (counts or {}).get(name, sum(draw.random() < chance for _ in range(runs)))
        margin = 1.96 * math.sqrt(count / runs * (1 - count / runs) / runs)
        terms.append(
            {
                "term": name,
                "system_term": name in true,
                "count": count,
                "frequency": count / runs,
                "low": max(0.0, count / runs - margin),
                "high": min(1.0, count / runs + margin),
            }
        )
    spurious = [term for term in terms if not term["system_term"] and term["count"]]
    worst = max(spurious, key=lambda term: term["count"], default=None)
    r, nu_max = len(spurious) / len(terms), worst["frequency"] if worst else 0.0
    final = [term["term"] for term in terms if term["frequency"] >= 0.9]
    base, drop = -3000 + 500 * sum(map(ord, system)) % 1700, 400 if search == "ga" else 900
    evaluations = [30 * step for step in range(1, 201)]
    mean: list[float | None] = [base + drop * math.exp(-e / (600 if search == "ga" else 1500)) for e in evaluations]
    mean[0] = None
    return {
        "system": system,
        "snr_db": snr_db,
        "search": search,
        "algorithm": algorithm or search,
        "criterion": criterion,
        "runs": runs,
        "seeds": list(range(1, runs + 1)),
        "evaluations": 6000,
        "n_terms": len(terms),
        "settings": {"swarm_size": 30},
        "versions": {"python": "3.11", "narxbench": "0.1.0"},
        "data_sha256": f"{len(system):x}{snr_db:x}".ljust(64, "0"),
        "terms": terms,
        "spurious_ratio": {"value": r, "low": max(0.0, r - 0.1), "high": min(1.0, r + 0.1)},
        "spurious_frequency_max": {
            "value": nu_max,
            "low": max(0.0, nu_max - 0.1),
            "high": min(1.0, nu_max + 0.1),
            "term": worst["term"] if worst else None,
        },
        "threshold": 0.9,
        "confidence": 0.95,
        "final_structure": final,
        "final_is_exact": set(final) == set(true),
        "exact_runs": runs // 2,
        "fitness": [base + draw.random() for _ in range(runs - 1)] + [None],
        "cardinality": [len(true)] * runs,
        "true_structure": {
            "terms": true,
            "true_coefficients": coefficients,
            "coefficients": coefficients,
            "fitness": base + 0.5,
        },
        "best_run": {"seed": 1, "fitness": base, "sse": 1.0, "terms": true, "coefficients": coefficients},
        "convergence": {
            "evaluations": evaluations,
            "mean": mean,
            "low": [None if value is None else value - 30 for value in mean],
            "high": [None if value is None else value + 50 for value in mean],
        },
    }


def paper_matrix(systems: tuple[str, ...] = ("S1", "S2", "S3", "S4")) -> list[dict[str, Any]]:
    """Return the cells of the paper: every system and SNR, 2D-UPSO under five criteria and GA under BIC."""
    return [
        make_cell(system, snr_db, search, criterion)
        for system in systems
        for snr_db in (50, 40, 30)
        for search, criteria in (("upso2d", CRITERIA), ("ga", CRITERIA[:1]))
        for criterion in criteria
    ]


def write_cells(cells: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Write cells as the pipeline does and return their paths."""
    paths = []
    for number, cell in enumerate(cells):
        path = folder / f"{number}.json"
        path.write_text(json.dumps(cell, allow_nan=False), encoding="utf-8")
        paths.append(path)
    return paths
