"""Figures of the study of interpretations as SVG; the bytes depend on nothing but the findings."""

import textwrap
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import StrMethodFormatter

from narxbench.analysis.claims import GA, UPSO
from narxbench.analysis.multiverse import SAME_J, VERDICTS, Findings
from narxbench.analysis.multiverse_frame import COMPARED, SCREENED
from narxbench.experiment.interpretations import BASELINE, SHARED_PARTS
from narxbench.report.figures import METHOD_COLOURS, drawing, new_figure, saved
from narxbench.report.formats import method_name

BLUE, ORANGE, GREEN, PINK = METHOD_COLOURS[:4]
DARK, GREY = "#333333", "#999999"
ROLE_COLOURS = (BLUE, GREEN, ORANGE, PINK)
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")
ROW = 0.15  # inches of height for a row of text

Drawn = tuple[Figure, list[Line2D], int]  # a figure, and the entries of its legend in so many columns

_ON_PAPER = "published values"
_LOOKS: tuple[dict[str, Any], ...] = (
    {"color": BLUE, "marker": "o", "markersize": 5, "label": VERDICTS[True]},
    {"color": ORANGE, "marker": "x", "markersize": 5, "label": VERDICTS[False]},
    {"color": GREY, "marker": ".", "markersize": 2, "label": VERDICTS[None]},
)


def figures(findings: Findings) -> dict[str, bytes]:
    """Return the figures ``effects``, ``ranking``, ``side_by_side``, ``claims`` and ``gaps`` as SVG."""
    functions: list[Callable[[Findings], Drawn]] = [_effects, _ranking, _side_by_side, _claims, _gaps]
    drawn = {}
    for function in functions:
        name = function.__name__.removeprefix("_")
        with drawing(f"interpretations {name}"):
            figure, handles, columns = function(findings)
            figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False)
            drawn[name] = saved(figure, ["svg"])["svg"]
    return drawn


def _effects(findings: Findings) -> Drawn:
    """Draw the change of the distance by every single option, with Student's intervals, by what it belongs to."""
    effects = findings.effects[findings.effects["measure"] == "distance"]
    order = effects["part"].map({part: place for place, part in enumerate((*SHARED_PARTS, *COMPARED))})
    effects = effects.assign(order=order).sort_values(["order", "median"], kind="stable")
    columns = {name: own for name in COMPARED if len(own := effects[effects["algorithm"] == name])}
    figure = new_figure(0.9 + ROW * max((len(own) + own["part"].nunique() for own in columns.values()), default=0))
    axes = figure.subplots(1, max(1, len(columns)), squeeze=False)[0]
    if not columns:
        axes[0].set_axis_off()
        axes[0].annotate("No single option was tried.", (0.5, 0.5), xycoords="axes fraction", ha="center")
    for axis, (name, own) in zip(axes, columns.items(), strict=False):
        labels: list[str] = []
        for part, group in own.groupby("part", sort=False):
            labels.append(method_name(str(part)))
            for effect in group.itertuples():
                colour = BLUE if effect.clear else GREY
                if not pd.isna(effect.interval_low):
                    axis.hlines(len(labels), effect.interval_low, effect.interval_high, color=colour, linewidth=1.4)
                face = "white" if effect.contradicts else colour
                axis.plot(effect.median, len(labels), marker="o", markersize=4, color=colour, markerfacecolor=face)
                labels.append(effect.interpretation)
        _label_rows(axis, labels, [label for label in labels if "=" not in label])
        axis.axvline(0, color=GREY, linewidth=0.8, zorder=0)
        axis.set_xlabel("change of the distance (left: closer)")
        axis.set_title(f"{method_name(name)}: distance to its published values", loc="left")
    handles = [_dot("median; interval without 0", BLUE), _dot("interval with 0", GREY)]
    handles.append(_dot("contradicts a statement", DARK, face="white"))
    handles.append(Line2D([], [], color=DARK, linewidth=1.4, label="Student's interval of the mean"))
    return figure, handles, 4


