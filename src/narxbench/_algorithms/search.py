"""One run of an algorithm on a structure problem."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench._algorithms.contract import BudgetSpentError, Found, SearchWarning, as_found, checked_found
from narxbench._algorithms.isolation.host import (
    AlgorithmProcess,
    RunFailedError,
    RunOutcome,
    reused_process,
)
from narxbench._algorithms.limits import LimitReachedError, Watch, memory_limit
from narxbench._algorithms.objective import CountedObjective, view_of
from narxbench._algorithms.registry import Algorithm, AlgorithmUnavailableError
from narxbench._algorithms.registry import algorithm as algorithm_of
from narxbench._fitness.problem import StructureProblem
from narxbench._io.errors import NarxbenchError, is_whole_number
from narxbench._io.interruptions import interruptible
from narxbench._io.settings import Settings, validated
from narxbench._io.words import probability
from narxbench._model.terms import signal_name
from narxbench._numerics.random_streams import generator

_LOGGER = logging.getLogger("narxbench")


class AlgorithmFailedError(NarxbenchError):
    """A run that failed. The text names the algorithm and the reason.

    Attributes
    ----------
    refused : bool
        Whether the algorithm raised a ValueError.
    best : SearchResult or None
        Of a run that has met a limit its best structure so far, which depends on the speed of the machine.
    is_killed : bool
        Whether its process was ended from outside, such as by a system that is short of memory.

    Examples
    --------
    >>> import narxbench
    >>> u, y = narxbench.load_system("S1").simulate(400, snr_db=40)
    >>> problem = narxbench.StructureProblem(u, y, n_u=1, n_y=1, degree=1, n_validation=100)
    >>> try:
    ...     narxbench.search(problem, algorithm="adaptive_lasso", seed=1, time_limit=1e-3)
    ... except narxbench.AlgorithmFailedError as error:
    ...     print(error)
    algorithm 'adaptive_lasso': seed 1: not done after the time limit of 0.001 s
    """

    def __init__(
        self, text: str, refused: bool = False, *, best: "SearchResult | None" = None, is_killed: bool = False
    ) -> None:
        super().__init__(text)
        self.refused, self.best, self.is_killed = refused, best, is_killed


@dataclass(frozen=True)
class SearchResult:
    """The outcome of one run.

    Attributes
    ----------
    terms : list of str
        The terms of the best structure, in canonical order; empty if no structure had a finite J.
    fitness, sse : float
        J and free-run error e of the structure with least-squares weights, or +inf if ``terms`` is empty.
    coefficients : list of float
        The weights of the terms: those that the algorithm returned, else those of least squares.
    evaluations : int
        The number of fitness evaluations.
    history : list of (int, float)
        Evaluations so far and lowest J, at each improvement.
    algorithm, seed, settings
        The algorithm and the seed of the run, and all settings of the algorithm.
    details : dict
        Further results of the algorithm as plain data; its module describes them.
    offsets, scales : tuple of float
        One for the output and for each input: terms, weights, J and e are those of ``(signal - offset) / scale``.

    Examples
    --------
    >>> import narxbench
    >>> u, y = narxbench.load_system("S1").simulate(1000, snr_db=40)
    >>> problem = narxbench.StructureProblem(u, y, n_u=1, n_y=1, degree=2, n_validation=300)
    >>> result = narxbench.search(problem, algorithm="stepwise", seed=1, evaluations=200)
    >>> print(result)
    y(k-1)         0.499746
    u(k-1)         0.299977
    y(k-1)*u(k-1)  0.301199
    u(k-1)^2       0.50005
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
        """The names of the inputs in the terms."""
        n_inputs = len(self.offsets) - 1
        return tuple(signal_name(signal, n_inputs) for signal in range(1, 1 + n_inputs))

    @property
    def warnings(self) -> list[SearchWarning]:
        """Reasons to doubt the structure, from algorithms that report them, such as ``"pem"``."""
        return [SearchWarning(**warning) for warning in self.details.get("warnings", [])]

    @property
    def probabilities(self) -> dict[str, float]:
        """The probability of each candidate to be a term, by name, from algorithms that report it.

        Candidates of very small probability are left out.
        """
        return dict(self.details.get("probabilities", {}))

    def __str__(self) -> str:
        """Return the structure with its weights, the noise model, and one line for each reason to doubt it."""
        if not self.terms:
            return f"{self.algorithm}: no structure with a finite J"
        lines = [*self._term_lines(), *self._scaling_lines(), *self._detail_lines()]
        lines += [f"warning: {warning.message}" for warning in self.warnings]
        return "\n".join(lines)

    def _term_lines(self) -> Iterator[str]:
        """Yield a line for each term with its weight and, if it is known, its probability."""
        probabilities = self.probabilities
        weights = [f"{weight: .6g}" for weight in self.coefficients]
        term_width, weight_width = max(map(len, self.terms)), max(map(len, weights))
        for term, weight in zip(self.terms, weights, strict=True):
            line = f"{term:<{term_width}} {weight:<{weight_width}}"
            if probabilities:
                line += f"   probability {probability(probabilities.get(term, 0.0))}"
            yield line.rstrip()

    def _scaling_lines(self) -> Iterator[str]:
        """Yield a line for each signal with an offset or a scale."""
        for name, offset, scale in zip(("y", *self.inputs), self.offsets, self.scales, strict=True):
            if offset or scale != 1.0:
                yield f"{name} represents {_scaled_name(name, offset, scale)}"

    def _detail_lines(self) -> Iterator[str]:
        """Yield lines on the noise model, exchangeable terms and hidden terms, as far as the algorithm reports them."""
        if "noise" in self.details:
            yield f"noise: {self.details['noise']['description']}"
        for group in self.details.get("groups", []):
            shares = ", ".join(map(probability, group["probabilities"]))
            yield f"exchangeable: one of {', '.join(group['terms'])} ({shares})"
        for term in self.details.get("hidden", []):
            yield f"hidden: drift of the noise hides a term {term}"


