"""The page on what the paper leaves open: kept knowledge, or the result of a study of interpretations."""

from collections.abc import Mapping
from typing import Any

from narxbench._report.markup import markdown_headings, markdown_html
from narxbench._studies.paper.site import Material, Site

_PAGE, _PREFIX = "interpretations", "text"


def interpretations_page(material: Material) -> str:
    """Return the page of the kept document on interpretations, which says so where the checkout lacks it."""
    kept = material.kept
    values = {"kept": kept, "source": "kept", **_document(kept.document, kept.figures, files="")}
    return material.site.page(_PAGE, values)


def own_interpretations_page(site: Site, document: str, figures: Mapping[str, str]) -> str:
    """Return the page of a study of interpretations, whose document is its own result."""
    values = {"kept": None, "source": "run", **_document(document, figures, files="interpretations/")}
    return site.page(_PAGE, values)


def _document(text: str, figures: Mapping[str, str], files: str) -> dict[str, Any]:
    """Return the heading, the sections and the body of a document in Markdown. Figures are by their paths in it."""
    if not text:
        return {"heading": "What the paper leaves open", "sections": {}, "body": ""}
    return {
        "heading": text.partition("\n")[0].removeprefix("# "),
        "sections": markdown_headings(text, _PREFIX),
        "body": markdown_html(text, _PREFIX, figures, deeper=0, files=files),
    }
