"""The summary of a condition: the results of all its runs, as counts and values that later steps need.

A summary only collects. Intervals, tests and curves are part of the analysis.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, count
from typing import Any

from narxbench._algorithms.registry import algorithm as algorithm_of
from narxbench._algorithms.search import budget
from narxbench._io.files import canonical_json, read_bytes, sha256
from narxbench._model.system import System
from narxbench._study.condition import ConditionKey
from narxbench._study.runs import Run, finite, load_problem, read_runs, seals, size_of


def summarise(
    runs: Sequence[str],
    data: Mapping[int, str],
    *,
    condition: Mapping[str, Any],
    system: Mapping[str, Any],
    structure: Mapping[str, Any],
    algorithm: str,
    settings: Mapping[str, Any],
    evaluations: int,
    threshold: float,
) -> str:
    """Read the run files of a condition, in the order of its seeds, and return the text of its summary.

    A term whose selection frequency reaches the ``threshold`` is in the final structure (paper, section IV-C). Failed
    runs do not count there. ``failures`` has their reasons by seed. The other parameters are as for
    :func:`~narxbench._study.runs.run_seeds`.
    """
    true_system = System(**system)
    digests = {path: sha256(read_bytes(path)) for path in dict.fromkeys(data.values())}
    problems, true = {}, {}
    for path, digest in digests.items():
        problems[path] = load_problem(path, digest, criterion=condition["criterion"], **structure)
        true[path] = problems[path].evaluate(true_system.terms)
    first = next(iter(problems.values()))
    files, run_records = read_runs(
        runs,
        {seed: digests[path] for seed, path in data.items()},
        budget(settings, evaluations),
        first.terms,
        stops_early=algorithm_of(algorithm).about.stops_early,
        condition=ConditionKey(**condition),
        algorithm=algorithm,
        settings=dict(settings),
        problem=size_of(first),
    )
    first_file = next(iter(files.values()))
    counts = Counter(chain.from_iterable(run.terms for run in run_records))
    failures = {run.seed: run.failure for run in run_records if run.failure}
    final = final_structure(counts, len(run_records) - len(failures), first.terms, threshold)
    summary = {
        **condition,
        "algorithm": algorithm,
        "settings": dict(settings),
        "versions": first_file.versions,
        "algorithm_sha256": first_file.algorithm_sha256,
        "seals": seals(files.values()),
        "data_sha256": _digest(list(digests.values())),
        "realisations": len(digests),
        "evaluations": evaluations,
        "seeds": list(data),
        "candidates": first.terms,
        "system_terms": true_system.terms,
        "true_coefficients": true_system.coefficients,
        "true_fitness": [finite(true[path].fitness) for path in data.values()],
        **_columns(run_records, first.terms),
        "threshold": threshold,
        "final_structure": final,
        "final_coefficients": first.evaluate(final).coefficients,
    }
    # Summaries without a failed run keep the bytes that they have always had.
    if failures:
        summary["failures"] = failures
    return canonical_json(summary)


def _digest(digests: Sequence[str]) -> str:
    """Return the digest of the data set, or one of all data sets."""
    return digests[0] if len(digests) == 1 else sha256("\n".join(digests))


def _columns(runs: Sequence[Run], candidates: Sequence[str]) -> dict[str, list[Any]]:
    """Return the values of all runs by name, structures as the places of their terms among the candidates.

    ``spent`` are the evaluations that each has made.
    """
    place_of = dict(zip(candidates, count(), strict=False))
    columns: dict[str, list[Any]] = defaultdict(list)
    for run in runs:
        columns["fitness"].append(run.fitness)
        columns["spent"].append(run.evaluations)
        columns["structures"].append([place_of[term] for term in run.terms])
        columns["history_evaluations"].append(run.history_evaluations)
        columns["history_fitness"].append(run.history_fitness)
    return columns


def final_structure(
    counts: Mapping[str, int], runs: int, candidates: Sequence[str], threshold: float = 0.9
) -> list[str]:
    """Return the terms whose selection frequency reaches the threshold (paper, section IV-C).

    ``counts`` says in how many of the ``runs`` each term was selected. Terms that no run selected may be missing.
    """
    if not runs:
        return []
    # 36 of 40 reaches 0.9 although 0.9 * 40 is not a whole number in floating point.
    return [term for term in candidates if counts.get(term, 0) >= threshold * runs - 1e-9]
