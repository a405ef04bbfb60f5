"""The paper's figures, drawn from frames."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate, cycle
from string import ascii_lowercase
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from narxbench._io.errors import NarxbenchError
from narxbench._report.figures import DARK, METHOD_COLOURS, drawing, new_figure, panels, saved
from narxbench._report.formats import criterion_name, fixed, method_name
from narxbench._studies.paper.tables import in_order, shared_criterion
from narxbench._study.frames import Frames

START = 0.05  # the share of the evaluations after which J must fit into the axis
SYSTEM_TERM, SPURIOUS_TERM = "#0072B2", "#999999"
_ROOM = 0.032  # the share of a panel's width that a turned label above a bar needs
PANEL = 4.6  # the width of a panel in inches; a page shows as many side by side as it has room for
DASHES = ("-", "--", "-.", ":")


def paper_figures(frames: Frames, settings: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the files of the figures ``convergence`` and ``term_frequency`` of a study, each as PDF and SVG, by name.

    Of the frames ``convergence``, ``selection`` and ``gaps`` they show the conditions of the settings, in this order,
    at the SNR of the figures.
    """
    curves = shown_rows("convergence", frames, settings)
    gaps, selection = shown_rows("gaps", frames, settings), shown_rows("selection", frames, settings)
    drawings = {
        "convergence": convergence(curves, gaps),
        "term_frequency": term_frequency(selection, settings["statistics"]["threshold"]),
    }
    figures = {}
    for name, files in drawings.items():
        for suffix, content in files.items():
            figures[f"{name}.{suffix}"] = content
    return figures


