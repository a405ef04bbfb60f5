"""The answers of the sensitivity experiment as text: tables, CSV files, a summary for the report, and the document."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from narxbench.claims import GA, UPSO
from narxbench.compare import ALPHA
from narxbench.distance import Spread
from narxbench.fidelity import SCREENED, Study
from narxbench.fidelity_answers import (
    REFERENCE,
    Beside,
    Change,
    ClaimMap,
    Contest,
    CriterionScore,
    Effect,
    Gap,
    Interaction,
    Pair,
    Ranked,
    Unexplained,
    Whole,
    beside,
    claim_maps,
    common_roles,
    contests,
    criterion_scores,
    effects,
    gaps,
    interactions,
    pair_roles,
    ranking,
    roles,
    together,
    unexplained,
    whole_distances,
)
from narxbench.published import METRICS
from narxbench.readings import BASE
from narxbench.tables import Column, Table, Value, csv_text, rounded, search_name, to_markdown

TEMPLATES = Path(__file__).parent / "templates"
SHOWN = 25  # readings in the document's rankings; the CSV files hold all
SHOWN_TOGETHER = 10  # whole readings, many of which differ in little

_MEASURES = {
    "distance": ("distance", ""),
    "distance_nu": ("ν", "Part of the distance"),
    "distance_r": ("r", "Part of the distance"),
    "distance_nu_max": ("ν_max", "Part of the distance"),
    "nu_sparse": ("ν", "S1 to S3"),
    "r_sparse": ("r", "S1 to S3"),
    "nu_max_sparse": ("ν_max", "S1 to S3"),
    "nu_s4": ("ν", "S4"),
    "r_s4": ("r", "S4"),
    "nu_max_s4": ("ν_max", "S4"),
}
_WORDS = {True: "holds", False: "does not hold", None: "cannot be judged"}
_DAGGER = "†"


@dataclass(frozen=True)
class Answers:
    """All answers of a study, computed once."""

    study: Study
    effects: list[Effect]
    interactions: list[Interaction]
    ranked: Mapping[str, list[Ranked]]
    together: list[Ranked]
    roles: Mapping[str, dict[str, str]]
    pairs: Mapping[str, Pair]
    whole: list[Whole]
    beside: list[Beside]
    unexplained: Mapping[str, list[Unexplained]]
    claims: list[ClaimMap]
    contests: Mapping[str, list[Contest]]
    criteria: list[CriterionScore]
    gaps: list[Gap]


def answer(study: Study) -> Answers:
    """Return all answers of a study."""
    shown = {name: roles(study, name) for name in (UPSO, GA)}
    return Answers(
        study=study,
        effects=effects(study),
        interactions=interactions(study),
        ranked={name: ranking(study, name) for name in (UPSO, GA)},
        together=together(study),
        roles=shown,
        pairs=pair_roles(study),
        whole=whole_distances(study),
        beside=beside(study),
        unexplained={name: unexplained(study, name, of) for name in (UPSO, GA) if (of := _closest(shown[name]))},
        claims=claim_maps(study),
        contests={role: contests(study, choices) for role, choices in shown[UPSO].items()},
        criteria=criterion_scores(study),
        gaps=gaps(study),
    )


# Tables


def tables(answers: Answers) -> dict[str, str]:
    """Return the document's tables as Markdown, by name; those without rows are empty."""
    made = {
        "effects_upso2d": _effects_table(answers, UPSO),
        "effects_ga": _effects_table(answers, GA),
        "interactions": _interactions_table(answers.interactions),
        "together": _ranking_table(answers.together, "", _shown_together(answers)),
        "ranking_upso2d": _ranking_table(answers.ranked[UPSO], UPSO),
        "ranking_ga": _ranking_table(answers.ranked[GA], GA),
        "whole": _whole_table(answers.whole),
        "beside": _beside_table(answers.beside),
        "claims": _claims_table(answers),
        "contests": _contests_table(answers.contests),
        "criteria": _criteria_table(answers.criteria),
        "rho_256": _rho_256_table(answers.gaps),
        "gaps": _gaps_table(answers.gaps),
        "failures": _failures_table(answers.gaps),
        "unexplained": _unexplained_table([row for rows in answers.unexplained.values() for row in rows]),
        "roles": _roles_table(answers),
    }
    return {name: to_markdown(table) if table.rows else "" for name, table in made.items()}


