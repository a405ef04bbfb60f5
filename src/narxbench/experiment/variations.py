"""The sensitivity experiment: which cells it has, and one cell of it, all runs in one go (``config/fidelity.yaml``)."""

import math
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, Field

from narxbench.algorithms.search import SearchResult, search
from narxbench.analysis.metrics import selections
from narxbench.analysis.performance import best_after
from narxbench.experiment.interpretations import Fitness, Readings, checked_choices, choices_text
from narxbench.experiment.study_settings import Criterion, Data, KnownAlgorithm, Name, Seeds, distinct
from narxbench.fitness.problem import StructureProblem
from narxbench.io.settings import Problem, Settings, SettingsError, validated
from narxbench.io.yaml import read_mapping
from narxbench.model.system import System

TENTHS = 10


class Finalists(Settings):
    """Readings that are also run under further criteria."""

    readings: Annotated[list[Name], AfterValidator(distinct)]
    """Names of readings."""
    criteria: Annotated[list[Criterion], AfterValidator(distinct)]
    """Criteria beside that of the screening."""


class Plan(Settings):
    """The sensitivity experiment."""

    data_seeds: Seeds
    """Data realisations: their number N for the seeds 1 to N, or the seeds themselves."""
    criterion: Criterion
    """Criterion of the screening."""
    algorithms: Annotated[list[KnownAlgorithm], AfterValidator(distinct)] = Field(min_length=1)
    """Algorithms that are compared with the published tables."""
    reference: KnownAlgorithm
    """A search on the same data for comparison."""
    combinations: list[dict[str, str]]
    """Combinations of options, each a mapping of open points to options."""
    finalists: Finalists
    """Readings that are also run under further criteria."""


class PlannedCell(NamedTuple):
    """One algorithm and criterion under the choices that can matter to it, on one data realisation."""

    algorithm: str
    choices: str
    data_seed: int
    criterion: str


def load_plan(path: str | Path, readings: Readings) -> Plan:
    """Read the plan and check its combinations and finalists against the readings."""
    plan = validated(Plan, read_mapping(path), str(path))
    problems = []
    for index, choices in enumerate(plan.combinations):
        try:
            checked_choices(readings, choices)
        except SettingsError as error:
            problems += [Problem(("combinations", index, *p.path), p.text) for p in error.problems]
    for index, name in enumerate(plan.finalists.readings):
        if name not in readings.named:
            text = f"found {name!r}; allowed: a named reading: {', '.join(readings.named)}"
            problems.append(Problem(("finalists", "readings", index), text))
    if problems:
        raise SettingsError(problems, str(path))
    return plan


def single_changes(readings: Readings) -> Iterator[dict[str, str]]:
    """Yield every reading that differs from the base in one option."""
    for name, point in readings.open_points.items():
        for option in point.options:
            if option != point.base:
                yield {name: option}


def planned_cells(plan: Plan, readings: Readings) -> list[PlannedCell]:
    """Return the cells for each system and SNR, each once, in the order of the plan."""
    screened = [{}, *single_changes(readings), *plan.combinations, *readings.named.values()]
    named = [{}, *readings.named.values()]
    cells = [
        PlannedCell(algorithm, choices_text(readings, choices, algorithm), seed, plan.criterion)
        for algorithm in (*plan.algorithms, plan.reference)
        # What the reference finds is needed where the others are looked at closely.
        for choices in (named if algorithm == plan.reference else screened)
        for seed in plan.data_seeds
    ]
    # The paper's tables have further criteria for the first algorithm only.
    cells += [
        PlannedCell(algorithm, choices_text(readings, readings.named[name], algorithm), seed, criterion)
        for algorithm in (plan.algorithms[0], plan.reference)
        for name in plan.finalists.readings
        for seed in plan.data_seeds
        for criterion in plan.finalists.criteria
    ]
    return list(dict.fromkeys(cells))


def run_cell(
    system: System,
    snr_db: float,
    snr_label: str,
    *,
    algorithm: str,
    criterion: str,
    settings: dict[str, Any],
    data: Data,
    fitness: Fitness,
    seeds: Sequence[int],
    evaluations: int,
) -> dict[str, Any]:
    """Simulate the data, search with every seed, and return what the comparison needs, ready for JSON.

    Data seed 1 under the reading of the main experiment draws what the main experiment draws.
    """
    results, true = [], []
    problem = None
    for seed in seeds:
        if problem is None or data.realisation == "per_run":
            problem = StructureProblem(
                *data.simulate(system, snr_db, data.realisation_of(seed)),
                n_u=system.n_u,
                n_y=system.n_y,
                degree=system.degree,
                n_validation=data.validation_samples,
                criterion=criterion,
                estimation=fitness.estimation,
                error=fitness.error,
            )
            true.append(problem.evaluate(system.terms).fitness)
        axes = {"system": system.name, "snr_db": snr_label}
        results.append(search(problem, algorithm=algorithm, seed=seed, evaluations=evaluations, axes=axes, **settings))
    assert problem is not None
    return {"runs": len(seeds), "evaluations": evaluations, **_summary(results, problem.terms, system.terms, true)}


def _summary(
    results: Sequence[SearchResult], candidates: Sequence[str], system_terms: Sequence[str], true: Sequence[float]
) -> dict[str, Any]:
    counts = dict(zip(candidates, selections((r.terms for r in results), candidates).sum(axis=0).tolist(), strict=True))
    spurious = [count for term, count in counts.items() if term not in system_terms and count]
    final = [result.fitness for result in results]
    histories = [
        dict(zip(("evaluations", "fitness"), map(list, zip(*r.history, strict=True)), strict=True)) for r in results
    ]
    budget = max(result.evaluations for result in results)
    return {
        "counts": {term: counts[term] for term in system_terms},
        "spurious": len(spurious),
        "nu_max": max(spurious, default=0),
        "exact_runs": sum(set(result.terms) == set(system_terms) for result in results),
        "cardinality": statistics.median(len(result.terms) for result in results),
        "true_fitness": _finite(statistics.median(true)),
        "best_fitness": _finite(min(final)),
        "median_fitness": _finite(statistics.median(final)),
        "third_fitness": _mean(best_after(history, budget // 3) for history in histories),
        "curve": [
            _mean(best_after(history, math.ceil(budget * tenth / TENTHS)) for history in histories)
            for tenth in range(1, TENTHS + 1)
        ],
        "last_improvement": statistics.median(h["evaluations"][-1] if h["evaluations"] else 0 for h in histories),
    }


def _mean(values: Any) -> float | None:
    values = list(values)
    # math.fsum is correctly rounded, so that the mean does not depend on the processor.
    return math.fsum(values) / len(values) if all(map(math.isfinite, values)) else None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
