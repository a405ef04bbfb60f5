"""The document on the interpretations: tables, sentences that the numbers choose, figures and CSV files."""

from collections.abc import Collection, Sequence
from typing import Any

import pandas as pd

from narxbench.analysis.agreement import ALPHA
from narxbench.analysis.claims import GA, SPARSE, UPSO, Claim
from narxbench.analysis.multiverse import REFERENCE, STRONG_GA, Findings, analyse
from narxbench.analysis.multiverse_frame import COMPARED, JOINT, SCREENED, make_multiverse
from narxbench.analysis.published import Published
from narxbench.experiment.interpretations import BASELINE, DesignChoices, Interpretation
from narxbench.io.csv import write_table
from narxbench.report.formats import method_name
from narxbench.report.multiverse_figures import figures
from narxbench.report.templating import rendered

SHOWN = {JOINT: 10, UPSO: 25, GA: 25}  # interpretations in the rankings; many joint ones differ in little

Record = dict[str, Any]

_SYMBOLS = {"nu": "ν", "r": "*r*", "nu_max": "ν<sub>max</sub>"}
_MEASURES = {
    form.format(part): f"{group}: {symbol}"
    for form, group in {"distance_{}": "Part of the distance", "{}_sparse": "S1 to S3", "{}_s4": "S4"}.items()
    for part, symbol in _SYMBOLS.items()
}
_AS_THEY_ARE = ("interactions", "whole", "claims", "criteria", "unexplained")  # tables with the rows of a frame


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
    named = ["algorithm", "interpretation", "names", "contradicts"]
    ranked = pd.concat(findings.rankings[name].assign(algorithm=name)[named] for name in COMPARED)
    distances = [*named, "data_seed", "distance", *_SYMBOLS, "different", "values"]
    effects = ["algorithm", "part", "design_choice", "option", "contradicts", "measure"]
    effects += ["median", "low", "high", "interval_low", "interval_high"]
    gaps = [f"{name}_gap{end}" for name in ("median", "best", "true") for end in ("", "_low", "_high")]
    place = ["algorithm", "role", "interpretation", "system", "snr_db", "criterion", "seeds"]
    frames = {
        "distances": ranked.merge(findings.distances)[distances],
        "effects": findings.effects[effects],
        "claims": findings.verdicts[["claim", *COMPARED, "verdict"]],
        "gaps": findings.gaps[[*place, *gaps, "true_above", "exact_runs", "runs"]],
    }
    return {name: frame.round(6) for name, frame in frames.items()}


def document(findings: Findings) -> str:
    """Return the document as Markdown."""
    return rendered("interpretations.md.j2", _facts(findings) | _tables(findings))


# What the sentences say


def _facts(findings: Findings) -> Record:
    """Return the numbers and names behind the sentences of the document."""
    joint, claims = findings.rankings[JOINT], findings.claims
    judged = claims[claims["judged"] > 0]
    return {
        "alpha": ALPHA,
        "symbols": _SYMBOLS,
        "multiverse": findings.multiverse,
        "algorithms": [_ranking_facts(findings, name) for name in COMPARED if len(findings.rankings[name])],
        "consistent": _records(joint[joint["contradicts"] == ""])[0],
        "fewest_different": int(joint["different_low"].min()),
        "joint_values": int(joint["values"].iloc[0]),
        "standings": _standings(findings.contests),
        "always": list(judged.loc[judged["holds"] == judged["judged"], "title"]),
        "never": list(judged.loc[judged["holds"] == 0, "title"]),
        "unjudged": len(claims) - len(judged),
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


def _tables(findings: Findings) -> Record:
    """Return the rows of the tables of the document."""
    joint = {row["interpretation"]: row for row in _records(findings.rankings[JOINT])}
    joined = {role: findings.multiverse.joined(*pair) for role, pair in findings.roles.items()}
    always = {JOINT: joined.values(), UPSO: [BASELINE], GA: [BASELINE]}
    gaps = findings.gaps
    return {
        "roles": [(role, pair, joint.get(joined[role])) for role, pair in findings.roles.items()],
        "measure_heads": _MEASURES,
        "effects": [(name, *_effects(findings.effects, name)) for name in COMPARED],
        "rankings": [_ranking(findings, name, names) for name, names in always.items()],
        "other_roles": list(findings.roles)[1:],
        "reproduced_roles": list(dict.fromkeys(findings.side_by_side["role"])),
        "side_by_side": _side_by_side(findings.side_by_side),
        "verdicts": findings.shown_verdicts.set_index(["claim", "name"])["verdict"].to_dict(),
        "contests": _contests(findings.contests),
        "rho_256": _records(gaps[(gaps["system"] == "S4") & (gaps["criterion"] == "aic-256")]),
        "failures": _failures(gaps),
        **{name: _records(getattr(findings, name)) for name in _AS_THEY_ARE},
    }


def _effects(effects: pd.DataFrame, algorithm: str) -> tuple[list[Record], list[str]]:
    """Return the single options with the medians of their changes by measure, and these measures."""
    own = effects[effects["algorithm"] == algorithm]
    medians = own.pivot(index="interpretation", columns="measure", values="median")
    measures = [measure for measure in _MEASURES if measure in medians]
    return _records(own[own["measure"] == "distance"].join(medians[measures], on="interpretation")), measures


def _ranking(findings: Findings, name: str, always: Collection[str]) -> Record:
    ranked = findings.rankings[name]
    shown = ranked[(ranked["place"] <= SHOWN[name]) | ranked["interpretation"].isin(always)]
    of = "both algorithms" if name == JOINT else method_name(name)
    return {"of": of, "rows": _records(shown), "all": len(ranked)}


def _side_by_side(found: pd.DataFrame) -> list[tuple[Record, dict[str, Record]]]:
    """Return each published value with what is reproduced by role."""
    groups = found.groupby(["algorithm", "system", "snr_db", "metric", "label"], sort=False)
    rows = [_records(own) for _, own in groups]
    return [(own[0], {row["role"]: row for row in own}) for own in rows]


def _contests(found: pd.DataFrame) -> list[tuple[tuple[str, ...], dict[str, str]]]:
    """Return roles, rivals and interpretations with their scores by system."""
    rows = []
    for names, own in found.groupby(["role", "rival", "interpretation"], sort=False):
        counts = own.set_index("system")[["lower", "equal", "higher"]]
        counts.loc["All"] = counts.sum()
        rows.append((names, {name: " / ".join(map(str, score)) for name, *score in counts.itertuples()}))
    return rows


def _failures(gaps: pd.DataFrame) -> list[Record]:
    known = gaps[(gaps["criterion"] == SCREENED) & gaps["median_gap"].notna()]
    known = known.assign(at_best=known["median_gap"] == 0, conditions=1)
    totals = ["at_best", "conditions", "exact_runs", "runs", "true_above", "seeds"]
    return _records(known.groupby(["algorithm", "role"], sort=False)[totals].sum().reset_index())


def _records(frame: pd.DataFrame) -> list[Record]:
    """Return rows by column; missing values are None."""
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]
