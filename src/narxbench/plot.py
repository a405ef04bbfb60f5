"""Pictures of a model and its data, drawn with matplotlib: each function returns the Axes that it drew on.

They look like those on the page of :func:`narxbench.write_report`. Without ``ax`` they are drawn on a new figure, which
a notebook shows. The module needs ``narxbench[report]``.

Examples
--------
>>> import narxbench
>>> u, y = narxbench.load_system("S1").simulate(600, snr_db=40)
>>> identification = narxbench.identify(u, y, test="20%", degree=2, y_lags=2, u_lags=2, decimation=1)
>>> narxbench.plot.fit(identification).get_ylabel()
'y'
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, Unpack

from matplotlib import pyplot
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from narxbench._identification.data.reading import Reading
from narxbench._identification.result import Identification
from narxbench._io.errors import NarxbenchError, did_you_mean, printable, show
from narxbench._model.narx import Model
from narxbench._report import model_figures
from narxbench._report.comparison import prepare_comparison
from narxbench._report.figures import NARROW, drawing
from narxbench._report.model_fits import MOST_SAMPLES, fit_of, name_of, shown_fits

T = TypeVar("T")

__all__ = ["compare", "fit", "residuals", "static_curve", "terms"]


def fit(identification: Identification, record: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw measured and predicted output with the band about the prediction.

    Parameters
    ----------
    identification : Identification
        The result of :func:`narxbench.identify`.
    record : str, optional
        The name of a record, by default the first of the test, or else of the other data.
    ax : Axes, optional
        The axes to draw on, by default on a new figure.

    Returns
    -------
    Axes
        The picture, its horizontal axis in time or, where no time is known, samples.

    Raises
    ------
    NarxbenchError
        For a record that is not there.
    """
    if record is None:
        prediction = shown_fits(identification)[0]
    else:
        records = {name_of(candidate): candidate for candidate in identification.recording.records}
        prediction = fit_of(identification, _chosen(records, record, "record"), MOST_SAMPLES)
    time, model = model_figures.time_axis(identification.recording.sampling_time), identification.model
    with _axes(ax, 2.3) as axes:
        model_figures.draw_fit(axes, prediction, time.positions(len(prediction.y), prediction.stride))
        axes.set(xlabel=time.label, ylabel=model_figures.signal_label(model.output, model.units))
        _add_legend(axes, model_figures.fit_key(prediction))
    return axes


def residuals(identification: Identification, test: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw one of the correlation tests of the residuals with its bands.

    Parameters
    ----------
    identification : Identification
        The result of :func:`narxbench.identify`.
    test : str, optional
        The title of one of ``identification.tests``, by default the first, the autocorrelation.
    ax : Axes, optional
        The axes to draw on, by default on a new figure.

    Raises
    ------
    NarxbenchError
        For a test that is not there.
    """
    tests = {candidate.title: candidate for candidate in identification.tests}
    if not tests:
        raise NarxbenchError("residuals: found no test; needed: data that are long enough for one")
    if test is None:
        test = next(iter(tests))
    chosen = _chosen(tests, test, "test")
    with _axes(ax, 2.2) as axes:
        model_figures.draw_residuals(axes, chosen)
        axes.set(xlabel="lag (steps of the model)", ylabel="correlation")
    return axes


def static_curve(identification: Identification, input: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the steady states of the model for constant values of an input, over the data.

    Parameters
    ----------
    identification : Identification
        The result of :func:`narxbench.identify`.
    input : str, optional
        The name of an input, by default the first.
    ax : Axes, optional
        The axes to draw on, by default on a new figure.

    Raises
    ------
    NarxbenchError
        For an input that is not there, and a model without inputs.
    """
    inputs = {str(point.signal): str(point.signal) for point in identification.curve}
    if not identification.model.inputs or not inputs:
        raise NarxbenchError("static_curve: found a model without inputs; needed: one with inputs")
    if input is None:
        input = next(iter(inputs))
    signal, recording = _chosen(inputs, input, "input"), identification.recording
    with _axes(ax, 2.4) as axes:
        handles = model_figures.draw_static(axes, signal, identification)
        _add_legend(axes, handles)
        axes.set_ylabel(model_figures.signal_label(recording.output, recording.units))
    return axes


def terms(identification: Identification, ax: Axes | None = None) -> Axes:
    """Draw how probable the terms of the model are, and the most probable ones outside.

    Parameters
    ----------
    identification : Identification
        The result of :func:`narxbench.identify`.
    ax : Axes, optional
        The axes to draw on, by default on a new figure.

    Raises
    ------
    NarxbenchError
        Where no probability is known.
    """
    if not identification.probabilities:
        raise NarxbenchError(f"terms: found no probabilities: {identification.certainty.missing}; needed: some")
    with _axes(ax, model_figures.terms_height(identification)) as axes:
        _add_legend(axes, model_figures.draw_terms(axes, identification))
    return axes


def compare(
    models: Mapping[str, Model], data: Any = None, *, ax: Axes | None = None, **reading: Unpack[Reading]
) -> Axes:
    """Draw the free runs of several models over the longest record of the same data.

    Parameters
    ----------
    models, data, **reading
        As for :func:`narxbench.compare`, whose table has the errors. Models that diverge are not drawn.
    ax : Axes, optional
        The axes to draw on, by default on a new figure.

    Raises
    ------
    NarxbenchError
        As :func:`narxbench.compare`.
    """
    comparison = prepare_comparison(models, data, reading)
    any_model = next(iter(models.values()))
    record, runs = comparison.longest(models)
    time = model_figures.time_axis(any_model.sampling_time)
    with _axes(ax, 2.6) as axes:
        model_figures.draw_runs(axes, time.positions(len(record)), record.y, runs)
        axes.set(xlabel=time.label, ylabel=model_figures.signal_label(any_model.output, any_model.units))
        axes.margins(x=0.01)
        _add_legend(axes, axes.get_legend_handles_labels()[0])
    return axes


@contextmanager
def _axes(ax: Axes | None, height: float) -> Iterator[Axes]:
    """Yield axes to draw on in the style of the pages."""
    # The figure is made outside the style, which would undo the settings that the backend of a notebook loads.
    if ax is None:
        figure = pyplot.figure(figsize=(NARROW, height), layout="constrained")
    with drawing("plot"):
        if ax is None:
            ax = figure.add_subplot()
        yield ax


def _add_legend(axes: Axes, handles: Sequence[Artist]) -> None:
    """Put a legend above the axes, where it hides no data."""
    place: Any = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.2}
    axes.legend(handles=handles, ncols=min(4, len(handles)), frameon=False, fontsize=8, **place)


def _chosen(candidates: Mapping[str, T], name: str, argument: str) -> T:
    """Return the candidate of a name, or raise NarxbenchError about the argument if the name is unknown."""
    if name not in candidates:
        allowed = f"{printable(', '.join(candidates), 1000)}{did_you_mean(name, candidates)}"
        raise NarxbenchError(f"{argument}: found {show(name)}; allowed: {allowed}")
    return candidates[name]
