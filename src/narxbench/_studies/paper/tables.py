"""The tables of a run as files: the paper's tables I to VII, the claims, and the final structures."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd

from narxbench._io.errors import NarxbenchError
from narxbench._model.system import System, load_system
from narxbench._model.terms import model_size
from narxbench._report.formats import criterion_name, fixed, method_name, number, percent, snr
from narxbench._report.table import Column, Table, columns
from narxbench._studies.paper.claims import GA, UPSO, Claim, load_claims
from narxbench._studies.paper.frames import load_summaries, read_frames
from narxbench._studies.paper.kept import load_kept
from narxbench._studies.paper.printed import ValueTable, as_table, value_tables
from narxbench._studies.paper.published import Published, load_published
from narxbench._studies.paper.status import run_status
from narxbench._study.design_choices import load_design_choices
from narxbench._study.frames import Frames

# The columns that name a condition on the page, in the order of its tables.
CONDITION = ["system", "snr_db", "method", "criterion"]
# The paper's symbols of the settings of its two methods (its table II).
SYMBOLS: Mapping[str, Mapping[str, str]] = {
    UPSO: {
        **{"swarm_size": "ps", "inertia": "ω", "cognitive_acceleration": "c_1", "social_acceleration": "c_2"},
        **{"unification_start": "u_0", "unification_end": "u_f", "refresh_gap": "RG"},
    },
    GA: {"population_size": "N", "crossover_probability": "p_c", "mutation_probability": "p_m"},
}
# The values of the paper's table II.
PRINTED_SETTINGS: Mapping[str, Mapping[str, float]] = {
    GA: {"population_size": 80, "crossover_probability": 0.45, "mutation_probability": 0.01},
    UPSO: {
        **{"swarm_size": 30, "inertia": 0.729, "cognitive_acceleration": 1.49, "social_acceleration": 1.49},
        **{"unification_start": 0.2, "unification_end": 0.7, "refresh_gap": 10},
    },
}


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


def ordered_frames(frames: Frames, settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Return frames with their rows in the order of the settings."""
    return {name: in_order(frame, settings) for name, frame in frames.items()}


def tables_of_run(files: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Table]:
    """Return the tables of a study by name, from its files by name."""
    frames, choices = ordered_frames(read_frames(files), settings), load_design_choices(files["choices"])
    published, kept = load_published(files["published"], files["system_terms"]), load_kept(files)
    status = run_status(settings, frames["metrics"], frames["agreement_values"], choices)
    values = value_tables(frames, published, settings["systems"], is_compared=status.is_complete, kept=kept.values)
    return paper_tables(
        values,
        frames,
        load_summaries(files["summaries"]),
        settings,
        [load_system(Path(path).stem) for path in files["systems"]],
        load_claims(files["claim_texts"]),
        published,
        is_trial=status.is_trial,
    )


def paper_tables(
    values: Mapping[str, ValueTable],
    frames: Frames,
    summaries: Sequence[Mapping[str, Any]],
    settings: Mapping[str, Any],
    systems: Iterable[System],
    claims: Iterable[Claim],
    published: Published,
    *,
    is_trial: bool,
) -> dict[str, Table]:
    """Return all tables of a run by name: I to VII, further conditions, claims, and final structures by system.

    A trial judges no claim.
    """
    tables = [systems_table(systems), settings_table(settings), *map(as_table, values.values())]
    tables.append(claims_table(claims, frames["claims"], is_trial=is_trial))
    criterion = shared_criterion(settings)
    for system in settings["systems"]:
        tables.append(final_structures(system, summaries, criterion, settings, published))
    return {table.name: table for table in tables}


def claims_table(claims: Iterable[Claim], verdicts: pd.DataFrame, *, is_trial: bool) -> Table:
    """Return every claim with its verdicts on the paper's values and on the run, which a trial does not have."""
    head = (
        *columns("prose", title="Claim", source="Source", rule="Rule"),
        *columns("text", run="This run", held="Holds at", missed="Clear misses", published="Paper’s values"),
        *columns("evidence", evidence_run="Evidence, this run", evidence_published="Evidence, paper"),
    )
    rows = []
    for claim in claims:
        published, run = claim_verdicts(verdicts, claim)
        of_run: tuple[Any, ...] = (run["verdict"], held_at(run), run["missed"])
        if is_trial:
            of_run = ("trial run, not judged", "", "")
        evidence = "" if is_trial else run["evidence"], published["evidence"]
        rows.append((claim.title, claim.source, run["rule"], *of_run, published["verdict"], *evidence))
    return Table.of("claims", "The paper’s claims in this run", head, rows)


