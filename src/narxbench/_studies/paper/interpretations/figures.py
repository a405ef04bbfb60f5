"""Figures of the study of interpretations as SVG; their bytes depend only on the findings."""

import textwrap
from collections.abc import Collection, Sequence
from itertools import accumulate, pairwise
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import StrMethodFormatter

from narxbench._report.figures import DARK, METHOD_COLOURS, NARROW, drawing, new_figure, saved
from narxbench._report.formats import MISSING, count, method_name, signed, snr
from narxbench._studies.paper.claims import GA, UPSO, VERDICTS
from narxbench._studies.paper.frames import UNDECIDED
from narxbench._studies.paper.interpretations.findings import AS_DESCRIBED, CLOSEST, Findings
from narxbench._studies.paper.interpretations.nearness import COMPARED, SCREENED
from narxbench._studies.paper.published import METRICS

BLUE, ORANGE = METHOD_COLOURS[:2]
GREY, PALE = "#999999", "#dddddd"
ROW = 0.17  # the height of a row of text in inches
LINES = {"effects": 36, "ranking": 72}  # the largest number of characters in a line of a label
SHOWN = {"effects": 20, "ranking": 25}  # the largest number of rows: of effects, of interpretations

Drawn = tuple[Figure, list[Line2D], int]  # a figure, the entries of its legend, and the columns of the legend

_ON_PAPER = "published values"
# Between columns of verdicts, so that their heads do not touch; a bar is 1.2 long.
_COLUMN = 1.5
_COLOURS = {UPSO: BLUE, GA: ORANGE}
_MARKERS = ("o", "s", "^")
_SYMBOLS = {"nu": "ν", "r": "r", "nu_max": "νₘₐₓ"}
_LOOKS: dict[str, dict[str, Any]] = {
    VERDICTS[True]: {"color": BLUE, "marker": "o", "markersize": 6.5},
    VERDICTS[False]: {"color": ORANGE, "marker": "x", "markersize": 5.5, "markeredgewidth": 1.6},
    UNDECIDED: {"color": GREY, "marker": "o", "markersize": 5, "markerfacecolor": "none"},
    VERDICTS[None]: {"color": GREY, "marker": "_", "markersize": 5},
}
_GROUPS = {
    "all": "Under every interpretation",
    "some": "Under some interpretations",
    "none": "Under no interpretation",
    "unjudged": "Cannot be judged",
}


def figures(findings: Findings) -> dict[str, bytes]:
    """Return ``published_reproduced``, ``claims``, ``effects``, ``ranking`` and ``gaps`` as SVG by name."""
    drawn = {}
    for function in (_published_reproduced, _claims, _effects, _ranking, _gaps):
        name = function.__name__.removeprefix("_")
        with drawing(f"interpretations {name}"):
            figure, handles, columns = function(findings)
            figure.legend(handles=handles, loc="outside upper right", ncols=columns, frameon=False)
            drawn[name] = saved(figure, ["svg"])["svg"]
    return drawn


def _published_reproduced(findings: Findings) -> Drawn:
    """Draw every published value against the median that is reproduced, as described and by the closest."""
    rows = findings.side_by_side
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


def _claims(findings: Findings) -> Drawn:
    """Draw which claims hold for the published values, for each role, and under which share of the interpretations."""
    roles = list(findings.roles)
    verdicts = findings.role_verdicts.set_index(["claim", "role"])["verdict"]
    rows = _rows_of_claims(findings.claims)
    labels = [label for label, _ in rows]
    heights = [1.6 + 0.85 * label.count("\n") for label in labels]
    tops = list(accumulate(heights, initial=0.0))
    middles = [(top + bottom) / 2 for top, bottom in pairwise(tops)]
    figure = new_figure(1.0 + 0.132 * tops[-1], NARROW)
    axis = figure.subplots()
    columns = [_COLUMN * place for place in range(len(roles) + 1)]
    bar = columns[-1] + 0.6  # where the bars start
    for (_, claim), y in zip(rows, middles, strict=True):
        if claim is not None:
            axis.plot(0, y, linestyle="", **_LOOKS[claim.published])
            for x, role in zip(columns[1:], roles, strict=True):
                axis.plot(x, y, linestyle="", **_LOOKS[verdicts[claim.claim, role]])
            axis.barh(y, 1.2 * claim.holds / max(claim.judged, 1), left=bar, height=0.8, color=BLUE)
            axis.barh(y, 1.2, left=bar, height=0.8, color="none", edgecolor=GREY, linewidth=0.5)
            share_of = f"{count(claim.holds)} of {count(claim.judged)}" if claim.judged else MISSING
            axis.annotate(share_of, (bar + 1.28, y), va="center", fontsize=8)
    heads = [*(head.replace(" ", "\n") for head in (_ON_PAPER, *roles)), "all"]
    axis.set_xticks([*columns, bar + 0.6], heads, fontsize=7.5, linespacing=0.95, multialignment="center")
    axis.xaxis.tick_top()
    _label_rows(axis, labels, list(_GROUPS.values()), middles)
    axis.hlines(tops[1:-1], -0.5, bar + 2.3, color=PALE, linewidth=0.5, zorder=0)
    axis.set(ylim=(tops[-1], 0), xlim=(-0.5, bar + 2.3))
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    return figure, [Line2D([], [], linestyle="", label=verdict, **looks) for verdict, looks in _LOOKS.items()], 3


