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

from narxbench.io.errors import NarxbenchError
from narxbench.report.figures import DARK, METHOD_COLOURS, drawing, new_figure, panels, saved
from narxbench.report.formats import criterion_name, fixed, method_name
from narxbench.studies.paper.tables import in_order, shared_criterion
from narxbench.study.frames import Frames

START = 0.05  # share of the evaluations after which J must fit into the axis
SYSTEM_TERM, SPURIOUS_TERM = "#0072B2", "#999999"
_ROOM = 0.032  # of the width of a panel: a label above a bar, which is turned
PANEL = 4.6  # inches: the width of a panel, of which a page shows as many side by side as it has room for
DASHES = ("-", "--", "-.", ":")


def paper_figures(frames: Frames, settings: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the files of the figures ``convergence`` and ``term_frequency`` of a study, each as PDF and SVG, by name.

    Of the frames ``convergence``, ``selection`` and ``gaps`` they show what the settings have, in this order, at the
    SNR of the figures.
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

    Median over the runs of the best J so far, with the quartiles as a band, against evaluations, for every method. J is
    drawn above the best known J of the data, on an axis that is logarithmic beyond 1: it shows searches
    that end far from each other as well as those that end close together. Where runs have data of their own there is no
    best known J, and J itself is drawn. The axis fits what follows the first 5 % of the evaluations.
    """
    looks = zip(dict.fromkeys(curves["method"]), cycle(METHOD_COLOURS), cycle(DASHES), strict=False)
    styles: dict[str, dict[str, Any]] = {name: {"color": colour, "linestyle": dash} for name, colour, dash in looks}
    known, numbers = gaps.groupby("system")[["best_known", "true_structure"]].first(), ["median", "low", "high"]

    def draw(axis: Axes, place: int, system: str) -> None:
        best, true = known.loc[system]
        own = curves[curves["system"] == system]
        title, ylabel = f"({ascii_lowercase[place]}) {system}" if place < len(ascii_lowercase) else system, "best J"
        if math.isfinite(best):
            title += f": best known J ({criterion_name(own['criterion'].iloc[0])}) {fixed(best, 1)}"
            ylabel = "J above best known"
            own, true = own.assign(**{name: own[name] - best for name in numbers}), true - best
            axis.set_yscale("symlog", linthresh=1)
        else:
            axis.yaxis.set_major_locator(MaxNLocator(4))
        ends: list[tuple[float, str, str]] = []
        for method, curve in own.groupby("method", sort=False):
            x, style = curve["evaluations"], styles[method]
            axis.fill_between(x, curve["low"], curve["high"], color=style["color"], alpha=0.2, linewidth=0)
            axis.plot(x, curve["median"], **style)
            ends.append((curve["median"].iloc[-1], method_name(method), style["color"]))
        if math.isfinite(true):
            axis.axhline(true, color=DARK, linestyle=(0, (1, 1)), linewidth=1.2)
            ends.append((true, "true structure", DARK))
        budget = own["evaluations"].max()
        late = own.loc[own["evaluations"] >= START * budget, numbers]
        low, high = late.min(axis=None), late.max(axis=None)
        if math.isfinite(best):
            axis.set_ylim(-0.2, max(2 * high, 1) if math.isfinite(high) else 1)
        elif math.isfinite(low):
            margin = 0.05 * (high - low) or 1.0
            axis.set_ylim(low - margin, high + margin)
        axis.set(xlim=(0, budget), xlabel="fitness evaluations", ylabel=ylabel)
        axis.set_title(title, loc="left")
        for formatter in (axis.xaxis, axis.yaxis):
            formatter.set_major_formatter(StrMethodFormatter("{x:,g}"))
        _name_ends(axis, [end for end in ends if math.isfinite(end[0])])

    systems = enumerate(dict.fromkeys(curves["system"]))
    return _panelled("convergence", [partial(draw, place=place, system=system) for place, system in systems], 2.5)


def term_frequency(selection: pd.DataFrame, threshold: float) -> dict[str, bytes]:
    """Return the figure of selection frequencies (paper, figure 2) from ``selection`` at one SNR and criterion.

    A panel for each system and method; one bar for each candidate term in canonical order.
    """

    def draw(axis: Axes, system: str, method: str, terms: pd.DataFrame) -> None:
        n_terms = len(terms)
        terms = terms.assign(place=range(1, n_terms + 1))
        for colour, own in ((SYSTEM_TERM, terms["system_term"]), (SPURIOUS_TERM, ~terms["system_term"])):
            found = terms[own & (terms["count"] > 0)]
            axis.bar(found["place"], found["frequency"], width=0.8, color=colour, linewidth=0)
        axis.axhline(threshold, color=DARK, linestyle="--", linewidth=0.8)
        beside, above = axis.get_yaxis_transform(), axis.get_xaxis_transform()
        axis.text(1.01, threshold, f"threshold\n{threshold:g}", fontsize=8.5, va="center", transform=beside)
        labels = dict(terms.loc[terms["label"] != "", ["place", "label"]].itertuples(index=False))
        looks: Any = {"color": SYSTEM_TERM, "fontsize": 8, "rotation": 90, "ha": "center", "va": "bottom"}
        for at, (place, label) in zip(_spread(list(labels), _ROOM * (n_terms + 1)), labels.items(), strict=True):
            axis.plot([place, at], [1.02, 1.1], color=SYSTEM_TERM, linewidth=0.5, transform=above, clip_on=False)
            axis.text(at, 1.12, label, transform=above, **looks)
        step = max(10, math.ceil(n_terms / 100) * 10)
        axis.set(xlim=(0, n_terms + 1), ylim=(0, 1), yticks=[0, 0.5, 1])
        axis.set(xlabel="candidate term, numbered in canonical order", ylabel="frequency ν")
        axis.set_xticks([1, *range(step, n_terms + 1, step)])
        axis.set_title(f"{system}, {method_name(method)}", loc="left", pad=32)
        axis.set_title("system terms", loc="center", pad=32, color=SYSTEM_TERM, fontsize=8.5)
        axis.set_title("spurious terms", loc="right", pad=32, color="#666666", fontsize=8.5)

    conditions = selection.groupby(["system", "method"], sort=False)
    drawn = [partial(draw, system=system, method=method, terms=terms) for (system, method), terms in conditions]
    return _panelled("term_frequency", drawn, 2.3)


def _panelled(name: str, drawn: Sequence[Callable[[Axes], None]], height: float) -> dict[str, bytes]:
    """Return a figure of panels; within the SVG each is an SVG of its own, which a page can put where it has room."""

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
    at = sorted((min(1.0, max(0.0, to_axis.transform((0, j))[1])), name, colour) for j, name, colour in ends)
    for place, (end, name, colour) in zip(_spread([end for end, *_ in at], 0.11), at, strict=True):
        looks: Any = {"transform": axis.transAxes, "color": colour}
        axis.plot([1, 1.03], [end, place], linewidth=0.6, clip_on=False, **looks)
        axis.text(1.04, place, name, fontsize=8.5, va="center", **looks)


def _spread(places: Sequence[float], gap: float) -> list[float]:
    """Return ascending places moved, to both sides, to distances of at least ``gap``."""
    up = accumulate(places, lambda before, place: max(place, before + gap))
    down = accumulate(reversed(places), lambda after, place: min(place, after - gap))
    return [(high + low) / 2 for high, low in zip(up, reversed(list(down)), strict=True)]
