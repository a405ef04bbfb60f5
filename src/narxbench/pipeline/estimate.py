"""What a study takes, roughly, by its settings alone; ``benchmarks/estimate.py`` compares it with what that is."""

import os
from collections.abc import Sequence
from contextlib import suppress
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from narxbench.algorithms.registry import algorithm
from narxbench.experiment.study import Condition
from narxbench.io.errors import NarxbenchError
from narxbench.model.terms import model_size

if TYPE_CHECKING:
    from narxbench.identification.search.scan import Scan
    from narxbench.pipeline.simulated import SimulatedPlan

# Share of the memory of a machine that steps may take; bytes in a gigabyte.
_SHARE, _GB = 0.95, 1e9
# Bytes of the process when it makes frames and pages, and of each job and condition that it has planned.
_BASE, _JOB_BYTES, _CONDITION_BYTES = 450e6, 17e3, 6e3
# Seconds: to start and end a job, a process of its own, all of those that draw, and what is compiled at the first use.
_JOB, _PROCESS, _DRAWING, _COMPILING = 6e-3, 0.1, 10.0, 15.0
# Jobs of the analysis and of the pages, and the one that asks for all.
_OTHERS = 8


class Use(NamedTuple):
    """Bytes that a step takes, and the setting that they grow with."""

    step: str
    setting: str
    found: float
    size: float


class Estimate(NamedTuple):
    """What a study takes: CPU seconds of everything, memory that is taken all the time and by the largest step."""

    jobs: int
    runs: int  # searches among the jobs; 0 where these are not counted
    seconds: float
    planned: Use
    largest: Sequence[Use]

    def memory(self, cores: int = 1) -> float:
        """Return the bytes of the process with so many of the largest step at a time."""
        return _BASE + self.planned.size + cores * sum(use.size for use in self.largest)

    def line(self) -> str:
        """Return it in one line."""
        counted = f"{self.runs} runs in {self.jobs} jobs" if self.runs else f"{self.jobs} jobs"
        units = (("days", 86_400), ("h", 3600), ("min", 60))
        unit, size = next((each for each in units if self.seconds >= 1.5 * each[1]), ("s", 1))
        time, memory = max(1, round(self.seconds / size)), self.memory() / _GB
        return f"{counted}: about {time} {unit} of CPU time; the largest step takes about {memory:.1f} GB"


def refuse(estimate: Estimate, cores: int = 1) -> None:
    """Raise NarxbenchError, with the setting that does most to it, if so many steps at a time need too much memory."""
    allowed, taken = _SHARE * memory_of_machine(), estimate.memory(cores)
    if taken > allowed:
        use = max((estimate.planned, *estimate.largest), key=lambda use: use.size)
        found = f"{use.setting}: found {use.found:.15g}, with which {use.step} would take about {taken / _GB:.1f} GB"
        at_a_time = f" with --cores {cores}" if cores > 1 and estimate.memory() <= allowed else ""
        raise NarxbenchError(f"{found} of memory{at_a_time}; allowed: up to {allowed / _GB:.1f} GB on this machine")


def memory_of_machine() -> float:
    """Return the bytes of memory that there are for this process: of the machine, or of its container."""
    limits = [float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):  # there is no such limit
            limits.append(float(Path("/sys/fs/cgroup", name).read_text()))
    return min(limits)


