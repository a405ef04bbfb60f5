"""The paper's figures, drawn with matplotlib's object interface from frames, and the looks that all figures share.

The bytes of a figure depend on nothing but what is drawn.
"""

import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import accumulate, cycle, product
from string import ascii_lowercase
from typing import Any

import matplotlib.style
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from narxbench.io.errors import NarxbenchError
from narxbench.report.formats import criterion_name, fixed, method_name
from narxbench.report.tables import Frames, in_order, shared_criterion

START = 0.05  # share of the evaluations after which J must fit into the axis
WIDTH = 7.16  # inches: both columns of a page
NARROW = 5.5  # inches: what a phone can show without scrolling
# Okabe and Ito's palette, which readers with any form of colour blindness can distinguish.
METHOD_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES = ("-", "--", "-.", ":")
SYSTEM_TERM, SPURIOUS_TERM = "#0072B2", "#999999"
DARK = "#333333"

_STYLE: Any = {
    # Both come with matplotlib. The second has what the first lacks, for users name systems as they like.
    "font.family": ["STIXGeneral", "DejaVu Sans"],
    **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize"), 10),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 9),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right"), False),
    **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 0.6),
    "lines.linewidth": 1.4,
    "pdf.fonttype": 42,
    # The bytes of a compressed stream depend on which zlib is installed.
    "pdf.compression": 0,
    "svg.fonttype": "path",
    "text.parse_math": False,
}
_TRUE_STRUCTURE: Any = {"color": DARK, "linestyle": (0, (1, 1)), "linewidth": 1.2}
_NOT_OF_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")
# A date would make every build differ.
_NO_DATE: Any = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}


