"""Answers to the questions of the sensitivity experiment; all are computed from the cells of a `Study` alone."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from narxbench.claims import CLAIMS, CRITERIA, GA, SPARSE, UPSO, Claim, Curve, Finals, Row, View, meets_both
from narxbench.claims import published_view as claims_on_paper
from narxbench.distance import Distance, Spread, distance, distinguishable, over_seeds, spread
from narxbench.fidelity import SCREENED, ReadingCell, Study
from narxbench.published import METRICS, Place
from narxbench.readings import BASE, SHARED_PARTS, parse_choices

# Final J are stored to six decimals, so that two of them may differ by their rounding alone.
SAME_J = 1.5e-6
CONFIDENCE = 0.95
REFERENCE = "stepwise"
# A GA that is known to be stronger than the base, whose gaps are shown whatever its distance is.
STRONG_GA = "selection=tournament+elitism=on"

ROLES = ("base", "default", "closest", "closest without contradiction")


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
    point: str
    option: str
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


def measures(cells: Sequence[ReadingCell], found: Distance | None) -> dict[str, float]:
    """Return the measures of the cells of one data seed; those of the distance only where values are published.

    ``distance`` and its parts ``distance_nu``, ``distance_r``, ``distance_nu_max``; and mean ``nu`` of the system
    terms, ``r`` and ``nu_max``, each averaged over the cells of S1 to S3 (``_sparse``) and of S4 (``_s4``).
    """
    measured: dict[str, float] = {}
    if found:
        measured["distance"] = found.distance
        measured |= {f"distance_{part}": getattr(found, part) for part in METRICS}
    for group, systems in (("sparse", SPARSE), ("s4", ("S4",))):
        own = [cell for cell in cells if cell.system in systems]
        if own:
            measured[f"nu_{group}"] = _mean([cell.nu_mean for cell in own])
            measured[f"r_{group}"] = _mean([cell.r for cell in own])
            measured[f"nu_max_{group}"] = _mean([cell.nu_max / cell.runs for cell in own])
    return measured


def effects(study: Study) -> list[Effect]:
    """Return the effect of each single option on each compared algorithm, largest change of the distance first."""
    found = []
    for algorithm in (UPSO, GA):
        base = _measured(study, algorithm, BASE)
        for choices in study.complete(algorithm):
            if study.changes(choices) == 1:
                point, _, option = choices.partition("=")
                known = study.readings.open_points[point]
                contradicts = known.options[option].contradicts
                changes = _changes(base, _measured(study, algorithm, choices))
                found.append(Effect(algorithm, known.part, point, option, choices, contradicts, changes))
    return sorted(found, key=lambda effect: (effect.algorithm != UPSO, -_size(effect), effect.choices))


def interactions(study: Study) -> list[Interaction]:
    """Return what pairs of options do beyond the sum of their single changes, where all of these were run."""
    found = []
    for algorithm in (UPSO, GA):
        complete = study.complete(algorithm)
        base = [entry.get("distance") for entry in _measured(study, algorithm, BASE)]
        for choices in complete:
            single = choices.split("+")
            if len(single) != 2 or not set(single) <= set(complete) or None in base:
                continue
            pair, *others = [
                [entry["distance"] - zero["distance"] for entry, zero in zip(*both, strict=True)]
                for both in (
                    (_measured(study, algorithm, name), _measured(study, algorithm, BASE))
                    for name in (choices, *single)
                )
            ]
            beyond = [both - math.fsum(parts) for both, *parts in zip(pair, *others, strict=True)]
            found.append(Interaction(algorithm, choices, change(pair), change(beyond)))
    return found


def change(differences: Sequence[float]) -> Change:
    """Return median, range and Student's interval of paired differences."""
    values = spread(differences)
    n = len(differences)
    if n < 2:
        return Change(*values, None)
    mean = _mean(differences)
    deviation = math.sqrt(math.fsum((value - mean) * (value - mean) for value in differences) / (n - 1))
    reach = student_quantile(n - 1) * deviation / math.sqrt(n)
    return Change(*values, (mean - reach, mean + reach))


def student_quantile(freedom: int, confidence: float = CONFIDENCE) -> float:
    """Return t such that Student's variable with ``freedom`` degrees lies in (-t, t) with this chance, to 6 digits."""
    low, high = 0.0, 1000.0
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _student_chance(middle, freedom) < confidence else (low, middle)
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


