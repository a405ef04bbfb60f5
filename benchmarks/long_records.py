"""Long records: the savings and the losses of searches that simulate only segments of the validation part."""

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

import narxbench
from benchmarks.common import SYSTEMS, Part, Row, cpu_seconds, number, result_rows, size_of, table

SAMPLES, LONG = 20_000, 660_000
VALIDATION_SHARE = 0.3
SNRS = (30, 10)
DATA_SEEDS = {"full": (1, 2, 3, 4, 5), "quick": (1,)}
ROUNDS = {"full": 3, "quick": 1}
EVALUATIONS = 6000
# Seeds of each algorithm: the first descent of the stepwise search draws nothing.
STEPWISE, UPSO = "stepwise", "upso2d"
SEARCHES = {"full": ((STEPWISE, 1), (UPSO, 1), (UPSO, 2), (UPSO, 3)), "quick": ((STEPWISE, 1), (UPSO, 1))}
WHOLE, PIECES, EXPECTED = "whole", "10 pieces", "whole, penalty of "
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
    return Part("\n".join([_tables(effect, cost, size), _conclusions(effect, cost)]), _rows(effect, cost))


def _rows(effect: pd.DataFrame, cost: Any) -> list[Row]:
    """Return the means of each system, SNR, search and selection, and the cost on the long record."""
    rows = []
    means = effect.groupby(["system", "snr", "algorithm", "selection"], sort=False)[["exact", "gap", "ratio"]].mean()
    for (system, snr, algorithm, name), values in means.iterrows():
        rows += result_rows("long_records", f"{system} {snr} dB", f"{algorithm}, {name}", values.astype(float))
    for key, us in cost.items():
        rows.append(Row("long_records", f"S1, {LONG} samples", ", ".join(key), "us", float(us)))
    return rows


def _problems(case: Case, samples: int, names: Iterable[str], **noise: Any) -> Problems:
    system, snr, seed = case
    u, y = system.simulate(samples, snr_db=snr, seed=seed, **noise)
    total = round(VALIDATION_SHARE * samples)
    settings: dict[str, dict[str, Any]] = {WHOLE: {}, PIECES: {"n_segments": 10}}
    for (count, length), (name, used) in zip(CUTS, CUT.items(), strict=True):
        settings[name] = {"n_segments": count, "segment_length": length}
        # The same penalty, with the mean square error of the whole part, which that of the samples estimates.
        settings[_expected(used)] = {"criterion": f"aic-{total * _least(used)!r}"}
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
    names = dict.fromkeys((WHOLE, PIECES, *CUT, *map(_expected, CUT.values())))
    problems = _problems(case, SAMPLES, names)
    # With noise inside the equation least squares are not biased.
    unbiased = _search(_problems(case, SAMPLES, [WHOLE], noise="equation")[WHOLE], STEPWISE, 1)[0]
    whole = problems[WHOLE]
    for algorithm, search_seed in searches:
        best = _search(whole, algorithm, search_seed)[0]
        for name, problem in problems.items():
            if algorithm != STEPWISE and name.startswith(EXPECTED):
                continue
            result, us = _search(problem, algorithm, search_seed)
            terms, judged = set(result.terms), whole.evaluate(result.terms)
            yield {
                "system": system.name,
                "snr": snr,
                "algorithm": algorithm,
                "selection": name,
                "us": us,
                "terms": len(terms),
                "spurious": len(terms - true),
                "missing": len(true - terms),
                "exact": terms == true,
                "divergent": math.isinf(judged.sse),
                "exact_unbiased": set(unbiased.terms) == true,
                "gap": judged.fitness - best.fitness,
                "gap_of_true": whole.evaluate(true).fitness - best.fitness,
                "ratio": math.sqrt(judged.sse / best.sse),
                "nrmse": math.sqrt(judged.sse / (len(whole.data.measured) * whole.data.measured.var())),
            }


def _expected(samples: int) -> str:
    """Return the selection of the whole part with the penalty of so many samples."""
    return f"{EXPECTED}{samples}"


def _least(samples: int) -> float:
    # BIC, L ln(e) + ln(L) xi, takes a term that lowers ln(e) by more than this.
    return math.log(samples) / samples


def _least_in_words(samples: int) -> str:
    return f"{_least(samples):.4f} with {samples}"