def paper_figures(frames: Frames, settings: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the files of the figures ``convergence`` and ``term_frequency`` of a study, each as PDF and SVG, by name.

    Parameters
    ----------
    frames
        The frames ``convergence``, ``selection`` and ``gaps``.
    settings
        The settings of the study as plain data: what is shown, in this order, and the SNR of the figures.
    """
    snr_db, criterion = settings["figures"]["snr_db"], shared_criterion(settings)

    def shown(name: str) -> pd.DataFrame:
        frame = frames[name]
        here = frame[(frame["snr_db"] == snr_db) & (frame["criterion"] == criterion)]
        if here.empty:
            found = ", ".join(f"{snr:g}" for snr in dict.fromkeys(frame["snr_db"])) or "none"
            raise NarxbenchError(f"{name}.csv: found no condition at an SNR of {snr_db:g} dB; allowed: {found}")
        return in_order(here, settings)

    drawn = {
        "convergence": convergence(shown("convergence"), shown("gaps")),
        "term_frequency": term_frequency(shown("selection"), settings["statistics"]["threshold"]),
    }
    return {f"{name}.{suffix}": content for name, files in drawn.items() for suffix, content in files.items()}


def convergence(curves: pd.DataFrame, gaps: pd.DataFrame) -> dict[str, bytes]:
    """Return the figure of convergence (paper, figure 1) from ``convergence`` and ``gaps`` at one SNR and criterion.

    Mean over the runs of the best J so far, with the quartiles as a band, against evaluations, for every method. J is
    drawn above the best known J of the data, on an axis that is logarithmic beyond 1: it shows searches
    that end far from each other as well as those that end close together. Where runs have data of their own there is no
    best known J, and J itself is drawn. The axis fits what follows the first 5 % of the evaluations.
    """
    systems, styles = list(dict.fromkeys(curves["system"])), _styles(curves["method"])
    across = min(2, len(systems))
    known = gaps.groupby("system")[["best_known", "true_structure"]].first()
    with drawing("convergence"):
        figure = new_figure(0.6 + 1.9 * math.ceil(len(systems) / across))
        for place, (axis, system) in enumerate(zip(panels(figure, len(systems), across), systems, strict=True)):
            best, true = known.loc[system]
            _draw_convergence(axis, curves[curves["system"] == system], best, true, styles)
            title = f"({ascii_lowercase[place]}) {system}" if place < len(ascii_lowercase) else system
            criterion = criterion_name(curves["criterion"].iloc[0])
            known_j = "" if math.isnan(best) else f": best known J ({criterion}) {fixed(best, 1)}"
            axis.set_title(title + known_j, loc="left")
            if place + across >= len(systems):
                axis.set_xlabel("fitness evaluations")
        handles = [Line2D([], [], label=method_name(method), **style) for method, style in styles.items()]
        handles.append(Line2D([], [], label="true structure", **_TRUE_STRUCTURE))
        columns = math.ceil(len(handles) / math.ceil(len(handles) / 5))
        figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False)
        return saved(figure)


def term_frequency(selection: pd.DataFrame, threshold: float) -> dict[str, bytes]:
    """Return the figure of selection frequencies (paper, figure 2) from ``selection`` at one SNR and criterion.

    A panel for each system and method, two side by side; one bar for each candidate term in canonical order.
    """
    systems, methods = (list(dict.fromkeys(selection[key])) for key in ("system", "method"))
    across = min(2, len(methods))
    rows = math.ceil(len(methods) / across)  # of a system
    with drawing("term_frequency"):
        figure = new_figure(0.8 + 1.7 * rows * len(systems))
        axes = figure.subplots(rows * len(systems), across, squeeze=False, sharey=True)
        for axis in axes.flat:
            axis.set_axis_off()
        # The share of a panel that a label covers: its height, for it is turned, of the panel's width.
        room = 8.5 * across / (72 * WIDTH - 20 * (1 + across))
        for (row, system), (place, method) in product(enumerate(systems), enumerate(methods)):
            terms = selection[(selection["system"] == system) & (selection["method"] == method)]
            if len(terms):
                axis = axes[row * rows + place // across, place % across]
                axis.set_axis_on()
                _draw_frequencies(axis, terms, threshold, room)
                axis.set_title(f"{system}, {method_name(method)}", loc="left", pad=25)
        figure.supxlabel("candidate term, numbered in canonical order", fontsize="medium")
        figure.supylabel("selection frequency ν", fontsize="medium")
        handles = [
            Patch(facecolor=SYSTEM_TERM, label="system term"),
            Patch(facecolor=SPURIOUS_TERM, label="spurious term"),
            Line2D([], [], color=DARK, linestyle="--", linewidth=0.8, label=f"threshold {threshold:g}"),
        ]
        figure.legend(handles=handles, loc="outside upper right", ncols=3, frameon=False)
        return saved(figure)


def _styles(methods: Iterable[str]) -> dict[str, dict[str, Any]]:
    looks = zip(dict.fromkeys(methods), cycle(METHOD_COLOURS), cycle(DASHES), strict=False)
    return {method: {"color": colour, "linestyle": dash} for method, colour, dash in looks}


def _draw_convergence(
    axis: Axes, curves: pd.DataFrame, best: float, true: float, styles: Mapping[str, dict[str, Any]]
) -> None:
    numbers, budget = ["mean", "low", "high"], curves["evaluations"].max()
    if math.isfinite(best):
        curves = curves.assign(**{name: curves[name] - best for name in numbers})
        true -= best
        axis.set_yscale("symlog", linthresh=1)
        axis.set_ylabel("J above best known")
    else:
        axis.yaxis.set_major_locator(MaxNLocator(4))
        axis.set_ylabel("best J")
    for method, curve in curves.groupby("method", sort=False):
        x, style = curve["evaluations"], styles[method]
        axis.fill_between(x, curve["low"], curve["high"], color=style["color"], alpha=0.2, linewidth=0)
        axis.plot(x, curve["mean"], **style)
    if math.isfinite(true):
        axis.axhline(true, **_TRUE_STRUCTURE)
    axis.set_xlim(0, budget)
    for formatter in (axis.xaxis, axis.yaxis):
        formatter.set_major_formatter(StrMethodFormatter("{x:,g}"))
    late = curves.loc[curves["evaluations"] >= START * budget, numbers]
    low, high = late.min(axis=None), late.max(axis=None)
    if math.isfinite(best):
        axis.set_ylim(-0.2, max(2 * high, 1) if math.isfinite(high) else 1)
    elif math.isfinite(low):
        margin = 0.05 * (high - low) or 1.0
        axis.set_ylim(low - margin, high + margin)


def _draw_frequencies(axis: Axes, terms: pd.DataFrame, threshold: float, room: float) -> None:
    """Draw the bars of one condition; a label of a system term takes the share ``room`` of the axis."""
    terms = terms.assign(place=range(1, len(terms) + 1))
    for colour, own in ((SYSTEM_TERM, terms["system_term"]), (SPURIOUS_TERM, ~terms["system_term"])):
        found = terms[own & (terms["count"] > 0)]
        axis.bar(found["place"], found["frequency"], width=0.8, color=colour, linewidth=0)
    axis.axhline(threshold, color=DARK, linestyle="--", linewidth=0.8)
    axis.set(xlim=(0, len(terms) + 1), ylim=(0, 1), yticks=[0, 0.5, 1])
    step = max(10, math.ceil(len(terms) / 100) * 10)
    axis.set_xticks([1, *range(step, len(terms) + 1, step)])
    labels = dict(terms.loc[terms["label"] != "", ["place", "label"]].itertuples(index=False))
    above = axis.get_xaxis_transform()
    looks: Any = {"color": SYSTEM_TERM, "fontsize": 7.5, "rotation": 90, "ha": "center", "va": "bottom"}
    for at, (place, label) in zip(_spread(list(labels), room * (len(terms) + 1)), labels.items(), strict=True):
        axis.plot([place, at], [1.02, 1.1], color=SYSTEM_TERM, linewidth=0.5, transform=above, clip_on=False)
        axis.text(at, 1.12, label, transform=above, **looks)


def _spread(places: Sequence[float], gap: float) -> list[float]:
    """Return ascending places moved, to both sides, to distances of at least ``gap``."""
    up = accumulate(places, lambda before, place: max(place, before + gap))
    down = accumulate(reversed(places), lambda after, place: min(place, after - gap))
    return [(high + low) / 2 for high, low in zip(up, reversed(list(down)), strict=True)]


def drawing(name: str) -> AbstractContextManager[None]:
    """Return the context in which the named figure is drawn: matplotlib's defaults and the style above.

    The user's own matplotlibrc plays no part. The name makes the ids of the SVG.
    """
    return matplotlib.style.context(["default", _STYLE | {"svg.hashsalt": f"narxbench {name}"}])


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """Return an empty figure; its size is in inches."""
    return Figure(figsize=(width, height), layout="constrained")


def panels(figure: Figure, count: int, across: int) -> list[Axes]:
    """Return so many axes of a figure, side by side in rows; the places left over in the last row stay empty."""
    axes: list[Axes] = figure.subplots(math.ceil(count / across), across, squeeze=False).ravel().tolist()
    for axis in axes[count:]:
        axis.set_axis_off()
    return axes[:count]


def saved(figure: Figure, formats: Sequence[str] = ("pdf", "svg")) -> dict[str, bytes]:
    """Return the bytes of a figure in each format; to be called within its context `drawing`."""
    files = {}
    for name in formats:
        stream = io.BytesIO()
        figure.savefig(stream, format=name, metadata=_NO_DATE[name])
        # Names stand in comments of an SVG; XML has none of these characters, not even escaped.
        files[name] = stream.getvalue() if name == "pdf" else _NOT_OF_XML.sub(b"", stream.getvalue())
    return files