def _effects_table(answers: Answers, algorithm: str) -> Table:
    shown = [effect for effect in answers.effects if effect.algorithm == algorithm]
    keys = [key for key in _MEASURES if all(key in effect.changes for effect in shown)]
    columns = [Column("choices", "Option"), Column("part", "Belongs to", kind="search")]
    columns += [Column(key, _MEASURES[key][0], _MEASURES[key][1], "number") for key in keys]
    columns.insert(3, Column("interval", "95 % interval", "", "number"))
    rows: list[tuple[Value, ...]] = []
    for effect in shown:
        medians = [_signed(effect.changes[key].median) for key in keys]
        first = effect.changes[keys[0]]
        mark = f" {_DAGGER}" if effect.contradicts else ""
        stub = (f"{effect.choices}{mark}", effect.part)
        rows.append((*stub, medians[0], _interval(first), *medians[1:]))
    notes = (
        "Changes from the base, medians over the data seeds of the differences paired by data seed; the interval is "
        "Student's for the mean change of the distance. A negative change of the distance or its parts is towards the "
        f"published values. {_DAGGER} contradicts an explicit statement.",
    )
    caption = f"Single options: what they change for {search_name(algorithm)}"
    return Table(f"effects_{algorithm}", caption, tuple(columns), tuple(rows), notes)


def _interactions_table(found: Sequence[Interaction]) -> Table:
    columns = (
        Column("algorithm", "Algorithm", kind="search"),
        Column("choices", "Options"),
        Column("together", "Change of the distance", kind="number"),
        Column("beyond_sum", "Beyond the sum of the single changes", kind="number"),
        Column("interval", "95 % interval of that", kind="number"),
    )
    rows = tuple(
        (
            entry.algorithm,
            entry.choices,
            _signed(entry.together.median),
            _signed(entry.beyond_sum.median),
            _interval(entry.beyond_sum),
        )
        for entry in sorted(found, key=lambda entry: -abs(entry.beyond_sum.median))
    )
    return Table("interactions", "Pairs of options", columns, rows, stub=2)


def _shown_together(answers: Answers) -> set[str]:
    return {answers.study.united(pair.upso, pair.ga) for pair in answers.pairs.values()}


def _ranking_table(ranked: Sequence[Ranked], algorithm: str, always: Collection[str] = (BASE,)) -> Table:
    columns = (
        Column("place", "Place", kind="number"),
        Column("choices", "Reading"),
        Column("distance", "Distance", kind="number"),
        Column("nu", "ν", "Parts", "number"),
        Column("r", "r", "Parts", "number"),
        Column("nu_max", "ν_max", "Parts", "number"),
        Column("distinguishable", "Clear differences", kind="number"),
    )
    rows: list[tuple[Value, ...]] = []
    for place, entry in enumerate(ranked, start=1):
        if place <= (SHOWN if algorithm else SHOWN_TOGETHER) or entry.choices in always:
            parts = [f"{entry.spreads[part].median:.3f}" for part in METRICS]
            clear = f"{_spread(entry.spreads['distinguishable'], 'g')} of {entry.values}"
            rows.append((place, _reading(entry), _spread(entry.spreads["distance"], ".3f"), *parts, clear))
    notes = [
        "Median over the data seeds [smallest, largest]; parts: medians. Clear differences: Fisher's exact tests with "
        f"Holm's correction over all values of a data seed, level {ALPHA}. {_DAGGER} contradicts an explicit "
        "statement.",
    ]
    if len(ranked) > len(rows):
        where = "; all are in distances.csv" if algorithm else ""
        notes.append(f"{len(rows)} of {len(ranked)} readings{where}.")
    of = search_name(algorithm) if algorithm else "both algorithms"
    return Table(
        f"ranking_{algorithm}",
        f"Readings by their distance to the published values of {of}",
        columns,
        tuple(rows),
        tuple(notes),
        stub=2,
    )


