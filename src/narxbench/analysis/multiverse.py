"""Answers to the questions of the sensitivity experiment; all are computed from the cells of a `Study` alone."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from statistics import fmean
from typing import NamedTuple, TypeVar

from narxbench.analysis.claims import CLAIMS, CRITERIA, GA, SPARSE, UPSO, Claim, Curve, Finals, Row, View, meets_both
from narxbench.analysis.claims import published_view as claims_on_paper
from narxbench.analysis.distance import Distance, Spread, distance, distinguishable, over_seeds, spread
from narxbench.analysis.multiverse_frame import COMPARED, SCREENED, ReadingCell, Study
from narxbench.analysis.published import METRICS, Place
from narxbench.experiment.interpretations import (
    BASE,
    SHARED_PARTS,
    choices_text,
    contradictions,
    parse_choices,
    reading_settings,
)

# Final J are stored to six decimals, so that two of them may differ by their rounding alone.
SAME_J = 1.5e-6
CONFIDENCE = 0.95
REFERENCE = "stepwise"
# A GA that is known to be stronger than the base, whose gaps are shown whatever its distance is.
STRONG_GA = "selection=tournament+elitism=on"

ROLES = ("base", "default", "closest", "closest without contradiction")

T = TypeVar("T", bound=Hashable)


class Pair(NamedTuple):
    """A reading as the choices of 2D-UPSO and of GA, in the order of `COMPARED`; they share data and fitness."""

    upso: str
    ga: str


# Ranking


@dataclass(frozen=True)
class Judged:
    """The distance to published values on each data seed."""

    distances: tuple[Distance, ...]

    @cached_property
    def spreads(self) -> dict[str, Spread]:
        """Distance, parts and count of clear differences over the data seeds."""
        return over_seeds(self.distances)

    @property
    def values(self) -> int:
        """Number of published values on each data seed."""
        return self.distances[0].values


@dataclass(frozen=True)
class Ranked(Judged):
    """A reading, of one algorithm or of both, with its distance; ``names`` are those that it has in the file."""

    choices: str
    names: tuple[str, ...]
    changes: int
    contradictions: tuple[str, ...]

    @property
    def title(self) -> str:
        """The choices, and the names that they have."""
        return f"{self.choices} ({', '.join(self.names)})" if self.names else self.choices


@dataclass(frozen=True)
class Whole(Judged):
    """A reading with its distance to all published tables, of 2D-UPSO and of GA."""

    pair: Pair


def ranking(study: Study, algorithm: str = UPSO) -> list[Ranked]:
    """Return all readings of an algorithm that have every cell of the base, the closest (median over seeds) first."""
    return _ranked(study, algorithm, ((c, study.distances(algorithm, c)) for c in study.complete(algorithm)))


def together(study: Study, upso: Sequence[Ranked], ga: Sequence[Ranked]) -> list[Ranked]:
    """Return whole readings, each of 2D-UPSO with each of GA on the same data, the closest first.

    Means are over the published cells of both; clear differences are those of both added up.
    """
    by_upso, by_ga = ({entry.choices: entry.distances for entry in ranked} for ranked in (upso, ga))
    # Without any cell of GA a reading is that of 2D-UPSO.
    found: Iterable[tuple[str, tuple[Distance, ...]]] = by_upso.items()
    if by_ga:
        found = (
            (study.united(*pair), tuple(map(_joined, by_upso[pair.upso], by_ga[pair.ga])))
            for pair in _on_the_same_data(study, by_upso, by_ga)
        )
    return _ranked(study, None, found)


def _ranked(study: Study, algorithm: str | None, found: Iterable[tuple[str, tuple[Distance, ...]]]) -> list[Ranked]:
    names: dict[str, tuple[str, ...]] = {}
    for name, reading in study.readings.named.items():
        own = choices_text(study.readings, reading, algorithm)
        names[own] = (*names.get(own, ()), name)
    ranked = []
    for choices, distances in found:
        changes = parse_choices(study.readings, choices)
        against = tuple(contradictions(study.readings, changes))
        ranked.append(Ranked(distances, choices, names.get(choices, ()), len(changes), against))
    return sorted(ranked, key=lambda entry: (entry.spreads["distance"].median, entry.changes, entry.choices))


def _on_the_same_data(study: Study, upso: Iterable[str], ga: Iterable[str]) -> list[Pair]:
    by_data: dict[str, list[str]] = {}
    for choices in ga:
        by_data.setdefault(study.shared(choices), []).append(choices)
    return [Pair(own, other) for own in upso for other in by_data.get(study.shared(own), [])]


def _joined(a: Distance, b: Distance) -> Distance:
    cells = a.cells + b.cells
    nu, r, nu_max = ((a.cells * getattr(a, part) + b.cells * getattr(b, part)) / cells for part in METRICS)
    return Distance(cells, nu, r, nu_max, a.values + b.values, a.distinguishable + b.distinguishable)


def pair_roles(study: Study, whole: Sequence[Ranked]) -> dict[str, Pair]:
    """Return the readings that the answers set side by side, by role; roles of equal readings share one.

    Closest is the whole reading of the smallest median distance, closest without contradiction that of those which
    contradict no explicit statement of the sources.
    """
    consistent = next(entry for entry in whole if not entry.contradictions)
    closest = [parse_choices(study.readings, entry.choices) for entry in (whole[0], consistent)]
    return _sharing(
        (role, Pair(*(choices_text(study.readings, reading, name) for name in COMPARED)))
        for role, reading in zip(ROLES, ({}, study.default, *closest), strict=True)
    )


def roles(pairs: Mapping[str, Pair], ranked: Mapping[str, Sequence[Ranked]]) -> dict[str, dict[str, Ranked]]:
    """Return by algorithm its readings in ``pairs``, by role; roles of equal choices share one.

    A role whose reading has not every cell of the base is left out.
    """
    found = {}
    for index, (algorithm, entries) in enumerate(ranked.items()):
        known = {entry.choices: entry for entry in entries}
        found[algorithm] = _sharing((role, known[p[index]]) for role, p in pairs.items() if p[index] in known)
    return found


def _sharing(named: Iterable[tuple[str, T]]) -> dict[str, T]:
    """Return values by name; the names of equal values are joined."""
    names: dict[T, list[str]] = {}
    for name, value in named:
        names.setdefault(value, []).append(name)
    return {", ".join(of): value for value, of in names.items()}


def has_role(names: str, role: str) -> bool:
    """Tell whether a role is among those that share a reading."""
    return role in names.split(", ")


def with_role(role: str, shown: Mapping[str, T]) -> T | None:
    """Return the reading that has a role, alone or with others."""
    return next((value for names, value in shown.items() if has_role(names, role)), None)


def whole_distances(study: Study, pairs: Mapping[str, Pair]) -> list[Whole]:
    """Return the distance to all published tables of the readings that were run under every criterion."""
    beside_upso = {pair.upso: pair.ga for pair in reversed(list(pairs.values()))}
    complete = set.intersection(*(set(study.complete(UPSO, name)) for name in CRITERIA))
    every_ga = study.complete(GA)
    found = []
    for upso in study.complete(UPSO):
        pair = Pair(upso, beside_upso.get(upso, study.shared(upso)))
        if upso in complete and pair.ga in every_ga:
            cells = ([cell.counts() for cell in _cells_of(study, pair, seed)] for seed in study.seeds)
            found.append(Whole(tuple(own for of in cells if (own := distance(study.published, of))), pair))
    return sorted(found, key=lambda entry: entry.spreads["distance"].median)


def _cells_of(study: Study, pair: Pair, seed: int) -> list[ReadingCell]:
    """Return the cells of a reading on one data seed under all criteria."""
    return [cell for name, choices in zip(COMPARED, pair, strict=True) for cell in study.of(name, choices, seed, "")]


# Effects of single options


class Change(NamedTuple):
    """A change from the base, paired by data seed: median, range, and Student's interval of its mean (level 95 %).

    The interval is None for a single data seed. An exact sign test of five pairs cannot reach the level 5 %.
    """

    median: float
    low: float
    high: float
    interval: tuple[float, float] | None

    @property
    def clear(self) -> bool:
        """Whether the interval does not contain 0."""
        return self.interval is not None and not self.interval[0] <= 0 <= self.interval[1]


@dataclass(frozen=True)
class Effect:
    """What one option of one open point changes for one algorithm, by measure (see `measures`)."""

    algorithm: str
    part: str
    choices: str
    contradicts: str
    changes: Mapping[str, Change]


@dataclass(frozen=True)
class Interaction:
    """Change of the distance by several options together, and what exceeds the sum of their single changes."""

    algorithm: str
    choices: str
    together: Change
    beyond_sum: Change


def measures(cells: Sequence[ReadingCell], found: Distance) -> dict[str, float]:
    """Return the measures of the cells of one data seed.

    ``distance`` and its parts ``distance_nu``, ``distance_r``, ``distance_nu_max``; and mean ``nu`` of the system
    terms, ``r`` and ``nu_max``, each averaged over the cells of S1 to S3 (``_sparse``) and of S4 (``_s4``).
    """
    measured = {"distance": found.distance} | {f"distance_{part}": getattr(found, part) for part in METRICS}
    for group, systems in (("sparse", SPARSE), ("s4", ("S4",))):
        own = [cell for cell in cells if cell.system in systems]
        if own:
            measured[f"nu_{group}"] = fmean(cell.nu_mean for cell in own)
            measured[f"r_{group}"] = fmean(cell.r for cell in own)
            measured[f"nu_max_{group}"] = fmean(cell.nu_max / cell.runs for cell in own)
    return measured


def effects(study: Study, ranked: Mapping[str, Sequence[Ranked]]) -> list[Effect]:
    """Return the effect of each single option on each compared algorithm, largest change of the distance first."""
    found = []
    for algorithm, entries in ranked.items():
        measured = {
            entry.choices: [
                measures(study.of(algorithm, entry.choices, seed), own)
                for seed, own in zip(study.seeds, entry.distances, strict=True)
            ]
            for entry in entries
            if entry.changes <= 1
        }
        base = measured.pop(BASE, [])
        for choices, own in measured.items():
            point, option = choices.split("=")
            known = study.readings.open_points[point]
            names = [name for name in base[0] if all(name in entry for entry in (*base, *own))]
            changes = {name: change([b[name] - a[name] for a, b in zip(base, own, strict=True)]) for name in names}
            found.append(Effect(algorithm, known.part, choices, known.options[option].contradicts, changes))
    return sorted(found, key=lambda e: (e.algorithm != UPSO, -abs(e.changes["distance"].median), e.choices))


def interactions(study: Study, ranked: Mapping[str, Sequence[Ranked]]) -> list[Interaction]:
    """Return what pairs of options do beyond the sum of their single changes, where all of these were run."""
    found = []
    for algorithm, entries in ranked.items():
        known = {entry.choices: [own.distance for own in entry.distances] for entry in entries}
        changes = {name: [b - a for a, b in zip(known[BASE], of, strict=True)] for name, of in known.items()}
        for choices in study.complete(algorithm):
            single = choices.split("+")
            if len(single) == 2 and set(single) <= set(changes):
                each = zip(changes[choices], *(changes[name] for name in single), strict=True)
                beyond = [both - math.fsum(parts) for both, *parts in each]
                found.append(Interaction(algorithm, choices, change(changes[choices]), change(beyond)))
    return found


def change(differences: Sequence[float]) -> Change:
    """Return median, range and Student's interval of paired differences."""
    values = spread(differences)
    n = len(differences)
    if n < 2:
        return Change(*values, None)
    mean = fmean(differences)
    deviation = math.sqrt(math.fsum((value - mean) * (value - mean) for value in differences) / (n - 1))
    reach = student_quantile(n - 1) * deviation / math.sqrt(n)
    return Change(*values, (mean - reach, mean + reach))


