"""The paper's figures, drawn with matplotlib's object interface; the bytes depend on nothing but the cells."""

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from narxbench.analysis.published import Published
from narxbench.io.errors import NarxbenchError
from narxbench.report.tables import Cell, criteria_by_search, criterion_name, labels_of, search_name, shared_criterion

WIDTH = 7.16  # inches: both columns of a page
# Okabe and Ito's palette, which readers with any form of colour blindness can tell apart.
SEARCH_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES = ("-", "--", "-.", ":")
START = 0.05  # share of the evaluations after which J must fit into the axis
SYSTEM_TERM, SPURIOUS_TERM = "#0072B2", "#D55E00"

_STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.4,
    "pdf.fonttype": 42,
    # The bytes of a compressed stream depend on which zlib is installed.
    "pdf.compression": 0,
    "svg.fonttype": "path",
    "text.parse_math": False,
}


def drawing(name: str) -> AbstractContextManager[None]:
    """Return the context in which the named figure is drawn: matplotlib's defaults and the style above.

    The user's own matplotlibrc plays no part. The name makes the ids of the SVG.
    """
    return matplotlib.style.context(["default", _STYLE | {"svg.hashsalt": f"narxbench {name}"}])


def convergence(cells: Iterable[Cell], snr_db: float) -> dict[str, bytes]:
    """Return the figure of convergence (paper, figure 1) as PDF and SVG.

    Mean over the runs of the best J so far, with the quartiles as a band, against evaluations, for every search.
    Systems are grouped in twos as in the paper; each has its own axis, for the ranges of J differ. The axis of J fits
    what follows the first 5 % of the evaluations: the steep fall from random structures would flatten all the rest.
    """
    shown = _selected(cells, snr_db)
    systems = list(dict.fromkeys(cell["system"] for cell in shown))
    styles = _styles(shown)
    groups, depth = math.ceil(len(systems) / 2), min(2, len(systems))
    bands = math.ceil(groups / 2)
    with drawing("convergence"):
        figure = _figure(0.4 + 1.6 * bands * depth)
        axes = figure.subplots(bands * depth, min(2, groups), squeeze=False)
        for index, system in enumerate(systems):
            group, row = divmod(index, 2)
            axis = axes[group // 2 * depth + row, group % 2]
            _draw_convergence(axis, [cell for cell in shown if cell["system"] == system], styles)
            axis.set_title(system if row else f"({chr(ord('a') + group)}) {system}", loc="left")
            if row or index == len(systems) - 1:
                axis.set_xlabel("fitness evaluations")
        for axis in axes.flat:
            if not axis.has_data():
                axis.set_axis_off()
        return _saved(figure)


def term_frequency(cells: Iterable[Cell], snr_db: float, published: Published) -> dict[str, bytes]:
    """Return the figure of selection frequencies (paper, figure 2) as PDF and SVG.

    One row for each system, one column for each search, one bar for each candidate term in canonical order.
    """
    shown = _selected(cells, snr_db)
    by_place = {(cell["system"], cell["search"]): cell for cell in shown}
    systems, searches = (list(dict.fromkeys(place[index] for place in by_place)) for index in (0, 1))
    with drawing("term_frequency"):
        figure = _figure(0.6 + 1.6 * len(systems))
        axes = figure.subplots(len(systems), len(searches), squeeze=False, sharey=True)
        for row, system in enumerate(systems):
            for column, search in enumerate(searches):
                axis, cell = axes[row, column], by_place.get((system, search))
                if cell is None:
                    axis.set_axis_off()
                    continue
                levels = _draw_frequencies(axis, cell, labels_of(cell, published))
                axis.set_title(f"{system}, {search_name(search)}", loc="left", pad=3 + 12 * levels)
                if column == 0:
                    axis.set_ylabel("selection frequency ν")
                if row == len(systems) - 1:
                    axis.set_xlabel("candidate term, numbered in canonical order")
        handles = [
            Patch(facecolor=SYSTEM_TERM, label="system term"),
            Patch(facecolor=SPURIOUS_TERM, label="spurious term"),
            Line2D([], [], color="#444444", linestyle="--", linewidth=0.8, label="threshold"),
        ]
        figure.legend(handles=handles, loc="outside upper right", ncols=3, frameon=False)
        return _saved(figure)


def _selected(cells: Iterable[Cell], snr_db: float) -> list[Cell]:
    """Return the cells at one SNR under the criterion that the searches share; none is an error."""
    cells = list(cells)
    here = [cell for cell in cells if cell["snr_db"] == snr_db]
    if not here:
        found = ", ".join(f"{snr:g}" for snr in dict.fromkeys(cell["snr_db"] for cell in cells)) or "none"
        raise NarxbenchError(f"figures: found no cell at an SNR of {snr_db:g} dB; allowed: {found}")
    criterion = shared_criterion(criteria_by_search(here))
    return [cell for cell in here if cell["criterion"] == criterion]


def _styles(cells: Sequence[Cell]) -> dict[str, dict[str, Any]]:
    searches = dict.fromkeys(cell["search"] for cell in cells)
    return {
        search: {
            "color": SEARCH_COLOURS[index % len(SEARCH_COLOURS)],
            "linestyle": DASHES[index % len(DASHES)],
        }
        for index, search in enumerate(searches)
    }


def _figure(height: float) -> Figure:
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _draw_convergence(axis: Axes, cells: Sequence[Cell], styles: Mapping[str, dict[str, Any]]) -> None:
    ends: list[tuple[float, str]] = []
    settled: list[float] = []
    for cell in cells:
        curve, style = cell["convergence"], styles[cell["search"]]
        mean, low, high = (_finite(curve[key]) for key in ("mean", "low", "high"))
        axis.fill_between(curve["evaluations"], low, high, color=style["color"], alpha=0.2, linewidth=0)
        axis.plot(curve["evaluations"], mean, **style)
        budget = curve["evaluations"][-1]
        late = [at >= START * budget for at in curve["evaluations"]]
        settled += [
            v for line in (mean, low, high) for v, keep in zip(line, late, strict=True) if keep and math.isfinite(v)
        ]
        if mean and math.isfinite(mean[-1]):
            ends.append((mean[-1], cell["search"]))
    axis.set_xlim(0, max(cell["evaluations"] for cell in cells))
    axis.set_ylabel(f"best J ({criterion_name(cells[0]['criterion'])})")
    axis.yaxis.set_major_locator(MaxNLocator(4))
    for formatter in (axis.xaxis, axis.yaxis):
        formatter.set_major_formatter(StrMethodFormatter("{x:,g}"))
    if settled:
        margin = 0.05 * (max(settled) - min(settled)) or 1.0
        axis.set_ylim(min(settled) - margin, max(settled) + margin)
    bottom, top = axis.get_ylim()
    heights = _spread([(value - bottom) / (top - bottom) for value, _ in sorted(ends)], gap=0.14)
    for height, (_, search) in zip(heights, sorted(ends), strict=True):
        axis.annotate(
            search_name(search),
            (1.01, height),
            xycoords="axes fraction",
            color=styles[search]["color"],
            fontweight="bold",
            va="center",
        )


def _spread(heights: Sequence[float], gap: float) -> list[float]:
    """Return ascending heights moved upwards as little as keeps them ``gap`` apart."""
    placed: list[float] = []
    for height in heights:
        placed.append(max(height, placed[-1] + gap) if placed else height)
    return placed


def _draw_frequencies(axis: Axes, cell: Cell, labels: Mapping[str, str]) -> int:
    """Draw the bars of one cell and return on how many levels the labels of its system terms stand."""
    terms = cell["terms"]
    positions = range(1, len(terms) + 1)
    colours = [SYSTEM_TERM if term["system_term"] else SPURIOUS_TERM for term in terms]
    axis.bar(positions, [term["frequency"] for term in terms], width=0.8, color=colours, linewidth=0)
    axis.axhline(cell["threshold"], color="#444444", linestyle="--", linewidth=0.8)
    axis.set_xlim(0, len(terms) + 1)
    axis.set_ylim(0, 1)
    axis.set_yticks([0, 0.5, 1])
    step = max(10, math.ceil(len(terms) / 100) * 10)
    axis.set_xticks([1, *range(step, len(terms) + 1, step)])
    raised, before, levels = False, 0, 1
    for position, term in zip(positions, terms, strict=True):
        if term["term"] in labels:
            # Neighbouring bars are closer than the height of a label, so every second label is raised.
            raised = position == before + 1 and not raised
            before, levels = position, max(levels, 1 + raised)
            axis.annotate(
                labels[term["term"]],
                (position, 1.2 if raised else 1.03),
                xycoords=("data", "axes fraction"),
                color=SYSTEM_TERM,
                fontsize=5.5,
                rotation=90,
                ha="center",
                va="bottom",
            )
    return levels


def _finite(values: Sequence[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]


def _saved(figure: Figure) -> dict[str, bytes]:
    # Dates would make every build differ; the salt of the ids is fixed by the caller.
    metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
    saved = {}
    for name, entries in metadata.items():
        stream = io.BytesIO()
        figure.savefig(stream, format=name, metadata=entries)
        saved[name] = stream.getvalue()
    return saved
