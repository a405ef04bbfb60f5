"""The page: what methods find, by situation."""

import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from benchmarks.common import number, table
from benchmarks.recovery import calibration
from benchmarks.recovery.judge import REASONS, WEAK_TERM
from benchmarks.recovery.plants import GROUPS, HELD_OUT, LITERATURE, TUNED, plants
from benchmarks.recovery.runs import METHODS, PEM, WHITE, Finished, Outcome
from benchmarks.recovery.situations import BREAKS, CALIBRATION, CALIBRATION_LEVELS, MAIN, MANY, SITUATIONS
from benchmarks.recovery.statistics import (
    CONFIDENCE,
    NOTHING,
    exact_share,
    mean_cpu,
    median_oracle,
    ratio_to_oracle,
    seconds,
    share,
)
from narxbench._model.noise_models import NOISE_MODELS

# Situations with white Gaussian noise only, in which a filter of the noise is one too many.
WHITE_SITUATIONS = tuple(
    name for name, situation in SITUATIONS.items() if name.startswith("white ") and situation.part == MAIN
)
# Failures that are listed, at most.
MOST_FAILURES = 40

Cell = Callable[[Sequence[Outcome]], str]


def prose(text: str) -> str:
    """Return a paragraph in lines of at most 120 characters."""
    return textwrap.fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False)


class Results:
    """The outcomes of all jobs, and what of them diverged."""

    def __init__(self, finished: Sequence[Finished]) -> None:
        self.outcomes = [outcome for job in finished for outcome in job.outcomes]
        self.n_data = Counter(job.job.situation for job in finished if job.outcomes)
        self.diverged = Counter(job.job.situation for job in finished if job.has_diverged)
        self.seeds = sorted({job.job.seed for job in finished})

    def names(self, *parts: str) -> list[str]:
        """Return the situations of some parts that have data, in the order of their definition."""
        return [name for name, situation in SITUATIONS.items() if situation.part in parts and self.n_data[name]]

    def of_parts(self, *parts: str, method: str | None = None) -> list[Outcome]:
        """Return the outcomes of some parts, of one method or of all."""
        chosen = [outcome for outcome in self.outcomes if SITUATIONS[outcome.situation].part in parts]
        return [outcome for outcome in chosen if method in (None, outcome.method)]

    def of(self, situation: str, method: str) -> list[Outcome]:
        """Return the outcomes of a method in a situation."""
        return [o for o in self.outcomes if o.situation == situation and o.method == method]


def _by_situation(results: Results, parts: tuple[str, ...], cell: Cell, *, total: bool) -> str:
    """Return a table of situations by methods."""
    rows = [[name, *(cell(results.of(name, method)) for method in METHODS)] for name in results.names(*parts)]
    if total:
        rows.append(["all", *(cell(results.of_parts(*parts, method=method)) for method in METHODS)])
    return table(["situation", *METHODS], rows)


def _reasons(results: Results) -> str:
    """Return a table of why pem misses true structures, by situation, and of its share where every true term pays."""
    rows = []
    for name in results.names(MAIN, MANY, BREAKS):
        inside = [outcome for outcome in results.of(name, PEM) if outcome.is_inside]
        missed = Counter(outcome.reason for outcome in inside if not outcome.is_exact)
        paying = [outcome for outcome in inside if outcome.reason != WEAK_TERM]
        counts = [str(missed[reason]) for reason in REASONS]
        rows.append([name, str(len(inside)), *counts, exact_share(paying)])
    return table(["situation", "data sets", *REASONS, "exact, but for weak terms"], rows)


def _situations(results: Results) -> str:
    rows = []
    for name in results.names(MAIN, MANY, BREAKS):
        situation = SITUATIONS[name]
        texts = [situation.words, f"{situation.snr_db:g} dB", str(situation.samples)]
        rows.append([name, *texts, str(results.n_data[name]), str(results.diverged[name])])
    return table(["situation", "what", "SNR", "samples", "data sets", "diverged"], rows)


def _fresh(results: Results, parts: tuple[str, ...]) -> str:
    rows = []
    for name in results.names(*parts):
        ratios = [ratio_to_oracle(results.of(name, method)) for method in METHODS]
        rows.append([name, *ratios, median_oracle(results.of(name, PEM))])
    return table(["situation", *METHODS, "oracle: error"], rows)


