"""Figures of the sensitivity experiment as SVG; the bytes depend on nothing but the answers."""

import io
import textwrap
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import StrMethodFormatter

from narxbench.analysis.claims import GA, UPSO
from narxbench.analysis.distance import Spread
from narxbench.analysis.multiverse import SAME_J, Beside, ClaimMap, Effect, Gap, Ranked
from narxbench.analysis.multiverse_frame import COMPARED, SCREENED
from narxbench.experiment.interpretations import BASE, OpenPoint
from narxbench.report.figures import SEARCH_COLOURS, WIDTH, drawing
from narxbench.report.tables import search_name

BLUE, ORANGE, GREEN, PINK = SEARCH_COLOURS[:4]
DARK, GREY = "#333333", "#999999"
ROLE_COLOURS = (BLUE, GREEN, ORANGE, PINK)
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")
_ON_PAPER = "published values"
_VERDICTS: Mapping[bool | None, dict[str, Any]] = {
    True: {"color": BLUE, "marker": "o", "markersize": 5, "label": "holds"},
    False: {"color": ORANGE, "marker": "x", "markersize": 5, "label": "does not hold"},
    None: {"color": GREY, "marker": ".", "markersize": 2, "label": "cannot be judged"},
}
ROW = 0.15  # inches of height for a row of text


def effects_figure(effects: Sequence[Effect]) -> bytes:
    """Return the change of the distance by every single option, with Student's intervals, grouped by open point."""
    columns = [_by_part([e for e in effects if e.algorithm == name]) for name in COMPARED]
    columns = [column for column in columns if column]
    with drawing("fidelity effects"):
        figure = _figure(
            0.9 + ROW * max((len(column) + len({effect.part for effect in column}) for column in columns), default=0)
        )
        axes = figure.subplots(1, max(1, len(columns)), squeeze=False)[0]
        if not columns:
            axes[0].set_axis_off()
            axes[0].annotate("No single option was tried.", (0.5, 0.5), xycoords="axes fraction", ha="center")
        for axis, column in zip(axes, columns, strict=False):
            labels = _draw_effects(axis, column)
            _label_rows(axis, labels, [label for label in labels if "=" not in label])
            axis.axvline(0, color=GREY, linewidth=0.8, zorder=0)
            axis.set_xlabel("change of the distance (left: closer)")
            axis.set_title(f"{search_name(column[0].algorithm)}: distance to its published values", loc="left")
        handles = [
            _dot("median; interval without 0", BLUE),
            _dot("interval with 0", GREY),
            _dot("contradicts a statement", DARK, hollow=True),
            Line2D([], [], color=DARK, linewidth=1.4, label="Student's interval of the mean"),
        ]
        return _svg(figure, handles, 4)


def ranking_figure(ranked: Sequence[Ranked]) -> bytes:
    """Return all readings of one algorithm in the order of their distance, with the range over the data seeds."""
    with drawing("fidelity ranking"):
        figure = _figure(0.7 + ROW * len(ranked))
        axis = figure.subplots()
        for row, entry in enumerate(ranked):
            found = entry.spreads["distance"]
            colour = GREEN if entry.choices == BASE else BLUE
            _range(axis, found, row, colour, hollow=bool(entry.contradictions))
        labels = {entry.choices: entry.title for entry in ranked}
        _label_rows(axis, list(labels.values()), [labels[BASE]])
        axis.set_xlim(left=0)
        axis.grid(axis="x", color="#dddddd", linewidth=0.5)
        axis.set_axisbelow(True)
        axis.set_xlabel("distance to the published values: median and range over the data seeds")
        handles = [
            _dot("contradicts nothing", BLUE),
            _dot("contradicts a statement", BLUE, hollow=True),
            _dot("base", GREEN),
        ]
        return _svg(figure, handles, 3)


