"""The pages of a study of the paper's kind, from its files."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from narxbench._io.files import read_text
from narxbench._io.yaml import read_mapping
from narxbench._model.system import load_system
from narxbench._report.markup import read_svg
from narxbench._studies.paper.claims import load_claims
from narxbench._studies.paper.frames import failures_frame, load_summaries, read_frames
from narxbench._studies.paper.interpretations_page import interpretations_page, own_interpretations_page
from narxbench._studies.paper.kept import load_kept
from narxbench._studies.paper.method_page import method_page
from narxbench._studies.paper.printed import value_tables
from narxbench._studies.paper.printed_page import printed_page
from narxbench._studies.paper.published import load_published
from narxbench._studies.paper.report_page import answer_line, report_page
from narxbench._studies.paper.site import MAIN, Material, Site
from narxbench._studies.paper.status import run_status
from narxbench._studies.paper.tables import ordered_frames
from narxbench._study.design_choices import load_design_choices
from narxbench._study.run_record import FIXED_RECORD, read_run_record


def read_material(files: Mapping[str, Any], settings: Mapping[str, Any], *, above: bool) -> Material:
    """Return the material of the pages of a study with tables, figures and claims, from its files by name.

    ``above`` says whether the main page is next to the study's folder and not in it.
    """
    frames, choices = ordered_frames(read_frames(files), settings), load_design_choices(files["choices"])
    published, kept = load_published(files["published"], files["system_terms"]), load_kept(files)
    status = run_status(settings, frames["metrics"], frames["agreement_values"], choices)
    return Material(
        site=Site(settings["study"], above, repository=read_mapping(files["about"]).get("repository-code", "")),
        settings=settings,
        record=read_run_record(files["record"]),
        status=status,
        frames=frames,
        summaries=load_summaries(files["summaries"]),
        failures=failures_frame(files["summaries"]),
        systems=[load_system(Path(path).stem) for path in files["system_files"]],
        values=value_tables(frames, published, settings["systems"], is_compared=status.is_complete, kept=kept.values),
        figures={Path(path).stem: read_svg(path) for path in files["svg"]},
        claims=load_claims(files["claim_texts"]),
        texts={name: read_text(files[name]) for name in ("method", "checks", "citation")},
        choices=choices,
        published=published,
        kept=kept,
    )


def pages(material: Material) -> dict[str, str]:
    """Return the four pages of a run by the names of their files."""
    files = material.site.pages
    return {
        files[MAIN]: report_page(material),
        files["as_printed"]: printed_page(material),
        files["interpretations"]: interpretations_page(material),
        files["method"]: method_page(material),
    }


def reproducible_pages(material: Material) -> dict[str, str]:
    """Return the pages with a fixed record, which are the same on every machine, and what they say in a line."""
    return pages(replace(material, record=FIXED_RECORD)) | {"answer.txt": f"{answer_line(material)}\n"}


def interpretations_only(files: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """Return the page of a study of interpretations: its document alone."""
    repository = read_mapping(files["about"]).get("repository-code", "")
    site = Site(settings["study"], pages={"interpretations": "report.html"}, repository=repository)
    figures = {f"{path.parent.name}/{path.name}": read_svg(path) for path in map(Path, files["document_figures"])}
    return own_interpretations_page(site, read_text(files["document"]), figures)
