"""The paper's figures 1 and 2 as it prints them, in a font like its text."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate
from string import ascii_lowercase
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import StrMethodFormatter

from narxbench._io.errors import NarxbenchError
from narxbench._report.figures import DARK, METHOD_COLOURS, drawing, new_figure, panels, saved
from narxbench._report.formats import method_name
from narxbench._studies.paper.claims import GA, UPSO
from narxbench._studies.paper.tables import in_order, shared_criterion
from narxbench._study.frames import Frames

# A Times that comes with matplotlib.
_FONT: Any = {"font.family": ["STIXGeneral"], "mathtext.fontset": "stix"}
START = 0.05  # the share of the evaluations after which J must fit into the axis
SYSTEM_TERM, SPURIOUS_TERM = "#0072B2", "#999999"
_FIRST = (GA, UPSO)  # GA is on the left, other methods of a study follow
_LINES = ("-", "--", "-.", ":")
_LABEL = 0.035  # the share of a panel's width that a turned label needs
# The paper leaves this system out of figure 2.
LEFT_OUT = "S4"


def paper_figures(frames: Frames, settings: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the files of the figures ``figure_1`` and ``figure_2`` of a study, each as PDF and SVG, by name.

    They show the frames ``convergence`` and ``selection`` at the smallest SNR, under the criterion that most methods
    have.
    """
    drawings = {
        "figure_1": convergence(shown_rows("convergence", frames, settings)),
        "figure_2": term_frequency(shown_rows("selection", frames, settings)),
    }
    figures = {}
    for name, files in drawings.items():
        for suffix, content in files.items():
            figures[f"{name}.{suffix}"] = content
    return figures


def shown_rows(name: str, frames: Frames, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows of a frame that the figures show: at the smallest SNR, under the criterion that most have."""
    frame, criterion = frames[name], shared_criterion(settings)
    snr_db = frame["snr_db"].min()
    rows = frame[(frame["snr_db"] == snr_db) & (frame["criterion"] == criterion)]
    if rows.empty:
        raise NarxbenchError(f"{name}.csv: found no condition under {criterion} at {snr_db:g} dB, which figures show")
    return in_order(rows, settings)


@contextmanager
def _in_print(name: str) -> Iterator[None]:
    """Draw a figure in this context in a font like the paper's."""
    with drawing(name), mpl.rc_context(_FONT):
        yield


def convergence(curves: pd.DataFrame) -> dict[str, bytes]:
    """Return figure 1: J averaged over the runs against evaluations, two systems in each panel."""
    systems = list(dict.fromkeys(curves["system"]))
    pairs = [systems[place : place + 2] for place in range(0, len(systems), 2)]
    rows = -(-len(pairs) // 2)
    with _in_print("figure_1"):
        figure = new_figure(2.4 * rows)
        for place, (axis, pair) in enumerate(zip(panels(figure, len(pairs), min(2, len(pairs))), pairs, strict=True)):
            _draw_curves(axis, curves, pair)
            _set_caption(axis, place, " and ".join(pair))
        return saved(figure)


def _draw_curves(axis: Axes, curves: pd.DataFrame, systems: Sequence[str]) -> None:
    """Draw the mean J of each method on some systems, on an axis that fits all but the first 5 % of the evaluations."""
    late = []
    for line, system in zip(_LINES, systems, strict=False):
        of_system = curves[curves["system"] == system]
        for colour, method in zip(METHOD_COLOURS, _methods(of_system), strict=False):
            curve = of_system[of_system["method"] == method]
            label = f"{system}: {method_name(method)}"
            axis.plot(curve["evaluations"], curve["mean"], color=colour, linestyle=line, label=label)
            late.append(curve.loc[curve["evaluations"] >= START * curve["evaluations"].max(), "mean"])
    means = pd.concat(late).dropna()
    if len(means):
        margin = 0.05 * (means.max() - means.min()) or 1.0
        axis.set_ylim(means.min() - margin, means.max() + margin)
    axis.set(xlim=(0, curves["evaluations"].max()), xlabel="Function evaluations", ylabel=r"$J$")
    axis.xaxis.label.set_parse_math(True)
    axis.yaxis.label.set_parse_math(True)
    for formatter in (axis.xaxis, axis.yaxis):
        formatter.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.legend(frameon=False, ncols=2)


def term_frequency(selection: pd.DataFrame) -> dict[str, bytes]:
    """Return figure 2: the selection frequency of each candidate term by each method, the GA on the left."""
    systems = list(dict.fromkeys(selection["system"]))
    if len(systems) > 1 and LEFT_OUT in systems:
        systems.remove(LEFT_OUT)
    selection = selection[selection["system"].isin(systems)]
    methods = _methods(selection)
    with _in_print("figure_2"):
        figure = new_figure(1.65 * len(systems))
        axes = iter(panels(figure, len(systems) * len(methods), len(methods)))
        place = 0
        for system in systems:
            for method in methods:
                axis = next(axes)
                is_shown = (selection["system"] == system) & (selection["method"] == method)
                _draw_bars(axis, selection[is_shown])
                _set_caption(axis, place, f"{system} + {method_name(method)}")
                place += 1
        return saved(figure)


def _draw_bars(axis: Axes, terms: pd.DataFrame) -> None:
    """Draw the selection frequency of each candidate term. The system terms have their labels."""
    terms = terms.assign(place=range(1, len(terms) + 1))
    colours = terms["system_term"].map({True: SYSTEM_TERM, False: SPURIOUS_TERM})
    axis.bar(terms["place"], terms["frequency"], width=0.8, color=colours, linewidth=0)
    labels = dict(terms.loc[terms["label"] != "", ["place", "label"]].itertuples(index=False, name=None))
    places = spread(list(labels), _LABEL * len(terms))
    for place, label in zip(places, labels.values(), strict=True):
        axis.text(place, 1.02, label, fontsize=7, ha="center", va="bottom", color=DARK, rotation=90)
    # The first label may be left of its bar, and must not touch the axis.
    axis.set(xlim=(min([1, *places]) - 2, len(terms) + 1), ylim=(0, 1.25), yticks=[0, 0.5, 1], ylabel="ν")


def _methods(rows: pd.DataFrame) -> list[str]:
    """Return the methods of some rows, the GA first and 2D-UPSO second."""
    methods = dict.fromkeys(rows["method"])
    return [*filter(methods.__contains__, _FIRST), *(method for method in methods if method not in _FIRST)]


def _set_caption(axis: Axes, place: int, text: str) -> None:
    """Write the caption of a panel below it."""
    letter = f"({ascii_lowercase[place]}) " if place < len(ascii_lowercase) else ""
    label = axis.get_xlabel()
    axis.set_xlabel(f"{label}\n{letter}{text}" if label else f"{letter}{text}")


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Return ascending places that are moved to both sides until their distances are at least ``gap``."""
    up = accumulate(places, lambda before, place: max(place, before + gap))
    down = accumulate(reversed(places), lambda after, place: min(place, after - gap))
    return [(high + low) / 2 for high, low in zip(up, reversed(list(down)), strict=True)]
