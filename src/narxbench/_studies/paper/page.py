"""The pages of a study; here the main one: the answer first, then claims, methods, the paper's tables and figures."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from narxbench._io.csv import TEXT, read_table
from narxbench._io.files import read_text
from narxbench._io.yaml import read_mapping
from narxbench._model.system import System, load_system
from narxbench._report.formats import count, criterion_name, listed, method_name, snr
from narxbench._report.markup import inline_svg, markdown_headings, markdown_html, markdown_sections, read_svg
from narxbench._report.table import to_html
from narxbench._studies.methods.answer import leading_method
from narxbench._studies.methods.frames import read_frame as read_comparison
from narxbench._studies.paper import answer
from narxbench._studies.paper.causes import causes, misleading
from narxbench._studies.paper.claims import UPSO, VERDICTS, Claim, load_claims
from narxbench._studies.paper.facsimile_page import facsimile_page
from narxbench._studies.paper.frames import UNDECIDED, load_summaries, read_frame, read_frames
from narxbench._studies.paper.interpretations.findings import CLOSEST, FRAMES
from narxbench._studies.paper.interpretations.nearness import COMPARED
from narxbench._studies.paper.method_page import method_page
from narxbench._studies.paper.provenance_page import provenance_page
from narxbench._studies.paper.published import EVALUATIONS, RUNS, VALUE, load_published
from narxbench._studies.paper.site import MAIN, Material, Site
from narxbench._studies.paper.tables import CONDITION, claim_verdicts, in_order, paper_tables, shared_criterion
from narxbench._studies.paper.words import explained, glossary
from narxbench._study.design_choices import DesignChoices, load_design_choices
from narxbench._study.frames import Frames

# The verdicts in the order of the page, each with its CSS class and sign.
_SIGNS = {
    VERDICTS[True]: ("yes", "✓"),
    UNDECIDED: ("open", "≈"),
    VERDICTS[False]: ("no", "✗"),
    VERDICTS[None]: ("open", "?"),
}
_TEXTS = ("errata", "method", "citation", "answer", "document", "words")
# The words that the first screen explains, in this order.
WORDS = ("J", "ν", "r", "ν_max", "deviance", "interpretation", "data set")
HOVER = (*WORDS, "as described", "closest", "SNR", "GA", "2D-UPSO")
# The figures of the main page, and their names in the material.
_FIGURES = {
    "scatter": "interpretations/published_reproduced.svg",
    "reached": "ecdf",
    "convergence": "convergence",
    "term_frequency": "term_frequency",
}


def study_pages(
    files: Mapping[str, Any], settings: Mapping[str, Any], *, above: bool, document_only: bool
) -> dict[str, str]:
    """Return the pages of a study by the names of their files.

    ``files`` has paths by name, as ``page_files`` of the study's plan returns them; ``above`` says whether the main
    page stands next to the study's folder and not in it; with ``document_only`` there is the document on the
    interpretations alone.
    """
    repository = read_mapping(files["about"]).get("repository-code", "")
    figures = {f"{path.parent.name}/{path.name}": read_svg(path) for path in map(Path, files["document_figures"])}
    if document_only:
        site = Site(settings["study"], pages={"interpretations": "report.html"}, repository=repository)
        return {"report.html": interpretations_page(site, read_text(files["document"]), figures)}
    site = Site(settings["study"], above, repository=repository)
    return pages(read_material(files, settings, site, figures))


def read_material(
    files: Mapping[str, Any], settings: Mapping[str, Any], site: Site, document_figures: Mapping[str, str]
) -> Material:
    """Return the material of the pages of a study with tables, figures and claims, from its files by name."""
    figures = dict(document_figures)
    frames, choices = read_frames(files), load_design_choices(files["choices"])
    of_other_studies = _of_other_studies(files, frames, choices)
    for name, frame in frames.items():
        if name not in (*FRAMES, "values"):  # those of a study of interpretations have an order of their own
            frames[name] = in_order(frame, settings)
    for path in map(Path, (*files["svg"], files["reached"])):
        figures[path.stem] = read_svg(path)
    return Material(
        site=site,
        settings=settings,
        frames=frames | of_other_studies,
        summaries=load_summaries(files["summaries"]),
        systems=[load_system(Path(path).stem) for path in files["system_files"]],
        figures=figures,
        claims=load_claims(files["claim_texts"]),
        texts={name: read_text(files[name]) for name in _TEXTS},
        choices=choices,
        published=load_published(files["published"], files["system_terms"]),
    )


def _of_other_studies(files: Mapping[str, Any], frames: Frames, choices: DesignChoices) -> dict[str, pd.DataFrame]:
    """Return the frames on causes and systems, from the kept results of the studies of interpretations and methods."""
    kept, nearness = read_frame("conditions", files["interpretations"]), frames["nearness"]
    closest = nearness[(nearness["role"] == CLOSEST) & nearness["algorithm"].isin(COMPARED)]
    texts = dict(zip(closest["algorithm"], closest["interpretation"], strict=True))
    searches = frames["found"][["algorithm", "interpretation"]].drop_duplicates()
    published = load_published(files["published"], files["system_terms"])
    return {
        "causes": causes(kept, published, choices, texts),
        "misled": misleading(kept[kept["criterion"] == "bic"].merge(searches)),
        "scored": read_comparison("systems", files["scored"]),
        "compared": read_table(files["compared"], {"name": TEXT, "value": TEXT}),
    }


def pages(material: Material) -> dict[str, str]:
    """Return all pages of a study by the names of their files."""
    site, study = material.site, material.settings["study"]
    tables = paper_tables(material.frames, material.settings, material.systems, material.claims)

    def tables_as_html(page: str) -> dict[str, Markup]:
        folder = site.folder(page)
        return {name: to_html(table, study=study, folder=folder) for name, table in tables.items()}

    tables_html = tables_as_html("statistics")
    return {
        site.pages[MAIN]: main_page(material, tables_as_html(MAIN)),
        site.pages["facsimile"]: facsimile_page(material),
        site.pages["interpretations"]: interpretations_page(site, material.texts["document"], material.figures),
        site.pages["statistics"]: site.page("statistics", {"tables": tables_html}),
        site.pages["method"]: method_page(material, tables_html),
        site.pages["provenance"]: provenance_page(material),
    }


def interpretations_page(site: Site, document: str, figures: Mapping[str, str]) -> str:
    """Return the page of the document on the interpretations, with its ``figures`` by their paths in the document."""
    values = {
        "heading": document.split("\n", 1)[0].removeprefix("# "),
        "sections": markdown_headings(document, "text"),
        "body": markdown_html(document, "text", figures, deeper=0, files="interpretations/"),
    }
    return site.page("interpretations", values)


def main_page(material: Material, tables: Mapping[str, Markup]) -> str:
    """Return the main page, which names missing conditions of the study and counts missing published values.

    Where no value of the study is compared with a published one, the page speaks of the study alone.
    """
    settings, frames = material.settings, material.frames
    metrics, values, criterion = frames["metrics"], frames["agreement_values"], shared_criterion(settings)
    compared, words = values[values["method"] != ""], glossary(material.texts["words"])
    once = values.drop_duplicates(VALUE)
    board = answer.board_of_study(frames["recovery"], criterion, criterion_name(criterion))
    # The J of all runs of a condition can be compared where they saw the same data.
    comparable = metrics[(metrics["criterion"] == criterion) & (settings["data"]["realisation"] == "shared")]
    page = {
        "settings": settings,
        "about_paper": not compared.empty,
        "methods": listed(map(method_name, settings["methods"])),
        "published": {"runs": RUNS, "evaluations": EVALUATIONS},
        "missing": missing_conditions(settings, metrics),
        "coverage": {"published": len(once), "missing": int((once["method"] == "").sum())},
        "unpublished": list(dict.fromkeys(metrics["system"][~metrics["system"].isin(compared["system"])])),
        "data": answer.data_shown(settings, material.systems),
        "use_in_short": markdown_html(answer.in_short(material.texts["answer"].removeprefix("- ")), "use"),
        "use": markdown_html(material.texts["answer"], "use"),
        "study_board": board,
        "best": answer.best_of(board),
        "misled_here": answer.where_j_misleads(misleading(comparable)) if len(comparable) else "",
        "explained": lambda html: explained(html, {word: words[word] for word in HOVER}),
        "words": [(word, words[word].split(". ")[0]) for word in WORDS],
        "panels": _panels(material),
        "tables": tables,
        "figures": _inline_figures(material.figures),
        "citation": material.texts["citation"].strip().split("\n\n"),
    }
    if len(compared):
        page |= _on_paper(material)
    return material.site.page(MAIN, page)


def _panels(material: Material) -> list[tuple[System, list[str]]]:
    """Return the systems, each with the names of its tables."""
    panels = []
    for system in material.systems:
        panels.append((system, [f"{kind}_{system.name}" for kind in _kinds(material.settings)]))
    return panels


def _inline_figures(figures: Mapping[str, str]) -> dict[str, Markup]:
    """Return the figures of the main page that the material has."""
    inline = {}
    for name, path in _FIGURES.items():
        if figures.get(path):
            inline[name] = inline_svg(figures[path], name)
    return inline


def _on_paper(material: Material) -> dict[str, Any]:
    """Return the values of the page on the paper: from the study of interpretations, and its errata."""
    frames, texts = material.frames, material.texts
    searches = frames["found"]
    kept = dict(frames["compared"].itertuples(index=False, name=None))
    method = leading_method(texts["answer"]) or UPSO
    return {
        "holds": answer.claims_hold(frames["role_verdicts"]),
        "near": answer.values_near(frames["nearness"], frames["by_table"]),
        "by_system": _widest_by_system(frames["by_system"]),
        "why": answer.why(frames["causes"], frames["effects_overview"], material.choices),
        "board": answer.board_of_searches(searches),
        "misled": answer.where_j_misleads(frames["misled"]),
        "of_methods": answer.on_the_papers_systems(frames["scored"], kept, method, searches["system"].unique()),
        "use_of_the_swarm": answer.use_of_the_swarm(searches, frames["role_verdicts"]),
        "roles": list(dict.fromkeys(frames["role_verdicts"]["role"])),
        "claims": claims_shown(material.claims, frames),
        "errata": markdown_sections(texts["errata"], "erratum"),
    }


def _widest_by_system(by_system: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of each interpretation and system with most values."""
    widest = by_system.loc[by_system.groupby(["role", "system"], sort=False)["values"].idxmax()]
    return list(widest.to_dict("records"))