def beside_figure(rows: Sequence[Beside]) -> bytes:
    """Return the published r and nu_max of every cell beside those of the readings that have a role."""
    places = list(dict.fromkeys((row.place.algorithm, row.place.system, row.place.snr_db) for row in rows))
    groups = [f"{system}, {search_name(algorithm)}" for algorithm, system, _ in places]
    roles = list(rows[0].reproduced)
    with drawing("fidelity beside"):
        figure = _figure(4.6)
        axes = figure.subplots(2, 1, sharex=True)
        for axis, metric, name in zip(axes, ("r", "nu_max"), ("r", "ν_max"), strict=True):
            for row in rows:
                if row.place.metric == metric:
                    x = places.index((row.place.algorithm, row.place.system, row.place.snr_db))
                    axis.hlines(row.published, x - 0.4, x + 0.4, color=DARK, linewidth=1.6)
                    for index, found in enumerate(row.reproduced.values()):
                        if found:
                            at = x + _dodge(index, len(roles), 0.6)
                            _range(axis, found, at, *_style_of(index), upright=True)
            axis.set_ylabel(name)
            axis.set_ylim(-0.03, 1.03)
            for x, (one, other) in enumerate(pairwise(groups)):
                if one != other:
                    axis.axvline(x + 0.5, color="#cccccc", linewidth=0.6)
        axes[1].set_xticks(range(len(places)), [f"{snr:g}" for *_, snr in places])
        axes[1].tick_params(axis="x", length=0)
        axes[1].set_xlabel("SNR, dB")
        for name in dict.fromkeys(groups):
            own = [x for x, other in enumerate(groups) if other == name]
            middle = (own[0] + own[-1]) / 2
            axes[0].annotate(name, (middle, 1.02), xycoords=("data", "axes fraction"), ha="center", va="bottom")
        handles = [Line2D([], [], color=DARK, linewidth=1.6, label="published")]
        handles += [_dot(role, *_style_of(index)) for index, role in enumerate(roles)]
        return _svg(figure, handles, len(handles))


def claims_figure(maps: Sequence[ClaimMap], points: Mapping[str, OpenPoint]) -> bytes:
    """Return which claims hold under the base, the readings that have a role, and every single change."""
    places = _columns(maps, points)
    with drawing("fidelity claims"):
        figure = _figure(2.6 + 1.2 * ROW * len(maps))
        axis = figure.subplots()
        found: dict[bool | None, list[tuple[float, int]]] = {True: [], False: [], None: []}
        for y, entry in enumerate(maps):
            verdicts: dict[str, bool | None] = {_ON_PAPER: entry.published, **entry.roles, **entry.single}
            for name, holds in verdicts.items():
                found[holds].append((places[name], y))
        for holds, looks in _VERDICTS.items():
            axis.plot([x for x, _ in found[holds]], [y for _, y in found[holds]], linestyle="", **looks)
        axis.set_xticks(list(places.values()), list(places), rotation=90)
        axis.set_yticks(range(len(maps)), [textwrap.fill(entry.claim.title, 50) for entry in maps])
        axis.set_ylim(len(maps) - 0.5, -0.5)
        axis.set_xlim(-0.7, max(places.values()) + 0.7)
        axis.tick_params(length=0)
        axis.tick_params(axis="x", labelsize=6)
        for y in range(len(maps) - 1):
            axis.axhline(y + 0.5, color="#e5e5e5", linewidth=0.5, zorder=0)
        axis.spines[["left", "bottom"]].set_visible(False)
        handles = [Line2D([], [], linestyle="", **looks) for looks in _VERDICTS.values()]
        handles.append(Line2D([], [], linestyle="", label="(empty: does not concern the claim)"))
        return _svg(figure, handles, 4)


