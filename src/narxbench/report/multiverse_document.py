"""The document on the interpretations: tables, sentences that the numbers choose, figures and CSV files."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from narxbench.analysis.agreement import ALPHA
from narxbench.analysis.claims import GA, SPARSE, UPSO, Claim
from narxbench.analysis.multiverse import (
    REFERENCE,
    STRONG_GA,
    VERDICTS,
    Findings,
    analyse,
    has_role,
    near_closest,
    with_role,
)
from narxbench.analysis.multiverse_frame import COMPARED, JOINT, SCREENED, make_multiverse
from narxbench.analysis.published import Published
from narxbench.experiment.interpretations import BASELINE, DesignChoices, Interpretation
from narxbench.io.csv import write_table
from narxbench.report.formats import fixed, method_name, number, percent, rounded, signed
from narxbench.report.multiverse_figures import figures
from narxbench.report.table import Column, Table, to_markdown
from narxbench.report.templating import rendered

SHOWN = 25  # interpretations in the rankings of the document; distances.csv holds all
SHOWN_JOINT = 10  # joint ones, many of which differ in little
SHOWN_NEAR = 3

Record = dict[str, Any]

_SYMBOLS = {"nu": "ν", "r": "r", "nu_max": "ν_max"}
_DAGGER = "†"
_FLIPS = "Single options that reverse the verdict of the baseline"
_KINDS: Mapping[str, Any] = {
    "Algorithm": "method",
    "Belongs to": "method",
    "Criterion": "criterion",
    "SNR": "snr",
    "Published": "frequency",
    "Place": "number",
    "Value": "prose",
    "Claim": "prose",
    _FLIPS: "text",
}


def interpretations_report(
    conditions: pd.DataFrame,
    choices: DesignChoices,
    published: Published,
    claims: Sequence[Claim],
    default: Interpretation,
) -> dict[str, str | bytes]:
    """Return the document on the interpretations with its figures (SVG) and tables (CSV), by path.

    Parameters
    ----------
    conditions : DataFrame
        The conditions frame of the study of interpretations.
    choices : DesignChoices
        The design choices and the named interpretations.
    published : Published
        The published values.
    claims : sequence of Claim
        The claims of the paper.
    default : mapping
        The interpretation of the main study.

    Returns
    -------
    dict
        ``interpretations.md``, and what it links: ``interpretations/effects.svg``, ``interpretations/effects.csv``, …

    Raises
    ------
    NarxbenchError
        Where an interpretation is unknown, or the baseline lacks conditions or published values.
    """
    findings = analyse(make_multiverse(conditions, choices, published, default), claims)
    return {
        "interpretations.md": document(findings),
        **{f"interpretations/{name}.svg": content for name, content in figures(findings).items()},
        **{f"interpretations/{name}.csv": write_table(frame) for name, frame in csv_frames(findings).items()},
    }


def csv_frames(findings: Findings) -> dict[str, pd.DataFrame]:
    """Return the findings that are stored as CSV, by name; numbers to six decimals."""
    named = ["interpretation", "names", "contradicts"]
    ranked = pd.concat(findings.rankings[name][named].assign(algorithm=name) for name in COMPARED)
    distances = ranked.merge(findings.distances, on=["algorithm", "interpretation"])
    measured = ["distance", "nu", "r", "nu_max", "different", "values"]
    effects = ["algorithm", "part", "design_choice", "option", "contradicts", "measure"]
    gaps = [f"{name}_gap{end}" for name in ("median", "best", "true") for end in ("", "_low", "_high")]
    places = ["algorithm", "role", "interpretation", "system", "snr_db", "criterion", "seeds"]
    frames = {
        "distances": distances[["algorithm", *named, "data_seed", *measured]],
        "effects": findings.effects[[*effects, "median", "low", "high", "interval_low", "interval_high"]],
        "claims": findings.verdicts[["claim", *COMPARED, "verdict"]],
        "gaps": findings.gaps[[*places, *gaps, "true_above", "exact_runs", "runs"]],
    }
    return {name: frame.round(6) for name, frame in frames.items()}


# Document


def document(findings: Findings) -> str:
    """Return the document as Markdown."""
    values = _facts(findings) | {"tables": tables(findings)}
    forms = {"spread": _spread, "counts": partial(_spread, show=number), "gaps": partial(_spread, show=rounded)}
    return rendered("interpretations.md.j2", values, **forms, signed=signed, method=method_name)


def _facts(findings: Findings) -> dict[str, Any]:
    """Return the numbers and names behind the sentences of the document."""
    multiverse, joint = findings.multiverse, findings.rankings[JOINT]
    judged = findings.claims[findings.claims["judged"] > 0]
    claims = {
        "always": judged[judged["holds"] == judged["judged"]],
        "never": judged[judged["holds"] == 0],
        "depends": judged[(judged["holds"] > 0) & (judged["holds"] < judged["judged"])],
        "unjudged": findings.claims[findings.claims["judged"] == 0],
        "reversed": judged[judged["flips"].map(len) > 0],
    }
    return {
        "choices": len(multiverse.choices.design_choices),
        "conditions": len(multiverse.conditions),
        "runs": int(multiverse.conditions["runs"].sum()),
        "interpretations": {name: len(findings.rankings[name]) for name in (*COMPARED, JOINT)},
        "seeds": len(multiverse.seeds),
        "incomplete": multiverse.incomplete(),
        "algorithms": [_ranking_facts(findings, name) for name in COMPARED if len(findings.rankings[name])],
        "consistent": next(iter(_records(joint[joint["contradicts"] == ""]))),
        "fewest_different": int(joint["different_low"].min()),
        "joint_values": int(joint["values"].iloc[0]),
        "standings": _standings(findings),
        "strong_ga": STRONG_GA,
        "claims": {name: _records(frame) for name, frame in claims.items()},
        "all_claims": len(findings.claims),
        "rho_256": _records(_rho_256(findings.gaps).query("algorithm == @UPSO").dropna(subset="true_gap")),
        "unexplained": _unexplained_facts(findings),
    }


def _ranking_facts(findings: Findings, algorithm: str) -> Record:
    """Return how far an algorithm is from its published values: baseline, closest, and what changes its distance."""
    ranked = findings.rankings[algorithm]
    by_seed = findings.distances[findings.distances["algorithm"] == algorithm]
    near = near_closest(by_seed, ranked)
    effects = findings.effects
    single = effects[(effects["algorithm"] == algorithm) & (effects["measure"] == "distance")]
    return {
        "algorithm": algorithm,
        "baseline": _records(ranked[ranked["interpretation"] == BASELINE])[0],
        "closest": _records(ranked)[0],
        "near": _records(ranked[ranked["interpretation"].isin(near)]),
        "spurious": _spurious_side(findings.side_by_side, algorithm),
        "clear_options": _records(single[single["clear"]]),
        "single": len(single),
    }


def _spurious_side(rows: pd.DataFrame, algorithm: str) -> str:
    """Tell whether the baseline has fewer or more spurious terms on S1 to S3 than published, everywhere; or ""."""
    known = rows[(rows["algorithm"] == algorithm) & (rows["metric"] == "r") & rows["system"].isin(SPARSE)]
    own = known[[has_role(role, "baseline") for role in known["role"]]]
    if own.empty:
        return ""
    fewer, more = own["reproduced_high"] < own["published"], own["reproduced_low"] > own["published"]
    return "fewer" if fewer.all() else "more" if more.all() else ""


def _standings(findings: Findings) -> list[Record]:
    """Return on which systems the plain search and a strong GA end lower than 2D-UPSO on most data sets, or do not."""
    found = findings.contests
    shown = (found["rival"] == REFERENCE) | (found["interpretation"] == STRONG_GA)
    standings = []
    for (role, rival, _), own in found[shown].groupby(["role", "rival", "interpretation"], sort=False):
        counts = own.set_index("system")[["higher", "equal", "lower"]].astype(int)
        half = counts.sum(axis=1) / 2
        # What is lower for 2D-UPSO is higher for its rival.
        sides = {"lower": "higher", "the same": "equal", "higher": "lower"}
        systems = {word: list(counts.index[counts[side] > half]) for word, side in sides.items()}
        systems["mixed"] = [name for name in counts.index if not any(name in of for of in systems.values())]
        standings.append({"role": role, "plain": rival == REFERENCE, "systems": {word: of for word, of in systems.items() if of}})
    return standings


def _unexplained_facts(findings: Findings) -> list[Record]:
    rows = findings.unexplained
    shown = [name for name in COMPARED if with_role("closest", findings.shown[name])]
    own = {name: rows[rows["algorithm"] == name] for name in shown}
    return [
        {"algorithm": name, "values": len(of), "systems": list(dict.fromkeys(of["system"]))} for name, of in own.items()
    ]


# Tables


def tables(findings: Findings) -> dict[str, str]:
    """Return the tables of the document as Markdown, by name; those without rows are empty."""
    joined = [findings.multiverse.joined(*pair) for pair in findings.roles.values()]
    own = ((name, findings.rankings[name]) for name in COMPARED)
    return {
        "roles": _roles_table(findings),
        "effects": "\n".join(filter(None, (_effects_table(findings.effects, name) for name in COMPARED))),
        "interactions": _interactions_table(findings.interactions),
        "joint": _ranking_table(findings.rankings[JOINT], "both algorithms", SHOWN_JOINT, joined),
        "rankings": "\n".join(_ranking_table(of, method_name(name), SHOWN, [BASELINE]) for name, of in own if len(of)),
        "whole": _whole_table(findings.whole),
        "side_by_side": _side_by_side_table(findings.side_by_side),
        "claims": _claims_table(findings),
        "contests": _contests_table(findings.contests),
        "criteria": _criteria_table(findings.criteria),
        "rho_256": _rho_256_table(findings.gaps),
        "gaps": _gaps_table(findings.gaps),
        "failures": _failures_table(findings.gaps),
        "unexplained": _unexplained_table(findings.unexplained),
    }


def _table(caption: str, row_headers: int, rows: Sequence[Mapping[str, Any]], *notes: str) -> str:
    """Return rows by heading; the first columns are text and the others numbers unless `_KINDS` says."""
    if not rows:
        return ""
    default = ["text" if place < row_headers else "number" for place in range(len(rows[0]))]
    columns = [Column(name, name, kind=_KINDS.get(name, kind)) for name, kind in zip(rows[0], default, strict=True)]
    return to_markdown(Table("", caption, tuple(columns), pd.DataFrame(rows, dtype=object), notes, row_headers))


def _roles_table(findings: Findings) -> str:
    joint = {row["interpretation"]: row for row in _records(findings.rankings[JOINT])}
    rows = []
    for role, pair in findings.roles.items():
        found = joint.get(findings.multiverse.joined(*pair))
        own = dict(zip(map(method_name, COMPARED), pair, strict=True))
        rows.append({"Role": role, **own} | (_distance(found) if found else {}))
    note = f"Distance to the published values of both algorithms under BIC. {_SPREAD_NOTE}"
    return _table("Interpretations that are set side by side", 3, rows, note)


_SPREAD_NOTE = "Median over the data seeds [smallest, largest]; parts: medians."


def _effects_table(effects: pd.DataFrame, algorithm: str) -> str:
    own = effects[effects["algorithm"] == algorithm]
    forms = {"Part of the distance": "distance_{}", "S1 to S3": "{}_sparse", "S4": "{}_s4"}
    heads = {form.format(part): f"{group}: {_SYMBOLS[part]}" for group, form in forms.items() for part in _SYMBOLS}
    medians = own.pivot(index="interpretation", columns="measure", values="median")
    rows = [
        {
            "Option": _marked(row["interpretation"], row["contradicts"]),
            "Belongs to": row["part"],
            "Distance": signed(row["median"]),
            "95 % interval": _interval(row),
            **{heads[name]: signed(medians.loc[row["interpretation"], name]) for name in heads if name in medians},
        }
        for row in _records(own[own["measure"] == "distance"])
    ]
    return _table(
        f"Single options: what they change for {method_name(algorithm)}",
        2,
        rows,
        "Changes from the baseline, medians over the data seeds of the differences paired by data seed; the interval is "
        "Student's for the mean change of the distance. A negative change of the distance or its parts is towards the "
        f"published values. {_DAGGER} contradicts an explicit statement.",
    )


def _interactions_table(found: pd.DataFrame) -> str:
    rows = [
        {
            "Algorithm": row["algorithm"],
            "Options": row["interpretation"],
            "Change of the distance": signed(row["total"]),
            "Beyond the sum of the single changes": signed(row["median"]),
            "95 % interval of that": _interval(row),
        }
        for row in _records(found)
    ]
    return _table("Pairs of options", 2, rows)


def _distance(row: Record) -> Record:
    parts = {symbol: fixed(row[part], 3) for part, symbol in _SYMBOLS.items()}
    different = f"{_spread(row, 'different', number)} of {row['values']}"
    return {"Distance": _spread(row, "distance"), **parts, "Clear differences": different}


def _ranking_table(ranked: pd.DataFrame, of: str, most: int, always: Collection[str]) -> str:
    shown = _records(ranked[(ranked["place"] <= most) | ranked["interpretation"].isin(always)])
    rows = [
        {"Place": row["place"], "Interpretation": _marked(_named(row), row["contradicts"]), **_distance(row)}
        for row in shown
    ]
    return _table(
        f"Interpretations by their distance to the published values of {of}",
        2,
        rows,
        f"{_SPREAD_NOTE} Clear differences: Fisher's exact tests with Holm's correction over all values of a data seed, "
        f"level {ALPHA}. {_DAGGER} contradicts an explicit statement.",
        *([f"{len(rows)} of {len(ranked)} interpretations."] if len(ranked) > len(rows) else []),
    )


def _whole_table(whole: pd.DataFrame) -> str:
    rows = [{method_name(name): row[name] for name in COMPARED} | _distance(row) for row in _records(whole)]
    size = whole["conditions"].iloc[0] if rows else 0
    return _table(f"Distance to all published tables ({size} conditions, all criteria)", 2, rows)


def _place(row: Record, value: str) -> Record:
    place = {"Algorithm": row["algorithm"], "System": row["system"], "SNR": row["snr_db"]}
    return place | {"Value": value, "Published": row["published"]}


def _side_by_side_table(found: pd.DataFrame) -> str:
    roles = dict.fromkeys(found["role"])
    by_place: dict[tuple[Any, ...], Record] = {}
    for row in _records(found):
        place = _place(row, _SYMBOLS[row["metric"]])
        known = by_place.setdefault(tuple(place.values()), place | dict.fromkeys(map(_capital, roles)))
        known[_capital(row["role"])] = _spread(row, "reproduced", rounded)
    rows = list(by_place.values())
    return _table("Published and reproduced, under BIC", 4, rows, "Median over the data seeds [smallest, largest].")


def _claims_table(findings: Findings) -> str:
    others = [role for role in findings.roles if not has_role(role, "baseline")]
    shown = findings.shown_verdicts.set_index(["claim", "role"])["verdict"]
    rows = [
        {
            "Claim": row["title"],
            "Published values": row["published"],
            "Baseline": f"{row['baseline']} ({row['seeds']} of {len(findings.multiverse.seeds)})",
            **{_capital(role): shown[row["claim"], role] for role in others},
            "Holds under": f"{row['holds']} of {row['judged']}" if row["judged"] else None,
            _FLIPS: ", ".join(row["flips"]) or None,
        }
        for row in _records(findings.claims)
    ]
    return _table(
        "The paper's claims under the interpretations",
        3 + len(others),
        rows,
        "A verdict is that of more than half of the data seeds; in parentheses on how many of them the claim holds. "
        "Holds under: interpretations under which it holds, of those under which it can be judged, single options and "
        "combinations, and for claims on both algorithms all pairs of their interpretations on the same data.",
    )


def _contests_table(found: pd.DataFrame) -> str:
    systems = list(dict.fromkeys(found["system"]))
    rows = []
    for (role, rival, text), own in found.groupby(["role", "rival", "interpretation"], sort=False):
        counts = own.set_index("system")[["lower", "equal", "higher"]].astype(int)
        scores = counts.T.to_dict("list") | {"All": list(counts.sum())}
        names = {"2D-UPSO": role, "Rival": method_name(rival), "Interpretation of the rival": text}
        rows.append(names | {name: " / ".join(map(str, scores[name])) for name in (*systems, "All") if name in scores})
    return _table(
        "2D-UPSO against GA and the plain search",
        3,
        rows,
        "Median final J of 2D-UPSO against that of the rival under BIC on the same data: on how many of all SNRs and "
        "data seeds it is lower / equal / higher (lower is better).",
    )


def _criteria_table(scores: pd.DataFrame) -> str:
    rows = [
        {
            "Interpretation of 2D-UPSO": row["interpretation"],
            "Criterion": row["criterion"],
            "Rows that meet both criteria of the text": f"{row['met']} of {row['rows']}",
            "Runs that find exactly the true structure": percent(row["exact_runs"], row["runs"]),
            "Distance": None if pd.isna(row["distance"]) else _spread(row, "distance"),
        }
        for row in _records(scores)
    ]
    return _table(
        "BIC against AIC",
        2,
        rows,
        "Rows: systems, SNRs and data seeds. The two criteria by which the text prefers BIC: every ν of a system term "
        "is at least 0.95 as printed, and ν_max lies below all of them.",
    )


_GAP_NOTE = (
    "J above the best known, which is the smallest J that any run of any algorithm reached on the same data under the "
    "same criterion, or that of the true structure: median over the data seeds. – : not finite, or data of its own for "
    "every run, whose J do not compare."
)


def _rho_256(gaps: pd.DataFrame) -> pd.DataFrame:
    return gaps[(gaps["system"] == "S4") & (gaps["criterion"] == "aic-256")]


def _rho_256_table(gaps: pd.DataFrame) -> str:
    rows = [
        {
            "Algorithm": row["algorithm"],
            "Interpretation": row["role"],
            "SNR": row["snr_db"],
            "Median final J": _above(row["median_gap"]),
            "Best final J": _above(row["best_gap"]),
            "True structure": _above(row["true_gap"]),
            "True structure not the best known": f"{row['true_above']} of {row['seeds']}",
            "Exact runs": percent(row["exact_runs"], row["runs"]),
        }
        for row in _records(_rho_256(gaps))
    ]
    return _table("S4 with ϱ = 256", 3, rows, _GAP_NOTE)


def _gaps_table(gaps: pd.DataFrame) -> str:
    shown = _records(gaps[gaps["criterion"] == SCREENED])
    names = list(dict.fromkeys(_series(row) for row in shown))
    rows: dict[tuple[str, float], Record] = {}
    for row in shown:
        # The first series is 2D-UPSO under the baseline, which has every condition.
        start = {"System": row["system"], "SNR": row["snr_db"], "True structure": _above(row["true_gap"])}
        start["Not the best known"] = f"{row['true_above']} of {row['seeds']}"
        known = rows.setdefault((row["system"], row["snr_db"]), start | dict.fromkeys(names))
        known[_series(row)] = _above(row["median_gap"])
    note = f"{_GAP_NOTE} The true structure is that on the data of the baseline."
    return _table("Median final J above the best known J, under BIC", 2, list(rows.values()), note)


def _failures_table(gaps: pd.DataFrame) -> str:
    known = gaps[gaps["criterion"] == SCREENED].assign(
        at_best=lambda own: own["median_gap"] == 0,
        comparable=lambda own: own["median_gap"].notna(),
        data_sets=lambda own: own["seeds"].where(own["true_gap"].notna(), 0),
    )
    totals = ["at_best", "comparable", "exact_runs", "runs", "true_above", "data_sets"]
    rows = [
        {
            "Algorithm": row["algorithm"],
            "Interpretation": row["role"],
            "Conditions whose median run reaches the best known J": f"{row['at_best']} of {row['comparable']}",
            "Runs that find exactly the true structure": percent(row["exact_runs"], row["runs"]),
            "Data sets whose best known J is not the true structure's": f"{row['true_above']} of {row['data_sets']}",
        }
        for row in _records(known.groupby(["algorithm", "role"], sort=False)[totals].sum().reset_index())
        if row["comparable"]
    ]
    return _table(
        "Failures of the optimisation and of the criterion",
        2,
        rows,
        "Conditions: systems and SNRs under BIC, median over the data seeds. Data sets: conditions and data seeds.",
    )


def _unexplained_table(found: pd.DataFrame) -> str:
    rows = []
    for row in _records(found):
        name = f"ν of {row['label']} {row['term']}" if row["label"] else _SYMBOLS[row["metric"]]
        rows.append(_place(row, name) | {"Closest interpretation": _spread(row, "reproduced", rounded)})
    return _table("Values that differ clearly under every data seed", 4, rows)


# Forms


def _records(frame: pd.DataFrame) -> list[Record]:
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _named(row: Record) -> str:
    return f"{row['interpretation']} ({row['names'].replace(' ', ', ')})" if row["names"] else row["interpretation"]


def _series(row: Record) -> str:
    return f"{method_name(row['algorithm'])}, {row['role']}"


def _capital(role: str) -> str:
    return role[:1].upper() + role[1:]


def _marked(text: str, contradicts: object) -> str:
    return f"{text} {_DAGGER}" if contradicts else text


def _above(gap: float) -> str | None:
    return None if pd.isna(gap) else fixed(gap, 2)


def _three(value: float) -> str:
    return fixed(value, 3)


def _spread(row: Record, name: str, show: Callable[[float], str] = _three) -> str:
    median, low, high = (show(row[f"{name}{end}"]) for end in ("", "_low", "_high"))
    return f"{median} [{low}, {high}]"


def _interval(row: Record) -> str | None:
    limits = row["interval_low"], row["interval_high"]
    return None if pd.isna(limits[0]) else "[{}, {}]".format(*map(signed, limits))