def claims_shown(claims: Sequence[Claim], frames: Frames) -> dict[str, list[dict[str, Any]]]:
    """Return the entries of the page on the claims, by their verdict as described.

    Verdicts have CSS class, sign, word, and the counts from which they follow by the claim's ``rule``; ``roles`` has
    one for each interpretation that is shown with the published values.
    """
    overview = frames["claim_overview"].set_index("claim")
    role_verdicts = frames["role_verdicts"].groupby("claim", sort=False)
    verdicts_here = claim_verdicts(frames["claims"])
    entries: dict[str, list[dict[str, Any]]] = {word: [] for word in _SIGNS}
    for claim in claims:
        if claim.id not in overview.index:
            continue
        row, roles = overview.loc[claim.id], role_verdicts.get_group(claim.id).to_dict("records")
        evidence = {}
        for side in ("published", "here"):
            if (claim.id, side) in verdicts_here:
                evidence[side] = verdicts_here[claim.id, side]
        entries[roles[0]["verdict"]].append(
            {
                "claim": claim,
                "rule": evidence["here"]["rule"] if "here" in evidence else "",
                "published": _marked(row["published"], _places(evidence.get("published", {}))),
                "roles": [_marked(verdict["verdict"], _data_sets(verdict)) for verdict in roles],
                "holds": int(row["holds"]),
                "judged": int(row["judged"]),
                "evidence": evidence,
            }
        )
    return {word: of_word for word, of_word in entries.items() if of_word}