@cache
def student_quantile(freedom: int) -> float:
    """Return t such that Student's variable lies in (-t, t) with the chance `CONFIDENCE`, to 6 digits."""
    low, high = 0.0, 1000.0
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _student_chance(middle, freedom) < CONFIDENCE else (low, middle)
    return float(f"{low:.6g}")


def _student_chance(t: float, freedom: int) -> float:
    # Abramowitz and Stegun, 26.7.3 and 26.7.4.
    angle = math.atan(t / math.sqrt(freedom))
    sine, square = math.sin(angle), math.cos(angle) ** 2
    term = 1.0 if freedom % 2 == 0 else math.cos(angle)
    series = [] if freedom == 1 else [term]
    for k in range(2 if freedom % 2 == 0 else 3, freedom - 1, 2):
        term *= square * (k - 1) / k
        series.append(term)
    total = sine * math.fsum(series)
    return total if freedom % 2 == 0 else 2 / math.pi * (angle + total)


# Published beside reproduced


@dataclass(frozen=True)
class Beside:
    """A published value of r or nu_max beside those of readings, by role, over the data seeds.

    A value is None where the algorithm has no complete reading of that role.
    """

    place: Place
    published: float
    reproduced: Mapping[str, Spread | None]


@dataclass(frozen=True)
class Unexplained:
    """A published value that a reading's differ from clearly on every data seed."""

    place: Place
    term: str
    published: float
    reproduced: Spread