def _scaled_name(name: str, offset: float, scale: float) -> str:
    """Return the formula (signal - offset) / scale, without a part that changes nothing."""
    formula = name
    if offset:
        sign = "-" if offset > 0 else "+"
        formula = f"{name} {sign} {abs(offset):.15g}"
    if scale == 1.0:
        return formula
    return f"({formula}) / {scale:g}" if offset else f"{formula} / {scale:g}"


def budget(settings: Mapping[str, Any], evaluations: int) -> int:
    """Return the number of evaluations that a run may make.

    If the settings do not count the first population, it is added.
    """
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
        Name of an algorithm. The default, ``"pem"``, searches for the true terms by likelihood; ``"multistart"``,
        ``"upso2d"``, ``"ga"`` and others search for the lowest J.
    seed : int
        A whole number from 0 on. With algorithm, criterion and ``axes`` it determines every random draw.
    evaluations : int
        Budget of fitness evaluations. Repeated structures count each time.
    axes : mapping, optional
        Further named axes of the random stream, such as ``{"system": "S1", "snr_db": "30"}``, so that runs on different
        data draw independently.
    time_limit : float, optional
        Seconds after which a run is ended, compilation not counted. It then returns the best structure so far, with a
        warning, and raises AlgorithmFailedError if there is none. Memory is always limited, to 4 GiB and eight copies
        of the columns of all candidate terms, in addition to what the process has.
    **settings
        Settings of the algorithm; its class ``Settings`` describes them.

    Returns
    -------
    SearchResult
        The best structure, its fitness and weights, and the history of the run.

    Raises
    ------
    NarxbenchError
        If the algorithm, a setting, the seed or the budget is unknown or impossible.
    AlgorithmFailedError
        If the run fails: by an error of the algorithm, at a limit before any structure of finite J, or because its
        result is wrong.

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
        try:
            result = runner.run(problem, seed=seed, evaluations=evaluations, axes=axes, time_limit=time_limit).result
        except AlgorithmFailedError as error:
            if error.best is None or not error.best.terms:
                raise
            _LOGGER.warning("narxbench: %s; the result is the best structure so far", error)
            return error.best
    if not result.terms:
        reason = f"none of the {result.evaluations} structures that it evaluated has a finite J"
        causes = "singular or diverge"
        if problem.required_terms != "nothing":
            causes = "singular, diverge or lack a required term"
        _LOGGER.warning("narxbench: %s found no structure: %s; all are %s", algorithm, reason, causes)
    return result


@dataclass(frozen=True)
class Observation:
    """A run, as observed from outside the algorithm."""

    result: SearchResult
    trace: NDArray[np.float64]  # J of every evaluation in order
    cpu_seconds: float | None  # of the separate process, if the run had one


