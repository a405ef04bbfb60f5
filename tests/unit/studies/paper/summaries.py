"""Synthetic summaries of conditions, small and seeded, for tests of the analysis and of what is shown."""

import math
import random
from collections import Counter
from functools import cache
from itertools import chain, product
from pathlib import Path
from typing import Any

from narxbench import candidate_terms
from narxbench._studies.paper.published import Published, load_published

ROOT = Path(__file__).parents[4]
REFERENCE = ROOT / "data" / "reference"
SYSTEMS = ("S1", "S2", "S3", "S4")
CRITERIA = ("bic", "aic-2", "aic-8", "aic-64", "aic-256")
# Methods and criteria of the paper: 2D-UPSO under five criteria and GA under BIC.
METHODS_AND_CRITERIA = [*product(["upso2d"], CRITERIA), ("ga", "bic")]
# A system of the project that the paper does not have.
UNKNOWN = "volterra"
ORDERS = {"S3": (3, 3, 3), UNKNOWN: (2, 2, 2)}  # n_y, n_u, degree; 5, 5, 2 otherwise

History = list[tuple[int, float]]


@cache
def published() -> Published:
    """Return the published values of the repository."""
    return load_published(REFERENCE / "published_tables.csv", REFERENCE / "system_terms.csv")


def true_structure(system: str) -> tuple[list[str], list[float]]:
    """Return terms and coefficients in equation order: appendix order for a published system."""
    if system not in published().systems:
        return ["u(k-1)", "y(k-2)^2"], [0.5, -0.25]
    terms = published().systems[system].reset_index()
    terms = terms.sort_values("appendix_label", key=lambda labels: labels.str[1:].astype(int))
    return list(terms["term"]), list(terms["coefficient"])


def make_summary(
    system: str = "S1",
    snr_db: float = 50,
    method: str = "upso2d",
    criterion: str = "bic",
    *,
    runs: int = 40,
    counts: dict[str, int] | None = None,
    histories: list[History] | None = None,
    true: float | None = -4000.0,
    **changes: Any,
) -> dict[str, Any]:
    """Return a summary; ``counts`` fixes how many runs choose a term (the others are drawn), ``true`` the true J.

    ``histories`` are the improvements of each run, (evaluation, J), from which the final J follow.
    """
    draw = random.Random(f"{system} {snr_db} {method} {criterion}")
    n_y, n_u, degree = ORDERS.get(system, (5, 5, 2))
    candidates = candidate_terms(n_y=n_y, n_u=n_u, degree=degree)
    terms, coefficients = true_structure(system)
    if histories is None:
        histories = [_history(draw, method) for _ in range(runs)]
    weak = 0.35 if method == "ga" else 0.12
    structures = _structures(draw, len(histories), candidates, terms, weak, counts or {})
    selections = Counter(chain.from_iterable(structures))
    final = [name for index, name in enumerate(candidates) if selections[index] >= 0.9 * len(histories)]
    return {
        "system": system,
        "snr_db": float(snr_db),
        "data_seed": 1,
        "interpretation": "baseline",
        "method": method,
        "algorithm": method,
        "criterion": criterion,
        "settings": {"swarm_size": 30},
        "versions": {"python": "3.11", "narxbench": "0.2.0"},
        "data_sha256": f"{snr_db:.0f}".ljust(64, "0"),
        "algorithm_sha256": "a" * 64,
        "seals": {f"{method}/{criterion}/{seed}": f"{seed:064x}" for seed in range(1, len(histories) + 1)},
        "realisations": 1,
        "evaluations": 6000,
        "seeds": list(range(1, len(histories) + 1)),
        "candidates": candidates,
        "system_terms": terms,
        "true_coefficients": coefficients,
        "true_fitness": [true] * len(histories),
        **_runs(histories),
        "structures": structures,
        "threshold": 0.9,
        "final_structure": final,
        "final_coefficients": [0.123456789 * (-1) ** index for index, _ in enumerate(final)],
        **changes,
    }


def _runs(histories: list[History]) -> dict[str, list[Any]]:
    """Return all about runs but their structures; a run without improvements found nothing."""
    runs: dict[str, list[Any]] = {"fitness": [], "history_evaluations": [], "history_fitness": []}
    for history in histories:
        runs["fitness"].append(history[-1][1] if history else None)
        runs["history_evaluations"].append([evaluation for evaluation, _ in history])
        runs["history_fitness"].append([value for _, value in history])
    return {**runs, "spent": [6000] * len(histories)}


def _structures(
    draw: random.Random, runs: int, candidates: list[str], terms: list[str], weak: float, counts: dict[str, int]
) -> list[list[int]]:
    """Return the numbers of the terms that each run chooses; spurious terms are chosen by a share of at most weak."""
    structures: list[list[int]] = [[] for _ in range(runs)]
    for index, name in enumerate(candidates):
        chance = 0.97 if name in terms else weak * draw.random()
        count = sum(draw.random() < chance for _ in range(runs))
        for run in draw.sample(range(runs), counts.get(name, count)):
            structures[run].append(index)
    return structures


def _history(draw: random.Random, method: str) -> History:
    end = -3000 - 900 * draw.random() - (0 if method == "ga" else 100)
    return [(1, 3000.0), *((n, end + 500 * math.exp(-n / 1000)) for n in sorted(draw.sample(range(2, 6000), 30)))]


def paper_summaries(systems: tuple[str, ...] = SYSTEMS, **changes: Any) -> list[dict[str, Any]]:
    """Return the conditions of the paper: every system and SNR, 2D-UPSO under five criteria and GA under BIC.

    Under the last criterion the first run found nothing.
    """
    summaries = []
    for system, snr_db, case in product(systems, (50, 40, 30), METHODS_AND_CRITERIA):
        summaries.append(make_summary(system, snr_db, *case, **changes))
        if case[1] == CRITERIA[-1]:
            summaries[-1]["fitness"][0] = None
            summaries[-1]["history_evaluations"][0], summaries[-1]["history_fitness"][0] = [], []
    return summaries