def _whole_table(whole: Sequence[Whole]) -> Table:
    columns = (
        Column("upso", "2D-UPSO"),
        Column("ga", "GA"),
        Column("distance", "Distance", kind="number"),
        *(Column(part, name, "Parts", "number") for part, name in zip(METRICS, ("ν", "r", "ν_max"), strict=True)),
        Column("distinguishable", "Clear differences", kind="number"),
    )
    rows = tuple(
        (
            entry.upso,
            entry.ga,
            _spread(entry.spreads["distance"], ".3f"),
            *(f"{entry.spreads[part].median:.3f}" for part in METRICS),
            f"{_spread(entry.spreads['distinguishable'], 'g')} of {entry.values}",
        )
        for entry in whole
    )
    cells = f"{whole[0].cells} cells" if whole else ""
    return Table("whole", f"Distance to all published tables ({cells}, all criteria)", columns, rows, stub=2)


def _roles_table(answers: Answers) -> Table:
    columns = (Column("algorithm", "Algorithm", kind="search"), Column("role", "Role"), Column("choices", "Reading"))
    rows = tuple(
        (algorithm, role, f"{choices}{_mark(answers.study, choices)}")
        for algorithm, shown in answers.roles.items()
        for role, choices in shown.items()
    )
    return Table("roles", "Readings that are set side by side", columns, rows, stub=2)


def _beside_table(found: Sequence[Beside]) -> Table:
    algorithms = list(dict.fromkeys(row.place.algorithm for row in found))
    shown = common_roles(found)
    columns = [
        Column("algorithm", "Algorithm", kind="search"),
        Column("system", "System"),
        Column("snr_db", "SNR", kind="snr"),
        Column("metric", "Value"),
        Column("published", "Published", kind="frequency"),
        *(Column(role, role[:1].upper() + role[1:], kind="number") for role in shown),
    ]
    rows: list[tuple[Value, ...]] = []
    for row in sorted(found, key=lambda row: algorithms.index(row.place.algorithm)):
        place = row.place
        stub = (place.algorithm, place.system, place.snr_db, {"nu_max": "ν_max"}.get(place.metric, place.metric))
        own = [row.reproduced.get(role[place.algorithm]) for role in shown.values()]
        values = [_spread(of, ".2f") if of else None for of in own]
        rows.append((*stub, row.published, *values))
    notes = ("Median over the data seeds [smallest, largest].",)
    return Table("beside", "Published beside reproduced, under BIC", tuple(columns), tuple(rows), notes, stub=4)


def _claims_table(answers: Answers) -> Table:
    columns = (
        Column("claim", "Claim"),
        Column("published", "Published values"),
        Column("base", "Base"),
        *(Column(role, role[:1].upper() + role[1:]) for role in answers.pairs if "base" not in role.split(", ")),
        Column("holding", "Holds under", kind="number"),
        Column("flips", "Single options that reverse the base's verdict"),
    )
    seeds = len(answers.study.seeds)
    rows: list[tuple[Value, ...]] = []
    for entry in answers.claims:
        others = [_WORDS[holds] for role, holds in entry.roles.items() if "base" not in role.split(", ")]
        share = f"{entry.holding} of {entry.judged}" if entry.judged else None
        base = f"{_WORDS[entry.base]} ({entry.base_seeds} of {seeds})"
        rows.append((entry.claim.title, _WORDS[entry.published], base, *others, share, ", ".join(entry.flips) or None))
    notes = (
        "A verdict is that of more than half of the data seeds; in parentheses on how many of them the claim holds. "
        "Holds under: readings under which it holds, of those under which it can be judged, single changes and "
        "combinations, and for claims on both algorithms all pairs of their readings on the same data.",
    )
    return Table("claims", "The paper's claims under the readings", columns, tuple(rows), notes)


def _contests_table(by_role: Mapping[str, Sequence[Contest]]) -> Table:
    systems = list(dict.fromkeys(s for entries in by_role.values() for e in entries for s in e.by_system))
    columns = (
        Column("role", "2D-UPSO"),
        Column("ga", "GA"),
        *(Column(system, system, kind="number") for system in systems),
        Column("total", "All", kind="number"),
    )
    rows: list[tuple[Value, ...]] = []
    for role, entries in by_role.items():
        for entry in entries:
            each = [_score(entry.by_system[system]) if system in entry.by_system else None for system in systems]
            rows.append((role, entry.ga, *each, _score(entry.total)))
    notes = (
        "Median final J of 2D-UPSO against that of GA under BIC on the same data: on how many of all SNRs and data "
        "seeds it is lower / equal / higher (lower is better).",
    )
    return Table("contests", "2D-UPSO against GA", columns, tuple(rows), notes, stub=2, merged=0)


