"""Whether what pem says of its models is true: probabilities, intervals of weights, warnings."""

import math
from collections.abc import Sequence

from benchmarks.common import table
from benchmarks.recovery.runs import PEM, Outcome
from benchmarks.recovery.statistics import NOTHING, share

# Edges of the eight bins of probabilities; below the first a term is not listed.
EDGES = (0.005, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99, 1.0)

Pair = tuple[float, bool]


def reliability(pairs: Sequence[Pair]) -> list[list[str]]:
    """Return a row for each bin of probabilities: its range, the mean said, the share that is true and the count."""
    rows = []
    # The last bin has its upper edge.
    ends = [*EDGES[1:-1], math.inf]
    for low, high, end in zip(EDGES[:-1], EDGES[1:], ends, strict=True):
        members = [pair for pair in pairs if low <= pair[0] < end]
        rows.append([f"{low:g} to {high:g}", *_means(members), str(len(members))])
    return rows


def _means(pairs: Sequence[Pair]) -> list[str]:
    """Return the mean probability and the share that is true, as text."""
    if not pairs:
        return [NOTHING, NOTHING]
    probabilities_said, truths = zip(*pairs, strict=True)
    return [f"{sum(probabilities_said) / len(pairs):.3f}", f"{sum(truths) / len(pairs):.3f}"]


def of_terms(outcomes: Sequence[Outcome]) -> list[Pair]:
    """Return all probabilities of terms, and whether each term is true."""
    pairs: list[Pair] = []
    for outcome in outcomes:
        pairs += outcome.said.terms or ()
    return pairs


def of_structures(outcomes: Sequence[Outcome]) -> list[Pair]:
    """Return the probability of the most probable structure of each data set, and whether it is exact."""
    return [outcome.said.structure for outcome in outcomes if outcome.said.structure is not None]


def probabilities(outcomes: Sequence[Outcome]) -> str:
    """Return the section about probabilities."""
    header = ["said", "mean said", "true", "count"]
    counts = [outcome.said.unlisted for outcome in outcomes if outcome.said.terms is not None]
    unlisted = str(sum(counts)) if counts else NOTHING
    return f"""True terms whose probability is below {EDGES[0]:g}: {unlisted}.

### Terms

{table(header, reliability(of_terms(outcomes)))}
### The most probable structure

{table(header, reliability(of_structures(outcomes)))}"""


def coverage(outcomes: Sequence[Outcome]) -> str:
    """Return a table of how many true weights the nominal intervals of 90 % hold, by situation."""
    exact: dict[str, list[Outcome]] = {outcome.situation: [] for outcome in outcomes}
    for outcome in outcomes:
        if outcome.method == PEM and outcome.is_exact:
            exact[outcome.situation].append(outcome)
    rows = []
    for name, exact_outcomes in exact.items():
        classical: list[bool] = []
        for outcome in exact_outcomes:
            classical += [is_within for is_within, _ in outcome.said.covered or ()]
        rows.append([name, share(classical)])
    return table(["situation", "weights within"], rows)


def warnings(groups: dict[str, Sequence[Outcome]]) -> str:
    """Return a table of the structures with a warning, right and wrong, for groups of outcomes."""
    rows = []
    for label, outcomes in groups.items():
        wrong: list[bool] = []
        right: list[bool] = []
        for outcome in outcomes:
            if outcome.said.warnings is not None:
                flags = right if outcome.is_exact else wrong
                flags.append(bool(outcome.said.warnings))
        rows.append([label, share(wrong), share(right)])
    return table(["data", "wrong structures with a warning", "right structures with one"], rows)