def _tables(effect: pd.DataFrame, cost: Any, size: str) -> str:
    text = (
        f"## Long records\n\nS1 to S4, {SAMPLES} samples, of which {VALIDATION_SHARE * SAMPLES:.0f} validate; "
        f"{len(DATA_SEEDS[size])} data seed(s), {len(SEARCHES[size]) - 1} of 2D-UPSO, {EVALUATIONS} evaluations, BIC. "
        "The validation part is simulated as one piece, in 10 pieces that fill it, or in segments, number x samples. "
        "What to expect of L samples is the choice of the whole part with their penalty: for each term ln(L)/L in the "
        f"logarithm of the mean square error. µs: CPU per evaluation, here / with {LONG} samples of S1. Exact: "
        "searches that choose the true structure. Every choice is judged by one free run over the whole validation "
        "part. Loss of J and ratio of root mean square errors (median / worst): against the choice of the same search "
        "with the whole part. NRMSE: median.\n"
    )
    header = ["search", "µs", "exact", "terms", "spurious", "missing", "loss of J", "ratio", "NRMSE", "divergent"]
    for snr, at_snr in effect.groupby("snr", sort=False):
        lines = []
        for key, group in at_snr.drop(columns="system").groupby(["algorithm", "selection"], sort=False):
            values = group.select_dtypes(["number", "bool"])
            mean, median, worst = values.mean(), values.median(), values.max()
            line = f"{', '.join(key)}|{number(median.us)} / {number(cost.get(key, math.nan))}|{100 * mean.exact:.0f} %|"
            line += f"{mean.terms:.1f}|{mean.spurious:.1f}|{mean.missing:.1f}|{median.gap:.1f} / {worst.gap:.1f}|"
            line += f"{median.ratio:.3f} / {worst.ratio:.3f}|{median.nrmse:.4f}|{group['divergent'].sum()}"
            lines.append(line.split("|"))
        text += f"\n{snr} dB:\n\n{table(header, lines)}"
    return text


def _conclusions(effect: pd.DataFrame, cost: Any) -> str:
    cut, few = list(CUT), min(CUT, key=lambda name: CUT[name])
    worst, saving = effect.groupby("selection")["ratio"].max(), cost[UPSO][WHOLE] / cost[UPSO]
    growth = cost[UPSO] / effect[effect["algorithm"] == UPSO].groupby("selection")["us"].median()
    text = (
        f"With {LONG / SAMPLES:.0f} times the samples an evaluation of 2D-UPSO costs {growth[WHOLE]:.0f} times as much "
        f"with the whole part, {growth[cut].min():.2f} to {growth[cut].max():.2f} times with segments of fixed length "
        f"(S1 against the median of all). On the long record {cut[0]} is {saving[cut[0]]:.0f} times cheaper than the "
        f"whole part, {few} {saving[few]:.0f} times, and {PIECES} {saving[PIECES]:.2f} times.\n\n"
        "BIC takes a term that lowers ln(e) by more than ln(L)/L, so fewer samples lose weak terms: "
        f"{', '.join(map(_least_in_words, sorted({*CUT.values()}, reverse=True)))} samples, "
        f"{_least(round(VALIDATION_SHARE * SAMPLES)):.4f} with the whole part."
    )
    equal = [name for name in cut if CUT[name] == pd.Series(CUT).mode()[0]]
    spurious = []
    for snr, at_snr in effect[effect["algorithm"] == STEPWISE].groupby("snr", sort=False):
        mean = at_snr.groupby("selection")[["terms", "exact", "exact_unbiased", "spurious"]].mean()
        gap = at_snr[at_snr["selection"] == WHOLE]["gap_of_true"]
        expected_terms = mean.terms[list(map(_expected, CUT.values()))].to_numpy()
        beyond = mean.terms[cut] - expected_terms
        spurious.append(f"{', '.join(map('{:.1f}'.format, mean.spurious[equal]))} at {snr} dB")
        text += (
            f" At {snr} dB the stepwise search chooses {mean.terms[WHOLE]:.1f} terms with the whole part and "
            f"{mean.terms[few]:.1f} with {few}, where {mean.terms[_expected(CUT[few])]:.1f} are expected (terms "
            f"beyond the expected: {beyond.min():+.1f} to {beyond.max():+.1f}, most with {beyond.idxmax()}). Over the "
            f"whole part the true structure has a higher J than the choice for {100 * (gap > 0).mean():.0f} % of the "
            f"data sets, by {gap.median():.1f} in the median; it is the choice for {100 * mean.exact[WHOLE]:.0f} % ("
            f"{100 * mean.exact_unbiased[WHOLE]:.0f} % if the noise acts inside the equation, where it does not bias "
            f"least squares), with {few} for {100 * mean.exact[few]:.0f} %."
        )
    good = [name for name in cut if worst[name] <= 1 + TOLERANCE]
    advice = "none of these selections"
    if good:
        best = min(good, key=lambda name: (CUT[name], worst[name]))
        advice = f"{best} (worst ratio {worst[best]:.3f})"
    return (
        f"{text}\n\n{CUT[equal[0]]} samples as {', '.join(equal)}: the worst ratios of errors are "
        f"{', '.join(map('{:.3f}'.format, worst[equal]))}, the spurious terms of the stepwise search "
        f"{'; '.join(spurious)}. {effect['divergent'].sum()} of {len(effect)} choices diverge over the whole part.\n\n"
        f"The fewest samples with which no search loses more than {100 * TOLERANCE:.0f} % of the free-run error: "
        f"{advice}.\n"
    )
