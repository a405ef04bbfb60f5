"""The summary of a condition: what all its runs found, as counts and values that later steps need.

Intervals, tests and curves are the analysis's: a summary only collects.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from narxbench.algorithms.registry import algorithm as algorithm_of
from narxbench.algorithms.search import budget
from narxbench.io.files import canonical_json, read_bytes, sha256
from narxbench.model.system import System
from narxbench.study.condition import ConditionKey
from narxbench.study.runs import finite, load_problem, read_runs, size_of


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

    A term is in the final structure from the selection frequency ``threshold`` on (paper, section IV-C); the other
    parameters are as for :func:`~narxbench.study.runs.run_seeds`.
    """
    known = System(**system)
    digests = {path: sha256(read_bytes(path)) for path in dict.fromkeys(data.values())}
    asked = {"criterion": condition["criterion"], **structure}
    problems = {path: load_problem(path, digest, **asked) for path, digest in digests.items()}
    first = next(iter(problems.values()))
    file, found = read_runs(
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
    true = {path: problem.evaluate(known.terms) for path, problem in problems.items()}
    first_true = next(iter(true.values()))
    final = final_structure(Counter(term for run in found for term in run.terms), len(found), first.terms, threshold)
    model = first.evaluate(final)
    converged = math.isfinite(model.fitness)
    best = min((run for run in found if run.fitness is not None), key=lambda run: run.fitness or 0.0, default=None)
    index = {term: i for i, term in enumerate(first.terms)}
    summary = {
        **condition,
        "algorithm": algorithm,
        "settings": dict(settings),
        "versions": file.versions,
        "algorithm_sha256": file.algorithm_sha256,
        "data_sha256": next(iter(digests.values())) if len(digests) == 1 else sha256("\n".join(digests.values())),
        "realisations": len(digests),
        "evaluations": evaluations,
        "seeds": list(data),
        "candidates": first.terms,
        "system_terms": known.terms,
        "true_coefficients": known.coefficients,
        "true_structure": {"coefficients": first_true.coefficients, "fitness": finite(first_true.fitness)},
        "true_fitness": [finite(true[path].fitness) for path in data.values()],
        "runs": {
            "fitness": [run.fitness for run in found],
            "sse": [run.sse for run in found],
            "evaluations": [run.evaluations for run in found],
            "structures": [[index[term] for term in run.terms] for run in found],
            "history_evaluations": [run.history.evaluations for run in found],
            "history_fitness": [run.history.fitness for run in found],
        },
        "threshold": threshold,
        "final_structure": final,
        "final_model": {
            "coefficients": model.coefficients,
            "fitness": finite(model.fitness),
            "sse": model.sse if converged else None,
            "prediction": first.predict(final).tolist() if converged else None,
        },
        "measured": first.data.measured.tolist(),
        "best_run": best and best.model_dump(include={"seed", "fitness", "sse", "terms", "coefficients"}),
    }
    return canonical_json(summary)


def final_structure(
    counts: Mapping[str, int], runs: int, candidates: Sequence[str], threshold: float = 0.9
) -> list[str]:
    """Return the terms whose selection frequency reaches the threshold (paper, section IV-C).

    ``counts`` says in how many of the ``runs`` each term was selected; terms that none selected may be missing.
    """
    # 36 of 40 reaches 0.9 although 0.9 * 40 is not a whole number in floating point.
    return [term for term in candidates if counts.get(term, 0) >= threshold * runs - 1e-9]
