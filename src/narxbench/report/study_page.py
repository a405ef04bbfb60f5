"""The page of a study from its files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from narxbench.analysis.claims import load_claims
from narxbench.analysis.frames import SCHEMAS, load_summaries, read_frame
from narxbench.io.files import read_text
from narxbench.model.system import load_system
from narxbench.report.markup import markdown_html
from narxbench.report.page import Texts, own_text, render_page
from narxbench.report.tables import paper_tables
from narxbench.report.templating import rendered


def study_page(files: Mapping[str, Any], settings: Mapping[str, Any], folder: str) -> str:
    """Return the page.

    Parameters
    ----------
    files : mapping
        Paths by name, as :meth:`narxbench.pipeline.plan.Plan.page_files` returns them.
    settings : mapping
        The settings of the study as plain data.
    folder : str
        Where the files of the study are from the page: ``""``, or a folder that ends with ``/``.
    """
    drawn = [Path(path) for path in files["document_figures"]]
    document, figures = read_text(files["document"]), {f"{p.parent.name}/{p.name}": read_text(p) for p in drawn}
    if settings["page"] == "interpretations":
        page = {
            "title": document.split("\n", 1)[0].removeprefix("# "),
            "study": settings["study"],
            "body": markdown_html(document, "interpretations", figures),
            "style": own_text("page.css"),
        }
        return rendered("document.html.j2", page)
    frames = {name: read_frame(name, path) for name, path in files.items() if name in SCHEMAS}
    claims = load_claims(files["claim_texts"])
    systems = [load_system(Path(path).stem) for path in files["systems"]]
    return render_page(
        settings=settings,
        frames=frames,
        summaries=load_summaries(files["summaries"]),
        tables=paper_tables(frames, settings, systems, claims),
        figures={Path(path).stem: read_text(path) for path in files["svg"]},
        claims=claims,
        texts=Texts(
            errata=read_text(files["errata"]),
            method=read_text(files["method"]),
            interpretations=document,
            interpretation_figures=figures,
            citation=read_text(files["citation"]),
        ),
        folder=folder,
    )