def shown_rows(name: str, frames: Frames, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows of a frame that the figures show: at their SNR, under the criterion that most methods have."""
    frame, snr_db = frames[name], settings["figures"]["snr_db"]
    rows = frame[(frame["snr_db"] == snr_db) & (frame["criterion"] == shared_criterion(settings))]
    if rows.empty:
        present = ", ".join(map("{:g}".format, dict.fromkeys(frame["snr_db"]))) or "none"
        raise NarxbenchError(f"{name}.csv: found no condition at an SNR of {snr_db:g} dB; allowed: {present}")
    return in_order(rows, settings)


def convergence(curves: pd.DataFrame, gaps: pd.DataFrame) -> dict[str, bytes]:
    """Return the figure of convergence (paper, figure 1) from ``convergence`` and ``gaps`` at one SNR and criterion.

    It shows the median over the runs of the best J so far, with the quartiles as a band, against evaluations, for every
    method. J is drawn above the best known J of the data, on an axis that is logarithmic beyond 1: it shows searches
    that end far from each other as well as those that end close together. Where runs have data of their own there is no
    best known J, and J itself is drawn. The axis fits the curves after the first 5 % of the evaluations.
    """
    looks = zip(dict.fromkeys(curves["method"]), cycle(METHOD_COLOURS), cycle(DASHES), strict=False)
    styles: dict[str, dict[str, Any]] = {name: {"color": colour, "linestyle": dash} for name, colour, dash in looks}
    reference = gaps.groupby("system")[["best_known", "true_structure"]].first()
    drawn = []
    for place, system in enumerate(dict.fromkeys(curves["system"])):
        title = f"({ascii_lowercase[place]}) {system}" if place < len(ascii_lowercase) else system
        of_system, (best, true) = curves[curves["system"] == system], reference.loc[system]
        draw = partial(_draw_convergence, curves=of_system, title=title, best=best, true=true, styles=styles)
        drawn.append(draw)
    return _panelled("convergence", drawn, 2.5)


def _draw_convergence(
    axis: Axes, curves: pd.DataFrame, title: str, best: float, true: float, styles: Mapping[str, Mapping[str, Any]]
) -> None:
    """Draw the curves of one system; ``best`` is the best known J, ``true`` that of the true structure."""
    numbers, ylabel = ["median", "low", "high"], "best J"
    has_best = math.isfinite(best)
    if has_best:
        title += f": best known J ({criterion_name(curves['criterion'].iloc[0])}) {fixed(best, 1)}"
        ylabel = "J above best known"
        curves, true = curves.assign(**(curves[numbers] - best).to_dict("series")), true - best
        axis.set_yscale("symlog", linthresh=1)
    else:
        axis.yaxis.set_major_locator(MaxNLocator(4))
    ends: list[tuple[float, str, str]] = []
    for method, curve in curves.groupby("method", sort=False):
        x, style = curve["evaluations"], styles[method]
        axis.fill_between(x, curve["low"], curve["high"], color=style["color"], alpha=0.2, linewidth=0)
        axis.plot(x, curve["median"], **style)
        ends.append((curve["median"].iloc[-1], method_name(method), style["color"]))
    if math.isfinite(true):
        axis.axhline(true, color=DARK, linestyle=(0, (1, 1)), linewidth=1.2)
        ends.append((true, "true structure", DARK))
    budget = curves["evaluations"].max()
    _limit_convergence(axis, curves.loc[curves["evaluations"] >= START * budget, numbers], has_best)
    axis.set(xlim=(0, budget), xlabel="fitness evaluations", ylabel=ylabel)
    axis.set_title(title, loc="left")
    for formatter in (axis.xaxis, axis.yaxis):
        formatter.set_major_formatter(StrMethodFormatter("{x:,g}"))
    _name_ends(axis, [end for end in ends if math.isfinite(end[0])])


def _limit_convergence(axis: Axes, late: pd.DataFrame, has_best: bool) -> None:
    """Limit the axis of J to the late part of the curves; it begins below the best known J where there is one."""
    low, high = late.min(axis=None), late.max(axis=None)
    if has_best:
        axis.set_ylim(-0.2, max(2 * high, 1) if math.isfinite(high) else 1)
    elif math.isfinite(low):
        margin = 0.05 * (high - low) or 1.0
        axis.set_ylim(low - margin, high + margin)


def term_frequency(selection: pd.DataFrame, threshold: float) -> dict[str, bytes]:
    """Return the figure of selection frequencies (paper, figure 2) from ``selection`` at one SNR and criterion.

    There is a panel for each system and method, with a bar for each candidate term in canonical order.
    """
    drawn = []
    for (system, method), terms in selection.groupby(["system", "method"], sort=False):
        title = f"{system}, {method_name(method)}"
        drawn.append(partial(_draw_term_frequency, title=title, terms=terms, threshold=threshold))
    return _panelled("term_frequency", drawn, 2.3)


def _draw_term_frequency(axis: Axes, title: str, terms: pd.DataFrame, threshold: float) -> None:
    """Draw the selection frequencies of the candidate terms of one system by one method."""
    n_terms = len(terms)
    terms = terms.assign(place=range(1, n_terms + 1))
    for colour, is_of_colour in ((SYSTEM_TERM, terms["system_term"]), (SPURIOUS_TERM, ~terms["system_term"])):
        selected = terms[is_of_colour & (terms["count"] > 0)]
        axis.bar(selected["place"], selected["frequency"], width=0.8, color=colour, linewidth=0)
    axis.axhline(threshold, color=DARK, linestyle="--", linewidth=0.8)
    beside, above = axis.get_yaxis_transform(), axis.get_xaxis_transform()
    axis.text(1.01, threshold, f"threshold\n{threshold:g}", fontsize=8.5, va="center", transform=beside)
    labels = dict(terms.loc[terms["label"] != "", ["place", "label"]].itertuples(index=False))
    looks: Any = {"color": SYSTEM_TERM, "fontsize": 8, "rotation": 90, "ha": "center", "va": "bottom"}
    for at, (place, label) in zip(spread(list(labels), _ROOM * (n_terms + 1)), labels.items(), strict=True):
        axis.plot([place, at], [1.02, 1.1], color=SYSTEM_TERM, linewidth=0.5, transform=above, clip_on=False)
        axis.text(at, 1.12, label, transform=above, **looks)
    step = max(10, math.ceil(n_terms / 100) * 10)
    axis.set(xlim=(0, n_terms + 1), ylim=(0, 1), yticks=[0, 0.5, 1])
    axis.set(xlabel="candidate term, numbered in canonical order", ylabel="frequency ν")
    axis.set_xticks([1, *range(step, n_terms + 1, step)])
    axis.set_title(title, loc="left", pad=32)
    axis.set_title("system terms", loc="center", pad=32, color=SYSTEM_TERM, fontsize=8.5)
    axis.set_title("spurious terms", loc="right", pad=32, color="#666666", fontsize=8.5)


def _panelled(name: str, drawn: Sequence[Callable[[Axes], None]], height: float) -> dict[str, bytes]:
    """Return a figure of panels; each panel is an SVG within the SVG, which a page can place where it has room."""

    def size(width: float, height: float) -> str:
        return f'width="{width * 72:g}" height="{height * 72:g}"'

    across = min(2, len(drawn))
    rows = math.ceil(len(drawn) / across)
    with drawing(name):
        figure = new_figure(height * rows, PANEL * across)
        for axis, draw in zip(panels(figure, len(drawn), across), drawn, strict=True):
            draw(axis)
        pdf = saved(figure, ["pdf"])
        inner = []
        for place, draw in enumerate(drawn):
            panel = new_figure(height, PANEL)
            draw(panel.subplots())
            text = saved(panel, ["svg"], whole=False)["svg"].decode()
            text = re.sub(r'( id="|href="#|url\(#)', rf"\g<1>p{place}-", text[text.index("<svg") :])
            x, y = place % across * PANEL * 72, place // across * height * 72
            place_of = f'x="{x:g}" y="{y:g}" {size(PANEL, height)}'
            inner.append(re.sub(r'width="[^"]+" height="[^"]+"', place_of, text, count=1))
    box = f'viewBox="0 0 {PANEL * across * 72:g} {height * rows * 72:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size(PANEL * across, height * rows)} {box}>\n'
    return pdf | {"svg": f"{head}{''.join(inner)}</svg>\n".encode()}


def _name_ends(axis: Axes, ends: Sequence[tuple[float, str, str]]) -> None:
    """Write the names of lines at their ends, one below the other where they crowd; an end has J, name and colour."""
    to_axis = axis.transData + axis.transAxes.inverted()
    labels = []
    for fitness, name, colour in ends:
        height = to_axis.transform((0, fitness))[1]
        labels.append((min(1.0, max(0.0, height)), name, colour))
    labels.sort()
    heights = [height for height, *_ in labels]
    for place, (end, name, colour) in zip(spread(heights, 0.11), labels, strict=True):
        looks: Any = {"transform": axis.transAxes, "color": colour}
        axis.plot([1, 1.03], [end, place], linewidth=0.6, clip_on=False, **looks)
        axis.text(1.04, place, name, fontsize=8.5, va="center", **looks)


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Return ascending places that are moved to both sides until their distances are at least ``gap``."""
    up = accumulate(places, lambda before, place: max(place, before + gap))
    down = accumulate(reversed(places), lambda after, place: min(place, after - gap))
    return [(high + low) / 2 for high, low in zip(up, reversed(list(down)), strict=True)]