def beside(study: Study, shown: Mapping[str, Mapping[str, Ranked]]) -> list[Beside]:
    """Return the published r and nu_max of every screened cell beside those of the readings that have a role.

    Roles share a label if they do so in all algorithms.
    """
    by_role = ((role, tuple(with_role(role, of) for of in shown.values())) for role in ROLES)
    labels = _sharing((role, entries) for role, entries in by_role if any(entries))
    found = []
    for index, algorithm in enumerate(shown):
        own = {label: entries[index] for label, entries in labels.items()}
        for place, value in _published_once(study, algorithm) if any(own.values()) else ():
            if place.metric != "nu":
                there = {of: _reproduced(study, entry.choices, place) if entry else None for of, entry in own.items()}
                found.append(Beside(place, value, there))
    return found


def unexplained(study: Study, algorithm: str, choices: str) -> list[Unexplained]:
    """Return the published values that differ clearly (tests of `Distance`) under every data seed, each once."""
    counts = ([cell.counts() for cell in study.of(algorithm, choices, seed)] for seed in study.seeds)
    clear = set.intersection(*(set(distinguishable(study.published, of)) for of in counts))
    terms = study.published.system_terms
    return [
        Unexplained(
            place,
            terms[place.system][place.label].term if place.label else "",
            value,
            _reproduced(study, choices, place),
        )
        for place, value in _published_once(study, algorithm)
        if place in clear
    ]