def _marked(word: str, counts: str) -> tuple[str, ...]:
    """Return CSS class, sign and word of a verdict, and the counts from which it follows."""
    return (*_SIGNS[word], word, counts)


def _places(verdict: Mapping[str, Any]) -> str:
    """Return at how many places a claim holds and misses clearly on one data set; "" where it cannot be judged."""
    if not verdict.get("places"):
        return ""
    missed = f", {count(verdict['missed'])} clearly missed" * (verdict["held"] < verdict["places"])
    return f"{count(verdict['held'])} of {count(verdict['places'])} places{missed}"


def _data_sets(verdict: Mapping[str, Any]) -> str:
    """Return on how many data sets a claim holds, is undecided and fails; "" where it cannot be judged."""
    if not verdict["judged"]:
        return ""
    return f"{verdict['holds']} / {verdict['undecided']} / {verdict['fails']} of {verdict['judged']}"


def missing_conditions(settings: Mapping[str, Any], metrics: pd.DataFrame) -> list[str]:
    """Return the conditions of the study that have no results, by the names that readers know."""
    present = set(metrics[CONDITION].itertuples(index=False, name=None))
    missing = []
    for system, snr_db, name in product(settings["systems"], settings["snr_db"], settings["methods"]):
        for criterion in settings["methods"][name]["criteria"]:
            if (system, snr_db, name, criterion) not in present:
                missing.append(f"{system}, {snr(snr_db)}, {method_name(name)}, {criterion_name(criterion)}")
    return missing


def _kinds(settings: Mapping[str, Any]) -> list[str]:
    """Return the kinds of the tables of each system: of criteria, or of methods, where there are several."""
    methods, kinds = settings["methods"].values(), []
    if any(len(method["criteria"]) > 1 for method in methods):
        kinds.append("fitness")
    if len(methods) > 1:
        kinds.append("comparison")
    return kinds or ["fitness"]
