"""Pictures of a model and its data, as matplotlib draws them: each function returns the Axes it drew on.

They look as those of the page of :func:`narxbench.write_report`. Without ``ax`` there is a new figure, which a notebook
shows. It needs ``narxbench[report]``.

Examples
--------
>>> import narxbench
>>> u, y = narxbench.load_system("S1").simulate(600, snr_db=40)
>>> found = narxbench.identify(u, y, test="20%", degree=2, y_lags=2, u_lags=2, decimation=1, resamples=0)
>>> narxbench.plot.fit(found).get_ylabel()
'y'
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, Unpack, cast

from matplotlib import pyplot
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from narxbench.identification.data.reading import Reading
from narxbench.identification.result import Identification
from narxbench.io.errors import NarxbenchError, did_you_mean, printable, show
from narxbench.model.narx import Model
from narxbench.model.records import Record
from narxbench.report import model_figures as drawn
from narxbench.report.comparison import prepared
from narxbench.report.figures import NARROW, drawing
from narxbench.report.model_fits import MOST_SAMPLES, fit_of, name_of, shown_fits

T = TypeVar("T")

__all__ = ["compare", "fit", "residuals", "static_curve", "terms"]


def fit(found: Identification, record: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw measured and predicted output with the band about the prediction.

    Parameters
    ----------
    found : Identification
        The result of :func:`narxbench.identify`.
    record : str, optional
        The name of a record; None: the first of the test, or else of the other data.
    ax : Axes, optional
        Where to draw; None: on a new figure.

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
        shown = shown_fits(found)[0]
    else:
        by_name: dict[str, Record] = {name_of(each): each for each in found.recording.records}
        shown = fit_of(found, _chosen(by_name, record, "record"), MOST_SAMPLES)
    axis = drawn.time_axis(found.recording.sampling_time)
    with _axes(ax, 2.3) as own:
        drawn.draw_fit(own, shown, axis.of(len(shown.y), shown.stride))
        own.set(xlabel=axis.label, ylabel=drawn.signal_label(found.model.output, found.model.units))
        _key(own, drawn.fit_key(shown))
    return own


def residuals(found: Identification, test: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw one of the correlation tests of the residuals with its bands.

    Parameters
    ----------
    found : Identification
        The result of :func:`narxbench.identify`.
    test : str, optional
        The title of one of ``found.tests``; None: the first, the autocorrelation.
    ax : Axes, optional
        Where to draw; None: on a new figure.

    Raises
    ------
    NarxbenchError
        For a test that is not there.
    """
    by_title = {each.title: each for each in found.tests}
    if not by_title:
        raise NarxbenchError("residuals: found no test; needed: data that are long enough for one")
    chosen = _chosen(by_title, next(iter(by_title)) if test is None else test, "test")
    with _axes(ax, 2.2) as own:
        drawn.draw_residuals(own, chosen)
        own.set(xlabel="lag (steps of the model)", ylabel="correlation")
    return own


def static_curve(found: Identification, input: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw where the model rests for constant values of an input, over the data.

    Parameters
    ----------
    found : Identification
        The result of :func:`narxbench.identify`.
    input : str, optional
        The name of an input; None: the first.
    ax : Axes, optional
        Where to draw; None: on a new figure.

    Raises
    ------
    NarxbenchError
        For an input that is not there, and a model without inputs.
    """
    by_name = {str(signal): str(signal) for signal in dict.fromkeys(point.signal for point in found.curve)}
    if not found.model.inputs or not by_name:
        raise NarxbenchError("static_curve: found a model without inputs; needed: one with inputs")
    signal = _chosen(by_name, next(iter(by_name)) if input is None else input, "input")
    with _axes(ax, 2.4) as own:
        _key(own, drawn.draw_static(own, signal, found.curve, found.rests, found.recording))
        own.set_ylabel(drawn.signal_label(found.recording.output, found.recording.units))
    return own


def terms(found: Identification, ax: Axes | None = None) -> Axes:
    """Draw how probable the terms of the model are, and the most probable ones outside.

    Where data were resampled, the share of them that led to each term stands next to that.

    Parameters
    ----------
    found : Identification
        The result of :func:`narxbench.identify`.
    ax : Axes, optional
        Where to draw; None: on a new figure.

    Raises
    ------
    NarxbenchError
        Where there is neither a probability nor resampled data.
    """
    if drawn.nothing_is_known(found):
        reason = found.certainty.missing
        raise NarxbenchError(f"terms: found nothing that tells how sure they are: {reason}; needed: resamples above 0")
    with _axes(ax, drawn.terms_height(found)) as axes:
        _key(axes, drawn.draw_terms(axes, found))
    return axes


def compare(
    models: Mapping[str, Model], data: Any = None, *, ax: Axes | None = None, **reading: Unpack[Reading]
) -> Axes:
    """Draw the free runs of several models over the longest record of the same data.

    Parameters
    ----------
    models, data, **reading
        As for :func:`narxbench.compare`, whose table has the errors. A model that diverges has no line.
    ax : Axes, optional
        Where to draw; None: on a new figure.

    Raises
    ------
    NarxbenchError
        As :func:`narxbench.compare`.
    """
    compared, first = prepared(models, data, reading), next(iter(models.values()))
    record, runs = compared.longest(models)
    axis = drawn.time_axis(first.sampling_time)
    with _axes(ax, 2.6) as own:
        drawn.draw_runs(own, axis.of(len(record)), record.y, runs)
        own.set(xlabel=axis.label, ylabel=drawn.signal_label(first.output, first.units))
        own.margins(x=0.01)
        _key(own, own.get_legend_handles_labels()[0])
    return own


@contextmanager
def _axes(ax: Axes | None, height: float) -> Iterator[Axes]:
    """Give axes to draw on in the style of the pages."""
    # Outside the style, which would undo what loading the backend of a notebook sets.
    figure = pyplot.figure(figsize=(NARROW, height), layout="constrained") if ax is None else None
    with drawing("plot"):
        yield figure.add_subplot() if figure is not None else cast(Axes, ax)


def _key(ax: Axes, handles: Sequence[Artist]) -> None:
    """Put a legend above the axes, where it hides no data."""
    place: Any = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.2}
    ax.legend(handles=handles, ncols=min(4, len(handles)), frameon=False, fontsize=8, **place)


def _chosen(known: Mapping[str, T], name: str, what: str) -> T:
    if name not in known:
        allowed = f"{printable(', '.join(known), 1000)}{did_you_mean(name, known)}"
        raise NarxbenchError(f"{what}: found {show(name)}; allowed: {allowed}")
    return known[name]