def _ranking(findings: Findings) -> Drawn:
    """Draw all interpretations of 2D-UPSO in the order of their distance, with the range over the data seeds."""
    ranked = findings.rankings[UPSO]
    figure = new_figure(0.7 + ROW * len(ranked))
    axis = figure.subplots()
    baseline, against = ranked["interpretation"] == BASELINE, ranked["contradicts"] != ""
    looks = {"contradicts nothing": (BLUE, BLUE), "contradicts a statement": (BLUE, "white")}
    looks["baseline"] = (GREEN, GREEN)
    groups = (ranked[~baseline & ~against], ranked[against], ranked[baseline])
    for own, (colour, face) in zip(groups, looks.values(), strict=True):
        axis.hlines(own["place"] - 1, own["distance_low"], own["distance_high"], color=colour, linewidth=1.0)
        axis.plot(own["distance"], own["place"] - 1, "o", markersize=3.5, color=colour, markerfacecolor=face)
    names = [f" ({name})" if name else "" for name in ranked["names"]]
    labels = list(ranked["interpretation"] + names)
    _label_rows(axis, labels, [label for label in labels if label.split()[0] == BASELINE])
    axis.set_xlim(left=0)
    axis.grid(axis="x", color="#dddddd", linewidth=0.5)
    axis.set_axisbelow(True)
    axis.set_xlabel("distance to the published values: median and range over the data seeds")
    return figure, [_dot(label, colour, face=face) for label, (colour, face) in looks.items()], 3


def _side_by_side(findings: Findings) -> Drawn:
    """Draw the published r and nu_max of every condition beside those of the interpretations in a role."""
    rows = findings.side_by_side
    conditions = rows.groupby(["algorithm", "system", "snr_db"], sort=False)
    places, rows = [place for place, _ in conditions], rows.assign(x=conditions.ngroup())
    styles = {role: (ROLE_COLOURS[place], MARKERS[place]) for place, role in enumerate(dict.fromkeys(rows["role"]))}
    figure = new_figure(4.6)
    axes = figure.subplots(2, 1, sharex=True)
    groups = [f"{system}, {method_name(algorithm)}" for algorithm, system, _ in places]
    for axis, metric, name in zip(axes, ("r", "nu_max"), ("r", "ν_max"), strict=True):
        known = rows[rows["metric"] == metric]
        axis.hlines(known["published"], known["x"] - 0.4, known["x"] + 0.4, color=DARK, linewidth=1.6)
        for place, (role, style) in enumerate(styles.items()):
            own = known[known["role"] == role]
            _ranges(axis, own, "reproduced", own["x"] + _dodge(place, len(styles), 0.6), *style)
        axis.set_ylabel(name)
        axis.set_ylim(-0.03, 1.03)
        for x, (one, other) in enumerate(pairwise(groups)):
            if one != other:
                axis.axvline(x + 0.5, color="#cccccc", linewidth=0.6)
    axes[1].set_xticks(range(len(places)), [f"{snr_db:g}" for *_, snr_db in places])
    axes[1].tick_params(axis="x", length=0)
    axes[1].set_xlabel("SNR, dB")
    for name in dict.fromkeys(groups):
        middle = groups.index(name) + (groups.count(name) - 1) / 2
        axes[0].annotate(name, (middle, 1.02), xycoords=("data", "axes fraction"), ha="center", va="bottom")
    handles = [Line2D([], [], color=DARK, linewidth=1.6, label="published")]
    handles += [_dot(role, *style) for role, style in styles.items()]
    return figure, handles, len(handles)


def _claims(findings: Findings) -> Drawn:
    """Draw which claims hold under the interpretations in a role and under every single option."""
    claims = findings.claims
    on_paper = claims[["claim"]].assign(name=_ON_PAPER, verdict=claims["published"])
    shown = pd.concat([on_paper, findings.shown_verdicts])
    options = findings.multiverse.options
    options = options[options["interpretation"].isin(shown["name"])]
    places: dict[str, float] = {}
    parts = (names for _, names in options.groupby("part", sort=False)["interpretation"])
    # A gap precedes the single options of each part.
    for names in ([_ON_PAPER, *findings.roles], *parts):
        start = max(places.values(), default=-1.8) + 1.8
        places |= {name: start + index for index, name in enumerate(names)}
    figure = new_figure(2.6 + 1.2 * ROW * len(claims))
    axis = figure.subplots()
    for looks in _LOOKS:
        own = shown[shown["verdict"] == looks["label"]]
        axis.plot(own["name"].map(places), own["claim"].map(list(claims["claim"]).index), linestyle="", **looks)
    axis.set_xticks(list(places.values()), list(places), rotation=90, fontsize=6)
    axis.set_yticks(range(len(claims)), [textwrap.fill(title, 50) for title in claims["title"]])
    axis.set_ylim(len(claims) - 0.5, -0.5)
    axis.set_xlim(-0.7, max(places.values()) + 0.7)
    axis.tick_params(length=0)
    for y in range(len(claims) - 1):
        axis.axhline(y + 0.5, color="#e5e5e5", linewidth=0.5, zorder=0)
    axis.spines[["left", "bottom"]].set_visible(False)
    handles = [Line2D([], [], linestyle="", **looks) for looks in _LOOKS]
    handles.append(Line2D([], [], linestyle="", label="(empty: does not concern the claim)"))
    return figure, handles, 4