def _published_once(study: Study, algorithm: str) -> list[tuple[Place, float]]:
    # Of a value that is printed in two tables the first is taken.
    once: dict[tuple[object, ...], tuple[Place, float]] = {}
    for place, value in study.published.values.items():
        if place.algorithm == algorithm and place.criterion == SCREENED:
            once.setdefault(place[1:], (place, value))
    return list(once.values())


def _reproduced(study: Study, choices: str, place: Place) -> Spread:
    cells = study.of(place.algorithm, choices, criterion=place.criterion)
    return spread([c.counts().value(place) for c in cells if (c.system, c.snr_db) == (place.system, place.snr_db)])


# Claims


@dataclass(frozen=True)
class ClaimMap:
    """A claim under all readings: verdicts by reading, on how many of the data seeds it holds, and what flips it.

    A verdict is that of more than half of the data seeds, None where there is no such majority that could be judged.
    ``single`` holds the verdicts of the single changes (text) of the open points that can matter to the claim.
    """

    claim: Claim
    published: bool | None
    base: bool | None
    base_seeds: int
    verdicts: Mapping[Pair, bool | None]
    single: Mapping[str, bool | None]
    roles: Mapping[str, bool | None]

    @property
    def judged(self) -> int:
        """Number of readings with a verdict."""
        return sum(verdict is not None for verdict in self.verdicts.values())

    @property
    def holding(self) -> int:
        """Number of readings under which the claim holds."""
        return sum(verdict is True for verdict in self.verdicts.values())

    @property
    def flips(self) -> list[str]:
        """The single changes whose verdict is the opposite of the base's."""
        return [text for text, holds in self.single.items() if self.base is not None and holds is (not self.base)]


