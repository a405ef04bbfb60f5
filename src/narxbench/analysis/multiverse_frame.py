"""What the readings of the paper's open points do to its results.

A reading is a combination of options of open points. Its cells, over several data seeds, are the lines of one CSV file
(``docs/fidelity/cells.csv``); everything else here is computed from them.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property

from narxbench.analysis.agreement import Counts
from narxbench.analysis.claims import GA, UPSO
from narxbench.analysis.distance import CANDIDATES, Distance, distance
from narxbench.analysis.published import Published
from narxbench.experiment.interpretations import BASE, Readings, choices_text, parse_choices
from narxbench.io.csv import Line, StrPath, number_of, read_lines
from narxbench.io.errors import NarxbenchError
from narxbench.report.tables import Value, csv_text

SCREENED = "bic"  # the criterion under which all readings are run
COMPARED = (UPSO, GA)  # the algorithms with published values
TENTHS = 10  # points of a curve of convergence


@dataclass(frozen=True)
class ReadingCell:
    """One cell of a reading on one data seed; J is None where it is not finite.

    ``choices`` is ``base`` or ``point=option`` joined by ``+``. ``nu`` counts the runs that selected each system term
    in label order, ``spurious`` the spurious terms that any run selected, ``nu_max`` the runs that selected the most
    frequent of them. ``third_fitness`` and ``curve`` are means over the runs of the best J after a third and after
    each tenth of the evaluations, ``cardinality`` and ``last_improvement`` (an evaluation) are medians.
    """

    algorithm: str
    choices: str
    data_seed: int
    system: str
    snr_db: float
    criterion: str
    runs: int
    evaluations: int
    nu: tuple[int, ...]
    spurious: int
    nu_max: int
    exact_runs: int
    cardinality: float
    true_fitness: float | None
    best_fitness: float | None
    median_fitness: float | None
    third_fitness: float | None
    curve: tuple[float | None, ...]
    last_improvement: float

    @property
    def key(self) -> tuple[str, str, int, str, float, str]:
        """What tells a cell from the others, and orders the lines of the file (SNR descending)."""
        return self.algorithm, self.choices, self.data_seed, self.system, -self.snr_db, self.criterion

    @property
    def r(self) -> float:
        """Share of the candidate terms that are spurious and selected in at least one run."""
        return self.spurious / CANDIDATES[self.system]

    @property
    def nu_mean(self) -> float:
        """Mean selection frequency of the system terms."""
        return sum(self.nu) / len(self.nu) / self.runs

    def counts(self) -> Counts:
        """Return what the paper prints of a cell, as counts."""
        return Counts(
            system=self.system,
            algorithm=self.algorithm,
            criterion=self.criterion,
            snr_db=self.snr_db,
            runs=self.runs,
            candidates=CANDIDATES[self.system],
            nu=self.nu,
            spurious=self.spurious,
            nu_max=self.nu_max,
        )


@dataclass(frozen=True)
class Study:
    """The cells of all readings, by algorithm and choices, in the order of the data seeds.

    ``default`` is the reading of the main experiment. Places are compared under the criterion BIC unless said.
    """

    readings: Readings
    published: Published
    default: Mapping[str, str]
    cells: Mapping[tuple[str, str], tuple[ReadingCell, ...]]
    seeds: tuple[int, ...]

    @cached_property
    def places(self) -> list[tuple[int, str, float]]:
        """Every data seed with every system and SNR of the paper."""
        places = dict.fromkeys((place.system, place.snr_db) for place in self.published.values)
        return [(seed, *place) for seed in self.seeds for place in places]

    def of(self, algorithm: str, choices: str, seed: int | None = None, criterion: str = SCREENED) -> list[ReadingCell]:
        """Return the cells of a reading on a data seed (None: on all) under a criterion (all criteria: "")."""
        cells = self.cells.get((algorithm, choices), ())
        return [cell for cell in cells if seed in (None, cell.data_seed) and criterion in ("", cell.criterion)]

    def complete(self, algorithm: str, criterion: str = SCREENED) -> list[str]:
        """Return the choices that have every system and SNR of the paper on every data seed; base, single changes, …"""
        found = [choices for name, choices in self.cells if name == algorithm]
        return sorted((c for c in found if not self.missing(algorithm, c, criterion)), key=self._rank)

    def missing(self, algorithm: str, choices: str, criterion: str = SCREENED) -> list[tuple[int, str, float]]:
        """Return the data seeds, systems and SNRs of the paper at which a reading has no cell."""
        cells = self.of(algorithm, choices, criterion=criterion)
        found = {(cell.data_seed, cell.system, cell.snr_db) for cell in cells}
        return [place for place in self.places if place not in found]

    def incomplete(self) -> list[tuple[str, str]]:
        """Return algorithm and choices of the compared readings that lack cells and are therefore left out."""
        return [name for name in self.cells if name[0] in COMPARED and self.missing(*name)]

    def shared(self, choices: str) -> str:
        """Return the part of some choices that concerns data and fitness, which every algorithm shares."""
        return choices_text(self.readings, parse_choices(self.readings, choices), "")

    def united(self, *choices: str) -> str:
        """Return the choices of several algorithms, which agree in data and fitness, as those of one reading."""
        return choices_text(self.readings, {k: v for c in choices for k, v in parse_choices(self.readings, c).items()})

    def distances(self, algorithm: str, choices: str, criterion: str = SCREENED) -> tuple[Distance, ...]:
        """Return the distance to the published values on each data seed; empty where none is published."""
        counts = ([cell.counts() for cell in self.of(algorithm, choices, seed, criterion)] for seed in self.seeds)
        return tuple(found for of in counts if (found := distance(self.published, of)))

    def _rank(self, choices: str) -> tuple[int, list[tuple[int, int]]]:
        points = list(self.readings.open_points)
        chosen = parse_choices(self.readings, choices).items()
        ranks = [(points.index(p), list(self.readings.open_points[p].options).index(o)) for p, o in chosen]
        return len(ranks), ranks


def make_study(
    cells: Iterable[ReadingCell], readings: Readings, published: Published, default: Mapping[str, str]
) -> Study:
    """Group cells by reading, after checking them against the open points and the published systems."""
    grouped: dict[tuple[str, str], list[ReadingCell]] = {}
    for cell in sorted(cells, key=lambda cell: cell.key):
        labels = published.system_terms[cell.system]
        if len(cell.nu) != len(labels):
            found = f"{cell.system}: found {len(cell.nu)} counts of system terms; allowed: {len(labels)}"
            raise NarxbenchError(f"cells of readings, {found}")
        grouped.setdefault((cell.algorithm, cell.choices), []).append(cell)
    for algorithm, choices in grouped:
        own = choices_text(readings, parse_choices(readings, choices), algorithm)
        if own != choices:
            raise NarxbenchError(f"cells of readings, {algorithm}: found the choices {choices!r}; allowed: {own!r}")
    seeds = tuple(sorted({cell.data_seed for of in grouped.values() for cell in of}))
    study = Study(readings, published, dict(default), {name: tuple(of) for name, of in grouped.items()}, seeds)
    for algorithm in (UPSO, *{name for name, _ in grouped if name == GA}):
        if missing := study.missing(algorithm, BASE):
            seed, system, snr_db = missing[0]
            found = f"no cell of {algorithm} with the choices {BASE} for data seed {seed}, {system}, {snr_db:g} dB"
            allowed = f"every system and SNR of the paper under {SCREENED} on every data seed"
            raise NarxbenchError(f"cells of readings: found {found}; allowed: {allowed}")
        if not study.distances(algorithm, BASE):
            found = f"no value of {algorithm} under {SCREENED}"
            raise NarxbenchError(f"published values: found {found}; allowed: those of every compared algorithm")
    return study


COLUMNS = [field.name for field in fields(ReadingCell)]


def write_cells(cells: Iterable[ReadingCell]) -> str:
    """Return the cells as sorted CSV; numbers in the shortest form that reads back the same, none if not finite."""
    rows: list[list[Value]] = []
    for cell in sorted(cells, key=lambda cell: cell.key):
        values = [getattr(cell, column) for column in COLUMNS]
        rows.append([";".join(map(_text, v)) if isinstance(v, tuple) else _text(v) for v in values])
    return csv_text(COLUMNS, rows)


def read_cells(path: StrPath) -> list[ReadingCell]:
    """Read and check the cells of a CSV file; errors name file, line and column."""
    cells: dict[tuple[object, ...], ReadingCell] = {}
    for line in read_lines(path, COLUMNS):
        cell = _cell(line)
        if cell.key in cells:
            raise NarxbenchError(f"{path}, line {line.number}: found an earlier line's cell again; allowed: each once")
        cells[cell.key] = cell
    return list(cells.values())


def _cell(line: Line) -> ReadingCell:
    if (system := line["system"]) not in CANDIDATES:
        raise line.wrong("system", f"one of {', '.join(CANDIDATES)}", CANDIDATES)
    runs = _whole(line, "runs", 1)
    nu = tuple(_whole(line, "nu", 0, runs, part) for part in line["nu"].split(";"))
    spurious = _whole(line, "spurious", 0, CANDIDATES[system] - len(nu))
    curve = tuple(_finite_or_none(line, "curve", part) for part in line["curve"].split(";"))
    if len(curve) != TENTHS:
        raise line.wrong("curve", f"{TENTHS} values joined by ;")
    nu_max = _whole(line, "nu_max", 0, runs)
    if (nu_max > 0) != (spurious > 0):
        raise line.wrong("nu_max", f"0 exactly where spurious is 0 (found {spurious})")
    true, best, median, third = (
        _finite_or_none(line, name, line[name])
        for name in ("true_fitness", "best_fitness", "median_fitness", "third_fitness")
    )
    return ReadingCell(
        algorithm=line.name("algorithm"),
        choices=_choices(line),
        data_seed=_whole(line, "data_seed", 1),
        system=system,
        snr_db=_finite(line, "snr_db"),
        criterion=line.name("criterion"),
        runs=runs,
        evaluations=_whole(line, "evaluations", 1),
        nu=nu,
        spurious=spurious,
        nu_max=nu_max,
        exact_runs=_whole(line, "exact_runs", 0, runs),
        cardinality=_finite(line, "cardinality"),
        true_fitness=true,
        best_fitness=best,
        median_fitness=median,
        third_fitness=third,
        curve=curve,
        last_improvement=_finite(line, "last_improvement"),
    )


def _choices(line: Line) -> str:
    text = line["choices"]
    points = [re.fullmatch(r"([^=+]+)=[^=+]+", choice) for choice in text.split("+")]
    if text != BASE and (None in points or len({point[1] for point in points if point}) < len(points)):
        raise line.wrong("choices", f"{BASE}, or point=option joined by +, each point once")
    return text


def _whole(line: Line, column: str, lowest: int, highest: int | None = None, text: str | None = None) -> int:
    found = line[column] if text is None else text
    value = int(found) if re.fullmatch(r"\d{1,18}", found, re.ASCII) else -1
    if value < lowest or (highest is not None and value > highest):
        raise line.wrong(column, f"whole number from {lowest}" + ("" if highest is None else f" to {highest}"))
    return value


def _finite(line: Line, column: str, text: str | None = None) -> float:
    value = number_of(line[column] if text is None else text)
    if math.isnan(value):
        raise line.wrong(column, "a finite number")
    return int(value) if value.is_integer() else value


def _finite_or_none(line: Line, column: str, text: str) -> float | None:
    return _finite(line, column, text) if text else None


def _text(value: str | float | None) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
