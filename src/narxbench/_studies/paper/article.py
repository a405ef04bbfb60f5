"""The replication report: the text of a LaTeX article whose numbers, tables and verdicts follow from the results."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from narxbench._report.formats import count, criterion_name, listed, method_name, significant, snr
from narxbench._report.table import Column, Table, columns
from narxbench._report.templating import rendered
from narxbench._studies.paper import answer, facsimile
from narxbench._studies.paper.agreement import compare
from narxbench._studies.paper.claims import GA, UPSO
from narxbench._studies.paper.frames import rows_at
from narxbench._studies.paper.identities import TABLE, identities
from narxbench._studies.paper.interpretations.findings import AS_DESCRIBED, CLOSEST
from narxbench._studies.paper.interpretations.nearness import FAR, JOINT
from narxbench._studies.paper.published import published_count
from narxbench._studies.paper.site import Material
from narxbench._studies.paper.tables import shared_criterion
from narxbench._study.design_choices import contradictions, interpretation_text, interpretation_words
from narxbench._study.table_files import to_latex

TEMPLATES = Path(__file__).parent / "templates"
# The figures of the article, by the name of their files.
FIGURES = ("figure_1.pdf", "figure_2.pdf")
# The design choice that the sums of published counts speak of.
_CONSTRAINT = "required-terms"


def article(material: Material, kept: pd.DataFrame, version: str) -> str:
    """Return the LaTeX text of the article.

    ``kept`` is the frame of the conditions of all interpretations, ``version`` that of this software.
    """
    frames, settings = material.frames, material.settings
    values = facsimile.values_by_condition(frames["values"])
    distances = frames["by_table"]
    facts = {
        "version": version,
        "settings": settings,
        "runs": len(settings["seeds"]),
        "systems": listed(settings["systems"]),
        "snrs": listed(map(snr, settings["snr_db"])),
        "figure_snr": snr(settings["figures"]["snr_db"]),
        "n_values": len(material.published.once),
        "n_claims": len(material.claims),
        "n_choices": len(material.choices.design_choices),
        "n_interpretations": kept["interpretation"].nunique(),
        "n_runs": count(kept["runs"].sum()),
        "data_sets": kept["data_seed"].nunique(),
        "holds": answer.claims_hold(frames["role_verdicts"]),
        "near": answer.values_near(frames["nearness"], frames["by_table"]),
        "use": answer.use_of_the_swarm(frames["found"], frames["role_verdicts"]),
        "why": answer.why(frames["causes"], frames["effects_overview"], material.choices),
        "closest": _closest(material, values),
        "claims": _claims(material),
        "final": _final_structures_in_words(material),
        "sums": list(_sums(material)),
        "constrained": _constrained(material, kept, values),
        "far": FAR,
        "open": list(_open_tables(distances)),
        "n_tables": len(distances[distances["role"] == CLOSEST]),
        "tables": _tables(material),
        "nearness": _nearness_table(frames["nearness"]),
        "recovery": _recovery_table(frames["found"]),
    }
    text = rendered("article.tex.j2", {**facts, "to_latex": to_latex}, TEMPLATES)
    # A number stays on the line of its sign.
    return text.replace(r" \%", r"~\%")


def references(material: Material, literature: str) -> str:
    """Return the paper, this software and the other literature as BibTeX, in entries that IEEEtran's style prints."""
    citation = material.texts["citation"].replace("@software", "@misc")
    printed = re.sub(r"eprint = {([^}]*)},", r"howpublished = {arXiv:\1},", citation)
    return f"{printed}\n{literature}"


# Tables that are not explained.


def _open_tables(distances: pd.DataFrame) -> Iterator[str]:
    """Yield the tables that the closest interpretation does not explain, each with its deviance and its yardstick."""
    of_closest = distances[distances["role"] == CLOSEST]
    for row in of_closest.itertuples(index=False):
        if row.deviance > FAR * row.own_deviance:
            name = f"{row.system}, {method_name(row.algorithm)} under {criterion_name(row.criterion)}"
            yield f"{name}: {count(row.deviance)} against {count(row.own_deviance)}"


# Facts in words.


def _closest(material: Material, values: facsimile.Values) -> dict[str, str]:
    """Return the closest interpretation in words, and the explicit statements that it contradicts."""
    chosen = facsimile.chosen_options(values.interpretations.get(CLOSEST, {}), material.choices)
    contradicted = contradictions(material.choices, chosen)
    return {"words": interpretation_words(material.choices, chosen), "contradicted": "; ".join(contradicted)}


def _claims(material: Material) -> list[dict[str, Any]]:
    """Return the claims with their verdicts in the published values, as described and by the closest."""
    overview = material.frames["claim_overview"].set_index("claim")
    verdicts = material.frames["role_verdicts"].set_index(["claim", "role"])
    rows = []
    for claim in material.claims:
        row = {"title": claim.title, "source": claim.source, "published": overview.loc[claim.id, "published"]}
        for name, role in (("described", AS_DESCRIBED), ("closest", CLOSEST)):
            verdict = verdicts.loc[(claim.id, role)]
            row[name] = verdict["verdict"]
            row[f"{name}_places"] = f"{verdict['held']} of {verdict['places']}" if verdict["places"] else ""
        rows.append(row)
    return rows


