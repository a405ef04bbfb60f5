"""Figures of the study of interpretations as SVG, whose bytes depend only on the findings."""

import textwrap
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from narxbench._report.figures import DARK, METHOD_COLOURS, NARROW, drawing, new_figure, saved
from narxbench._report.formats import method_name, signed
from narxbench._studies.paper.claims import GA, UPSO
from narxbench._studies.paper.interpretations.findings import AS_DESCRIBED, CLOSEST, Findings
from narxbench._studies.paper.interpretations.nearness import COMPARED
from narxbench._studies.paper.published import METRICS

BLUE, ORANGE = METHOD_COLOURS[:2]
GREY = "#999999"
ROW = 0.17  # the height of a row of text in inches
LINE = 46  # the largest number of characters in a line of a label
SHOWN = 12  # the largest number of effects of an algorithm

Drawn = tuple[Figure, list[Line2D], int]  # a figure, the entries of its legend, and the columns of the legend

_COLOURS = {UPSO: BLUE, GA: ORANGE}
_SYMBOLS = {"nu": "ν", "r": "r", "nu_max": "νₘₐₓ"}


def figures(findings: Findings) -> dict[str, bytes]:
    """Return ``published_reproduced`` and ``effects`` as SVG by name."""
    drawn = {}
    for function in (_published_reproduced, _effects):
        name = function.__name__.removeprefix("_")
        with drawing(f"interpretations {name}"):
            figure, handles, columns = function(findings)
            figure.legend(handles=handles, loc="outside upper right", ncols=columns, frameon=False)
            drawn[name] = saved(figure, ["svg"])["svg"]
    return drawn


def _published_reproduced(findings: Findings) -> Drawn:
    """Draw every published value against the median that is reproduced, as described and by the closest."""
    rows = findings.values
    roles = [role for role in (AS_DESCRIBED, CLOSEST) if role in findings.roles]
    figure = new_figure(0.7 + 1.75 * len(roles), NARROW)
    axes = figure.subplots(len(roles), len(METRICS), squeeze=False, sharex=True, sharey=True)
    for row, role in enumerate(roles):
        for axis, metric in zip(axes[row], METRICS, strict=True):
            _draw_values(axis, rows[(rows["role"] == role) & (rows["metric"] == metric)])
            axis.set_title(f"{_SYMBOLS[metric]}, {role}", loc="left")
        axes[row][0].set_ylabel("reproduced")
    axes[-1][len(METRICS) // 2].set_xlabel("published")
    handles = []
    for marker, (name, colour) in zip("os", _COLOURS.items(), strict=True):
        handles.append(_dot(method_name(name), colour, marker, "none"))
    handles.append(_dot("clearly different on every data set", DARK))
    handles.append(Line2D([], [], linestyle="", label="number: mean of reproduced − published"))
    return figure, handles, 2


def _draw_values(axis: Axes, values: pd.DataFrame) -> None:
    """Draw the published values of a metric against the reproduced ones, with the mean difference of each algorithm."""
    axis.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, zorder=0)
    for place, (name, colour) in enumerate(_COLOURS.items()):
        of_algorithm = values[values["algorithm"] == name]
        for different, group in of_algorithm.groupby("different"):
            points = group[["published", "reproduced"]].drop_duplicates()
            looks: Any = {"color": colour, "markerfacecolor": colour if different else "none"}
            axis.plot(*points.to_numpy().T, "os"[place], markersize=3.2, markeredgewidth=0.7, **looks)
        if len(of_algorithm):
            mean = signed((of_algorithm["reproduced"] - of_algorithm["published"]).mean(), 2)
            axis.annotate(mean, (0, 0.9 - 0.12 * place), fontsize=8, fontweight="bold", color=colour)
    axis.set_aspect("equal")
    for set_ticks in (axis.set_xticks, axis.set_yticks):
        set_ticks([0, 0.5, 1], ["0", "0.5", "1"])


def _effects(findings: Findings) -> Drawn:
    """Draw the largest changes of the deviance by a single option, with their intervals."""
    columns = {}
    for name in COMPARED:
        largest = findings.changes_of_deviance(name).head(SHOWN)
        if len(largest):
            columns[name] = largest.sort_values("median", kind="stable").reset_index()
    labels = {name: _option_labels(findings, rows) for name, rows in columns.items()}
    lines = [1 + 0.6 * sum(label.count("\n") for label in of_panel) + len(of_panel) for of_panel in labels.values()]
    figure = new_figure(0.9 * max(1, len(columns)) + ROW * sum(lines), NARROW)
    axes = figure.subplots(max(1, len(columns)), squeeze=False, sharex=True, height_ratios=lines or None)[:, 0]
    if not columns:
        axes[0].set_axis_off()
        axes[0].annotate("No single option was tried.", (0.5, 0.5), xycoords="axes fraction", ha="center")
    for axis, (name, rows) in zip(axes, columns.items(), strict=False):
        for row in rows.itertuples():
            colour = GREY if row.interval_low <= 0 <= row.interval_high else BLUE
            if not pd.isna(row.interval_low):
                axis.hlines(row.Index, row.interval_low, row.interval_high, color=colour, linewidth=1.4)
            face = "white" if row.contradicts else colour
            axis.plot(row.median, row.Index, "o", markersize=4.5, color=colour, markerfacecolor=face)
        _label_rows(axis, labels[name])
        axis.axvline(0, color=GREY, linewidth=0.8, zorder=0)
        axis.set_title(f"{method_name(name)} under BIC", loc="left")
    axes[-1].set_xlabel("change of the deviance (left: nearer)")
    against = _dot("contradicts a statement", DARK, face="white")
    interval = Line2D([], [], color=DARK, linewidth=1.4, label="95 % for all options together")
    return figure, [_dot("median; interval without 0", BLUE), _dot("interval with 0", GREY), against, interval], 2


def _option_labels(findings: Findings, effects: pd.DataFrame) -> list[str]:
    """Return the words for the option of each effect, in lines."""
    return [textwrap.fill(findings.study.words(text), LINE) for text in effects["interpretation"]]


def _label_rows(axis: Axes, labels: list[str]) -> None:
    """Label the rows of an axis from top to bottom."""
    axis.set_yticks(range(len(labels)), labels, linespacing=0.95)
    axis.set_ylim(len(labels) - 0.5, -0.5)
    axis.tick_params(axis="y", length=0)


def _dot(label: str, colour: str, marker: str = "o", face: str = "") -> Line2D:
    """Return the entry of a marker in a legend."""
    looks: Any = {"markerfacecolor": face or colour, "linestyle": "", "markersize": 4.5}
    return Line2D([], [], color=colour, marker=marker, label=label, **looks)
