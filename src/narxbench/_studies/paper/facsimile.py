"""The paper's tables as it prints them, each value published, as described and under the closest interpretation.

Captions and the order of rows and columns are those of the paper. The last tables, which the paper does not have, show
the final structures with their coefficients next to the true ones.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from narxbench._report.formats import criterion_name, fixed, listed, method_name, number, percent, snr
from narxbench._report.table import Column, Table, columns
from narxbench._studies.paper import tables
from narxbench._studies.paper.claims import CRITERIA, GA, UPSO
from narxbench._studies.paper.interpretations.findings import AS_DESCRIBED, CLOSEST
from narxbench._studies.paper.metrics import NU_MAX, R
from narxbench._studies.paper.published import RUNS, Published
from narxbench._study.design_choices import DesignChoices, interpretation_words, parse_interpretation

PUBLISHED = "published"
SOURCES = (PUBLISHED, AS_DESCRIBED, CLOSEST)
SNRS = (50.0, 40.0, 30.0)
# The tables with the effect of the fitness function: system by name of the table.
FITNESS_TABLES = {"table_3": "S1", "table_4": "S2", "table_5": "S3", "table_6": "S4"}
# The system of the comparative evaluation.
COMPARED_SYSTEM = "S4"
# The paper's numbers of its tables.
NUMERALS = {
    **{"table_1": "I", "table_2": "II", "table_3": "III", "table_4": "IV", "table_5": "V", "table_6": "VI"},
    "table_7": "VII",
}
# The values of the paper's table II.
PRINTED_SETTINGS: Mapping[str, Mapping[str, float]] = {
    GA: {"population_size": 80, "crossover_probability": 0.45, "mutation_probability": 0.01},
    UPSO: {
        **{"swarm_size": 30, "inertia": 0.729, "cognitive_acceleration": 1.49, "social_acceleration": 1.49},
        **{"unification_start": 0.2, "unification_end": 0.7, "refresh_gap": 10},
    },
}
# The heading over the system terms; over a few of them the paper has the symbol alone.
_FREQUENCY, _FEW_TERMS = "Selection frequency (ν)", 5
_SOURCE = Column("source", "Values")
_SNR = Column("snr_db", "SNR", kind="snr")

# System, algorithm, criterion and SNR of a condition.
Place = tuple[str, str, str, float]


@dataclass(frozen=True)
class Values:
    """The values of the paper's tables by condition, source and key of the column, and how they compare.

    ``different`` are those that differ clearly from the published ones on every data set, ``data_sets`` how many data
    sets there are by source and criterion, ``interpretations`` the text of each source by algorithm.
    """

    numbers: Mapping[tuple[Place, str], Mapping[str, float]]
    different: Mapping[tuple[Place, str], set[str]]
    data_sets: Mapping[tuple[str, str], set[int]]
    interpretations: Mapping[str, Mapping[str, str]]

    @property
    def sources(self) -> list[str]:
        """The sources that have values: the published ones, then the interpretations."""
        return [source for source in SOURCES if source == PUBLISHED or source in self.interpretations]


def values_by_condition(values: pd.DataFrame) -> Values:
    """Return the rows of the frame ``values`` by condition and source."""
    numbers: dict[tuple[Place, str], dict[str, float]] = defaultdict(dict)
    different: dict[tuple[Place, str], set[str]] = defaultdict(set)
    data_sets: dict[tuple[str, str], set[int]] = defaultdict(set)
    interpretations: dict[str, dict[str, str]] = defaultdict(dict)
    for row in values.itertuples(index=False):
        if row.role not in SOURCES:
            continue
        place, key = (row.system, row.algorithm, row.criterion, row.snr_db), row.label or row.metric
        numbers[place, PUBLISHED][key] = row.published
        numbers[place, row.role][key] = row.reproduced
        data_sets[row.role, row.criterion].add(row.data_sets)
        interpretations[row.role][row.algorithm] = row.interpretation
        if row.different:
            different[place, row.role].add(key)
    return Values(numbers, different, data_sets, interpretations)


def facsimile_tables(
    values: pd.DataFrame,
    summaries: Sequence[Mapping[str, Any]],
    settings: Mapping[str, Any],
    systems: Sequence[Any],
    published: Published,
    choices: DesignChoices,
) -> dict[str, Table]:
    """Return the paper's tables I to VII, and the table of final structures of each system of the study, by name.

    ``values`` is the frame of the study of interpretations; ``summaries`` and ``settings`` are those of this study.
    """
    by_condition = values_by_condition(values)
    shown = [printed_systems(systems), printed_settings(settings, by_condition, choices)]
    for name, system in FITNESS_TABLES.items():
        caption = f"Effect of the fitness function – {system}"
        rows = [(criterion_name(criterion), (system, UPSO, criterion)) for criterion in CRITERIA]
        shown.append(_printed_values(name, caption, "Fitness J", rows, by_condition, published))
    caption = f"Comparative evaluation on {COMPARED_SYSTEM}: GA vs. 2D-UPSO"
    compared = [(method_name(algorithm), (COMPARED_SYSTEM, algorithm, "bic")) for algorithm in (UPSO, GA)]
    shown.append(_printed_values("table_7", caption, "Algorithm", compared, by_condition, published))
    criterion = tables.shared_criterion(settings)
    for system_name in settings["systems"]:
        shown.append(final_structures(system_name, summaries, criterion, settings, published))
    return {table.name: table for table in shown}


def printed_systems(systems: Iterable[Any]) -> Table:
    """Return the paper's table I, of the systems of this study."""
    table = tables.systems_table(systems)
    orders = table.data[["n_u", "n_y", "N_l", "N_t"]].astype(str).agg(",".join, axis=1)
    data = table.data.assign(orders="[" + orders + "]")
    head = (*table.columns[:2], Column("orders", "[n_u, n_y, N_l, N_t]", "NARX parameters", kind="text"))
    note = "n_u, n_y, N_l and N_t: input lag, output lag, degree of non-linearity and total number of terms."
    return Table("table_1", "Test non-linear systems", head, data, (note,))


