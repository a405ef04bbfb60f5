"""The paper's claims as predicates, each applied to the published values and to the conditions of a study.

The words of the claims are in ``data/reference/claims.yaml``. A claim holds if the values are as it says at every
place that it speaks of, or at most places if its text says so. Where they are not, an exact test at the level 5 % tells
whether runs that are just as the claim says could come out so, with Holm's correction over the places of the claim. A
claim that misses at some places, but at none of them clearly, is neither confirmed nor refuted: it is undecided.

The module is long because it has a function for each claim.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, filterfalse, pairwise, product
from typing import NamedTuple

import pandas as pd
from scipy import stats

from narxbench._io.errors import NarxbenchError, did_you_mean, show
from narxbench._io.files import StrPath
from narxbench._io.settings import Settings, validated
from narxbench._io.yaml import read_mapping
from narxbench._numerics.intervals import LEVEL
from narxbench._report.formats import METHOD_TITLES, rounded
from narxbench._studies.paper.frames import UNDECIDED, framed, main_methods
from narxbench._studies.paper.frames import VERDICTS as VERDICTS
from narxbench._studies.paper.published import EVALUATIONS, PLACE, RUNS, Published, published_count
from narxbench._study.significance import fisher_exact, holm

SPARSE = ("S1", "S2", "S3")
SYSTEMS = (*SPARSE, "S4")
RHOS = ("aic-2", "aic-8", "aic-64", "aic-256")
CRITERIA = ("bic", *RHOS)
UPSO, GA = "upso2d", "ga"
IDENTIFIED = 0.95  # a selection frequency with which the text calls a system term identified
THRESHOLD = 0.9  # the text's example of a threshold for the final structure

# How a verdict follows from the places at which a claim holds and misses.
EVERY_PLACE = "every system and SNR; one clear miss fails"
MOST_PLACES = "more than half of systems and SNRs; clear misses at half fail"
IN_FIGURES = "every system at the SNR of the figures; any miss fails, without a test"
AND_TUNING = "BIC at every system and SNR, and some ϱ needs tuning; one clear miss fails"

_LISTED = 4  # the longest list of places that an evidence holds


class Claim(Settings):
    """A claim of the paper: its words, their source, how it is tested, and the algorithms that it speaks of."""

    id: str
    title: str
    quote: str
    source: str
    predicate: str
    algorithms: list[str]

    def judge(self, view: "ConditionsView") -> "Verdict":
        """Return the verdict of the claim's predicate."""
        verdict = PREDICATES[self.id](view)
        note = "" if verdict.holds is None else view.note
        return verdict._replace(evidence=f"{verdict.evidence} {note}".strip())


class Row(NamedTuple):
    """One condition as the tables print it, with ``nu`` in label order. A reproduced condition has further values.

    These are the final J of the runs and of the true structure, the mean best J after a third and after each tenth of
    the evaluations (infinite where not finite), and the median evaluation of the last improvement.
    """

    system: str
    algorithm: str
    criterion: str
    snr_db: float
    nu: tuple[float, ...]
    r: float
    nu_max: float
    best: float = math.nan
    median: float = math.nan
    true: float = math.nan
    third: float = math.nan
    curve: tuple[float, ...] = ()
    last_improvement: float = math.nan
    median_low: float = math.nan
    median_high: float = math.nan
    runs: int = RUNS
    n_terms: int = 66

    def count(self, frequency: float) -> int:
        """Return in how many runs a term with this frequency was chosen."""
        return round(frequency * self.runs)


@dataclass(frozen=True)
class ConditionsView:
    """The rows of the paper's systems. ``missing`` says why a row is absent, ``note`` is a remark on the rows."""

    rows: Sequence[Row]
    missing: str = ""
    note: str = ""

    @cached_property
    def snrs(self) -> list[float]:
        """The SNRs of the rows in dB, in their order."""
        return list(dict.fromkeys(row.snr_db for row in self.rows))

    @cached_property
    def _by_place(self) -> dict[tuple[str, float, str, str], Row]:
        by_place = {}
        for row in self.rows:
            by_place[row.system, row.snr_db, row.algorithm, row.criterion] = row
        return by_place

    def row(self, system: str, snr_db: float, algorithm: str = UPSO, criterion: str = "bic") -> Row | None:
        """Return the row of a place, or None."""
        return self._by_place.get((system, snr_db, algorithm, criterion))