def _gaps(findings: Findings) -> Drawn:
    """Draw how far the median final J of methods, and the true structure's J, lie above the best known J."""
    shown = findings.gaps[findings.gaps["criterion"] == SCREENED]
    shown = shown.assign(series=list(zip(shown["algorithm"], shown["role"], strict=True)))
    series = list(dict.fromkeys(shown["series"]))
    colours = [{UPSO: BLUE, GA: ORANGE}.get(algorithm, GREEN) for algorithm, _ in series]
    systems = list(dict.fromkeys(shown["system"]))
    figure = new_figure(2.4 * ((len(systems) + 1) // 2) + 0.9)
    axes = figure.subplots((len(systems) + 1) // 2, 2, squeeze=False, sharey=True).ravel()
    for axis in axes[len(systems) :]:
        axis.set_axis_off()
    for axis, system in zip(axes, systems, strict=False):
        here = shown[shown["system"] == system]
        snrs = sorted(set(here["snr_db"]), reverse=True)
        for index, name in enumerate(series):
            own = here[here["series"] == name]
            x = own["snr_db"].map(snrs.index)
            at = x + _dodge(index, len(series), 0.7)
            _ranges(axis, own, "median_gap", at, colours[index], MARKERS[index % len(MARKERS)])
            if index == 0:  # 2D-UPSO under the baseline
                low = own["true_gap_low"]
                axis.bar(x, own["true_gap_high"] - low, 0.9, low, color="#e0e0e0", zorder=0)
                axis.hlines(own["true_gap"], x - 0.45, x + 0.45, color=DARK, linewidth=1)
        # Linear below 0.01, for many gaps are exactly 0.
        axis.set_yscale("symlog", linthresh=0.01)
        axis.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axis.set_title(system, loc="left")
        axis.set_xticks(range(len(snrs)), [f"{snr_db:g} dB" for snr_db in snrs])
        axis.tick_params(axis="x", length=0)
    for axis in axes[: len(systems) : 2]:
        axis.set_ylabel("J above the best known")
    axes[0].set_ylim(bottom=-SAME_J)
    handles = [Line2D([], [], color=DARK, linewidth=1, label="true structure (baseline's data; band: range)")]
    for index, (algorithm, role) in enumerate(series):
        handles.append(_dot(f"{method_name(algorithm)}, {role}", colours[index], MARKERS[index % len(MARKERS)]))
    return figure, handles, 3


def _label_rows(axis: Axes, labels: Sequence[str], bold: Collection[str]) -> None:
    axis.set_yticks(range(len(labels)), labels)
    for tick, label in zip(axis.get_yticklabels(), labels, strict=True):
        tick.set_fontweight("bold" if label in bold else "normal")
    axis.set_ylim(len(labels) - 0.5, -0.5)
    axis.tick_params(axis="y", length=0)


def _ranges(axis: Axes, rows: pd.DataFrame, name: str, at: Any, colour: str, marker: str) -> None:
    """Draw median and range of a quantity of each row, upright."""
    axis.vlines(at, rows[f"{name}_low"], rows[f"{name}_high"], color=colour, linewidth=1.0)
    axis.plot(at, rows[name], marker=marker, markersize=3.5, color=colour, linestyle="")


def _dot(label: str, colour: str, marker: str = "o", face: str = "") -> Line2D:
    looks: Any = {"markerfacecolor": face or colour, "linestyle": "", "markersize": 4}
    return Line2D([], [], color=colour, marker=marker, label=label, **looks)


def _dodge(index: int, count: int, width: float) -> float:
    return width * ((index + 0.5) / count - 0.5)
