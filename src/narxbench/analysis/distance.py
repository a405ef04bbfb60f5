"""How far the values of cells lie from the published ones: one number, its parts, and a count of clear differences."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import NamedTuple

from narxbench.analysis.agreement import Counts, holm
from narxbench.analysis.published import METRICS, Place, Published

# N_t of the published systems (paper, table I).
CANDIDATES: Mapping[str, int] = {"S1": 66, "S2": 66, "S3": 84, "S4": 66}


@dataclass(frozen=True)
class Distance:
    """Distance of ``cells`` cells to the published values of their places.

    ``nu``, ``r`` and ``nu_max`` are means over the cells of absolute differences, the one of nu being itself a mean
    over the system terms. ``distinguishable`` counts those of the ``values`` printed values that Fisher's exact tests
    with Holm's correction over all of them tell apart. A value that is printed in two tables counts twice there, as in
    the comparison with the published tables, but its cell once in the means.
    """

    cells: int
    nu: float
    r: float
    nu_max: float
    values: int
    distinguishable: int

    @property
    def distance(self) -> float:
        """Mean of the three parts."""
        return fmean([self.nu, self.r, self.nu_max])


class Spread(NamedTuple):
    """Median, smallest and largest value over the data seeds."""

    median: float
    low: float
    high: float


def distance(published: Published, cells: Iterable[Counts]) -> Distance | None:
    """Return the distance of the cells that have published values, or None if none has; places must not repeat."""
    found = _values_of(published, cells)
    if not found:
        return None
    nu, r, nu_max = (fmean(_difference(metric, *entry) for entry in found) for metric in METRICS)
    kept = [verdict for _, verdict in _judged(found)]
    return Distance(len(found), nu, r, nu_max, len(kept), kept.count(False))


def distinguishable(published: Published, cells: Iterable[Counts]) -> list[Place]:
    """Return the places whose values the tests of `Distance` tell apart from the published ones."""
    return [place for place, kept in _judged(_values_of(published, cells)) if not kept]


def spread(values: Sequence[float]) -> Spread:
    """Return median and range of the values of at least one data seed."""
    return Spread(median(values), min(values), max(values))


def over_seeds(distances: Sequence[Distance]) -> dict[str, Spread]:
    """Return median and range over the data seeds of the distance, its parts and the count of clear differences."""
    keys = ("distance", *METRICS, "distinguishable")
    return {key: spread([getattr(entry, key) for entry in distances]) for key in keys}


_Entry = tuple[Counts, Mapping[Place, float]]


def _values_of(published: Published, cells: Iterable[Counts]) -> list[_Entry]:
    by_cell = published.by_cell
    found = [(cell, by_cell.get((cell.system, cell.algorithm, cell.criterion, cell.snr_db), {})) for cell in cells]
    return [(cell, values) for cell, values in found if values]


def _difference(metric: str, cell: Counts, values: Mapping[Place, float]) -> float:
    # By label, for a cell that is printed in two tables counts once.
    once = {place.label: (place, value) for place, value in values.items() if place.metric == metric}
    return fmean(abs(cell.value(place) - value) for place, value in once.values())


def _judged(found: Iterable[_Entry]) -> list[tuple[Place, bool]]:
    tested = [(place, cell.p_value(place, value)) for cell, values in found for place, value in values.items()]
    return [(place, kept) for (place, _), kept in zip(tested, holm([p for _, p in tested]), strict=True)]
