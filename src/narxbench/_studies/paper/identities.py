"""Exact relations between published counts, such as a sum that is the number of runs.

A deviance hardly notices whether four counts add up to 40 or to 41, yet a sum of exactly 40 at every SNR says how the
runs were made. The rule: the candidates of a table, of a system, an algorithm and a criterion, are

- ``sum``: the counts of all linear outputs add up to the number of runs, or those of linear inputs, or of the products
  of outputs, of inputs, or of both;
- ``equal``: two system terms have the same count;
- ``zero``: no run selects a system term.

A count is informative if it is neither 0 nor the number of runs. A sum counts at an SNR only where a count of its terms
is informative, an equality where both counts are, a zero where the count of another term of its kind is. A candidate
that holds at two SNRs or more is an identity.

Its chance comes from independent runs. Each term is selected with its printed frequency. For a zero, the frequency is
that of the other terms of its kind. The expected number of identities is the sum of the chances of all candidates.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from narxbench._model.terms import OUTPUT, parse_term
from narxbench._numerics.intervals import LEVEL
from narxbench._numerics.rounding import significant
from narxbench._studies.paper.published import RUNS, Published, published_count

LEAST_SNRS = 2  # at fewer SNRs a relation is not an identity
TABLE = ["system", "algorithm", "criterion"]
IDENTITIES = [*TABLE, "relation", "terms", "snr_db", "chance"]
# The counts of a table's system terms, in the order of their labels, by SNR.
Counts = Mapping[float, Sequence[int]]


@dataclass(frozen=True)
class CountRelation:
    """A relation between the counts of some system terms, by place. ``same_kind`` are the others of their kind."""

    relation: str
    places: tuple[int, ...]
    same_kind: tuple[int, ...] = ()

    def holds(self, counts: Sequence[int], runs: int) -> bool:
        """Return whether the relation holds between the counts of all system terms."""
        values = [counts[place] for place in self.places]
        if self.relation == "sum":
            return sum(values) == runs
        if self.relation == "equal":
            return values[0] == values[1]
        return values[0] == 0

    def is_informative(self, counts: Sequence[int]) -> bool:
        """Return whether published counts can tell something of the relation."""
        informative = [0 < counts[place] < RUNS for place in self.same_kind or self.places]
        if self.relation == "equal":
            return all(informative)
        return any(informative)

    def chance(self, counts: Sequence[int]) -> float:
        """Return the chance that the relation holds in independent runs, by the published counts."""
        if self.relation == "zero":
            frequency = sum(counts[place] for place in self.same_kind) / (RUNS * len(self.same_kind))
            return (1 - frequency) ** RUNS
        first, *rest = [_binomial(counts[place] / RUNS) for place in self.places]
        if self.relation == "equal":
            return float(first @ rest[0])
        for chances in rest:
            first = np.convolve(first, chances)
        return float(first[RUNS])


def identities(published: Published) -> pd.DataFrame:
    """Return the identities of the published tables, the columns `IDENTITIES`.

    ``terms`` are labels, ``snr_db`` the SNRs at which the relation holds. ``chance`` is that of as many SNRs or more.
    """
    rows = []
    for table, counts in _published_counts(published):
        for candidate in _candidates(_kinds(published, table[0])):
            snrs = _snrs_where_it_holds(candidate, counts)
            if len(snrs) >= LEAST_SNRS:
                labels = tuple(f"T{place + 1}" for place in candidate.places)
                chance = significant(_chance_of_at_least(len(snrs), candidate, counts))
                rows.append((*table, candidate.relation, labels, snrs, chance))
    return pd.DataFrame(rows, columns=IDENTITIES)


def telling_identities(published: Published) -> pd.DataFrame:
    """Return the `identities` that chance does not explain: their chance, times the candidates, is at most `LEVEL`.

    Candidates of the same relation in all tables count together.
    """
    relations = identities(published)
    candidates = expected_identities(published).groupby("relation")["candidates"].sum()
    is_telling = relations["chance"] * relations["relation"].map(candidates) <= LEVEL
    return relations[is_telling].reset_index(drop=True)


def expected_identities(published: Published) -> pd.DataFrame:
    """Return how many identities each relation has in each table, and how many are expected by chance.

    ``candidates`` are those that are informative at enough SNRs.
    """
    rows = []
    for table, counts in _published_counts(published):
        for candidate in _candidates(_kinds(published, table[0])):
            chance = _chance_of_at_least(LEAST_SNRS, candidate, counts)
            is_identity = len(_snrs_where_it_holds(candidate, counts)) >= LEAST_SNRS
            if chance > 0:
                rows.append((*table, candidate.relation, 1, int(is_identity), chance))
    columns = [*TABLE, "relation", "candidates", "identities", "expected"]
    frame = pd.DataFrame(rows, columns=columns)
    totals = frame.groupby([*TABLE, "relation"], sort=False).sum().reset_index()
    return totals.assign(expected=totals["expected"].map(significant))


def check_identities(published_identities: pd.DataFrame, conditions: pd.DataFrame) -> pd.DataFrame:
    """Return how many SNRs of each identity hold in reproduced counts.

    ``published_identities`` are `identities`, ``conditions`` the rows of the frame of this name. The result has a row
    for each identity, method, interpretation and data seed: ``held`` of ``published`` SNRs. A combination with a
    condition for only some of the SNRs of an identity has no row.
    """
    rows = []
    sets = ["method", "interpretation", "data_seed"]
    for identity in published_identities.to_dict("records"):
        of_table = np.logical_and.reduce([conditions[name] == identity[name] for name in TABLE])
        places = tuple(int(label[1:]) - 1 for label in identity["terms"])
        candidate = CountRelation(identity["relation"], places)
        at_snrs = conditions[of_table & conditions["snr_db"].isin(identity["snr_db"])]
        for key, part in at_snrs.groupby(sets, sort=False):
            if len(part) == len(identity["snr_db"]):
                held = sum(map(candidate.holds, part["nu"], part["runs"]))
                about = [identity[name] for name in (*TABLE, "relation", "terms")]
                rows.append((*about, *key, held, len(part)))
    return pd.DataFrame(rows, columns=[*TABLE, "relation", "terms", *sets, "held", "published"])


def _published_counts(published: Published) -> Iterator[tuple[tuple[str, str, str], Counts]]:
    """Yield each table with its counts of runs, in the order of the labels."""
    nu = published.once[published.once["metric"] == "nu"]
    for (system, algorithm, criterion), rows in nu.groupby(TABLE, sort=False):
        counts = {}
        for snr_db, row in rows.groupby("snr_db", sort=False):
            places = row["label"].str[1:].astype(int).tolist()
            by_place = sorted(zip(places, row["published"], strict=True))
            counts[float(snr_db)] = [published_count(frequency) for _, frequency in by_place]
        yield (str(system), str(algorithm), str(criterion)), counts


def _kinds(published: Published, system: str) -> list[list[int]]:
    """Return the places of the system terms of each kind: linear or products, of outputs, inputs or both."""
    kinds: dict[tuple[bool, frozenset[bool]], list[int]] = {}
    for place, term in enumerate(published.systems[system].index):
        monomial = parse_term(term)
        signals = frozenset(signal == OUTPUT for signal, _ in monomial)
        if signals:
            kinds.setdefault((len(monomial) == 1, signals), []).append(place)
    return list(kinds.values())


def _candidates(kinds: Sequence[Sequence[int]]) -> Iterator[CountRelation]:
    """Yield the relations that a table may show."""
    for places in kinds:
        if len(places) > 1:
            yield CountRelation("sum", tuple(places))
    every_place = sorted(place for places in kinds for place in places)
    for pair in combinations(every_place, 2):
        yield CountRelation("equal", pair)
    for places in kinds:
        for place in places:
            same_kind = tuple(neighbour for neighbour in places if neighbour != place)
            if same_kind:
                yield CountRelation("zero", (place,), same_kind)


def _snrs_where_it_holds(candidate: CountRelation, counts: Counts) -> tuple[float, ...]:
    """Return the SNRs at which a candidate holds and is informative."""
    snrs = []
    for snr_db, values in counts.items():
        if candidate.is_informative(values) and candidate.holds(values, RUNS):
            snrs.append(snr_db)
    return tuple(snrs)


def _chance_of_at_least(count: int, candidate: CountRelation, counts: Counts) -> float:
    """Return the chance that a candidate holds at ``count`` SNRs or more where it is informative."""
    chances = np.ones(1)  # of 0, 1, … SNRs
    for values in counts.values():
        if candidate.is_informative(values):
            chance = candidate.chance(values)
            chances = np.convolve(chances, [1 - chance, chance])
    return float(chances[count:].sum())


def _binomial(frequency: float) -> NDArray[np.float64]:
    """Return the chance of each count of runs that select a term of some frequency."""
    chances = [math.comb(RUNS, k) * frequency**k * (1 - frequency) ** (RUNS - k) for k in range(RUNS + 1)]
    return np.array(chances)
