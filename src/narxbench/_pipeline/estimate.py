"""A rough estimate of the resources of a study, which ``benchmarks/estimate.py`` compares with the use."""

from collections.abc import Sequence
from math import comb
from typing import NamedTuple

from narxbench._algorithms.registry import algorithm
from narxbench._io.resources import Use, gigabytes, memory, refuse
from narxbench._model.terms import model_size
from narxbench._study.settings import Condition, Study

# Bytes of each condition and of each job that the process has planned, measured as the seconds are.
_CONDITION_BYTES, _JOB_BYTES = 6e3, 17e3
# Seconds to start and end a job, and once to compile functions at their first use and to draw.
_JOB_SECONDS, _ONCE = 6e-3, 25.0


class Estimate(NamedTuple):
    """Searches and CPU seconds of a whole study, and the memory of its plan and of its largest step."""

    searches: int
    seconds: float
    planned: Use
    largest: Sequence[Use]

    def memory(self) -> float:
        """Return the bytes of the process with one of the largest step."""
        return memory(self.largest, always=[self.planned])

    def refuse(self, cores: int = 1) -> None:
        """Raise NarxbenchError if this many of the largest step at a time need too much memory."""
        refuse(self.largest, cores, [self.planned])

    def line(self) -> str:
        """Return the estimate in one line."""
        largest_step = f"the largest step takes about {gigabytes(self.memory())}"
        return f"{self.searches} searches, about {_duration(self.seconds)} of CPU time with compilation; {largest_step}"


def _duration(seconds: float) -> str:
    """Return a duration in whole numbers of the unit that suits it."""
    for unit, size in (("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 1.5 * size:
            return f"{round(seconds / size)} {unit}"
    return f"{max(1, round(seconds))} s"


def study_estimate(study: Study, conditions: Sequence[Condition]) -> Estimate:
    """Return the resources that a study of simulated systems needs, by its settings and conditions."""
    runs = jobs = 0
    seconds, largest = _ONCE, list[Use]()
    data_sets: dict[str, int] = {}  # the jobs that simulate a problem, which several conditions may share
    for condition in conditions:
        problem = condition.problem
        seeds = 1 if algorithm(condition.algorithm).about.deterministic else len(study.seeds)
        data_sets[problem.name] = 1
        if problem.data.realisation != "shared":
            data_sets[problem.name] = len(set(map(problem.realisation, study.seeds)))
        runs += seeds
        jobs += 1 - (-seeds // study.seeds_per_job)
        of_run, uses = _search(condition, study.time_limit)
        seconds += seeds * of_run
        largest = max(largest, uses, key=lambda uses: sum(use.size for use in uses))
    jobs += sum(data_sets.values())
    data_seeds = len(study.data.seeds)
    n_conditions = len(conditions)
    counts = [(len(study.seeds), "seeds"), (data_seeds, "data.seeds"), (n_conditions // data_seeds, "conditions")]
    number, setting = max(counts)
    planned = Use("planning", setting, number, _JOB_BYTES * jobs + _CONDITION_BYTES * n_conditions)
    return Estimate(runs, seconds + _JOB_SECONDS * jobs, planned, largest)


def search_needs(condition: Condition, time_limit: float) -> tuple[float, float]:
    """Return the CPU seconds of a run of a condition, and the bytes that it takes."""
    seconds, uses = _search(condition, time_limit)
    return seconds, sum(use.size for use in uses)


def _search(condition: Condition, time_limit: float) -> tuple[float, list[Use]]:
    """Return the CPU seconds of a run of a condition, and its memory."""
    method, problem = algorithm(condition.algorithm), condition.problem
    cost, system, data = method.cost, problem.system, problem.data
    n_terms = model_size(n_y=system.n_y, n_u=system.n_u, degree=system.degree)
    judged, rows = data.validation_samples, data.samples - data.validation_samples
    # Costs are those of 66 candidate terms and 600 samples to validate.
    evaluation = cost.evaluation * (0.5 + n_terms / 264 + judged / 2400)
    evaluation += cost.wide * 7.5e-13 * n_terms**2 * min(n_terms, rows)
    seconds = cost.start * (n_terms / 66) ** 2 + min(condition.evaluations, cost.most) * evaluation
    if not method.in_process:
        seconds = min(seconds, time_limit)
    step = f"a search of {condition.method} on {system.name}"
    scenario = problem.scenario and f"scenarios.{problem.scenario}: "
    columns = 8 * (2 + cost.copies) * n_terms * rows
    columns += 24 * comb(system.n_u + system.degree, system.degree) * judged
    return seconds, [
        # The structures that were evaluated, in a hash table of up to four places for each, and the trace.
        Use(step, "evaluations", condition.evaluations, condition.evaluations * (24 * (n_terms // 64) + 97)),
        Use(step, f"{scenario}data.samples", data.samples, 650 * data.samples + columns),
        Use(step, f"{scenario}candidate terms of {system.name}", n_terms, 52 * n_terms**2),
        Use(f"the simulation of {system.name}", "data.washout", data.washout, 150 * data.washout),
    ]