def printed_settings(settings: Mapping[str, Any], values: Values, choices: DesignChoices) -> Table:
    """Return the paper's table II with the settings of this study next to the printed ones."""
    head = (
        Column("algorithm", "Algorithm", kind="method"),
        Column("parameter", "Search parameter"),
        Column("symbol", "Symbol", kind="symbol"),
        *columns("number", published="published", here="this study"),
    )
    rows = []
    for algorithm, printed in PRINTED_SETTINGS.items():
        used = _settings_of(algorithm, settings)
        for setting, value in printed.items():
            words = setting.replace("_", " ")
            rows.append((algorithm, words, tables.SYMBOLS[algorithm][setting], value, used.get(setting)))
    notes = []
    for source in values.sources[1:]:
        notes.append(f"{source.capitalize()}: {_interpretation_words(values.interpretations[source], choices)}.")
    return Table.of("table_2", "Search parameter settings", head, rows, notes=tuple(notes), row_headers=2, merged=1)


def _settings_of(algorithm: str, settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of the first method of an algorithm; none where the study has no such method."""
    for method in settings["methods"].values():
        if method["algorithm"] == algorithm:
            used: Mapping[str, Any] = method["settings"]
            return used
    return {}


def _interpretation_words(texts: Mapping[str, str], choices: DesignChoices) -> str:
    """Return the words for the interpretations of both algorithms: how they depart from the sources."""
    words = interpretation_words(choices, chosen_options(texts, choices))
    return words or "what the sources say, the plainest choice where they are silent"


def chosen_options(texts: Mapping[str, str], choices: DesignChoices) -> dict[str, str]:
    """Return the options that the interpretations of all algorithms name together."""
    chosen: dict[str, str] = {}
    for text in texts.values():
        chosen |= parse_interpretation(choices, text)
    return chosen


def _printed_values(
    name: str,
    caption: str,
    heading: str,
    groups: Sequence[tuple[str, tuple[str, str, str]]],
    values: Values,
    published: Published,
) -> Table:
    """Return a table of selection frequencies, r and nu_max with a line for each source.

    ``groups`` has the name of each group of rows, and its system, algorithm and criterion.
    """
    system = groups[0][1][0]
    criteria = list(dict.fromkeys(criterion for _, (_, _, criterion) in groups))
    terms = published.systems[system].reset_index().set_index("label")["term"]
    labels = list(terms.index)
    head = (
        *(Column("group", heading), _SNR, _SOURCE),
        *columns("frequency", f"{_FREQUENCY} of system terms", **dict(zip(labels, labels, strict=True))),
        *columns("frequency", "Spurious terms", **{R.name: R.heading, NU_MAX.name: NU_MAX.heading}),
    )
    if len(labels) <= _FEW_TERMS:
        head = tuple(column._replace(group=column.group.replace(_FREQUENCY, "ν")) for column in head)
    keys = [column.key for column in head[3:]]
    rows: list[tuple[Any, ...]] = []
    different, commands = [], []
    for group, (_, algorithm, criterion) in groups:
        for snr_db in SNRS:
            place = system, algorithm, criterion, snr_db
            printers = {key: tables.explain_command(system, snr_db, algorithm, criterion, key) for key in keys}
            for source in values.sources:
                numbers = values.numbers.get((place, source), {})
                rows.append((group, snr_db, source, *map(numbers.get, keys)))
                different.append(values.different.get((place, source), set()))
                commands.append(printers)
    table = Table.of(name, caption, head, rows, notes=_notes(terms, values, criteria), row_headers=3, merged=2)
    return replace(table, emphasised=tuple(different), commands=tuple(commands))


def _notes(terms: pd.Series, values: Values, criteria: Sequence[str]) -> tuple[str, ...]:
    """Return the notes of a table with some criteria: the printed ones, then the meaning of its lines."""
    meanings = [f"{label} {term}" for label, term in terms.replace("1", "constant").items()]
    notes = [
        "r denotes the ratio of number of redundant terms to the total number of terms.",
        f"System terms: {', '.join(meanings)}.",
        f"Published: {RUNS} runs on one data set.",
    ]
    sources_of: dict[str, list[str]] = defaultdict(list)
    for source in values.sources[1:]:
        sources_of[_data_sets_in_words(source, values, criteria)].append(source)
    for data_sets, sources in sources_of.items():
        notes.append(f"{listed(sources).capitalize()}: medians over {data_sets}.")
    notes.append("Bold: clearly different from the published value on every data set (Fisher’s exact test, Holm).")
    return (*notes[:2], " ".join(notes[2:]))


def _data_sets_in_words(source: str, values: Values, criteria: Sequence[str]) -> str:
    """Return on how many data sets the values of a source rest, by criterion."""
    criteria_of: dict[int, list[str]] = defaultdict(list)
    for criterion in criteria:
        for data_sets in sorted(values.data_sets.get((source, criterion), ())):
            criteria_of[data_sets].append(criterion)
    if len(criteria_of) == 1:
        return f"{next(iter(criteria_of))} data sets"
    parts = []
    for data_sets, with_so_many in criteria_of.items():
        names = dict.fromkeys(criterion_name(criterion).partition(" ")[0] for criterion in with_so_many)
        parts.append(f"{data_sets} data sets under {listed(names)}")
    return listed(parts)


def final_structures(
    system: str,
    summaries: Iterable[Mapping[str, Any]],
    criterion: str,
    settings: Mapping[str, Any],
    published: Published,
) -> Table:
    """Return the final structures of a system: the coefficients of each method and SNR next to the true ones.

    Terms that the system does not have stand below its own.
    """
    shown = []
    for summary in summaries:
        if (summary["system"], summary["criterion"]) == (system, criterion):
            shown.append(summary)
    places = sorted(shown, key=_order_in(settings))
    coefficients = list(map(_final_coefficients, places))
    head = [Column("label", "Label", kind="term"), Column("term", "Term", kind="term")]
    head.append(Column("true", "true", "Coefficients", "number", _true_coefficient))
    for summary in places:
        group, heading = method_name(summary["method"]), snr(summary["snr_db"])
        head.append(Column(_condition_key(summary), heading, group, "number", _coefficient))
    rows = []
    for label, term, true in _terms_of(places, published):
        here = [by_term.get(term) for by_term in coefficients]
        rows.append((label, "constant" if term == "1" else term, true, *here))
    threshold = settings["statistics"]["threshold"]
    note = (
        f"Terms that at least {percent(threshold)} of the runs chose under {criterion_name(criterion)}, with weights "
        "by least squares on the data set of this study. A dash: the term is not in the final structure."
    )
    caption = f"Final structures and coefficients: {system}"
    return Table.of(f"final_structures_{system}", caption, head, rows, notes=(note,), row_headers=2)


def _order_in(settings: Mapping[str, Any]) -> Any:
    """Return the key by which summaries are in the order of the settings: by method, then by SNR."""
    methods, snrs = list(settings["methods"]), list(settings["snr_db"])
    return lambda summary: (methods.index(summary["method"]), snrs.index(summary["snr_db"]))


def _condition_key(summary: Mapping[str, Any]) -> str:
    """Return the key of the column of a condition."""
    return f"{summary['method']} {summary['snr_db']:g}"


def _coefficient(value: float) -> str:
    """Return a coefficient with four decimals, as the paper prints those of S4."""
    return fixed(value, 4)


def _true_coefficient(value: float) -> str:
    """Return a coefficient with all its digits."""
    return number(value).replace("-", "−")


def _final_coefficients(summary: Mapping[str, Any]) -> dict[str, float]:
    """Return the coefficients of the final structure by term; of a structure without a model there are none."""
    return dict(zip(summary["final_structure"], summary["final_model"]["coefficients"], strict=False))


def _terms_of(summaries: Sequence[Mapping[str, Any]], published: Published) -> Iterator[tuple[str, str, float | None]]:
    """Yield label, term and true coefficient of the system terms, then those of the spurious terms, which have none."""
    if not summaries:
        return
    first = summaries[0]
    true = dict(zip(first["system_terms"], first["true_coefficients"], strict=True))
    for term, label in published.labels(first["system"], first["system_terms"]).items():
        yield label, term, true[term]
    chosen = {term for summary in summaries for term in summary["final_structure"]}
    for term in first["candidates"]:
        if term in chosen and term not in true:
            yield "spurious", term, None
