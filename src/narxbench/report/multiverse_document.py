"""The document on the interpretations: tables, sentences that the numbers choose, figures and CSV files."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from narxbench.analysis.agreement import ALPHA
from narxbench.analysis.claims import GA, SPARSE, UPSO, Claim
from narxbench.analysis.multiverse import REFERENCE, STRONG_GA, Findings, analyse
from narxbench.analysis.multiverse_frame import COMPARED, JOINT, SCREENED, make_multiverse
from narxbench.analysis.published import Published
from narxbench.experiment.interpretations import BASELINE, DesignChoices, Interpretation
from narxbench.io.csv import write_table
from narxbench.report.formats import fixed, method_name, number, percent, rounded, signed
from narxbench.report.multiverse_figures import figures
from narxbench.report.table import Column, Table, to_markdown
from narxbench.report.templating import rendered

SHOWN = {
    JOINT: 10,
    UPSO: 25,
    GA: 25,
}  # interpretations in the rankings of the document; many joint ones differ in little

Record = dict[str, Any]

_SYMBOLS = {"nu": "ν", "r": "r", "nu_max": "ν_max"}
_DISTANCE = ("Distance", *_SYMBOLS.values(), "Clear differences")
_FLIPS = "Single options that reverse the verdict of the baseline"
_KINDS: Mapping[str, Any] = {
    **{"Algorithm": "method", "Belongs to": "method", "Rival": "method", "Criterion": "criterion", "SNR": "snr"},
    **{"Published": "frequency", "Place": "number", "Value": "prose", "Claim": "prose", _FLIPS: "text"},
}


def interpretations_report(
    conditions: pd.DataFrame,
    choices: DesignChoices,
    published: Published,
    claims: Sequence[Claim],
    default: Interpretation,
) -> dict[str, str | bytes]:
    """Return the document on the interpretations with its figures (SVG) and tables (CSV).

    Parameters
    ----------
    conditions : DataFrame
        The conditions frame of the study of interpretations.
    choices, published, claims
        The design choices, the published values and the claims of the paper.
    default : mapping
        The interpretation of the main study.

    Returns
    -------
    dict
        By path ``interpretations.md`` and what it links, such as ``interpretations/effects.svg``.

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
    spread = ["median", "low", "high", "interval_low", "interval_high"]
    gaps = [f"{name}_gap{end}" for name in ("median", "best", "true") for end in ("", "_low", "_high")]
    place = ["algorithm", "role", "interpretation", "system", "snr_db", "criterion", "seeds"]
    frames = {
        "distances": ranked.merge(findings.distances)[
            ["algorithm", *named, "data_seed", "distance", *_SYMBOLS, "different", "values"]
        ],
        "effects": findings.effects[
            ["algorithm", "part", "design_choice", "option", "contradicts", "measure", *spread]
        ],
        "claims": findings.verdicts[["claim", *COMPARED, "verdict"]],
        "gaps": findings.gaps[[*place, *gaps, "true_above", "exact_runs", "runs"]],
    }
    return {name: frame.round(6) for name, frame in frames.items()}


def document(findings: Findings) -> str:
    """Return the document as Markdown."""
    values = _facts(findings) | {"tables": tables(findings)}
    counts = partial(_spread, show=number)
    return rendered("interpretations.md.j2", values, spread=_spread, counts=counts, signed=signed, method=method_name)


# What the sentences say


def _facts(findings: Findings) -> Record:
    """Return the numbers and names behind the sentences of the document."""
    multiverse, joint, claims = findings.multiverse, findings.rankings[JOINT], findings.claims
    judged = claims[claims["judged"] > 0]
    unexplained = findings.unexplained.groupby("algorithm")["system"].agg(["size", "unique"])
    return {
        "alpha": ALPHA,
        "multiverse": multiverse,
        "algorithms": [_ranking_facts(findings, name) for name in COMPARED if len(findings.rankings[name])],
        "consistent": _records(joint[joint["contradicts"] == ""])[0],
        "fewest_different": int(joint["different_low"].min()),
        "joint_values": int(joint["values"].iloc[0]),
        "standings": _standings(findings.contests),
        "claims": len(claims),
        "always": list(judged.loc[judged["holds"] == judged["judged"], "title"]),
        "never": list(judged.loc[judged["holds"] == 0, "title"]),
        "unjudged": len(claims) - len(judged),
        "unexplained": [(name, size, list(systems)) for name, size, systems in unexplained.itertuples()],
    }