def _criteria_table(scores: Sequence[CriterionScore]) -> Table:
    columns = (
        Column("choices", "Reading of 2D-UPSO"),
        Column("criterion", "Criterion", kind="criterion"),
        Column("met", "Rows that meet both criteria of the text", kind="number"),
        Column("exact", "Runs that find exactly the true structure", kind="number"),
        Column("distance", "Distance", kind="number"),
    )
    rows = tuple(
        (
            score.choices,
            score.criterion,
            f"{score.met} of {score.rows}",
            _percent(score.exact_runs, score.runs),
            _spread(score.distance, ".3f") if score.distance else None,
        )
        for score in scores
    )
    notes = (
        "Rows: systems, SNRs and data seeds. The two criteria by which the text prefers BIC: every ν of a system term "
        "is at least 0.95 as printed, and ν_max lies below all of them.",
    )
    return Table("criteria", "BIC against AIC", columns, rows, notes, stub=2)


def _rho_256_table(found: Sequence[Gap]) -> Table:
    columns = (
        Column("algorithm", "Algorithm", kind="search"),
        Column("role", "Reading"),
        Column("snr_db", "SNR", kind="snr"),
        *_GAP_COLUMNS,
        Column("exact", "Exact runs", kind="number"),
    )
    rows = tuple(
        (gap.algorithm, gap.role, gap.snr_db, *_gap_values(gap), _percent(gap.exact_runs, gap.runs))
        for gap in found
        if (gap.system, gap.criterion) == ("S4", "aic-256")
    )
    return Table("rho_256", "S4 with ϱ = 256", columns, rows, (_GAP_NOTE,), stub=3)


def _gaps_table(found: Sequence[Gap]) -> Table:
    shown = [gap for gap in found if gap.criterion == SCREENED]
    series = list(dict.fromkeys((gap.algorithm, gap.role) for gap in shown))
    by_place: dict[tuple[str, float], dict[tuple[str, str], Gap]] = {}
    for gap in shown:
        by_place.setdefault((gap.system, gap.snr_db), {})[gap.algorithm, gap.role] = gap
    columns = (
        Column("system", "System"),
        Column("snr_db", "SNR", kind="snr"),
        Column("true", "True structure", kind="number"),
        Column("true_above", "Not the best known", kind="number"),
        *(Column(f"{a} {role}", f"{search_name(a)}, {role}", kind="number") for a, role in series),
    )
    rows: list[tuple[Value, ...]] = []
    for (system, snr_db), of in by_place.items():
        first = of.get(series[0])
        true = (_gap(first.true), f"{first.true_above} of {first.seeds}") if first else (None, None)
        medians = [_gap(of[name].median) if name in of else None for name in series]
        rows.append((system, snr_db, *true, *medians))
    notes = (f"{_GAP_NOTE} The true structure is that on the data of the base.",)
    return Table("gaps", "Median final J above the best known J, under BIC", columns, tuple(rows), notes, stub=2)


def _failures_table(found: Sequence[Gap]) -> Table:
    columns = (
        Column("algorithm", "Algorithm"),
        Column("role", "Reading"),
        Column("at_best", "Cells whose median run reaches the best known J", kind="number"),
        Column("exact", "Runs that find exactly the true structure", kind="number"),
        Column("true_above", "Data sets whose best known J is not the true structure's", kind="number"),
    )
    rows = tuple(
        (
            entry["algorithm"],
            entry["role"],
            f"{entry['at_best']} of {entry['comparable']}",
            _percent(*entry["exact"]),
            f"{entry['true_above']} of {entry['data_sets']}",
        )
        for entry in _gap_facts([gap for gap in found if gap.criterion == SCREENED])
        if entry["comparable"]
    )
    notes = ("Cells: systems and SNRs under BIC, median over the data seeds. Data sets: cells and data seeds.",)
    return Table("failures", "Failures of the search and of the criterion", columns, rows, notes, stub=2)


def _unexplained_table(found: Sequence[Unexplained]) -> Table:
    columns = (
        Column("algorithm", "Algorithm", kind="search"),
        Column("system", "System"),
        Column("snr_db", "SNR", kind="snr"),
        Column("metric", "Value"),
        Column("published", "Published", kind="frequency"),
        Column("reproduced", "Closest reading", kind="number"),
    )
    names = {"nu": "ν of", "nu_max": "ν_max", "r": "r"}
    rows = tuple(
        (
            row.place.algorithm,
            row.place.system,
            row.place.snr_db,
            f"{names[row.place.metric]} {row.place.label} {row.term}".strip(),
            row.published,
            _spread(row.reproduced, ".2f"),
        )
        for row in found
    )
    return Table("unexplained", "Values that differ clearly under every data seed", columns, rows, stub=4)