def held_at(verdict: Mapping[str, Any]) -> str:
    """Return at how many of its places a claim holds, or "" where it cannot be judged."""
    return f"{verdict['held']} of {verdict['places']}" if verdict["places"] else ""


def claim_verdicts(verdicts: pd.DataFrame, claim: Claim) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the rows of the frame ``claims`` on a claim: by the paper's values, and by the run's."""
    rows = {row["side"]: row for row in verdicts[verdicts["id"] == claim.id].to_dict("records")}
    if set(rows) != {"published", "here"}:
        raise NarxbenchError(f"claims.csv: found no verdict on {claim.id}; delete it and run again")
    return rows["published"], rows["here"]


def systems_table(systems: Iterable[System]) -> Table:
    """Return the paper's table I, of the systems of a study."""
    head = (
        Column("system", "System"),
        Column("equation", "Known structure", kind="equation"),
        Column("orders", "[n_u, n_y, N_l, N_t]", "NARX parameters"),
    )
    rows = []
    for system in systems:
        size = model_size(n_y=system.n_y, n_u=system.n_u, degree=system.degree)
        orders = f"[{system.n_u},{system.n_y},{system.degree},{size}]"
        rows.append((system.name, _equation(system), orders))
    note = "n_u, n_y, N_l and N_t: input lag, output lag, degree of non-linearity and total number of terms."
    return Table.of("table_1", "Test non-linear systems", head, rows, notes=(note,))


def _equation(system: System) -> str:
    """Return the equation of a system."""
    summands = []
    for term, coefficient in zip(system.terms, system.coefficients, strict=True):
        size = f"{abs(coefficient):.12g}"
        factors = [factor for factor in (size, term) if factor != "1"] or ["1"]
        sign = "-" if coefficient < 0 else "+"
        summands.append(f"{sign} {'*'.join(factors)}")
    return "y(k) = " + " ".join(summands).removeprefix("+ ")


def settings_table(settings: Mapping[str, Any]) -> Table:
    """Return the paper's table II with the settings of a study next to the printed ones."""
    head = (
        Column("algorithm", "Algorithm", kind="method"),
        Column("parameter", "Search parameter"),
        Column("symbol", "Symbol", kind="symbol"),
        *columns("number", published="paper", run="this run"),
    )
    rows = []
    for algorithm, printed in PRINTED_SETTINGS.items():
        used = _settings_of(algorithm, settings)
        for setting, value in printed.items():
            words = setting.replace("_", " ")
            rows.append((algorithm, words, SYMBOLS[algorithm][setting], value, used.get(setting)))
    return Table.of("table_2", "Search parameter settings", head, rows, row_headers=2, merged=1)


def _settings_of(algorithm: str, settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of the first method of an algorithm, or none where the study has no such method."""
    for method in settings["methods"].values():
        if method["algorithm"] == algorithm:
            used: Mapping[str, Any] = method["settings"]
            return used
    return {}


def final_structures(
    system: str,
    summaries: Iterable[Mapping[str, Any]],
    criterion: str,
    settings: Mapping[str, Any],
    published: Published,
) -> Table:
    """Return the final structures of a system: the coefficients of each method and SNR next to the true ones.

    Terms that the system does not have are below its own.
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
    """Return a coefficient with four decimals, as the paper has on S4."""
    return fixed(value, 4)


def _true_coefficient(value: float) -> str:
    """Return a coefficient with all its digits."""
    return number(value).replace("-", "−")


def _final_coefficients(summary: Mapping[str, Any]) -> dict[str, float]:
    """Return the coefficients of the final structure by term. A structure without a model has none."""
    return dict(zip(summary["final_structure"], summary["final_coefficients"], strict=False))


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