def _measured(study: Study, algorithm: str, choices: str) -> list[dict[str, float]]:
    return [
        measures(study.of(algorithm, choices, seed), study.distance(algorithm, choices, seed)) for seed in study.seeds
    ]


def _changes(base: Sequence[Mapping[str, float]], other: Sequence[Mapping[str, float]]) -> dict[str, Change]:
    names = [name for name in base[0] if all(name in entry for entry in (*base, *other))]
    return {name: change([b[name] - a[name] for a, b in zip(base, other, strict=True)]) for name in names}


def _size(effect: Effect) -> float:
    return abs(effect.changes["distance"].median) if "distance" in effect.changes else 0.0


# Ranking


@dataclass(frozen=True)
class Ranked:
    """A reading of one algorithm with its distance, parts and count of clear differences over the data seeds."""

    algorithm: str
    choices: str
    names: tuple[str, ...]
    changes: int
    contradictions: tuple[str, ...]
    values: int
    spreads: Mapping[str, Spread]


class Pair(NamedTuple):
    """A reading as the choices of 2D-UPSO and of GA; they share data and fitness."""

    upso: str
    ga: str


@dataclass(frozen=True)
class Beside:
    """A published value of r or nu_max beside those of readings, by role, over the data seeds."""

    place: Place
    published: float
    reproduced: Mapping[str, Spread]


@dataclass(frozen=True)
class Unexplained:
    """A published value that a reading's differ from clearly on every data seed."""

    place: Place
    term: str
    published: float
    reproduced: Spread


def ranking(study: Study, algorithm: str = UPSO) -> list[Ranked]:
    """Return all readings of an algorithm that have every cell of the base, the closest (median over seeds) first."""
    found = []
    for choices in study.complete(algorithm):
        distances = study.distances(algorithm, choices)
        if distances:
            found.append(
                Ranked(
                    algorithm=algorithm,
                    choices=choices,
                    names=_names(study, algorithm, choices),
                    changes=study.changes(choices),
                    contradictions=tuple(study.contradictions(choices)),
                    values=distances[0].values,
                    spreads=over_seeds(distances),
                )
            )
    return sorted(found, key=lambda entry: (entry.spreads["distance"].median, entry.changes, entry.choices))


def together(study: Study) -> list[Ranked]:
    """Return whole readings, each of 2D-UPSO with each of GA on the same data, the closest first.

    Means are over the published cells of both; clear differences are those of both added up.
    """
    by_algorithm = {
        name: {choices: known for choices in study.complete(name) if (known := study.distances(name, choices))}
        for name in (UPSO, GA)
    }
    pairs = [
        (study.united(upso, ga), [_joined(*both) for both in zip(own, others, strict=True)])
        for upso, own in by_algorithm[UPSO].items()
        for ga, others in by_algorithm[GA].items()
        if study.shared(upso) == study.shared(ga)
    ]
    found = [
        Ranked(
            algorithm="",
            choices=choices,
            names=_names(study, None, choices),
            changes=study.changes(choices),
            contradictions=tuple(study.contradictions(choices)),
            values=distances[0].values,
            spreads=over_seeds(distances),
        )
        # Without any cell of GA a reading is that of 2D-UPSO.
        for choices, distances in (pairs if by_algorithm[GA] else by_algorithm[UPSO].items())
    ]
    return sorted(found, key=lambda entry: (entry.spreads["distance"].median, entry.changes, entry.choices))


def _joined(a: Distance, b: Distance) -> Distance:
    cells = a.cells + b.cells
    nu, r, nu_max = ((a.cells * getattr(a, part) + b.cells * getattr(b, part)) / cells for part in METRICS)
    return Distance(cells, nu, r, nu_max, a.values + b.values, a.distinguishable + b.distinguishable)


def pair_roles(study: Study) -> dict[str, Pair]:
    """Return the readings that the answers set side by side, by role; roles of equal readings share one.

    Closest is the whole reading of the smallest median distance, closest without contradiction that of those which
    contradict no explicit statement of the sources.
    """
    whole = together(study)
    permitted = [entry for entry in whole if not entry.contradictions]
    chosen = {
        "base": Pair(BASE, BASE),
        "default": _pair(study, study.default),
        "closest": _pair_of(study, whole),
        "closest without contradiction": _pair_of(study, permitted),
    }
    names: dict[Pair, list[str]] = {}
    for role in ROLES:
        if (pair := chosen[role]) is not None:
            names.setdefault(pair, []).append(role)
    return {", ".join(of): pair for pair, of in names.items()}


