"""The paper's tables of values as it prints them: each value of the paper above the run's.

Captions and the order of rows and columns are the paper's. What a run has besides these conditions has tables of the
same form, one for each system.
"""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import pandas as pd

from narxbench._report.formats import criterion_name, method_name
from narxbench._report.table import Column, Mark, Table, columns
from narxbench._studies.paper.claims import CRITERIA, GA, UPSO
from narxbench._studies.paper.frames import main_methods
from narxbench._studies.paper.metrics import NU_MAX, R
from narxbench._studies.paper.published import RUNS, SNRS, Published
from narxbench._study.frames import Frames

# The systems of the paper's tables on the fitness function, by the name of the table.
FITNESS_TABLES = {"table_3": "S1", "table_4": "S2", "table_5": "S3", "table_6": "S4"}
# The system of the comparative evaluation.
COMPARED_SYSTEM = "S4"
# The paper's numbers of its tables.
NUMERALS = {
    **{"table_1": "I", "table_2": "II", "table_3": "III", "table_4": "IV", "table_5": "V", "table_6": "VI"},
    "table_7": "VII",
}
# The interpretations of which the repository keeps medians over several data sets.
KEPT_ROLES = ("as described", "closest")

Place = tuple[str, float, str, str]  # system, SNR, method or algorithm, and criterion
Values = Mapping[str, float]  # by the key of a column: the label of a system term, r or nu_max


@dataclass(frozen=True)
class ConditionValues:
    """One condition in a table: its values in the paper and in the run, and those that the repository keeps.

    ``marks`` has the values of the run that differ clearly from the paper's. ``group`` heads its rows.
    """

    group: str
    place: Place
    published: Values = field(default_factory=dict)
    run: Values = field(default_factory=dict)
    marks: Mapping[str, Mark] = field(default_factory=dict)
    kept: Mapping[str, Values] = field(default_factory=dict)

    @property
    def snr_db(self) -> float:
        """The SNR in dB."""
        return self.place[1]

    @property
    def anchor(self) -> str:
        """The id of the condition on the page that says where its values come from."""
        return condition_anchor(*self.place)


@dataclass(frozen=True)
class ValueTable:
    """A table of selection frequencies, r and nu_max. ``terms`` has the system terms by their labels."""

    name: str
    caption: str
    heading: str
    system: str
    terms: Mapping[str, str]
    conditions: Sequence[ConditionValues]
    is_compared: bool

    @property
    def keys(self) -> list[str]:
        """The keys of the columns of values."""
        return [*self.terms, R.name, NU_MAX.name]

    @property
    def values(self) -> list[float]:
        """All values of the run."""
        return [value for condition in self.conditions for value in condition.run.values()]

    @property
    def smallest_frequency(self) -> float | None:
        """The smallest frequency of a system term in the run, or None without a run."""
        frequencies = []
        for condition in self.conditions:
            frequencies += [condition.run[label] for label in self.terms if label in condition.run]
        return min(frequencies, default=None)

    def largest(self, key: str) -> float | None:
        """Return the largest value of a column in the run, or None without a run."""
        return max((condition.run[key] for condition in self.conditions if key in condition.run), default=None)


def condition_anchor(system: str, snr_db: float, method: str, criterion: str) -> str:
    """Return the id of a condition on the page that says where its values come from."""
    # Names may differ by case, or by a hyphen in place of an underscore.
    return re.sub(r"[^\w.-]+", "-", f"condition-{system}-{snr_db:g}dB-{method}-{criterion}")