def _cpu(results: Results) -> str:
    rows = []
    for name in results.names(MAIN, MANY):
        ratio = mean_cpu(results.of(name, PEM)) / mean_cpu(results.of(name, WHITE))
        rows.append([name, *(seconds(results.of(name, method)) for method in METHODS), number(ratio, 2)])
    ratio = mean_cpu(results.of_parts(MAIN, method=PEM)) / mean_cpu(results.of_parts(MAIN, method=WHITE))
    totals = [seconds(results.of_parts(MAIN, method=method)) for method in METHODS]
    rows.append(["all but many candidates", *totals, number(ratio, 2)])
    return table(["situation", *METHODS, "pem over white only"], rows)


def _noise(results: Results) -> str:
    rows = []
    for name in results.names(MAIN, MANY, BREAKS):
        said = [outcome.said for outcome in results.of(name, PEM)]
        counts = Counter(words.noise_name for words in said)
        integrated = sum(words.is_integrated for words in said)
        heavy = sum("Student" in (words.noise or "") for words in said)
        cells = [str(counts[family]) for family in NOISE_MODELS]
        rows.append([name, *cells, str(integrated), str(heavy)])
    return table(["situation", *NOISE_MODELS, "with drift", "with Student-t"], rows)


def _filters_on_white(results: Results) -> str:
    said = [o.said.has_filter for name in WHITE_SITUATIONS for o in results.of(name, PEM)]
    return share(bool(flag) for flag in said if flag is not None)


def _failures(results: Results) -> str:
    failed = [outcome for outcome in results.of_parts(MAIN, MANY, method=PEM) if not outcome.is_exact]
    reasons = Counter(outcome.reason for outcome in failed)
    counted: Counter[tuple[str, ...]] = Counter()
    situations: dict[tuple[str, ...], set[str]] = {}
    for outcome in failed:
        key = outcome.plant, outcome.reason, ", ".join(outcome.missed), ", ".join(outcome.spurious)
        counted[key] += 1
        situations.setdefault(key, set()).add(outcome.situation)
    ordered = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    rows = [[*key, ", ".join(sorted(situations[key])), str(count)] for key, count in ordered[:MOST_FAILURES]]
    rest = sum(count for _, count in ordered[MOST_FAILURES:])
    by_reason = ", ".join(f"{reason or 'not judged'} {count}" for reason, count in reasons.most_common())
    n_data = len(results.of_parts(MAIN, MANY, method=PEM))
    return f"""{len(failed)} of {n_data} data sets{": " if by_reason else ""}{by_reason}.
*weak term*: without one of its terms the true structure has a lower criterion. *criterion*: another structure has, none
of the true terms being weak. *search*: the true structure has the lower criterion, and was not reached. The true
structure is fitted under the true noise model. Only what is missed by the search could be found from a better start,
such as one by instrumental variables under input noise.

{_reasons(results)}

{table(["system", "reason", "missed", "spurious", "situations", "data sets"], rows)}
Not listed, as they are rarer: {rest} data sets.
"""


def _groups(results: Results) -> str:
    names = results.names(MAIN)
    outcomes = results.of_parts(MAIN)
    rows = [[name, *_group_cells(results.of(name, PEM))] for name in names]
    totals = [[method, *_group_cells([o for o in outcomes if o.method == method])] for method in METHODS]
    return f"""### pem, by situation

{table(["situation", *GROUPS], rows)}
### All methods, all situations

{table(["method", *GROUPS], totals)}"""


def _group_cells(outcomes: Sequence[Outcome]) -> list[str]:
    return [exact_share([outcome for outcome in outcomes if outcome.group == group]) for group in GROUPS]


def _systems(results: Results) -> str:
    used = {outcome.plant for outcome in results.outcomes}
    lines = []
    for group in GROUPS:
        names = [name for name, plant in plants().items() if plant.group == group and name in used]
        lines.append(f"- {group} ({len(names)}): {', '.join(names) or NOTHING}")
    return "\n".join(lines)


def quotation(results: Results) -> str:
    """Return the table for the documentation: exact structures, and fresh errors next to the oracle's, by situation."""
    rows = []
    for name in results.names(MAIN, MANY, BREAKS):
        outcomes = results.of(name, PEM)
        paying = _exact_if_possible([outcome for outcome in outcomes if outcome.reason != WEAK_TERM])
        white = _exact_if_possible(results.of(name, WHITE))
        shares = [_exact_if_possible(outcomes), paying, white]
        rows.append([name, SITUATIONS[name].words, *shares, ratio_to_oracle(outcomes)])
    header = ["data", "noise and input", PEM, "but for weak terms", WHITE, "fresh error over the oracle's"]
    return table(header, rows)