# CSV files and summary


def csv_files(answers: Answers) -> dict[str, str]:
    """Return the answers as tidy CSV files, by name without ending; numbers to six decimals."""
    study = answers.study
    distances: list[list[Value]] = []
    for algorithm, ranked in answers.ranked.items():
        for entry in ranked:
            for seed, found in zip(study.seeds, study.distances(algorithm, entry.choices), strict=True):
                parts = [_six(value) for value in (found.distance, found.nu, found.r, found.nu_max)]
                contradicts = "; ".join(entry.contradictions)
                names = [algorithm, entry.choices, " ".join(entry.names), contradicts]
                distances.append([*names, seed, *parts, found.distinguishable, found.values])
    changes: list[list[Value]] = []
    for effect in answers.effects:
        for measure, change in effect.changes.items():
            stub = [effect.algorithm, effect.part, effect.point, effect.option, effect.contradicts, measure]
            interval = [None, None] if change.interval is None else [_six(end) for end in change.interval]
            changes.append([*stub, *map(_six, change[:3]), *interval])
    verdicts: list[list[Value]] = [
        [
            entry.claim.id,
            pair.upso if UPSO in entry.claim.algorithms else None,
            pair.ga if GA in entry.claim.algorithms else None,
            _WORDS[holds],
        ]
        for entry in answers.claims
        for pair, holds in entry.verdicts.items()
    ]
    found_gaps: list[list[Value]] = []
    for gap in answers.gaps:
        place: list[Value] = [gap.algorithm, gap.role, gap.choices, gap.system, gap.snr_db, gap.criterion, gap.seeds]
        spreads = [_six(x) for of in (gap.median, gap.best, gap.true) for x in (of or (None, None, None))]
        found_gaps.append([*place, *spreads, gap.true_above, gap.exact_runs, gap.runs])
    ends = ("median", "low", "high")
    gap_heads = [f"{name}_{end}" for name in ("median_gap", "best_gap", "true_gap") for end in ends]
    return {
        "distances": csv_text(
            ["algorithm", "choices", "names", "contradicts", "data_seed", "distance", "nu", "r", "nu_max"]
            + ["distinguishable", "values"],
            distances,
        ),
        "effects": csv_text(
            ["algorithm", "part", "point", "option", "contradicts", "measure", *ends, "interval_low", "interval_high"],
            changes,
        ),
        "claims": csv_text(["claim", "upso2d", "ga", "verdict"], verdicts),
        "gaps": csv_text(
            ["algorithm", "role", "choices", "system", "snr_db", "criterion", "seeds", *gap_heads]
            + ["true_above", "exact_runs", "runs"],
            found_gaps,
        ),
    }


