"""What a study will cost, from its settings alone: refused before any job if no machine or no patience is enough.

The constants were measured by ``benchmarks/estimate.py``, which compares estimates with what studies really take: they
should be right within a factor of two. Nothing here makes candidate terms, conditions of every seed, or jobs.
"""

import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from narxbench.algorithms.registry import algorithm
from narxbench.experiment.interpretations import DesignChoices
from narxbench.experiment.study import Condition, conditions
from narxbench.experiment.study_settings import Scenario, Study
from narxbench.io.errors import NarxbenchError
from narxbench.model.system import System
from narxbench.model.terms import model_size

if TYPE_CHECKING:
    from narxbench.identification.configurations import Configuration
    from narxbench.identification.scan import Scan

# Nobody waits longer for one step, which cannot be interrupted and resumed.
LONGEST = 86_400.0
# What else takes memory on a machine.
SPARED = 0.05
# Values of the settings that a step is cheap with: the one that makes it dear is that whose return to them saves most.
ORDINARY = {
    "evaluations": 6000,
    "samples": 2000,
    "validation": 600,
    "washout": 100,
    "terms": 66,
    "population": 80,
    "seeds": 40,
    "conditions": 5000,
    "data_seeds": 1,
    "resamples": 2000,
    "parts": 8,
    "jobs": 300,
    "systems": 20,
}

# Bytes of the main process while others run in it, and at the end, when frames, tables and pages are made, by the page
# of a study; and CPU seconds for the latter.
_BASE = 250e6
_AT_THE_END = {"paper": 450e6, "interpretations": 450e6, "methods": 340e6, "measured": 400e6}
_FIXED = {"paper": 13.0, "interpretations": 13.0, "methods": 6.0, "measured": 4.0}
# What searches of measured data take of the time that is planned for them.
_OF_PLANNED = {"brief": 1.0, "thorough": 0.5, "resampled": 0.5}
# A job to plan, to start and to bring to its end.
_JOB_MEMORY, _JOB_SECONDS = 17e3, 6e-3
# A condition, which has parameters of its own.
_CONDITION_MEMORY = 6e3
# Problems of earlier jobs that the process keeps: see narxbench.experiment.runs.load_problem.
_KEPT_PROBLEMS = 16
# Jobs of the analysis and of the pages, and the one that asks for all.
_OTHERS = {"paper": 8, "interpretations": 6, "methods": 7, "measured": 6}


class Cost(NamedTuple):
    """CPU seconds of a step, the bytes that it takes meanwhile, and those that the process keeps of such steps."""

    seconds: float
    memory: float
    kept: float = 0.0

    @property
    def bytes(self) -> float:
        """All bytes."""
        return self.memory + self.kept


class Rates(NamedTuple):
    """CPU seconds of a run: N candidate terms, L validation samples, R rows that estimate."""

    fixed: float = 3e-4
    per_square: float = 0.0  # and per N^2
    # Each evaluation, and in it each N, L, N L, R, N R, and N^2 min(N, R): least squares of large structures.
    evaluation: float = 0.0
    per_term: float = 0.0
    per_step: float = 0.0
    per_step_and_term: float = 0.0
    per_row: float = 0.0
    per_row_and_term: float = 0.0
    least_squares: float = 0.0
    # Evaluations after which it ends by itself, and each N.
    most: float = math.inf
    most_per_term: float = math.inf
    # Copies of the columns of all candidates over the rows.
    columns: int = 0


# Those of structures with about half of the candidates, as populations have them, and of third parties.
_WIDE = Rates(evaluation=5e-7, per_term=2.5e-8, per_step_and_term=4e-11, least_squares=7.5e-13)
_ELSEWHERE = _WIDE._replace(fixed=0.1, evaluation=7.5e-5, columns=1)
RATES = {
    **dict.fromkeys(("upso2d", "ga", "binary_pso", "random_search", "metamss"), _WIDE),
    "pymoo_ga": _ELSEWHERE,
    "multistart": Rates(per_square=5e-9, evaluation=6e-6, per_term=1.5e-8, per_step=2e-9),
    "annealing": Rates(evaluation=3e-6, per_step=8e-9, per_step_and_term=6e-11),
    "stepwise": Rates(evaluation=1e-6, per_term=3e-8, per_step=1e-9),
    "frols": Rates(per_square=3e-9, evaluation=4e-6, most=50),
    "iterative_ofr": Rates(
        evaluation=9e-6, per_row=1.7e-8, per_row_and_term=2.8e-10, most=1000, most_per_term=16, columns=3
    ),
    "lasso": Rates(fixed=0.1, per_square=4e-5, most=200, columns=4),
}