class Runner:
    """An algorithm with its settings, ready for independent runs."""

    def __init__(self, algorithm: Algorithm, settings: Settings, process: AlgorithmProcess | None) -> None:
        self._algorithm, self._settings, self._process = algorithm, settings, process

    def with_settings(self, **settings: Any) -> "Runner":
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
        """Make one run, verify its result and return the observation. :func:`search` describes the arguments."""
        for name, value, least in (("seed", seed, 0), ("evaluations", evaluations, 1)):
            if not is_whole_number(value, least):
                raise NarxbenchError(f"search: {name}: found {value!r}; allowed: a whole number from {least} on")
        name, settings = self._algorithm.name, self._settings.model_dump(mode="json")
        objective = CountedObjective(problem, budget(settings, evaluations))
        stream = {"purpose": "search", "algorithm": name, "criterion": problem.criterion, "seed": seed, **(axes or {})}
        limit = ""
        try:
            if self._process is None:
                outcome, limit = self._run_here(problem, objective, stream, time_limit)
            else:
                view = view_of(problem)
                try:
                    outcome = self._process.run(view, objective, settings=settings, axes=stream, time_limit=time_limit)
                except RunFailedError as error:
                    if not error.is_late:
                        raise
                    outcome, limit = RunOutcome(objective.best_position, None, {}), str(error)
            values = _verified_values(problem, objective, outcome, is_stopped=bool(limit))
        except RunFailedError as error:
            text = f"algorithm {name!r}: seed {seed}: {error}"
            raise AlgorithmFailedError(text, error.refused, is_killed=error.is_killed) from None
        result = SearchResult(**values, algorithm=name, seed=seed, settings=settings)
        if limit:
            text = f"algorithm {name!r}: seed {seed}: {limit}"
            raise AlgorithmFailedError(text, best=_with_warning(result, limit))
        return Observation(result, objective.trace(), outcome.cpu_seconds)

    def _run_here(
        self,
        problem: StructureProblem,
        objective: CountedObjective,
        stream: Mapping[str, object],
        time_limit: float | None,
    ) -> tuple[RunOutcome, str]:
        """Make a run in this process, and return its outcome with the words for a limit that it has met."""
        digest, view = problem.digest, view_of(problem)
        watch = Watch(time_limit, memory_limit(view), objective.stop)
        try:
            # What overflows gives an infinite J, which says it all.
            with watch, interruptible(), np.errstate(all="ignore"):
                result = self._algorithm.imported.run(view, objective, generator(**stream), self._settings)
        except (BudgetSpentError, LimitReachedError):
            result = Found(objective.best_position)
        except MemoryError:
            result, watch.limit = Found(objective.best_position), "it needs more memory than there is"
        if problem.digest_now() != digest:
            raise RunFailedError("it has changed the data of the problem")
        try:
            return RunOutcome(*checked_found(as_found(result, view.terms), objective.n_terms)), watch.limit
        except NarxbenchError as error:
            raise RunFailedError(str(error)) from None


def _with_warning(result: SearchResult, limit: str) -> SearchResult:
    """Return a result with a warning that the run has met a limit."""
    warning = SearchWarning("limit", f"{limit}: this is the best structure so far", {"evaluations": result.evaluations})
    details = {**result.details, "warnings": [*result.details.get("warnings", []), warning._asdict()]}
    return replace(result, details=details)


@contextmanager
def prepared(algorithm: str, settings: Mapping[str, Any], *, keep: bool = False) -> Iterator[Runner]:
    """Give a runner of an algorithm with some settings.

    Parameters
    ----------
    algorithm : str
        Name of the algorithm.
    settings : mapping
        Values of its settings.
    keep : bool
        Whether a separate process is kept for the next call with the same algorithm.

    Raises
    ------
    NarxbenchError
        If the algorithm, a setting or a value is unknown, or the algorithm cannot be used.
    """
    chosen_algorithm = algorithm_of(algorithm)
    _ = chosen_algorithm.versions  # raises an error if a package is missing
    checked_settings = chosen_algorithm.settings(settings, f"search(algorithm={algorithm!r})")
    if chosen_algorithm.in_process:
        yield Runner(chosen_algorithm, checked_settings, None)
        return
    try:
        module = chosen_algorithm.module
        with reused_process(module) if keep else AlgorithmProcess(module) as process:
            process.start()
            yield Runner(chosen_algorithm, checked_settings, process)
    except RunFailedError as error:
        raise AlgorithmUnavailableError(f"algorithm {algorithm!r}: cannot be imported: {error}") from None


def _verified_values(
    problem: StructureProblem, objective: CountedObjective, outcome: RunOutcome, *, is_stopped: bool
) -> dict[str, Any]:
    """Evaluate the structure of a run again, compare it with the record, and return the values of the result.

    A run that has stopped may return a structure that it did not evaluate.
    """
    recorded = objective.known_fitness(outcome.position)
    if not is_stopped:
        recorded = _recorded_fitness(objective, outcome.position)
    evaluation = problem.evaluate([problem.terms[i] for i in np.flatnonzero(outcome.position)])
    history = objective.history()
    lowest = np.inf
    if history:
        lowest = history[-1][1]
    if recorded not in (None, evaluation.fitness) or lowest != objective.best_fitness:
        raise RunFailedError(f"its record does not hold: J is {evaluation.fitness!r}, recorded {recorded!r}")
    values: dict[str, Any] = {
        "terms": [],
        "fitness": evaluation.fitness,
        "sse": np.inf,
        "coefficients": [],
        "evaluations": objective.evaluations,
        "history": history,
        "offsets": problem.offsets,
        "scales": problem.scales,
    }
    if np.isfinite(evaluation.fitness):
        values["terms"], values["sse"] = evaluation.terms, evaluation.sse
        values["coefficients"] = outcome.coefficients or evaluation.coefficients
        values["details"] = outcome.details
    return values


def _recorded_fitness(objective: CountedObjective, position: NDArray[np.uint8]) -> float | None:
    """Return J of a structure, None if it is empty, by an evaluation where it is not recorded."""
    fitness = objective.known_fitness(position)
    if fitness is not None or not position.any():
        return fitness
    if not objective.remaining:
        raise RunFailedError("it returns a structure that it did not evaluate, and nothing is left of the budget")
    return float(objective.evaluate(position[None])[0])
