"""One run of an algorithm on a structure problem."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from narxbench.algorithms.objective import Objective
from narxbench.algorithms.registry import algorithm_module, settings_model
from narxbench.fitness.problem import StructureProblem
from narxbench.io.errors import NarxbenchError
from narxbench.io.settings import Settings, validated
from narxbench.numerics.random_streams import generator


@dataclass(frozen=True)
class SearchResult:
    """The outcome of one run.

    ``terms`` is the best structure found (canonical order; empty when every structure was divergent), ``fitness`` its
    J, ``sse`` its free-run error and ``coefficients`` its weights; ``history`` lists (evaluations, best J) at each
    improvement.
    """

    terms: list[str]
    fitness: float
    sse: float
    coefficients: list[float]
    evaluations: int
    history: list[tuple[int, float]]
    algorithm: str
    seed: int
    settings: dict[str, Any] = field(default_factory=dict)


def budget(settings: Settings, evaluations: int) -> int:
    """Return the evaluations that a run spends: its first population may come on top of ``evaluations``."""
    if getattr(settings, "count_initial_evaluations", True):
        return evaluations
    return evaluations + (getattr(settings, "swarm_size", 0) or getattr(settings, "population_size", 0))


def search(
    problem: StructureProblem,
    *,
    algorithm: str = "upso2d",
    seed: int,
    evaluations: int = 6000,
    axes: Mapping[str, object] | None = None,
    **settings: Any,
) -> SearchResult:
    """Search for the structure of lowest J and return the best one found.

    Parameters
    ----------
    problem : StructureProblem
        Data, candidate terms and criterion.
    algorithm : str
        Name of a module in this package, e.g. ``"upso2d"`` or ``"ga"``.
    seed : int
        Non-negative; with ``axes`` and the criterion it determines every random draw.
    evaluations : int
        Budget of fitness evaluations; equal structures count each time.
    axes : mapping, optional
        Further named axes of the random stream, e.g. ``{"system": "S1", "snr_db": "30"}``, so that runs on different
        data draw independently.
    **settings
        Settings of the algorithm; unknown names and impossible values raise :class:`NarxbenchError`.
    """
    chosen = validated(settings_model(algorithm), settings, f"search(algorithm={algorithm!r})")
    for name, value, least in (("seed", seed, 0), ("evaluations", evaluations, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise NarxbenchError(f"search: {name}: found {value!r}; allowed: a whole number from {least} on")
    objective = Objective(problem, budget(chosen, evaluations))
    draws = generator(
        **{"purpose": "search", "algorithm": algorithm, "criterion": problem.criterion, "seed": seed, **(axes or {})}
    )
    algorithm_module(algorithm).run(objective, draws, chosen)
    found = [name for name, chosen_bit in zip(problem.terms, objective.record.best_position, strict=True) if chosen_bit]
    best = problem.evaluate(found)
    return SearchResult(
        terms=best.terms,
        fitness=best.fitness,
        sse=best.sse,
        coefficients=best.coefficients,
        evaluations=int(objective.record.spent[0]),
        history=objective.history(),
        algorithm=algorithm,
        seed=seed,
        settings=chosen.model_dump(mode="json"),
    )