def roles(study: Study, algorithm: str = UPSO) -> dict[str, str]:
    """Return the choices of one algorithm in the readings of `pair_roles`, by role; roles of equal choices share one.

    A role whose reading has not every cell of the base is left out.
    """
    names: dict[str, list[str]] = {}
    complete = study.complete(algorithm)
    for role, pair in pair_roles(study).items():
        choices = pair.upso if algorithm == UPSO else pair.ga
        if choices in complete:
            names.setdefault(choices, []).append(role)
    return {", ".join(of): choices for choices, of in names.items()}


def _pair(study: Study, reading: Mapping[str, str]) -> Pair:
    return Pair(study.restricted(reading, UPSO), study.restricted(reading, GA))


def _pair_of(study: Study, ranked: Sequence[Ranked]) -> Pair | None:
    return _pair(study, parse_choices(study.readings, ranked[0].choices)) if ranked else None


def beside(study: Study) -> list[Beside]:
    """Return the published r and nu_max of every screened cell beside those of the readings that have a role."""
    found = []
    for algorithm in (UPSO, GA):
        shown = roles(study, algorithm)
        for place, value in _published_once(study, algorithm):
            if shown and place.metric != "nu":
                reproduced = {role: _values_at(study, choices, place) for role, choices in shown.items()}
                there = {role: spread(values) for role, values in reproduced.items() if values}
                found.append(Beside(place, value, there))
    return found


def common_roles(rows: Sequence[Beside]) -> dict[str, dict[str, str]]:
    """Return by label the role in each algorithm that it stands for; roles share a label if they do so in all."""
    names: dict[str, dict[str, str]] = {}
    for row in rows:
        for role in row.reproduced:
            for name in role.split(", "):
                names.setdefault(name, {})[row.place.algorithm] = role
    labels: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for name in filter(names.__contains__, ROLES):
        labels.setdefault(tuple(names[name].items()), []).append(name)
    algorithms = {row.place.algorithm for row in rows}
    return {", ".join(of): dict.fromkeys(algorithms, "") | dict(key) for key, of in labels.items()}


def unexplained(study: Study, algorithm: str, choices: str) -> list[Unexplained]:
    """Return the published values that differ clearly (tests of `Distance`) under every data seed, each once."""
    clear: set[Place] | None = None
    for seed in study.seeds:
        counts = [cell.counts() for cell in study.of(algorithm, choices, seed)]
        places = set(distinguishable(study.published, counts))
        clear = places if clear is None else clear & places
    return [
        Unexplained(place, _term(study, place), value, spread(_values_at(study, choices, place)))
        for place, value in _published_once(study, algorithm)
        if place in (clear or ())
    ]


def _names(study: Study, algorithm: str | None, choices: str) -> tuple[str, ...]:
    named = study.readings.named.items()
    return tuple(name for name, reading in named if study.restricted(reading, algorithm) == choices)


def _published_once(study: Study, algorithm: str) -> list[tuple[Place, float]]:
    # Of a value that is printed in two tables the first is taken.
    once: dict[tuple[object, ...], tuple[Place, float]] = {}
    for place, value in study.published.values.items():
        if place.algorithm == algorithm and place.criterion == SCREENED:
            once.setdefault(place[1:], (place, value))
    return list(once.values())


def _values_at(study: Study, choices: str, place: Place) -> list[float]:
    return [
        cell.counts().value(place)
        for seed in study.seeds
        for cell in study.of(place.algorithm, choices, seed, place.criterion)
        if (cell.system, cell.snr_db) == (place.system, place.snr_db)
    ]


def _term(study: Study, place: Place) -> str:
    return study.published.system_terms[place.system][place.label].term if place.label else ""


@dataclass(frozen=True)
class Whole:
    """The distance of a reading to all published tables, of 2D-UPSO and of GA, over the data seeds."""

    upso: str
    ga: str
    cells: int
    values: int
    spreads: Mapping[str, Spread]


