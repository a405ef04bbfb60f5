"""What every algorithm must do, seen from outside: ``narxbench check-algorithm NAME``.

The checks ask for nothing that an honest method cannot do. A run may depend on its budget, may end early if the
algorithm declares it, and need not find a finite J. It must be repeatable, keep to its budget, and come from the draws
that it was given.
"""

import itertools
import json
import pickle
import random
import subprocess
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from narxbench.algorithms.isolation.host import environment, python_command
from narxbench.algorithms.registry import Algorithm
from narxbench.algorithms.registry import algorithm as algorithm_of
from narxbench.algorithms.search import Observation, Runner, budget, prepared
from narxbench.fitness.problem import StructureProblem
from narxbench.io.errors import NarxbenchError, error_line, printable
from narxbench.io.settings import SettingsError
from narxbench.model.system import System
from narxbench.numerics.random_streams import generator

SEEDS = (1, 2, 3, 4, 5)
# Evaluations of the runs that are compared with each other, and of those that try the settings.
LONG, MEDIUM = 1500, 600
BUDGETS = (1, 2, 7, 31)
# Seconds that a run may take here.
TIME_LIMIT = 60.0
# How much more often than by chance two seeds may evaluate equal structures at the same time. Runs that have converged
# to one structure do that, but no more often than runs that are shifted against each other.
SYNCHRONOUS = 0.3
_SHIFTS = 50
_SAMPLES = 400
_SYSTEM = System("conformance", "y(k) = 0.5*y(k-1) - 0.3*y(k-2) + 0.8*u(k-1) + 0.4*u(k-2)^2", n_u=2, n_y=2, degree=2)

Trace = NDArray[np.float64]


class Check(NamedTuple):
    """One thing that was checked, whether it holds, and what was found."""

    name: str
    passed: bool
    text: str


class _FoundError(NarxbenchError):
    """What is wrong, in words."""


class Suite:
    """An algorithm, ready for its checks, and its runs as far as they were asked for."""

    def __init__(self, algorithm: Algorithm, runner: Runner) -> None:
        self.algorithm, self.about, self._runner = algorithm, algorithm.about, runner
        self.schema: Mapping[str, Any] = algorithm.schema()

    @cached_property
    def problem(self) -> StructureProblem:
        """A problem of 15 candidate terms."""
        return _problem(*_SYSTEM.simulate(900, snr_db=20), n_validation=300)

    def run(self, problem: StructureProblem, seed: int, evaluations: int, **settings: Any) -> Observation:
        """Make a run and look at what every run must give."""
        runner = self._runner.given(**settings) if settings else self._runner
        with np.errstate(all="ignore"):
            observed = runner.run(problem, seed=seed, evaluations=evaluations, time_limit=TIME_LIMIT)
        result = observed.result
        allowed = budget(result.settings, evaluations)
        if not self.about.needs_objective and result.evaluations > 1:
            raise _FoundError(f"it makes {result.evaluations} evaluations, and declares needs_objective=False")
        if result.evaluations < allowed and self.about.needs_objective and not self.about.stops_early:
            raise _FoundError(
                f"with a budget of {allowed} it ends after {result.evaluations} evaluations; "
                "allowed: all of them, or ABOUT = About(..., stops_early=True)"
            )
        return observed

    @cached_property
    def long(self) -> list[Trace]:
        """J of every evaluation of long runs, one for each seed."""
        return [self.run(self.problem, seed, LONG).trace for seed in SEEDS]

    @cached_property
    def repeated(self) -> list[Trace]:
        """The same runs in another process, in the opposite order."""
        name = self.algorithm.name
        if not self.algorithm.in_process:
            with prepared(name, {}) as runner:
                suite = Suite(self.algorithm, runner)
                return [suite.run(self.problem, seed, LONG).trace for seed in SEEDS[::-1]][::-1]
        command = python_command(f"from {__name__} import print_runs; print_runs(sys.argv[1])", name)
        ended = subprocess.run(command, env=environment(), stdout=subprocess.PIPE, check=True)
        return [np.array(trace) for trace in json.loads(ended.stdout)][::-1]


def _problem(u: Trace, y: Trace, **orders: Any) -> StructureProblem:
    with np.errstate(all="ignore"):
        return StructureProblem(u, y, **{"n_u": 2, "n_y": 2, "degree": 2, "n_validation": 100, **orders})


