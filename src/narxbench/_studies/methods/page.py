"""The page of a comparison of methods: the heat map, the answer, the ranking, error against terms, where it breaks."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from narxbench._report.formats import count
from narxbench._report.markup import markdown_html
from narxbench._report.templating import rendered
from narxbench._studies.methods.answer import BREAKS, answer_lines
from narxbench._studies.methods.figures import HEIGHT, heat_cell, terms_error
from narxbench._studies.methods.metrics import EXACT, FRESH
from narxbench._studies.methods.tables import RANKING, cells, name_of, situations
from narxbench._studies.methods.views import RELIABLE, Comparison, breaks

TEMPLATES = Path(__file__).parent / "templates"
# Columns whose numbers are better the larger they are.
_LARGER_IS_BETTER = ("exact", "f1")


def leaderboard_page(
    comparison: Comparison, *, left_out: Mapping[str, str], folder: str = "", paper: bool = False
) -> str:
    """Return the page of a comparison of methods.

    ``left_out`` has the reasons why methods are not part of the study. ``folder`` is the path from the page to the
    files of the study, and ends with ``/``. ``paper`` is whether the page of the paper's study exists, for a link.
    """
    links = {"leaderboard": "#main"}
    if paper:
        links = {"report": f"{folder}../report.html", **links}
    # Where it breaks is another list.
    lines = [line for line in answer_lines(comparison) if not line.startswith(BREAKS)]
    page = {
        "current": "leaderboard",
        "study": comparison.settings["study"],
        "repository": "",
        "folder": folder,
        "titles": {"report": "Study of the paper", "leaderboard": "Comparison of methods"},
        "links": links,
        "comparison": comparison,
        "counts": _counts(comparison),
        "heat": _heat(comparison),
        "answer": [markdown_html(line, "answer") for line in lines],
        "columns": RANKING,
        "larger_is_better": _LARGER_IS_BETTER,
        "ranking": _ranking(comparison),
        "figure": terms_error(comparison),
        "height": HEIGHT,
        "breaks": _breaks(comparison),
        "reliable": RELIABLE,
        "left_out": left_out,
    }
    return rendered("leaderboard.html.j2", page, TEMPLATES)


def _counts(comparison: Comparison) -> dict[str, str]:
    """Return the numbers in the text of the page."""
    scores = comparison.whole.frame("scores")
    scores = scores[~scores["reference"]]
    n_data_sets, n_systems = comparison.whole.count_of_data(FRESH)
    return {
        "methods": count(scores["method"].nunique()),
        "data_sets": count(n_data_sets),
        "systems": count(n_systems),
        "budget": " or ".join(map(count, sorted(set(scores["budget"])))),
    }


def _heat(comparison: Comparison) -> dict[str, Any]:
    """Return the heat map of methods by situation: the situations, and rows of cells with shades."""
    views, best = situations(comparison), comparison.whole.best()
    broken = {view.group for view in breaks(comparison.views, best)} if best else set()
    rows = []
    for row in comparison.whole.rows():
        shaded = []
        for view in views:
            text, share = heat_cell(view, row["method"])
            is_broken = best is not None and row["method"] == best["method"] and view.group in broken
            shaded.append((text, round(share, 2), is_broken))
        rows.append((row, name_of(row), shaded))
    return {"views": views, "rows": rows}


def _ranking(comparison: Comparison) -> list[tuple[dict[str, Any], str, list[str]]]:
    """Return the rows of the ranking: the row, the name, and the texts of the columns."""
    rows = []
    for row in comparison.whole.rows():
        texts = cells(row, comparison)
        rows.append((row, name_of(row), [texts[column.key] for column in RANKING]))
    return rows


def _breaks(comparison: Comparison) -> list[dict[str, str]]:
    """Return the situations in which the best method is not first or not reliable, with what is first there."""
    best = comparison.whole.best()
    if best is None:
        return []
    broken = []
    for view in breaks(comparison.views, best):
        usual, first = view.row(best["method"]), view.best()
        texts = {"group": view.group, "description": view.description, "first": ""}
        texts["best"] = f"{name_of(best)} {heat_cell(view, best['method'])[0]} %"
        if first is not None and usual is not None and first[EXACT.name] > usual[EXACT.name] + 1e-9:
            texts["first"] = f"{name_of(first)} {heat_cell(view, first['method'])[0]} %"
        broken.append(texts)
    return broken
