"""Checks that every algorithm must pass, made from outside: ``narxbench check-algorithm NAME``.

An honest method can pass all of them. A run may depend on its budget, may end early if the algorithm declares so, and
need not find a finite J. It must be repeatable, keep to its budget, and make all draws with the generator that it is
given.
"""

import itertools
import json
import subprocess
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench._algorithms.isolation.host import environment, python_command
from narxbench._algorithms.random_problems import drawn, violation
from narxbench._algorithms.registry import Algorithm
from narxbench._algorithms.registry import algorithm as algorithm_of
from narxbench._algorithms.search import Observation, Runner, budget, prepared
from narxbench._fitness.problem import StructureProblem
from narxbench._io.errors import NarxbenchError, error_line, printable
from narxbench._io.settings import SettingsError
from narxbench._model.system import System
from narxbench._numerics.random_streams import generator

SEEDS = (1, 2, 3, 4, 5)
# Evaluations of the runs that are compared with each other, in which a swarm of 30 moves twenty times.
EVALUATIONS = 600
# Other budgets: a single structure, fewer than a population, and a prime number.
BUDGETS = (1, 2, 7, 31)
# Random problems that each algorithm must bear.
RANDOM_PROBLEMS = 12
# Seconds that a run of an algorithm that is not reviewed may take.
TIME_LIMIT = 60.0
_SAMPLES = 400
_SYSTEM = System("conformance", "y(k) = 0.5*y(k-1) - 0.3*y(k-2) + 0.8*u(k-1) + 0.4*u(k-2)^2", n_u=2, n_y=2, degree=2)

Trace = NDArray[np.float64]
Option = tuple[str, Any]  # a setting and a value of it


class Suite:
    """An algorithm with the runs that its checks need, each made when it is first needed."""

    def __init__(self, algorithm: Algorithm, runner: Runner) -> None:
        self.algorithm, self.about, self.runner = algorithm, algorithm.about, runner
        self.schema: Mapping[str, Any] = algorithm.schema()
        # A reviewed algorithm comes to an end.
        self.time_limit = None if algorithm.reviewed else TIME_LIMIT

    @cached_property
    def problem(self) -> StructureProblem:
        """A problem of 15 candidate terms."""
        return _problem(*_SYSTEM.simulate(900, snr_db=20), n_validation=300)

    def run(self, problem: StructureProblem, seed: int, evaluations: int, **settings: Any) -> Observation:
        """Return a run, after the checks that apply to every run."""
        runner = self.runner
        if settings:
            runner = runner.with_settings(**settings)
        with np.errstate(all="ignore"):
            observed = runner.run(problem, seed=seed, evaluations=evaluations, time_limit=self.time_limit)
        result = observed.result
        allowed = budget(result.settings, evaluations)
        if not self.about.needs_objective and result.evaluations > 1:
            raise NarxbenchError(f"it makes {result.evaluations} evaluations, and declares needs_objective=False")
        if result.evaluations < allowed and self.about.needs_objective and not self.about.stops_early:
            raise NarxbenchError(
                f"with a budget of {allowed} it ends after {result.evaluations} evaluations; "
                "allowed: all of them, or ABOUT = About(..., stops_early=True)"
            )
        return observed

    @cached_property
    def long(self) -> list[Trace]:
        """J of every evaluation of long runs, one for each seed."""
        return [self.run(self.problem, seed, EVALUATIONS).trace for seed in SEEDS]

    @cached_property
    def repeated(self) -> list[Trace]:
        """The long runs, repeated in another process in the opposite order."""
        name = self.algorithm.name
        if not self.algorithm.in_process:
            with prepared(name, {}) as runner:
                suite = Suite(self.algorithm, runner)
                return [suite.run(self.problem, seed, EVALUATIONS).trace for seed in SEEDS[::-1]][::-1]
        command = python_command(f"from {__name__} import print_runs; print_runs(sys.argv[1])", name)
        process = subprocess.run(command, env=environment(), stdout=subprocess.PIPE, check=True)
        return [np.array(trace) for trace in json.loads(process.stdout)][::-1]


def _problem(u: Trace, y: Trace, **orders: Any) -> StructureProblem:
    with np.errstate(all="ignore"):
        # As they are: an algorithm must bear numbers of any size.
        orders = {"n_u": 2, "n_y": 2, "degree": 2, "n_validation": 100, **orders}
        return StructureProblem(u, y, rescaled=False, **orders)