def _rows_of_claims(claims: pd.DataFrame) -> list[tuple[str, Any]]:
    """Return the heading of each group with None, then the titles of its claims, each with its row."""
    rows: list[tuple[str, Any]] = []
    for group, heading in _GROUPS.items():
        of_group = claims[claims["group"] == group]
        if of_group.empty:
            continue
        rows.append((heading, None))
        order = (-of_group["holds"] / of_group["judged"]).sort_values(kind="stable").index
        for claim in of_group.loc[order].itertuples():
            rows.append((textwrap.fill(claim.title.replace("ν_max", _SYMBOLS["nu_max"]), 44), claim))
    return rows


def _effects(findings: Findings) -> Drawn:
    """Draw the largest changes of the deviance by a single option, with their intervals."""
    effects = findings.effects_overview[findings.effects_overview["rank"] <= SHOWN["effects"]]
    columns = {}
    for name in COMPARED:
        of_algorithm = effects[effects["algorithm"] == name]
        if len(of_algorithm):
            columns[name] = of_algorithm.sort_values("change", kind="stable").reset_index()
    labels = {name: _option_labels(findings, rows) for name, rows in columns.items()}
    lines = [label.count("\n") + 1 for of_algorithm in labels.values() for label in of_algorithm]
    # Labels of several lines have shorter neighbours.
    height = max(1.0, 0.75 * max(lines, default=1))
    figure = new_figure(1.2 + ROW * height * max(map(len, columns.values()), default=1))
    axes = figure.subplots(1, max(1, len(columns)), squeeze=False)[0]
    if not columns:
        axes[0].set_axis_off()
        axes[0].annotate("No single option was tried.", (0.5, 0.5), xycoords="axes fraction", ha="center")
    for axis, (name, rows) in zip(axes, columns.items(), strict=False):
        for row in rows.itertuples():
            colour = GREY if row.interval_low <= 0 <= row.interval_high else BLUE
            if not pd.isna(row.interval_low):
                axis.hlines(row.Index, row.interval_low, row.interval_high, color=colour, linewidth=1.4)
            face = "white" if row.contradicts else colour
            axis.plot(row.change, row.Index, "o", markersize=4.5, color=colour, markerfacecolor=face)
        _label_rows(axis, labels[name], [])
        axis.axvline(0, color=GREY, linewidth=0.8, zorder=0)
        axis.set_xlabel("change of the deviance (left: nearer)")
        axis.set_title(f"{method_name(name)} under BIC", loc="left")
    against = _dot("contradicts a statement", DARK, face="white")
    interval = Line2D([], [], color=DARK, linewidth=1.4, label="95 % for all options together")
    return figure, [_dot("median; interval without 0", BLUE), _dot("interval with 0", GREY), against, interval], 4


def _option_labels(findings: Findings, effects: pd.DataFrame) -> list[str]:
    """Return the words for the option of each effect, in lines."""
    options = effects["design_choice"] + "=" + effects["option"]
    return [textwrap.fill(findings.study.words(text), LINES["effects"]) for text in options]


