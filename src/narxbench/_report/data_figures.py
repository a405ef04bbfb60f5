"""The figures of measured data: the records, the values of each signal, spectra, and correlations."""

import math
from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter
from numpy.typing import NDArray

from narxbench._identification.data.signals import all_signals
from narxbench._identification.data.spectra import Spectra
from narxbench._identification.finding import Finding
from narxbench._model.records import ROLES, Recording
from narxbench._report import model_figures as drawn
from narxbench._report.figures import METHOD_COLOURS, NARROW, drawing, new_figure, panels
from narxbench._report.markup import inline_svg
from narxbench._report.model_fits import name_of

Floats = NDArray[np.float64]

# Signals that are drawn: the output and a few inputs.
MOST_SIGNALS = 1 + drawn.MOST_INPUTS
# Records that are drawn: side by side there is room for one of each role.
MOST_RECORDS = len(ROLES)
# Powers below this share of the largest one are not drawn: no sensor resolves a ten-thousandth of an amplitude.
_FLOOR = 1e-8


def data_figures(
    recording: Recording,
    power: Spectra | None,
    checks: Sequence[Finding],
    decimation: int,
    shared: str = "estimation, selection",
) -> dict[str, Markup | None]:
    """Return the figures of measured data by name, with None for a figure without anything to draw.

    ``shared`` says what records without a role are used for.
    """
    places = drawn_places(recording)
    titles = []
    for place in places:
        record = recording.records[place]
        role = record.role or shared
        titles.append(f"{name_of(record)}: {role}" if role else name_of(record))
    figures: dict[str, str | None] = {
        "signals": drawn.data_figure(recording, places, titles),
        "values": values_figure(recording),
        "spectra": spectra_figure(recording, power) if power else None,
        "checked": drawn.checks_figure(checks, decimation),
    }
    return {name: inline_svg(svg, name) if svg else None for name, svg in figures.items()}


def drawn_places(recording: Recording) -> list[int]:
    """Return the places of the records that are drawn: the longest of each role, then the second longest, and so on."""
    records = recording.records
    by_role: dict[str | None, list[int]] = {None: [], "estimation": [], "selection": [], "test": []}
    for place in sorted(range(len(records)), key=lambda place: -len(records[place])):
        if len(records[place]):
            by_role[records[place].role].append(place)
    turns = []
    for rank in range(MOST_RECORDS):
        for places in by_role.values():
            turns += places[rank : rank + 1]
    return sorted(turns[:MOST_RECORDS])


def values_figure(recording: Recording) -> str:
    """Return the figure of the distribution of each signal, in the test and in the other data."""
    known = np.vstack(all_signals(recording.known))
    tests = all_signals(recording.of_role("test"))
    names = _drawn_names(recording)
    with drawing("values of signals"):
        n_across = min(3, len(names))
        figure = new_figure(0.4 + 1.5 * math.ceil(len(names) / n_across), NARROW)
        for place, (axis, name) in enumerate(zip(panels(figure, len(names), n_across), names, strict=True)):
            test_values = np.vstack(tests)[:, place] if tests else np.zeros(0)
            _draw_values(axis, known[:, place], test_values)
            axis.set_title(drawn.signal_label(name, recording.units), loc="left", fontsize=8.5)
        figure.supylabel("share of the samples", fontsize="medium")
        return drawn.svg(figure)


def _draw_values(axis: Axes, known: Floats, test: Floats) -> None:
    """Draw the shares of the samples in bins of the values, with a line for the test."""
    both = np.concatenate([known, test])
    low, high = float(both.min()), float(both.max())
    if not high > low:
        margin = 0.5 * abs(low) or 0.5
        low, high = low - margin, high + margin
    # Rice's rule, which needs no other property of the data than their number.
    n_bins = math.ceil(2 * math.cbrt(len(both)))
    edges = np.linspace(low, high, n_bins + 1)
    shares = np.histogram(known, edges)[0] / len(known)
    axis.stairs(shares, edges, fill=True, color=drawn.MEASURED_COLOUR, alpha=0.45)
    if len(test):
        axis.stairs(np.histogram(test, edges)[0] / len(test), edges, color=drawn.MODEL_COLOUR, linewidth=1.1)
    axis.xaxis.set_major_locator(MaxNLocator(4))
    axis.yaxis.set_major_locator(MaxNLocator(3))


def spectra_figure(recording: Recording, power: Spectra) -> str | None:
    """Return the figure of the spectra of all signals and, with inputs, of their coherences with the output."""
    names = [name for name in _drawn_names(recording) if name in power.powers]
    if not names:
        return None
    frequencies, label = power.frequencies, "cycles per sample"
    if recording.sampling_time is not None:
        frequencies, label = frequencies / recording.sampling_time, "frequency (Hz)"
    coherences = [name for name in names if name in power.coherences]
    with drawing("spectra of signals"):
        n_panels = 1 + bool(coherences)
        figure = new_figure(2.3, NARROW)
        axes = figure.subplots(1, n_panels, squeeze=False).ravel()
        handles = []
        for place, name in enumerate(names):
            shares = np.maximum(power.powers[name], _FLOOR * power.powers[name].max())
            colour = drawn.MEASURED_COLOUR
            if name != recording.output:
                colour = METHOD_COLOURS[place % len(METHOD_COLOURS)]
            handles += axes[0].loglog(
                frequencies, shares, color=colour, linewidth=1, label=drawn.signal_label(name, {})
            )
            if name in coherences:
                axes[1].semilogx(frequencies, power.coherences[name], color=colour, linewidth=1)
        axes[0].set_title("Share of the power", loc="left", fontsize=9)
        if coherences:
            axes[1].axhspan(0.0, power.chance, color="#56B4E9", alpha=0.3, linewidth=0)
            axes[1].set_ylim(0.0, 1.03)
            axes[1].set_title("Coherence with the output", loc="left", fontsize=9)
        _label_powers_of_ten(axes[0].yaxis)
        for axis in axes:
            _label_powers_of_ten(axis.xaxis)
        figure.supxlabel(label, fontsize="medium")
        return drawn.svg(figure, handles=handles, ncols=min(3, len(handles)))


def _label_powers_of_ten(axis: Axis) -> None:
    """Label a logarithmic axis with plain numbers, few enough to be side by side."""
    axis.set_major_locator(LogLocator(numticks=5))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def _drawn_names(recording: Recording) -> list[str]:
    return [recording.output, *recording.inputs][:MOST_SIGNALS]