def corner_cases() -> dict[str, tuple[Trace, Trace, dict[str, int]]]:
    """Return data for which a search is hardly defined: input, output, and orders of the candidate terms.

    The table in docs/robustness.md says how each search on them ends.
    """
    u, y = _SYSTEM.simulate(_SAMPLES, snr_db=40)
    noise, output_noise = (_uniform_noise(realisation) for realisation in (1, 2))
    zero = np.zeros(_SAMPLES)
    # Each estimation sample is half as large again as the previous one, so all models grow beyond all bounds.
    grown = 1.5 ** np.minimum(np.arange(1.0, _SAMPLES + 1.0), _SAMPLES - 100.0)
    return {
        "constant input": (np.full(_SAMPLES, 0.5), noise, {}),
        "zero input": (zero, noise, {}),
        "constant output": (noise, np.full(_SAMPLES, 0.7), {}),
        "zero output": (noise, zero, {}),
        "all zero": (zero, zero, {}),
        "collinear candidates": (np.tile([0.3, -0.8], _SAMPLES // 2), noise, {"n_u": 3}),
        "input repeats output": (noise, noise, {}),
        "more candidates than rows": (u[:115], y[:115], {"n_u": 3, "n_y": 3}),
        "one row": (u[:103], y[:103], {}),
        "divergent structures": (noise, grown, {"n_u": 0}),
        "huge numbers": (noise, 1e200 * output_noise, {}),
        "tiny numbers": (noise, 1e-200 * output_noise, {}),
    }


def _uniform_noise(realisation: int) -> Trace:
    return generator(purpose="conformance", realisation=realisation).uniform(-1.0, 1.0, _SAMPLES)


def _first_difference(first: Trace, second: Trace) -> int | None:
    """Return the number of the first evaluation, from 1, in which two runs differ, or None if they are equal."""
    size = min(len(first), len(second))
    different = np.flatnonzero(first[:size] != second[:size])
    if len(different):
        return int(different[0]) + 1
    if len(first) != len(second):
        return size + 1
    return None


def print_runs(name: str) -> None:
    """Print the long runs of an algorithm that runs in the process that evaluates, beginning with the last seed."""
    with prepared(name, {}) as runner:
        suite = Suite(algorithm_of(name), runner)
        print(json.dumps([suite.run(suite.problem, seed, EVALUATIONS).trace.tolist() for seed in SEEDS[::-1]]))


def _declaration(suite: Suite) -> str:
    reference = suite.about.reference
    if not reference.strip() or "\n" in reference:
        raise NarxbenchError(f"ABOUT.reference: found {reference!r}; allowed: the source, in one line")
    if not suite.algorithm.document:
        raise NarxbenchError("the module has no docstring; needed: what the method is, and its source")
    text = printable(reference, 100)
    packages = [f"{name} {version}" for name, version in suite.algorithm.versions.items()]
    if packages:
        text += f"; with {', '.join(packages)}"
    return text


def _runs(suite: Suite) -> str:
    result = suite.run(suite.problem, 1, EVALUATIONS).result
    for count in BUDGETS:
        suite.run(suite.problem, 1, count)
    budgets = ", ".join(map(str, BUDGETS))
    return (
        f"{result.evaluations} evaluations, {len(result.terms)} terms, J = {result.fitness:.1f}; budgets of {budgets}"
    )


def _settings(suite: Suite) -> str:
    fields = suite.schema.get("properties", {})
    for name, field in fields.items():
        for needed in ("default", "description"):
            if needed not in field:
                raise NarxbenchError(f"setting {name!r} has no {needed}; needed: Field(default=..., description=...)")
    try:
        suite.algorithm.settings({"no_setting_of_any": 1})
    except SettingsError:
        return f"{len(fields)} with default and description; an unknown one is refused"
    raise NarxbenchError("an unknown setting is accepted; allowed: what narxbench._io.settings.Settings accepts")


def _options(suite: Suite) -> str:
    options: list[Option] = []
    for name, values in suite.about.options.items():
        options += [(name, value) for value in values]
    defaults = {name: field.get("default") for name, field in suite.schema.get("properties", {}).items()}
    outcomes: dict[str, tuple[list[float], list[str], list[float]]] = {}

    def outcome(*chosen: Option) -> tuple[list[float], list[str], list[float]]:
        """Return J of every evaluation, terms and weights of a run, which is made once."""
        key = json.dumps(chosen)  # values may be lists, which cannot be keys
        if key not in outcomes:
            observed = suite.run(suite.problem, 1, EVALUATIONS, **dict(chosen))
            outcomes[key] = observed.trace.tolist(), observed.result.terms, observed.result.coefficients
        return outcomes[key]

    for option in options:
        name, value = option
        if name not in defaults or value == defaults[name]:
            raise NarxbenchError(f"ABOUT.options: {name} = {value!r} is no other value of a setting")
        # Some settings matter only in the context of another one.
        contexts: list[tuple[Option, ...]] = [()]
        contexts += [(context,) for context in options if context[0] != name]
        if all(outcome(*context, option) == outcome(*context) for context in contexts):
            raise NarxbenchError(f"ABOUT.options: {name} = {value!r} changes nothing")
    return f"{len(options)} values tried, each changes the run"


def _candidates(suite: Suite) -> str:
    few = suite.run(_problem(*_SYSTEM.simulate(_SAMPLES, snr_db=40), n_u=1, n_y=0, degree=1), 1, 100).result
    many = suite.run(many_candidates(), 1, BUDGETS[-1]).result
    return f"{len(few.terms)} chosen of 2, {len(many.terms)} of many"


def many_candidates() -> StructureProblem:
    """Return a problem of 1001 candidate terms."""
    return _problem(*_SYSTEM.simulate(2000, snr_db=40), n_u=5, n_y=5, degree=4)


def _corner_cases(suite: Suite) -> str:
    refused = ""
    for name, (u, y, orders) in corner_cases().items():
        problem = _problem(u, y, **orders)
        try:
            suite.run(problem, 1, 100)
        except NarxbenchError as error:
            if not getattr(error, "refused", False):
                raise NarxbenchError(f"{name}: {error}") from None
            refused += f"; refused: {name}: {error}"
        except ValueError as error:  # of an algorithm that runs here
            refused += f"; refused: {name}: {error_line(error, suite.algorithm.module)}"
    return f"{len(corner_cases())} kinds of data, each ends with a structure, with none, or is refused{refused}"


def _random_problems(suite: Suite) -> str:
    for number in range(1, 1 + RANDOM_PROBLEMS):
        text = violation(suite.runner, drawn(number), suite.time_limit)
        if text:
            raise NarxbenchError(f"problem {number}: {text}")
    return f"{RANDOM_PROBLEMS} problems, each ends with a finite J, with no terms, or is refused"


def _same_seed(suite: Suite) -> str:
    runs = [("again after other runs", suite.long[0], suite.run(suite.problem, SEEDS[0], EVALUATIONS).trace)]
    for seed, trace, repeated in zip(SEEDS, suite.long, suite.repeated, strict=True):
        runs.append((f"with seed {seed} in another process", trace, repeated))
    for description, *traces in runs:
        first = _first_difference(*traces)
        if first is not None:
            raise NarxbenchError(
                f"a run made {description} differs from evaluation {first} on; needed: the same draws, from rng alone"
            )
    return "gives the same run, after other runs and in another process"


def _other_seeds(suite: Suite) -> str:
    for (a, first), (b, second) in itertools.combinations(zip(SEEDS, suite.long, strict=True), 2):
        differs = _first_difference(first, second) is not None
        if suite.about.deterministic and differs:
            raise NarxbenchError(f"seeds {a} and {b} give different runs, and it declares deterministic=True")
        if not suite.about.deterministic and suite.about.needs_objective and not differs:
            raise NarxbenchError(
                f"seeds {a} and {b} give the same run of {EVALUATIONS} evaluations; allowed: deterministic=True"
            )
    if suite.about.deterministic:
        return "the same run, as declared"
    if suite.about.needs_objective:
        return "each gives another run"
    return "may end at the same structure"


# What a check does, and why an algorithm must pass it.
_CHECKS: dict[str, tuple[Callable[[Suite], str], str]] = {
    "declaration": (_declaration, "readers look a method up by its source"),
    "settings": (_settings, "a mistake in a setting must not pass unseen"),
    "runs": (_runs, "methods are compared with the same budget"),
    "options": (_options, "a setting without effect misleads"),
    "candidates": (_candidates, "systems have few or many candidate terms"),
    "corner cases": (_corner_cases, "data are not always as they should be"),
    "random problems": (_random_problems, "data are not always as they should be"),
    "same seed": (_same_seed, "a study must be repeatable to the bit"),
    "other seeds": (_other_seeds, "runs of other seeds must be further evidence"),
}
# If it fails, the checks after it would fail for the same reason.
_NEEDED = "runs"


def check(name: str) -> Iterator[tuple[str, bool, str]]:
    """Yield the checks of an algorithm as they are made: the name, whether it passed, and a text on the result.

    NarxbenchError is raised if there is no such algorithm, or it cannot be imported.
    """
    with prepared(name, {}) as runner:
        suite = Suite(algorithm_of(name), runner)
        for check_name, (function, reason) in _CHECKS.items():
            try:
                passed, text = True, function(suite)
            except NarxbenchError as error:
                passed, text = False, f"{error}; why: {reason}"
            except Exception as error:  # of an algorithm that runs in this process
                passed, text = False, f"{error_line(error, suite.algorithm.module)}; why: {reason}"
            yield check_name, passed, text
            if check_name == _NEEDED and not passed:
                return
