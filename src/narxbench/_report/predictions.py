"""Predictions of a model over measured data, as a table."""

from typing import Any, Unpack

import pandas as pd

from narxbench._identification.data.reading import Reading
from narxbench._io.errors import printable
from narxbench._model.narx import Model
from narxbench._report.comparison import prepare_comparison


def predictions(model: Model, data: Any, steps: int | None = None, **reading: Unpack[Reading]) -> pd.DataFrame:
    """Return measured and predicted outputs of all records.

    Parameters
    ----------
    model, data, **reading
        As for :func:`narxbench.compare`, of a single model.
    steps : int, optional
        As for :meth:`narxbench.Model.predict`: steps of the model ahead; None: a free run.

    Returns
    -------
    DataFrame
        One row for each sample: ``record``, ``sample`` (from 1 on in its record), ``time`` (seconds or dates) where the
        data have it, ``measured``, empty where a gap of the output was bridged, and ``predicted``. The first samples of
        a record, which the prediction begins from, are as measured.

    Raises
    ------
    NarxbenchError
        For data that cannot be read or do not fit; DivergedError for predictions that grow beyond all bounds.

    Examples
    --------
    >>> model = Model(("y(k-1)", "u(k-1)"), (0.5, 1.0), ("u",), "y")
    >>> u = [1.0, -1.0, 2.0, 0.0, 1.0, 3.0, -2.0, 1.0, 0.0, 2.0]
    >>> predictions(model, {"u": u, "y": [1.0] * 10})["predicted"].tolist()[:3]
    [1.0, 1.5, -0.25]
    """
    prepared = prepare_comparison({"model": model}, data, reading)
    frames = []
    for record in prepared.records:
        u = record.u if model.inputs else None
        y = record.measured(model.initial_samples)
        frame = pd.DataFrame({"record": printable(record.name), "sample": range(1, len(record) + 1)})
        if record.index is not None:
            frame["time"] = without_rounding(record.index)
        frame["measured"] = record.measured()
        frame["predicted"] = model.predict(u, y, steps, samples=len(record))
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def without_rounding(index: pd.Index) -> pd.Index:
    """Return the times of an index, numbers without the rounding errors of their sums."""
    if index.dtype.kind != "f":
        return index
    return pd.Index([float(f"{time:.15g}") for time in index], name=index.name)
