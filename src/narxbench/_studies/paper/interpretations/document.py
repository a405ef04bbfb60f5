"""The document on the interpretations: tables, sentences that the numbers choose, figures and CSV files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from narxbench._io.csv import write_table
from narxbench._report.table import records
from narxbench._report.templating import rendered
from narxbench._studies.paper.claims import UPSO, VERDICTS, Claim
from narxbench._studies.paper.frames import UNDECIDED
from narxbench._studies.paper.interpretations.figures import figures
from narxbench._studies.paper.interpretations.findings import (
    AS_DESCRIBED,
    CLOSEST,
    INPUT,
    REFERENCE,
    STRONG_GA,
    Findings,
)
from narxbench._studies.paper.interpretations.nearness import (
    COMPARED,
    FAR,
    JOINT,
    SCREENED,
    Pair,
    make_study,
    near_tables,
)
from narxbench._studies.paper.published import Published
from narxbench._study.design_choices import BASELINE, DesignChoices
from narxbench._study.significance import ALPHA

TEMPLATES = Path(__file__).parent / "templates"

COUNTED = {
    VERDICTS[True]: "hold",
    UNDECIDED: "are undecided",
    VERDICTS[False]: "fail",
    VERDICTS[None]: "cannot be judged",
}
GROUPS = ("all", "none", "some", "unjudged")
SHOWN = 10  # rows of a ranking and of a table of effects; files have all
ENOUGH = 0.25  # an option that takes away this share of the deviance is a possible cause

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
    files: dict[str, str | bytes] = {"interpretations.md": document(findings)}
    for name, content in figures(findings).items():
        files[f"interpretations/{name}.svg"] = content
    for name, frame in _frames(findings).items():
        files[f"interpretations/{name}.csv"] = write_table(frame.round(6))
    return files


def _frames(findings: Findings) -> dict[str, pd.DataFrame]:
    """Return the findings that are stored as CSV, by name."""
    columns = ["algorithm", "interpretation", "names", "contradicts"]
    ranked = pd.concat(findings.rankings[name].assign(algorithm=name)[columns] for name in COMPARED)
    effects = ["algorithm", "part", "design_choice", "option", "contradicts", "measure"]
    effects += ["median", "low", "high", "interval_low", "interval_high"]
    return {
        "nearness": findings.nearness,
        "by_system": findings.by_system,
        "by_table": findings.by_table,
        "claim_overview": findings.claims,
        "role_verdicts": findings.role_verdicts,
        "found": findings.structures_found,
        "effects_overview": findings.effects_overview,
        "deviances": ranked.merge(findings.deviances),
        "effects": findings.effects[effects],
        "claims": findings.verdicts[["claim", *COMPARED, "verdict"]],
        "contests": findings.contests,
        "finalists": findings.finalists,
        "identities": _identities_as_text(findings.identities),
        "gaps": findings.gaps,
        "values": findings.side_by_side,
    }


def document(findings: Findings) -> str:
    """Return the document as Markdown."""
    return rendered("document.md.j2", _facts(findings) | _tables(findings), TEMPLATES)


def _facts(findings: Findings) -> Record:
    """Return the numbers and names behind the sentences of the document."""
    algorithms = [_nearness_facts(findings, name) for name in COMPARED if len(findings.rankings[name])]
    enough = -ENOUGH * algorithms[0]["described"]["deviance"]
    strong = [row for row in records(findings.closer) if row["change"] <= enough]
    groups = findings.claims["group"].value_counts().reindex(GROUPS, fill_value=0)
    return {
        "alpha": ALPHA,
        "counted": COUNTED,
        "enough": ENOUGH,
        "study": findings.study,
        "tried_choices": _tried_choices(findings),
        "far": FAR,
        "standing": {role: _standing(findings, role) for role in (AS_DESCRIBED, CLOSEST)},
        "algorithms": algorithms,
        "strong": strong,
        "slower": [row for row in strong if (row["worse"] or 0) > 0.5],
        "verdict_counts": _verdict_counts(findings.claims["as_described"]),
        "groups": groups.to_dict(),
        "searches": _searches(findings.structures_found),
        **_facts_on_closest(findings),
        **_facts_on_ties(findings),
    }


def _best_pairs(findings: Findings) -> pd.DataFrame:
    """Return a row for each interpretation of 2D-UPSO among the finalists, with the GA that suits it best."""
    pairs = findings.finalists.drop_duplicates("interpretation")
    texts = [findings.study.pair(text).upso2d for text in pairs["interpretation"]]
    return pairs[~pd.Series(texts, pairs.index, dtype=object).duplicated()]


def _identities_as_text(identities: pd.DataFrame) -> pd.DataFrame:
    """Return the identities with labels and SNRs as text."""
    if identities.empty:
        return identities
    terms = identities["terms"].map(" ".join)
    snrs = identities["snr_db"].map(lambda values: " ".join(f"{value:g}" for value in values))
    return identities.assign(terms=terms, snr_db=snrs)


def _standing(findings: Findings, role: str) -> Record:
    """Return how many tables are near in a role, which are not, and how far out the paper lies on the systems."""
    tables, ranks = findings.by_table, findings.by_system
    tables = tables[tables["role"] == role]
    is_far = ~near_tables(tables) & tables["own_deviance"].notna()
    joint = findings.nearness[(findings.nearness["role"] == role) & (findings.nearness["algorithm"] == JOINT)]
    (widest,) = records(joint.loc[[joint["values"].idxmax()]])
    ranks = ranks[(ranks["role"] == role) & (ranks["criteria"] == widest["criteria"])]
    return {
        "tables": len(tables),
        "near": int(near_tables(tables).sum()),
        "known": bool(tables["own_deviance"].notna().all()),
        "left": records(tables[is_far].sort_values(["system", "algorithm"], ascending=[True, False], kind="stable")),
        "seeds": int(ranks["seeds"].max()),
        "test": widest,
        "farthest": [system for system in widest["farthest"].split(", ") if system],
        "ranks": records(ranks),
    }


def _tried_choices(findings: Findings) -> int:
    """Return how many design choices have an option, other than the first, in any condition."""
    names: set[str] = set()
    for text in findings.study.conditions["interpretation"].unique():
        names |= findings.study.chosen(text).keys()
    return len(names)


def _facts_on_closest(findings: Findings) -> Record:
    """Return how near the interpretations as described and the closest are, of both algorithms together."""
    joint, ranking = findings.nearness[findings.nearness["algorithm"] == JOINT], findings.rankings[JOINT]
    screened = joint[joint["criteria"] == SCREENED]
    (closest,) = records(screened[screened["role"] == CLOSEST])
    in_final = _best_pairs(findings)
    # The nearest interpretation that contradicts no statement, if the nearest of all contradicts one.
    consistent = ranking[ranking["contradicts"] == ""].head(int(ranking["contradicts"].iloc[0] != ""))
    return {
        "closest": closest,
        "contradicted": findings.study.contradictions(closest["interpretation"]),
        "in_sample": (ranking if in_final.empty else in_final)["deviance"].iloc[0],
        "judged_on": closest["seeds"] - len(findings.study.screening),
        "consistent": records(consistent),
        "pairs": len(ranking),
        "finalists": records(in_final),
    }


def _facts_on_ties(findings: Findings) -> Record:
    """Return the share of their effect that bounds, and other options, keep when ties are in random order."""
    ties = findings.ties[findings.ties["change"] < 0]
    ties = ties.assign(kept=(ties["change_random"] / ties["change"]).clip(lower=0))
    is_bound, ranking = ties["interpretation"].str.contains(_BOUND), findings.rankings[UPSO]
    return {
        "bounds": records(ties[is_bound]),
        "others": records(ties[~is_bound]),
        "stable": bool(is_bound.any()) and bool((ties.loc[is_bound, "kept"] < 0.5).all()),
        "one_row": records(ranking[ranking["interpretation"].str.fullmatch(_ONE_ROW)]),
    }


def _verdict_counts(verdicts: pd.Series) -> dict[str, int]:
    """Return the number of claims with each verdict that any claim has."""
    counts = verdicts.value_counts()
    return {word: int(counts[word]) for word in COUNTED if word in counts}


def _searches(structures_found: pd.DataFrame) -> list[Record]:
    """Return how many runs of each search end at the true structure, the largest share first."""
    searches = structures_found.groupby(["label", "algorithm"], sort=False)[["exact", "runs"]].sum().reset_index()
    order = (searches["exact"] / searches["runs"]).sort_values(ascending=False, kind="stable").index
    return records(searches.loc[order])


def _nearness_facts(findings: Findings, algorithm: str) -> Record:
    """Return how near an algorithm is to its published values as described and at its closest, and its options."""
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
    contests = _shown_contests(findings.contests, findings.roles)
    held = {}
    for row in records(findings.role_verdicts):
        held[row["claim"], row["role"]] = f"{row['holds']} / {row['undecided']} / {row['fails']}"
    return {
        "roles": records(findings.nearness[findings.nearness["algorithm"] == JOINT]),
        "effects": [(name, *_largest(findings.effects, name)) for name in COMPARED],
        "closer": records(findings.closer),
        "ties": records(findings.ties),
        "rankings": [(name, *_ranking(findings, name)) for name in (JOINT, *COMPARED)],
        "inputs": _inputs(findings.inputs),
        "by_system": records(findings.by_system),
        "judged_roles": list(dict.fromkeys(findings.by_table["role"])),
        "by_table": _by_role(findings.by_table),
        "systems_of_finalists": list(dict.fromkeys(findings.finalists["system"])),
        "deviances_of_finalists": findings.finalists.set_index(["interpretation", "system"])[
            "system_deviance"
        ].to_dict(),
        "identities": _identities(findings.identities),
        "roles_of": _roles_of(findings),
        "role_names": list(findings.roles),
        "verdicts": findings.role_verdicts.set_index(["claim", "role"])["verdict"].to_dict(),
        "held": held,
        "claims": [row | {"reversed": _reversing(findings, row)} for row in records(findings.claims)],
        "systems": list(dict.fromkeys(findings.structures_found["system"])),
        "structures_found": _by_system(findings.structures_found, ["label"]),
        "contests": _by_system(contests, ["role", "rival", "interpretation"]),
        "criteria": records(findings.criteria),
        "failures": _failures(findings.gaps),
    }


def _shown_contests(contests: pd.DataFrame, roles: Mapping[str, Pair]) -> pd.DataFrame:
    """Return the contests with the rivals that matter: another search, a strong GA, GA as described and in the role."""
    of_role = contests["role"].map({role: pair.ga for role, pair in roles.items()})
    matters = contests["interpretation"].isin([STRONG_GA, BASELINE]) | (contests["interpretation"] == of_role)
    return contests[(contests["rival"] == REFERENCE) | matters]


def _largest(effects: pd.DataFrame, algorithm: str) -> tuple[list[Record], int]:
    """Return the single options that change the deviance most, with all their changes, and how many there are."""
    changes = effects[effects["algorithm"] == algorithm]
    medians = changes.pivot(index="interpretation", columns="measure", values="median")
    biases = medians.drop(columns="deviance", errors="ignore")
    rows = changes[changes["measure"] == "deviance"].join(biases, on="interpretation")
    return records(rows.head(SHOWN)), len(rows)


def _ranking(findings: Findings, name: str) -> tuple[list[Record], int]:
    """Return the first places of a ranking and the interpretations in a role, and how many there are."""
    ranked, study = findings.rankings[name], findings.study
    in_role = []
    for pair in findings.roles.values():
        in_role.append(study.joined(*pair) if name == JOINT else pair[COMPARED.index(name)])
    return records(ranked[(ranked["place"] <= SHOWN) | ranked["interpretation"].isin(in_role)]), len(ranked)


def _inputs(inputs: pd.DataFrame) -> list[Record]:
    """Return for each role the deviances of its inputs by system, and the input of each system with the smallest."""
    rows = []
    for role, of_role in inputs.groupby("role", sort=False):
        table = of_role.pivot(index=INPUT, columns="system", values="deviance").loc[of_role[INPUT].unique()]
        totals = table.assign(all=table.sum(axis=1)).to_dict("index")
        best = table.min().to_dict() | {"all": table.min().sum()}
        rows.append({"role": role, "inputs": totals, "best": best, "nearest": table.idxmin().to_dict()})
    return rows


def _reversing(findings: Findings, claim: Record) -> list[str]:
    """Return the single options whose verdict is the opposite of the one as described."""
    opposite = {VERDICTS[True]: VERDICTS[False], VERDICTS[False]: VERDICTS[True]}.get(claim["as_described"])
    verdicts = findings.option_verdicts
    is_opposite = (verdicts["claim"] == claim["claim"]) & (verdicts["verdict"] == opposite)
    return list(verdicts.loc[is_opposite, "option"])


def _by_system(frame: pd.DataFrame, by: list[str]) -> list[tuple[Any, dict[str, Record]]]:
    """Return the names of each group with its rows by system."""
    groups = []
    for names, rows in frame.groupby(by, sort=False):
        groups.append((names, {row["system"]: row for row in records(rows)}))
    return groups


def _by_role(by_table: pd.DataFrame) -> list[tuple[Any, dict[str, Record]]]:
    """Return algorithm, criterion and system of each table with its rows by role."""
    groups = []
    for names, rows in by_table.groupby(["algorithm", "criterion", "system"], sort=False):
        groups.append((names, {row["role"]: row for row in records(rows)}))
    return groups


def _identities(identities: pd.DataFrame) -> list[tuple[Record, dict[str, Record]]]:
    """Return each telling identity of the published counts with its rows by interpretation."""
    groups = []
    if not identities.empty:
        for _, rows in identities.groupby(["system", "algorithm", "criterion", "relation", "terms"], sort=False):
            by_text = {row["interpretation"]: row for row in records(rows)}
            groups.append((next(iter(by_text.values())), by_text))
    return groups


def _roles_of(findings: Findings) -> dict[str, str]:
    """Return the roles and names of the judged interpretations by their texts."""
    roles: dict[str, list[str]] = {}
    for text, role in findings.by_table[["interpretation", "role"]].drop_duplicates().itertuples(index=False):
        roles.setdefault(text, []).append(role)
    return {text: ", ".join(names) for text, names in roles.items()}


def _failures(gaps: pd.DataFrame) -> list[Record]:
    """Return how often each search and the criterion fail, under the criterion of the screening."""
    screened = gaps[(gaps["criterion"] == SCREENED) & gaps["median_gap"].notna()]
    screened = screened.assign(at_best=screened["median_gap"] == 0, conditions=1)
    totals = ["at_best", "conditions", "exact_runs", "runs", "true_above", "seeds"]
    return records(screened.groupby(["algorithm", "role"], sort=False)[totals].sum().reset_index())
