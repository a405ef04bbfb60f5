"""The answers of the sensitivity experiment as text: tables, CSV files, a summary for the report, and the document."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from narxbench.analysis.agreement import ALPHA
from narxbench.analysis.claims import GA, UPSO
from narxbench.analysis.distance import Spread
from narxbench.analysis.multiverse import (
    REFERENCE,
    Answers,
    Beside,
    Change,
    Contest,
    CriterionScore,
    Effect,
    Gap,
    Interaction,
    Judged,
    Ranked,
    Unexplained,
    Whole,
    has_role,
)
from narxbench.analysis.multiverse_frame import COMPARED, SCREENED
from narxbench.analysis.published import Place
from narxbench.experiment.interpretations import BASE
from narxbench.report.tables import Column, Table, Value, csv_text, rounded, search_name, to_markdown
from narxbench.report.templating import rendered

SHOWN = 25  # readings in the document's rankings; the CSV files hold all
SHOWN_TOGETHER = 10  # whole readings, many of which differ in little

_WORDS = {True: "holds", False: "does not hold", None: "cannot be judged"}
_DAGGER = "†"


# Tables


def tables(answers: Answers) -> dict[str, str]:
    """Return the document's tables as Markdown, by name; those without rows are empty."""
    in_roles = {answers.study.united(*pair) for pair in answers.pairs.values()}
    return {
        "effects_upso2d": _effects_table(answers, UPSO),
        "effects_ga": _effects_table(answers, GA),
        "interactions": _interactions_table(answers.interactions),
        "together": _ranking_table(answers.together, "both algorithms", in_roles, SHOWN_TOGETHER, "."),
        "ranking_upso2d": _ranking_table(answers.ranked[UPSO], search_name(UPSO)),
        "ranking_ga": _ranking_table(answers.ranked[GA], search_name(GA)),
        "whole": _whole_table(answers.whole),
        "beside": _beside_table(answers.beside),
        "claims": _claims_table(answers),
        "contests": _contests_table(answers.contests),
        "criteria": _criteria_table(answers.criteria),
        "rho_256": _rho_256_table(answers.gaps),
        "gaps": _gaps_table(answers.gaps),
        "failures": _failures_table(answers.gaps),
        "unexplained": _unexplained_table([row for rows in answers.unexplained.values() for row in rows]),
        "roles": _roles_table(answers.roles),
    }


_SYMBOLS = {"nu": "ν", "r": "r", "nu_max": "ν_max"}
_FLIPS = "Single options that reverse the base's verdict"
_KINDS: Mapping[str, Any] = {
    "Algorithm": "search",
    "Belongs to": "search",
    "Criterion": "criterion",
    "SNR": "snr",
    "Published": "frequency",
    "Place": "number",
    _FLIPS: "text",
}


def _table(caption: str, stub: int, rows: Sequence[Mapping[str, Value]], *notes: str) -> str:
    """Return rows by heading; the first ``stub`` columns are text and the others numbers unless `_KINDS` says."""
    if not rows:
        return ""
    kinds = [_KINDS.get(heading, "text" if place < stub else "number") for place, heading in enumerate(rows[0])]
    columns = [Column("", heading, kind=kind) for heading, kind in zip(rows[0], kinds, strict=True)]
    return to_markdown(Table("", caption, tuple(columns), tuple(tuple(row.values()) for row in rows), notes))


def _effects_table(answers: Answers, algorithm: str) -> str:
    shown = [effect for effect in answers.effects if effect.algorithm == algorithm]
    forms = {"distance_{}": "Part of the distance", "{}_sparse": "S1 to S3", "{}_s4": "S4"}
    measures = {
        f"{group}: {symbol}": form.format(part) for form, group in forms.items() for part, symbol in _SYMBOLS.items()
    }
    return _table(
        f"Single options: what they change for {search_name(algorithm)}",
        2,
        [
            {
                "Option": _marked(effect.choices, effect.contradicts),
                "Belongs to": effect.part,
                "distance": _signed(effect.changes["distance"].median),
                "95 % interval": _interval(effect.changes["distance"]),
            }
            | {
                heading: _signed(effect.changes[measure].median)
                for heading, measure in measures.items()
                if all(measure in other.changes for other in shown)
            }
            for effect in shown
        ],
        "Changes from the base, medians over the data seeds of the differences paired by data seed; the interval is "
        "Student's for the mean change of the distance. A negative change of the distance or its parts is towards the "
        f"published values. {_DAGGER} contradicts an explicit statement.",
    )


