"""What a study takes, roughly, by its settings alone: reported before any job, and refused where memory is not enough.

``benchmarks/estimate.py`` compares it with what studies really take. Nothing here makes candidate terms, conditions of
every seed, or jobs.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from narxbench.algorithms.registry import algorithm
from narxbench.experiment.interpretations import DesignChoices
from narxbench.experiment.study import Condition, Part, Study
from narxbench.io.errors import NarxbenchError
from narxbench.model.system import System
from narxbench.model.terms import model_size

if TYPE_CHECKING:
    from narxbench.identification.search.scan import Scan

# What else takes memory on a machine.
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


@dataclass(frozen=True)
class Estimate:
    """What a study takes.

    Attributes
    ----------
    jobs, runs : int
        Jobs of any kind, and searches among them; 0 where these are not counted.
    seconds : float
        CPU seconds of everything.
    planned, largest : list of Use
        Memory that is taken all the time, and that of the step which takes most.
    """

    jobs: int
    runs: int
    seconds: float
    planned: Sequence[Use]
    largest: Sequence[Use]

    def memory(self, cores: int = 1) -> float:
        """Return the bytes of the process with so many of the largest step at a time."""
        return _BASE + sum(use.size for use in self.planned) + cores * sum(use.size for use in self.largest)

    def line(self) -> str:
        """Return it in one line."""
        counted = f"{self.runs} runs in {self.jobs} jobs" if self.runs else f"{self.jobs} jobs"
        time, memory = _duration(self.seconds), _gigabytes(self.memory())
        return f"{counted}: about {time} of CPU time; the largest step takes about {memory}"


def refuse(estimate: Estimate, memory: float | None = None, cores: int = 1) -> None:
    """Raise NarxbenchError for a study that does not fit into memory: the setting that does most to it, or the cores.

    Parameters
    ----------
    estimate : Estimate
        What the study takes.
    memory : float, optional
        Bytes that there are; default: those of this machine.
    cores : int
        Steps that run at a time.
    """
    allowed = (1 - _SPARED) * (memory_of_machine() if memory is None else memory)
    if estimate.memory() > allowed:
        use = max((*estimate.planned, *estimate.largest), key=lambda use: use.size)
        took = f"with which {use.step} would take about {_gigabytes(estimate.memory())} of memory"
        limit = f"allowed: up to {_gigabytes(allowed)} on this machine"
        raise NarxbenchError(f"{use.setting}: found {use.found:.15g}, {took}; {limit}")
    if estimate.memory(cores) > allowed:
        most = int((allowed - estimate.memory(0)) / (estimate.memory(1) - estimate.memory(0)))
        took = f"with which {estimate.largest[0].step}, that often at a time, would take about"
        limit = f"allowed: up to {most} with the {_gigabytes(allowed)} of this machine"
        raise NarxbenchError(f"cores: found {cores}, {took} {_gigabytes(estimate.memory(cores))} of memory; {limit}")


def memory_of_machine() -> float:
    """Return the bytes of memory that there are for this process: of the machine, or of its container."""
    limits = [float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):  # there is no such limit
            limits.append(float(int(Path("/sys/fs/cgroup", name).read_text())))
    return min(limits)


def study_estimate(
    study: Study,
    choices: DesignChoices,
    systems: Mapping[str, System],
    summary_file: Callable[[Condition], str],
    further: Sequence[Use] = (),
) -> Estimate:
    """Return what a study of simulated systems takes.

    Parameters
    ----------
    study, choices, systems
        The settings, what the interpretations are, and the described systems by name.
    summary_file : callable
        The file that sums a condition up.
    further : sequence of Use
        Memory of a step that is no search.
    """
    parts = {part.scenario: part for part in study.parts()}
    few = [part._replace(snr_db=part.snr_db[:1], seeds=part.seeds[:1]) for part in parts.values()]
    jobs, runs, conditions, seconds, largest = float(_OTHERS), 0, 0, _DRAWING + _COMPILING, list(further)
    seen = set()
    for condition in study.conditions(choices, systems, few):
        problem, part = condition.problem, parts[condition.problem.scenario]
        # Conditions that differ in SNR and seed of the data alone are alike.
        alike = len(part.snr_db) * len(part.seeds)
        seeds = 1 if algorithm(condition.algorithm).about.deterministic else len(study.seeds)
        together = min(seeds, study.seeds_per_job)
        data_sets = alike * (len(study.seeds) if problem.realisations else 1)
        jobs += alike * -(-seeds // together)
        jobs += sum(n for name, n in ((problem.name, data_sets), (summary_file(condition), alike)) if name not in seen)
        seen |= {problem.name, summary_file(condition)}
        runs, conditions = runs + alike * seeds, conditions + alike
        seconds += alike * seeds * _run_seconds(condition, study.time_limit)
        largest = max(largest, _uses(condition, part, study), key=lambda uses: sum(use.size for use in uses))
    counts = {"seeds": len(study.seeds), "data.seeds": len(study.data.seeds)}
    counts["conditions"] = conditions // counts["data.seeds"]
    setting = max(counts, key=lambda name: counts[name])
    size = _JOB_BYTES * jobs + _CONDITION_BYTES * conditions
    planned = [Use("planning", setting, counts[setting], size)]
    return Estimate(int(jobs), runs, seconds + _JOB * jobs, planned, largest)


def _run_seconds(condition: Condition, time_limit: float) -> float:
    found, system, data = algorithm(condition.algorithm), condition.problem.system, condition.problem.data
    n_terms, judged = model_size(n_y=system.n_y, n_u=system.n_u, degree=system.degree), data.validation_samples
    # Costs are those of 66 candidate terms and 600 samples to validate.
    each = found.cost.evaluation * (0.5 + n_terms / 264 + judged / 2400)
    if found.cost.wide:
        each += 7.5e-13 * n_terms**2 * min(n_terms, data.samples - judged)
    seconds = found.cost.start * (n_terms / 66) ** 2 + min(condition.evaluations, found.cost.most) * each
    return seconds if found.in_process else _PROCESS + min(seconds, time_limit)


def _uses(condition: Condition, part: Part, study: Study) -> list[Use]:
    """Return the memory that the search of a condition takes."""
    problem = condition.problem
    system, data = problem.system, problem.data
    n_terms = model_size(n_y=system.n_y, n_u=system.n_u, degree=system.degree)
    step = f"a search of {condition.method} on {system.name}"
    where = ".".join(map(str, part.place))
    of_samples = "data" if data.samples == study.data.samples else where
    of_terms = where if part.orders else f"config/systems/{system.name}.yaml"
    copies = 2 + algorithm(condition.algorithm).cost.copies
    columns = 8.0 * (data.samples - data.validation_samples) * copies * n_terms
    columns += 24 * data.validation_samples * comb(system.n_u + system.degree, system.degree)
    # What has both as factors counts with the one that is further from an ordinary study's.
    long = data.samples / 2000 > n_terms / 66
    return [
        # Structures that are known, by a hash table of up to four places for each, and the trace.
        Use(step, "evaluations", condition.evaluations, condition.evaluations * (24 * (n_terms // 64) + 97)),
        Use(step, f"{of_samples}.samples", data.samples, 650 * data.samples + long * columns),
        Use(step, f"{of_terms}: candidate terms", n_terms, 24 * n_terms**2 + (not long) * columns),
        Use(f"the simulation of {system.name}", "data.washout", data.washout, 150 * data.washout),
    ]


def measured_estimate(scan: "Scan") -> Estimate:
    """Return what an identification takes, by what its scan has planned for the data."""
    from narxbench.identification.search.scan import KEPT_TRIALS
    from narxbench.identification.search.trial import MOST_ROWS

    by_size = sorted(scan.configurations, key=lambda configuration: configuration.size)
    largest, n_thorough = by_size[-1], scan.n_finalists * len(scan.jobs())
    n_resamples = max(map(scan.n_resamples, by_size))
    seconds = sum(scan.seconds("brief", configuration) for configuration in by_size)
    # Searches end in about half of the time that is planned for them.
    seconds += (n_thorough * scan.seconds("thorough", largest) + n_resamples * scan.seconds("resampled", largest)) / 2
    step, jobs = f"a search of {largest.size} candidate terms", len(by_size) + n_thorough + n_resamples + _OTHERS
    # Inner products of each part, and of all data, in as many configurations as are kept.
    products = sum(16.0 * configuration.size**2 for configuration in by_size[-KEPT_TRIALS:])
    rows = 4 * 8 * min(scan.n_samples, MOST_ROWS) * largest.size
    uses = [
        Use(step, "identification.blocks", scan.n_parts, products * scan.n_parts),
        Use(step, "identification.degree with the lags: candidate terms", largest.size, 2 * products + rows),
    ]
    planned = [Use("planning", "identification.seeds with blocks and resamples: jobs", jobs, _JOB_BYTES * jobs)]
    return Estimate(jobs, 0, seconds + _JOB * jobs + _COMPILING, planned, uses)


def _duration(seconds: float) -> str:
    for unit, size, end in (("s", 1, 90), ("min", 60, 5400), ("h", 3600, 172_800), ("days", 86_400, 1e8)):
        if seconds < end:
            return f"{max(1, round(seconds / size))} {unit}"
    return f"{seconds / 31_557_600:.2g} years"


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size < 1e11 else f"{size / 1e9:.0f} GB"
