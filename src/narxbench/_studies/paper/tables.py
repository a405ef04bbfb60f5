"""The paper's tables, and those of the statistics, built from the frames of the analysis."""

import math
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import pandas as pd

from narxbench._io.errors import NarxbenchError
from narxbench._io.settings import flattened
from narxbench._model.system import System
from narxbench._model.terms import model_size
from narxbench._report.formats import criterion_name, signed, significant
from narxbench._report.table import Column, Compared, Table, columns
from narxbench._studies.paper.claims import UPSO, Claim
from narxbench._studies.paper.metrics import CONDITION as CONDITION_METRICS
from narxbench._studies.paper.metrics import NU, PUBLISHED
from narxbench._study.frames import Frames
from narxbench._study.significance import ALPHA

# The columns that name a condition on the page, in the order of its tables.
CONDITION = ["system", "snr_db", "method", "criterion"]
_UNSET = {"null": "none"}

_SYSTEM = Column("system", "System")
_SNR = Column("snr_db", "SNR", kind="snr")
_METHOD = Column("method", "Method", kind="method")
_CRITERION = Column("criterion", "Criterion", kind="criterion")
_METRICS = tuple(Column(metric.name, metric.heading, metric.group, metric.form) for metric in CONDITION_METRICS)
# The paper's symbols of the settings of its two methods (its table II).
SYMBOLS: Mapping[str, Mapping[str, str]] = {
    "upso2d": {
        **{"swarm_size": "ps", "inertia": "ω", "cognitive_acceleration": "c_1", "social_acceleration": "c_2"},
        **{"unification_start": "u_0", "unification_end": "u_f", "refresh_gap": "RG"},
    },
    "ga": {"population_size": "N", "crossover_probability": "p_c", "mutation_probability": "p_m"},
}
_METRICS_NOTE = "; ".join(f"{metric.heading}: {metric.description}" for metric in CONDITION_METRICS)


def paper_tables(
    frames: Frames, settings: Mapping[str, Any], systems: Iterable[System], claims: Iterable[Claim]
) -> dict[str, Table]:
    """Return all tables of a study by name, in the order of the page; rows follow the order of the settings.

    The frames are ``metrics``, ``selection``, ``agreement``, ``agreement_values``, ``claims``, ``comparisons``,
    ``recovery`` and ``gaps``.
    """
    ordered = {name: in_order(frame, settings) for name, frame in frames.items()}
    criterion = shared_criterion(settings)
    tables = [agreement_table(frames["agreement"]), claims_table(claims, frames["claims"])]
    for system in settings["systems"]:
        tables.append(fitness_table(system, ordered))
    for system in settings["systems"]:
        tables.append(comparison_table(system, ordered, criterion))
    tables += [
        method_comparison_table(ordered["comparisons"]),
        recovery_table(ordered["recovery"]),
        gaps_table(ordered["gaps"]),
        systems_table(systems),
        settings_table(settings),
    ]
    return {table.name: table for table in tables}


def shared_criterion(settings: Mapping[str, Any]) -> str:
    """Return the criterion under which methods are compared: the first of those that most have."""
    times = Counter(_criteria(settings))
    if not times:
        raise NarxbenchError("methods: found no criterion to compare them by; allowed: at least one")
    return max(times, key=times.__getitem__)


