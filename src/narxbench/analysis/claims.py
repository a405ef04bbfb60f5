"""The paper's claims as predicates, each applied to the published values and to the conditions of a study.

What a claim says stands in ``data/reference/claims.yaml``; how it is judged, in the predicate of its id here. A
predicate sees a `View`: what the paper's tables print for every system, SNR, algorithm and criterion. One
counterexample refutes a claim; without one it holds only if every value that it speaks of is there.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import pandas as pd

from narxbench.analysis.frames import framed
from narxbench.analysis.published import EVALUATIONS, PLACE, RUNS, Published, printed, published_count
from narxbench.io.errors import NarxbenchError, did_you_mean
from narxbench.io.files import StrPath
from narxbench.io.settings import Settings, validated
from narxbench.io.yaml import read_mapping

SPARSE = ("S1", "S2", "S3")
SYSTEMS = (*SPARSE, "S4")
RHOS = ("aic-2", "aic-8", "aic-64", "aic-256")
CRITERIA = ("bic", *RHOS)
UPSO, GA = "upso2d", "ga"
IDENTIFIED = 0.95  # a selection frequency with which the text calls a system term identified
THRESHOLD = 0.9  # the text's example of a threshold for the final structure

# The longest list of places that an evidence holds.
_LISTED = 4

Place = tuple[str, float]


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
        return verdict if verdict.holds is None else Verdict(verdict.holds, f"{verdict.evidence} {view.note}".strip())


class _Claims(Settings):
    claims: list[Claim]


@dataclass(frozen=True)
class Row:
    """One condition as the tables print it; ``nu`` in label order.

    ``best`` and ``median`` are final J of the runs, ``third`` and ``curve`` the mean best J after a third and after
    each tenth of the evaluations (infinite where not finite), ``last_improvement`` the median evaluation of the runs'
    last one. The paper prints none of these: None, and an empty curve.
    """

    system: str
    algorithm: str
    criterion: str
    snr_db: float
    nu: tuple[float, ...]
    r: float
    nu_max: float
    best: float | None = None
    median: float | None = None
    third: float = math.inf
    curve: tuple[float, ...] = ()
    last_improvement: float = math.nan


@dataclass(frozen=True)
class View:
    """Rows of the paper's systems. ``missing`` says why a row is not there, ``note`` what to know of those that are."""

    rows: Sequence[Row]
    figure_snr_db: float = 30
    missing: str = ""
    note: str = ""
    snrs: tuple[float, ...] = field(init=False)
    _by_place: Mapping[tuple[str, float, str, str], Row] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "snrs", tuple(dict.fromkeys(row.snr_db for row in self.rows)))
        places = {(row.system, row.snr_db, row.algorithm, row.criterion): row for row in self.rows}
        object.__setattr__(self, "_by_place", places)

    def row(self, system: str, snr_db: float, algorithm: str = UPSO, criterion: str = "bic") -> Row | None:
        """Return the row of a place, or None."""
        return self._by_place.get((system, snr_db, algorithm, criterion))


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds (None: cannot be judged), and the numbers that decide it."""

    holds: bool | None
    evidence: str


@dataclass(frozen=True)
class Check:
    """A claim tested at one place; ``margin`` tells how close it came to the other verdict."""

    place: Place
    holds: bool | None
    found: str
    margin: float = 0.0


def load_claims(path: StrPath) -> list[Claim]:
    """Read the claims; every one needs a predicate here, and every predicate its claim."""
    claims = validated(_Claims, read_mapping(path), str(path)).claims
    ids = [claim.id for claim in claims]
    for number, name in enumerate(ids):
        if name not in PREDICATES or name in ids[:number]:
            allowed = f"each of {', '.join(PREDICATES)} once{did_you_mean(name, PREDICATES)}"
            raise NarxbenchError(f"{path}: claims[{number}].id: found {name!r}; allowed: {allowed}")
    if missing := [name for name in PREDICATES if name not in ids]:
        raise NarxbenchError(f"{path}: claims: found no claim {missing[0]!r}; needed: one for each predicate")
    return claims


def claims_frame(claims: Iterable[Claim], published: View, here: View) -> pd.DataFrame:
    """Return the verdicts on every claim: of the published values and of the conditions here."""
    sides = {"published": published, "here": here}
    judged = [(claim.id, side, claim.judge(view)) for claim in claims for side, view in sides.items()]
    return framed("claims", [(name, side, verdict.holds, verdict.evidence) for name, side, verdict in judged])


def published_view(published: Published) -> View:
    """Return the published values as a view; each selection frequency is the multiple of 1/40 that was rounded."""
    rows = []
    for place, group in published.values.groupby(PLACE, sort=False):
        known: dict[str, float] = {}
        for metric, label, value in group[["metric", "label", "published"]].itertuples(index=False):
            known.setdefault(label or metric, value if metric == "r" else published_count(value) / RUNS)
        nu = tuple(known[label] for label in published.systems[place[0]]["label"])
        rows.append(Row(*place, nu, known["r"], known["nu_max"]))
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
    notes = [f"{_method(a)} is the method {name}." for a, name in methods.items() if a != name]
    sizes = list(shown[["runs", "evaluations"]].drop_duplicates().itertuples(index=False, name=None))
    if any(size != (RUNS, EVALUATIONS) for size in sizes):
        made = " and ".join(f"{runs} runs of {evaluations} evaluations" for runs, evaluations in sizes)
        notes.append(f"Judged on {made}; the paper made {RUNS} of {EVALUATIONS}.")
    return View(claim_rows(shown), figure_snr_db, note=" ".join(notes))


def claim_rows(conditions: pd.DataFrame) -> tuple[Row, ...]:
    """Return the rows of conditions, in their order."""
    return tuple(map(_row, conditions.to_dict("records")))


# Predicates


def terms_reach(
    view: View, systems: Sequence[str] = SYSTEMS, algorithm: str = UPSO, level: float = IDENTIFIED
) -> Verdict:
    """Judge whether under BIC every system term's nu, as printed with two decimals, reaches ``level``."""

    def test(row: Row) -> tuple[bool, str, float]:
        return _reach(row, level), f"smallest ν {printed(min(row.nu))}", min(row.nu) - level

    return _everywhere(view, systems, [(algorithm, "bic")], test)


