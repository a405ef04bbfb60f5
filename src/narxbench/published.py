"""The values that the paper prints, and the system term that each of its labels means.

Both come from CSV files (``data/reference``) that are validated strictly: a wrong number here would pass for a finding.
"""

import csv
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from narxbench.errors import NarxbenchError, did_you_mean
from narxbench.terms import parse_term, term_name
from narxbench.validation import printable, show

RUNS = 40  # runs behind every published value (paper, section IV-A)
EVALUATIONS = 6000  # fitness evaluations of every published run (paper, section IV-A)
METRICS = ("nu", "r", "nu_max")

_VALUE_COLUMNS = ["table", "system", "algorithm", "criterion", "snr_db", "metric", "term", "value"]
_TERM_COLUMNS = ["system", "label", "term", "coefficient", "appendix_label"]
_FLOAT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_DECIMAL = re.compile(r"[01](\.\d{1,2})?", re.ASCII)

StrPath = str | PathLike[str]


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
    for line, row in _rows(path, _TERM_COLUMNS):
        if not _NAME.fullmatch(row["system"]):
            raise _wrong(path, line, "system", row["system"], "a name of up to 100 letters, digits, _ and -")
        known = systems.setdefault(row["system"], {})
        expected = f"T{len(known) + 1}"
        if row["label"] != expected:
            raise _wrong(path, line, "label", row["label"], f"{expected}, the next label of {row['system']}")
        try:
            name = term_name(parse_term(row["term"]))
        except NarxbenchError as error:
            raise NarxbenchError(f"{path}, line {line}, column term: {error}") from None
        if row["term"] != name:
            raise _wrong(path, line, "term", row["term"], f"the canonical name {name}")
        if any(entry.term == name for entry in known.values()):
            raise _wrong(path, line, "term", name, f"each term of {row['system']} once")
        coefficient = _number(row["coefficient"])
        if not math.isfinite(coefficient) or coefficient == 0:
            raise _wrong(path, line, "coefficient", row["coefficient"], "a number other than 0")
        if not re.fullmatch(r"T[1-9]\d*", row["appendix_label"], re.ASCII):
            raise _wrong(path, line, "appendix_label", row["appendix_label"], "a label such as T1")
        known[row["label"]] = SystemTerm(name, coefficient, row["appendix_label"])
    return systems


def _load_values(path: StrPath, terms: Mapping[str, Mapping[str, SystemTerm]]) -> dict[Place, float]:
    values: dict[Place, float] = {}
    for line, row in _rows(path, _VALUE_COLUMNS):
        if row["system"] not in terms:
            raise _wrong(path, line, "system", row["system"], f"one of {printable(', '.join(terms))}", terms)
        tables = [f"fitness_{row['system']}", f"comparison_{row['system']}"]
        if row["table"] not in tables:
            raise _wrong(path, line, "table", row["table"], f"one of {', '.join(tables)}", tables)
        if row["metric"] not in METRICS:
            raise _wrong(path, line, "metric", row["metric"], f"one of {', '.join(METRICS)}", METRICS)
        labels = list(terms[row["system"]]) if row["metric"] == "nu" else [""]
        if row["term"] not in labels:
            allowed = f"one of {', '.join(labels)}" if row["metric"] == "nu" else f"nothing for {row['metric']}"
            raise _wrong(path, line, "term", row["term"], allowed)
        for column in ("algorithm", "criterion"):
            if not row[column]:
                raise _wrong(path, line, column, "", "a name")
        if not re.fullmatch(r"\d{1,3}", row["snr_db"], re.ASCII):
            raise _wrong(path, line, "snr_db", row["snr_db"], "a whole number of dB of at most three digits")
        value = _number(row["value"])
        if not _DECIMAL.fullmatch(row["value"]) or value > 1:
            raise _wrong(path, line, "value", row["value"], "a number from 0 to 1 with at most two decimals")
        percent = math.floor(published_count(value) * 100 / RUNS + 0.5)
        if row["metric"] != "r" and percent != round(value * 100):
            raise _wrong(path, line, "value", row["value"], f"a rounded multiple of 1/{RUNS}")
        names = (row["table"], row["system"], row["algorithm"], row["criterion"])
        place = Place(*names, int(row["snr_db"]), row["metric"], row["term"])
        if place in values:
            raise NarxbenchError(f"{path}, line {line}: found the place of an earlier line again; allowed: each once")
        values[place] = value
    return values


def published_count(frequency: float) -> int:
    """Return in how many of the 40 published runs a term with this printed selection frequency was selected."""
    return round(frequency * RUNS)


def _rows(path: StrPath, columns: list[str]) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        with Path(path).open(encoding="utf-8", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            header = next(reader, [])
            if header != columns:
                found = printable(",".join(header))
                raise NarxbenchError(f"{path}, line 1: found columns {found}; allowed: {','.join(columns)}")
            empty = True
            for fields in reader:
                if len(fields) != len(columns):
                    raise NarxbenchError(
                        f"{path}, line {reader.line_num}: found {len(fields)} columns; allowed: {len(columns)}"
                    )
                empty = False
                yield reader.line_num, dict(zip(columns, fields, strict=True))
            if empty:
                raise NarxbenchError(f"{path}: found no rows; allowed: at least one")
    except OSError as error:
        raise NarxbenchError(f"{path}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise NarxbenchError(f"{path}: cannot be read as CSV: {error}") from None


def _number(text: str) -> float:
    # float() would also take 1_000, blanks and digits of other scripts.
    return float(text) if _FLOAT.fullmatch(text) else math.nan


def _wrong(
    path: StrPath, line: int, column: str, found: str, allowed: str, words: Sequence[str] | Mapping[str, object] = ()
) -> NarxbenchError:
    hint = did_you_mean(found, words)
    return NarxbenchError(
        f"{path}, line {line}, column {column}: found {show(found, kind=False)}; allowed: {allowed}{hint}"
    )
