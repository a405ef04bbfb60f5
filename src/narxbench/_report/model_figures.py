"""The figures of a model of measured data: fit, certainty, residuals, steady states, tried configurations, data."""

import math
import re
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator, NullFormatter, StrMethodFormatter
from numpy.typing import NDArray

from narxbench._identification.data.arrangement import N_PARTS
from narxbench._identification.finding import Finding
from narxbench._identification.result import Identification
from narxbench._identification.validation.bands import BAND
from narxbench._identification.validation.dynamics import COVERAGE, Band
from narxbench._identification.validation.residuals import CorrelationTest
from narxbench._identification.validation.steady_state import FixedPoint
from narxbench._io.errors import printable
from narxbench._model.records import Recording
from narxbench._report.figures import DARK, METHOD_COLOURS, NARROW, drawing, new_figure, panels, saved
from narxbench._report.formats import cut
from narxbench._report.model_fits import ShownFit

Floats = NDArray[np.float64]

MODEL_COLOUR, MEASURED_COLOUR, INPUT_COLOUR = METHOD_COLOURS[1], DARK, METHOD_COLOURS[0]
_GREY, _GRID, _BAND = "#999999", "#e5e5e5", "#56B4E9"
# A line of more samples than the eye can separate is divided into bins, whose extremes are drawn. The widest axis on a
# page has about 700 pixels.
_BINS = 700
# Inputs that are drawn: as many as a figure as wide as a page has room for.
MOST_INPUTS = 4
# Characters of a name with its unit on an axis, whose figure is two inches high.
_LONGEST = 40


class TimeAxis(NamedTuple):
    """The axis on which the samples of a record are shown: their number times ``scale``, from ``begin`` on."""

    scale: float
    begin: float
    label: str

    def positions(self, count: int, stride: int = 1) -> Floats:
        """Return the positions of this many samples on the axis, each ``stride`` behind the one before."""
        return np.asarray(self.begin + self.scale * stride * np.arange(count, dtype=np.float64))


def time_axis(sampling_time: float | None) -> TimeAxis:
    """Return an axis of time in a unit that suits some hundred samples, or of samples if no time is known."""
    if sampling_time is None:
        return TimeAxis(1.0, 1.0, "sample")
    for unit, seconds in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if 200 * sampling_time >= seconds:
            return TimeAxis(sampling_time / seconds, 0.0, f"time ({unit})")
    return TimeAxis(sampling_time / 1e-9, 0.0, "time (ns)")


def signal_label(name: str, units: Mapping[str, str]) -> str:
    """Return the name of a signal with its unit for an axis, cut if it is long."""
    unit, text = units.get(name), printable(name)
    if unit:
        text = f"{text} ({printable(unit)})"
    return cut(text, _LONGEST)


def fit_figure(fit: ShownFit, axis: TimeAxis, output: str) -> str:
    """Return the figure of measured and predicted output: the record, and two stretches enlarged.

    One is the stretch with the largest error of the prediction, the other the stretch with the median error.
    """
    with drawing("model fit"):
        windows = _windows(fit)
        height, height_ratios = 2.3, [1.0]
        if windows:
            height, height_ratios = 3.9, [1.15, 1.0]
        figure = new_figure(height, NARROW)
        grid = figure.add_gridspec(len(height_ratios), 2, height_ratios=height_ratios)
        whole = figure.add_subplot(grid[0, :])
        x = axis.positions(len(fit.y), fit.stride)
        draw_fit(whole, fit, x)
        whole.set_xlabel(axis.label)
        for place, (title, start, end) in enumerate(windows):
            panel = figure.add_subplot(grid[1, place])
            whole.axvspan(x[start], x[end - 1], color=_BAND, alpha=0.25, linewidth=0)
            draw_fit(panel, fit, x, slice(start, end))
            panel.set_title(title, loc="left", fontsize=9)
            panel.set_xlabel(axis.label)
            panel.xaxis.set_major_locator(MaxNLocator(4))
        figure.supylabel(output, fontsize="medium")
        return svg(figure, handles=fit_key(fit), ncols=3)