def value_tables(
    frames: Frames, published: Published, systems: Iterable[str], *, is_compared: bool, kept: pd.DataFrame | None = None
) -> dict[str, ValueTable]:
    """Return the paper's tables III to VII, and a table of the other conditions of each system of the study, by name.

    The frames are ``metrics``, ``selection`` and ``agreement_values`` of a run. ``is_compared`` marks what differs.
    ``kept`` is the frame ``values`` of the study of interpretations.
    """
    metrics, agreement = frames["metrics"], frames["agreement_values"]
    reproduced = _values_of_run(metrics, frames["selection"])
    labels = _labels(frames["selection"])
    of_paper = set(agreement.loc[agreement["method"] != "", "system"])
    main = main_methods(metrics)
    in_paper, kept_values = _published_values(published), _kept_values(kept)
    marks = _marks(agreement) if is_compared else {}
    shown: set[Place] = set()

    def of_paper_condition(group: str, system: str, snr_db: float, algorithm: str, criterion: str) -> ConditionValues:
        place = (system, snr_db, main.get(algorithm, algorithm), criterion)
        of_paper_place = (system, snr_db, algorithm, criterion)
        shown.add(place)
        run = reproduced.get(place, {}) if system in of_paper else {}
        return ConditionValues(
            group, place, in_paper[of_paper_place], run, marks.get(place, {}), kept_values.get(of_paper_place, {})
        )

    tables = []
    for name, system in FITNESS_TABLES.items():
        rows = []
        for criterion, snr_db in product(CRITERIA, SNRS):
            rows.append(of_paper_condition(criterion_name(criterion), system, snr_db, UPSO, criterion))
        caption = f"Effect of the fitness function – {system}"
        tables.append(ValueTable(name, caption, "Fitness J", system, published.labelled(system), rows, is_compared))
    rows = []
    for algorithm, snr_db in product((UPSO, GA), SNRS):
        rows.append(of_paper_condition(method_name(algorithm), COMPARED_SYSTEM, snr_db, algorithm, "bic"))
    caption = f"Comparative evaluation on {COMPARED_SYSTEM}: GA vs. 2D-UPSO"
    terms = published.labelled(COMPARED_SYSTEM)
    tables.append(ValueTable("table_7", caption, "Algorithm", COMPARED_SYSTEM, terms, rows, is_compared))
    for system in systems:
        tables.append(_further_table(system, metrics, reproduced, shown if system in of_paper else set(), labels))
    return {table.name: table for table in tables}


def _further_table(
    system: str,
    metrics: pd.DataFrame,
    reproduced: Mapping[Place, Values],
    shown: set[Place],
    labels: Mapping[str, Mapping[str, str]],
) -> ValueTable:
    """Return the table of the conditions of a system that no table of the paper shows."""
    of_system = metrics[metrics["system"] == system]
    rows = []
    for row in of_system.itertuples(index=False):
        place = (system, row.snr_db, row.method, row.criterion)
        if place not in shown:
            group = f"{method_name(row.method)}, {criterion_name(row.criterion)}"
            rows.append(ConditionValues(group, place, run=reproduced[place]))
    caption = f"Selection frequencies that the paper does not tabulate – {system}"
    return ValueTable(
        f"selection_{system}", caption, "Method, fitness", system, labels.get(system, {}), rows, is_compared=False
    )


def _values_of_run(metrics: pd.DataFrame, selection: pd.DataFrame) -> dict[Place, dict[str, float]]:
    """Return the values of each condition of the run."""
    values: dict[Place, dict[str, float]] = {}
    for row in selection[selection["system_term"]].itertuples(index=False):
        values.setdefault((row.system, row.snr_db, row.method, row.criterion), {})[row.label] = row.frequency
    for row in metrics.itertuples(index=False):
        of_condition = values.setdefault((row.system, row.snr_db, row.method, row.criterion), {})
        of_condition |= {R.name: row.r, NU_MAX.name: row.nu_max}
    return values


def _labels(selection: pd.DataFrame) -> dict[str, dict[str, str]]:
    """Return the system terms of each system by their labels, in the order of the labels."""
    terms = selection[selection["system_term"]].drop_duplicates(["system", "label"])
    labels: dict[str, dict[str, str]] = {}
    for system, of_system in terms.groupby("system", sort=False):
        in_order = of_system.sort_values("label", key=lambda names: names.str[1:].astype(int))
        labels[str(system)] = dict(zip(in_order["label"], in_order["term"], strict=True))
    return labels


