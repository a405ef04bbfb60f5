"""What the readings of the paper's open points do to its results.

A reading is a combination of options of open points. Its cells, over several data seeds, are the lines of one CSV file
(``docs/fidelity/cells.csv``); everything else here is computed from them.
"""

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path

from narxbench.claims import GA, UPSO
from narxbench.compare import Counts
from narxbench.distance import CANDIDATES, Distance, distance
from narxbench.errors import NarxbenchError, did_you_mean
from narxbench.published import Published
from narxbench.readings import BASE, Readings, choices_text, contradictions, parse_choices, reading_settings
from narxbench.tables import Value, csv_text

SCREENED = "bic"  # the criterion under which all readings are run
TENTHS = 10  # points of a curve of convergence

StrPath = str | PathLike[str]


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
    """The cells of all readings: by algorithm and choices, then by data seed.

    ``default`` is the reading of the main experiment. Places are compared under the criterion BIC unless said.
    """

    readings: Readings
    published: Published
    default: Mapping[str, str]
    cells: Mapping[tuple[str, str], Mapping[int, tuple[ReadingCell, ...]]]
    seeds: tuple[int, ...]

    def of(self, algorithm: str, choices: str, seed: int, criterion: str = SCREENED) -> list[ReadingCell]:
        """Return the cells of a reading on a data seed under a criterion (all criteria: "")."""
        cells = self.cells.get((algorithm, choices), {}).get(seed, ())
        return [cell for cell in cells if criterion in ("", cell.criterion)]

    def complete(self, algorithm: str, criterion: str = SCREENED) -> list[str]:
        """Return the choices that have every system and SNR of the paper on every data seed; base, single changes, …"""
        found = [choices for name, choices in self.cells if name == algorithm]
        return sorted((c for c in found if not self.missing(algorithm, c, criterion)), key=self._rank)

    def missing(self, algorithm: str, choices: str, criterion: str = SCREENED) -> list[tuple[int, str, float]]:
        """Return the data seeds, systems and SNRs of the paper at which a reading has no cell."""
        places = dict.fromkeys((place.system, place.snr_db) for place in self.published.values)
        return [
            (seed, *place)
            for seed in self.seeds
            for place in places
            if place not in {(cell.system, cell.snr_db) for cell in self.of(algorithm, choices, seed, criterion)}
        ]

    def incomplete(self) -> list[tuple[str, str]]:
        """Return algorithm and choices of the compared readings that lack cells and are therefore left out."""
        return [name for name in self.cells if name[0] in (UPSO, GA) and self.missing(*name)]

    def shared(self, choices: str) -> str:
        """Return the part of some choices that concerns data and fitness, which every algorithm shares."""
        return choices_text(self.readings, parse_choices(self.readings, choices), "")

    def united(self, *choices: str) -> str:
        """Return the choices of several algorithms, which agree in data and fitness, as those of one reading."""
        return choices_text(self.readings, {k: v for c in choices for k, v in parse_choices(self.readings, c).items()})

    def restricted(self, reading: Mapping[str, str], algorithm: str | None) -> str:
        """Return the choices of a reading that can matter to an algorithm (None: all)."""
        return choices_text(self.readings, reading, algorithm)

    def contradictions(self, choices: str) -> list[str]:
        """Return the explicit statements that some choices contradict."""
        return contradictions(self.readings, parse_choices(self.readings, choices))

    def own_data(self, choices: str) -> bool:
        """Tell whether every run has data of its own, so that no J can be compared with that of another run."""
        settings = reading_settings(self.readings, parse_choices(self.readings, choices))
        return bool(settings["data"]["realisation"] == "per_run")

    def changes(self, choices: str) -> int:
        """Return in how many open points some choices differ from the base."""
        return len(parse_choices(self.readings, choices))

    def distances(self, algorithm: str, choices: str, criterion: str = SCREENED) -> list[Distance]:
        """Return the distance to the published values on each data seed; empty where none is published."""
        found = [self.distance(algorithm, choices, seed, criterion) for seed in self.seeds]
        return [entry for entry in found if entry is not None]

    def distance(self, algorithm: str, choices: str, seed: int, criterion: str = SCREENED) -> Distance | None:
        """Return the distance to the published values on one data seed, or None where none is published."""
        return distance(self.published, [cell.counts() for cell in self.of(algorithm, choices, seed, criterion)])

    def _rank(self, choices: str) -> tuple[int, list[tuple[int, int]]]:
        points = list(self.readings.open_points)
        chosen = parse_choices(self.readings, choices).items()
        ranks = [(points.index(p), list(self.readings.open_points[p].options).index(o)) for p, o in chosen]
        return len(ranks), ranks