def fit_key(fit: ShownFit) -> list[Line2D]:
    """Return the entries of the legend of :func:`draw_fit`."""
    handles = [Line2D([], [], color=MEASURED_COLOUR, linewidth=1, label="measured")]
    if fit.predicted is not None:
        handles.append(Line2D([], [], color=MODEL_COLOUR, linewidth=1.3, label="model"))
    if fit.half_width is not None:
        label = f"{100 * BAND:.0f} % band"
        handles.append(Line2D([], [], color=MODEL_COLOUR, linewidth=6, alpha=0.2, label=label))
    return handles


def comparison_figure(y: Floats, runs: Mapping[str, Floats], first: int, axis: TimeAxis, output: str) -> str:
    """Return the figure of the measured output and the free runs of several models, with their errors below.

    The ``first`` samples do not count.
    """
    with drawing("comparison of models"):
        figure = new_figure(4.2, NARROW)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[1.4, 1])
        x = axis.positions(len(y))
        draw_runs(above, x, y, runs)
        for place, run in enumerate(runs.values()):
            below.plot(*_thinned(x[first:], (run - y)[first:]), **_look(place))
        below.axhline(0.0, color=_GREY, linewidth=0.6)
        above.set_ylabel(output)
        below.set_ylabel("model − measured")
        below.set_xlabel(axis.label)
        for panel in (above, below):
            panel.yaxis.set_major_locator(MaxNLocator(5))
            panel.margins(x=0.01)
        return svg(figure, ncols=3)


def draw_runs(axis: Axes, x: Floats, y: Floats, runs: Mapping[str, Floats]) -> None:
    """Draw the measured output and the predictions of several models."""
    axis.plot(*_thinned(x, y), color=MEASURED_COLOUR, linewidth=0.9, label="measured")
    for place, (name, run) in enumerate(runs.items()):
        axis.plot(*_thinned(x, run), label=signal_label(name, {}), **_look(place))


def _look(place: int) -> dict[str, Any]:
    turn, colour = divmod(place, len(METHOD_COLOURS))
    return {"color": METHOD_COLOURS[colour], "linewidth": 1.1, "linestyle": ("-", "--", ":")[turn % 3]}


def terms_height(identification: Identification) -> float:
    """Return how many inches :func:`draw_terms` needs."""
    return 0.75 + 0.19 * len(_shown_terms(identification))


def _shown_terms(identification: Identification) -> list[str]:
    """Return the terms of the model, and at most as many others, the most probable ones."""
    terms = identification.model.terms
    values = identification.probabilities
    outside = sorted((term for term in values if term not in terms), key=lambda term: -values[term])
    return [*terms, *outside[: len(terms)]]


def draw_terms(axis: Axes, identification: Identification) -> list[Line2D]:
    """Draw the probabilities of the terms of the model and of the most probable others, and return the legend."""
    terms, shown = identification.model.terms, _shown_terms(identification)
    for place, term in enumerate(shown):
        colour = INPUT_COLOUR if term in terms else _GREY
        axis.plot(identification.probabilities.get(term, 0.0), place, "o", color=colour, markersize=4, zorder=3)
    handles = [_mark("probability", "o", DARK, markersize=4)]
    axis.set_yticks(range(len(shown)), [pretty(term) for term in shown])
    for tick, term in zip(axis.get_yticklabels(), shown, strict=True):
        tick.set_color(INPUT_COLOUR if term in terms else "#666666")
    if len(shown) > len(terms):
        axis.axhline(len(terms) - 0.5, color=_GREY, linewidth=0.6)
    axis.set(ylim=(len(shown) - 0.4, -0.6), xlim=(-0.02, 1.02), xlabel="probability of each term")
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="x", color=_GRID, linewidth=0.5)
    axis.set_axisbelow(True)
    for label, colour in (("in the model", INPUT_COLOUR), ("not in it", _GREY)):
        handles.append(Line2D([], [], label=label, color=colour, linewidth=3))
    return handles