@dataclass(frozen=True)
class Step:
    """All steps of a kind that cost the same.

    Attributes
    ----------
    name : str
        What one of them does, for readers.
    count : int
        How many there are.
    settings : mapping of str to (str, float)
        Each argument of ``cost``: the setting that decides it, and its value.
    cost : callable
        Returns what one of them costs.
    """

    name: str
    count: int
    settings: Mapping[str, tuple[str, float]]
    cost: Callable[..., Cost]

    @cached_property
    def one(self) -> Cost:
        """What one of them costs."""
        return self.cost(**{name: value for name, (_, value) in self.settings.items()})

    def dearest(self, part: str) -> str:
        """Return the setting that does most to a part of the cost, with its value."""
        values = {name: value for name, (_, value) in self.settings.items()}

        def without(name: str) -> float:
            spared: float = getattr(self.cost(**{**values, name: min(values[name], ORDINARY[name])}), part)
            return spared

        place, value = self.settings[min(values, key=without)]
        return f"{place}: found {value:.15g}"


@dataclass(frozen=True)
class Estimate:
    """What a study will cost.

    Attributes
    ----------
    steps : list of Step
        Its steps; the first is to plan the others.
    runs, jobs : int
        Searches, and jobs of any kind.
    fixed : Cost
        What tables and pages cost at the end, with all that the process holds by then.
    """

    steps: list[Step]
    runs: int
    jobs: int
    fixed: Cost

    @property
    def largest(self) -> Step:
        """The step that takes most memory."""
        return max(self.steps, key=lambda step: step.one.bytes)

    @property
    def longest(self) -> Step:
        """The step that takes most time."""
        return max(self.steps, key=lambda step: step.one.seconds)

    @property
    def seconds(self) -> float:
        """CPU seconds of everything."""
        return self.fixed.seconds + sum(step.count * step.one.seconds for step in self.steps)

    def together(self, cores: int) -> float:
        """Return the bytes of the process while so many of the largest steps run at a time."""
        largest, planning = self.largest, self.steps[0]
        others = largest.one.kept + min(cores, largest.count) * largest.one.memory
        return _BASE + planning.one.bytes + (0.0 if largest is planning else others)

    def memory(self, cores: int = 1) -> float:
        """Return the bytes of the process at its largest, with so many steps at a time."""
        return max(self.together(cores), self.fixed.memory + self.steps[0].one.bytes)

    def line(self) -> str:
        """Return it in one line."""
        counted = f"{self.runs} runs in {self.jobs} jobs" if self.runs else f"{self.jobs} jobs"
        return (
            f"{counted}: about {_duration(self.seconds)} of CPU time; "
            f"the largest step takes about {_gigabytes(self.memory())}"
        )


def refusal(estimate: Estimate, memory: float | None = None, cores: int = 1) -> NarxbenchError | None:
    """Return what is told of a study that this machine cannot make, or that nobody waits for; None for all others.

    Parameters
    ----------
    estimate : Estimate
        What the study will cost.
    memory : float, optional
        Bytes that there are; default: those of this machine.
    cores : int
        Steps that run at a time.
    """
    allowed = (1 - SPARED) * (memory_of_machine() if memory is None else memory)
    step = estimate.longest
    if step.one.seconds > LONGEST:
        took = f"{step.name} would take about {_duration(step.one.seconds)} of CPU time"
        return NarxbenchError(f"{step.dearest('seconds')}, with which {took}; allowed: up to {_duration(LONGEST)}")
    step = estimate.largest
    if estimate.memory() > allowed:
        took = f"{step.name} would take about {_gigabytes(estimate.memory())} of memory"
        limit = f"allowed: up to {_gigabytes(allowed)} on this machine"
        return NarxbenchError(f"{step.dearest('bytes')}, with which {took}; {limit}")
    if estimate.memory(cores) > allowed:
        most = int((allowed - estimate.together(1)) / step.one.memory) + 1
        took = f"with which {step.name}, that often at a time, would take about {_gigabytes(estimate.memory(cores))}"
        limit = f"allowed: up to {most} with the {_gigabytes(allowed)} of this machine"
        return NarxbenchError(f"cores: found {cores}, {took} of memory; {limit}")
    return None