def reading_view(study: Study, pair: Pair, seed: int) -> View:
    """Return the cells of a reading on one data seed as the claims see them."""
    cells = _cells_of(study, pair, seed)
    return View(tuple(map(_row, sorted(cells, key=lambda cell: (cell.system, -cell.snr_db)))))


def claim_maps(study: Study, pairs: Mapping[str, Pair]) -> list[ClaimMap]:
    """Return every claim under all readings for which the cells exist."""
    view = cache(partial(reading_view, study))

    @cache
    def each(claim: Claim, pair: Pair) -> list[bool | None]:
        return [claim.judge(view(pair, seed)).holds for seed in study.seeds]

    def majority(claim: Claim, pair: Pair) -> bool | None:
        verdicts = each(claim, _concerned(claim, pair))
        return next((holds for holds in (True, False) if 2 * verdicts.count(holds) > len(verdicts)), None)

    base, single, on_paper = Pair(BASE, BASE), _single_pairs(study), claims_on_paper(study.published)
    return [
        ClaimMap(
            claim=claim,
            published=claim.judge(on_paper).holds,
            base=majority(claim, base),
            base_seeds=each(claim, _concerned(claim, base)).count(True),
            verdicts={pair: majority(claim, pair) for pair in _pairs(study, claim)},
            single={
                text: majority(claim, pair)
                for text, (part, pair) in single.items()
                if part in (*SHARED_PARTS, *claim.algorithms)
            },
            roles={role: majority(claim, pair) for role, pair in pairs.items()},
        )
        for claim in CLAIMS
    ]


def _single_pairs(study: Study) -> dict[str, tuple[str, Pair]]:
    complete = {choices for name in COMPARED for choices in study.complete(name)}
    return {
        text: (known.part, Pair(*(text if known.part in (*SHARED_PARTS, name) else BASE for name in COMPARED)))
        for point, known in study.readings.open_points.items()
        for option in known.options
        if (text := f"{point}={option}") in complete
    }


def _pairs(study: Study, claim: Claim) -> list[Pair]:
    """Return the readings that can matter to a claim; an algorithm that it does not speak of has no choices."""
    upso, ga = map(study.complete, COMPARED)
    if claim.algorithms == (UPSO,):
        return [Pair(choices, "") for choices in upso]
    if claim.algorithms == (GA,):
        return [Pair("", choices) for choices in ga]
    return _on_the_same_data(study, upso, ga)


def _concerned(claim: Claim, pair: Pair) -> Pair:
    return Pair(*(choices if name in claim.algorithms else "" for name, choices in zip(COMPARED, pair, strict=True)))


def _row(cell: ReadingCell) -> Row:
    return Row(
        system=cell.system,
        snr_db=cell.snr_db,
        algorithm=cell.algorithm,
        criterion=cell.criterion,
        nu=tuple(count / cell.runs for count in cell.nu),
        r=cell.r,
        nu_max=cell.nu_max / cell.runs,
        fitness=Finals(_or_worst(cell.best_fitness), _or_worst(cell.median_fitness)),
        curve=Curve(cell.third_fitness, cell.curve, cell.last_improvement),
    )


# 2D-UPSO against GA, BIC against the other criteria


@dataclass(frozen=True)
class Contest:
    """Median final J of 2D-UPSO against that of GA on every system, SNR and data seed: lower, equal, higher."""

    upso: str
    ga: str
    by_system: Mapping[str, Sequence[int]]

    @property
    def total(self) -> list[int]:
        """Lower, equal and higher over all systems."""
        return [sum(of) for of in zip(*self.by_system.values(), strict=True)]


