"""The page with the paper's tables and figures as it prints them."""

from markupsafe import Markup

from narxbench._report.formats import snr
from narxbench._report.markup import inline_svg
from narxbench._report.table import to_html
from narxbench._studies.paper.facsimile import NUMERALS, facsimile_tables
from narxbench._studies.paper.facsimile_figures import LEFT_OUT
from narxbench._studies.paper.site import Material

_PAGE = "facsimile"


def facsimile_page(material: Material) -> str:
    """Return the page of the facsimile: tables I to VII, figures 1 and 2, and the final structures."""
    site, settings = material.site, material.settings
    tables = facsimile_tables(
        material.frames["values"],
        material.summaries,
        settings,
        material.systems,
        material.published,
        material.choices,
    )
    html: dict[str, Markup] = {}
    for name, table in tables.items():
        html[name] = to_html(table, study=settings["study"], folder=site.folder(_PAGE))
    figures = {}
    for name in ("figure_1", "figure_2"):
        if name in material.figures:
            figures[name] = inline_svg(material.figures[name], name)
    values = {
        "numerals": NUMERALS,
        "tables": html,
        "structures": [name for name in html if name not in NUMERALS],
        "figures": figures,
        "runs": len(settings["seeds"]),
        "left_out": LEFT_OUT if len(settings["systems"]) > 1 and LEFT_OUT in settings["systems"] else "",
        "snr": snr(settings["figures"]["snr_db"]),
    }
    return site.page(_PAGE, values)
