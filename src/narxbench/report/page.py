"""The pages of a study; here the main one: the answer first, then claims, methods, the paper's tables and figures."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from narxbench.analysis.claims import VERDICTS, Claim, load_claims
from narxbench.analysis.frames import load_summaries, read_frames
from narxbench.analysis.interpretations import FRAMES
from narxbench.analysis.published import EVALUATIONS, RUNS, VALUE
from narxbench.experiment.interpretations import load_design_choices
from narxbench.io.errors import NarxbenchError, show
from narxbench.io.files import StrPath, read_text
from narxbench.io.yaml import read_mapping
from narxbench.model.system import load_system
from narxbench.report import answer
from narxbench.report.explorer import explorer_page
from narxbench.report.formats import criterion_name, listed, method_name, snr
from narxbench.report.markup import inline_svg, markdown_headings, markdown_html, markdown_sections, read_svg
from narxbench.report.method_page import method_page
from narxbench.report.provenance import provenance_page
from narxbench.report.site import MAIN, Material, Site
from narxbench.report.statistics_page import statistics_page
from narxbench.report.table import to_html
from narxbench.report.tables import CONDITION, Frames, claim_verdicts, in_order, paper_tables, shared_criterion

# By how many interpretations a claim holds under, in the order of the page.
GROUPS = ("all", "some", "none", "unjudged")
_SIGNS = {True: ("yes", "✓"), False: ("no", "✗"), None: ("open", "?")}
_MARKS = {VERDICTS[holds]: (*sign, VERDICTS[holds]) for holds, sign in _SIGNS.items()}
# The figures of the main page, and which of the material's they are.
_FIGURES = {
    "recovered": "interpretations/recovery.svg",
    "scatter": "interpretations/published_reproduced.svg",
    "reached": "ecdf",
    "convergence": "convergence",
    "term_frequency": "term_frequency",
}


def study_pages(
    files: Mapping[str, Any], settings: Mapping[str, Any], *, above: bool, document_only: bool
) -> dict[str, str]:
    """Return the pages of a study by the names of their files.

    Parameters
    ----------
    files : mapping
        Paths by name, as ``page_files`` of the study's plan returns them.
    settings : mapping
        The settings of the study as plain data.
    above : bool
        Whether the main page stands next to the study's folder and not in it.
    document_only : bool
        Whether the document on the interpretations is the only page.
    """
    repository = _repository(files["about"])
    document, drawn = read_text(files["document"]), map(Path, files["document_figures"])
    figures = {f"{path.parent.name}/{path.name}": read_svg(path) for path in drawn}
    if document_only:
        site = Site(settings["study"], pages={"interpretations": "report.html"}, repository=repository)
        return {"report.html": interpretations_page(site, document, figures)}
    frames = read_frames(files)
    material = Material(
        site=Site(settings["study"], above, repository=repository),
        settings=settings,
        # The frames of a study of interpretations have an order of their own.
        frames={name: frame if name in FRAMES else in_order(frame, settings) for name, frame in frames.items()},
        summaries=load_summaries(files["summaries"]),
        systems=[load_system(Path(path).stem) for path in files["system_files"]],
        figures=figures | {Path(path).stem: read_svg(path) for path in (*files["svg"], files["reached"])},
        claims=load_claims(files["claim_texts"]),
        texts={name: read_text(files[name]) for name in ("errata", "method", "citation", "answer", "document")},
        choices=load_design_choices(files["choices"]),
    )
    return pages(material)


def _repository(path: StrPath) -> str:
    """Return the address of the repository that a citation file names, or "" where it names none."""
    found = read_mapping(path).get("repository-code", "")
    if found and not str(found).startswith("https://"):
        raise NarxbenchError(f"{path}: repository-code: found {show(found)}; allowed: an address with https://")
    return str(found)


def pages(material: Material) -> dict[str, str]:
    """Return all pages that are made of some material, by the names of their files."""
    site, study = material.site, material.settings["study"]
    tables = paper_tables(material.frames, material.settings, material.systems, material.claims)

    def shown(page: str) -> dict[str, Markup]:
        return {name: to_html(table, study=study, folder=site.folder(page)) for name, table in tables.items()}

    tables_html = shown("statistics")
    return {
        site.pages[MAIN]: main_page(material, shown(MAIN)),
        site.pages["interpretations"]: interpretations_page(site, material.texts["document"], material.figures),
        site.pages["statistics"]: statistics_page(material, tables_html),
        site.pages["explorer"]: explorer_page(material),
        site.pages["method"]: method_page(material, tables_html),
        site.pages["provenance"]: provenance_page(material),
    }


def interpretations_page(site: Site, document: str, figures: Mapping[str, str]) -> str:
    """Return the page of the document on the interpretations; ``figures`` are by the paths that it names them by."""
    shown = {
        "heading": document.split("\n", 1)[0].removeprefix("# "),
        "sections": markdown_headings(document, "text"),
        "body": markdown_html(document, "text", figures, deeper=0, files="interpretations/"),
    }
    return site.page("interpretations", shown)


def main_page(material: Material, tables: Mapping[str, Markup]) -> str:
    """Return the main page, which says what of the study's conditions and of the published values is missing.

    Where no value of the study is compared with a published one, it speaks of the study alone.

    Parameters
    ----------
    material
        What the page is made of.
    tables
        The tables of the study as HTML, by name.
    """
    settings, frames = material.settings, material.frames
    metrics, values, criterion = frames["metrics"], frames["agreement_values"], shared_criterion(settings)
    compared = values[values["method"] != ""]
    page = {
        "settings": settings,
        "about_paper": not compared.empty,
        "methods": listed(map(method_name, settings["methods"])),
        "published": {"runs": RUNS, "evaluations": EVALUATIONS},
        "missing": missing_conditions(settings, metrics),
        "coverage": coverage(values),
        "unpublished": list(dict.fromkeys(metrics["system"][~metrics["system"].isin(compared["system"])])),
        "data": answer.data_shown(settings, material.systems),
        "use_in_short": markdown_html(answer.in_short(material.texts["answer"].removeprefix("- ")), "use"),
        "use": markdown_html(material.texts["answer"], "use"),
        "own": (own := answer.own_board(frames["recovery"], criterion, criterion_name(criterion))),
        "best": answer.best_of(own),
        "criterion": criterion_name(criterion),
        "panels": [(system, [f"{kind}_{system.name}" for kind in _kinds(settings)]) for system in material.systems],
        "tables": tables,
        "figures": {
            name: inline_svg(svg, name) for name, path in _FIGURES.items() if (svg := material.figures.get(path))
        },
        "citation": material.texts["citation"].strip().split("\n\n"),
        **(_on_paper(material) if len(compared) else {}),
    }
    return material.site.page(MAIN, page)


def _on_paper(material: Material) -> dict[str, Any]:
    """Return what the page says of the paper: from the study of interpretations, and its errata."""
    frames = material.frames
    values, found = frames["agreement_values"], frames["found"]
    seeds = int(found["data_sets"].max()) // values["snr_db"].nunique()
    return {
        "holds": answer.claims_hold(frames["claim_overview"]),
        "near": answer.values_near(frames["nearness"]),
        "nearness": answer.nearness_rows(frames["nearness"]),
        "board": answer.found_board(found, seeds),
        "use_of_the_swarm": answer.use_of_the_swarm(found),
        "moves": answer.what_moves(frames["effects_overview"]),
        "roles": list(dict.fromkeys(frames["role_verdicts"]["role"])),
        "claims": claims_shown(material.claims, frames),
        "errata": markdown_sections(material.texts["errata"], "erratum"),
    }


def claims_shown(claims: Sequence[Claim], frames: Frames) -> dict[str, list[dict[str, Any]]]:
    """Return what is shown of each claim, by how many interpretations it holds under: all, some, none or unjudged.

    Verdicts have a mark and a word; ``roles`` has one for each interpretation that is shown with the published values.
    """
    overview = frames["claim_overview"].set_index("claim")
    by_role = frames["role_verdicts"].groupby("claim", sort=False)
    roles = {claim: dict(zip(of["role"], of["verdict"], strict=True)) for claim, of in by_role}
    here = claim_verdicts(frames["claims"])
    shown: dict[str, list[dict[str, Any]]] = {group: [] for group in GROUPS}
    for claim in (claim for claim in claims if claim.id in overview.index):
        row = overview.loc[claim.id]
        shown[row["group"]].append(
            {
                "claim": claim,
                "published": _MARKS[row["published"]],
                "roles": [_MARKS[word] for word in roles[claim.id].values()],
                "holds": int(row["holds"]),
                "judged": int(row["judged"]),
                "evidence": {side: here[claim.id, side] for side in ("published", "here") if (claim.id, side) in here},
            }
        )
    return {group: rows for group, rows in shown.items() if rows}


def coverage(values: pd.DataFrame) -> dict[str, int]:
    """Return how many published values there are, and how many of them have no reproduced counterpart."""
    once = values.drop_duplicates(VALUE)
    return {"published": len(once), "missing": int((once["method"] == "").sum())}


def missing_conditions(settings: Mapping[str, Any], metrics: pd.DataFrame) -> list[str]:
    """Return the conditions of the study that have no results, by the names that readers know."""
    found = set(metrics[CONDITION].itertuples(index=False, name=None))
    return [
        f"{system}, {snr(snr_db)}, {method_name(name)}, {criterion_name(criterion)}"
        for system, snr_db, name in product(*(settings[key] for key in ("systems", "snr_db", "methods")))
        for criterion in settings["methods"][name]["criteria"]
        if (system, snr_db, name, criterion) not in found
    ]


def _kinds(settings: Mapping[str, Any]) -> list[str]:
    """Return what is compared in the tables of each system; of a single method, its criteria."""
    methods = settings["methods"].values()
    compared = {"fitness": any(len(method["criteria"]) > 1 for method in methods), "comparison": len(methods) > 1}
    return [kind for kind, applies in compared.items() if applies] or ["fitness"]