def separable(view: View, systems: Sequence[str] = SYSTEMS) -> Verdict:
    """Judge whether under BIC nu_max lies below the smallest nu of a system term."""

    def test(row: Row) -> tuple[bool, str, float]:
        lowest = min(row.nu)
        return row.nu_max < lowest, f"ν_max {printed(row.nu_max)}, {_smallest(row)}", lowest - row.nu_max

    return _everywhere(view, systems, [(UPSO, "bic")], test)


def mostly_identified(view: View) -> Verdict:
    """Judge whether under most criteria, systems and SNRs every system term has nu >= 0.95."""
    places = [(system, snr_db) for system in SYSTEMS for snr_db in view.snrs]
    rows = {name: [row for place in places if (row := view.row(*place, UPSO, name))] for name in CRITERIA}
    every = [row for found in rows.values() for row in found]
    if not every:
        return _nothing(view)
    good = sum(map(_reach, every))
    half = len(places) * len(CRITERIA) / 2
    values = [_reached(nu) for row in every for nu in row.nu]
    each = ", ".join(f"{_short(name)} {_count(map(_reach, found))}" for name, found in rows.items() if found)
    evidence = (
        f"Every system term reaches ν {IDENTIFIED} in {good} of {len(every)} conditions "
        f"({_percent(good / len(every))}): {each}; so do {_count(values)} values "
        f"({_percent(sum(values) / len(values))})."
    )
    if absent := [_short(name) for name, found in rows.items() if len(found) < len(places)]:
        evidence += f" Conditions are missing: {', '.join(absent)}."
    return Verdict(True if good > half else False if len(every) - good >= half else None, evidence)


def larger_rho_fewer_spurious(view: View) -> Verdict:
    """Judge whether on S1 to S3 both r and nu_max are smaller with rho = 256 than with rho = 2."""

    def test(low: Row, high: Row) -> tuple[bool, str, float]:
        found = f"[r, ν_max] {_spurious(low)} with {_short(RHOS[0])}, {_spurious(high)} with {_short(RHOS[-1])}"
        fall = min(low.r - high.r, low.nu_max - high.nu_max)
        return fall > 0, found, fall

    verdict = _everywhere(view, SPARSE, [(UPSO, RHOS[0]), (UPSO, RHOS[-1])], test)
    chains = []
    for system in SPARSE:
        for snr_db in view.snrs:
            rows = [row for criterion in RHOS if (row := view.row(system, snr_db, UPSO, criterion))]
            if len(rows) == len(RHOS):
                chains.append(all(b.r <= a.r and b.nu_max <= a.nu_max for a, b in pairwise(rows)))
    if not chains:
        return verdict
    steps = f"No step {', '.join(name.removeprefix('aic-') for name in RHOS)} raises either in {_count(chains)}."
    return Verdict(verdict.holds, f"{verdict.evidence} {steps}")