class Verdict(NamedTuple):
    """Whether a claim holds (None: cannot be judged), and the numbers that decide it.

    At one place ``margin`` is the distance from the other verdict, and ``p_value`` the chance of so clear a miss where
    the claim is just true, or 0 where no test is known. A claim holds at ``held`` of its ``places`` and misses clearly
    at ``n_missed`` of them, on the systems ``missed``. ``rule`` says how the verdict follows from these counts.
    """

    holds: bool | None
    evidence: str
    margin: float = 0.0
    p_value: float = 0.0
    held: int = 0
    places: int = 0
    missed: tuple[str, ...] = ()
    n_missed: int = 0
    rule: str = ""

    @property
    def word(self) -> str:
        """The verdict in a word, which is another one for a miss that chance can explain."""
        return UNDECIDED if self.holds is False and self.p_value > LEVEL else VERDICTS[self.holds]


Predicate = Callable[[ConditionsView], Verdict]


def load_claims(path: StrPath) -> list[Claim]:
    """Read the claims. Every one needs a predicate here, and every predicate its claim."""
    claims, missing = [], dict.fromkeys(PREDICATES)
    entries = read_mapping(path).get("claims")
    if not isinstance(entries, list):
        raise NarxbenchError(f"{path}: claims: found {show(entries)}; allowed: a list of claims")
    for number, entry in enumerate(entries):
        claim = validated(Claim, entry, f"{path}: claims[{number}]")
        if claim.id not in missing:
            allowed = f"the name of a predicate, each once{did_you_mean(claim.id, PREDICATES)}"
            raise NarxbenchError(f"{path}: claims[{number}].id: found {claim.id!r}; allowed: {allowed}")
        del missing[claim.id]
        claims.append(claim)
    for name in missing:
        raise NarxbenchError(f"{path}: claims: found no claim {name!r}; needed: one for each predicate")
    return claims


def claims_frame(claims: Iterable[Claim], published: ConditionsView, here: ConditionsView) -> pd.DataFrame:
    """Return the verdicts on every claim: by the published values and by the conditions here."""
    rows = []
    for claim, (side, view) in product(claims, {"published": published, "here": here}.items()):
        verdict = claim.judge(view)
        counts = verdict.held, verdict.n_missed, verdict.places
        rows.append((claim.id, side, verdict.word, verdict.rule, *counts, verdict.evidence))
    return framed("claims", rows)


def published_view(published: Published) -> ConditionsView:
    """Return the published values as a view. Each selection frequency is the multiple of 1/40 that was rounded."""
    rows = []
    for place, group in published.values.groupby(PLACE, sort=False):
        values: dict[str, float] = {}
        for metric, label, value in group[["metric", "label", "published"]].itertuples(index=False):
            values[label or metric] = value if metric == "r" else published_count(value) / RUNS
        nu = tuple(map(values.__getitem__, published.systems[place[0]]["label"]))
        rows.append(Row(**dict(zip(PLACE, place, strict=True)), nu=nu, r=values["r"], nu_max=values["nu_max"]))
    return ConditionsView(tuple(rows), missing="the paper shows this in a figure only")


def conditions_view(conditions: pd.DataFrame) -> ConditionsView:
    """Return conditions of the published systems, under one interpretation on one data seed, as a view.

    An algorithm is represented by the method of its name, or by the first that runs it.
    """
    methods = main_methods(conditions)
    shown = conditions[conditions["method"].isin(methods.values())]
    notes = []
    for algorithm, method in methods.items():
        if algorithm != method:
            notes.append(f"{METHOD_TITLES.get(algorithm, algorithm)} is the method {method}.")
    sizes = list(shown[["runs", "evaluations"]].drop_duplicates().itertuples(index=False, name=None))
    if set(sizes) - {(RUNS, EVALUATIONS)}:
        runs_here = " and ".join(f"{runs} runs of {evaluations} evaluations" for runs, evaluations in sizes)
        notes.append(f"Judged on {runs_here}; the paper made {RUNS} of {EVALUATIONS}.")
    return ConditionsView(claim_rows(shown), note=" ".join(notes))


