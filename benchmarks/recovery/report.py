"""The page: what methods find, by situation."""

import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence

from benchmarks.common import number, table
from benchmarks.recovery import calibration
from benchmarks.recovery.plants import GROUPS, HELD_OUT, LITERATURE, TUNED, plants
from benchmarks.recovery.runs import METHODS, PEM, WHITE, Finished, Outcome
from benchmarks.recovery.situations import (
    BREAKS,
    CALIBRATION,
    CALIBRATION_LEVELS,
    MAIN,
    MANY,
    SITUATIONS,
    names_of_parts,
)
from benchmarks.recovery.statistics import (
    CONFIDENCE,
    exact_share,
    mean_cpu,
    median_oracle,
    ratio_to_oracle,
    seconds,
    share,
)

Cell = Callable[[Sequence[Outcome]], str]


def prose(text: str) -> str:
    """Return a paragraph in lines of at most 120 characters."""
    return textwrap.fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False)


class Results:
    """The outcomes of all jobs."""

    def __init__(self, finished: Sequence[Finished]) -> None:
        self.outcomes: list[Outcome] = []
        self.n_data: Counter[str] = Counter()
        for job in finished:
            self.outcomes += job.outcomes
            self.n_data[job.job.situation] += bool(job.outcomes)
        self.seeds = sorted({job.job.seed for job in finished})

    def names(self, *parts: str) -> list[str]:
        """Return the situations of some parts that have data, in the order of their definition."""
        return [name for name in names_of_parts(*parts) if self.n_data[name]]

    def of_parts(self, *parts: str) -> list[Outcome]:
        """Return the outcomes of all methods in some parts."""
        return self._chosen(names_of_parts(*parts), METHODS)

    def of_method(self, method: str, *parts: str) -> list[Outcome]:
        """Return the outcomes of a method in some parts."""
        return self._chosen(names_of_parts(*parts), [method])

    def in_situation(self, situation: str, method: str) -> list[Outcome]:
        """Return the outcomes of a method in a situation."""
        return self._chosen([situation], [method])

    def _chosen(self, situations: Collection[str], methods: Collection[str]) -> list[Outcome]:
        outcomes = []
        for outcome in self.outcomes:
            if outcome.situation in situations and outcome.method in methods:
                outcomes.append(outcome)
        return outcomes

    def plants_with_data(self) -> set[str]:
        """Return the names of the plants that have outcomes."""
        return {outcome.plant for outcome in self.outcomes}

    def cells(self, situation: str, cell: Cell) -> list[str]:
        """Return the cell of each method in a situation."""
        return [cell(self.in_situation(situation, method)) for method in METHODS]

    def total_cells(self, parts: Iterable[str], cell: Cell) -> list[str]:
        """Return the cell of each method in all situations of some parts."""
        return [cell(self.of_method(method, *parts)) for method in METHODS]


def _by_situation(results: Results) -> str:
    """Return a table of exact structures, situations by methods."""
    rows = []
    for name in results.names(MAIN, MANY, BREAKS):
        rows.append([name, *results.cells(name, _exact_if_possible)])
    rows.append(["all", *results.total_cells([MAIN, MANY], exact_share)])
    return table(["situation", *METHODS], rows)