def refuse(estimate: Estimate, cores: int = 1) -> None:
    """Raise what :func:`refusal` returns for this machine, if anything."""
    if too_much := refusal(estimate, cores=cores):
        raise too_much


def memory_of_machine() -> float:
    """Return the bytes of memory that there are for this process: of the machine, or of its container."""
    limits = [float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):  # there is no such limit
            limits.append(float(int(Path("/sys/fs/cgroup", name).read_text())))
    return min(limits)


def _duration(seconds: float) -> str:
    for unit, size, end in (("s", 1, 90), ("min", 60, 5400), ("h", 3600, 172_800), ("days", 86_400, 1e8)):
        if seconds < end:
            return f"{max(1, round(seconds / size))} {unit}"
    return f"{seconds / 31_557_600:.2g} years"


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size < 1e11 else f"{size / 1e9:.0f} GB"


# Studies of simulated systems


def study_estimate(study: Study, choices: DesignChoices, systems: Mapping[str, System]) -> Estimate:
    """Return what a study will cost.

    Parameters
    ----------
    study : Study
        The settings.
    choices : DesignChoices
        What the interpretations are.
    systems : mapping
        The described systems by name.
    """
    found = list(_representatives(study, choices, systems))
    # How often each problem stands for others, and the first condition of it.
    problems = {condition.problem.name: (condition, times) for condition, times in found}
    data_sets = {name: times * _data_sets(condition, study) for name, (condition, times) in problems.items()}
    searches = [_search(condition, study, times, sum(data_sets.values())) for condition, times in found]
    simulations = [_simulation(condition, study, data_sets[name]) for name, (condition, _) in problems.items()]
    ranking = [_ranking(study)] if study.page == "methods" else []
    n_conditions = sum(times for _, times in found)
    # Methods are compared problem by problem and criterion by criterion.
    scored = {(condition.problem.name, condition.criterion): times for condition, times in found}
    sums = sum(scored.values()) if study.page == "methods" else n_conditions
    n_searches, n_seeds = sum(step.count for step in searches), len(study.data.seeds)
    n_others = sum(data_sets.values()) + sums + _OTHERS[study.page]
    blocks = -(-len(study.seeds) // study.seeds_per_job)

    def planned(conditions: float, data_seeds: float, seeds: float) -> Cost:
        share = conditions / n_conditions * data_seeds / n_seeds
        jobs = n_others + n_searches * -(-seeds // study.seeds_per_job) / blocks
        return _planned(share * jobs, share * n_conditions)

    deciding = {
        "conditions": ("conditions (systems, snr_db, scenarios, methods and their criteria)", n_conditions),
        "data_seeds": ("data.seeds", n_seeds),
        "seeds": ("seeds", len(study.seeds)),
    }
    planning = Step("planning", 1, deciding, planned)
    runs = sum(times * _seeds(condition, study) for condition, times in found)
    steps = [planning, *simulations, *searches, *ranking]
    return Estimate(steps, runs, n_searches + n_others, _fixed(study.page))


def _representatives(
    study: Study, choices: DesignChoices, systems: Mapping[str, System]
) -> Iterator[tuple[Condition, int]]:
    """Yield conditions of one SNR and one data seed, each with the number of those that cost the same."""

    def first(part: Study | Scenario, **seeds: list[int]) -> dict[str, Any]:
        return {"snr_db": part.snr_db[:1], **seeds} if part.snr_db else seeds

    scenarios = {
        name: scenario.model_copy(update=first(scenario, **({"seeds": scenario.seeds[:1]} if scenario.seeds else {})))
        for name, scenario in (study.scenarios or {}).items()
    }
    data = study.data.model_copy(update={"seeds": study.data.seeds[:1]})
    small = study.model_copy(update={**first(study), "data": data, "scenarios": scenarios or None})
    for condition in conditions(small, choices, systems):
        scenario = (study.scenarios or {}).get(condition.problem.scenario)
        snr_db = (scenario and scenario.snr_db) or study.snr_db
        seeds = (scenario and scenario.seeds) or study.data.seeds
        yield condition, len(snr_db) * len(seeds)


def _fixed(page: str) -> Cost:
    return Cost(_FIXED[page], _AT_THE_END[page])


def _planned(jobs: float, conditions: float) -> Cost:
    return Cost(_JOB_SECONDS * jobs, 0.0, _JOB_MEMORY * jobs + _CONDITION_MEMORY * conditions)


def _seeds(condition: Condition, study: Study) -> int:
    return 1 if algorithm(condition.algorithm).about.deterministic else len(study.seeds)


def _data_sets(condition: Condition, study: Study) -> int:
    return len(study.seeds) if condition.problem.realisations else 1


def _place(condition: Condition, study: Study, setting: str) -> str:
    """Return the setting of a problem that decides: that of its scenario, or that of the study."""
    name = condition.problem.scenario
    scenario = (study.scenarios or {}).get(name)
    own = scenario is not None and getattr(scenario, setting) is not None
    return f"scenarios.{name}.{setting}" if own else f"data.{setting}"


def _simulation(condition: Condition, study: Study, count: int) -> Step:
    data, system = condition.problem.data, condition.problem.system
    each = 1.5e-6 + 5e-7 * (len(system.terms) or 6)
    return Step(
        f"the simulation of {system.name}",
        count,
        {
            "samples": (_place(condition, study, "samples"), data.samples),
            "washout": ("data.washout", data.washout),
        },
        lambda samples, washout: Cost((samples + washout) * each, 450 * samples + 150 * washout),
    )


def _search(condition: Condition, study: Study, times: int, data_sets: int) -> Step:
    """Return the jobs of a condition, and of those that cost the same."""
    problem, seeds = condition.problem, _seeds(condition, study)
    system, together = problem.system, min(seeds, study.seeds_per_job)
    orders = {"n_y": system.n_y, "n_u": system.n_u, "degree": system.degree}
    n_terms = model_size(**orders)
    # Monomials of the input for each candidate term.
    share = comb(system.n_u + system.degree, system.degree) / n_terms
    scenario = f"scenarios.{problem.scenario}" if problem.scenario else ""
    own = scenario and any(f"{name}" in (study.scenarios or {})[problem.scenario].model_fields_set for name in orders)
    where = scenario if own else f"config/systems/{system.name}.yaml"
    about = algorithm(condition.algorithm)
    # The jobs of a condition that see the same data have its problem in common.
    new = 1.0 if problem.realisations else together / seeds

    def cost(
        evaluations: float, samples: float, validation: float, terms: float, population: float, seeds: float
    ) -> Cost:
        rows = max(1.0, samples - validation)
        run = _run_seconds(condition.algorithm, terms, evaluations, validation, rows)
        if not about.in_process:
            run = min(run, study.time_limit)
        # Structures that are known, by a hash table of up to four places for each, and the trace.
        record = evaluations * (3 * (8 * (terms // 64 + 1) + 11) + 40)
        inputs = 24 * validation * terms * share
        gram = 8 * terms * terms
        columns = 8 * rows * terms * (1 + RATES.get(condition.algorithm, _ELSEWHERE).columns)
        once = samples * 3e-6 + 5e-11 * rows * terms**2 + 1e-5 * terms + 1e-3
        meanwhile = max(650 * samples, record + columns + inputs + 6e3 * seeds + 20 * population * terms) + 2 * gram
        keeps = (gram + inputs / 3 + 24 * samples) * min(_KEPT_PROBLEMS, data_sets)
        return Cost(once * new + seeds * (run + 5e-4), meanwhile, keeps)

    return Step(
        f"a search of {condition.method} on {system.name}{f' in {problem.scenario}' if problem.scenario else ''}",
        times * -(-seeds // together),
        {
            "evaluations": ("evaluations", condition.evaluations),
            "samples": (_place(condition, study, "samples"), problem.data.samples),
            "validation": (_place(condition, study, "validation_samples"), problem.data.validation_samples),
            "terms": (f"{where}: candidate terms of n_y, n_u and degree", n_terms),
            "population": (f"methods.{condition.method}.settings: population", _population(condition.settings)),
            "seeds": ("seeds_per_job", together),
        },
        cost,
    )


def _population(settings: Mapping[str, Any]) -> int:
    return int(next((settings[name] for name in ("population_size", "swarm_size", "agents") if name in settings), 0))


def _run_seconds(name: str, terms: float, evaluations: float, steps: float, rows: float) -> float:
    """Return the CPU seconds of one run."""
    rates = RATES.get(name, _ELSEWHERE)
    made = min(evaluations, rates.most, rates.most_per_term * terms)
    each = rates.evaluation + rates.per_term * terms + steps * (rates.per_step + rates.per_step_and_term * terms)
    each += rows * (rates.per_row + rates.per_row_and_term * terms) + rates.least_squares * terms**2 * min(terms, rows)
    return rates.fixed + rates.per_square * terms**2 + made * each


def _ranking(study: Study) -> Step:
    """Return the step that ranks methods: intervals by resampled systems."""
    methods, groups = len(study.methods), len(study.scenarios or {}) + 1
    return Step(
        "the ranking of the methods",
        1,
        {
            "resamples": ("statistics.bootstrap_samples", study.statistics.bootstrap_samples),
            "systems": ("systems", len(study.systems)),
        },
        lambda resamples, systems: Cost(
            8e-9 * resamples * systems * groups * (7 * methods + 2), 60e6 + 10 * resamples * systems * (methods + 2)
        ),
    )


# Models of measured data


def measured_estimate(scan: "Scan") -> Estimate:
    """Return what an identification will cost, by what its scan has planned for the data."""
    from narxbench.identification.scan import KEPT_TRIALS
    from narxbench.identification.trial import MOST_COMPARED, MOST_ROWS

    samples = scan.n_samples

    def steps_of(configuration: "Configuration") -> float:
        """Return the samples that are in use: of long records at a large decimation, some phases."""
        decimation = configuration.decimation
        return samples * min(decimation, max(1, decimation * MOST_ROWS // samples)) / decimation

    def kept(configuration: "Configuration", terms: float, parts: float) -> float:
        """Return the bytes of inner products by part and without it, and of what the parts are simulated with."""
        degree, inputs = configuration.degree, sum(map(len, configuration.u_lags))
        share = comb(inputs + degree, degree) / configuration.size if scan.recording.inputs else 1.0
        return 16 * (parts + 2) * terms**2 + 8 * steps_of(configuration) * (share * terms + 12)

    # Configurations of one size cost the same.
    of_size = {configuration.size: configuration for configuration in scan.configurations}
    counts = Counter(configuration.size for configuration in scan.configurations)
    largest = of_size[max(of_size)]
    others = sorted((kept(c, c.size, scan.n_parts) for c in scan.configurations), reverse=True)[1:KEPT_TRIALS]

    def step(name: str, count: int, kind: str, size: int) -> Step:
        configuration, seconds = of_size[size], _OF_PLANNED[kind] * scan.seconds(kind, of_size[size])
        steps = steps_of(configuration)
        rows = steps if kind == "resampled" else 3 * min(steps, MOST_COMPARED)

        def cost(terms: float, parts: float) -> Cost:
            return Cost(
                seconds * (terms / size) ** 2, 8 * rows * terms, kept(configuration, terms, parts) + math.fsum(others)
            )

        places = {
            "terms": ("identification.degree with the lags: candidate terms", size),
            "parts": ("identification.blocks", scan.n_parts),
        }
        return Step(f"{name} of {size} candidate terms", count, places, cost)

    steps = [step("a brief search", count, "brief", size) for size, count in counts.items()]
    steps.append(step("a thorough search", scan.n_finalists * len(scan.jobs()), "thorough", largest.size))
    if n_resamples := max(map(scan.n_resamples, scan.configurations)):
        steps.append(step("a search", n_resamples, "resampled", largest.size))
    n_jobs = sum(step.count for step in steps) + _OTHERS["measured"]
    jobs = {"jobs": ("identification.seeds with blocks and resamples: jobs", n_jobs)}
    planning = Step("planning", 1, jobs, lambda jobs: _planned(jobs, 0))
    return Estimate([planning, *steps], 0, n_jobs, _fixed("measured"))
