"""The document on the interpretations: sentences and tables that the findings fill in, figures and CSV files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from narxbench._io.csv import write_table
from narxbench._numerics.intervals import LEVEL
from narxbench._report.formats import listed
from narxbench._report.table import records
from narxbench._report.templating import rendered
from narxbench._studies.paper.claims import UPSO, VERDICTS, Claim
from narxbench._studies.paper.frames import UNDECIDED
from narxbench._studies.paper.interpretations.choice import criteria_of_choice
from narxbench._studies.paper.interpretations.figures import figures
from narxbench._studies.paper.interpretations.findings import AS_DESCRIBED, CLOSEST, FRAMES, TABLE, WITH_RESET, Findings
from narxbench._studies.paper.interpretations.nearness import COMPARED, FAR, JOINT, make_study
from narxbench._studies.paper.published import RUNS, Published
from narxbench._study.design_choices import DesignChoices

TEMPLATES = Path(__file__).parent / "templates"

Record = dict[str, Any]

# Verdict -> its words for one claim and for several.
_COUNTED = {
    VERDICTS[True]: ("holds", "hold"),
    UNDECIDED: ("is undecided", "are undecided"),
    VERDICTS[False]: ("fails", "fail"),
    VERDICTS[None]: ("cannot be judged", "cannot be judged"),
}
_EFFECTS = ["algorithm", "part", "design_choice", "option", "contradicts", "measure"]
_EFFECTS += ["median", "low", "high", "interval_low", "interval_high"]


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
    frames = {name: getattr(findings, name) for name in FRAMES}
    frames["effects"] = findings.effects[_EFFECTS]
    for name, frame in frames.items():
        files[f"interpretations/{name}.csv"] = write_table(frame.round(6))
    return files


def document(findings: Findings) -> str:
    """Return the document as Markdown."""
    return rendered("document.md.j2", _facts(findings), TEMPLATES)


def _facts(findings: Findings) -> Record:
    """Return the numbers, names and rows of the document."""
    study, tables = findings.study, findings.tables
    nearer = _nearer_options(findings)
    joint = findings.nearness[findings.nearness["algorithm"] == JOINT]
    far = tables[~tables["near"] & (tables["role"] == CLOSEST) & tables["own_deviance"].notna()]
    return {
        "study": study,
        "parts": _choices_by_part(study.choices),
        "seeds": _seeds_in_words(study.seeds),
        "screening": _seeds_in_words(study.screening),
        "algorithms": [_effects_in_numbers(findings, name) for name in COMPARED if study.texts(name)],
        "nearer": nearer,
        "unclear": _choices_without_clear_effect(findings.effects),
        "reset": findings.roles.get(WITH_RESET),
        "roles": records(joint),
        "closest": _closest(findings),
        "verdicts": _verdicts(findings.role_verdicts),
        "judged": [_near_tables(tables, role) for role in (AS_DESCRIBED, CLOSEST)],
        "known": bool(tables["own_deviance"].notna().all()),
        "far": _groups(far.sort_values("system", kind="stable"), ["algorithm", "system"]),
        "limit": FAR,
        "relations": _relations(findings.relations),
        "judged_roles": list(dict.fromkeys(findings.relations["role"])),
        "alpha": LEVEL,
        "runs": RUNS,
    }


def _seeds_in_words(seeds: Sequence[int]) -> str:
    """Return data seeds as text: consecutive ones by the first and the last."""
    first, *_, last = seeds[0], seeds[-1]
    if len(seeds) > 2 and last - first + 1 == len(seeds):
        return f"{first} to {last}"
    return listed(map(str, seeds))


def _choices_by_part(choices: DesignChoices) -> dict[str, list[str]]:
    """Return the names of the design choices by the part that they belong to."""
    parts: dict[str, list[str]] = {}
    for name, choice in choices.design_choices.items():
        parts.setdefault(choice.part, []).append(name)
    return parts


def _effects_in_numbers(findings: Findings, algorithm: str) -> Record:
    """Return how many interpretations and single options of an algorithm were run, and how many have a clear effect.

    ``nearer`` counts the design choices with an option that brings the algorithm clearly nearer.
    """
    changes = findings.changes_of_deviance(algorithm)
    is_nearer = changes["clear"] & (changes["median"] < 0)
    return {
        "algorithm": algorithm,
        "interpretations": len(findings.study.texts(algorithm)),
        "options": len(changes),
        "clear_options": int(changes["clear"].sum()),
        "nearer": changes.loc[is_nearer, "design_choice"].nunique(),
    }


def _nearer_options(findings: Findings) -> list[Record]:
    """Return the options that bring an algorithm clearly nearer, the best of each design choice, and their changes."""
    texts: dict[str, None] = {}
    changes_of: dict[tuple[str, str], Record] = {}
    for algorithm in COMPARED:
        changes = findings.changes_of_deviance(algorithm)
        nearer = changes[changes["clear"] & (changes["median"] < 0)]
        texts.update(dict.fromkeys(nearer.drop_duplicates("design_choice")["interpretation"]))
        for row in records(changes):
            changes_of[row["interpretation"], algorithm] = row
    rows = []
    for text in texts:
        changes_by_algorithm = [changes_of.get((text, algorithm)) for algorithm in COMPARED]
        contradicts = bool(findings.study.contradictions(text))
        rows.append({"words": findings.study.words(text), "contradicts": contradicts, "changes": changes_by_algorithm})
    return rows


def _choices_without_clear_effect(effects: pd.DataFrame) -> list[str]:
    """Return the design choices of which no option changes the deviance of any algorithm clearly."""
    of_deviance = effects[effects["measure"] == "deviance"]
    is_clear = of_deviance.groupby("design_choice")["clear"].any()
    return list(is_clear.index[~is_clear])


def _closest(findings: Findings) -> Record:
    """Return the closest interpretation and its ``candidates``. ``unseen`` counts the data seeds that only judge it.

    ``consistent`` is the best candidate that contradicts no statement, if the closest contradicts one.
    """
    study, pairs = findings.study, findings.finalists
    # Each interpretation of 2D-UPSO once, with the GA that suits it best.
    texts = pd.Series([study.pair(text)[UPSO] for text in pairs["interpretation"]], pairs.index, dtype=object)
    best = records(pairs[~texts.duplicated()])
    joint = findings.nearness[(findings.nearness["role"] == CLOSEST) & (findings.nearness["algorithm"] == JOINT)]
    consistent = pairs[pairs["contradicts"] == ""].head(1)
    return {
        **best[0],
        "options": [f"{name}={option}" for name, option in study.chosen(best[0]["interpretation"]).items()],
        "candidates": best,
        "criteria": len(criteria_of_choice(study)),
        "unseen": int(joint["seeds"].max()) - len(study.screening),
        "consistent": records(consistent) if best[0]["contradicts"] else [],
    }


def _verdicts(role_verdicts: pd.DataFrame) -> dict[str, str]:
    """Return for each role how many claims have each verdict, as words."""
    words = {}
    for role, rows in role_verdicts.groupby("role", sort=False):
        counts = rows["verdict"].value_counts()
        texts = []
        for verdict, (singular, plural) in _COUNTED.items():
            number = counts.get(verdict, 0)
            if number:
                texts.append(f"{number} {singular if number == 1 else plural}")
        words[str(role)] = listed(texts)
    return words


def _near_tables(tables: pd.DataFrame, role: str) -> Record:
    """Return how many tables are near in a role, of how many."""
    of_role = tables[tables["role"] == role]
    return {"near": int(of_role["near"].sum()), "tables": len(of_role), "seeds": int(of_role["seeds"].max())}


def _relations(relations: pd.DataFrame) -> list[tuple[Record, list[dict[str, Record]]]]:
    """Return algorithm, criterion and system of each published table with its exact relations, each by role."""
    tables = []
    for rows in _groups(relations, TABLE):
        by_terms: dict[tuple[str, ...], dict[str, Record]] = {}
        for row in rows:
            by_terms.setdefault((row["relation"], *row["terms"]), {})[row["role"]] = row
        tables.append((rows[0], list(by_terms.values())))
    return tables


def _groups(frame: pd.DataFrame, names: list[str]) -> list[list[Record]]:
    """Return the rows of a frame in groups with the same values in some columns."""
    return [records(rows) for _, rows in frame.groupby(names, sort=False)]
