"""What a study takes, roughly, by its settings alone: reported before any job, and refused where memory is not enough.

``benchmarks/estimate.py`` compares it with what studies really take. Nothing here makes candidate terms, conditions of
every seed, or jobs.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from narxbench.algorithms.registry import algorithm
from narxbench.experiment.study import Condition, Part, Study
from narxbench.io.errors import NarxbenchError
from narxbench.model.terms import model_size

if TYPE_CHECKING:
    from narxbench.identification.search.scan import Scan
    from narxbench.pipeline.simulated import SimulatedPlan

# Share of the memory of a machine that is left to all else.
_SPARED = 0.05
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
    """What a study takes."""

    jobs: int
    runs: int
    """Searches among the jobs; 0 where these are not counted."""
    seconds: float
    """CPU seconds of everything, with the start of jobs and compilation."""
    planned: Use
    """Memory that is taken all the time."""
    largest: Sequence[Use]
    """Memory of the step that takes most."""

    def memory(self, cores: int = 1) -> float:
        """Return the bytes of the process with so many of the largest step at a time."""
        return _BASE + self.planned.size + cores * sum(use.size for use in self.largest)

    def line(self) -> str:
        """Return it in one line."""
        counted = f"{self.runs} runs in {self.jobs} jobs" if self.runs else f"{self.jobs} jobs"
        units = (("days", 86_400), ("h", 3600), ("min", 60))
        unit, size = next((each for each in units if self.seconds >= 1.5 * each[1]), ("s", 1))
        time, memory = f"{max(1, round(self.seconds / size))} {unit}", _gigabytes(self.memory())
        return f"{counted}: about {time} of CPU time; the largest step takes about {memory}"


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:.1f} GB"


def refuse(estimate: Estimate, memory: float | None = None, cores: int = 1) -> None:
    """Raise NarxbenchError if so many steps at a time need more bytes than there are; default: than the machine has.

    The message names the setting that does most to it, or the cores.
    """
    allowed = (1 - _SPARED) * (memory_of_machine() if memory is None else memory)
    alone, together, limit = estimate.memory(), estimate.memory(cores), f"allowed: up to {_gigabytes(allowed)}"
    if alone > allowed:
        use = max((estimate.planned, *estimate.largest), key=lambda use: use.size)
        found = f"{use.setting}: found {use.found:.15g}, with which {use.step} would take about {_gigabytes(alone)}"
        raise NarxbenchError(f"{found} of memory; {limit} on this machine")
    if together > allowed:
        step, most = estimate.largest[0].step, int((allowed - estimate.memory(0)) / (alone - estimate.memory(0)))
        found = f"cores: found {cores}, with which {step}, that often at a time, would take about"
        limit = f"allowed: up to {most} with the {_gigabytes(allowed)} of this machine"
        raise NarxbenchError(f"{found} {_gigabytes(together)} of memory; {limit}")


def memory_of_machine() -> float:
    """Return the bytes of memory that there are for this process: of the machine, or of its container."""
    limits = [float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):  # there is no such limit
            limits.append(float(Path("/sys/fs/cgroup", name).read_text()))
    return min(limits)


def study_estimate(plan: "SimulatedPlan") -> Estimate:
    """Return what a study of simulated systems takes, by its settings, choices and systems."""
    study, parts = plan.study, {(part.scenario, part.held_out): part for part in plan.study.parts()}
    # Conditions that differ in SNR alone are alike: the first stands for all of them.
    first = [part._replace(snr_db=part.snr_db[:1]) for part in parts.values()]
    jobs, runs, conditions, seconds, largest = _OTHERS, 0, 0, _DRAWING + _COMPILING, plan.further_uses()
    shared: dict[str, int] = {}  # jobs that make data sets and summaries, which conditions may have in common
    for condition in study.conditions(plan.choices, plan.systems, first):
        problem, part = condition.problem, parts[condition.problem.scenario, condition.problem.held_out]
        alike = len(part.snr_db)
        seeds = 1 if algorithm(condition.algorithm).about.deterministic else len(study.seeds)
        shared[problem.name] = alike * (len(study.seeds) if problem.realisations else 1)
        shared[plan.summary_file(condition)] = alike
        jobs += alike * -(-seeds // study.seeds_per_job)
        runs, conditions = runs + alike * seeds, conditions + alike
        of_run, uses = _search(condition, part, study)
        seconds += alike * seeds * of_run
        largest = max(largest, uses, key=lambda uses: sum(use.size for use in uses))
    jobs += sum(shared.values())
    data_seeds = len(study.data.seeds)
    counts = {"seeds": len(study.seeds), "data.seeds": data_seeds, "conditions": conditions // data_seeds}
    setting = max(counts, key=lambda name: counts[name])
    planned = Use("planning", setting, counts[setting], _JOB_BYTES * jobs + _CONDITION_BYTES * conditions)
    return Estimate(jobs, runs, seconds + _JOB * jobs, planned, largest)


def _search(condition: Condition, part: Part, study: Study) -> tuple[float, list[Use]]:
    """Return the CPU seconds of a run of a condition, and its memory."""
    found, system, data = algorithm(condition.algorithm), condition.problem.system, condition.problem.data
    n_terms = model_size(n_y=system.n_y, n_u=system.n_u, degree=system.degree)
    judged, rows = data.validation_samples, data.samples - data.validation_samples
    # Costs are those of 66 candidate terms and 600 samples to validate.
    each = found.cost.evaluation * (0.5 + n_terms / 264 + judged / 2400)
    each += found.cost.wide * 7.5e-13 * n_terms**2 * min(n_terms, rows)
    seconds = found.cost.start * (n_terms / 66) ** 2 + min(condition.evaluations, found.cost.most) * each
    if not found.in_process:
        seconds = _PROCESS + min(seconds, study.time_limit)
    step, place = f"a search of {condition.method} on {system.name}", ".".join(map(str, part.place))
    of_samples = "data" if data.samples == study.data.samples else place
    of_terms = place if part.orders else f"config/systems/{system.name}.yaml"
    columns = (
        8 * (2 + found.cost.copies) * n_terms * rows + 24 * comb(system.n_u + system.degree, system.degree) * judged
    )
    return seconds, [
        # Structures that are known, by a hash table of up to four places for each, and the trace.
        Use(step, "evaluations", condition.evaluations, condition.evaluations * (24 * (n_terms // 64) + 97)),
        Use(step, f"{of_samples}.samples", data.samples, 650 * data.samples + columns),
        Use(step, f"{of_terms}: candidate terms", n_terms, 24 * n_terms**2),
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