def make_study(
    cells: Iterable[ReadingCell], readings: Readings, published: Published, default: Mapping[str, str]
) -> Study:
    """Group cells by reading and data seed, after checking them against the open points and the published systems."""
    grouped: dict[tuple[str, str], dict[int, list[ReadingCell]]] = {}
    for cell in sorted(cells, key=lambda cell: cell.key):
        labels = published.system_terms[cell.system]
        if len(cell.nu) != len(labels):
            found = f"{cell.system}: found {len(cell.nu)} counts of system terms; allowed: {len(labels)}"
            raise NarxbenchError(f"cells of readings, {found}")
        grouped.setdefault((cell.algorithm, cell.choices), {}).setdefault(cell.data_seed, []).append(cell)
    for algorithm, choices in grouped:
        own = choices_text(readings, parse_choices(readings, choices), algorithm)
        if own != choices:
            raise NarxbenchError(f"cells of readings, {algorithm}: found the choices {choices!r}; allowed: {own!r}")
    seeds = tuple(sorted({cell.data_seed for found in grouped.values() for of in found.values() for cell in of}))
    frozen = {name: {s: tuple(of) for s, of in by_seed.items()} for name, by_seed in grouped.items()}
    study = Study(readings, published, dict(default), frozen, seeds)
    for algorithm in (UPSO, *{name for name, _ in grouped if name == GA}):
        if missing := study.missing(algorithm, BASE):
            seed, system, snr_db = missing[0]
            found = f"no cell of {algorithm} with the choices {BASE} for data seed {seed}, {system}, {snr_db:g} dB"
            allowed = f"every system and SNR of the paper under {SCREENED} on every data seed"
            raise NarxbenchError(f"cells of readings: found {found}; allowed: {allowed}")
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
    for line in _lines(path):
        cell = line.cell()
        if cell.key in cells:
            raise NarxbenchError(f"{path}, line {line.number}: found an earlier line's cell again; allowed: each once")
        cells[cell.key] = cell
    return list(cells.values())


@dataclass(frozen=True)
class _Line:
    path: StrPath
    number: int
    row: dict[str, str]

    def cell(self) -> ReadingCell:
        if self.row["system"] not in CANDIDATES:
            raise self.wrong("system", f"one of {', '.join(CANDIDATES)}", did_you_mean(self.row["system"], CANDIDATES))
        runs = self.whole("runs", 1)
        nu = tuple(self.whole("nu", 0, runs, part) for part in self.row["nu"].split(";"))
        spurious = self.whole("spurious", 0, CANDIDATES[self.row["system"]] - len(nu))
        curve = tuple(self.number_or_none("curve", part) for part in self.row["curve"].split(";"))
        if len(curve) != TENTHS:
            raise self.wrong("curve", f"{TENTHS} values joined by ;")
        nu_max = self.whole("nu_max", 0, runs)
        if (nu_max > 0) != (spurious > 0):
            raise self.wrong("nu_max", f"0 exactly where spurious is 0 (found {spurious})")
        return ReadingCell(
            algorithm=self.name("algorithm"),
            choices=self.choices(),
            data_seed=self.whole("data_seed", 1),
            system=self.row["system"],
            snr_db=self.finite("snr_db"),
            criterion=self.name("criterion"),
            runs=runs,
            evaluations=self.whole("evaluations", 1),
            nu=nu,
            spurious=spurious,
            nu_max=nu_max,
            exact_runs=self.whole("exact_runs", 0, runs),
            cardinality=self.finite("cardinality"),
            true_fitness=self.number_or_none("true_fitness"),
            best_fitness=self.number_or_none("best_fitness"),
            median_fitness=self.number_or_none("median_fitness"),
            third_fitness=self.number_or_none("third_fitness"),
            curve=curve,
            last_improvement=self.finite("last_improvement"),
        )

    def name(self, column: str) -> str:
        if not self.row[column]:
            raise self.wrong(column, "a name")
        return self.row[column]

    def choices(self) -> str:
        text = self.row["choices"]
        points = [choice.partition("=")[0] for choice in text.split("+")]
        if text != BASE and (
            not all(re.fullmatch(r"[^=+]+=[^=+]+", choice) for choice in text.split("+"))
            or len(set(points)) < len(points)
        ):
            raise self.wrong("choices", f"{BASE}, or point=option joined by +, each point once")
        return text

    def whole(self, column: str, lowest: int, highest: int | None = None, text: str | None = None) -> int:
        found = self.row[column] if text is None else text
        value = int(found) if re.fullmatch(r"\d+", found, re.ASCII) else -1
        if value < lowest or (highest is not None and value > highest):
            raise self.wrong(column, f"whole number from {lowest}" + ("" if highest is None else f" to {highest}"))
        return value

    def finite(self, column: str, text: str | None = None) -> float:
        try:
            value = float(self.row[column] if text is None else text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise self.wrong(column, "a finite number")
        return int(value) if value.is_integer() else value

    def number_or_none(self, column: str, text: str | None = None) -> float | None:
        return None if (self.row[column] if text is None else text) == "" else self.finite(column, text)

    def wrong(self, column: str, allowed: str, hint: str = "") -> NarxbenchError:
        where = f"{self.path}, line {self.number}, column {column}"
        return NarxbenchError(f"{where}: found {self.row[column]!r}; allowed: {allowed}{hint}")


def _lines(path: StrPath) -> Iterator[_Line]:
    try:
        with Path(path).open(encoding="utf-8", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            header = next(reader, [])
            if header != COLUMNS:
                raise NarxbenchError(f"{path}, line 1: found columns {','.join(header)}; allowed: {','.join(COLUMNS)}")
            empty = True
            for found in reader:
                if len(found) != len(COLUMNS):
                    raise NarxbenchError(
                        f"{path}, line {reader.line_num}: found {len(found)} columns; allowed: {len(COLUMNS)}"
                    )
                empty = False
                yield _Line(path, reader.line_num, dict(zip(COLUMNS, found, strict=True)))
            if empty:
                raise NarxbenchError(f"{path}: found no rows; allowed: at least one")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise NarxbenchError(f"{path}: cannot be read as CSV: {error}") from None


def _text(value: str | float | None) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
