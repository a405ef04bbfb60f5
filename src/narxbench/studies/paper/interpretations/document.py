"""The document on the interpretations: tables, sentences that the numbers choose, figures and CSV files."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from narxbench.io.csv import write_table
from narxbench.report.table import records
from narxbench.report.templating import rendered
from narxbench.studies.paper.claims import UPSO, VERDICTS, Claim
from narxbench.studies.paper.frames import UNCLEAR
from narxbench.studies.paper.interpretations.figures import figures
from narxbench.studies.paper.interpretations.findings import (
    ALL,
    AS_DESCRIBED,
    CLOSEST,
    INPUT,
    REFERENCES,
    STRONG_GA,
    Findings,
)
from narxbench.studies.paper.interpretations.nearness import COMPARED, JOINT, SCREENED, make_study
from narxbench.studies.paper.published import Published
from narxbench.study.design_choices import BASELINE, DesignChoices
from narxbench.study.significance import ALPHA

TEMPLATES = Path(__file__).parent / "templates"

FAR = 1.5  # times the deviance between own data sets, beyond which a table remains unexplained
COUNTED = {
    VERDICTS[True]: "hold",
    UNCLEAR: "show no clear difference",
    VERDICTS[False]: "do not hold",
    VERDICTS[None]: "cannot be judged",
}
GROUPS = ("all", "none", "some", "unjudged")
SHOWN = 10  # rows of a ranking and of a table of effects; files have all
ENOUGH = 0.25  # share of the deviance that an option takes away to be named as a possible cause

Record = dict[str, Any]

_BOUND = "velocity-bound="
_ONE_ROW = r"velocity-bound=[^+]+\+bounded-rows=[^+]+"


def interpretations_report(
    conditions: pd.DataFrame, choices: DesignChoices, published: Published, claims: Sequence[Claim]
) -> dict[str, str | bytes]:
    """Return the document on the interpretations with its figures (SVG) and tables (CSV), by path.

    Raises :class:`NarxbenchError` where an interpretation is unknown, or the baseline lacks conditions or published
    values.
    """
    findings = Findings(make_study(conditions, choices, published), claims)
    return {
        "interpretations.md": document(findings),
        **{f"interpretations/{name}.svg": content for name, content in figures(findings).items()},
        **{f"interpretations/{name}.csv": write_table(frame.round(6)) for name, frame in _frames(findings).items()},
    }


def _frames(findings: Findings) -> dict[str, pd.DataFrame]:
    """Return the findings that are stored as CSV, by name."""
    named = ["algorithm", "interpretation", "names", "contradicts"]
    ranked = pd.concat(findings.rankings[name].assign(algorithm=name)[named] for name in COMPARED)
    effects = ["algorithm", "part", "design_choice", "option", "contradicts", "measure"]
    effects += ["median", "low", "high", "interval_low", "interval_high"]
    return {
        "nearness": findings.nearness,
        "claim_overview": findings.claims,
        "role_verdicts": findings.role_verdicts,
        "found": findings.found,
        "effects_overview": findings.effects_overview,
        "deviances": ranked.merge(findings.deviances),
        "effects": findings.effects[effects],
        "claims": findings.verdicts[["claim", *COMPARED, "verdict"]],
        "contests": findings.contests,
        "remaining": findings.remaining,
        "gaps": findings.gaps,
        "values": findings.side_by_side,
    }


def document(findings: Findings) -> str:
    """Return the document as Markdown."""
    return rendered("document.md.j2", _facts(findings) | _tables(findings), TEMPLATES)


def _facts(findings: Findings) -> Record:
    """Return the numbers and names behind the sentences of the document."""
    joint = findings.nearness[findings.nearness["algorithm"] == JOINT]
    by_role = {row["role"]: row for row in records(joint[joint["criteria"] == SCREENED])}
    under_all = {row["role"]: row for row in records(joint[joint["criteria"] == ALL])}
    upso2d, both = findings.rankings[UPSO], findings.rankings[JOINT]
    algorithms = [_nearness_facts(findings, name) for name in COMPARED if len(findings.rankings[name])]
    enough = -ENOUGH * algorithms[0]["described"]["deviance"]
    strong = [row for row in records(findings.closer) if row["change"] <= enough]
    # The nearest interpretation that contradicts no statement, if the nearest of all contradicts one.
    consistent = both[both["contradicts"] == ""][: 1 if both["contradicts"].iloc[0] else 0]
    # How many runs of each search end at the true structure, the most first.
    searches = findings.found.groupby(["label", "algorithm"], sort=False)[["exact", "runs"]].sum().reset_index()
    order = (searches["exact"] / searches["runs"]).sort_values(ascending=False, kind="stable").index
    # What bounds, and other options, keep of what they bring nearer when ties are in random order.
    ties = findings.ties[findings.ties["change"] < 0]
    ties = ties.assign(kept=(ties["change_random"] / ties["change"]).clip(lower=0))
    bound = ties["interpretation"].str.contains(_BOUND)
    return {
        "alpha": ALPHA,
        "counted": COUNTED,
        "enough": ENOUGH,
        "study": findings.study,
        "described": by_role[AS_DESCRIBED],
        "closest": by_role[CLOSEST],
        "closest_under_all": under_all.get(CLOSEST),
        "contradicted": findings.study.contradictions(by_role[CLOSEST]["interpretation"]),
        "in_sample": both["deviance"].iloc[0],
        "judged_on": by_role[CLOSEST]["seeds"] - len(findings.study.screening),
        "consistent": records(consistent),
        "pairs": len(both),
        "tables": len(findings.remaining),
        "far": FAR,
        "left": records(findings.remaining.query("deviance > @FAR * own_deviance")),
        "near": int(both["near"].sum()) - 1,
        "algorithms": algorithms,
        "strong": strong,
        "slower": [row for row in strong if (row["worse"] or 0) > 0.5],
        "verdict_counts": {word: n for word in COUNTED if (n := int((findings.claims["as_described"] == word).sum()))},
        "groups": findings.claims["group"].value_counts().reindex(GROUPS, fill_value=0).to_dict(),
        "bounds": records(ties[bound]),
        "others": records(ties[~bound]),
        "stable": bool(bound.any()) and bool((ties.loc[bound, "kept"] < 0.5).all()),
        "one_row": records(upso2d[upso2d["interpretation"].str.fullmatch(_ONE_ROW)]),
        "searches": records(searches.loc[order]),
    }


def _nearness_facts(findings: Findings, algorithm: str) -> Record:
    """Return how near an algorithm is to its published values as described and at its closest, and what matters."""
    ranked, effects = findings.rankings[algorithm], findings.effects
    single = effects[(effects["algorithm"] == algorithm) & (effects["measure"] == "deviance")]
    return {
        "algorithm": algorithm,
        "interpretations": len(ranked),
        "described": records(ranked[ranked["interpretation"] == BASELINE])[0],
        "closest": records(ranked)[0],
        "changing": records(single[single["clear"]]),
        "options": len(single),
    }


def _tables(findings: Findings) -> Record:
    """Return the rows of the tables of the document."""
    # The contests with the rivals that matter: other searches, a strong GA, GA as described and in the role.
    contests = findings.contests
    own = contests["role"].map({role: pair.ga for role, pair in findings.roles.items()})
    matters = contests["interpretation"].isin([STRONG_GA, BASELINE]) | (contests["interpretation"] == own)
    contests = contests[contests["rival"].isin(REFERENCES) | matters]
    return {
        "roles": records(findings.nearness[findings.nearness["algorithm"] == JOINT]),
        "effects": [(name, *_largest(findings.effects, name)) for name in COMPARED],
        "closer": records(findings.closer),
        "ties": records(findings.ties),
        "rankings": [(name, *_ranking(findings, name)) for name in (JOINT, *COMPARED)],
        "inputs": _inputs(findings.inputs),
        "remaining": records(findings.remaining),
        "role_names": list(findings.roles),
        "verdicts": findings.role_verdicts.set_index(["claim", "role"])["verdict"].to_dict(),
        "held": {
            (row["claim"], row["role"]): f"{row['seeds']} of {row['judged']}" for row in records(findings.role_verdicts)
        },
        "claims": [row | {"reversed": _reversing(findings, row)} for row in records(findings.claims)],
        "systems": list(dict.fromkeys(findings.found["system"])),
        "found": _by_system(findings.found, ["label"]),
        "contests": _by_system(contests, ["role", "rival", "interpretation"]),
        "criteria": records(findings.criteria),
        "failures": _failures(findings.gaps),
    }


def _largest(effects: pd.DataFrame, algorithm: str) -> tuple[list[Record], int]:
    """Return the single options that change the deviance most, with all their changes, and how many there are."""
    own = effects[effects["algorithm"] == algorithm]
    medians = own.pivot(index="interpretation", columns="measure", values="median")
    others = medians.drop(columns="deviance", errors="ignore")
    rows = own[own["measure"] == "deviance"].join(others, on="interpretation")
    return records(rows.head(SHOWN)), len(rows)


def _ranking(findings: Findings, name: str) -> tuple[list[Record], int]:
    """Return the first places of a ranking and the interpretations in a role, and how many there are."""
    ranked, study = findings.rankings[name], findings.study
    in_role: Collection[str] = [
        study.joined(*pair) if name == JOINT else pair[COMPARED.index(name)] for pair in findings.roles.values()
    ]
    return records(ranked[(ranked["place"] <= SHOWN) | ranked["interpretation"].isin(in_role)]), len(ranked)


def _inputs(inputs: pd.DataFrame) -> list[Record]:
    """Return for each role the deviances of its inputs by system, and the input of each system with the smallest."""
    rows = []
    for role, own in inputs.groupby("role", sort=False):
        table = own.pivot(index=INPUT, columns="system", values="deviance").loc[list(dict.fromkeys(own[INPUT]))]
        totals = table.assign(all=table.sum(axis=1)).to_dict("index")
        best = table.min().to_dict() | {"all": table.min().sum()}
        rows.append({"role": role, "inputs": totals, "best": best, "nearest": table.idxmin().to_dict()})
    return rows


def _reversing(findings: Findings, claim: Record) -> list[str]:
    """Return the single options whose verdict is the opposite of the one as described."""
    opposite = {VERDICTS[side]: VERDICTS[not side] for side in (True, False)}.get(claim["as_described"])
    own = findings.option_verdicts
    return list(own.loc[(own["claim"] == claim["claim"]) & (own["verdict"] == opposite), "option"])


def _by_system(frame: pd.DataFrame, by: list[str]) -> list[tuple[Any, dict[str, Record]]]:
    """Return the names of each group with its rows by system."""
    groups = frame.groupby(by, sort=False)
    return [(names, {row["system"]: row for row in records(own)}) for names, own in groups]


def _failures(gaps: pd.DataFrame) -> list[Record]:
    known = gaps[(gaps["criterion"] == SCREENED) & gaps["median_gap"].notna()]
    known = known.assign(at_best=known["median_gap"] == 0, conditions=1)
    totals = ["at_best", "conditions", "exact_runs", "runs", "true_above", "seeds"]
    return records(known.groupby(["algorithm", "role"], sort=False)[totals].sum().reset_index())