def draw_residuals(axis: Axes, test: CorrelationTest, width: int = 80) -> None:
    """Draw a correlation test of the residuals with its bands under a title of at most ``width`` characters a line."""
    values = np.array(test.values)
    outside = np.abs(values) > test.limit
    axis.axhspan(-test.band, test.band, color=_BAND, alpha=0.3, linewidth=0)
    for edge in (-test.limit, test.limit):
        axis.axhline(edge, color=_GREY, linestyle="--", linewidth=0.7)
    axis.vlines(test.lags, 0, values, color=np.where(outside, MODEL_COLOUR, DARK), linewidth=1)
    axis.axhline(0, color=DARK, linewidth=0.5)
    axis.plot(np.array(test.lags)[outside], values[outside], "o", color=MODEL_COLOUR, markersize=3)
    reach = 1.15 * max(test.limit, float(np.abs(values).max()))
    axis.set_ylim(-reach, reach)
    axis.yaxis.set_major_locator(MaxNLocator(4))
    axis.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axis.set_title(_wrapped(test.title, width), loc="left", fontsize=8.5)


def draw_static(axis: Axes, signal: str, identification: Identification) -> list[Line2D]:
    """Draw the static curve of one input with its interval, and return the legend."""
    recording, rests, dynamics = identification.recording, identification.rests, identification.dynamics
    y = np.concatenate([record.y for record in recording.records])
    margin = 0.15 * float(np.ptp(y)) or 1.0
    low, high = float(y.min()) - margin, float(y.max()) + margin
    column = recording.inputs.index(signal)
    u = np.concatenate([record.u[:, column] for record in recording.records])
    step = -(-len(u) // 1500)
    axis.plot(u[::step], y[::step], ".", color="#cccccc", markersize=2.5, zorder=1)
    handles = [_mark("data", ".", "#bbbbbb"), *_draw_rests_of_model(axis, signal, identification.curve, low, high)]
    if dynamics is not None:
        handles.append(_draw_band(axis, dynamics.inputs[signal].curve))
    if rests:
        axis.plot([rest.u[column] for rest in rests], [rest.y for rest in rests], "x", **_REST_OF_DATA, zorder=3)
        handles.append(_mark("rest of the data", "x", **_REST_OF_DATA))
    axis.set(xlabel=signal_label(signal, recording.units), ylim=(low, high))
    axis.xaxis.set_major_locator(MaxNLocator(5))
    return handles


def _draw_band(axis: Axes, band: Band) -> Line2D:
    """Draw the interval of a curve, and return its entry of the legend."""
    low, high = np.array(band.low, np.float64), np.array(band.high, np.float64)
    axis.fill_between(band.at, low, high, color=MODEL_COLOUR, alpha=0.2, linewidth=0, zorder=1)
    label = f"{100 * COVERAGE:.3g} % interval"
    return Line2D([], [], color=MODEL_COLOUR, linewidth=6, alpha=0.2, label=label)


_STABLE: Any = {"color": INPUT_COLOUR, "markerfacecolor": INPUT_COLOUR, "markersize": 3.5}
_UNSTABLE: Any = {"color": MODEL_COLOUR, "markerfacecolor": "white", "markersize": 3.5}
_REST_OF_DATA: Any = {"color": DARK, "markersize": 5}


def _draw_rests_of_model(axis: Axes, signal: str, curve: Sequence[FixedPoint], low: float, high: float) -> list[Line2D]:
    """Draw the steady states of a model for constant values of an input, and return the legend.

    Only outputs between ``low`` and ``high`` are drawn. The legend has unstable rests if any input has some.
    """
    drawn = [point for point in curve if point.y is not None and low <= point.y <= high]
    for is_stable, look in ((True, _STABLE), (False, _UNSTABLE)):
        points = [(point.u, point.y) for point in drawn if point.signal == signal and point.stable == is_stable]
        if points:
            axis.plot(*zip(*points, strict=True), "o", zorder=2, **look)
    handles = [_mark("stable rest of the model", "o", **_STABLE)]
    if not all(point.stable for point in drawn):
        handles.append(_mark("unstable", "o", **_UNSTABLE))
    return handles


def choice_figure(identification: Identification) -> str:
    """Return the figure of errors on unseen parts against the number of terms.

    Points are the best structures of configurations, and simple models by name. Errors over 1, which are worse than the
    mean of the output, are drawn at the upper edge.
    """
    scored = identification.tried[identification.tried["rrse"].notna()]
    points, is_chosen = scored[["terms", "rrse"]].astype(float), scored["chosen"].astype(bool)
    points["rrse"] = points["rrse"].clip(upper=1.0)
    with drawing("model choice"):
        figure = new_figure(2.5, NARROW)
        axis = figure.subplots()
        others = points[~is_chosen]
        axis.plot(others["terms"], others["rrse"], "o", color=_GREY, markersize=4, label="configurations")
        for place, row in enumerate(_simple_models(identification)):
            error = min(row["rrse"], 1.0)
            marker, color = "s^Dv*P"[place % 6], METHOD_COLOURS[place % 6]
            axis.plot(row["terms"], error, marker, color=color, markersize=5, label=row["name"].partition(" (")[0])
        if is_chosen.any():
            best = points[is_chosen]
            axis.plot(best["terms"], best["rrse"], "*", color=DARK, markersize=11, label="chosen", zorder=4)
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.xaxis.set_major_locator(FixedLocator([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]))
        axis.set_xlabel("terms")
        axis.set_ylabel("error (RRSE)")
        axis.set_ylim(0, 1.03)
        axis.grid(axis="y", color=_GRID, linewidth=0.5)
        axis.set_axisbelow(True)
        return svg(figure, ncols=3)


def _simple_models(identification: Identification) -> list[Mapping[str, Any]]:
    """Return the simple models that competed, with their numbers of terms and errors."""
    rows = []
    for finding in identification.summary:
        if finding.name == "competitors":
            rows += [row for row in finding.values["rows"] if row["name"] != "sparse" and row["rrse"] is not None]
    return rows


def data_figure(recording: Recording, places: Sequence[int], titles: Sequence[str]) -> str:
    """Return the figure of the output and the inputs of some records, side by side."""
    time = time_axis(recording.sampling_time)
    names = [recording.output, *recording.inputs[:MOST_INPUTS]]
    with drawing("model data"):
        figure = new_figure(0.5 + 0.95 * len(names), NARROW)
        axes = figure.subplots(len(names), len(places), squeeze=False, sharey="row", sharex="col")
        for column, (place, title) in enumerate(zip(places, titles, strict=True)):
            record = recording.records[place]
            signals = np.column_stack([record.y, record.u])
            for row, name in enumerate(names):
                axis = axes[row, column]
                colour = MEASURED_COLOUR if row == 0 else INPUT_COLOUR
                axis.plot(*_thinned(time.positions(len(record)), signals[:, row]), color=colour, linewidth=0.8)
                axis.yaxis.set_major_locator(MaxNLocator(4))
                if column == 0:
                    axis.set_ylabel(_wrapped(signal_label(name, recording.units), 14), fontsize=8.5)
            axes[0, column].set_title(_wrapped(title, 34 if len(places) > 1 else 80), loc="left", fontsize=8.5)
            axes[-1, column].set_xlabel(time.label)
            axes[-1, column].xaxis.set_major_locator(MaxNLocator(4))
        return svg(figure)


def checks_figure(checks: Sequence[Finding], decimation: int) -> str | None:
    """Return the figure behind the checks of sampling and dead time, or None if neither has anything to draw."""
    values_by_check = {check.name: check.values for check in checks}
    correlations = values_by_check.get("sampling", {}).get("correlations") or {}
    inputs = values_by_check.get("evidence", {}).get("inputs", {})
    responses = [(name, values) for name, values in inputs.items() if values.get("correlations")][:MOST_INPUTS]
    has_autocorrelation = bool(correlations.get("lag"))
    n_panels = has_autocorrelation + len(responses)
    if not n_panels:
        return None
    n_across = min(2, n_panels)
    with drawing("model checks"):
        figure = new_figure(1.9 * math.ceil(n_panels / n_across), NARROW)
        axes = panels(figure, n_panels, n_across)
        for axis in axes:
            axis.axhline(0, color=DARK, linewidth=0.5)
        if has_autocorrelation:
            _draw_autocorrelation(axes[0], correlations, decimation)
        for axis, (name, values) in zip(axes[n_panels - len(responses) :], responses, strict=True):
            _draw_response(axis, name, values)
        for axis in axes:
            axis.set_xlabel("lag (samples of the data)", fontsize=9)
            axis.set_ylabel("correlation", fontsize=9)
            axis.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        return svg(figure)


def _draw_autocorrelation(axis: Axes, correlations: Mapping[str, Any], decimation: int) -> None:
    """Draw the autocorrelations of the output and of its square, and the length of a step of the model."""
    for name, colour, dash, label in (("y", DARK, "-", "output"), ("y^2", _GREY, "--", "its square")):
        if name in correlations:
            axis.plot(correlations["lag"], correlations[name], dash, color=colour, linewidth=1, label=label)
    axis.axvline(decimation, color=MODEL_COLOUR, linewidth=1, label=f"one step, {decimation}")
    axis.set_title("Autocorrelation of the output", loc="left", fontsize=9)
    axis.legend(frameon=False, fontsize=8.5)


def _draw_response(axis: Axes, name: str, values: Mapping[str, Any]) -> None:
    """Draw the correlations of the output with an earlier input, their band, and the dead time."""
    correlations, band = np.array(values["correlations"]), np.array(values["band"])
    lags = np.arange(len(correlations))
    axis.fill_between(lags, -band, band, color=_BAND, alpha=0.3, linewidth=0)
    axis.vlines(lags, 0, correlations, color=DARK, linewidth=0.9)
    if values.get("shown") is not None:
        axis.axvline(values["shown"], color=MODEL_COLOUR, linewidth=1)
    cause = printable(name)
    if values.get("power") == 2:
        cause = f"the square of {cause}"
    axis.set_title(_wrapped(f"Response of the output to {cause}", 38), loc="left", fontsize=9)


def pretty(term: str) -> str:
    """Return a term as figures name it: ``y(k-1)*u(k-2)^2`` is ``y(k−1) u(k−2)²``."""
    raised = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    text = term.replace("-", "−").replace("*", " ")
    return re.sub(r"\^([0-9]*)", lambda power: power[1].translate(raised), text)


def svg(figure: Figure, **legend: Any) -> str:
    """Return a figure as SVG, with a legend above it where one is described."""
    if legend:
        figure.legend(**{"loc": "outside upper right", "frameon": False, **legend})
    with warnings.catch_warnings():
        # Letters that no font has are drawn as boxes, but the page itself has the names as text.
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
        return saved(figure, ("svg",))["svg"].decode()


def _mark(label: str, marker: str, color: str, **look: Any) -> Line2D:
    return Line2D([], [], linestyle="", label=label, marker=marker, color=color, **look)


def draw_fit(axis: Axes, fit: ShownFit, x: Floats, part: slice = slice(None)) -> None:
    """Draw measured and predicted output, with the band, for a part of the samples, whose positions are ``x``."""
    axis.plot(*_thinned(x[part], fit.y[part]), color=MEASURED_COLOUR, linewidth=0.9)
    if fit.predicted is not None:
        places, values = _thinned(x[part], fit.predicted[part])
        axis.plot(places, values, color=MODEL_COLOUR, linewidth=1.2)
        if fit.half_width:
            low, high = values - fit.half_width, values + fit.half_width
            axis.fill_between(places, low, high, color=MODEL_COLOUR, alpha=0.2, linewidth=0)
    axis.yaxis.set_major_locator(MaxNLocator(5))
    axis.margins(x=0.01)


def _windows(fit: ShownFit) -> list[tuple[str, int, int]]:
    """Return title, start and end of the stretches to enlarge: one with a typical error, and the worst one."""
    count = len(fit.y)
    if fit.predicted is None:
        return []
    # As long as a part that the weights do not know.
    length = max(40, count // N_PARTS)
    starts = range(fit.initial, count - length + 1, length)
    errors = (fit.y - fit.predicted) ** 2
    order = sorted(starts, key=lambda start: (float(errors[start : start + length].sum()), start))
    if len(order) < 2:
        return []
    typical, worst = order[(len(order) - 1) // 2], order[-1]
    return [("Typical stretch", typical, typical + length), ("Worst stretch", worst, worst + length)]


def _thinned(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return the few points of a line that looks the same: of many samples, the extremes in each bin."""
    if len(y) <= 4 * _BINS:
        return x, y
    edges = np.linspace(0, len(y), _BINS + 1).astype(np.int64)
    places = []
    for start, end in pairwise(edges.tolist()):
        part = y[start:end]
        places += sorted({start + int(part.argmin()), start + int(part.argmax())})
    return x[places], y[places]


def _wrapped(text: str, width: int = 44) -> str:
    text = re.sub(" +", " ", printable(text).strip())
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)[:3]
    return "\n".join(cut(line, width) for line in lines)
