"""Cells: the summary of all runs of one system, SNR, search and criterion."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench.analysis.metrics import final_structure, selection_frequency, selections, spurious_terms
from narxbench.experiment.runs import Run
from narxbench.fitness.problem import StructureProblem
from narxbench.io.files import sha256
from narxbench.model.system import System
from narxbench.numerics.random_streams import generator

# Points of the stored convergence curve.
CURVE_POINTS = 200


def summarise(
    runs: Sequence[Run],
    problem: StructureProblem,
    system: System,
    *,
    true_fitness: Sequence[float],
    evaluations: int,
    threshold: float,
    confidence: float,
    bootstrap_samples: int,
) -> dict[str, Any]:
    """Return the summary of one cell, ready for JSON.

    The runs are those of :func:`narxbench.runs.read_runs`, which sees to it that they belong together. ``problem`` is
    that of the first; ``true_fitness`` holds the J of the true structure on each run's data set.
    """
    axes = runs[0].axes
    digests = list(dict.fromkeys(run.data_sha256 for run in runs))
    selected = selections((run.terms for run in runs), problem.terms)
    counts = [int(c) for c in selected.sum(axis=0)]
    is_system = np.array([term in system.terms for term in problem.terms])
    frequencies = [selection_frequency(c, len(runs), confidence) for c in counts]
    axis_text = {"system": axes.system, "snr_db": axes.snr_db, "search": axes.search, "criterion": axes.criterion}
    spurious = spurious_terms(
        selected,
        is_system,
        generator(purpose="bootstrap", **axis_text),
        confidence=confidence,
        resamples=bootstrap_samples,
    )
    final = final_structure(counts, len(runs), problem.terms, threshold)
    found = [run for run in runs if run.fitness is not None]
    best = min(found, key=lambda run: run.fitness or 0.0, default=None)
    true = problem.evaluate(system.terms)
    return {
        **axis_text,
        "snr_db": float(axes.snr_db),
        "algorithm": runs[0].algorithm,
        "settings": runs[0].settings,
        "data_sha256": digests[0] if len(digests) == 1 else sha256("\n".join(digests)),
        "realisations": len(digests),
        "versions": runs[0].versions,
        "runs": len(runs),
        "seeds": [run.axes.seed for run in runs],
        "evaluations": evaluations,
        "n_terms": len(problem.terms),
        "terms": [
            {
                "term": term,
                "system_term": bool(known),
                "count": count,
                "frequency": nu.value,
                "low": nu.low,
                "high": nu.high,
            }
            for term, known, count, nu in zip(problem.terms, is_system, counts, frequencies, strict=True)
        ],
        "spurious_ratio": asdict(spurious.ratio),
        "spurious_frequency_max": {
            **asdict(spurious.frequency_max),
            "term": None if spurious.most_frequent is None else problem.terms[spurious.most_frequent],
        },
        "threshold": threshold,
        "confidence": confidence,
        "final_structure": final,
        "final_model": _final_model(problem, final),
        "measured": problem.data.measured.tolist(),
        "final_is_exact": set(final) == set(system.terms),
        "exact_runs": sum(set(run.terms) == set(system.terms) for run in runs),
        "fitness": [run.fitness for run in runs],
        "true_fitness": [value if math.isfinite(value) else None for value in true_fitness],
        "cardinality": [len(run.terms) for run in runs],
        "true_structure": {
            "terms": true.terms,
            "true_coefficients": system.coefficients,
            "coefficients": true.coefficients,
            "fitness": true.fitness if math.isfinite(true.fitness) else None,
        },
        "best_run": best
        and {
            "seed": best.axes.seed,
            "fitness": best.fitness,
            "sse": best.sse,
            "terms": best.terms,
            "coefficients": best.coefficients,
        },
        "histories": [run.history.model_dump() for run in runs],
        "convergence": _convergence(runs, max(run.evaluations for run in runs)),
    }


def _final_model(problem: StructureProblem, terms: list[str]) -> dict[str, Any]:
    model = problem.evaluate(terms)
    finite = math.isfinite(model.fitness)
    return {
        "terms": terms,
        "coefficients": model.coefficients,
        "fitness": model.fitness if finite else None,
        "sse": model.sse if finite else None,
        "prediction": problem.predict(terms).tolist() if finite else None,
    }


def _convergence(runs: Sequence[Run], evaluations: int) -> dict[str, Any]:
    grid = sorted({math.ceil(evaluations * i / CURVE_POINTS) for i in range(1, CURVE_POINTS + 1)})
    curves = np.array([_best_so_far(run, grid) for run in runs])
    finite = [bool(column) for column in np.isfinite(curves).all(axis=0)]
    # math.fsum is correctly rounded; NumPy's mean depends on the processor's vector width.
    return {
        "evaluations": grid,
        "mean": [math.fsum(c) / len(runs) if ok else None for c, ok in zip(curves.T.tolist(), finite, strict=True)],
        "low": _quantile(curves, 0.25),
        "high": _quantile(curves, 0.75),
    }


def _best_so_far(run: Run, grid: Sequence[int]) -> NDArray[np.float64]:
    best = np.array([np.inf, *run.history.fitness])
    return best[np.searchsorted(run.history.evaluations, grid, side="right")]


def _quantile(curves: NDArray[np.float64], share: float) -> list[float | None]:
    # The value of a run, not one between two runs: some may still be infinite.
    ordered = np.sort(curves, axis=0)[math.ceil(share * len(curves)) - 1]
    return [float(v) if math.isfinite(v) else None for v in ordered]