def claim_rows(conditions: pd.DataFrame) -> tuple[Row, ...]:
    """Return the rows of conditions, in their order."""
    fitness = ["best", "median", "true", "third", "median_low", "median_high"]
    values = conditions.rename(columns=lambda name: name.removesuffix("_fitness"))
    values = values.fillna(dict.fromkeys(fitness, math.inf))
    rows = []
    for row in values.to_dict("records"):
        same_in_both = {name: row[name] for name in (*PLACE, *fitness, "last_improvement", "runs", "n_terms")}
        rows.append(
            Row(
                **same_in_both,
                nu=tuple(count / row["runs"] for count in row["nu"]),
                r=row["spurious"] / row["n_terms"],
                nu_max=row["nu_max"] / row["runs"],
                curve=tuple(math.inf if math.isnan(value) else value for value in row["curve"]),
            )
        )
    return tuple(rows)


# Tests at one place


def reaches(row: Row, level: float) -> Verdict:
    """Test whether every system term's nu, as printed with two decimals, reaches ``level``."""
    return Verdict(_reached(min(row.nu), level), _smallest(row), min(row.nu) - level, _below(row, level))


def separates(row: Row) -> Verdict:
    """Test whether nu_max is below the smallest nu of a system term."""
    margin = min(row.nu) - row.nu_max
    p_value = _alike(row, min(row.nu), row, row.nu_max)
    return Verdict(margin > 0, f"ν_max {rounded(row.nu_max)}, {_smallest(row)}", margin, p_value)


def both_criteria(row: Row) -> Verdict:
    """Test whether a row meets the two criteria by which the text prefers BIC."""
    identified, separated = reaches(row, IDENTIFIED), separates(row)
    p_values = [2 * verdict.p_value for verdict in (identified, separated) if not verdict.holds]
    evidence = f"{_smallest(row)}, ν_max {rounded(row.nu_max)}"
    holds = bool(identified.holds and separated.holds)
    return Verdict(holds, evidence, separated.margin, min([1.0, *p_values]))


def loses_most(row: Row) -> Verdict:
    """Test whether most system terms stay below the threshold 0.9."""
    p_above = [float(stats.binom.sf(row.count(nu) - 1, row.runs, THRESHOLD)) for nu in row.nu if _kept(nu)]
    return _most_below(row, p_above, f"{THRESHOLD}")


def most_below_spurious(row: Row) -> Verdict:
    """Test whether most system terms are below nu_max."""
    p_above = [_alike(row, nu, row, row.nu_max) for nu in row.nu if nu >= row.nu_max]
    return _most_below(row, p_above, f"ν_max {rounded(row.nu_max)}")


