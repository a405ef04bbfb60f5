"""Synthetic summaries of cells, for tests of what is shown: small, seeded, and in the form of ``data/cells``."""

import math
import random
from functools import cache
from pathlib import Path
from typing import Any

from narxbench.analysis.distance import CANDIDATES
from narxbench.analysis.multiverse_frame import ReadingCell
from narxbench.io.files import sealed_json
from narxbench.analysis.published import Published, load_published
from narxbench.numerics.random_streams import generator
from narxbench.model.terms import candidate_terms

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "data" / "reference"
CRITERIA = ("bic", "aic-2", "aic-8", "aic-64", "aic-256")
UNKNOWN = "<script>X"
ORDERS = {"S3": (3, 3, 3), UNKNOWN: (2, 2, 2)}  # n_y, n_u, degree; 5, 5, 2 otherwise


@cache
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
        "true_fitness": [base - 1.0] * runs,
        "realisations": 1,
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
        path.write_text(sealed_json(cell), encoding="utf-8")
        paths.append(path)
    return paths


def reading_cell(
    algorithm: str = "upso2d",
    choices: str = "base",
    data_seed: int = 1,
    system: str = "S1",
    snr_db: float = 50,
    criterion: str = "bic",
    **values: Any,
) -> ReadingCell:
    """Return one cell of a reading: every system term in every run, no spurious term, unless ``values`` say."""
    cell: dict[str, Any] = {
        "runs": 40,
        "evaluations": 6000,
        "nu": (40,) * len(true_structure(system)[0]),
        "spurious": 0,
        "nu_max": 0,
        "exact_runs": 40,
        "cardinality": len(true_structure(system)[0]),
        "true_fitness": -1000.0,
        "best_fitness": -1000.0,
        "median_fitness": -1000.0,
        "third_fitness": -900.0,
        "curve": tuple(-910.0 - 10 * tenth for tenth in range(10)),
        "last_improvement": 3000,
    }
    return ReadingCell(algorithm, choices, data_seed, system, snr_db, criterion, **(cell | values))


def drawn_cell(algorithm: str, choices: str, data_seed: int, system: str, snr_db: float, criterion: str) -> ReadingCell:
    """Return a plausible cell, drawn at random; weaker searches miss more terms and end at a higher J."""
    names = {"algorithm": algorithm, "choices": choices, "data_seed": data_seed}
    draws = generator(**names, system=system, snr_db=snr_db, criterion=criterion, purpose="test")
    data = "+".join(choice for choice in choices.split("+") if choice.startswith(("input", "noise", "realisation")))
    known = generator(purpose="best", data=data, data_seed=data_seed, system=system, snr_db=snr_db, criterion=criterion)
    changed = generator(purpose="changed", algorithm=algorithm, choices=choices).random()
    weakness = {"upso2d": 0.2, "ga": 0.6, "stepwise": 0.02}[algorithm] * (0.5 + changed) * (3 if system == "S4" else 1)
    if "velocity-bound=1" in choices or "selection" in choices:
        weakness *= 3 if algorithm == "upso2d" else 0.3
    terms = len(true_structure(system)[0])
    nu = tuple(int(draws.binomial(40, max(0.0, 1 - 0.2 * weakness * draws.random()))) for _ in range(terms))
    possible = CANDIDATES[system] - terms
    spurious = int(draws.binomial(possible, min(0.95, 0.35 * weakness)))
    nu_max = min(40, 1 + int(draws.binomial(40, min(0.95, 0.3 * weakness)))) if spurious else 0
    best = -4000 + 1000 * known.random()
    true = best + max(0.0, 8 * known.random() - 6)
    found = best + (0.0 if draws.random() > weakness else 5 * weakness * draws.random())
    median = found + 20 * weakness * draws.random() * (draws.random() < weakness)
    curve = tuple(round(median + 1 + 100 * 0.5**tenth, 6) for tenth in range(10))
    return reading_cell(
        **names,
        system=system,
        snr_db=snr_db,
        criterion=criterion,
        nu=nu,
        spurious=spurious,
        nu_max=nu_max,
        exact_runs=min(nu) if not spurious else 0,
        cardinality=terms + spurious // 10,
        true_fitness=true,
        best_fitness=round(found, 3),
        median_fitness=round(median, 3),
        third_fitness=round(median + 15, 6),
        curve=curve,
        last_improvement=int(draws.integers(1000, 6000)),
    )


def drawn_cells(
    upso2d: list[str], ga: list[str], stepwise: list[str], *, finalists: tuple[str, ...] = ("base",), seeds: int = 3
) -> list[ReadingCell]:
    """Return drawn cells of these choices on every system and SNR, of the finalists under every criterion."""
    return [
        drawn_cell(algorithm, choices, seed, system, snr_db, criterion)
        for algorithm, every in (("upso2d", upso2d), ("ga", ga), ("stepwise", stepwise))
        for choices in every
        for criterion in (CRITERIA if choices in finalists and algorithm != "ga" else CRITERIA[:1])
        for seed in range(1, seeds + 1)
        for system in ("S1", "S2", "S3", "S4")
        for snr_db in (50, 40, 30)
    ]
