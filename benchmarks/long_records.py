"""Long records: the savings and the losses of searches that simulate only segments of the validation part."""

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

import narxbench
from benchmarks.common import SYSTEMS, Part, Row, cpu_seconds, result_rows, size_of

SAMPLES, LONG = 20_000, 660_000
VALIDATION_SHARE = 0.3
SNRS = (30, 10)
DATA_SEEDS = {"full": (1, 2, 3, 4, 5), "quick": (1,)}
ROUNDS = {"full": 3, "quick": 1}
EVALUATIONS = 6000
# Seeds of each algorithm: the first descent of the stepwise search draws nothing.
STEPWISE, UPSO = "stepwise", "upso2d"
SEARCHES = {"full": ((STEPWISE, 1), (UPSO, 1), (UPSO, 2), (UPSO, 3)), "quick": ((STEPWISE, 1), (UPSO, 1))}
WHOLE, PIECES = "whole", "10 pieces"
CUTS = ((40, 100), (20, 100), (1, 1000), (10, 100), (100, 10), (10, 50))
CUT = {f"{count} x {length}": count * length for count, length in CUTS}
# A selection is good if no search loses more than this in the free run over the whole validation part.
TOLERANCE = 0.02

Problems = dict[str, narxbench.StructureProblem]
Case = tuple[narxbench.System, int, int]  # system, SNR in dB, seed of the data


def run(quick: bool) -> Part:
    """Search with every selection on every data set, then measure the cost on a long record."""
    size = size_of(quick)
    systems = list(map(narxbench.load_system, SYSTEMS))
    warm = _problems((systems[0], SNRS[0], 1), SAMPLES, [WHOLE])[WHOLE]
    for algorithm, seed in SEARCHES[size]:
        narxbench.search(warm, algorithm=algorithm, seed=seed, evaluations=100)  # compilation
    outcomes: list[dict[str, Any]] = []
    for case in itertools.product(systems, SNRS, DATA_SEEDS[size]):
        outcomes += _outcomes(case, SEARCHES[size])
    effect = pd.DataFrame(outcomes)
    problems, times = _problems((systems[0], SNRS[0], 1), LONG, (WHOLE, PIECES, *CUT)), []
    for _ in range(ROUNDS[size]):
        for algorithm in (STEPWISE, UPSO):
            for name, problem in problems.items():
                times.append((algorithm, name, _search(problem, algorithm, 1)[1]))
    frame = pd.DataFrame(times, columns=["algorithm", "selection", "us"])
    cost = frame.groupby(["algorithm", "selection"], sort=False)["us"].median()
    return Part("\n".join([_introduction(size), _conclusions(effect, cost)]), _rows(effect, cost))


def _rows(effect: pd.DataFrame, cost: Any) -> list[Row]:
    """Return the means of each system, SNR, search and selection, and the cost on the long record."""
    rows = []
    means = effect.groupby(["system", "snr", "algorithm", "selection"], sort=False)[["exact", "gap", "ratio"]].mean()
    for (system, snr, algorithm, name), values in means.iterrows():
        rows += result_rows("long_records", f"{system} {snr} dB", f"{algorithm}, {name}", values.astype(float))
    for key, us in cost.items():
        rows.append(Row("long_records", f"S1, {LONG} samples", ", ".join(key), "us", float(us)))
    return rows


def _problems(case: Case, samples: int, names: Iterable[str]) -> Problems:
    system, snr, seed = case
    u, y = system.simulate(samples, snr_db=snr, seed=seed)
    total = round(VALIDATION_SHARE * samples)
    settings: dict[str, dict[str, Any]] = {WHOLE: {}, PIECES: {"n_segments": 10}}
    for (count, length), name in zip(CUTS, CUT, strict=True):
        settings[name] = {"n_segments": count, "segment_length": length}
    orders: dict[str, Any] = {"n_u": system.n_u, "n_y": system.n_y, "degree": system.degree, "n_validation": total}
    return {name: narxbench.StructureProblem(u, y, **orders, **settings[name]) for name in names}


def _search(problem: narxbench.StructureProblem, algorithm: str, seed: int) -> tuple[narxbench.SearchResult, float]:
    # The result and µs per evaluation.
    results: list[narxbench.SearchResult] = []
    settings: dict[str, Any] = {"algorithm": algorithm, "seed": seed, "evaluations": EVALUATIONS}
    seconds = cpu_seconds(lambda: results.append(narxbench.search(problem, **settings)))
    return results[0], 1e6 * seconds / results[0].evaluations


def _outcomes(case: Case, searches: Any) -> Iterator[dict[str, Any]]:
    system, snr, _ = case
    true = set(system.terms)
    problems = _problems(case, SAMPLES, (WHOLE, PIECES, *CUT))
    whole = problems[WHOLE]
    for algorithm, search_seed in searches:
        best = _search(whole, algorithm, search_seed)[0]
        for name, problem in problems.items():
            result, us = _search(problem, algorithm, search_seed)
            judged = whole.evaluate(result.terms)
            yield {
                "system": system.name,
                "snr": snr,
                "algorithm": algorithm,
                "selection": name,
                "us": us,
                "exact": set(result.terms) == true,
                "divergent": math.isinf(judged.sse),
                "gap": judged.fitness - best.fitness,
                "ratio": math.sqrt(judged.sse / best.sse),
            }


def _introduction(size: str) -> str:
    return (
        f"## Long records\n\nS1 to S4, {SAMPLES} samples, of which {VALIDATION_SHARE * SAMPLES:.0f} validate; "
        f"{len(DATA_SEEDS[size])} data seed(s), {len(SEARCHES[size]) - 1} of 2D-UPSO, {EVALUATIONS} evaluations, BIC. "
        "The validation part is simulated as one piece, in 10 pieces that fill it, or in segments, number x samples. "
        "Every choice is judged by one free run over the whole validation part, and "
        "the ratio of errors is that to the choice of the same search with the whole part. `results.csv` has each "
        "search and selection.\n"
    )


def _conclusions(effect: pd.DataFrame, cost: Any) -> str:
    cut, few = list(CUT), min(CUT, key=lambda name: CUT[name])
    worst, saving = effect.groupby("selection")["ratio"].max(), cost[UPSO][WHOLE] / cost[UPSO]
    growth = cost[UPSO] / effect[effect["algorithm"] == UPSO].groupby("selection")["us"].median()
    good = [name for name in cut if worst[name] <= 1 + TOLERANCE]
    advice = "none of these selections"
    if good:
        best = min(good, key=lambda name: (CUT[name], worst[name]))
        advice = f"{best} (worst ratio {worst[best]:.3f})"
    return (
        f"With {LONG / SAMPLES:.0f} times the samples an evaluation of 2D-UPSO costs {growth[WHOLE]:.0f} times as much "
        f"with the whole part, {growth[cut].min():.2f} to {growth[cut].max():.2f} times with segments of fixed length "
        f"(S1 against the median of all). On the long record {cut[0]} is {saving[cut[0]]:.0f} times cheaper than the "
        f"whole part, {few} {saving[few]:.0f} times, and {PIECES} {saving[PIECES]:.2f} times.\n\n"
        f"The fewest samples with which no search loses more than {100 * TOLERANCE:.0f} % of the free-run error: "
        f"{advice}. {effect['divergent'].sum()} of {len(effect)} choices diverge over the whole part.\n"
    )