def _inside(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return the outcomes in data sets whose true terms are candidates."""
    return [outcome for outcome in outcomes if outcome.is_inside]


def _situations(results: Results) -> str:
    rows = []
    for name in results.names(MAIN, MANY, BREAKS):
        situation = SITUATIONS[name]
        texts = [situation.words, f"{situation.snr_db:g} dB", str(situation.samples)]
        rows.append([name, *texts, str(results.n_data[name])])
    return table(["situation", "what", "SNR", "samples", "data sets"], rows)


def _fresh(results: Results) -> str:
    rows = []
    for name in results.names(MAIN, MANY, BREAKS):
        oracle = median_oracle(results.in_situation(name, PEM))
        rows.append([name, *results.cells(name, ratio_to_oracle), oracle])
    return table(["situation", *METHODS, "oracle: error"], rows)


def _cpu(results: Results) -> str:
    ratio = mean_cpu(results.of_method(PEM, MAIN)) / mean_cpu(results.of_method(WHITE, MAIN))
    rows = [["all but many candidates", *results.total_cells([MAIN], seconds), number(ratio, 2)]]
    return table(["situation", *METHODS, "pem over white only"], rows)


def _filters_on_white(results: Results) -> str:
    """Return the share of filters under white Gaussian noise, where a filter of the noise is one too many."""
    flags = []
    for outcome in results.of_method(PEM, MAIN):
        if outcome.situation.startswith("white ") and outcome.said.has_filter is not None:
            flags.append(outcome.said.has_filter)
    return share(flags)


def _failures(results: Results) -> str:
    outcomes = results.of_method(PEM, MAIN, MANY)
    failed = [outcome for outcome in outcomes if not outcome.is_exact]
    reasons = Counter(outcome.reason or "not judged" for outcome in failed)
    by_reason = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
    summary = f"{len(failed)} of {len(outcomes)} data sets"
    if by_reason:
        summary += f": {by_reason}"
    return f"""{summary}.
*weak term*: without one of its terms the true structure has a lower criterion. *criterion*: another structure has, none
of the true terms being weak. *search*: the true structure has the lower criterion, and was not reached. The true
structure is fitted under the true noise model.
"""


def _groups(results: Results) -> str:
    rows = []
    for method in METHODS:
        rows.append([method, *_group_cells(results.of_method(method, MAIN))])
    return table(["method", *GROUPS], rows)


def _group_cells(outcomes: Sequence[Outcome]) -> list[str]:
    by_group: dict[str, list[Outcome]] = {group: [] for group in GROUPS}
    for outcome in outcomes:
        by_group[outcome.group].append(outcome)
    return list(map(exact_share, by_group.values()))


def _systems(results: Results) -> str:
    counts = Counter(plants()[name].group for name in results.plants_with_data())
    return ", ".join(f"{group} ({counts[group]})" for group in GROUPS)


def _exact_if_possible(outcomes: Sequence[Outcome]) -> str:
    return exact_share(_inside(outcomes))


def _listed(values: Iterable[float]) -> str:
    return " or ".join(map("{:g}".format, sorted(set(values))))


def _calibration(results: Results) -> str:
    hard = results.of_method(PEM, CALIBRATION)
    return f"""{_probabilities(hard) if hard else "No data."}

## Intervals of weights

Nominal coverage 90 %; exact structures only, without the constant; on the data of the tables above.

{calibration.coverage(results.of_parts(MAIN))}
## Warnings

{calibration.warnings(_warned(results))}"""


def _probabilities(hard: Sequence[Outcome]) -> str:
    snrs, samples = zip(*CALIBRATION_LEVELS, strict=True)
    levels = prose(
        f"""{len(hard)} further data sets: each kind of noise for each system, at an SNR of
        {_listed(snrs)} dB and with {_listed(samples)} samples, in turn."""
    )
    return f"""{levels}

## Probabilities

{calibration.probabilities(hard)}"""


def _warned(results: Results) -> dict[str, Sequence[Outcome]]:
    groups: dict[str, Sequence[Outcome]] = {"situations above": results.of_method(PEM, MAIN, MANY)}
    for name in results.names(BREAKS):
        groups[name] = results.in_situation(name, PEM)
    groups["calibration"] = results.of_method(PEM, CALIBRATION)
    return {label: outcomes for label, outcomes in groups.items() if outcomes}


def page(results: Results) -> str:
    """Return the page."""
    counts = Counter(plants()[name].group for name in results.plants_with_data())
    shipped = counts[TUNED] + counts[HELD_OUT]
    seeds = ", ".join(map(str, results.seeds))
    n_data = sum(results.n_data[name] for name in results.names(MAIN, MANY, BREAKS))
    introduction = prose(
        f"""{shipped} shipped systems and {counts[LITERATURE]} from the literature ([their files](systems)):
        {n_data} data sets with the data seeds {seeds}. Exact: exactly the terms of the system. Where pem's noise
        model is integrated, the constant, which such noise hides, does not count. In brackets: interval of
        {CONFIDENCE:.0%} by Clopper and Pearson with systems as units. The coefficients of coloured noise are drawn
        anew for each data set. Data that diverge are left out. `python -m benchmarks.recovery` makes this file."""
    )
    return f"""# How often the true terms are found, by the noise in the data

{introduction}

{_situations(results)}
## Exact structures

{_by_situation(results)}
*{WHITE}*: pem without filters, drift and Student-t. Under white Gaussian noise pem chose
a filter in {_filters_on_white(results)}.
*all*: without the last {len(results.names(BREAKS))} situations, in which methods break. Where lags are missing no
structure is exact. The square of a binary input is nearly constant.

## Error on fresh data

RRSE of the free run on a new input without noise, over the oracle's, median. The oracle has the true terms and
the true noise model, or the one of lowest criterion where none is true. Under drift the level does not count.

{_fresh(results)}
## CPU seconds: mean / largest

{_cpu(results)}
## What pem does not find

{_failures(results)}
## Systems by origin

{_systems(results)}.
*{TUNED}*: pem was developed on these systems, with other data seeds. *{HELD_OUT}*: no method was developed on them.
*{LITERATURE}*: not shipped, and used for development with other data seeds.

{_groups(results)}
# Whether what pem says is true

{_calibration(results)}
"""
