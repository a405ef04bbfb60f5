"""Whether what pem says of its models is true: probabilities, intervals of weights, warnings."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from benchmarks.common import table
from benchmarks.recovery.runs import PEM, Outcome
from benchmarks.recovery.situations import CALIBRATION_KINDS, SITUATIONS
from benchmarks.recovery.statistics import NOTHING, share

# Edges of the eight bins of probabilities; below the first a term is not listed.
EDGES = (0.005, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99, 1.0)

Pair = tuple[float, bool]


def reliability(pairs: Sequence[Pair]) -> list[list[str]]:
    """Return a row for each bin of probabilities: its range, the mean said, the share that is true and the count."""
    rows = []
    for low, high in pairwise(EDGES):
        is_last = high == EDGES[-1]
        members = [pair for pair in pairs if low <= pair[0] < high or (is_last and pair[0] >= high)]
        said = sum(probability for probability, _ in members) / len(members) if members else 0.0
        true = sum(truth for _, truth in members) / len(members) if members else 0.0
        cells = [f"{said:.3f}", f"{true:.3f}"] if members else [NOTHING, NOTHING]
        rows.append([f"{low:g} to {high:g}", *cells, str(len(members))])
    return rows


def of_terms(outcomes: Sequence[Outcome]) -> list[Pair]:
    """Return all probabilities of terms, and whether each term is true."""
    return [pair for outcome in outcomes for pair in outcome.said.terms or ()]


def of_structures(outcomes: Sequence[Outcome]) -> list[Pair]:
    """Return the probability of the most probable structure of each data set, and whether it is exact."""
    return [outcome.said.structure for outcome in outcomes if outcome.said.structure is not None]


def probabilities(outcomes: Sequence[Outcome]) -> str:
    """Return the section about probabilities."""
    header = ["said", "mean said", "true", "count"]
    has_terms = [outcome for outcome in outcomes if outcome.said.terms is not None]
    unlisted = str(sum(outcome.said.unlisted for outcome in has_terms)) if has_terms else NOTHING
    return f"""True terms that have no probability, as it is below {EDGES[0]:g}: {unlisted}.

### Terms

{table(header, reliability(of_terms(outcomes)))}
### The most probable structure

{table(header, reliability(of_structures(outcomes)))}"""


def _kind(outcome: Outcome) -> str:
    situation = SITUATIONS[outcome.situation]
    return situation.kind or outcome.situation


def exact_by_kind(outcomes: Sequence[Outcome]) -> str:
    """Return a table of the exact structures of the calibration by the kind of noise."""
    kinds = dict.fromkeys(name.partition(",")[0] for name in CALIBRATION_KINDS)
    rows = [[kind, share(o.is_exact for o in outcomes if _kind(o) == kind)] for kind in kinds]
    return table(["noise", "exact"], rows)


def coverage(outcomes: Sequence[Outcome]) -> str:
    """Return a table of how many true weights the nominal intervals of 90 % hold, by situation."""
    rows = []
    for name in dict.fromkeys(outcome.situation for outcome in outcomes):
        exact = [o for o in outcomes if o.situation == name and o.method == PEM and o.is_exact]
        covered = [weight for outcome in exact for weight in outcome.said.covered or ()]
        classical, robust = (share(pair[i] for pair in covered) for i in range(2))
        rows.append([name, str(len(exact)), classical, robust])
    return table(["situation", "exact structures", "weights within classical", "within robust"], rows)


def warnings(groups: dict[str, Sequence[Outcome]]) -> str:
    """Return a table of the structures with a warning, right and wrong, for groups of outcomes."""
    rows = []
    for label, outcomes in groups.items():
        with_warnings = [outcome for outcome in outcomes if outcome.said.warnings is not None]
        wrong, right = (
            share(bool(outcome.said.warnings) for outcome in with_warnings if outcome.is_exact == is_exact)
            for is_exact in (False, True)
        )
        rows.append([label, wrong, right, _kinds(with_warnings)])
    return table(["data", "wrong structures with a warning", "right structures with one", "kinds: wrong, right"], rows)


def _kinds(outcomes: Sequence[Outcome]) -> str:
    """Return how often each kind of warning was given to wrong and to right structures."""
    wrong: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for outcome in outcomes:
        counter = right if outcome.is_exact else wrong
        counter.update(set(outcome.said.warnings or ()))
    kinds = sorted(set(wrong) | set(right))
    return "; ".join(f"{kind}: {wrong[kind]}, {right[kind]}" for kind in kinds) or NOTHING