def _final_structures_in_words(material: Material) -> str:
    """Return how many final structures of each method are exactly the system's terms."""
    metrics, criterion = material.frames["metrics"], shared_criterion(material.settings)
    parts = []
    for method, rows in metrics[metrics["criterion"] == criterion].groupby("method", sort=False):
        exact = int((rows["final_is_exact"] == True).sum())  # noqa: E712 - the column may have missing values
        parts.append(f"{exact} of {len(rows)} by {method_name(str(method))}")
    return listed(parts)


def _sums(material: Material) -> Iterator[dict[str, str]]:
    """Yield the tables in which the published counts of a kind of terms add up to the number of runs."""
    relations = identities(material.published)
    for relation in relations[relations["relation"] == "sum"].itertuples(index=False):
        sums = []
        for snr_db in relation.snr_db:
            counts = _published_counts(material, relation, snr_db)
            sums.append(f"{' + '.join(map(str, counts))} at {snr(snr_db)}")
        yield {
            "system": relation.system,
            "criterion": criterion_name(relation.criterion),
            "terms": listed(relation.terms),
            "sums": listed(sums),
            "chance": significant(relation.chance, 1),
        }


def _published_counts(material: Material, relation: Any, snr_db: float) -> list[int]:
    """Return the published counts of the terms of a relation at one SNR."""
    place = {**_table_of(relation), "metric": "nu", "snr_db": snr_db}
    by_label = rows_at(material.published.once, place).set_index("label")["published"]
    return [published_count(by_label[label]) for label in relation.terms]


def _table_of(relation: Any) -> dict[str, str]:
    """Return the published table that a relation is of, as values of columns."""
    return {column: getattr(relation, column) for column in TABLE}


def _constrained(material: Material, kept: pd.DataFrame, values: facsimile.Values) -> list[dict[str, Any]]:
    """Return how near interpretations come to the first table with such sums, and the sums of their own counts.

    They are as described, the closest, and those with a name and the constraint that were run there.
    """
    relations = identities(material.published)
    sums = relations[relations["relation"] == "sum"]
    if sums.empty:
        return []
    relation = next(sums.itertuples(index=False))
    texts = {role: by_algorithm[UPSO] for role, by_algorithm in values.interpretations.items()}
    for name, chosen in material.choices.named.items():
        text = interpretation_text(material.choices, chosen, UPSO)
        if _CONSTRAINT in chosen and text not in texts.values():
            texts[name.replace("-", " ")] = text
    rows = []
    for name, text in texts.items():
        conditions = rows_at(kept, {**_table_of(relation), "interpretation": text})
        if len(conditions):
            is_constrained = f"{_CONSTRAINT}=" in text
            rows.append({"name": name, "is_constrained": is_constrained, **_sums_of(conditions, relation, material)})
    return rows


def _sums_of(conditions: pd.DataFrame, relation: Any, material: Material) -> dict[str, str]:
    """Return the distance of some conditions from their published table, and the range of their sums of counts."""
    compared = compare(conditions, material.published.once)
    deviances = compared.groupby("data_seed")["deviance"].sum()
    places = [int(label[1:]) - 1 for label in relation.terms]
    sums = []
    for counts in conditions["nu"]:
        sums.append(sum(counts[place] for place in places))
    low, high = min(sums), max(sums)
    return {
        "data_sets": str(len(deviances)),
        "deviance": count(deviances.median()),
        "sums": str(low) if low == high else f"{low} to {high}",
    }


# Tables.


def _tables(material: Material) -> dict[str, Table]:
    """Return the facsimile and the final structures, by name."""
    tables = facsimile.facsimile_tables(
        material.frames["values"],
        material.summaries,
        material.settings,
        material.systems,
        material.published,
        material.choices,
    )
    shown = {}
    for name, table in tables.items():
        # The text says once what the notes of each table repeat.
        is_repeated = name in facsimile.FITNESS_TABLES or name == "table_7"
        shown[name] = replace(table, notes=table.notes[1:2]) if is_repeated else table
    return shown


def _nearness_table(nearness: pd.DataFrame) -> Table:
    """Return how near as described and the closest are to the published values."""
    head = (
        *columns("text", role="Interpretation", criteria="Criteria", algorithm="Of"),
        *columns("number", seeds="Data sets", values="Values"),
        *columns("count", deviance="Deviance", own_deviance="Yardstick"),
        Column("different", "Different", kind="count"),
        Column("p_value", "p", kind="p_value"),
    )
    shown = nearness[nearness["role"].isin([AS_DESCRIBED, CLOSEST])].reset_index(drop=True)
    names = {JOINT: "both", UPSO: method_name(UPSO), GA: method_name(GA)}
    shown = shown.assign(
        criteria=[name if name == "all" else criterion_name(name) for name in shown["criteria"]],
        algorithm=shown["algorithm"].map(names),
    )
    caption = "Distance from the published values, medians over the data sets"
    return Table("nearness", caption, head, shown, row_headers=2, merged=2)


def _recovery_table(searches: pd.DataFrame) -> Table:
    """Return the share of the runs of each search that end at exactly the system terms, by system."""
    systems = list(dict.fromkeys(searches["system"]))
    shares = searches.pivot(index="label", columns="system", values="rate").loc[list(dict.fromkeys(searches["label"]))]
    head = (Column("label", "Search"), *columns("frequency", "System", **{name: name for name in systems}))
    caption = "Share of the runs under BIC that end at exactly the system terms, on data as described"
    return Table("searches", caption, head, shares.reset_index())
