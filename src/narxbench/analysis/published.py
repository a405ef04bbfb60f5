"""The values that the paper prints, and the system term that each of its labels means.

Both come from CSV files (``data/reference``) that are validated strictly: a wrong number here would pass for a finding.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from narxbench.io.csv import StrPath, number_of, read_lines
from narxbench.io.errors import NarxbenchError
from narxbench.io.settings import printable
from narxbench.model.terms import parse_term, term_name

RUNS = 40  # runs behind every published value (paper, section IV-A)
EVALUATIONS = 6000  # fitness evaluations of every published run (paper, section IV-A)
METRICS = ("nu", "r", "nu_max")

_VALUE_COLUMNS = ["table", "system", "algorithm", "criterion", "snr_db", "metric", "term", "value"]
_TERM_COLUMNS = ["system", "label", "term", "coefficient", "appendix_label"]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_DECIMAL = re.compile(r"[01](\.\d{1,2})?", re.ASCII)


class Place(NamedTuple):
    """Where a value stands in the paper; ``label`` is empty unless ``metric`` is ``nu``. ``snr_db`` is in dB."""

    table: str
    system: str
    algorithm: str
    criterion: str
    snr_db: int
    metric: str
    label: str = ""


class SystemTerm(NamedTuple):
    """A system term, its true coefficient, and the label that the paper's appendix gives to it."""

    term: str
    coefficient: float
    appendix_label: str


@dataclass(frozen=True)
class Published:
    """All published values by place, and the system terms by system and label, both in the files' order."""

    values: Mapping[Place, float]
    system_terms: Mapping[str, Mapping[str, SystemTerm]]

    @cached_property
    def by_cell(self) -> dict[tuple[str, str, str, float], dict[Place, float]]:
        """The values of each cell: system, algorithm, criterion and SNR in dB."""
        cells: dict[tuple[str, str, str, float], dict[Place, float]] = {}
        for place, value in self.values.items():
            cells.setdefault(place[1:5], {})[place] = value
        return cells

    def value(self, place: Place) -> float | None:
        """Return the published value at a place, or None where the paper has none."""
        return self.values.get(place)

    def labels(self, system: str, terms: Sequence[str]) -> dict[str, str]:
        """Return label by term, in label order, for a system with these ``terms`` (in the order of its equation).

        Labels are the paper's where the system has exactly the published terms, otherwise T1, T2, … in equation order.
        """
        known = {entry.term: label for label, entry in self.system_terms.get(system, {}).items()}
        if known.keys() == set(terms):
            return known
        return {term: f"T{number}" for number, term in enumerate(terms, start=1)}

    def is_published(self, system: str, terms: Sequence[str], coefficients: Sequence[float]) -> bool:
        """Tell whether a system of this name has exactly the published terms and coefficients."""
        known = {entry.term: entry.coefficient for entry in self.system_terms.get(system, {}).values()}
        return bool(known) and known == dict(zip(terms, coefficients, strict=True))


def load_published(tables: StrPath, system_terms: StrPath) -> Published:
    """Read and check ``published_tables.csv`` and ``system_terms.csv``; errors name file, line and column."""
    terms = _load_terms(system_terms)
    return Published(_load_values(tables, terms), terms)


def _load_terms(path: StrPath) -> dict[str, dict[str, SystemTerm]]:
    systems: dict[str, dict[str, SystemTerm]] = {}
    for line in read_lines(path, _TERM_COLUMNS):
        if not _NAME.fullmatch(line["system"]):
            raise line.wrong("system", "a name of up to 100 letters, digits, _ and -")
        known = systems.setdefault(line["system"], {})
        expected = f"T{len(known) + 1}"
        if line["label"] != expected:
            raise line.wrong("label", f"{expected}, the next label of {line['system']}")
        try:
            name = term_name(parse_term(line["term"]))
        except NarxbenchError as error:
            raise NarxbenchError(f"{path}, line {line.number}, column term: {error}") from None
        if line["term"] != name:
            raise line.wrong("term", f"the canonical name {name}")
        if any(entry.term == name for entry in known.values()):
            raise line.wrong("term", f"each term of {line['system']} once")
        coefficient = number_of(line["coefficient"])
        if math.isnan(coefficient) or coefficient == 0:
            raise line.wrong("coefficient", "a number other than 0")
        if not re.fullmatch(r"T[1-9]\d*", line["appendix_label"], re.ASCII):
            raise line.wrong("appendix_label", "a label such as T1")
        known[line["label"]] = SystemTerm(name, coefficient, line["appendix_label"])
    return systems


def _load_values(path: StrPath, terms: Mapping[str, Mapping[str, SystemTerm]]) -> dict[Place, float]:
    values: dict[Place, float] = {}
    for line in read_lines(path, _VALUE_COLUMNS):
        system, metric = line["system"], line["metric"]
        if system not in terms:
            raise line.wrong("system", f"one of {printable(', '.join(terms))}", terms)
        tables = [f"fitness_{system}", f"comparison_{system}"]
        if line["table"] not in tables:
            raise line.wrong("table", f"one of {', '.join(tables)}", tables)
        if metric not in METRICS:
            raise line.wrong("metric", f"one of {', '.join(METRICS)}", METRICS)
        labels = list(terms[system]) if metric == "nu" else [""]
        if line["term"] not in labels:
            raise line.wrong("term", f"one of {', '.join(labels)}" if metric == "nu" else f"nothing for {metric}")
        names = (line["table"], system, line.name("algorithm"), line.name("criterion"))
        if not re.fullmatch(r"\d{1,3}", line["snr_db"], re.ASCII):
            raise line.wrong("snr_db", "a whole number of dB of at most three digits")
        value = number_of(line["value"])
        if not _DECIMAL.fullmatch(line["value"]) or value > 1:
            raise line.wrong("value", "a number from 0 to 1 with at most two decimals")
        percent = math.floor(published_count(value) * 100 / RUNS + 0.5)
        if metric != "r" and percent != round(value * 100):
            raise line.wrong("value", f"a rounded multiple of 1/{RUNS}")
        place = Place(*names, int(line["snr_db"]), metric, line["term"])
        if place in values:
            found = "found the place of an earlier line again; allowed: each once"
            raise NarxbenchError(f"{path}, line {line.number}: {found}")
        values[place] = value
    return values


def published_count(frequency: float) -> int:
    """Return in how many of the 40 published runs a term with this printed selection frequency was selected."""
    return round(frequency * RUNS)