def _ranking_facts(findings: Findings, algorithm: str) -> Record:
    """Return how far an algorithm is from its published values: baseline, closest, and what changes its distance."""
    ranked, effects, rows = findings.rankings[algorithm], findings.effects, findings.side_by_side
    single = effects[(effects["algorithm"] == algorithm) & (effects["measure"] == "distance")]
    own = rows[(rows["algorithm"] == algorithm) & (rows["interpretation"] == BASELINE) & (rows["metric"] == "r")]
    own = own[own["system"].isin(SPARSE)]
    fewer, more = own["reproduced_high"] < own["published"], own["reproduced_low"] > own["published"]
    return {
        "algorithm": algorithm,
        "interpretations": len(ranked),
        "baseline": _records(ranked[ranked["interpretation"] == BASELINE])[0],
        "closest": _records(ranked)[0],
        "near": _records(ranked[ranked["near"]].iloc[1:]),
        "spurious": "" if own.empty else "fewer" if fewer.all() else "more" if more.all() else "",
        "changing": _records(single[single["clear"]]),
        "options": len(single),
    }


def _standings(contests: pd.DataFrame) -> list[Record]:
    """Return on which systems stepwise selection and a strong GA end lower than 2D-UPSO on most data sets."""
    shown = contests[(contests["rival"] == REFERENCE) | (contests["interpretation"] == STRONG_GA)]
    found = []
    for (role, rival), own in shown.groupby(["role", "rival"], sort=False):
        counts = own.set_index("system")[["higher", "equal", "lower"]]
        # What is higher for 2D-UPSO is lower for its rival.
        words = counts.idxmax(axis=1).map({"higher": "lower", "equal": "the same", "lower": "higher"})
        words = words.where(counts.max(axis=1) > counts.sum(axis=1) / 2, "mixed")
        systems = {word: list(words.index[words == word]) for word in ("lower", "the same", "higher", "mixed")}
        told = {word: names for word, names in systems.items() if names}
        found.append({"role": role, "stepwise": rival == REFERENCE, "systems": told})
    return found


# Tables


def tables(findings: Findings) -> dict[str, str]:
    """Return the tables of the document as Markdown, by name; those without rows are empty."""
    joined = [findings.multiverse.joined(*pair) for pair in findings.roles.values()]
    return {
        "roles": _roles_table(findings, joined),
        "effects": "\n".join(filter(None, (_effects_table(findings.effects, name) for name in COMPARED))),
        "interactions": _interactions_table(findings.interactions),
        "joint": _ranking_table(findings, JOINT, joined),
        "rankings": "\n".join(filter(None, (_ranking_table(findings, name, [BASELINE]) for name in COMPARED))),
        "whole": _whole_table(findings.whole),
        "side_by_side": _side_by_side_table(findings.side_by_side),
        "claims": _claims_table(findings),
        "contests": _contests_table(findings.contests),
        "criteria": _criteria_table(findings.criteria),
        "rho_256": _rho_256_table(findings.gaps),
        "failures": _failures_table(findings.gaps),
        "unexplained": _unexplained_table(findings.unexplained),
    }