def _interactions_table(found: Sequence[Interaction]) -> str:
    return _table(
        "Pairs of options",
        2,
        [
            {
                "Algorithm": entry.algorithm,
                "Options": entry.choices,
                "Change of the distance": _signed(entry.together.median),
                "Beyond the sum of the single changes": _signed(entry.beyond_sum.median),
                "95 % interval of that": _interval(entry.beyond_sum),
            }
            for entry in sorted(found, key=lambda entry: -abs(entry.beyond_sum.median))
        ],
    )


def _distance(entry: Judged) -> dict[str, Value]:
    return {
        "Distance": _spread(entry.spreads["distance"]),
        **{symbol: f"{entry.spreads[part].median:.3f}" for part, symbol in _SYMBOLS.items()},
        "Clear differences": f"{_spread(entry.spreads['distinguishable'], 'g')} of {entry.values}",
    }


def _ranking_table(
    ranked: Sequence[Ranked],
    of: str,
    always: Collection[str] = (BASE,),
    most: int = SHOWN,
    others: str = "; all are in distances.csv.",
) -> str:
    rows: list[Mapping[str, Value]] = [
        {"Place": place, "Reading": _marked(entry.title, entry.contradictions), **_distance(entry)}
        for place, entry in enumerate(ranked, start=1)
        if place <= most or entry.choices in always
    ]
    return _table(
        f"Readings by their distance to the published values of {of}",
        2,
        rows,
        "Median over the data seeds [smallest, largest]; parts: medians. Clear differences: Fisher's exact tests with "
        f"Holm's correction over all values of a data seed, level {ALPHA}. {_DAGGER} contradicts an explicit "
        "statement.",
        *([f"{len(rows)} of {len(ranked)} readings{others}"] if len(ranked) > len(rows) else []),
    )


def _whole_table(whole: Sequence[Whole]) -> str:
    cells = whole[0].distances[0].cells if whole else 0
    return _table(
        f"Distance to all published tables ({cells} cells, all criteria)",
        2,
        [{"2D-UPSO": entry.pair.upso, "GA": entry.pair.ga, **_distance(entry)} for entry in whole],
    )


def _roles_table(by_algorithm: Mapping[str, Mapping[str, Ranked]]) -> str:
    return _table(
        "Readings that are set side by side",
        3,
        [
            {"Algorithm": algorithm, "Role": role, "Reading": _marked(entry.choices, entry.contradictions)}
            for algorithm, shown in by_algorithm.items()
            for role, entry in shown.items()
        ],
    )


def _published(place: Place, symbol: str, value: float) -> dict[str, Value]:
    return {
        "Algorithm": place.algorithm,
        "System": place.system,
        "SNR": place.snr_db,
        "Value": symbol,
        "Published": value,
    }


def _beside_table(found: Sequence[Beside]) -> str:
    return _table(
        "Published beside reproduced, under BIC",
        4,
        [
            _published(row.place, _SYMBOLS[row.place.metric], row.published)
            | {_capital(role): _spread(of, ".2f") if of else None for role, of in row.reproduced.items()}
            for row in found
        ],
        "Median over the data seeds [smallest, largest].",
    )


def _claims_table(answers: Answers) -> str:
    others = [role for role in answers.pairs if not has_role(role, "base")]
    return _table(
        "The paper's claims under the readings",
        3 + len(others),
        [
            {
                "Claim": entry.claim.title,
                "Published values": _WORDS[entry.published],
                "Base": f"{_WORDS[entry.base]} ({entry.base_seeds} of {len(answers.study.seeds)})",
                **{_capital(role): _WORDS[entry.roles[role]] for role in others},
                "Holds under": f"{entry.holding} of {entry.judged}" if entry.judged else None,
                _FLIPS: ", ".join(entry.flips) or None,
            }
            for entry in answers.claims
        ],
        "A verdict is that of more than half of the data seeds; in parentheses on how many of them the claim holds. "
        "Holds under: readings under which it holds, of those under which it can be judged, single changes and "
        "combinations, and for claims on both algorithms all pairs of their readings on the same data.",
    )


def _contests_table(by_role: Mapping[str, Sequence[Contest]]) -> str:
    systems = dict.fromkeys(s for entries in by_role.values() for e in entries for s in e.by_system)
    return _table(
        "2D-UPSO against GA",
        2,
        [
            {
                "2D-UPSO": role,
                "GA": entry.ga,
                **{system: _score(entry.by_system.get(system)) for system in systems},
                "All": _score(entry.total),
            }
            for role, entries in by_role.items()
            for entry in entries
        ],
        "Median final J of 2D-UPSO against that of GA under BIC on the same data: on how many of all SNRs and data "
        "seeds it is lower / equal / higher (lower is better).",
    )