def study_estimate(plan: "SimulatedPlan") -> Estimate:
    """Return what a study of simulated systems takes, by its settings, choices and systems."""
    study, runs, jobs, conditions = plan.study, 0, _OTHERS, 0
    seconds, largest = _DRAWING + _COMPILING, list[Use]()
    if study.page == "methods":  # the intervals by resampled systems
        samples, size = study.statistics.bootstrap_samples, 10 * len(study.all_systems) * (len(study.methods) + 2)
        largest = [Use("the ranking of the methods", "statistics.bootstrap_samples", samples, size * samples)]
    shared: dict[str, int] = {}  # jobs that make data sets and summaries, which conditions may have in common
    for condition in study.conditions(plan.choices, plan.systems):
        problem = condition.problem
        seeds = 1 if algorithm(condition.algorithm).about.deterministic else len(study.seeds)
        shared |= {problem.name: len(study.seeds) if problem.realisations else 1, plan.summary_file(condition): 1}
        runs, jobs, conditions = runs + seeds, jobs + -(-seeds // study.seeds_per_job), conditions + 1
        of_run, uses = _search(condition, study.time_limit)
        seconds += seeds * of_run
        largest = max(largest, uses, key=lambda uses: sum(use.size for use in uses))
    jobs += sum(shared.values())
    data_seeds = len(study.data.seeds)
    counts = [(len(study.seeds), "seeds"), (data_seeds, "data.seeds"), (conditions // data_seeds, "conditions")]
    found, setting = max(counts)
    planned = Use("planning", setting, found, _JOB_BYTES * jobs + _CONDITION_BYTES * conditions)
    return Estimate(jobs, runs, seconds + _JOB * jobs, planned, largest)


def _search(condition: Condition, time_limit: float) -> tuple[float, list[Use]]:
    """Return the CPU seconds of a run of a condition, and its memory."""
    found, problem = algorithm(condition.algorithm), condition.problem
    cost, system, data = found.cost, problem.system, problem.data
    n_terms = model_size(n_y=system.n_y, n_u=system.n_u, degree=system.degree)
    judged, rows = data.validation_samples, data.samples - data.validation_samples
    # Costs are those of 66 candidate terms and 600 samples to validate.
    each = cost.evaluation * (0.5 + n_terms / 264 + judged / 2400)
    each += cost.wide * 7.5e-13 * n_terms**2 * min(n_terms, rows)
    seconds = cost.start * (n_terms / 66) ** 2 + min(condition.evaluations, cost.most) * each
    if not found.in_process:
        seconds = _PROCESS + min(seconds, time_limit)
    step = f"a search of {condition.method} on {system.name}"
    scenario = f"scenarios.{problem.scenario}: " if problem.scenario else ""
    columns = 8 * (2 + cost.copies) * n_terms * rows
    columns += 24 * comb(system.n_u + system.degree, system.degree) * judged
    return seconds, [
        # Structures that are known, by a hash table of up to four places for each, and the trace.
        Use(step, "evaluations", condition.evaluations, condition.evaluations * (24 * (n_terms // 64) + 97)),
        Use(step, f"{scenario}data.samples", data.samples, 650 * data.samples + columns),
        Use(step, f"{scenario}candidate terms of {system.name}", n_terms, 52 * n_terms**2),
        Use(f"the simulation of {system.name}", "data.washout", data.washout, 150 * data.washout),
    ]


def measured_estimate(scan: "Scan") -> Estimate:
    """Return what an identification takes, by what its scan has planned for the data."""
    from narxbench.identification.search.scan import KEPT_TRIALS
    from narxbench.identification.search.trial import MOST_ROWS

    by_size = sorted(scan.configurations, key=lambda configuration: configuration.size)
    largest, n_thorough = by_size[-1], scan.n_finalists * len(scan.jobs())
    n_resamples = max(map(scan.n_resamples, by_size))
    jobs = len(by_size) + n_thorough + n_resamples + _OTHERS
    # Searches end in about half of the time that is planned for them.
    seconds = (n_thorough * scan.seconds("thorough", largest) + n_resamples * scan.seconds("resampled", largest)) / 2
    seconds += sum(scan.seconds("brief", configuration) for configuration in by_size)
    # Inner products of each part, and of all data, in as many configurations as are kept.
    products = sum(16 * configuration.size**2 for configuration in by_size[-KEPT_TRIALS:])
    step, rows = f"a search of {largest.size} candidate terms", 32 * min(scan.n_samples, MOST_ROWS) * largest.size
    uses = [
        Use(step, "identification.blocks", scan.n_parts, products * scan.n_parts),
        Use(step, "identification.degree with the lags: candidate terms", largest.size, 2 * products + rows),
    ]
    planned = Use("planning", "identification.seeds with blocks and resamples: jobs", jobs, _JOB_BYTES * jobs)
    return Estimate(jobs, 0, seconds + _JOB * jobs + _COMPILING, planned, uses)