def summary(answers: Answers) -> dict[str, Any]:
    """Return what the report quotes, ready for JSON: readings by role, distances, effects, claims, contests, gaps."""
    study = answers.study
    return {
        "seeds": list(study.seeds),
        "cells": sum(len(cells) for by_seed in study.cells.values() for cells in by_seed.values()),
        "runs": sum(cell.runs for by_seed in study.cells.values() for cells in by_seed.values() for cell in cells),
        "readings": {algorithm: len(ranked) for algorithm, ranked in answers.ranked.items()},
        "roles": {role: pair._asdict() for role, pair in answers.pairs.items()},
        "distances": {
            algorithm: {
                role: next(
                    _spreads(entry.spreads) | {"values": entry.values} for entry in ranked if entry.choices == of
                )
                for role, of in answers.roles[algorithm].items()
            }
            for algorithm, ranked in answers.ranked.items()
        },
        "together": {
            role: {"choices": entry.choices} | _spreads(entry.spreads) | {"values": entry.values}
            for role, pair in answers.pairs.items()
            for entry in answers.together
            if entry.choices == study.united(*pair)
        },
        "whole": [
            {"upso2d": entry.upso, "ga": entry.ga, "cells": entry.cells, "values": entry.values}
            | _spreads(entry.spreads)
            for entry in answers.whole
        ],
        "effects": [
            {
                "algorithm": effect.algorithm,
                "choices": effect.choices,
                "contradicts": effect.contradicts,
                "distance": _six(effect.changes["distance"].median),
                "clear": effect.changes["distance"].clear,
            }
            for effect in answers.effects
            if "distance" in effect.changes
        ],
        "claims": [
            {
                "id": entry.claim.id,
                "title": entry.claim.title,
                "published": entry.published,
                "base": entry.base,
                "base_seeds": entry.base_seeds,
                "roles": dict(entry.roles),
                "holding": entry.holding,
                "judged": entry.judged,
                "flips": entry.flips,
            }
            for entry in answers.claims
        ],
        "contests": [
            {"upso2d": entry.upso, "ga": entry.ga, "lower_equal_higher": list(entry.total)}
            for entries in answers.contests.values()
            for entry in entries
        ],
        "criteria": [
            {"choices": s.choices, "criterion": s.criterion, "met": s.met, "rows": s.rows}
            | {"exact_runs": s.exact_runs, "runs": s.runs}
            for s in answers.criteria
        ],
        "unexplained": {algorithm: len(rows) for algorithm, rows in answers.unexplained.items()},
    }


# Document


def document(answers: Answers) -> str:
    """Return the document as Markdown."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=False,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"spread": _spread, "percent": lambda part: _percent(*part), "signed": _signed}
    return environment.get_template("fidelity.md.j2").render(facts(answers) | {"tables": tables(answers)})


def facts(answers: Answers) -> dict[str, Any]:
    """Return the numbers and names behind the document's sentences."""
    ranked = answers.ranked
    by_choices = {(name, entry.choices): entry for name, entries in ranked.items() for entry in entries}
    shown = {
        algorithm: {role: by_choices[algorithm, choices] for role, choices in names.items()}
        for algorithm, names in answers.roles.items()
    }
    study = answers.study
    judged = [entry for entry in answers.claims if entry.judged]
    screened = [gap for gap in answers.gaps if gap.criterion == SCREENED]
    return {
        "seeds": len(study.seeds),
        "cells": sum(len(cells) for by_seed in study.cells.values() for cells in by_seed.values()),
        "runs": sum(cell.runs for by_seed in study.cells.values() for cells in by_seed.values() for cell in cells),
        "points": len(study.readings.open_points),
        "readings": {name: len(entries) for name, entries in ranked.items()},
        "incomplete": study.incomplete(),
        "ranked": shown,
        "found": by_choices,
        "together": {
            role: next((entry for entry in answers.together if entry.choices == study.united(*pair)), None)
            for role, pair in answers.pairs.items()
        },
        "by_role": {
            name: entry
            for roles_of, pair in answers.pairs.items()
            for entry in answers.together
            if entry.choices == study.united(*pair)
            for name in roles_of.split(", ")
        },
        "whole_readings": len(answers.together),
        "clear": _clear(answers.effects, clear=True),
        "unclear": _clear(answers.effects, clear=False),
        "whole": answers.whole,
        "always": [entry.claim.title for entry in judged if entry.holding == entry.judged],
        "never": [entry.claim.title for entry in judged if entry.holding == 0],
        "depends": [entry for entry in judged if 0 < entry.holding < entry.judged],
        "unjudged": [entry.claim.title for entry in answers.claims if not entry.judged],
        "reversed": [entry for entry in judged if entry.flips],
        "claims": len(answers.claims),
        "contests": {role: _contest_facts(entries) for role, entries in answers.contests.items() if entries},
        "criteria": {role: _criterion_facts(answers, choices) for role, choices in answers.roles[UPSO].items()},
        "rho_256": [gap for gap in answers.gaps if (gap.system, gap.criterion) == ("S4", "aic-256")],
        "rho_256_base": _rho_256_facts(answers.gaps),
        "gaps": _gap_facts(screened),
        "unexplained": answers.unexplained,
        "names": {UPSO: search_name(UPSO), GA: search_name(GA), REFERENCE: search_name(REFERENCE)},
    }


def _clear(found: Iterable[Effect], *, clear: bool) -> dict[str, list[Effect]]:
    grouped: dict[str, list[Effect]] = {UPSO: [], GA: []}
    for effect in found:
        if "distance" in effect.changes and effect.changes["distance"].clear is clear:
            grouped[effect.algorithm].append(effect)
    return grouped