def rho_256_loses_s4(view: View) -> Verdict:
    """Judge whether on S4 with rho = 256 most system terms stay below the threshold 0.9."""

    def test(row: Row) -> tuple[bool, str, float]:
        lost = [not _kept(nu) for nu in row.nu]
        return sum(lost) > len(lost) / 2, f"{_count(lost)} below {THRESHOLD}", sum(lost) - len(lost) / 2

    return _everywhere(view, ["S4"], [(UPSO, "aic-256")], test)


def rho_2_good_for_s4(view: View) -> Verdict:
    """Judge whether on S4 rho = 2 meets both criteria that the text gives for BIC."""

    def test(row: Row) -> tuple[bool, str, float]:
        return meets_both(row), f"{_smallest(row)}, ν_max {printed(row.nu_max)}", min(row.nu) - row.nu_max

    return _everywhere(view, ["S4"], [(UPSO, "aic-2")], test)


def lower_rho_suits_s4(view: View) -> Verdict:
    """Judge whether on S4 rho = 2 has the lowest nu_max of all rho under which every nu reaches 0.95."""

    def test(*rows: Row) -> tuple[bool, str, float]:
        kept = {name: row.nu_max for name, row in zip(RHOS, rows, strict=True) if _reach(row)}
        found = ", ".join(f"{printed(value)} with {_short(name)}" for name, value in kept.items())
        holds = RHOS[0] in kept and kept[RHOS[0]] <= min(kept.values())
        return holds, f"ν_max {found}" if kept else "no ϱ keeps every system term", 0.0

    return _everywhere(view, ["S4"], [(UPSO, criterion) for criterion in RHOS], test)


def bic_preferable(view: View) -> Verdict:
    """Judge whether BIC meets both criteria of the text in every row, and no rho does."""
    places = [(system, snr_db) for system in SYSTEMS for snr_db in view.snrs]
    verdicts: dict[str, bool | None] = {}
    counts = []
    for criterion in CRITERIA:
        rows = [view.row(*place, UPSO, criterion) for place in places]
        met = [meets_both(row) if row else None for row in rows]
        verdicts[criterion] = _all(met)
        if found := [verdict for verdict in met if verdict is not None]:
            counts.append(f"{_short(criterion)} {_count(found)}")
    if not counts:
        return _nothing(view)
    refuting = [_short(name) for name in RHOS if verdicts[name]]
    holds = _all([verdicts["bic"], *(None if (all_met := verdicts[name]) is None else not all_met for name in RHOS)])
    evidence = f"Rows with every ν ≥ {IDENTIFIED} and ν_max below them: {', '.join(counts)}."
    if refuting:
        evidence += f" In every row: {', '.join(refuting)}."
    if None in verdicts.values():
        evidence += " Conditions are missing."
    return Verdict(holds, evidence)


def ga_fails_s4(view: View) -> Verdict:
    """Judge whether on S4 at each SNR system terms of GA under BIC lie below its nu_max."""

    def test(row: Row) -> tuple[bool, str, float]:
        below = [nu < row.nu_max for nu in row.nu]
        return any(below), f"{_count(below)} below ν_max {printed(row.nu_max)}", sum(below)

    return _everywhere(view, ["S4"], [(GA, "bic")], test)


def fewer_spurious(view: View, systems: Sequence[str]) -> Verdict:
    """Judge whether under BIC both r and nu_max of 2D-UPSO are smaller than those of GA."""

    def test(upso: Row, ga: Row) -> tuple[bool, str, float]:
        margin = min(ga.r - upso.r, ga.nu_max - upso.nu_max)
        return margin > 0, f"[r, ν_max] {_spurious(upso)} against {_spurious(ga)}", margin

    return _everywhere(view, systems, [(UPSO, "bic"), (GA, "bic")], test)


def exact_at_threshold(view: View, systems: Sequence[str] = SYSTEMS, criterion: str = "bic") -> Verdict:
    """Judge whether exactly the system terms have nu >= 0.9."""

    def test(row: Row) -> tuple[bool, str, float]:
        lowest = min(row.nu)
        margin = min(lowest - THRESHOLD, THRESHOLD - row.nu_max)
        return _kept(lowest) and not _kept(row.nu_max), f"{_smallest(row)}, ν_max {printed(row.nu_max)}", margin

    return _everywhere(view, systems, [(UPSO, criterion)], test)