def _table(caption: str, texts: int, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows by heading; the first columns are text and the others numbers unless `_KINDS` says."""
    if not rows:
        return ""
    default = ["text" if place < texts else "number" for place in range(len(rows[0]))]
    columns = [Column(name, name, kind=_KINDS.get(name, kind)) for name, kind in zip(rows[0], default, strict=True)]
    return to_markdown(Table("", caption, tuple(columns), pd.DataFrame(rows, dtype=object)))


def _roles_table(findings: Findings, joined: Sequence[str]) -> str:
    found = {row["interpretation"]: _distance(row) for row in _records(findings.rankings[JOINT])}
    rows = [
        {"Role": role, "2D-UPSO": pair.upso2d, "GA": pair.ga, **dict.fromkeys(_DISTANCE), **found.get(text, {})}
        for (role, pair), text in zip(findings.roles.items(), joined, strict=True)
    ]
    return _table("Interpretations that are set side by side", 3, rows)


def _effects_table(effects: pd.DataFrame, algorithm: str) -> str:
    own = effects[effects["algorithm"] == algorithm]
    medians = own.pivot(index="interpretation", columns="measure", values="median")
    forms = {"Part of the distance": "distance_{}", "S1 to S3": "{}_sparse", "S4": "{}_s4"}
    heads = {form.format(part): f"{group}: {_SYMBOLS[part]}" for group, form in forms.items() for part in _SYMBOLS}
    rows = [
        {"Option": _marked(row), "Belongs to": row["part"], "Distance": signed(row["median"])}
        | {"95 % interval": _interval(row)}
        | {heads[name]: signed(medians.loc[row["interpretation"], name]) for name in heads if name in medians}
        for row in _records(own[own["measure"] == "distance"])
    ]
    return _table(f"Single options: what they change for {method_name(algorithm)}", 2, rows)


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


def _ranking_table(findings: Findings, name: str, always: Collection[str]) -> str:
    ranked = findings.rankings[name]
    shown = ranked[(ranked["place"] <= SHOWN[name]) | ranked["interpretation"].isin(always)]
    rows = [{"Place": row["place"], "Interpretation": _marked(row), **_distance(row)} for row in _records(shown)]
    of = "both algorithms" if name == JOINT else method_name(name)
    size = f" ({len(shown)} of {len(ranked)})" if len(shown) < len(ranked) else ""
    return _table(f"Interpretations by their distance to the published values of {of}{size}", 2, rows)


def _whole_table(whole: pd.DataFrame) -> str:
    rows = [{"Role": row["role"], "Conditions": row["conditions"], **_distance(row)} for row in _records(whole)]
    return _table("Distance to all published tables, under all criteria", 1, rows)


def _side_by_side_table(found: pd.DataFrame) -> str:
    roles = dict.fromkeys(map(_capital, found["role"]))
    rows: dict[tuple[Any, ...], Record] = {}
    for row in _records(found):
        place = _place(row)
        known = rows.setdefault(tuple(place.values()), place | roles)
        known[_capital(row["role"])] = _spread(row, "reproduced", rounded)
    return _table("Published and reproduced, under BIC", 4, list(rows.values()))


def _claims_table(findings: Findings) -> str:
    shown = findings.shown_verdicts.set_index(["claim", "name"])["verdict"]
    others = list(findings.roles)[1:]
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
    return _table("The paper's claims under the interpretations", 3 + len(others), rows)


def _contests_table(found: pd.DataFrame) -> str:
    rows = []
    for (role, rival, text), own in found.groupby(["role", "rival", "interpretation"], sort=False):
        counts = own.set_index("system")[["lower", "equal", "higher"]]
        counts.loc["All"] = counts.sum()
        scores = {name: " / ".join(map(str, score)) for name, *score in counts.itertuples()}
        rows.append({"2D-UPSO": role, "Rival": rival, "Interpretation of the rival": text, **scores})
    return _table("2D-UPSO against GA and stepwise selection", 3, rows)


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
    return _table("BIC against AIC", 2, rows)


def _rho_256_table(gaps: pd.DataFrame) -> str:
    shown = {"Median final J": "median_gap", "Best final J": "best_gap", "True structure": "true_gap"}
    rows = [
        {"Algorithm": row["algorithm"], "Interpretation": row["role"], "SNR": row["snr_db"]}
        | {heading: None if pd.isna(row[gap]) else fixed(row[gap], 2) for heading, gap in shown.items()}
        | {"True structure not the best known": f"{row['true_above']} of {row['seeds']}"}
        | {"Exact runs": percent(row["exact_runs"], row["runs"])}
        for row in _records(gaps[(gaps["system"] == "S4") & (gaps["criterion"] == "aic-256")])
    ]
    return _table("J above the best known on S4 with ϱ = 256", 3, rows)


def _failures_table(gaps: pd.DataFrame) -> str:
    known = gaps[(gaps["criterion"] == SCREENED) & gaps["median_gap"].notna()]
    known = known.assign(at_best=known["median_gap"] == 0, conditions=1)
    totals = ["at_best", "conditions", "exact_runs", "runs", "true_above", "seeds"]
    rows = [
        {
            "Algorithm": row["algorithm"],
            "Interpretation": row["role"],
            "Conditions whose median run reaches the best known J": f"{row['at_best']} of {row['conditions']}",
            "Runs that find exactly the true structure": percent(row["exact_runs"], row["runs"]),
            "Data sets whose best known J is not the true structure's": f"{row['true_above']} of {row['seeds']}",
        }
        for row in _records(known.groupby(["algorithm", "role"], sort=False)[totals].sum().reset_index())
    ]
    return _table("Failures of the optimisation and of the criterion", 2, rows)


def _unexplained_table(found: pd.DataFrame) -> str:
    rows = [_place(row) | {"Closest interpretation": _spread(row, "reproduced", rounded)} for row in _records(found)]
    return _table("Values that differ clearly under every data seed", 4, rows)


# Forms


def _distance(row: Record) -> Record:
    different = f"{_spread(row, 'different', number)} of {row['values']}"
    shown = _spread(row, "distance"), *(_three(row[part]) for part in _SYMBOLS), different
    return dict(zip(_DISTANCE, shown, strict=True))


def _place(row: Record) -> Record:
    value = f"{_SYMBOLS[row['metric']]} of {row['label']} {row['term']}" if row["label"] else _SYMBOLS[row["metric"]]
    place = {"Algorithm": row["algorithm"], "System": row["system"], "SNR": row["snr_db"]}
    return place | {"Value": value, "Published": row["published"]}


def _records(frame: pd.DataFrame) -> list[Record]:
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _capital(role: str) -> str:
    return role[:1].upper() + role[1:]


def _marked(row: Record) -> str:
    names = f" ({row['names']})" if row.get("names") else ""
    return f"{row['interpretation']}{names}{' †' if row['contradicts'] else ''}"


def _three(value: float) -> str:
    return fixed(value, 3)


def _spread(row: Record, name: str, show: Callable[[float], str] = _three) -> str:
    median, low, high = (show(row[f"{name}{end}"]) for end in ("", "_low", "_high"))
    return f"{median} [{low}, {high}]"


def _interval(row: Record) -> str | None:
    limits = row["interval_low"], row["interval_high"]
    return None if pd.isna(limits[0]) else "[{}, {}]".format(*map(signed, limits))