def _ranking(findings: Findings) -> Drawn:
    """Draw the nearest interpretations of 2D-UPSO and those in a role, with the range over the data seeds."""
    ranked = findings.rankings[UPSO]
    in_role = [pair.upso2d for pair in findings.roles.values()]
    shown = ranked[(ranked["place"] <= SHOWN["ranking"]) | ranked["interpretation"].isin(in_role)].reset_index()
    labels, bold = _ranked_labels(findings, shown)
    figure = new_figure(1.2 + 1.1 * ROW * sum(label.count("\n") + 1.4 for label in labels))
    axis = figure.subplots()
    axis.set_title(f"{method_name(UPSO)} under BIC: {len(ranked)} interpretations were run", loc="left")
    against = shown["contradicts"] != ""
    looks = {"contradicts nothing": BLUE, "contradicts a statement": "white"}
    for rows, face in zip((shown[~against], shown[against]), looks.values(), strict=True):
        axis.hlines(rows.index, rows["deviance_low"], rows["deviance_high"], color=BLUE, linewidth=1.2)
        axis.plot(rows["deviance"], rows.index, "o", markersize=4.5, color=BLUE, markerfacecolor=face)
    _label_rows(axis, labels, bold)
    axis.set_xlim(left=0)
    axis.grid(axis="x", color=PALE, linewidth=0.5)
    axis.set_axisbelow(True)
    axis.set_xlabel("deviance: median and range over the data sets")
    return figure, [_dot(label, BLUE, face=face) for label, face in looks.items()], 2


def _ranked_labels(findings: Findings, ranked: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return the place, the words and the roles of each interpretation in lines, and the labels of those in a role."""
    labels, in_role = [], []
    for row in ranked.itertuples():
        roles = [role for role, pair in findings.roles.items() if pair.upso2d == row.interpretation]
        words = findings.study.words(row.interpretation)
        text = words or AS_DESCRIBED
        if words and roles:
            text += f" ({', '.join(roles)})"
        labels.append(textwrap.fill(f"{row.place}  {text}", LINES["ranking"], break_on_hyphens=False))
        if roles:
            in_role.append(labels[-1])
    return labels, in_role


def _gaps(findings: Findings) -> Drawn:
    """Draw how far the median final J of each search, and the true structure's J, lie above the best known J."""
    series = findings.structures_found[["label", "algorithm", "interpretation"]].drop_duplicates()
    gaps = series.merge(findings.gaps[findings.gaps["criterion"] == SCREENED])
    true = gaps[gaps["algorithm"] == UPSO].assign(label="True structure")
    for end in ("", "_low", "_high"):
        true[f"median_gap{end}"] = true[f"true_gap{end}"]
    shown = pd.concat([gaps, true])
    labels, systems = list(dict.fromkeys(shown["label"])), list(dict.fromkeys(shown["system"]))
    snrs = sorted(set(shown["snr_db"]), reverse=True)
    figure = new_figure(0.9 + 2.2 * ROW * len(labels))
    axes = figure.subplots(1, max(1, len(systems)), squeeze=False, sharey=True)[0]
    for axis, system in zip(axes, systems, strict=False):
        for index, snr_db in enumerate(snrs):
            rows = shown[(shown["system"] == system) & (shown["snr_db"] == snr_db)]
            at = rows["label"].map(labels.index) + 0.5 * ((index + 0.5) / len(snrs) - 0.5)
            colour = METHOD_COLOURS[index % len(METHOD_COLOURS)]
            axis.hlines(at, rows["median_gap_low"], rows["median_gap_high"], color=colour, linewidth=1.2)
            axis.plot(rows["median_gap"], at, _MARKERS[index % len(_MARKERS)], markersize=3.5, color=colour)
        axis.set_xscale("symlog", linthresh=1)
        axis.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        axis.set_xlim(-0.2, 2 * max(1.0, shown["median_gap_high"].max()))
        axis.set_title(system, loc="left")
        axis.tick_params(axis="y", length=0)
        for place in range(len(labels) - 1):
            axis.axhline(place + 0.5, color=PALE, linewidth=0.5, zorder=0)
    _label_rows(axes[0], [textwrap.fill(label, 28) for label in labels], [])
    figure.supxlabel("median J above the best known: median and range over the data sets", fontsize="medium")
    looks = zip(snrs, METHOD_COLOURS, _MARKERS, strict=False)
    return figure, [_dot(snr(snr_db), colour, marker) for snr_db, colour, marker in looks], 3


def _label_rows(axis: Axes, labels: Sequence[str], bold: Collection[str], at: Sequence[float] | None = None) -> None:
    """Label the rows of an axis, some in bold, from top to bottom."""
    axis.set_yticks(at or range(len(labels)), labels)
    for tick, label in zip(axis.get_yticklabels(), labels, strict=True):
        tick.set(fontweight="bold" if label in bold else "normal", linespacing=0.95)
    axis.set_ylim(len(labels) - 0.5, -0.5)
    axis.tick_params(axis="y", length=0)


def _dot(label: str, colour: str, marker: str = "o", face: str = "") -> Line2D:
    """Return the entry of a marker in a legend."""
    looks: Any = {"markerfacecolor": face or colour, "linestyle": "", "markersize": 4.5}
    return Line2D([], [], color=colour, marker=marker, label=label, **looks)