@dataclass(frozen=True)
class CriterionScore:
    """A criterion under one reading of 2D-UPSO, over systems, SNRs and data seeds.

    ``met`` of ``rows`` meet both criteria by which the text prefers BIC; ``distance`` is that of its cells.
    """

    choices: str
    criterion: str
    met: int
    rows: int
    exact_runs: int
    runs: int
    distance: Spread | None


def contests(study: Study, upso: str) -> list[Contest]:
    """Return the contest of one reading of 2D-UPSO with every GA on the same data."""
    found = []
    for _, ga in _on_the_same_data(study, [upso], study.complete(GA)):
        rivals = {cell.key[2:]: cell for cell in study.of(GA, ga)}
        by_system: dict[str, list[int]] = {}
        for cell in study.of(UPSO, upso):
            if rival := rivals.get(cell.key[2:]):
                order = _order(cell.median_fitness, rival.median_fitness)
                by_system.setdefault(cell.system, [0, 0, 0])[order] += 1
        found.append(Contest(upso, ga, by_system))
    return found


def criterion_scores(study: Study) -> list[CriterionScore]:
    """Return the scores of all criteria for the readings of 2D-UPSO that were run under more than one."""
    complete = {criterion: study.complete(UPSO, criterion) for criterion in CRITERIA}
    found = []
    for choices in complete[SCREENED]:
        criteria = [criterion for criterion in CRITERIA if choices in complete[criterion]]
        for criterion in criteria if len(criteria) > 1 else ():
            cells = study.of(UPSO, choices, criterion=criterion)
            distances = [entry.distance for entry in study.distances(UPSO, choices, criterion)]
            found.append(
                CriterionScore(
                    choices=choices,
                    criterion=criterion,
                    met=sum(meets_both(_row(cell)) for cell in cells),
                    rows=len(cells),
                    exact_runs=sum(cell.exact_runs for cell in cells),
                    runs=sum(cell.runs for cell in cells),
                    distance=spread(distances) if distances else None,
                )
            )
    return found


def _order(own: float | None, other: float | None) -> int:
    difference = _or_worst(own) - _or_worst(other)
    # Both infinite: neither found a structure.
    return 1 if math.isnan(difference) or abs(difference) <= SAME_J else 0 if difference < 0 else 2


# Gaps


@dataclass(frozen=True)
class Gap:
    """How far the J of an algorithm and of the true structure lie above the best known J of the same data.

    ``median``, ``best`` and ``true`` are spreads over the data seeds of the median final J, of the best final J and of
    the true structure's J, minus the best J of any run of any algorithm (or of the true structure) on the same data
    under the same criterion; None where one is not finite. ``true_above`` counts the data seeds on which the true
    structure is not the best known, ``exact_runs`` the runs that found it, of ``runs``.
    """

    algorithm: str
    role: str
    choices: str
    system: str
    snr_db: float
    criterion: str
    seeds: int
    median: Spread | None
    best: Spread | None
    true: Spread | None
    true_above: int
    exact_runs: int
    runs: int


def gaps(study: Study, shown: Mapping[str, Mapping[str, Ranked]]) -> list[Gap]:
    """Return the gaps of the readings that have a role, of a stronger GA and of the reference search, by cell."""
    best = best_known(study)
    return [
        _gap(study, best, role, cells)
        for algorithm, readings in _gap_readings(study, shown).items()
        for role, choices in readings.items()
        for criterion in CRITERIA
        for cells in _by_place(study.of(algorithm, choices, criterion=criterion))
    ]


def best_known(study: Study) -> dict[tuple[object, ...], float]:
    """Return the smallest J of each data set and criterion, over all cells of a study."""
    best: dict[tuple[object, ...], float] = {}
    for (_, choices), cells in study.cells.items():
        data = study.shared(choices)
        for cell in cells:
            key = (data, *cell.key[2:])
            best[key] = min(best.get(key, math.inf), _or_worst(cell.best_fitness), _or_worst(cell.true_fitness))
    return best