def corner_cases() -> dict[str, tuple[Trace, Trace, dict[str, int]]]:
    """Return data at the edge of what a search is defined for: input, output, and orders of the candidate terms.

    The table in docs/robustness.md says what each gives.
    """
    u, y = _SYSTEM.simulate(_SAMPLES, snr_db=40)
    noise, other = (generator(purpose="conformance", realisation=k).uniform(-1.0, 1.0, _SAMPLES) for k in (1, 2))
    zero = np.zeros(_SAMPLES)
    # Grows by half at each step to estimate: what is learnt of it leaves every bound.
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
        "huge numbers": (noise, 1e200 * other, {}),
        "tiny numbers": (noise, 1e-200 * other, {}),
    }


def synchronous(first: Trace, second: Trace) -> float:
    """Return how much more often than by chance two runs give the same finite J at the same time.

    By chance is how often one run gives the same J as the other some evaluations earlier or later. Only the second
    halves of the runs count; runs that are too short to judge give 0.
    """
    size = min(len(first), len(second))
    if size < 4 * _SHIFTS:
        return 0.0
    first, second = first[size // 2 : size], second[size // 2 : size]

    def share(a: Trace, b: Trace) -> float:
        return float(np.count_nonzero((a == b) & np.isfinite(a)) / len(a))

    shifts = range(1, _SHIFTS)
    earlier = [share(first[shift:], second[:-shift]) for shift in shifts]
    later = [share(first[:-shift], second[shift:]) for shift in shifts]
    return share(first, second) - float(np.median(earlier + later))


def _first_difference(first: Trace, second: Trace) -> int | None:
    size = min(len(first), len(second))
    different = np.flatnonzero(first[:size] != second[:size])
    if len(different):
        return int(different[0]) + 1
    return None if len(first) == len(second) else size + 1


def print_runs(name: str) -> None:
    """Print the long runs of an algorithm that runs in the process that evaluates, the last seed first."""
    with prepared(name, {}) as runner:
        suite = Suite(algorithm_of(name), runner)
        print(json.dumps([suite.run(suite.problem, seed, LONG).trace.tolist() for seed in SEEDS[::-1]]))


def _declaration(suite: Suite) -> str:
    reference = suite.about.reference
    if not reference.strip() or "\n" in reference:
        raise _FoundError(f"ABOUT.reference: found {reference!r}; allowed: the source, in one line")
    if not suite.algorithm.document:
        raise _FoundError("the module has no docstring; needed: what the method is, and its source")
    needs = [f"{name} {version}" for name, version in suite.algorithm.versions.items()]
    return f"{printable(reference, 100)}{'; with ' if needs else ''}{', '.join(needs)}"


def _settings(suite: Suite) -> str:
    fields = suite.schema.get("properties", {})
    for name, field in fields.items():
        for needed in ("default", "description"):
            if needed not in field:
                raise _FoundError(f"setting {name!r} has no {needed}; needed: Field(default=..., description=...)")
    try:
        suite.algorithm.settings({"no_setting_of_any": 1})
    except SettingsError:
        return f"{len(fields)} with default and description; an unknown one is refused"
    raise _FoundError("an unknown setting is accepted; allowed: what narxbench.io.settings.Settings accepts")


def _a_run(suite: Suite) -> str:
    found = suite.run(suite.problem, 1, MEDIUM).result
    return f"{found.evaluations} evaluations, {len(found.terms)} terms, J = {found.fitness:.1f}"


def _budgets(suite: Suite) -> str:
    for count in BUDGETS:
        suite.run(suite.problem, 1, count)
    return f"{', '.join(map(str, BUDGETS))} evaluations"


def _options(suite: Suite) -> str:
    options = [(name, value) for name, values in suite.about.options.items() for value in values]
    defaults = {name: field.get("default") for name, field in suite.schema.get("properties", {}).items()}
    found: dict[str, tuple[list[float], list[str], list[float]]] = {}

    def run(*given: tuple[str, Any]) -> tuple[list[float], list[str], list[float]]:
        # Values may be lists.
        key = json.dumps(given)
        if key not in found:
            observed = suite.run(suite.problem, 1, MEDIUM, **dict(given))
            found[key] = observed.trace.tolist(), observed.result.terms, observed.result.coefficients
        return found[key]

    for option in options:
        name, value = option
        if name not in defaults or value == defaults[name]:
            raise _FoundError(f"ABOUT.options: {name} = {value!r} is no other value of a setting")
        # Some settings matter only together with another.
        together = [(other,) for other in options if other[0] != name]
        if all(run(*others, option) == run(*others) for others in [(), *together]):
            raise _FoundError(f"ABOUT.options: {name} = {value!r} changes nothing")
    return f"{len(options)} values tried, each changes the run"


def _two_candidates(suite: Suite) -> str:
    u, y = _SYSTEM.simulate(_SAMPLES, snr_db=40)
    found = suite.run(_problem(u, y, n_u=1, n_y=0, degree=1), 1, 100).result
    return f"{len(found.terms)} terms, J = {found.fitness:.1f}"


def _many_candidates(suite: Suite) -> str:
    u, y = _SYSTEM.simulate(2000, snr_db=40)
    found = suite.run(_problem(u, y, n_u=5, n_y=5, degree=4), 1, BUDGETS[-1]).result
    return f"1001 candidate terms, {len(found.terms)} chosen"


def _corner_cases(suite: Suite) -> str:
    refused = ""
    for name, (u, y, orders) in corner_cases().items():
        problem = _problem(u, y, **orders)
        try:
            suite.run(problem, 1, 100)
        except NarxbenchError as error:
            if not getattr(error, "refused", False):
                raise _FoundError(f"{name}: {error}") from None
            refused += f"; refused: {name}: {error}"
        except ValueError as error:  # of an algorithm that runs here
            refused += f"; refused: {name}: {error_line(error, suite.algorithm.module)}"
    return f"{len(corner_cases())} kinds of data, each ends with a structure, with none, or is refused{refused}"


def _global_states() -> dict[str, bytes]:
    """Return the states of the global generators of random numbers, by name."""
    states = {"numpy.random": np.random.get_state(legacy=False), "random": random.getstate()}
    return {name: pickle.dumps(state) for name, state in states.items()}


def _global_generators(suite: Suite) -> str:
    if not suite.algorithm.in_process:
        return "those of its process are seeded for each run"
    before = _global_states()
    _ = suite.long
    for name, state in _global_states().items():
        if state != before[name]:
            raise _FoundError(f"it draws from the global generator of {name}; allowed: rng")
    return "left alone"


def _same_seed(suite: Suite) -> str:
    runs = [("again after other runs", suite.long[0], suite.run(suite.problem, SEEDS[0], LONG).trace)]
    for seed, trace, repeated in zip(SEEDS, suite.long, suite.repeated, strict=True):
        runs.append((f"with seed {seed} in another process", trace, repeated))
    for what, *both in runs:
        if (first := _first_difference(*both)) is not None:
            raise _FoundError(
                f"a run made {what} differs from evaluation {first} on; needed: the same draws, from rng alone"
            )
    return "gives the same run, after other runs and in another process"


def _other_seeds(suite: Suite) -> str:
    for (a, first), (b, second) in itertools.combinations(zip(SEEDS, suite.long, strict=True), 2):
        differs = _first_difference(first, second) is not None
        if suite.about.deterministic and differs:
            raise _FoundError(f"seeds {a} and {b} give different runs, and it declares deterministic=True")
        if not suite.about.deterministic and suite.about.needs_objective and not differs:
            raise _FoundError(f"seeds {a} and {b} give the same run of {LONG} evaluations; allowed: deterministic=True")
    if suite.about.deterministic:
        return "the same run, as declared"
    return "each gives another run" if suite.about.needs_objective else "may end at the same structure"


def _fixed_stream(suite: Suite) -> str:
    if suite.about.deterministic or not suite.about.needs_objective:
        return "not asked of a deterministic method, nor of one that evaluates nothing on its way"
    share = median(synchronous(a, b) for a, b in itertools.combinations(suite.long, 2))
    if share > SYNCHRONOUS:
        raise _FoundError(
            f"runs of different seeds come to evaluate the same structures at the same time ({share:.0%} more often "
            "than by chance); needed: draws from rng to the end"
        )
    return "runs of different seeds go on to differ"


_CHECKS: dict[str, Callable[[Suite], str]] = {
    "declaration": _declaration,
    "settings": _settings,
    "a run": _a_run,
    "budgets": _budgets,
    "options": _options,
    "two candidate terms": _two_candidates,
    "many candidate terms": _many_candidates,
    "corner cases": _corner_cases,
    "global generators": _global_generators,
    "same seed": _same_seed,
    "other seeds": _other_seeds,
    "fixed stream": _fixed_stream,
}
# Without them the rest would fail for the same reason.
_NEEDED = ("a run", "global generators")


def check(name: str) -> Iterator[Check]:
    """Check an algorithm, one thing after the other; NarxbenchError if there is none, or it cannot be imported."""
    with prepared(name, {}) as runner:
        suite = Suite(algorithm_of(name), runner)
        for what, function in _CHECKS.items():
            try:
                found = Check(what, True, function(suite))
            except NarxbenchError as error:
                found = Check(what, False, str(error))
            except Exception as error:  # of an algorithm that runs here
                found = Check(what, False, error_line(error, suite.algorithm.module))
            yield found
            if what in _NEEDED and not found.passed:
                return