def _criteria_table(scores: Sequence[CriterionScore]) -> str:
    return _table(
        "BIC against AIC",
        2,
        [
            {
                "Reading of 2D-UPSO": score.choices,
                "Criterion": score.criterion,
                "Rows that meet both criteria of the text": f"{score.met} of {score.rows}",
                "Runs that find exactly the true structure": _percent(score.exact_runs, score.runs),
                "Distance": _spread(score.distance) if score.distance else None,
            }
            for score in scores
        ],
        "Rows: systems, SNRs and data seeds. The two criteria by which the text prefers BIC: every ν of a system term "
        "is at least 0.95 as printed, and ν_max lies below all of them.",
    )


_GAP_NOTE = (
    "J above the best known, which is the smallest J that any run of any algorithm reached on the same data under the "
    "same criterion, or that of the true structure: median over the data seeds. – : not finite, or data of its own for "
    "every run, whose J do not compare."
)


def _rho_256_table(found: Sequence[Gap]) -> str:
    return _table(
        "S4 with ϱ = 256",
        3,
        [
            {
                "Algorithm": gap.algorithm,
                "Reading": gap.role,
                "SNR": gap.snr_db,
                "Median final J": _above(gap.median),
                "Best final J": _above(gap.best),
                "True structure": _above(gap.true),
                "True structure not the best known": f"{gap.true_above} of {gap.seeds}",
                "Exact runs": _percent(gap.exact_runs, gap.runs),
            }
            for gap in _rho_256(found)
        ],
        _GAP_NOTE,
    )


def _gaps_table(found: Sequence[Gap]) -> str:
    shown = [(f"{search_name(gap.algorithm)}, {gap.role}", gap) for gap in _screened(found)]
    series = list(dict.fromkeys(name for name, _ in shown))
    by_place: dict[tuple[str, float], dict[str, Gap]] = {}
    for name, gap in shown:
        by_place.setdefault((gap.system, gap.snr_db), {})[name] = gap
    rows: list[Mapping[str, Value]] = []
    for (system, snr_db), of in by_place.items():
        base = of.get(series[0])
        row: dict[str, Value] = {"System": system, "SNR": snr_db}
        row["True structure"] = _above(base.true) if base else None
        row["Not the best known"] = f"{base.true_above} of {base.seeds}" if base else None
        rows.append(row | {name: _above(of[name].median) if name in of else None for name in series})
    return _table(
        "Median final J above the best known J, under BIC",
        2,
        rows,
        f"{_GAP_NOTE} The true structure is that on the data of the base.",
    )


def _failures_table(found: Sequence[Gap]) -> str:
    return _table(
        "Failures of the search and of the criterion",
        2,
        [
            {
                "Algorithm": entry["algorithm"],
                "Reading": entry["role"],
                "Cells whose median run reaches the best known J": f"{entry['at_best']} of {entry['comparable']}",
                "Runs that find exactly the true structure": _percent(*entry["exact"]),
                "Data sets whose best known J is not the true structure's": (
                    f"{entry['true_above']} of {entry['data_sets']}"
                ),
            }
            for entry in _gap_facts(found)
            if entry["comparable"]
        ],
        "Cells: systems and SNRs under BIC, median over the data seeds. Data sets: cells and data seeds.",
    )


def _unexplained_table(found: Sequence[Unexplained]) -> str:
    symbols = _SYMBOLS | {"nu": "ν of"}
    return _table(
        "Values that differ clearly under every data seed",
        4,
        [
            _published(row.place, f"{symbols[row.place.metric]} {row.place.label} {row.term}".strip(), row.published)
            | {"Closest reading": _spread(row.reproduced, ".2f")}
            for row in found
        ],
    )


# CSV files and summary