def _gap_readings(study: Study, shown: Mapping[str, Mapping[str, Ranked]]) -> dict[str, dict[str, str]]:
    readings = {name: {role: entry.choices for role, entry in of.items()} for name, of in shown.items()}
    if STRONG_GA in study.complete(GA) and STRONG_GA not in readings[GA].values():
        readings[GA]["tournament and elitism"] = STRONG_GA
    data = dict.fromkeys(map(study.shared, readings[UPSO].values()))
    every = study.complete(REFERENCE)
    return readings | {REFERENCE: {choices: choices for choices in data if choices in every}}


def _by_place(cells: Iterable[ReadingCell]) -> list[list[ReadingCell]]:
    by_place: dict[tuple[str, float], list[ReadingCell]] = {}
    for cell in cells:
        by_place.setdefault((cell.system, -cell.snr_db), []).append(cell)
    return [by_place[place] for place in sorted(by_place)]


def _gap(study: Study, best: Mapping[tuple[object, ...], float], role: str, cells: Sequence[ReadingCell]) -> Gap:
    """Return the gap of the cells of one place on all data seeds."""
    first = cells[0]
    data = study.shared(first.choices)
    settings = reading_settings(study.readings, parse_choices(study.readings, first.choices))

    def above(cell: ReadingCell, value: float | None) -> float | None:
        # Runs with data of their own: no J can be compared with that of another run.
        if value is None or settings["data"]["realisation"] == "per_run":
            return None
        difference = value - best[data, *cell.key[2:]]
        # A difference of rounding alone is none.
        return 0.0 if difference <= SAME_J else difference

    true = [above(cell, cell.true_fitness) for cell in cells]
    return Gap(
        algorithm=first.algorithm,
        role=role,
        choices=first.choices,
        system=first.system,
        snr_db=first.snr_db,
        criterion=first.criterion,
        seeds=len(cells),
        median=_spread_or_none([above(cell, cell.median_fitness) for cell in cells]),
        best=_spread_or_none([above(cell, cell.best_fitness) for cell in cells]),
        true=_spread_or_none(true),
        true_above=sum(value is not None and value > 0 for value in true),
        exact_runs=sum(cell.exact_runs for cell in cells),
        runs=sum(cell.runs for cell in cells),
    )


def _spread_or_none(values: Sequence[float | None]) -> Spread | None:
    finite = [value for value in values if value is not None]
    return spread(finite) if len(finite) == len(values) else None


def _or_worst(value: float | None) -> float:
    return math.inf if value is None else value


# All of them


@dataclass(frozen=True)
class Answers:
    """All answers of a study; ``ranked`` and ``roles`` are by algorithm."""

    study: Study
    ranked: Mapping[str, Sequence[Ranked]]
    together: Sequence[Ranked]
    pairs: Mapping[str, Pair]
    roles: Mapping[str, Mapping[str, Ranked]]
    whole: Sequence[Whole]
    effects: Sequence[Effect]
    interactions: Sequence[Interaction]
    beside: Sequence[Beside]
    unexplained: Mapping[str, Sequence[Unexplained]]
    claims: Sequence[ClaimMap]
    contests: Mapping[str, Sequence[Contest]]
    criteria: Sequence[CriterionScore]
    gaps: Sequence[Gap]


def answer(study: Study) -> Answers:
    """Return all answers of a study."""
    ranked = {name: ranking(study, name) for name in COMPARED}
    whole = together(study, *ranked.values())
    pairs = pair_roles(study, whole)
    shown = roles(pairs, ranked)
    closest = {name: entry for name, of in shown.items() if (entry := with_role("closest", of))}
    return Answers(
        study=study,
        ranked=ranked,
        together=whole,
        pairs=pairs,
        roles=shown,
        whole=whole_distances(study, pairs),
        effects=effects(study, ranked),
        interactions=interactions(study, ranked),
        beside=beside(study, shown),
        unexplained={name: unexplained(study, name, entry.choices) for name, entry in closest.items()},
        claims=claim_maps(study, pairs),
        contests={role: contests(study, entry.choices) for role, entry in shown[UPSO].items()},
        criteria=criterion_scores(study),
        gaps=gaps(study, shown),
    )