def in_order(frame: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return rows in the order of system, SNR, method and criterion in the settings, otherwise as they are."""
    orders = (settings["systems"], settings["snr_db"], settings["methods"], dict.fromkeys(_criteria(settings)))
    places = {}
    for name, values in zip(CONDITION, orders, strict=True):
        places[name] = dict(zip(values, count(), strict=False))
    keys = [key for key in CONDITION if key in frame]
    # Values that the settings do not have, such as published ones of another SNR, come last.
    return frame.sort_values(keys, key=lambda values: values.map(places[values.name]), kind="stable")


def _criteria(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield the criteria of all methods, one method after the other."""
    for method in settings["methods"].values():
        yield from method["criteria"]


def fitness_table(system: str, frames: Frames) -> Table:
    """Return the table "Effect of the fitness function" of one system (paper, tables III to VI).

    It shows the methods that ran under more than one criterion, or all of them where none did.
    """
    metrics = frames["metrics"]
    shown = metrics[metrics["system"] == system]
    several = shown.groupby("method")["criterion"].transform("nunique") > 1
    if several.any():
        shown = shown[several]
    row_headers = [Column("criterion", "Fitness function", kind="criterion"), _SNR]
    if shown["method"].nunique() > 1:
        row_headers.insert(0, _METHOD)
    caption = f"Effect of the fitness function: {system}"
    return _frequencies(f"fitness_{system}", caption, row_headers, shown, frames)


def comparison_table(system: str, frames: Frames, criterion: str) -> Table:
    """Return the comparison of all methods on one system under one criterion (paper, table VII, for S4 and BIC)."""
    metrics = frames["metrics"]
    shown = metrics[(metrics["system"] == system) & (metrics["criterion"] == criterion)]
    caption = f"Comparison of methods under {criterion_name(criterion)}: {system}"
    return _frequencies(f"comparison_{system}", caption, [_METHOD, _SNR], shown, frames)


def agreement_table(agreement: pd.DataFrame) -> Table:
    """Return the overview of the agreement with the published values, without tables that have no compared value."""
    head = (
        Column("table", "Table comparing", form=table_name),
        _METHOD,
        *columns("number", compared="Compared", missing="Missing", different="Different"),
        Column("deviance", "Deviance", kind="count"),
        *columns("bias", **{f"bias_{metric.name}": f"Bias of {metric.heading}" for metric in PUBLISHED}),
    )
    notes = (
        "Different: by Fisher's two-sided exact test of published and reproduced counts, of runs for ν and ν_max, of "
        "spurious terms out of all that could be for r, with Holm's correction over all values of the methods, each "
        f"once, at the level {ALPHA}. The test of r is conservative, that of ν_max, a maximum, approximate.",
        "Deviance: sum over the values of the likelihood-ratio statistics of the same counts. It grows with every "
        "difference, clear or not. Bias: mean of reproduced minus published.",
        "A value that the paper prints in two tables counts once in the last row.",
    )
    shown = agreement[(agreement["compared"] > 0) | (agreement["table"] == "all")]
    return Table("agreement", "Agreement with the published values", head, shown, notes)


def claims_table(claims: Iterable[Claim], verdicts: pd.DataFrame) -> Table:
    """Return every claim with its verdicts on the published values and here."""
    by_side = claim_verdicts(verdicts)
    head = (
        *columns("prose", title="Claim", source="Source"),
        Column("rule", "Rule", kind="prose"),
        *columns("text", published="Published values", here="Reproduced values"),
        *columns("evidence", evidence_published="Evidence, published", evidence_here="Evidence, reproduced"),
    )
    rows = []
    for claim in claims:
        if (claim.id, "here") not in by_side:
            raise NarxbenchError(f"claims.csv: found no verdict on {claim.id}; delete it and run again")
        published, here = by_side[claim.id, "published"], by_side[claim.id, "here"]
        verdict_and_evidence = published["verdict"], here["verdict"], published["evidence"], here["evidence"]
        rows.append((claim.title, claim.source, here["rule"], *verdict_and_evidence))
    return Table.of("claims", "The paper's claims, tested", head, rows)


def claim_verdicts(verdicts: pd.DataFrame) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the rows of the frame ``claims`` by the id of the claim and the side."""
    rows: dict[tuple[str, str], dict[str, Any]] = verdicts.set_index(["id", "side"]).to_dict("index")
    return rows


def systems_table(systems: Iterable[System]) -> Table:
    """Return the table "Test non-linear systems" (paper, table I)."""
    head = (
        _SYSTEM,
        Column("equation", "Known structure", kind="equation"),
        *columns("number", "NARX parameters", n_u="n_u", n_y="n_y", N_l="N_l", N_t="N_t"),
    )
    notes = ("n_u input lag, n_y output lag, N_l degree of non-linearity, N_t number of candidate terms.",)
    rows = []
    for system in systems:
        size = model_size(n_y=system.n_y, n_u=system.n_u, degree=system.degree)
        rows.append((system.name, _equation(system), system.n_u, system.n_y, system.degree, size))
    return Table.of("test_systems", "Test non-linear systems", head, rows, notes=notes)


def settings_table(settings: Mapping[str, Any]) -> Table:
    """Return the table "Search parameter settings" (paper, table II) of the study's methods."""
    head = (
        *(_METHOD, *columns("text", algorithm="Algorithm", setting="Setting")),
        Column("symbol", "Symbol", kind="symbol"),
        Column("value", "Value"),
    )
    rows = []
    for name, method in settings["methods"].items():
        algorithm, symbols = method["algorithm"], SYMBOLS.get(method["algorithm"], {})
        for setting, value in list(flattened(method["settings"])) or [("–", "")]:
            words = setting.replace("_", " ")
            rows.append((name, algorithm, words, symbols.get(setting, ""), _UNSET.get(value, value).replace("_", " ")))
    notes: tuple[str, ...] = (
        f"{len(settings['seeds'])} runs of {settings['evaluations']} fitness evaluations for every system, SNR, method "
        "and criterion.",
    )
    if any(row[3] for row in rows):
        notes = (*notes, "Symbols: those of the paper.")
    return Table.of("method_settings", "Settings of the methods", head, rows, notes=notes, row_headers=3, merged=2)


def method_comparison_table(comparisons: pd.DataFrame) -> Table:
    """Return the tests between pairs of methods on the final J of their runs."""
    head = (
        *(_SYSTEM, _SNR, _CRITERION),
        *columns("method", a="A", b="B"),
        Column("runs", "Runs"),
        *columns("fitness", "Median J", median_a="A", median_b="B"),
        *columns("p_value", "Mann-Whitney", p_value="p", p_holm="p (Holm)"),
        Column("a12", "A12", kind="effect"),
        Column("magnitude", "Effect"),
        Column("lower", "Lower J", kind="method"),
    )
    sizes = comparisons["n_a"].astype(str)
    runs = sizes.where(comparisons["n_a"] == comparisons["n_b"], sizes + " / " + comparisons["n_b"].astype(str))
    tests = "; ".join(dict.fromkeys(map(str, comparisons["distribution"])))
    note = (
        f"Test: Mann-Whitney, two-sided, {tests}. A12: chance that a run of A ends at a lower J than one of B. "
        f"The last column names a method where p after Holm's correction over all rows is below {ALPHA}."
    )
    # A run without a finite structure counts as infinitely bad; of two such medians none is lower.
    medians = comparisons[["median_a", "median_b"]].fillna(math.inf)
    excess = (medians["median_a"] - medians["median_b"]).fillna(0)
    clear = (comparisons["p_holm"] < ALPHA) & (excess != 0)
    lower = comparisons["a"].where(excess < 0, comparisons["b"]).where(clear, "no clear difference")
    data = comparisons.assign(runs=runs, lower=lower)
    caption = "Methods compared by the final J of their runs"
    notes = (note,) if len(data) else ()
    return Table("method_comparison", caption, head, data, notes, row_headers=2, merged=1)


def recovery_table(recovery: pd.DataFrame) -> Table:
    """Return how many runs end at exactly the system's terms."""
    head = (
        *(_SYSTEM, _SNR, _CRITERION, _METHOD),
        *columns("number", exact="Exact", runs="Runs"),
        Column("rate", "Rate", kind="frequency"),
        *columns("frequency", "Interval", low="from", high="to"),
    )
    return Table("recovery", "Runs that end at exactly the system's terms", head, recovery, row_headers=2, merged=1)


def gaps_table(gaps: pd.DataFrame) -> Table:
    """Return how far the runs end above the best known J and the J of the true structure."""
    head = (
        *(_SYSTEM, _SNR, _CRITERION, _METHOD),
        *columns("fitness", best_known="Best known J", true_structure="J of the true structure"),
        *columns("fitness", "Median gap", median_gap_to_best="to the best", median_gap_to_true="to the true"),
        Column("misleads", "Does J mislead?"),
        Column("search_failure_rate", "Search failures", kind="frequency"),
    )
    fails = gaps["criterion_failure"].eq(True)
    excess = (gaps["true_structure"] - gaps["best_known"])[fails]
    words = gaps["criterion_failure"].map({True: "yes", False: "no"})
    words[fails] = excess.map(lambda value: f"yes, by {significant(value)}")
    notes = (
        "Best known J: the lowest of all runs and of the true structure. J misleads where it is lower than that of the "
        "true structure, by so much: the criterion fails. Search failures: share of the runs that end above the best "
        "known J.",
    )
    caption = "Gaps of the runs to the best known J and to the J of the true structure"
    data = _grouped(gaps.assign(misleads=words), ["system", "snr_db", "criterion"])
    return Table("gaps", caption, head, data, notes, row_headers=2, merged=1)


def _frequencies(
    name: str, caption: str, row_headers: Sequence[Column], metrics: pd.DataFrame, frames: Frames
) -> Table:
    """Return r, nu_max and nu of the system terms; rows with equal headers but the last stand together.

    S4 has 23 system terms: r and nu_max would be out of sight behind them.
    """
    selection, values = frames["selection"], frames["agreement_values"]
    terms = selection[selection["system_term"] & selection["system"].isin(metrics["system"])]
    nu = terms.pivot(index=CONDITION, columns="label", values="frequency").reset_index()
    shown = _grouped(metrics, [column.key for column in row_headers[:-1]]).merge(nu, how="left", on=CONDITION)
    labels = terms.loc[terms["label"] != "", ["label", "term"]].drop_duplicates("label").set_index("label")["term"]
    labels = labels.sort_index(key=lambda names: names.str[1:].astype(int)).replace("1", "constant")
    headings = dict(zip(labels.index, labels.index, strict=True))
    head = (*row_headers, *_METRICS, *columns("frequency", "ν of system terms", **headings))
    conditions = shown.set_index(CONDITION).index
    published = values[values.set_index(CONDITION).index.isin(conditions)]
    published = published.drop_duplicates([*CONDITION, "metric", "label"])
    # The published counterparts of the values of each condition, by the key of the value's column.
    comparisons: dict[Any, dict[str, Compared]] = {condition: {} for condition in conditions}
    for condition, row in published.set_index(CONDITION, drop=False).iterrows():
        comparisons[condition][row["label"] or row["metric"]] = Compared(*row[list(Compared._fields)])
    commands = []
    for (system, snr_db, method, criterion), compared in comparisons.items():
        commands.append({key: explain_command(system, snr_db, method, criterion, key) for key in compared})
    notes = [
        f"{NU.heading}: {NU.description}. {_METRICS_NOTE}.",
        f"System terms: {', '.join(map(' '.join, labels.items()))}.",
    ]
    if len(published):
        notes.insert(0, _agreement_note(published))
    headers = len(row_headers)
    values_of_rows = tuple(comparisons.values())
    return Table(name, caption, head, shown, tuple(notes), headers, headers - 1, values_of_rows, tuple(commands))


def explain_command(system: str, snr_db: float, method: str, criterion: str, metric: str) -> str:
    """Return the command that prints the facts behind a value of a condition; 2D-UPSO is its default method."""
    command = f"narxbench explain {shlex.quote(system)} --criterion {criterion} --snr {snr_db:g}"
    if method != UPSO:
        command += f" --method {shlex.quote(method)}"
    return f"{command} {metric}"


def _agreement_note(published: pd.DataFrame) -> str:
    """Return how many values of a table differ clearly from the published ones, and their biases."""
    means = published.groupby("metric")["difference"].mean()
    biases = []
    for metric in PUBLISHED:
        if metric.name in means:
            biases.append(f"{metric.heading}\u00a0{signed(means[metric.name])}")
    different = f"{published['different'].sum()} of {len(published)}"
    return (
        f"Clearly different from the published values here: {different}. "
        f"Mean of reproduced minus published: {', '.join(biases)}."
    )


def _grouped(frame: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return rows with equal keys side by side, in the order in which the keys first appear."""
    return frame.sort_values(keys, key=lambda values: pd.factorize(values)[0], kind="stable")


def _equation(system: System) -> str:
    """Return the equation of a system."""
    summands = []
    for term, coefficient in zip(system.terms, system.coefficients, strict=True):
        size = f"{abs(coefficient):.12g}"
        factors = [factor for factor in (size, term) if factor != "1"] or ["1"]
        sign = "-" if coefficient < 0 else "+"
        summands.append(f"{sign} {'*'.join(factors)}")
    return "y(k) = " + " ".join(summands).removeprefix("+ ")


def table_name(name: str) -> str:
    """Return the subject of a table of the paper: ``fitness_S1`` is ``fitness functions, S1``."""
    kind, _, system = name.partition("_")
    kinds = {"fitness": "fitness functions", "comparison": "methods"}
    return f"{kinds[kind]}, {system}" if system and kind in kinds else name
