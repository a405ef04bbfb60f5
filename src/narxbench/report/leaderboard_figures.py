"""The figures of a comparison of methods: average ranks, targets reached over evaluations, recovery by system."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter, StrMethodFormatter

from narxbench.analysis.ranking import ALL
from narxbench.report.figures import METHOD_COLOURS, drawing, new_figure, saved
from narxbench.report.formats import MISSING, method_name, percent
from narxbench.report.leaderboard_tables import methods_in_order, pooled_ecdf, pooled_systems
from narxbench.report.tables import Frames

# With the six colours, enough for 24 methods; the best six have no dashes.
DASHES = ("-", "--", ":", "-.")
_ROW = 0.2  # inches of height for a row of text
_DARK, _GREY = "#333333", "#999999"


def leaderboard_figures(frames: Frames) -> dict[str, bytes]:
    """Return the files of the figures ``critical_difference``, ``ecdf`` and ``recovery``, each as PDF and SVG, by name.

    Parameters
    ----------
    frames
        The frames ``ranking``, ``tests``, ``ecdf`` and ``systems``.
    """
    order = methods_in_order(frames["ranking"])
    drawn = {
        "critical_difference": critical_difference(frames["ranking"], frames["tests"]),
        "ecdf": ecdf(pooled_ecdf(frames["ecdf"]), order),
        "recovery": recovery(pooled_systems(frames["systems"]), order),
    }
    return {f"{name}.{suffix}": content for name, files in drawn.items() for suffix, content in files.items()}


def critical_difference(ranking: pd.DataFrame, tests: pd.DataFrame) -> dict[str, bytes]:
    """Return the figure of average ranks over all scenarios, with intervals and Nemenyi's critical difference.

    Bars next to the methods join those whose average ranks differ by less than the critical difference (J. Demšar,
    Statistical comparisons of classifiers over multiple data sets, Journal of Machine Learning Research 7 (2006) 1-30).
    Without a critical difference there are no bars.
    """
    known = ranking[(ranking["group"] == ALL) & ranking["average_rank"].notna()]
    known = known.sort_values("average_rank", kind="stable")
    difference = critical(tests)
    ranks = known["average_rank"].tolist()
    with drawing("critical_difference"):
        figure = new_figure(0.9 + _ROW * len(known))
        axis = figure.subplots()
        axis.hlines(range(len(known)), known["rank_low"], known["rank_high"], color=METHOD_COLOURS[0], linewidth=1.4)
        axis.plot(ranks, range(len(known)), "o", markersize=4.5, color=METHOD_COLOURS[0])
        labels = [f"{method_name(row.method)}  {row.average_rank:.2f}" for row in known.itertuples()]
        axis.set_yticks(range(len(known)), labels)
        axis.set_ylim(len(known) - 0.4, -1.6 if difference else -0.6)
        axis.tick_params(axis="y", length=0)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.set_xlabel("average rank over the systems (1: best)")
        axis.grid(axis="x", color="#e5e5e5", linewidth=0.5)
        axis.set_axisbelow(True)
        if difference and ranks:
            start = ranks[0]
            axis.errorbar(start + difference / 2, -1.1, xerr=difference / 2, color=_DARK, capsize=3, linewidth=1)
            text = f"  critical difference {difference:.2f}"
            axis.annotate(text, (start + difference, -1.1), va="center", fontsize=8, color=_DARK)
            right = max([*known["rank_high"].dropna(), *ranks, start + difference])
            for place, (first, last) in enumerate(cliques(ranks, difference)):
                # The bars stand to the right of all intervals, and side by side.
                x = right + (right - 1) * (0.04 + 0.022 * place)
                axis.vlines(x, first - 0.2, last + 0.2, color=_DARK, linewidth=2.5)
        return saved(figure)


def critical(tests: pd.DataFrame) -> float | None:
    """Return Nemenyi's critical difference of average ranks over all scenarios; None where no test was possible."""
    found = tests.loc[(tests["group"] == ALL) & (tests["measure"] == "gap"), "critical_difference"].dropna()
    return float(found.iloc[0]) if len(found) else None


def cliques(ranks: Sequence[float], difference: float) -> list[tuple[int, int]]:
    """Return first and last place of each longest run of ascending ranks that spans less than the difference.

    Examples
    --------
    >>> cliques([1.0, 1.5, 2.2, 4.0], 1.0)
    [(0, 1), (1, 2)]
    """
    found: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = max(place for place, other in enumerate(ranks) if other - rank < difference)
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def ecdf(curves: pd.DataFrame, methods: Sequence[str]) -> dict[str, bytes]:
    """Return the figure of the share of targets reached within a number of evaluations, from :func:`pooled_ecdf`."""
    with drawing("ecdf"):
        figure = new_figure(3.6)
        axis = figure.subplots()
        for method, style in styles(methods).items():
            own = curves[curves["method"] == method]
            axis.plot(own["evaluations"], own["reached"] / own["total"], label=method_name(method), **style)
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        axis.set_xlim(1, max(curves["evaluations"].max(), 10) if len(curves) else 10)
        axis.yaxis.set_major_formatter(PercentFormatter(1))
        axis.set(ylim=(0, 1), xlabel="fitness evaluations", ylabel="targets reached")
        axis.grid(color="#e5e5e5", linewidth=0.5)
        figure.legend(loc="outside right upper", frameon=False)
        return saved(figure)


def styles(methods: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return colour and dash of the line of each method, by its place."""
    count = len(METHOD_COLOURS)
    return {
        method: {"color": METHOD_COLOURS[place % count], "linestyle": DASHES[place // count % len(DASHES)]}
        for place, method in enumerate(methods)
    }


def recovery(shares: pd.DataFrame, methods: Sequence[str]) -> dict[str, bytes]:
    """Return the heat map of exact recovery by method and system, from `pooled_systems`."""
    systems = list(dict.fromkeys(shares["system"]))
    known: Mapping[tuple[str, str], float] = shares.set_index(["method", "system"])["exact"].to_dict()
    with drawing("recovery"):
        figure = new_figure(1.1 + _ROW * max(len(methods), 1))
        axis = figure.subplots()
        values = [[known.get((method, system), math.nan) for system in systems] for method in methods]
        if systems:
            _draw_cells(axis, values)
        middles = [place + 0.5 for place in range(max(len(systems), len(methods)))]
        axis.set_xticks(middles[: len(systems)], systems, rotation=45, ha="left", rotation_mode="anchor")
        axis.set_yticks(middles[: len(methods)], [method_name(method) for method in methods])
        axis.invert_yaxis()
        axis.xaxis.tick_top()
        axis.tick_params(length=0)
        axis.spines[:].set_visible(False)
        return saved(figure)


def _draw_cells(axis: Axes, values: Sequence[Sequence[float]]) -> None:
    axis.pcolormesh(values, cmap="Blues", vmin=0, vmax=1.25, edgecolor="white", linewidth=0.5)
    for row, shares in enumerate(values):
        for column, share in enumerate(shares):
            text = MISSING if math.isnan(share) else percent(share).removesuffix(" %")
            colour = "white" if share > 0.75 else _DARK
            axis.annotate(text, (column + 0.5, row + 0.5), ha="center", va="center", fontsize=8, color=colour)
