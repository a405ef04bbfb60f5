"""The paper's figures, drawn with matplotlib's object interface from frames, and the looks that all figures share.

The bytes of a figure depend on nothing but what is drawn.
"""

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import accumulate, cycle
from typing import Any

import matplotlib.style
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from narxbench.io.errors import NarxbenchError
from narxbench.report.formats import criterion_name, method_name
from narxbench.report.tables import Frames, in_order, shared_criterion

START = 0.05  # share of the evaluations after which J must fit into the axis
WIDTH = 7.16  # inches: both columns of a page
# Okabe and Ito's palette, which readers with any form of colour blindness can tell apart.
METHOD_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES = ("-", "--", "-.", ":")
SYSTEM_TERM, SPURIOUS_TERM = "#0072B2", "#D55E00"

_STYLE: Any = {
    "font.family": "DejaVu Sans",
    **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize"), 8),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 7),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right"), False),
    **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 0.6),
    "lines.linewidth": 1.4,
    "pdf.fonttype": 42,
    # The bytes of a compressed stream depend on which zlib is installed.
    "pdf.compression": 0,
    "svg.fonttype": "path",
    "text.parse_math": False,
}
# A date would make every build differ.
_NO_DATE: Any = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}


def paper_figures(frames: Frames, settings: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the files of the figures ``convergence`` and ``term_frequency`` of a study, each as PDF and SVG, by name.

    Parameters
    ----------
    frames
        The frames ``convergence`` and ``selection``.
    settings
        The settings of the study as plain data: what is shown, in this order, and the SNR of the figures.
    """
    snr_db, criterion = settings["figures"]["snr_db"], shared_criterion(settings)

    def shown(name: str) -> pd.DataFrame:
        frame = frames[name]
        here = frame[(frame["snr_db"] == snr_db) & (frame["criterion"] == criterion)]
        if here.empty:
            found = ", ".join(f"{snr:g}" for snr in dict.fromkeys(frame["snr_db"])) or "none"
            raise NarxbenchError(f"figures: found no condition at an SNR of {snr_db:g} dB; allowed: {found}")
        return in_order(here, settings)

    drawn = {
        "convergence": convergence(shown("convergence")),
        "term_frequency": term_frequency(shown("selection"), settings["statistics"]["threshold"]),
    }
    return {f"{name}.{suffix}": content for name, files in drawn.items() for suffix, content in files.items()}


def convergence(curves: pd.DataFrame) -> dict[str, bytes]:
    """Return the figure of convergence (paper, figure 1) from the frame ``convergence`` at one SNR and criterion.

    Mean over the runs of the best J so far, with the quartiles as a band, against evaluations, for every method.
    Systems are grouped in twos as in the paper; each has its own axis, for the ranges of J differ. The axis of J fits
    what follows the first 5 % of the evaluations: the steep fall from random structures would flatten all the rest.
    """
    systems = list(dict.fromkeys(curves["system"]))
    styles = _styles(curves["method"])
    groups, depth = math.ceil(len(systems) / 2), min(2, len(systems))
    bands = math.ceil(groups / 2)
    with drawing("convergence"):
        figure = new_figure(0.4 + 1.6 * bands * depth)
        axes = figure.subplots(bands * depth, min(2, groups), squeeze=False)
        for index, system in enumerate(systems):
            group, row = divmod(index, 2)
            axis = axes[group // 2 * depth + row, group % 2]
            _draw_convergence(axis, curves[curves["system"] == system], styles)
            axis.set_title(system if row else f"({chr(ord('a') + group)}) {system}", loc="left")
            if row or index == len(systems) - 1:
                axis.set_xlabel("fitness evaluations")
        for axis in axes.flat:
            if not axis.has_data():
                axis.set_axis_off()
        return saved(figure)


def term_frequency(selection: pd.DataFrame, threshold: float) -> dict[str, bytes]:
    """Return the figure of selection frequencies (paper, figure 2) from ``selection`` at one SNR and criterion.

    One row for each system, one column for each method, one bar for each candidate term in canonical order.
    """
    systems, methods = (list(dict.fromkeys(selection[key])) for key in ("system", "method"))
    with drawing("term_frequency"):
        figure = new_figure(0.6 + 1.6 * len(systems))
        axes = figure.subplots(len(systems), len(methods), squeeze=False, sharey=True)
        for row, system in enumerate(systems):
            for column, method in enumerate(methods):
                axis = axes[row, column]
                terms = selection[(selection["system"] == system) & (selection["method"] == method)]
                if terms.empty:
                    axis.set_axis_off()
                    continue
                levels = _draw_frequencies(axis, terms, threshold)
                axis.set_title(f"{system}, {method_name(method)}", loc="left", pad=3 + 12 * levels)
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
        return saved(figure)


def _styles(methods: Iterable[str]) -> dict[str, dict[str, Any]]:
    looks = zip(dict.fromkeys(methods), cycle(METHOD_COLOURS), cycle(DASHES), strict=False)
    return {method: {"color": colour, "linestyle": dash} for method, colour, dash in looks}


def _draw_convergence(axis: Axes, curves: pd.DataFrame, styles: Mapping[str, dict[str, Any]]) -> None:
    ends: list[tuple[float, str]] = []
    for method, curve in curves.groupby("method", sort=False):
        style = styles[method]
        axis.fill_between(
            curve["evaluations"], curve["low"], curve["high"], color=style["color"], alpha=0.2, linewidth=0
        )
        axis.plot(curve["evaluations"], curve["mean"], **style)
        if math.isfinite(end := curve["mean"].iloc[-1]):
            ends.append((end, method))
    budget = curves["evaluations"].max()
    axis.set_xlim(0, budget)
    axis.set_ylabel(f"best J ({criterion_name(curves['criterion'].iloc[0])})")
    axis.yaxis.set_major_locator(MaxNLocator(4))
    for formatter in (axis.xaxis, axis.yaxis):
        formatter.set_major_formatter(StrMethodFormatter("{x:,g}"))
    late = curves.loc[curves["evaluations"] >= START * budget, ["mean", "low", "high"]]
    low, high = late.min(axis=None), late.max(axis=None)
    if math.isfinite(low):
        margin = 0.05 * (high - low) or 1.0
        axis.set_ylim(low - margin, high + margin)
    bottom, top = axis.get_ylim()
    heights = _spread([(value - bottom) / (top - bottom) for value, _ in sorted(ends)], gap=0.14)
    for height, (_, method) in zip(heights, sorted(ends), strict=True):
        looks: dict[str, Any] = {"color": styles[method]["color"], "fontweight": "bold", "va": "center"}
        axis.annotate(method_name(method), (1.01, height), xycoords="axes fraction", **looks)


def _spread(heights: Sequence[float], gap: float) -> list[float]:
    """Return ascending heights moved upwards as little as keeps them ``gap`` apart."""
    return list(accumulate(heights, lambda below, height: max(height, below + gap)))


def _draw_frequencies(axis: Axes, terms: pd.DataFrame, threshold: float) -> int:
    """Draw the bars of one condition and return on how many levels the labels of its system terms stand."""
    colours = [SYSTEM_TERM if system_term else SPURIOUS_TERM for system_term in terms["system_term"]]
    axis.bar(range(1, len(terms) + 1), terms["frequency"], width=0.8, color=colours, linewidth=0)
    axis.axhline(threshold, color="#444444", linestyle="--", linewidth=0.8)
    axis.set_xlim(0, len(terms) + 1)
    axis.set_ylim(0, 1)
    axis.set_yticks([0, 0.5, 1])
    step = max(10, math.ceil(len(terms) / 100) * 10)
    axis.set_xticks([1, *range(step, len(terms) + 1, step)])
    raised, before, levels = False, 0, 1
    above: dict[str, Any] = {"color": SYSTEM_TERM, "fontsize": 5.5, "rotation": 90, "ha": "center", "va": "bottom"}
    for position, label in enumerate(terms["label"], start=1):
        if label:
            # Neighbouring bars are closer than the height of a label, so every second label is raised.
            raised = position == before + 1 and not raised
            before, levels = position, max(levels, 1 + raised)
            axis.annotate(label, (position, 1.2 if raised else 1.03), xycoords=("data", "axes fraction"), **above)
    return levels


def drawing(name: str) -> AbstractContextManager[None]:
    """Return the context in which the named figure is drawn: matplotlib's defaults and the style above.

    The user's own matplotlibrc plays no part. The name makes the ids of the SVG.
    """
    return matplotlib.style.context(["default", _STYLE | {"svg.hashsalt": f"narxbench {name}"}])


def new_figure(height: float) -> Figure:
    """Return an empty figure; its size is in inches."""
    return Figure(figsize=(WIDTH, height), layout="constrained")


def saved(figure: Figure, formats: Sequence[str] = ("pdf", "svg")) -> dict[str, bytes]:
    """Return the bytes of a figure in each format; to be called within its context `drawing`."""
    files = {}
    for name in formats:
        stream = io.BytesIO()
        figure.savefig(stream, format=name, metadata=_NO_DATE[name])
        files[name] = stream.getvalue()
    return files
