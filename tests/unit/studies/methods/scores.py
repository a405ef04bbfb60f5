"""Made-up score files, small and seeded, for tests of the comparison of methods and of what is shown of it."""

import json
import random
from itertools import product
from pathlib import Path
from typing import Any

REFERENCES = TRUTH, EVERYTHING = "truth", "all-candidates"

TRUE = ["y(k-1)", "u(k-1)", "y(k-1)*u(k-1)", "u(k-1)^2"]
SPURIOUS = ["y(k-2)", "u(k-2)", "u(k-2)^2"]
METHODS = ("frols", "ga", "multistart", "random", "upso2d")
DETERMINISTIC = ("frols", *REFERENCES)
IDENTIFYING = ("frols", *REFERENCES)  # methods that do not minimise J
SCENARIOS = ("base", "noisy")
SYSTEMS = ("S1", "S2", "S3", "S4", "D1", "OUT")
HELD_OUT = ("S3", "S4", "OUT")  # systems on which no method was tuned
OUTSIDE = ("OUT",)  # systems whose truth lies outside the candidate terms
BUDGET = 6000
N_VALIDATION = 600

Score = dict[str, Any]


def make_run(seed: int = 1, fitness: float | None = -4000.0, **changes: Any) -> dict[str, Any]:
    """Return a run that found the true structure; ``fitness`` None: a run that failed at once."""
    run = {"seed": seed, "fitness": fitness, "evaluations": BUDGET, "terms": TRUE}
    run |= {"fresh_error": 0.05, "failure": ""}
    if fitness is None:
        run |= {"evaluations": 0, "terms": [], "fresh_error": None, "failure": "ended with signal 9"}
    return {**run, **changes}


def make_method(method: str, runs: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """Return what a score file says of a method."""
    about = {
        "method": method,
        "algorithm": method,
        "minimises": method not in IDENTIFYING,
        "reference": method in REFERENCES,
        "budget": BUDGET,
        "runs": runs,
    }
    return {**about, **changes}


def make_score(methods: list[dict[str, Any]], system: str = "S1", scenario: str = "base", **changes: Any) -> Score:
    """Return the content of a score file; the truth of a system in `OUTSIDE` has no structure."""
    score = {
        "scenario": scenario,
        "system": system,
        "snr_db": 30.0,
        "data_seed": 1,
        "held_out": system in HELD_OUT,
        "criterion": "bic",
        "interpretation": "baseline",
        "n_terms": 66,
        "samples": 2000,
        "n_validation": N_VALIDATION,
        "data_sha256": "0" * 64,
        "true_terms": TRUE,
        "true_fitness": -4000.0,
        "methods": methods,
        "seals": {},
    }
    if system in OUTSIDE:
        score |= {"true_terms": [], "true_fitness": None}
    return {**score, **changes}


def with_gaps(gaps: dict[str, list[float | None]], **changes: Any) -> Score:
    """Return a problem with runs of the given gaps over the true structure's J, None for runs that failed."""

    def run(seed: int, gap: float | None) -> dict[str, Any]:
        return make_run(seed, None if gap is None else -4000.0 + gap * N_VALIDATION)

    methods = []
    for name, gaps_of_method in gaps.items():
        runs = [run(seed, gap) for seed, gap in enumerate(gaps_of_method, start=1)]
        methods.append(make_method(name, runs))
    return make_score(methods, **changes)


def methods_study(
    systems: tuple[str, ...] = SYSTEMS,
    scenarios: tuple[str, ...] = SCENARIOS,
    methods: tuple[str, ...] = METHODS,
    data_seeds: int = 2,
    seeds: int = 3,
    references: bool = True,
) -> list[Score]:
    """Return the problems of a study whose methods differ: frols evaluates its result only, random may fail."""
    problems = []
    for scenario, system, data_seed in product(scenarios, systems, range(1, data_seeds + 1)):
        shown = [name for name in REFERENCES if name != TRUTH or system not in OUTSIDE] if references else []
        entries = [make_method(name, [_of_reference(name)]) for name in shown]
        for method in methods:
            draw = random.Random(f"{scenario} {system} {data_seed} {method}")
            count = 1 if method in DETERMINISTIC else seeds
            entries.append(make_method(method, [_drawn(draw, method, seed) for seed in range(1, count + 1)]))
        problems.append(make_score(entries, system, scenario, data_seed=data_seed))
    return problems


def write_scores(folder: Path, scores: list[Score]) -> list[Path]:
    """Write score files as a study names them, and return their paths."""
    paths = []
    for score in scores:
        place = f"{score['scenario']}/{score['system']}/{score['snr_db']:g}dB/data-{score['data_seed']}"
        paths.append(folder / place / f"{score['criterion']}.json")
        paths[-1].parent.mkdir(parents=True, exist_ok=True)
        paths[-1].write_text(json.dumps(score), encoding="utf-8")
    return paths


def _of_reference(name: str) -> dict[str, Any]:
    """Return the run of a reference: the system terms, or all candidate terms."""
    if name == TRUTH:
        return make_run(evaluations=1, fresh_error=0.01)
    return make_run(fitness=-3000.0, evaluations=1, terms=[*TRUE, *SPURIOUS], fresh_error=0.2)


def _drawn(draw: random.Random, method: str, seed: int) -> dict[str, Any]:
    if method == "random" and draw.random() < 0.15:
        return make_run(seed, None)
    luck = 0.3 + 0.1 * METHODS.index(method) if method in METHODS else 0.5
    exact = draw.random() < luck
    terms = TRUE if exact else [*TRUE[: draw.randint(1, 4)], *SPURIOUS[: draw.randint(1, 3)]]
    end = -4000.0 + (0.0 if exact else round(200 * draw.random(), 3))
    return make_run(
        seed,
        end,
        evaluations=1 if method == "frols" else BUDGET,
        terms=terms,
        fresh_error=None if draw.random() < 0.05 else round(0.02 + 0.1 * draw.random() * (not exact), 6),
    )