def _most_below(row: Row, p_above: Sequence[float], limit: str) -> Verdict:
    """Return whether most system terms are below a limit. ``p_above`` are the p-values of those that are not."""
    # Most terms are not below if half of them are above: the p-value is that of the term that makes the half.
    terms, half = len(row.nu), -(-len(row.nu) // 2)
    p_value = 1.0
    if len(p_above) >= half:
        p_value = sorted(p_above)[half - 1]
    below = terms - len(p_above)
    return Verdict(below > terms / 2, f"{below} of {terms} below {limit}", below - terms / 2, p_value)


def falls(low: Row, high: Row) -> Verdict:
    """Test whether both r and nu_max fall from the smallest to the largest rho."""
    smallest = f"{_spurious(low)} with {_short(low.criterion)}"
    largest = f"{_spurious(high)} with {_short(high.criterion)}"
    return _less_spurious(high, low, f"[r, ν_max] {smallest}, {largest}")


def withstands(quiet: Row, noisy: Row) -> Verdict:
    """Test whether terms with nu 0.95, and a threshold, that exist at a higher SNR exist at a lower one too."""
    p_values = []
    for nu_quiet, nu_noisy in zip(quiet.nu, noisy.nu, strict=True):
        if _reached(nu_quiet) and not _reached(nu_noisy):
            p_values.append(2 * len(quiet.nu) * _alike(quiet, nu_quiet, noisy, nu_noisy))
    identified = sum(map(_reached, quiet.nu))
    separated = separates(noisy)
    evidence = (
        f"{len(p_values)} of the {identified} system terms found at {quiet.snr_db:g} dB lost, {separated.evidence}"
    )
    # Each term could have been lost, and the threshold: the p-values are corrected for both.
    if separates(quiet).holds and not separated.holds:
        evidence += ", no threshold left"
        p_values.append(2 * separated.p_value)
    return Verdict(not p_values, evidence, separated.margin, min([1.0, *p_values]))


def identifies_more(low: Row, high: Row) -> Verdict:
    """Test whether the smaller rho identifies more system terms than the larger one."""
    n_low, n_high = sum(map(_reached, low.nu)), sum(map(_reached, high.nu))
    if not (n_low or n_high):
        return Verdict(None, f"neither ϱ gives a system term ν {IDENTIFIED}")
    counts = f"{n_low} with {_short(low.criterion)} and {n_high} with {_short(high.criterion)}"
    evidence = f"of {len(low.nu)} system terms {counts} reach ν {IDENTIFIED}"
    p_value = fisher_exact(n_low, len(low.nu), n_high, len(high.nu))
    return Verdict(n_low > n_high, evidence, n_low - n_high, p_value)


def fewer_spurious(upso: Row, ga: Row) -> Verdict:
    """Test whether both r and nu_max of 2D-UPSO are smaller than those of GA."""
    return _less_spurious(upso, ga, f"[r, ν_max] {_spurious(upso)} against {_spurious(ga)}")


def _less_spurious(row: Row, rival: Row, evidence: str) -> Verdict:
    """Return whether both r and nu_max of a row are smaller than those of a rival."""
    r_margin, nu_max_margin = rival.r - row.r, rival.nu_max - row.nu_max
    p_value = 1.0
    if r_margin <= 0:
        possible = row.n_terms - len(row.nu)
        counts = round(row.r * row.n_terms), round(rival.r * rival.n_terms)
        p_value = min(p_value, 2 * fisher_exact(counts[0], possible, counts[1], possible))
    if nu_max_margin <= 0:
        p_value = min(p_value, 2 * _alike(row, row.nu_max, rival, rival.nu_max))
    margin = min(r_margin, nu_max_margin)
    return Verdict(margin > 0, evidence, margin, p_value)


def better_fitness(upso: Row, ga: Row) -> Verdict:
    """Test whether the median final J of 2D-UPSO is below that of GA. A miss is clear where intervals are apart."""
    evidence = "median J " + " against ".join(_with_enough_digits(upso.median, ga.median))
    p_value = float(upso.median_low <= ga.median_high)
    holds = None
    if not math.isnan(upso.median + ga.median):
        holds = upso.median < ga.median
    return Verdict(holds, evidence, ga.median - upso.median, p_value)


def stagnates(upso: Row, ga: Row) -> Verdict:
    """Test whether GA closes less than half of the gap left after a third of the budget, and less than 2D-UPSO does.

    The gap is that of the mean J to the best known J: the lowest of all runs of both and of the true structure.
    """
    best = _best_known(upso, ga)
    of_ga, of_upso = _closed(ga.third, ga.curve, best), _closed(upso.third, upso.curve, best)
    if of_ga is None or of_upso is None:
        return Verdict(None, "mean J is not finite after a third of the budget")
    evidence = (
        f"of the gap left after a third of the budget GA closes {100 * of_ga:.0f} %, 2D-UPSO {100 * of_upso:.0f} %; "
        f"GA's median run improves last at evaluation {ga.last_improvement:g}, 2D-UPSO's at {upso.last_improvement:g}"
    )
    return Verdict(of_ga < min(0.5, of_upso), evidence, min(0.5, of_upso) - of_ga)


def keeps_improving(upso: Row, ga: Row) -> Verdict:
    """Test whether 2D-UPSO's mean J falls in every tenth of the budget, and closes more of its late gap than GA's.

    The late gap is as in `stagnates`, after half of the budget. Tenths that begin at the best known J do not count.
    """
    best = _best_known(upso, ga)
    of_upso, of_ga = _closed_in_second_half(upso, best), _closed_in_second_half(ga, best)
    if of_upso is None or of_ga is None:
        return Verdict(None, "mean J is not finite after half of the budget")
    if of_upso == of_ga == 1:
        return Verdict(None, "both means have reached the best known J by half of the budget")
    is_falling = [a > b for a, b in pairwise(filter(math.isfinite, upso.curve)) if not _is_best(a, best)]
    evidence = (
        f"mean J falls in {sum(is_falling)} of {len(is_falling)} tenths after the first; of the gap left "
        f"after half of the budget 2D-UPSO closes {100 * of_upso:.0f} %, GA {100 * of_ga:.0f} %"
    )
    # How much J falls and which share of a gap closes have no common scale: the share is the margin.
    return Verdict(all(is_falling) and of_upso > of_ga, evidence, of_upso - of_ga)


# Predicates


def everywhere(
    test: Callable[..., Verdict],
    systems: Sequence[str],
    *needed: tuple[str, str],
    rule: str = EVERY_PLACE,
) -> Predicate:
    """Return the predicate that a test of the rows of ``needed`` (algorithm, criterion) holds at the places of a rule.

    Places are the systems at every SNR, or at the smallest by the rule `IN_FIGURES`, which the figures show.
    """

    def check(view: ConditionsView, system: str, snr_db: float) -> Verdict:
        rows = []
        for algorithm, criterion in needed:
            row = view.row(system, snr_db, algorithm, criterion)
            if row is None:
                return Verdict(None, f"no condition of {METHOD_TITLES[algorithm]} under {_short(criterion)}")
            rows.append(row)
        return test(*rows)

    def predicate(view: ConditionsView) -> Verdict:
        checks = {}
        snrs = sorted(view.snrs)
        for place in product(systems, snrs[:1] if rule == IN_FIGURES else view.snrs):
            verdict = check(view, *place)
            if verdict.holds is None and view.missing:
                verdict = verdict._replace(evidence=view.missing)
            checks[place] = verdict
        return _verdict(checks, rule)

    return predicate


def separable(view: ConditionsView) -> Verdict:
    """Judge whether `separates` holds everywhere, and tell whether one threshold serves every row."""
    verdict = everywhere(separates, SYSTEMS, _UPSO)(view)
    rows = list(filter(None, _rows_of(view, "bic")))
    if not rows:
        return verdict
    lowest = min(chain.from_iterable(row.nu for row in rows))
    highest = max(row.nu_max for row in rows)
    article = "A" if highest < lowest else "No"
    thresholds = (
        f"{article} single threshold serves all rows: largest ν_max {rounded(highest)}, smallest ν {rounded(lowest)}"
    )
    exact = _count(_kept(min(row.nu)) and not _kept(row.nu_max) for row in rows)
    example = f"{THRESHOLD}, the text's example, gives the exact structure in {exact}"
    return verdict._replace(evidence=f"{verdict.evidence} {thresholds}; {example}.")


def larger_rho_fewer_spurious(view: ConditionsView) -> Verdict:
    """Judge whether `falls` holds on S1 to S3, and tell in how many chains no step between raises r or nu_max."""
    verdict = everywhere(falls, SPARSE, (UPSO, RHOS[0]), (UPSO, RHOS[-1]))(view)
    is_falling = []
    for place in product(SPARSE, view.snrs):
        rows = [view.row(*place, UPSO, criterion) for criterion in RHOS]
        if None not in rows:
            pairs = pairwise(filter(None, rows))
            is_falling.append(all(b.r <= a.r and b.nu_max <= a.nu_max for a, b in pairs))
    if not is_falling:
        return verdict
    never = _count(is_falling)
    steps = f"No step {', '.join(name.removeprefix('aic-') for name in RHOS)} raises either in {never}."
    return verdict._replace(evidence=f"{verdict.evidence} {steps}")


def robust(view: ConditionsView) -> Verdict:
    """Judge whether `withstands` holds under BIC on every system at every SNR below the largest."""
    if len(view.snrs) < 2:
        return Verdict(None, "There are no two SNRs.")
    quietest, *noisier = sorted(view.snrs, reverse=True)
    no_row = Verdict(None, view.missing or f"no condition of {METHOD_TITLES[UPSO]} under BIC at both SNRs")
    checks = {}
    for system, snr_db in product(SYSTEMS, noisier):
        quiet, noisy = view.row(system, quietest), view.row(system, snr_db)
        checks[system, snr_db] = withstands(quiet, noisy) if quiet and noisy else no_row
    return _verdict(checks, EVERY_PLACE)


def mostly_identified(view: ConditionsView) -> Verdict:
    """Judge whether under most criteria, systems and SNRs every system term has nu >= 0.95."""
    checks: dict[tuple[str, float], Verdict] = {}
    reached = defaultdict[str, list[bool | None]](list)
    values: list[bool] = []  # for each system term, whether it reaches the frequency
    for name, system, snr_db in product(CRITERIA, SYSTEMS, view.snrs):
        row = view.row(system, snr_db, UPSO, name)
        verdict = Verdict(None, "")
        if row:
            verdict = reaches(row, IDENTIFIED)
            values += map(_reached, row.nu)
        checks[f"{system} {name}", snr_db] = verdict
        reached[name].append(verdict.holds)
    if not values:
        return _nothing(view)
    conditions = _count(chain.from_iterable(reached.values()), "conditions")
    evidence = (
        f"Every system term reaches ν {IDENTIFIED} in {conditions}; so do {_count(values, 'values')}. "
        f"Conditions by criterion, {'; '.join(_counts(reached))}."
    )
    absent = [_short(name) for name, verdicts in reached.items() if None in verdicts]
    if absent:
        evidence += f" Conditions are missing: {', '.join(absent)}."
    return _verdict(checks, MOST_PLACES)._replace(evidence=evidence)


def bic_needs_no_tuning(view: ConditionsView) -> Verdict:
    """Judge whether BIC meets both criteria of the text in every row, and some rho on one system but not on another."""
    meets: dict[tuple[str, str], list[bool | None]] = {}  # by criterion and system
    rows = defaultdict[str, list[bool | None]](list)
    for name, system in product(CRITERIA, SYSTEMS):
        meets[name, system] = [row and both_criteria(row).holds for row in _rows_of(view, name, [system])]
        rows[name] += meets[name, system]
    counts = _counts(rows)
    if not counts:
        return _nothing(view)
    evidence = f"Rows with every ν ≥ {IDENTIFIED} and ν_max below them: {'; '.join(counts)}."
    met_everywhere = [_short(name) for name in RHOS if _all(rows[name])]
    if met_everywhere:
        evidence += f" Untuned as well: {', '.join(met_everywhere)}."
    if None in chain.from_iterable(rows.values()):
        evidence += " Conditions are missing."
    needs_tuning = _needs_tuning(meets)
    of_bic = everywhere(both_criteria, SYSTEMS, _UPSO)(view)
    p_value = 0.0 if needs_tuning is False else of_bic.p_value
    holds = _all([of_bic.holds, needs_tuning])
    return of_bic._replace(holds=holds, evidence=evidence, p_value=p_value, rule=AND_TUNING)


def _needs_tuning(meets: Mapping[tuple[str, str], Sequence[bool | None]]) -> bool | None:
    """Return whether some rho suits one system and not another, so that it must be tuned, or None if unknown."""
    is_unknown = False
    for rho in RHOS:
        suits = {_all(meets[rho, system]) for system in SYSTEMS}
        if {True, False} <= suits:
            return True
        is_unknown = is_unknown or None in suits
    if is_unknown:
        return None
    return False


_UPSO, _GA = (UPSO, "bic"), (GA, "bic")
PREDICATES: dict[str, Predicate] = {
    "bic-finds-all-terms": everywhere(partial(reaches, level=IDENTIFIED), SYSTEMS, _UPSO),
    "bic-separates": separable,
    "upso-withstands-noise": robust,
    "terms-found-with-any-criterion": mostly_identified,
    "larger-rho-fewer-spurious": larger_rho_fewer_spurious,
    "rho-256-suits-s1-s3": everywhere(separates, SPARSE, (UPSO, "aic-256")),
    "rho-256-loses-s4": everywhere(loses_most, ["S4"], (UPSO, "aic-256")),
    "rho-2-good-for-s4": everywhere(both_criteria, ["S4"], (UPSO, "aic-2"), rule=MOST_PLACES),
    "lower-rho-suits-many-terms": everywhere(identifies_more, ["S4"], (UPSO, RHOS[0]), (UPSO, RHOS[-1])),
    "bic-needs-no-tuning": bic_needs_no_tuning,
    "upso-finds-s4": everywhere(partial(reaches, level=0.98), ["S4"], _UPSO),
    "ga-fails-s4": everywhere(most_below_spurious, ["S4"], _GA),
    "ga-finds-s1-s3": everywhere(partial(reaches, level=THRESHOLD), SPARSE, _GA),
    "upso-fewer-spurious-s1-s3": everywhere(fewer_spurious, SPARSE, _UPSO, _GA),
    "upso-fewer-spurious-s4": everywhere(fewer_spurious, ["S4"], _UPSO, _GA),
    "ga-stagnates": everywhere(stagnates, SYSTEMS, _UPSO, _GA, rule=IN_FIGURES),
    "upso-keeps-improving": everywhere(keeps_improving, SYSTEMS, _UPSO, _GA, rule=IN_FIGURES),
    "upso-reaches-better-j": everywhere(better_fitness, SYSTEMS, _UPSO, _GA),
}


# Parts of the predicates


def _rows_of(view: ConditionsView, criterion: str, systems: Sequence[str] = SYSTEMS) -> list[Row | None]:
    """Return the rows of 2D-UPSO under a criterion, by system and SNR."""
    return [view.row(*place, UPSO, criterion) for place in product(systems, view.snrs)]


def _verdict(checks: Mapping[tuple[str, float], Verdict], rule: str) -> Verdict:
    """Return the verdict on a claim from those at its places by a rule, with the evidence and the clear misses."""
    if not checks:
        return Verdict(None, "No condition of a published system.")
    judged = [place for place, check in checks.items() if check.holds is not None]
    failed = [place for place in judged if not checks[place].holds]
    unclear = _unclear_misses(checks, judged)
    evidence = [*_judged_evidence(checks, judged, failed, unclear), *_unjudged_evidence(checks)]
    missed = [place[0].split()[0] for place in failed if place not in unclear]
    verdicts = {place: check.holds for place, check in checks.items()}
    decide = RULES[rule]
    holds = decide(list(verdicts.values()))
    # A claim fails clearly if it does so without the misses that chance can explain.
    without_unclear = verdicts | dict.fromkeys(unclear, True)
    is_unclear = holds is False and decide(list(without_unclear.values())) is not False
    return Verdict(
        holds,
        " ".join(evidence),
        p_value=float(is_unclear),
        held=len(judged) - len(failed),
        places=len(judged),
        missed=tuple(dict.fromkeys(missed)),
        n_missed=len(missed),
        rule=rule,
    )


def _unclear_misses(
    checks: Mapping[tuple[str, float], Verdict], judged: Sequence[tuple[str, float]]
) -> list[tuple[str, float]]:
    """Return the places at which chance can explain a miss, by Holm's correction over all places."""
    p_values = []
    for place in judged:
        p_values.append(1.0 if checks[place].holds else checks[place].p_value)
    unclear = []
    for place, p_value in zip(judged, holm(p_values), strict=True):
        if not checks[place].holds and p_value > LEVEL:
            unclear.append(place)
    return unclear


def _judged_evidence(
    checks: Mapping[tuple[str, float], Verdict],
    judged: Sequence[tuple[str, float]],
    failed: Sequence[tuple[str, float]],
    unclear: Sequence[tuple[str, float]],
) -> Iterator[str]:
    """Yield at how many places a claim holds, with the evidence at a few: all, those that fail, or the closest."""
    if not judged:
        return
    lead, listed, remainder = "", judged, ""
    if len(judged) > _LISTED and failed:
        lead, listed = "not ", failed[:_LISTED]
    elif len(judged) > _LISTED:
        lead, listed = "closest ", [min(judged, key=lambda place: checks[place].margin)]
    if len(failed) > _LISTED:
        remainder = f"; and {len(failed) - _LISTED} more"
    evidence = []
    for place in listed:
        clearness = " (not clearly)" * (place in unclear)
        evidence.append(f"{place[0]} at {_decibels(place[1:])}: {checks[place].evidence}{clearness}")
    missed = f", misses clearly at {len(failed) - len(unclear)}" * bool(failed)
    yield f"Holds at {len(judged) - len(failed)} of {len(judged)}{missed}: {lead}{'; '.join(evidence)}{remainder}."


def _unjudged_evidence(checks: Mapping[tuple[str, float], Verdict]) -> Iterator[str]:
    """Yield why a claim cannot be judged at some places, a sentence for each reason."""
    reasons: dict[str, dict[str, list[float]]] = {}
    for (system, snr_db), check in checks.items():
        if check.holds is None:
            reasons.setdefault(check.evidence, {}).setdefault(system, []).append(snr_db)
    all_snrs = list(dict.fromkeys(snr_db for _, snr_db in checks))
    for reason, systems in reasons.items():
        places = []
        for name, snrs in systems.items():
            places.append(name if snrs == all_snrs else f"{name} at {_decibels(snrs)}")
        yield _sentence(f"{reason}: {', '.join(places)}")


def _below(row: Row, level: float) -> float:
    """Return the chance that a term has a count as small as the smallest, if each is chosen at this level."""
    return min(1.0, len(row.nu) * float(stats.binom.cdf(row.count(min(row.nu)), row.runs, level)))


def _alike(row: Row, frequency: float, rival: Row, rival_frequency: float) -> float:
    """Return the p-value of Fisher's exact test that two frequencies come from one chance."""
    return fisher_exact(row.count(frequency), row.runs, rival.count(rival_frequency), rival.runs)


def _nothing(view: ConditionsView) -> Verdict:
    """Return the verdict on a claim without any row."""
    return Verdict(None, _sentence(view.missing or f"no condition of {METHOD_TITLES[UPSO]} on a published system"))


def _all(verdicts: Sequence[bool | None]) -> bool | None:
    """Tell whether all are true, or None if that depends on unknown ones, or there is none."""
    if False in verdicts:
        return False
    if None in verdicts or not verdicts:
        return None
    return True


def _most(verdicts: Sequence[bool | None]) -> bool | None:
    """Tell whether more than half are true, whatever the unknown ones are."""
    half = len(verdicts) / 2
    if verdicts.count(True) > half:
        return True
    if verdicts.count(False) >= half:
        return False
    return None


# How the verdict on a claim follows from the counts of its places. It is undecided where it neither holds nor fails.
RULES = {EVERY_PLACE: _all, MOST_PLACES: _most, IN_FIGURES: _all}


def _reached(nu: float, level: float = IDENTIFIED) -> bool:
    """Tell whether a frequency reaches a level as printed: the paper's 0.98 are 39 of 40 runs."""
    return float(rounded(nu)) >= level


def _kept(nu: float) -> bool:
    """Tell whether a frequency reaches the threshold: 36 of 40 reaches 0.9 whatever the last bits say."""
    return nu >= THRESHOLD - 1e-9


def _best_known(*rows: Row) -> float:
    """Return the lowest J of all runs and of the true structure, as far as they are known."""
    fitness = chain.from_iterable((row.best, row.true) for row in rows)
    return min(filterfalse(math.isnan, fitness), default=math.nan)


def _is_best(fitness: float, best: float) -> bool:
    """Tell whether J is the best known. Means of J are rounded to six decimals."""
    return fitness <= best or math.isclose(fitness, best, rel_tol=1e-9)


def _closed(start: float, curve: Sequence[float], best: float) -> float | None:
    """Return the share of the gap between the mean J ``start`` and the best known J that is closed by the end."""
    if not curve or not math.isfinite(start) or not math.isfinite(curve[-1]):
        return None
    if _is_best(start, best):
        return 1.0  # no gap is left
    return (start - curve[-1]) / (start - best)


def _closed_in_second_half(row: Row, best: float) -> float | None:
    """Return the share of the gap left after half of the budget that is closed by the end."""
    if not row.curve:
        return None
    return _closed(row.curve[4], row.curve, best)


def _with_enough_digits(a: float, b: float) -> list[str]:
    """Return two values of J with enough decimals to differ in print if they differ, at most the six that are kept."""
    digits = 1
    while digits < 6 and a != b and f"{a:.{digits}f}" == f"{b:.{digits}f}":
        digits += 1
    return [f"{j:.{digits}f}" if math.isfinite(j) else "infinite" for j in (a, b)]


def _smallest(row: Row) -> str:
    """Return the smallest frequency of a system term in words."""
    return f"smallest ν {rounded(min(row.nu))}"


def _spurious(row: Row) -> str:
    """Return r and nu_max as an evidence shows them."""
    return f"[{rounded(row.r)}, {rounded(row.nu_max)}]"


def _short(criterion: str) -> str:
    """Return a criterion as the paper writes it."""
    if criterion.startswith("aic-"):
        return f"ϱ = {criterion.removeprefix('aic-')}"
    return criterion.upper()


def _count(verdicts: Iterable[bool | None], noun: str = "") -> str:
    """Return how many of the known verdicts are true, and with a ``noun`` which share of them."""
    known_verdicts = [verdict for verdict in verdicts if verdict is not None]
    true, number = sum(known_verdicts), len(known_verdicts)
    share = f" {noun} ({100 * (true / number):.0f} %)" if noun else ""
    return f"{true} of {number}{share}"


def _counts(verdicts: Mapping[str, Sequence[bool | None]]) -> list[str]:
    """Return for each criterion how many verdicts are true, where any is known."""
    counts = []
    for name, of_criterion in verdicts.items():
        if {*of_criterion} - {None}:
            counts.append(f"{_short(name)}: {_count(of_criterion)}")
    return counts


def _decibels(snrs: Sequence[float]) -> str:
    """Return SNRs with their unit."""
    return f"{', '.join(map('{:g}'.format, snrs))} dB"


def _sentence(text: str) -> str:
    """Return a text as a sentence."""
    return f"{text[:1].upper()}{text[1:]}."