def whole_distances(study: Study) -> list[Whole]:
    """Return the distance to all published tables of the readings that were run under every criterion."""
    beside_upso = {pair.upso: pair.ga for pair in reversed(pair_roles(study).values())}
    complete = set(study.complete(UPSO)).intersection(*(study.complete(UPSO, name) for name in CRITERIA))
    found = []
    for upso in study.complete(UPSO):
        ga = beside_upso.get(upso, study.shared(upso))
        if upso in complete and ga in study.complete(GA):
            distances = []
            for seed in study.seeds:
                cells = [*study.of(UPSO, upso, seed, ""), *study.of(GA, ga, seed, "")]
                if entry := distance(study.published, [cell.counts() for cell in cells]):
                    distances.append(entry)
            found.append(Whole(upso, ga, distances[0].cells, distances[0].values, over_seeds(distances)))
    return sorted(found, key=lambda entry: entry.spreads["distance"].median)


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
    cells = [cell for name, choices in ((UPSO, pair.upso), (GA, pair.ga)) for cell in study.of(name, choices, seed, "")]
    return View(tuple(map(_row, sorted(cells, key=lambda cell: (cell.system, -cell.snr_db)))))


def claim_maps(study: Study) -> list[ClaimMap]:
    """Return every claim under all readings for which the cells exist."""
    single = _single_pairs(study)
    shown = pair_roles(study)
    on_paper = claims_on_paper(study.published)
    judge = _Judge(study)
    found = []
    for claim in CLAIMS:
        verdicts = {pair: judge.majority(claim, pair) for pair in _pairs(study, claim.algorithms)}
        found.append(
            ClaimMap(
                claim=claim,
                published=claim.judge(on_paper).holds,
                base=judge.majority(claim, Pair(BASE, BASE)),
                base_seeds=judge.each(claim, Pair(BASE, BASE)).count(True),
                verdicts=verdicts,
                single={
                    text: judge.majority(claim, pair)
                    for text, (part, pair) in single.items()
                    if part in (*SHARED_PARTS, *claim.algorithms)
                },
                roles={role: judge.majority(claim, pair) for role, pair in shown.items()},
            )
        )
    return found


class _Judge:
    """Judges claims on readings, keeping the verdicts: a claim of one algorithm does not depend on the other."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._views: dict[tuple[Pair, int], View] = {}
        self._known: dict[tuple[str, Pair], list[bool | None]] = {}

    def each(self, claim: Claim, pair: Pair) -> list[bool | None]:
        """Return the verdict on each data seed."""
        own = Pair(pair.upso if UPSO in claim.algorithms else "", pair.ga if GA in claim.algorithms else "")
        if (claim.id, own) not in self._known:
            self._known[claim.id, own] = [claim.judge(self._view(own, seed)).holds for seed in self._study.seeds]
        return self._known[claim.id, own]

    def majority(self, claim: Claim, pair: Pair) -> bool | None:
        """Return the verdict of more than half of the data seeds."""
        verdicts = self.each(claim, pair)
        return next((holds for holds in (True, False) if 2 * verdicts.count(holds) > len(verdicts)), None)

    def _view(self, pair: Pair, seed: int) -> View:
        if (pair, seed) not in self._views:
            self._views[pair, seed] = reading_view(self._study, pair, seed)
        return self._views[pair, seed]


def _single_pairs(study: Study) -> dict[str, tuple[str, Pair]]:
    complete = {name: study.complete(name) for name in (UPSO, GA)}
    found = {}
    for point, known in study.readings.open_points.items():
        for option in known.options:
            text = f"{point}={option}"
            pair = Pair(*(text if known.part in (*SHARED_PARTS, name) else BASE for name in (UPSO, GA)))
            own = [choices for choices in pair if choices != BASE]
            if option != known.base and any(text in complete[name] for name in (UPSO, GA)) and own:
                found[text] = (known.part, pair)
    return found


def _pairs(study: Study, algorithms: Sequence[str]) -> list[Pair]:
    upso, ga = study.complete(UPSO), study.complete(GA)
    if tuple(algorithms) == (UPSO,):
        return [Pair(choices, study.shared(choices)) for choices in upso]
    if tuple(algorithms) == (GA,):
        return [Pair(study.shared(choices), choices) for choices in ga]
    by_data: dict[str, list[str]] = {}
    for choices in ga:
        by_data.setdefault(study.shared(choices), []).append(choices)
    return [Pair(own, other) for own in upso for other in by_data.get(study.shared(own), [])]


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
    by_system: Mapping[str, tuple[int, int, int]]

    @property
    def total(self) -> tuple[int, int, int]:
        """Lower, equal and higher over all systems."""
        lower, equal, higher = zip(*self.by_system.values(), strict=True)
        return sum(lower), sum(equal), sum(higher)


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
    for ga in study.complete(GA):
        if study.shared(ga) == study.shared(upso):
            results: dict[str, list[int]] = {}
            for seed in study.seeds:
                other = {(cell.system, cell.snr_db): cell for cell in study.of(GA, ga, seed)}
                for cell in study.of(UPSO, upso, seed):
                    if rival := other.get((cell.system, cell.snr_db)):
                        order = _order(cell.median_fitness, rival.median_fitness)
                        results.setdefault(cell.system, [0, 0, 0])[order] += 1
            by_system = {name: (of[0], of[1], of[2]) for name, of in results.items()}
            if by_system:
                found.append(Contest(upso, ga, by_system))
    return found


def criterion_scores(study: Study) -> list[CriterionScore]:
    """Return the scores of all criteria for the readings of 2D-UPSO that were run under more than one."""
    found = []
    for choices in study.complete(UPSO):
        scores = []
        for criterion in CRITERIA:
            if choices in study.complete(UPSO, criterion):
                cells = [cell for seed in study.seeds for cell in study.of(UPSO, choices, seed, criterion)]
                distances = [entry.distance for entry in study.distances(UPSO, choices, criterion)]
                scores.append(
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
        found += scores if len(scores) > 1 else []
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


class BestKnown:
    """The best known J of each data set and criterion, over all cells of a study."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._best: dict[tuple[object, ...], float] = {}
        for choices, cells in (
            (choices, of) for (_, choices), by_seed in study.cells.items() for of in by_seed.values()
        ):
            for cell in cells:
                key = self._key(choices, cell)
                known = [_or_worst(cell.best_fitness), _or_worst(cell.true_fitness)]
                self._best[key] = min(self._best.get(key, math.inf), *known)

    def gap(self, cell: ReadingCell, value: float | None) -> float | None:
        """Return a J of a cell minus the best known J of its data; None where they do not exist or do not compare."""
        if value is None or self._study.own_data(cell.choices):
            return None
        # A difference of rounding alone is none.
        above = value - self._best[self._key(cell.choices, cell)]
        return 0.0 if above <= SAME_J else above

    def _key(self, choices: str, cell: ReadingCell) -> tuple[object, ...]:
        return self._study.shared(choices), cell.data_seed, cell.system, cell.snr_db, cell.criterion