def ga_stagnates(view: View) -> Verdict:
    """Judge whether after a third of the budget GA's mean J closes less of its gap than half, and than 2D-UPSO's does.

    The gap is the one between the mean J after a third of the budget and the best final J of any run of either method.
    """

    def test(upso: Row, ga: Row) -> tuple[bool | None, str, float]:
        best = min(math.inf if row.best is None else row.best for row in (upso, ga))
        own, other = (_closed(row, best) for row in (ga, upso))
        if own is None or other is None:
            return None, view.missing or "mean J is not finite after a third of the budget", 0.0
        found = (
            f"GA closes {_percent(own)} of its gap after a third of the budget, 2D-UPSO {_percent(other)}; "
            f"median last improvement at evaluation {ga.last_improvement:g} and {upso.last_improvement:g}"
        )
        return own < min(0.5, other), found, min(0.5, other) - own

    return _everywhere(view, SYSTEMS, [(UPSO, "bic"), (GA, "bic")], test, [view.figure_snr_db])


def keeps_improving(view: View) -> Verdict:
    """Judge whether the mean J of 2D-UPSO falls in every tenth of the budget."""

    def test(row: Row) -> tuple[bool | None, str, float]:
        if not row.curve:
            return None, view.missing, 0.0
        falls = [a - b for a, b in pairwise(filter(math.isfinite, row.curve))]
        if not falls or not math.isfinite(row.curve[-1]):
            return None, "mean J is not finite", 0.0
        fell = f"falls in {sum(fall > 0 for fall in falls)} of the {len(falls)} tenths after the first"
        return min(falls) > 0, f"{fell}, by {falls[-1]:.2f} in the last", min(falls)

    return _everywhere(view, SYSTEMS, [(UPSO, "bic")], test, [view.figure_snr_db])


def better_fitness(view: View) -> Verdict:
    """Judge whether under BIC the median final J of 2D-UPSO lies below that of GA."""

    def test(upso: Row, ga: Row) -> tuple[bool | None, str, float]:
        if upso.median is None or ga.median is None:
            return None, view.missing, 0.0
        medians = upso.median, ga.median
        found = "median J " + " against ".join(f"{m:.1f}" if math.isfinite(m) else "infinite" for m in medians)
        return upso.median < ga.median, found, ga.median - upso.median

    return _everywhere(view, SYSTEMS, [(UPSO, "bic"), (GA, "bic")], test)


PREDICATES: dict[str, Callable[[View], Verdict]] = {
    "bic-finds-all-terms": terms_reach,
    "bic-separates": separable,
    "terms-found-with-any-criterion": mostly_identified,
    "larger-rho-fewer-spurious": larger_rho_fewer_spurious,
    "rho-256-suits-s1-s3": partial(exact_at_threshold, systems=SPARSE, criterion="aic-256"),
    "rho-256-loses-s4": rho_256_loses_s4,
    "rho-2-good-for-s4": rho_2_good_for_s4,
    "lower-rho-suits-many-terms": lower_rho_suits_s4,
    "bic-preferable-to-every-rho": bic_preferable,
    "upso-finds-s4": partial(terms_reach, systems=["S4"], level=0.98),
    "ga-fails-s4": ga_fails_s4,
    "ga-finds-s1-s3": partial(terms_reach, systems=SPARSE, algorithm=GA, level=THRESHOLD),
    "upso-fewer-spurious-s1-s3": partial(fewer_spurious, systems=SPARSE),
    "upso-fewer-spurious-s4": partial(fewer_spurious, systems=["S4"]),
    "threshold-recovers-structure": exact_at_threshold,
    "ga-stagnates": ga_stagnates,
    "upso-keeps-improving": keeps_improving,
    "upso-reaches-better-j": better_fitness,
}


# Parts of the predicates


def _everywhere(
    view: View,
    systems: Sequence[str],
    needed: Sequence[tuple[str, str]],
    test: Callable[..., tuple[bool | None, str, float]],
    snrs: Sequence[float] | None = None,
) -> Verdict:
    checks = []
    for system in systems:
        for snr_db in view.snrs if snrs is None else snrs:
            rows = [view.row(system, snr_db, algorithm, criterion) for algorithm, criterion in needed]
            if None in rows:
                algorithm, criterion = needed[rows.index(None)]
                reason = view.missing or f"no condition of {_method(algorithm)} under {_short(criterion)}"
                checks.append(Check((system, snr_db), None, reason))
            else:
                checks.append(Check((system, snr_db), *test(*rows)))
    return _verdict(checks)