def csv_files(answers: Answers) -> dict[str, str]:
    """Return the answers as tidy CSV files, by name without ending; numbers to six decimals."""
    distances = (
        [algorithm, entry.choices, " ".join(entry.names), "; ".join(entry.contradictions), seed]
        + [found.distance, found.nu, found.r, found.nu_max, found.distinguishable, found.values]
        for algorithm, ranked in answers.ranked.items()
        for entry in ranked
        for seed, found in zip(answers.study.seeds, entry.distances, strict=True)
    )
    effects = (
        [effect.algorithm, effect.part, *effect.choices.split("="), effect.contradicts, measure]
        + [change.median, change.low, change.high, *(change.interval or (None, None))]
        for effect in answers.effects
        for measure, change in effect.changes.items()
    )
    claims = (
        [entry.claim.id, *(choices or None for choices in pair), _WORDS[holds]]
        for entry in answers.claims
        for pair, holds in entry.verdicts.items()
    )
    gaps = (
        [gap.algorithm, gap.role, gap.choices, gap.system, gap.snr_db, gap.criterion, gap.seeds]
        + [value for of in (gap.median, gap.best, gap.true) for value in of or (None, None, None)]
        + [gap.true_above, gap.exact_runs, gap.runs]
        for gap in answers.gaps
    )
    gap_heads = " ".join(
        f"{name}_gap_{end}" for name in ("median", "best", "true") for end in ("median", "low", "high")
    )
    return {
        "distances": _csv(
            "algorithm choices names contradicts data_seed distance nu r nu_max distinguishable values", distances
        ),
        "effects": _csv(
            "algorithm part point option contradicts measure median low high interval_low interval_high", effects
        ),
        "claims": _csv("claim upso2d ga verdict", claims),
        "gaps": _csv(
            f"algorithm role choices system snr_db criterion seeds {gap_heads} true_above exact_runs runs", gaps
        ),
    }


def _csv(header: str, rows: Iterable[Sequence[Any]]) -> str:
    return csv_text(header.split(), ([_six(v) if isinstance(v, float) else v for v in row] for row in rows))


def summary(answers: Answers) -> dict[str, Any]:
    """Return what the report quotes, ready for JSON: readings by role, distances, effects, claims, contests, gaps."""
    return {
        "seeds": list(answers.study.seeds),
        **_size(answers),
        "roles": {role: pair._asdict() for role, pair in answers.pairs.items()},
        "distances": {
            algorithm: {role: _spreads(entry) for role, entry in shown.items()}
            for algorithm, shown in answers.roles.items()
        },
        "together": {role: {"choices": entry.choices} | _spreads(entry) for role, entry in _together(answers).items()},
        "whole": [
            {"upso2d": entry.pair.upso, "ga": entry.pair.ga, "cells": entry.distances[0].cells} | _spreads(entry)
            for entry in answers.whole
        ],
        "effects": [
            _fields(effect, "algorithm", "choices", "contradicts")
            | {"distance": _six(effect.changes["distance"].median), "clear": effect.changes["distance"].clear}
            for effect in answers.effects
        ],
        "claims": [
            _fields(entry.claim, "id", "title")
            | _fields(entry, "published", "base", "base_seeds", "roles", "holding", "judged", "flips")
            for entry in answers.claims
        ],
        "contests": [
            {"upso2d": entry.upso, "ga": entry.ga, "lower_equal_higher": entry.total}
            for entries in answers.contests.values()
            for entry in entries
        ],
        "criteria": [
            _fields(score, "choices", "criterion", "met", "rows", "exact_runs", "runs") for score in answers.criteria
        ],
        "unexplained": {algorithm: len(rows) for algorithm, rows in answers.unexplained.items()},
    }


def _fields(entry: object, *names: str) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in names}


def _spreads(entry: Judged) -> dict[str, Any]:
    spreads = {key: {name: _six(value) for name, value in of._asdict().items()} for key, of in entry.spreads.items()}
    return spreads | {"values": entry.values}


# Document


def document(answers: Answers) -> str:
    """Return the document as Markdown."""
    values = facts(answers) | {"tables": tables(answers)}
    return rendered("fidelity.md.j2", values, spread=_spread, percent=lambda part: _percent(*part), signed=_signed)


def facts(answers: Answers) -> dict[str, Any]:
    """Return the numbers and names behind the document's sentences."""
    together = _together(answers)
    judged = [entry for entry in answers.claims if entry.judged]
    return {
        **_size(answers),
        "seeds": len(answers.study.seeds),
        "points": len(answers.study.readings.open_points),
        "incomplete": answers.study.incomplete(),
        "ranked": answers.roles,
        "found": {(name, entry.choices): entry for name, entries in answers.ranked.items() for entry in entries},
        "together": together,
        "by_role": {name: entry for role, entry in together.items() for name in role.split(", ")},
        "whole_readings": len(answers.together),
        "clear": _clear(answers.effects, True),
        "unclear": _clear(answers.effects, False),
        "always": [entry.claim.title for entry in judged if entry.holding == entry.judged],
        "never": [entry.claim.title for entry in judged if entry.holding == 0],
        "depends": [entry for entry in judged if 0 < entry.holding < entry.judged],
        "unjudged": [entry for entry in answers.claims if not entry.judged],
        "reversed": [entry for entry in judged if entry.flips],
        "claims": len(answers.claims),
        "contests": {role: _contest_facts(entries) for role, entries in answers.contests.items() if entries},
        "criteria": {
            role: {score.criterion: score for score in answers.criteria if score.choices == entry.choices}
            for role, entry in answers.roles[UPSO].items()
        },
        "rho_256": _rho_256(answers.gaps),
        "rho_256_base": _rho_256_facts(answers.gaps),
        "gaps": _gap_facts(answers.gaps),
        "unexplained": answers.unexplained,
        "names": {name: search_name(name) for name in (*COMPARED, REFERENCE)},
    }