def _published_values(published: Published) -> dict[Place, dict[str, float]]:
    """Return the published values of each condition, by system, SNR, algorithm and criterion."""
    values: dict[Place, dict[str, float]] = {}
    for row in published.once.itertuples(index=False):
        place = (row.system, row.snr_db, row.algorithm, row.criterion)
        values.setdefault(place, {})[row.label or row.metric] = row.published
    return values


def _kept_values(kept: pd.DataFrame | None) -> dict[Place, dict[str, dict[str, float]]]:
    """Return the kept medians of each condition by interpretation."""
    values: dict[Place, dict[str, dict[str, float]]] = {}
    if kept is None:
        return values
    for row in kept[kept["role"].isin(KEPT_ROLES)].itertuples(index=False):
        place = (row.system, row.snr_db, row.algorithm, row.criterion)
        values.setdefault(place, {}).setdefault(row.role, {})[row.label or row.metric] = row.reproduced
    return values


def _marks(agreement: pd.DataFrame) -> dict[Place, dict[str, Mark]]:
    """Return the values that differ clearly from the published ones, by condition."""
    marks: dict[Place, dict[str, Mark]] = {}
    for row in agreement[agreement["different"].eq(True)].itertuples(index=False):
        place = (row.system, row.snr_db, row.method, row.criterion)
        marks.setdefault(place, {})[row.label or row.metric] = "lower" if row.difference < 0 else "higher"
    return marks


def as_table(values: ValueTable) -> Table:
    """Return the table of values for files: of each condition this run first, then the paper, then kept medians."""
    head = (
        Column("group", values.heading),
        Column("snr_db", "SNR", kind="snr"),
        Column("source", "Values"),
        *columns("frequency", "ν of system terms", **{label: label for label in values.terms}),
        *columns("frequency", "Spurious terms", **{R.name: R.heading, NU_MAX.name: NU_MAX.heading}),
    )
    rows: list[tuple[Any, ...]] = []
    marks: list[Mapping[str, Mark]] = []
    for condition in values.conditions:
        by_source = {"this run": condition.run, "paper": condition.published}
        by_source |= {f"kept, {role}": kept for role, kept in condition.kept.items()}
        for source, numbers in by_source.items():
            if numbers or source == "this run":
                rows.append((condition.group, condition.snr_db, source, *map(numbers.get, values.keys)))
                marks.append(condition.marks if source == "this run" else {})
    layout: dict[str, Any] = {"notes": _notes(values), "row_headers": 3, "merged": 2}
    if values.is_compared:
        layout["marks"] = tuple(marks)
    return Table.of(values.name, values.caption, head, rows, **layout)


def term_names(values: ValueTable) -> str:
    """Return the system terms of a table after their labels."""
    return ", ".join(f"{label} {'constant' if term == '1' else term}" for label, term in values.terms.items())


def _notes(values: ValueTable) -> tuple[str, ...]:
    """Return the notes of a table: its symbols, and the meaning of its lines."""
    notes = [
        f"System terms: {term_names(values)}. ν: share of the runs that select a term. r: spurious terms that at least "
        "one run selects, as a share of all candidate terms. ν_max: largest share of the runs that select one spurious "
        "term."
    ]
    if values.is_compared:
        notes.append(
            "Bold with an arrow: clearly lower or higher than in the paper (Fisher’s exact test at 5 %, Holm’s "
            "correction over all values of the paper)."
        )
    sources = []
    if any(condition.published for condition in values.conditions):
        sources.append(f"Paper: {RUNS} runs on one data set.")
    if any(condition.kept for condition in values.conditions):
        sources.append("Kept: medians over several data sets, from the study of interpretations.")
    # Each note is a paragraph, and the longest tables fill a printed page.
    notes += [" ".join(sources)] if sources else []
    return tuple(notes)


def explain_command(place: Place, value: str) -> str:
    """Return the command that prints the facts behind a value of a condition. Its default method is 2D-UPSO."""
    system, snr_db, method, criterion = place
    command = f"narxbench explain {shlex.quote(system)} --criterion {criterion} --snr {snr_db:g}"
    if method != UPSO:
        command += f" --method {shlex.quote(method)}"
    return f"{command} {value}"