def _verdict(checks: Sequence[Check]) -> Verdict:
    if not checks:
        return Verdict(None, "No condition of a published system.")
    judged = [check for check in checks if check.holds is not None]
    failed = [check for check in judged if not check.holds]
    parts = []
    if judged:
        shown = failed or sorted(judged, key=lambda check: check.margin)
        if len(judged) <= _LISTED:
            listed, lead = judged, ""
        else:
            listed, lead = shown[: _LISTED if failed else 1], "not " if failed else "closest "
        more = f"; and {len(failed) - _LISTED} more" if lead and len(failed) > _LISTED else ""
        found = "; ".join(f"{check.place[0]} at {_decibels([check.place[1]])}: {check.found}" for check in listed)
        parts.append(f"Holds at {len(judged) - len(failed)} of {len(judged)}: {lead}{found}{more}.")
    reasons: dict[str, dict[str, list[float]]] = {}
    for check in checks:
        if check.holds is None:
            reasons.setdefault(check.found, {}).setdefault(check.place[0], []).append(check.place[1])
    snrs = list(dict.fromkeys(check.place[1] for check in checks))
    for reason, places in reasons.items():
        where = [name if of == snrs else f"{name} at {_decibels(of)}" for name, of in places.items()]
        parts.append(_sentence(f"{reason}: {', '.join(where)}"))
    return Verdict(_all([check.holds for check in checks]), " ".join(parts))


def _nothing(view: View) -> Verdict:
    return Verdict(None, _sentence(view.missing or f"no condition of {_method(UPSO)} on a published system"))


def _all(verdicts: Sequence[bool | None]) -> bool | None:
    return False if False in verdicts else None if None in verdicts or not verdicts else True


def _reached(nu: float, level: float = IDENTIFIED) -> bool:
    # As printed: the paper's 0.98 are 39 of 40 runs.
    return float(printed(nu)) >= level


def _reach(row: Row, level: float = IDENTIFIED) -> bool:
    return all(_reached(nu, level) for nu in row.nu)


def meets_both(row: Row) -> bool:
    """Tell whether a row meets the two criteria by which the text prefers BIC."""
    return _reach(row) and row.nu_max < min(row.nu)


def _kept(nu: float) -> bool:
    # 36 of 40 reaches 0.9 whatever the last bits say.
    return nu >= THRESHOLD - 1e-9


def _closed(row: Row, best: float) -> float | None:
    """Return the share of the gap after a third of the budget that the mean J closes by the end."""
    if not row.curve or not math.isfinite(row.third) or not math.isfinite(row.curve[-1]):
        return None
    # A mean that is at the best J already has no gap left.
    return 1.0 if row.third <= best else (row.third - row.curve[-1]) / (row.third - best)


def _row(row: Mapping[str, Any]) -> Row:
    runs = row["runs"]
    return Row(
        **{name: row[name] for name in PLACE},
        nu=tuple(count / runs for count in row["nu"]),
        r=row["spurious"] / row["n_terms"],
        nu_max=row["nu_max"] / runs,
        best=_infinite(row["best_fitness"]),
        median=_infinite(row["median_fitness"]),
        third=_infinite(row["third_fitness"]),
        curve=tuple(map(_infinite, row["curve"])),
        last_improvement=row["last_improvement"],
    )


def _infinite(value: float) -> float:
    return math.inf if math.isnan(value) else value


# Words of the evidence


def _smallest(row: Row) -> str:
    return f"smallest ν {printed(min(row.nu))}"


def _spurious(row: Row) -> str:
    return f"[{printed(row.r)}, {printed(row.nu_max)}]"


def _method(name: str) -> str:
    return {UPSO: "2D-UPSO", GA: "GA"}.get(name, name)


def _short(criterion: str) -> str:
    return f"ϱ = {criterion.removeprefix('aic-')}" if criterion.startswith("aic-") else criterion.upper()


def _count(verdicts: Iterable[bool]) -> str:
    found = list(verdicts)
    return f"{sum(found)} of {len(found)}"


def _decibels(snrs: Sequence[float]) -> str:
    return f"{', '.join(f'{snr_db:g}' for snr_db in snrs)} dB"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