def _breaks(results: Results) -> str:
    exact = _by_situation(results, (BREAKS,), _exact_if_possible, total=False)
    return f"""{exact}
Error on fresh data over that of the oracle, median:

{_fresh(results, (BREAKS,))}
Where lags are missing no structure is exact; the oracle has them. With a binary input the square of an input is
constant, or nearly a multiple of the input, so that several structures have the same data.
"""


def _exact_if_possible(outcomes: Sequence[Outcome]) -> str:
    return exact_share([outcome for outcome in outcomes if outcome.is_inside])


def _listed(values: Iterable[float]) -> str:
    return " or ".join(f"{value:g}" for value in sorted(set(values)))


def _calibration(results: Results) -> str:
    hard = results.of_parts(CALIBRATION, method=PEM)
    return f"""{_probabilities(hard) if hard else "No data."}

## Intervals of weights

Nominal coverage 90 %; exact structures only, without the constant; on the data of the tables above.

{calibration.coverage(results.of_parts(MAIN))}
## Warnings

{calibration.warnings(_warned(results))}"""


def _probabilities(hard: Sequence[Outcome]) -> str:
    levels = prose(
        f"""{len(hard)} data sets of their own: each kind of noise for each system, at an SNR of
        {_listed(level for level, _ in CALIBRATION_LEVELS)} dB and with {_listed(n for _, n in CALIBRATION_LEVELS)}
        samples, in turn."""
    )
    return f"""{levels}

{calibration.exact_by_kind(hard)}
## Probabilities

{calibration.probabilities(hard)}"""


def _warned(results: Results) -> dict[str, Sequence[Outcome]]:
    groups: dict[str, Sequence[Outcome]] = {
        "situations above": results.of_parts(MAIN, MANY, method=PEM),
        **{name: results.of(name, PEM) for name in results.names(BREAKS)},
        "calibration": results.of_parts(CALIBRATION, method=PEM),
    }
    return {label: outcomes for label, outcomes in groups.items() if outcomes}


def page(results: Results) -> str:
    """Return the page."""
    counts = Counter(plants()[name].group for name in {outcome.plant for outcome in results.outcomes})
    shipped = counts[TUNED] + counts[HELD_OUT]
    seeds = ", ".join(map(str, results.seeds))
    n_data = sum(results.n_data[name] for name in results.names(MAIN, MANY, BREAKS))
    noise_words = prose(
        f"""Data sets by family, and how many of them with drift and with Student-t innovations. Under white Gaussian
        noise it chose a filter in {_filters_on_white(results)}."""
    )
    introduction = prose(
        f"""{shipped} shipped systems and {counts[LITERATURE]} from the literature that are not shipped ([their
        files](systems)), {len(results.names(MAIN, MANY))} situations and {len(results.names(BREAKS))} in which methods
        break: {n_data} data sets with the data seeds {seeds}. Exact: exactly the terms of the system; where pem's noise
        model is integrated, the constant, which such noise hides, does not count. In brackets: interval of
        {CONFIDENCE:.0%} by Clopper and Pearson, the systems being the units: it takes the sum of their shares for a
        count. The coefficients of coloured noise are drawn anew for each data set; its variance, behind the filter and
        where it enters, is that of the noise-free output over the SNR. Noise terms of the systems' files are left out.
        Data that diverge are counted and left out. `python -m benchmarks.recovery` makes this file."""
    )
    return f"""# How often the true terms are found, by the noise in the data

{introduction}

{_situations(results)}
## Exact structures

{_by_situation(results, (MAIN, MANY), exact_share, total=True)}
*{WHITE}*: pem without filters, drift and Student-t.

## Error on fresh data

RRSE of the free run on a new input without noise, over that of the oracle, median. The oracle has the true terms and
the true noise model, and estimates their coefficients; where no noise model is true, it has that of lowest criterion
among several. Under drift and random walk the level of the output does not count.

{_fresh(results, (MAIN, MANY))}
## CPU seconds: mean / largest

{_cpu(results)}
## The noise model that pem chose

{noise_words}

{_noise(results)}
## What pem does not find

{_failures(results)}
## Systems by origin

{_systems(results)}

*{TUNED}*: pem was developed on these systems, with other data seeds. *{HELD_OUT}*: nothing was developed on them.
*{LITERATURE}*: not shipped; used for development with other data seeds.

{_groups(results)}
## Where it breaks

{_breaks(results)}
# Whether what pem says is true

{_calibration(results)}
"""