def _size(answers: Answers) -> dict[str, Any]:
    cells = [cell for of in answers.study.cells.values() for cell in of]
    readings = {algorithm: len(ranked) for algorithm, ranked in answers.ranked.items()}
    return {"cells": len(cells), "runs": sum(cell.runs for cell in cells), "readings": readings}


def _together(answers: Answers) -> dict[str, Ranked]:
    known = {entry.choices: entry for entry in answers.together}
    united = {role: answers.study.united(*pair) for role, pair in answers.pairs.items()}
    return {role: known[choices] for role, choices in united.items() if choices in known}


def _clear(found: Iterable[Effect], clear: bool) -> dict[str, list[Effect]]:
    return {
        name: [e for e in found if e.algorithm == name and e.changes["distance"].clear is clear] for name in COMPARED
    }


def _contest_facts(entries: Sequence[Contest]) -> dict[str, Any]:
    def lead(entry: Contest) -> int:
        lower, _, higher = entry.total
        return lower - higher

    return {
        "won": [entry for entry in entries if lead(entry) > 0],
        "lost": [entry for entry in entries if lead(entry) < 0],
        "worst": min(entries, key=lead),
        "count": len(entries),
    }


def _screened(gaps: Iterable[Gap]) -> list[Gap]:
    return [gap for gap in gaps if gap.criterion == SCREENED]


def _rho_256(gaps: Iterable[Gap]) -> list[Gap]:
    return [gap for gap in gaps if (gap.system, gap.criterion) == ("S4", "aic-256")]


def _rho_256_facts(gaps: Iterable[Gap]) -> dict[str, Any]:
    base = [gap for gap in _rho_256(gaps) if gap.algorithm == UPSO and has_role(gap.role, "base") and gap.true]
    if not base:
        return {}
    found = _failures(base)
    return {"above": found["true_above"], "data_sets": found["data_sets"], "exact": found["exact"]}


def _failures(gaps: Sequence[Gap]) -> dict[str, Any]:
    """Return where the median run fails, and on how many data sets the criterion does."""
    return {
        "at_best": sum(gap.median is not None and gap.median.median == 0 for gap in gaps),
        "comparable": sum(gap.median is not None for gap in gaps),
        "true_above": sum(gap.true_above for gap in gaps),
        "data_sets": sum(gap.seeds for gap in gaps if gap.true is not None),
        "exact": (sum(gap.exact_runs for gap in gaps), sum(gap.runs for gap in gaps)),
    }


def _gap_facts(gaps: Sequence[Gap]) -> list[dict[str, Any]]:
    """Return the failures under BIC by algorithm and role."""
    series: dict[tuple[str, str], list[Gap]] = {}
    for gap in _screened(gaps):
        series.setdefault((gap.algorithm, gap.role), []).append(gap)
    return [{"algorithm": search_name(name), "role": role} | _failures(own) for (name, role), own in series.items()]


# Forms


def _capital(role: str) -> str:
    return role[:1].upper() + role[1:]


def _marked(text: str, contradicts: object) -> str:
    return f"{text} {_DAGGER}" if contradicts else text


def _above(found: Spread | None) -> str | None:
    return None if found is None else f"{found.median:.2f}"


def _spread(found: Spread, form: str = ".3f") -> str:
    median, low, high = (rounded(value) if form == ".2f" else format(value, form) for value in found)
    return f"{median} [{low}, {high}]"


def _interval(change: Change) -> str | None:
    return None if change.interval is None else "[{}, {}]".format(*map(_signed, change.interval))


def _signed(value: float) -> str:
    text = f"{value:+.3f}"
    return "0.000" if float(text) == 0 else text


def _score(result: Sequence[int] | None) -> str | None:
    return " / ".join(map(str, result)) if result else None


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %"


def _six(value: float) -> float:
    # A zero has no sign here: -0.0 would be printed as such.
    return round(value, 6) + 0.0
