"""The values that the paper prints, and the system term that each of its labels means.

Both come from CSV files (``data/reference``) that are validated strictly: a wrong number here would pass for a finding.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import pandas as pd

from narxbench._io.csv import NAME, TEXT, Kind, matching, one_of, read_table, wrong
from narxbench._io.errors import NarxbenchError
from narxbench._io.files import StrPath
from narxbench._model.terms import parse_term, term_name

RUNS = 40  # runs behind every published value (paper, section IV-A)
EVALUATIONS = 6000  # fitness evaluations of every published run (paper, section IV-A)
SNRS = (50.0, 40.0, 30.0)  # in dB, in the order of the paper's tables
METRICS = ("nu", "r", "nu_max")
PLACE = ["system", "algorithm", "criterion", "snr_db"]  # what identifies a condition in the paper's tables
VALUE = [*PLACE, "metric", "label"]  # what identifies a published value, whichever table prints them


@dataclass(frozen=True, eq=False)
class Published:
    """All published values and the system terms behind their labels ("" unless the metric is nu), as in the files."""

    values: pd.DataFrame
    terms: pd.DataFrame

    @cached_property
    def once(self) -> pd.DataFrame:
        """The values, without repetitions of those that two tables print."""
        return self.values.drop_duplicates(VALUE)

    @cached_property
    def systems(self) -> dict[str, pd.DataFrame]:
        """The system terms of each system, by term, in label order."""
        return {str(system): group.set_index("term") for system, group in self.terms.groupby("system", sort=False)}

    def labelled(self, system: str) -> dict[str, str]:
        """Return the system terms of a system of the paper by their labels."""
        terms = self.systems[system].reset_index()
        return dict(zip(terms["label"], terms["term"], strict=True))

    def labels(self, system: str, terms: Sequence[str]) -> dict[str, str]:
        """Return label by term: the paper's for exactly the published terms, else T1, T2, … in the given order."""
        if system in self.systems and set(self.systems[system].index) == set(terms):
            return dict(self.systems[system]["label"])
        return {term: f"T{number}" for number, term in enumerate(terms, start=1)}

    def is_published(self, system: str, terms: Sequence[str], coefficients: Sequence[float]) -> bool:
        """Tell whether a system of this name has exactly the published terms and coefficients."""
        published = self.systems.get(system)
        if published is None:
            return False
        return dict(published["coefficient"]) == dict(zip(terms, coefficients, strict=True))


def load_published(tables: StrPath, system_terms: StrPath) -> Published:
    """Read and check ``published_tables.csv`` and ``system_terms.csv``. Errors name file, line and column."""
    terms = _load_terms(system_terms)
    return Published(_load_values(tables, terms.groupby("system", sort=False)["label"].agg(list).to_dict()), terms)


def published_count(frequency: float) -> int:
    """Return the number of published runs that selected a term with this printed frequency."""
    return round(frequency * RUNS)


def _load_terms(path: StrPath) -> pd.DataFrame:
    """Read the system terms."""
    terms = read_table(path, _TERM_COLUMNS)
    number = terms.groupby("system").cumcount() + 1
    repeated = terms.duplicated(["system", "term"])
    for row, (system, label, term) in enumerate(terms[["system", "label", "term"]].itertuples(index=False)):
        expected = f"T{number[row]}"
        if label != expected:
            raise wrong(path, row, "label", label, f"{expected}, the next label of {system}")
        if repeated[row]:
            raise wrong(path, row, "term", term, f"each term of {system} once")
    return terms


def _load_values(path: StrPath, labels: Mapping[str, list[str]]) -> pd.DataFrame:
    """Read the published values. ``labels`` are those of the system terms of each system."""
    values = read_table(path, {**_VALUE_COLUMNS, "system": one_of(*labels)})
    repeated = values.duplicated(values.columns.drop("value").tolist())
    for row, (table, system, *_, metric, term, value) in enumerate(values.itertuples(index=False)):
        tables = [f"fitness_{system}", f"comparison_{system}"]
        if table not in tables:
            raise wrong(path, row, "table", table, f"one of {', '.join(tables)}", tables)
        if metric == "nu" and term not in labels[system]:
            raise wrong(path, row, "term", term, f"one of {', '.join(labels[system])}")
        if metric != "nu" and term:
            raise wrong(path, row, "term", term, f"nothing for {metric}")
        if metric != "r" and not _is_multiple(value):
            raise wrong(path, row, "value", value, f"a rounded multiple of 1/{RUNS}")
        if repeated[row]:
            raise wrong(path, row, "metric", metric, "each value once, found that of an earlier line")
    for (table, system, *_), rows in values.groupby(["table", *PLACE], sort=False):
        needed = {("r", ""), ("nu_max", ""), *product(["nu"], labels[str(system)])}
        missing = needed.difference(rows[["metric", "term"]].itertuples(index=False, name=None))
        if missing:
            problem = f"found no {' '.join(min(missing))}".rstrip()
            line = rows.index[0] + 2
            raise NarxbenchError(f"{path}: line {line}: {problem} with this value of {table}; needed: all")
    return values.rename(columns={"term": "label", "value": "published"})


def _is_multiple(value: float) -> bool:
    """Return whether a printed value is a multiple of 1/40 that was rounded to two decimals."""
    return math.floor(published_count(value) * 100 / RUNS + 0.5) == round(value * 100)


def _canonical(text: str) -> str:
    """Return the name of a term, or raise ValueError if it is not the canonical one."""
    if term_name(parse_term(text)) != text:
        raise ValueError(text)
    return text


_TERM_COLUMNS = {
    "system": matching("[A-Za-z0-9][A-Za-z0-9_-]{0,99}", "a name of up to 100 letters, digits, _ and -"),
    "label": NAME,
    "term": Kind("the canonical name of a term, such as y(k-1)*u(k-2)", _canonical),
    "coefficient": matching(r"(?!-?0*(\.0*)?$)-?\d+(\.\d+)?", "a number other than 0", float),
    "appendix_label": matching(r"T[1-9]\d*", "a label such as T1"),
}
_VALUE_COLUMNS = {
    "table": NAME,
    "system": NAME,
    "algorithm": NAME,
    "criterion": NAME,
    "snr_db": matching(r"\d{1,3}", "a whole number of dB of at most three digits", float),
    "metric": one_of(*METRICS),
    "term": TEXT,
    "value": matching(r"0(\.\d{1,2})?|1(\.00?)?", "a number from 0 to 1 with at most two decimals", float),
}
