"""The paper's claims as predicates, each applied to the published values and to the conditions of a study.

What a claim says stands in ``data/reference/claims.yaml``. It holds if the values are as it says at every place that it
speaks of, or at most places if its text says so. Where they are not, an exact test at the level 5 % tells whether runs
that are just as the claim says could come out so, with Holm's correction over the places of the claim. A claim that
misses at some places, but at none of them clearly, is neither confirmed nor refuted: there is no clear difference.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise, product
from typing import NamedTuple

import pandas as pd
from scipy import stats

from narxbench.io.errors import NarxbenchError, did_you_mean
from narxbench.io.files import StrPath
from narxbench.io.settings import Settings, validated
from narxbench.io.yaml import read_mapping
from narxbench.report.formats import METHOD_TITLES, rounded
from narxbench.studies.paper.frames import UNCLEAR, framed
from narxbench.studies.paper.frames import VERDICTS as VERDICTS
from narxbench.studies.paper.published import EVALUATIONS, PLACE, RUNS, Published, published_count
from narxbench.study.significance import ALPHA, fisher_exact, holm

SPARSE = ("S1", "S2", "S3")
SYSTEMS = (*SPARSE, "S4")
RHOS = ("aic-2", "aic-8", "aic-64", "aic-256")
CRITERIA = ("bic", *RHOS)
UPSO, GA = "upso2d", "ga"
IDENTIFIED = 0.95  # a selection frequency with which the text calls a system term identified
THRESHOLD = 0.9  # the text's example of a threshold for the final structure

_LISTED = 4  # the longest list of places that an evidence holds


class Claim(Settings):
    """A claim of the paper: its words, where they stand, how it is tested, and which algorithms it speaks of."""

    id: str
    title: str
    quote: str
    source: str
    predicate: str
    algorithms: list[str]

    def judge(self, view: "View") -> "Verdict":
        """Return the verdict of the claim's predicate."""
        verdict = PREDICATES[self.id](view)
        note = "" if verdict.holds is None else view.note
        return verdict._replace(evidence=f"{verdict.evidence} {note}".strip())


class _Claims(Settings):
    claims: list[Claim]


class Row(NamedTuple):
    """One condition as the tables print it, ``nu`` in label order, and more of conditions that are not the paper's.

    These are final J of the runs and of the true structure, the mean best J after a third and after each tenth of the
    evaluations (infinite where not finite), and the median evaluation of the last improvement.
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
class View:
    """Rows of the paper's systems. ``missing`` says why a row is not there, ``note`` what to know of those that are."""

    rows: Sequence[Row]
    figure_snr_db: float = 30
    missing: str = ""
    note: str = ""

    @cached_property
    def snrs(self) -> list[float]:
        """The SNRs of the rows in dB, in their order."""
        return list(dict.fromkeys(row.snr_db for row in self.rows))

    @cached_property
    def _by_place(self) -> dict[tuple[str, float, str, str], Row]:
        return {(row.system, row.snr_db, row.algorithm, row.criterion): row for row in self.rows}

    def row(self, system: str, snr_db: float, algorithm: str = UPSO, criterion: str = "bic") -> Row | None:
        """Return the row of a place, or None."""
        return self._by_place.get((system, snr_db, algorithm, criterion))


class Verdict(NamedTuple):
    """Whether a claim holds (None: cannot be judged), and the numbers that decide it.

    At one place ``margin`` is how close it came to the other verdict, and ``p_value`` how likely so clear a miss is
    where the claim is just true; 0 where no test is known. It misses clearly on the systems ``missed``.
    """

    holds: bool | None
    evidence: str
    margin: float = 0.0
    p_value: float = 0.0
    held: int = 0
    places: int = 0
    missed: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        """The verdict in words, a miss that chance can explain apart."""
        return UNCLEAR if self.holds is False and self.p_value > ALPHA else VERDICTS[self.holds]


Predicate = Callable[[View], Verdict]