def gaps_figure(gaps: Sequence[Gap]) -> bytes:
    """Return how far the median final J of searches, and the true structure's J, lie above the best known J."""
    shown = [gap for gap in gaps if gap.criterion == SCREENED]
    series = list(dict.fromkeys((gap.algorithm, gap.role) for gap in shown))
    systems = list(dict.fromkeys(gap.system for gap in shown))
    with drawing("fidelity gaps"):
        figure = _figure(2.4 * ((len(systems) + 1) // 2) + 0.9)
        axes = figure.subplots((len(systems) + 1) // 2, 2, squeeze=False, sharey=True).ravel()
        for axis in axes[len(systems) :]:
            axis.set_axis_off()
        for axis, system in zip(axes, systems, strict=False):
            own = [gap for gap in shown if gap.system == system]
            snrs = sorted({gap.snr_db for gap in own}, reverse=True)
            for gap in own:
                index, x = series.index((gap.algorithm, gap.role)), snrs.index(gap.snr_db)
                if gap.median:
                    at = x + _dodge(index, len(series), 0.7)
                    _range(axis, gap.median, at, *_series_style(index, gap.algorithm), upright=True)
                if (gap.algorithm, gap.choices) == (UPSO, BASE) and gap.true:
                    axis.fill_between([x - 0.45, x + 0.45], gap.true.low, gap.true.high, color="#e0e0e0", zorder=0)
                    axis.hlines(gap.true.median, x - 0.45, x + 0.45, color=DARK, linewidth=1)
            # Linear below 0.01, for many gaps are exactly 0.
            axis.set_yscale("symlog", linthresh=0.01)
            axis.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            axis.set_title(system, loc="left")
            axis.set_xticks(range(len(snrs)), [f"{snr:g} dB" for snr in snrs])
            axis.tick_params(axis="x", length=0)
        for axis in axes[: len(systems) : 2]:
            axis.set_ylabel("J above the best known")
        axes[0].set_ylim(bottom=-SAME_J)
        handles = [Line2D([], [], color=DARK, linewidth=1, label="true structure (base data; band: range)")]
        for index, (algorithm, role) in enumerate(series):
            handles.append(_dot(f"{search_name(algorithm)}, {role}", *_series_style(index, algorithm)))
        return _svg(figure, handles, 3)


# Parts of the figures


def _by_part(effects: Sequence[Effect]) -> list[Effect]:
    parts = list(dict.fromkeys(("data", "fitness", *(effect.part for effect in effects))))
    return sorted(effects, key=lambda effect: (parts.index(effect.part), effect.changes["distance"].median))


def _draw_effects(axis: Axes, effects: Sequence[Effect]) -> list[str]:
    labels: list[str] = []
    part = ""
    for effect in effects:
        if effect.part != part:
            part = effect.part
            labels.append(search_name(part))
        change, row = effect.changes["distance"], len(labels)
        colour = BLUE if change.clear else GREY
        if change.interval:
            axis.hlines(row, *change.interval, color=colour, linewidth=1.4)
        face = "white" if effect.contradicts else colour
        axis.plot(change.median, row, marker="o", markersize=4, color=colour, markerfacecolor=face)
        labels.append(effect.choices)
    return labels


def _label_rows(axis: Axes, labels: Sequence[str], bold: Collection[str]) -> None:
    axis.set_yticks(range(len(labels)), labels)
    for tick, label in zip(axis.get_yticklabels(), labels, strict=True):
        tick.set_fontweight("bold" if label in bold else "normal")
    axis.set_ylim(len(labels) - 0.5, -0.5)
    axis.tick_params(axis="y", length=0)


def _range(
    axis: Axes,
    found: Spread,
    at: float,
    colour: str,
    marker: str = "o",
    *,
    hollow: bool = False,
    upright: bool = False,
) -> None:
    line = axis.vlines if upright else axis.hlines
    line(at, found.low, found.high, color=colour, linewidth=1.0)
    place = (at, found.median) if upright else (found.median, at)
    face = "white" if hollow else colour
    axis.plot(*place, marker=marker, markersize=3.5, color=colour, markerfacecolor=face, linestyle="")


def _columns(maps: Sequence[ClaimMap], points: Mapping[str, OpenPoint]) -> dict[str, float]:
    """Return the horizontal position of each reading, with a gap before the single changes of each part."""
    single = dict.fromkeys(text for entry in maps for text in entry.single)
    groups: dict[str, list[str]] = {"": [_ON_PAPER, *maps[0].roles]}
    for point, known in points.items():
        groups.setdefault(known.part, []).extend(text for text in single if text.partition("=")[0] == point)
    places: dict[str, float] = {}
    for names in groups.values():
        start = max(places.values(), default=-1.8) + 1.8
        places |= {name: start + index for index, name in enumerate(names)}
    return places


def _dot(label: str, colour: str, marker: str = "o", *, hollow: bool = False) -> Line2D:
    face = "white" if hollow else colour
    return Line2D([], [], color=colour, marker=marker, markerfacecolor=face, linestyle="", markersize=4, label=label)


def _style_of(index: int) -> tuple[str, str]:
    return ROLE_COLOURS[index % len(ROLE_COLOURS)], MARKERS[index % len(MARKERS)]


def _series_style(index: int, algorithm: str) -> tuple[str, str]:
    return {UPSO: BLUE, GA: ORANGE}.get(algorithm, GREEN), MARKERS[index % len(MARKERS)]


def _dodge(index: int, count: int, width: float) -> float:
    return width * ((index + 0.5) / count - 0.5)


def _figure(height: float) -> Figure:
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _svg(figure: Figure, handles: Sequence[Line2D], columns: int) -> bytes:
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False)
    stream = io.BytesIO()
    figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()
