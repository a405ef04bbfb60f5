"""One run of an algorithm on a structure problem."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench.algorithms.contract import BudgetSpentError, Found, SearchWarning, checked_found
from narxbench.algorithms.isolation.host import AlgorithmProcess, RunFailedError, RunOutcome, reused_process
from narxbench.algorithms.objective import CountedObjective, view_of
from narxbench.algorithms.registry import Algorithm, AlgorithmUnavailableError
from narxbench.algorithms.registry import algorithm as algorithm_of
from narxbench.fitness.problem import StructureProblem
from narxbench.io.errors import NarxbenchError, is_whole_number
from narxbench.io.settings import Settings, validated
from narxbench.numerics.random_streams import generator

_LOGGER = logging.getLogger("narxbench")


class AlgorithmFailedError(NarxbenchError):
    """A run that has failed through its algorithm: the text names it and says how.

    ``refused`` says whether the algorithm has raised a ValueError.
    """

    def __init__(self, text: str, refused: bool = False) -> None:
        super().__init__(text)
        self.refused = refused


@dataclass(frozen=True)
class SearchResult:
    """The outcome of one run.

    Attributes
    ----------
    terms : list of str
        The structure that was returned, in canonical order; empty when no structure had a finite J.
    fitness, sse : float
        Its J and its free-run error e with least-squares weights; +inf when ``terms`` is empty.
    coefficients : list of float
        Its weights, in the order of ``terms``: those that the algorithm returned, else those of least squares.
    evaluations : int
        Fitness evaluations made.
    history : list of (int, float)
        Evaluations so far and best J, at each improvement.
    algorithm, seed, settings
        What was run, with all settings of the algorithm.
    details : dict
        What else the algorithm has found, as plain data: see its module.
    offsets, scales : tuple of float
        Of the output and each input: terms, weights, J and e are of ``(signal - offset) / scale``.
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
    details: dict[str, Any] = field(default_factory=dict)
    offsets: tuple[float, ...] = (0.0, 0.0)
    scales: tuple[float, ...] = (1.0, 1.0)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names that terms have for the inputs."""
        n_inputs = len(self.offsets) - 1
        return ("u",) if n_inputs == 1 else tuple(f"u{i}" for i in range(1, n_inputs + 1))

    @property
    def warnings(self) -> list[SearchWarning]:
        """Reasons to doubt the structure, where the algorithm tells them: those of ``"pem"`` do."""
        return [SearchWarning(**warning) for warning in self.details.get("warnings", [])]

    @property
    def probabilities(self) -> dict[str, float]:
        """The probability that a candidate is a term, by name, where the algorithm tells it; the smallest left out."""
        return dict(self.details.get("probabilities", {}))

    def __str__(self) -> str:
        """Return the structure with its weights, the noise model, and one line for each reason to doubt it."""
        if not self.terms:
            return f"{self.algorithm}: no structure with a finite J"
        probabilities = self.probabilities
        weights = [f"{weight: .6g}" for weight in self.coefficients]
        term_width, weight_width = max(map(len, self.terms)), max(map(len, weights))
        lines = []
        for term, weight in zip(self.terms, weights, strict=True):
            line = f"{term:<{term_width}} {weight:<{weight_width}}"
            if probabilities:
                line += f"   probability {probabilities.get(term, 0.0):.2f}"
            lines.append(line.rstrip())
        for name, offset, scale in zip(("y", *self.inputs), self.offsets, self.scales, strict=True):
            if offset or scale != 1.0:
                lines.append(f"{name} stands for {_scaled_name(name, offset, scale)}")
        if "noise" in self.details:
            lines.append(f"noise: {self.details['noise']['description']}")
        for group in self.details.get("groups", []):
            shares = ", ".join(f"{share:.2f}" for share in group["probabilities"])
            lines.append(f"exchangeable: one of {', '.join(group['terms'])} ({shares})")
        for hidden in self.details.get("hidden", []):
            lines.append(f"hidden: drift of the noise hides a term {hidden}")
        lines += [f"warning: {warning.message}" for warning in self.warnings]
        return "\n".join(lines)


def _scaled_name(name: str, offset: float, scale: float) -> str:
    """Return the formula of a signal that is taken as its difference from an offset, in another unit."""
    formula = name
    if offset:
        formula = f"{name} {'-' if offset > 0 else '+'} {abs(offset):.15g}"
    if scale == 1.0:
        return formula
    return f"({formula}) / {scale:g}" if offset else f"{formula} / {scale:g}"


def budget(settings: Mapping[str, Any], evaluations: int) -> int:
    """Return the evaluations that a run may make, with the first population if the settings do not count it."""
    if settings.get("count_initial_evaluations", True):
        return evaluations
    return evaluations + int(settings.get("swarm_size", 0) or settings.get("population_size", 0))


def search(
    problem: StructureProblem,
    *,
    algorithm: str = "pem",
    seed: int,
    evaluations: int = 6000,
    axes: Mapping[str, object] | None = None,
    time_limit: float | None = None,
    **settings: Any,
) -> SearchResult:
    """Search for the structure of a problem and return the best one found.

    Parameters
    ----------
    problem : StructureProblem
        Data, candidate terms and criterion.
    algorithm : str
        Name of an algorithm. The default, ``"pem"``, looks for the true terms by likelihood; ``"multistart"``,
        ``"upso2d"``, ``"ga"`` and others look for the lowest J.
    seed : int
        Non-negative; with algorithm, criterion and ``axes`` it determines every random draw.
    evaluations : int
        Budget of fitness evaluations; equal structures count each time.
    axes : mapping, optional
        Further named axes of the random stream, e.g. ``{"system": "S1", "snr_db": "30"}``, so that runs on different
        data draw independently.
    time_limit : float, optional
        Seconds after which an algorithm that runs in a process of its own is ended.
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
    AlgorithmFailedError
        If the run fails: by an error of the algorithm, at the time limit, or because its result does not hold.

    Examples
    --------
    >>> import narxbench
    >>> u, y = narxbench.load_system("S1").simulate(1000, snr_db=40)
    >>> problem = narxbench.StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=300)
    >>> result = narxbench.search(problem, algorithm="stepwise", seed=1, evaluations=600)
    >>> result.terms
    ['y(k-1)', 'u(k-1)', 'y(k-1)*u(k-1)', 'u(k-1)^2']
    """
    with prepared(algorithm, settings) as runner:
        result = runner.run(problem, seed=seed, evaluations=evaluations, axes=axes, time_limit=time_limit).result
    if not result.terms:
        tried = f"none of the {result.evaluations} structures that it evaluated has a finite J"
        _LOGGER.warning("narxbench: %s found no structure: %s; all are singular or diverge", algorithm, tried)
    return result


@dataclass(frozen=True)
class Observation:
    """A run as it was seen from outside the algorithm."""

    result: SearchResult
    trace: NDArray[np.float64]  # J of every evaluation in order
    cpu_seconds: float | None  # of the process of the run, where it had one


class Runner:
    """An algorithm with its settings, ready for runs that know nothing of each other."""

    def __init__(self, algorithm: Algorithm, settings: Settings, process: AlgorithmProcess | None) -> None:
        self._algorithm, self._settings, self._process = algorithm, settings, process

    def given(self, **settings: Any) -> "Runner":
        """Return a runner with other values of some settings, which the algorithm checks at the beginning of a run."""
        values = {**self._settings.model_dump(), **settings}
        return Runner(self._algorithm, validated(type(self._settings), values, "settings"), self._process)

    def run(
        self,
        problem: StructureProblem,
        *,
        seed: int,
        evaluations: int,
        axes: Mapping[str, object] | None = None,
        time_limit: float | None = None,
    ) -> Observation:
        """Make one run, evaluate its result again, and return what was seen; arguments are those of :func:`search`."""
        for name, value, least in (("seed", seed, 0), ("evaluations", evaluations, 1)):
            if not is_whole_number(value, least):
                raise NarxbenchError(f"search: {name}: found {value!r}; allowed: a whole number from {least} on")
        name, settings = self._algorithm.name, self._settings.model_dump(mode="json")
        objective = CountedObjective(problem, budget(settings, evaluations))
        stream = {"purpose": "search", "algorithm": name, "criterion": problem.criterion, "seed": seed, **(axes or {})}
        try:
            if self._process is None:
                outcome = self._run_here(problem, objective, stream)
            else:
                view = view_of(problem)
                outcome = self._process.run(view, objective, settings=settings, axes=stream, time_limit=time_limit)
            result = _checked(problem, objective, outcome)
        except RunFailedError as error:
            raise AlgorithmFailedError(f"algorithm {name!r}: seed {seed}: {error}", error.refused) from None
        found = SearchResult(**result, algorithm=name, seed=seed, settings=settings)
        return Observation(found, objective.trace(), outcome.cpu_seconds)

    def _run_here(
        self, problem: StructureProblem, objective: CountedObjective, stream: Mapping[str, object]
    ) -> RunOutcome:
        before = problem.digest
        try:
            found = self._algorithm.imported.run(view_of(problem), objective, generator(**stream), self._settings)
        except BudgetSpentError:
            found = Found(objective.best_position)
        if problem.digest_now() != before:
            raise RunFailedError("it has changed the data of the problem")
        try:
            return RunOutcome(*checked_found(found, objective.n_terms))
        except NarxbenchError as error:
            raise RunFailedError(str(error)) from None


@contextmanager
def prepared(algorithm: str, settings: Mapping[str, Any], *, keep: bool = False) -> Iterator[Runner]:
    """Give an algorithm with its settings for runs, in a process of its own if it is to have one.

    That process can be kept for the next that asks for the algorithm. Raises NarxbenchError for an unknown algorithm,
    setting or value, and an algorithm that cannot be used.
    """
    found = algorithm_of(algorithm)
    _ = found.versions
    chosen = found.settings(settings, f"search(algorithm={algorithm!r})")
    if found.in_process:
        yield Runner(found, chosen, None)
        return
    try:
        with reused_process(found.module) if keep else AlgorithmProcess(found.module) as process:
            process.start()
            yield Runner(found, chosen, process)
    except RunFailedError as error:
        raise AlgorithmUnavailableError(f"algorithm {algorithm!r}: cannot be imported: {error}") from None


def _checked(problem: StructureProblem, objective: CountedObjective, outcome: RunOutcome) -> dict[str, Any]:
    """Evaluate what a run returned again, and compare it with what was recorded."""
    position = outcome.position
    known = objective.known_fitness(position)
    if known is None and position.any():
        # A structure that comes from elsewhere is an evaluation like any other.
        if not objective.remaining:
            raise RunFailedError("it returns a structure that it did not evaluate, and nothing is left of the budget")
        known = float(objective.evaluate(position[None])[0])
    best = problem.evaluate([name for name, chosen in zip(problem.terms, position, strict=True) if chosen])
    history = objective.history()
    lowest = history[-1][1] if history else np.inf
    if (known is not None and known != best.fitness) or lowest != objective.best_fitness:
        raise RunFailedError(f"its record does not hold: J is {best.fitness!r}, recorded {known!r}")
    finite = np.isfinite(best.fitness)
    return {
        "terms": best.terms if finite else [],
        "fitness": best.fitness,
        "sse": best.sse,
        "coefficients": (outcome.coefficients or best.coefficients) if finite else [],
        "evaluations": objective.evaluations,
        "history": history,
        "details": outcome.details if finite else {},
        "offsets": problem.offsets,
        "scales": problem.scales,
    }