def load_claims(path: StrPath) -> list[Claim]:
    """Read the claims; every one needs a predicate here, and every predicate its claim."""
    claims = validated(_Claims, read_mapping(path), str(path)).claims
    missing = dict.fromkeys(PREDICATES)
    for number, claim in enumerate(claims):
        if claim.id not in missing:
            allowed = f"the name of a predicate, each once{did_you_mean(claim.id, PREDICATES)}"
            raise NarxbenchError(f"{path}: claims[{number}].id: found {claim.id!r}; allowed: {allowed}")
        del missing[claim.id]
    for name in missing:
        raise NarxbenchError(f"{path}: claims: found no claim {name!r}; needed: one for each predicate")
    return claims


def claims_frame(claims: Iterable[Claim], published: View, here: View) -> pd.DataFrame:
    """Return the verdicts on every claim: of the published values and of the conditions here."""
    sides = {"published": published, "here": here}
    judged = [(claim.id, side, claim.judge(view)) for claim in claims for side, view in sides.items()]
    return framed("claims", [(name, side, of.word, of.held, of.places, of.evidence) for name, side, of in judged])


def published_view(published: Published) -> View:
    """Return the published values as a view; each selection frequency is the multiple of 1/40 that was rounded."""
    rows = []
    for place, group in published.values.groupby(PLACE, sort=False):
        known: dict[str, float] = {}
        for metric, label, value in group[["metric", "label", "published"]].itertuples(index=False):
            known[label or metric] = value if metric == "r" else published_count(value) / RUNS
        nu = tuple(known[label] for label in published.systems[place[0]]["label"])
        rows.append(Row(**dict(zip(PLACE, place, strict=True)), nu=nu, r=known["r"], nu_max=known["nu_max"]))
    return View(tuple(rows), missing="the paper shows this in a figure only")


def conditions_view(conditions: pd.DataFrame, figure_snr_db: float = 30) -> View:
    """Return conditions of the published systems, under one interpretation on one data seed, as a view.

    An algorithm is represented by the method of its name, or by the first that runs it.
    """
    methods: dict[str, str] = {}
    for algorithm, method in conditions[["algorithm", "method"]].drop_duplicates().itertuples(index=False):
        if algorithm not in methods or method == algorithm:
            methods[algorithm] = method
    shown = conditions[conditions["method"].isin(methods.values())]
    notes = [f"{METHOD_TITLES.get(a, a)} is the method {name}." for a, name in methods.items() if a != name]
    sizes = list(shown[["runs", "evaluations"]].drop_duplicates().itertuples(index=False, name=None))
    if any(size != (RUNS, EVALUATIONS) for size in sizes):
        made = " and ".join(f"{runs} runs of {evaluations} evaluations" for runs, evaluations in sizes)
        notes.append(f"Judged on {made}; the paper made {RUNS} of {EVALUATIONS}.")
    return View(claim_rows(shown), figure_snr_db, note=" ".join(notes))


def claim_rows(conditions: pd.DataFrame) -> tuple[Row, ...]:
    """Return the rows of conditions, in their order."""
    fitness = ["best", "median", "true", "third", "median_low", "median_high"]
    finite = conditions.rename(columns=lambda name: name.removesuffix("_fitness"))
    return tuple(
        Row(
            **{name: row[name] for name in (*PLACE, *fitness, "last_improvement", "runs", "n_terms")},
            nu=tuple(count / row["runs"] for count in row["nu"]),
            r=row["spurious"] / row["n_terms"],
            nu_max=row["nu_max"] / row["runs"],
            curve=tuple(math.inf if math.isnan(value) else value for value in row["curve"]),
        )
        for row in finite.fillna(dict.fromkeys(fitness, math.inf)).to_dict("records")
    )


# Tests at one place


def reaches(row: Row, level: float) -> Verdict:
    """Test whether every system term's nu, as printed with two decimals, reaches ``level``."""
    return Verdict(_reached(min(row.nu), level), _smallest(row), min(row.nu) - level, _below(row, level))


def separates(row: Row) -> Verdict:
    """Test whether nu_max lies below the smallest nu of a system term."""
    margin = min(row.nu) - row.nu_max
    p_value = _alike(row, min(row.nu), row, row.nu_max)
    return Verdict(margin > 0, f"ν_max {rounded(row.nu_max)}, {_smallest(row)}", margin, p_value)