def gaps(study: Study) -> list[Gap]:
    """Return the gaps of the readings that have a role, of a stronger GA and of the reference search, by cell."""
    known = BestKnown(study)
    found = []
    for algorithm, shown in gap_readings(study).items():
        for role, choices in shown.items():
            for criterion in CRITERIA:
                found += _gaps(study, known, algorithm, role, choices, criterion)
    return found


def gap_readings(study: Study) -> dict[str, dict[str, str]]:
    """Return the readings whose gaps are shown, by algorithm and role."""
    upso, ga = roles(study), roles(study, GA)
    if STRONG_GA in study.complete(GA) and STRONG_GA not in ga.values():
        ga["tournament and elitism"] = STRONG_GA
    data = dict.fromkeys(study.shared(choices) for choices in upso.values())
    reference = {choices: choices for choices in data if choices in study.complete(REFERENCE)}
    return {UPSO: upso, GA: ga, REFERENCE: reference}


def _gaps(study: Study, known: BestKnown, algorithm: str, role: str, choices: str, criterion: str) -> list[Gap]:
    by_place: dict[tuple[str, float], list[ReadingCell]] = {}
    for seed in study.seeds:
        for cell in study.of(algorithm, choices, seed, criterion):
            by_place.setdefault((cell.system, cell.snr_db), []).append(cell)
    found = []
    for place in sorted(by_place, key=lambda place: (place[0], -place[1])):
        cells = by_place[place]
        true = [known.gap(cell, cell.true_fitness) for cell in cells]
        found.append(
            Gap(
                algorithm=algorithm,
                role=role,
                choices=choices,
                system=place[0],
                snr_db=place[1],
                criterion=criterion,
                seeds=len(cells),
                median=_spread_or_none([known.gap(cell, cell.median_fitness) for cell in cells]),
                best=_spread_or_none([known.gap(cell, cell.best_fitness) for cell in cells]),
                true=_spread_or_none(true),
                true_above=sum(value is not None and value > 0 for value in true),
                exact_runs=sum(cell.exact_runs for cell in cells),
                runs=sum(cell.runs for cell in cells),
            )
        )
    return found


def _spread_or_none(values: Iterable[float | None]) -> Spread | None:
    finite = []
    for value in values:
        if value is None:
            return None
        finite.append(value)
    return spread(finite) if finite else None


def _or_worst(value: float | None) -> float:
    return math.inf if value is None else value


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