def _contest_facts(entries: Sequence[Contest]) -> dict[str, Any]:
    def lead(entry: Contest) -> int:
        lower, _, higher = entry.total
        return lower - higher

    return {
        "first": entries[0],
        "won": [entry.ga for entry in entries if lead(entry) > 0],
        "lost": [entry.ga for entry in entries if lead(entry) < 0],
        "worst": min(entries, key=lead),
        "count": len(entries),
    }


def _criterion_facts(answers: Answers, choices: str) -> dict[str, CriterionScore]:
    return {score.criterion: score for score in answers.criteria if score.choices == choices}


def _rho_256_facts(found: Sequence[Gap]) -> dict[str, Any]:
    own = [gap for gap in found if (gap.algorithm, gap.system, gap.criterion) == (UPSO, "S4", "aic-256")]
    base = [gap for gap in own if "base" in gap.role.split(", ") and gap.true]
    if not base:
        return {}
    return {
        "above": sum(gap.true_above for gap in base),
        "data_sets": sum(gap.seeds for gap in base),
        "exact": (sum(gap.exact_runs for gap in base), sum(gap.runs for gap in base)),
    }


def _gap_facts(screened: Sequence[Gap]) -> list[dict[str, Any]]:
    """Return by algorithm and role where the median run fails, and on how many data sets the criterion does."""
    series = dict.fromkeys((gap.algorithm, gap.role) for gap in screened)
    found = []
    for algorithm, role in series:
        own = [gap for gap in screened if (gap.algorithm, gap.role) == (algorithm, role)]
        found.append(
            {
                "algorithm": search_name(algorithm),
                "role": role,
                "places": len(own),
                "at_best": sum(gap.median is not None and gap.median.median == 0 for gap in own),
                "comparable": sum(gap.median is not None for gap in own),
                "true_above": sum(gap.true_above for gap in own),
                "data_sets": sum(gap.seeds for gap in own if gap.true is not None),
                "exact": (sum(gap.exact_runs for gap in own), sum(gap.runs for gap in own)),
            }
        )
    return found


# Forms


_GAP_COLUMNS = (
    Column("median", "Median final J", kind="number"),
    Column("best", "Best final J", kind="number"),
    Column("true", "True structure", kind="number"),
    Column("true_above", "True structure not the best known", kind="number"),
)
_GAP_NOTE = (
    "J above the best known, which is the smallest J that any run of any algorithm reached on the same data under the "
    "same criterion, or that of the true structure: median over the data seeds. – : not finite, or data of its own for "
    "every run, whose J do not compare."
)


def _gap_values(gap: Gap) -> tuple[Value, ...]:
    return _gap(gap.median), _gap(gap.best), _gap(gap.true), f"{gap.true_above} of {gap.seeds}"


def _gap(found: Spread | None) -> str | None:
    return None if found is None else f"{found.median:.2f}"


def _closest(shown: Mapping[str, str]) -> str:
    return next((choices for role, choices in shown.items() if "closest" in role.split(", ")), "")


def _mark(study: Study, choices: str) -> str:
    return f" {_DAGGER}" if study.contradictions(choices) else ""


def _reading(entry: Ranked) -> str:
    names = f" ({', '.join(entry.names)})" if entry.names else ""
    return f"{entry.choices}{names}{f' {_DAGGER}' if entry.contradictions else ''}"


def _spread(found: Spread, form: str = ".3f") -> str:
    median, low, high = (rounded(value) if form == ".2f" else format(value, form) for value in found)
    return f"{median} [{low}, {high}]"


def _spreads(found: Mapping[str, Spread]) -> dict[str, Any]:
    return {key: {name: _six(value) for name, value in of._asdict().items()} for key, of in found.items()}


def _interval(change: Change) -> str | None:
    return None if change.interval is None else "[{}, {}]".format(*map(_signed, change.interval))


def _signed(value: float) -> str:
    text = f"{value:+.3f}"
    return "0.000" if float(text) == 0 else text


def _score(result: tuple[int, int, int]) -> str:
    return " / ".join(map(str, result))


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %"


def _six(value: float | None) -> float | None:
    # A zero has no sign here: -0.0 would be printed as such.
    return None if value is None else round(value, 6) + 0.0