def both_criteria(row: Row) -> Verdict:
    """Test whether a row meets the two criteria by which the text prefers BIC."""
    one, other = reaches(row, IDENTIFIED), separates(row)
    p_value = min([1.0, *(2 * test.p_value for test in (one, other) if not test.holds)])
    found = f"{_smallest(row)}, ν_max {rounded(row.nu_max)}"
    return Verdict(bool(one.holds and other.holds), found, other.margin, p_value)


def loses_most(row: Row) -> Verdict:
    """Test whether most system terms stay below the threshold 0.9."""
    above = [float(stats.binom.sf(row.count(nu) - 1, row.runs, THRESHOLD)) for nu in row.nu if _kept(nu)]
    return _most_below(row, above, f"{THRESHOLD}")


def most_below_spurious(row: Row) -> Verdict:
    """Test whether most system terms lie below nu_max."""
    above = [_alike(row, nu, row, row.nu_max) for nu in row.nu if nu >= row.nu_max]
    return _most_below(row, above, f"ν_max {rounded(row.nu_max)}")


def _most_below(row: Row, p_above: Sequence[float], limit: str) -> Verdict:
    # Most terms are not below if half of them are above: the p-value of the one that makes the half.
    terms, half = len(row.nu), -(-len(row.nu) // 2)
    p_value = sorted(p_above)[half - 1] if len(p_above) >= half else 1.0
    below = terms - len(p_above)
    return Verdict(below > terms / 2, f"{below} of {terms} below {limit}", below - terms / 2, p_value)


def falls(low: Row, high: Row) -> Verdict:
    """Test whether both r and nu_max fall from the smallest to the largest rho."""
    found = f"[r, ν_max] {_spurious(low)} with {_short(low.criterion)}, {_spurious(high)} with {_short(high.criterion)}"
    return _less_spurious(high, low, found)


def withstands(quiet: Row, noisy: Row) -> Verdict:
    """Test whether what is found at a higher SNR is found at a lower one too: terms with nu 0.95, and a threshold."""
    lost = [(a, b) for a, b in zip(quiet.nu, noisy.nu, strict=True) if _reached(a) and not _reached(b)]
    apart = separates(noisy)
    torn = bool(separates(quiet).holds and not apart.holds)
    # Each term could have been lost, and the threshold.
    p_values = [2 * len(quiet.nu) * _alike(quiet, a, noisy, b) for a, b in lost] + [2 * apart.p_value] * torn
    kept = f"{len(lost)} of the {sum(map(_reached, quiet.nu))} system terms found at {quiet.snr_db:g} dB lost"
    found = f"{kept}, {apart.evidence}{', no threshold left' if torn else ''}"
    return Verdict(not p_values, found, apart.margin, min([1.0, *p_values]))


def identifies_more(low: Row, high: Row) -> Verdict:
    """Test whether the smaller rho identifies more system terms than the larger one."""
    counts = [sum(map(_reached, row.nu)) for row in (low, high)]
    if not any(counts):
        return Verdict(None, f"neither ϱ gives a system term ν {IDENTIFIED}")
    parts = (f"{n} with {_short(row.criterion)}" for n, row in zip(counts, (low, high), strict=True))
    found = f"of {len(low.nu)} system terms {' and '.join(parts)} reach ν {IDENTIFIED}"
    p_value = fisher_exact(counts[0], len(low.nu), counts[1], len(high.nu))
    return Verdict(counts[0] > counts[1], found, counts[0] - counts[1], p_value)


def fewer_spurious(upso: Row, ga: Row) -> Verdict:
    """Test whether both r and nu_max of 2D-UPSO are smaller than those of GA."""
    return _less_spurious(upso, ga, f"[r, ν_max] {_spurious(upso)} against {_spurious(ga)}")


def _less_spurious(row: Row, other: Row, found: str) -> Verdict:
    falls_by = other.r - row.r, other.nu_max - row.nu_max
    possible = row.n_terms - len(row.nu)
    of_r = fisher_exact(round(row.r * row.n_terms), possible, round(other.r * other.n_terms), possible)
    p_values = of_r, _alike(row, row.nu_max, other, other.nu_max)
    p_value = min([1.0, *(2 * p for p, by in zip(p_values, falls_by, strict=True) if by <= 0)])
    return Verdict(min(falls_by) > 0, found, min(falls_by), p_value)


def better_fitness(upso: Row, ga: Row) -> Verdict:
    """Test whether the median final J of 2D-UPSO lies below that of GA; a miss is clear where intervals are apart."""
    medians = upso.median, ga.median
    found = "median J " + " against ".join(_told_apart(*medians))
    p_value = 1.0 if upso.median_low <= ga.median_high else 0.0
    holds = None if math.isnan(sum(medians)) else upso.median < ga.median
    return Verdict(holds, found, ga.median - upso.median, p_value)


def stagnates(upso: Row, ga: Row) -> Verdict:
    """Test whether of the gap left after a third of the budget GA closes less than half, and less than 2D-UPSO does.

    The gap is that of the mean J to the best known J: the lowest of all runs of both and of the true structure.
    """
    best = _best_known(upso, ga)
    own, other = (_closed(row.third, row.curve, best) for row in (ga, upso))
    if own is None or other is None:
        return Verdict(None, "mean J is not finite after a third of the budget")
    found = (
        f"of the gap left after a third of the budget GA closes {100 * own:.0f} %, 2D-UPSO {100 * other:.0f} %; "
        f"GA's median run improves last at evaluation {ga.last_improvement:g}, 2D-UPSO's at {upso.last_improvement:g}"
    )
    return Verdict(own < min(0.5, other), found, min(0.5, other) - own)


def keeps_improving(upso: Row, ga: Row) -> Verdict:
    """Test whether 2D-UPSO's mean J falls in every tenth of the budget, and closes more of its late gap than GA's.

    That is the gap of `stagnates` after half of the budget. Tenths that begin at the best known J do not count.
    """
    best = _best_known(upso, ga)
    own, other = (_closed(row.curve[4] if row.curve else math.nan, row.curve, best) for row in (upso, ga))
    if own is None or other is None:
        return Verdict(None, "mean J is not finite after half of the budget")
    if own == other == 1:
        return Verdict(None, "both means have reached the best known J by half of the budget")
    steps = [a - b for a, b in pairwise(filter(math.isfinite, upso.curve)) if not _is_best(a, best)]
    found = (
        f"mean J falls in {sum(step > 0 for step in steps)} of {len(steps)} tenths after the first; of the gap left "
        f"after half of the budget 2D-UPSO closes {100 * own:.0f} %, GA {100 * other:.0f} %"
    )
    # How much J falls and which share of a gap closes have no common scale: the share is the margin.
    return Verdict(all(step > 0 for step in steps) and own > other, found, own - other)


# Predicates


def everywhere(
    test: Callable[..., Verdict],
    systems: Sequence[str],
    *needed: tuple[str, str],
    in_figures: bool = False,
    in_most: bool = False,
) -> Predicate:
    """Return the predicate that a test of the rows of ``needed`` (algorithm, criterion) holds at every place.

    Places are the systems at every SNR, or at the SNR of the figures; more than half of them suffice if ``in_most``.
    """

    def predicate(view: View) -> Verdict:
        checks = {}
        for place in product(systems, [view.figure_snr_db] if in_figures else view.snrs):
            rows = [view.row(*place, *of) for of in needed]
            algorithm, criterion = needed[rows.index(None) if None in rows else 0]
            no_row = Verdict(None, f"no condition of {METHOD_TITLES[algorithm]} under {_short(criterion)}")
            check = no_row if None in rows else test(*rows)
            found = view.missing if view.missing and check.holds is None else check.evidence
            checks[place] = check._replace(evidence=found)
        return _verdict(checks, _most if in_most else _all)

    return predicate


def separable(view: View) -> Verdict:
    """Judge whether `separates` holds everywhere, and tell whether one threshold serves every row."""
    verdict = everywhere(separates, SYSTEMS, _UPSO)(view)
    rows = [row for row in _rows_of(view, "bic") if row]
    if not rows:
        return verdict
    lowest, highest = min(min(row.nu) for row in rows), max(row.nu_max for row in rows)
    one = "A single threshold serves all rows" if highest < lowest else "No single threshold serves all rows"
    found = f"{one}: largest ν_max {rounded(highest)}, smallest ν {rounded(lowest)}"
    exact = _count(_kept(min(row.nu)) and not _kept(row.nu_max) for row in rows)
    example = f"{THRESHOLD}, the text's example, gives the exact structure in {exact}"
    return verdict._replace(evidence=f"{verdict.evidence} {found}; {example}.")


def larger_rho_fewer_spurious(view: View) -> Verdict:
    """Judge whether `falls` holds on S1 to S3, and tell in how many chains no step between raises r or nu_max."""
    verdict = everywhere(falls, SPARSE, (UPSO, RHOS[0]), (UPSO, RHOS[-1]))(view)
    chains = zip(*(_rows_of(view, name, SPARSE) for name in RHOS), strict=True)
    whole = [[row for row in chain if row] for chain in chains if None not in chain]
    if not whole:
        return verdict
    never = _count(all(b.r <= a.r and b.nu_max <= a.nu_max for a, b in pairwise(rows)) for rows in whole)
    steps = f"No step {', '.join(name.removeprefix('aic-') for name in RHOS)} raises either in {never}."
    return verdict._replace(evidence=f"{verdict.evidence} {steps}")


def robust(view: View) -> Verdict:
    """Judge whether `withstands` holds under BIC on every system at every SNR below the largest."""
    quietest, *noisier = sorted(view.snrs, reverse=True) or [math.nan]
    checks = {}
    for system, snr_db in product(SYSTEMS, noisier):
        quiet, noisy = view.row(system, quietest), view.row(system, snr_db)
        no_row = Verdict(None, view.missing or f"no condition of {METHOD_TITLES[UPSO]} under BIC at both SNRs")
        checks[system, snr_db] = withstands(quiet, noisy) if quiet and noisy else no_row
    return _verdict(checks, _all) if checks else Verdict(None, "There are no two SNRs.")


def mostly_identified(view: View) -> Verdict:
    """Judge whether under most criteria, systems and SNRs every system term has nu >= 0.95."""
    rows = {name: _rows_of(view, name) for name in CRITERIA}
    reached = {name: [row and _reached(min(row.nu)) for row in found] for name, found in rows.items()}
    every = [verdict for verdicts in reached.values() for verdict in verdicts]
    values = [_reached(nu) for found in rows.values() for row in found if row for nu in row.nu]
    if not values:
        return _nothing(view)
    evidence = (
        f"Every system term reaches ν {IDENTIFIED} in {_count(every, 'conditions')}; so do {_count(values, 'values')}. "
        f"Conditions by criterion, {'; '.join(_counts(reached))}."
    )
    if absent := [_short(name) for name, verdicts in reached.items() if None in verdicts]:
        evidence += f" Conditions are missing: {', '.join(absent)}."
    checks = {
        (f"{system} {name}", snr_db): reaches(row, IDENTIFIED) if row else Verdict(None, "")
        for name, found in rows.items()
        for (system, snr_db), row in zip(product(SYSTEMS, view.snrs), found, strict=True)
    }
    return _verdict(checks, _most)._replace(evidence=evidence)


def bic_needs_no_tuning(view: View) -> Verdict:
    """Judge whether BIC meets both criteria of the text in every row, and some rho on one system but not on another."""
    met = {
        name: {of: [row and both_criteria(row).holds for row in _rows_of(view, name, [of])] for of in SYSTEMS}
        for name in CRITERIA
    }
    rows = {name: [verdict for of in systems.values() for verdict in of] for name, systems in met.items()}
    if not (counts := _counts(rows)):
        return _nothing(view)
    evidence = f"Rows with every ν ≥ {IDENTIFIED} and ν_max below them: {'; '.join(counts)}."
    if everywhere_met := [_short(name) for name in RHOS if _all(rows[name])]:
        evidence += f" Untuned as well: {', '.join(everywhere_met)}."
    if any(None in verdicts for verdicts in rows.values()):
        evidence += " Conditions are missing."
    # Whether a rho suits some system and not another, so that it must be tuned.
    suits = [{_all(verdicts) for verdicts in met[name].values()} for name in RHOS]
    tuned = True if any({True, False} <= of for of in suits) else None if any(None in of for of in suits) else False
    of_bic = everywhere(both_criteria, SYSTEMS, _UPSO)(view)
    p_value = 0.0 if tuned is False else of_bic.p_value
    return of_bic._replace(holds=_all([of_bic.holds, tuned]), evidence=evidence, p_value=p_value)


_UPSO, _GA = (UPSO, "bic"), (GA, "bic")
PREDICATES: dict[str, Predicate] = {
    "bic-finds-all-terms": everywhere(partial(reaches, level=IDENTIFIED), SYSTEMS, _UPSO),
    "bic-separates": separable,
    "upso-withstands-noise": robust,
    "terms-found-with-any-criterion": mostly_identified,
    "larger-rho-fewer-spurious": larger_rho_fewer_spurious,
    "rho-256-suits-s1-s3": everywhere(separates, SPARSE, (UPSO, "aic-256")),
    "rho-256-loses-s4": everywhere(loses_most, ["S4"], (UPSO, "aic-256")),
    "rho-2-good-for-s4": everywhere(both_criteria, ["S4"], (UPSO, "aic-2"), in_most=True),
    "lower-rho-suits-many-terms": everywhere(identifies_more, ["S4"], (UPSO, RHOS[0]), (UPSO, RHOS[-1])),
    "bic-needs-no-tuning": bic_needs_no_tuning,
    "upso-finds-s4": everywhere(partial(reaches, level=0.98), ["S4"], _UPSO),
    "ga-fails-s4": everywhere(most_below_spurious, ["S4"], _GA),
    "ga-finds-s1-s3": everywhere(partial(reaches, level=THRESHOLD), SPARSE, _GA),
    "upso-fewer-spurious-s1-s3": everywhere(fewer_spurious, SPARSE, _UPSO, _GA),
    "upso-fewer-spurious-s4": everywhere(fewer_spurious, ["S4"], _UPSO, _GA),
    "ga-stagnates": everywhere(stagnates, SYSTEMS, _UPSO, _GA, in_figures=True),
    "upso-keeps-improving": everywhere(keeps_improving, SYSTEMS, _UPSO, _GA, in_figures=True),
    "upso-reaches-better-j": everywhere(better_fitness, SYSTEMS, _UPSO, _GA),
}


# Parts of the predicates


def _rows_of(view: View, criterion: str, systems: Sequence[str] = SYSTEMS) -> list[Row | None]:
    return [view.row(*place, UPSO, criterion) for place in product(systems, view.snrs)]


def _verdict(
    checks: Mapping[tuple[str, float], Verdict], decide: Callable[[Sequence[bool | None]], bool | None]
) -> Verdict:
    if not checks:
        return Verdict(None, "No condition of a published system.")
    judged = [place for place, check in checks.items() if check.holds is not None]
    failed = [place for place in judged if not checks[place].holds]
    corrected = dict(zip(judged, holm([1.0 if checks[at].holds else checks[at].p_value for at in judged]), strict=True))
    unclear = [place for place in failed if corrected[place] > ALPHA]
    parts = []
    if judged:
        listed, lead = failed[:_LISTED], "not "
        if len(judged) <= _LISTED:
            listed, lead = judged, ""
        elif not failed:
            listed, lead = [min(judged, key=lambda place: checks[place].margin)], "closest "
        more = f"; and {len(failed) - _LISTED} more" if len(failed) > _LISTED else ""
        found = "; ".join(
            f"{place[0]} at {_decibels(place[1:])}: {checks[place].evidence}" + " (not clearly)" * (place in unclear)
            for place in listed
        )
        parts.append(f"Holds at {len(judged) - len(failed)} of {len(judged)}: {lead}{found}{more}.")
    reasons: dict[str, dict[str, list[float]]] = {}
    for (system, snr_db), check in checks.items():
        if check.holds is None:
            reasons.setdefault(check.evidence, {}).setdefault(system, []).append(snr_db)
    snrs = list(dict.fromkeys(snr_db for _, snr_db in checks))
    for reason, places in reasons.items():
        where = [name if of == snrs else f"{name} at {_decibels(of)}" for name, of in places.items()]
        parts.append(_sentence(f"{reason}: {', '.join(where)}"))
    # A claim fails clearly if it does so without the misses that chance can explain.
    without = [place in unclear or check.holds for place, check in checks.items()]
    holds = decide([check.holds for check in checks.values()])
    return Verdict(
        holds,
        " ".join(parts),
        p_value=1.0 if holds is False and decide(without) is not False else 0.0,
        held=len(judged) - len(failed),
        places=len(judged),
        missed=tuple(dict.fromkeys(system.split()[0] for system, _ in failed if (system, _) not in unclear)),
    )


def _below(row: Row, level: float) -> float:
    # The chance that one of the terms has a count as small as the smallest, if each is chosen at this level.
    return min(1.0, len(row.nu) * float(stats.binom.cdf(row.count(min(row.nu)), row.runs, level)))


def _alike(row: Row, frequency: float, other: Row, other_frequency: float) -> float:
    return fisher_exact(row.count(frequency), row.runs, other.count(other_frequency), other.runs)


def _nothing(view: View) -> Verdict:
    return Verdict(None, _sentence(view.missing or f"no condition of {METHOD_TITLES[UPSO]} on a published system"))


def _all(verdicts: Sequence[bool | None]) -> bool | None:
    return False if False in verdicts else None if None in verdicts or not verdicts else True


def _most(verdicts: Sequence[bool | None]) -> bool | None:
    """Tell whether more than half are true, whatever the unknown ones are."""
    half = len(verdicts) / 2
    return True if verdicts.count(True) > half else False if verdicts.count(False) >= half else None


def _reached(nu: float, level: float = IDENTIFIED) -> bool:
    # As printed: the paper's 0.98 are 39 of 40 runs.
    return float(rounded(nu)) >= level


def _kept(nu: float) -> bool:
    # 36 of 40 reaches 0.9 whatever the last bits say.
    return nu >= THRESHOLD - 1e-9


def _best_known(*rows: Row) -> float:
    return min((j for row in rows for j in (row.best, row.true) if not math.isnan(j)), default=math.nan)


def _is_best(fitness: float, best: float) -> bool:
    # Means are rounded to six decimals.
    return fitness <= best or math.isclose(fitness, best, rel_tol=1e-9)


def _closed(start: float, curve: Sequence[float], best: float) -> float | None:
    """Return the share of the gap between the mean J ``start`` and the best known J that is closed by the end."""
    if not curve or not math.isfinite(start) or not math.isfinite(curve[-1]):
        return None
    # A mean that is the best J already has no gap left.
    return 1.0 if _is_best(start, best) else (start - curve[-1]) / (start - best)


def _told_apart(a: float, b: float) -> list[str]:
    # With so many decimals that they differ in print where they do in fact; J is kept to six.
    digits = next((n for n in range(1, 7) if a == b or f"{a:.{n}f}" != f"{b:.{n}f}"), 6)
    return [f"{j:.{digits}f}" if math.isfinite(j) else "infinite" for j in (a, b)]


def _smallest(row: Row) -> str:
    return f"smallest ν {rounded(min(row.nu))}"


def _spurious(row: Row) -> str:
    return f"[{rounded(row.r)}, {rounded(row.nu_max)}]"


def _short(criterion: str) -> str:
    return f"ϱ = {criterion.removeprefix('aic-')}" if criterion.startswith("aic-") else criterion.upper()


def _count(verdicts: Iterable[bool | None], noun: str = "") -> str:
    """Return how many of the verdicts that are known are true, with ``noun`` as a share too."""
    found = [verdict for verdict in verdicts if verdict is not None]
    share = f" {noun} ({100 * (sum(found) / len(found)):.0f} %)" if noun else ""
    return f"{sum(found)} of {len(found)}{share}"


def _counts(verdicts: Mapping[str, Sequence[bool | None]]) -> list[str]:
    return [f"{_short(name)}: {_count(found)}" for name, found in verdicts.items() if {*found} - {None}]


def _decibels(snrs: Sequence[float]) -> str:
    return f"{', '.join(f'{snr_db:g}' for snr_db in snrs)} dB"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
