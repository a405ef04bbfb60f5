"""One run of an algorithm on a structure problem."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from narxbench.algorithms.objective import Objective
from narxbench.algorithms.registry import algorithm_module, settings_model
from narxbench.fitness.problem import StructureProblem
from narxbench.io.errors import NarxbenchError, is_whole_number
from narxbench.io.settings import Settings, validated
from narxbench.numerics.random_streams import generator


@dataclass(frozen=True)
class SearchResult:
    """The outcome of one run.

    Attributes
    ----------
    terms : list of str
        The best structure found, in canonical order; empty when no structure had a finite J.
    fitness, sse : float
        Its J and its free-run error e; +inf when ``terms`` is empty.
    coefficients : list of float
        Its least-squares weights, in the order of ``terms``.
    evaluations : int
        Fitness evaluations made.
    history : list of (int, float)
        Evaluations so far and best J, at each improvement.
    algorithm, seed, settings
        What was run, with all settings of the algorithm.
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
    """Return the evaluations that a run makes.

    Parameters
    ----------
    settings : Settings
        Settings of the algorithm; with ``count_initial_evaluations`` false the first population is not counted.
    evaluations : int
        Budget of fitness evaluations.

    Returns
    -------
    int
        ``evaluations``, and the size of the first population if that is not counted.
    """
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
        Non-negative; with algorithm, criterion and ``axes`` it determines every random draw.
    evaluations : int
        Budget of fitness evaluations; equal structures count each time.
    axes : mapping, optional
        Further named axes of the random stream, e.g. ``{"system": "S1", "snr_db": "30"}``, so that runs on different
        data draw independently.
    **settings
        Settings of the algorithm, see its ``Settings``.

    Returns
    -------
    SearchResult
        The best structure, its fitness and weights, and the history of the run.

    Raises
    ------
    NarxbenchError
        If the algorithm, a setting, the seed or the budget is unknown or impossible.

    Examples
    --------
    >>> import narxbench
    >>> u, y = narxbench.load_system("S1").simulate(1000, snr_db=40)
    >>> problem = narxbench.StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=300)
    >>> result = narxbench.search(problem, algorithm="stepwise", seed=1, evaluations=600)
    >>> result.terms
    ['y(k-1)', 'u(k-1)', 'y(k-1)*u(k-1)', 'u(k-1)^2']
    """
    chosen = validated(settings_model(algorithm), settings, f"search(algorithm={algorithm!r})")
    for name, value, least in (("seed", seed, 0), ("evaluations", evaluations, 1)):
        if not is_whole_number(value, least):
            raise NarxbenchError(f"search: {name}: found {value!r}; allowed: a whole number from {least} on")
    objective = Objective(problem, budget(chosen, evaluations))
    rng = generator(
        **{"purpose": "search", "algorithm": algorithm, "criterion": problem.criterion, "seed": seed, **(axes or {})}
    )
    algorithm_module(algorithm).run(objective, rng, chosen)
    found = [name for name, chosen_bit in zip(problem.terms, objective.record.best_position, strict=True) if chosen_bit]
    best = problem.evaluate(found)
    return SearchResult(
        terms=best.terms,
        fitness=best.fitness,
        sse=best.sse,
        coefficients=best.coefficients,
        evaluations=int(objective.record.evaluations[0]),
        history=objective.history(),
        algorithm=algorithm,
        seed=seed,
        settings=chosen.model_dump(mode="json"),
    )
