"""New weights for the structure of a model, from other data."""

from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from narxbench._identification.data.arrangement import Arrangement
from narxbench._identification.data.model_data import read_for_models
from narxbench._identification.data.reading import Reading
from narxbench._identification.data.scaling import Scaling, scaled
from narxbench._identification.data.stand_ins import cut_at_gaps, filled_by, has_gaps
from narxbench._identification.search.noise import weigh_under
from narxbench._identification.validation.fit import (
    last_value_weights,
    least_squares,
    ridge_regression,
    weights_under_noise,
)
from narxbench._identification.validation.forecasts import ABOUT
from narxbench._identification.validation.weights import Weights
from narxbench._io.errors import NarxbenchError
from narxbench._io.version import __version__
from narxbench._model.narx import Model
from narxbench._model.noise_models import Narx
from narxbench._model.records import Recording


def refit(model: Model, data: Any = None, **reading: Unpack[Reading]) -> Model:
    """Return a model of the same terms and noise model with the weights of other data.

    A full polynomial by ridge regression keeps its ridge, and the last value its weight.

    Parameters
    ----------
    model : Model
        The model whose terms, names, units, decimation, offsets and scales are kept.
    data : path, DataFrame, mapping of str to array, a list of these, or None
        As for :func:`narxbench.identify`. With None ``input`` and ``output`` are arrays.
    **reading
        What :func:`narxbench._identification.data.reading.read_recording` takes. ``input`` and ``output`` are by
        default the columns that the model names. Records of role test are left out. In short gaps of the output,
        predictions by a model with weights from the stretches between them replace the missing values.

    Returns
    -------
    Model
        With the covariance of the new weights and the digest of the new data. The digest of the old data is
        ``about["refit_of"]``.

    Raises
    ------
    NarxbenchError
        For data that cannot be read, another number of inputs, other units, too few samples, and terms that depend on
        each other on the new data. DivergedError if the model diverges in a gap.

    Examples
    --------
    >>> old = Model(("y(k-1)", "u(k-1)"), (0.5, 1.0), ("u",), "y")
    >>> u = [1.0, -1.0, 2.0, 0.0, 1.0, 3.0, -2.0, 1.0, 0.0, 2.0, 1.0, -1.0]
    >>> new = refit(old, input=u, output=Model(old.terms, (0.8, 2.0), ("u",), "y").predict(u, [0.0]))
    >>> new.coefficients
    (0.8, 2.0)
    """
    # The new weights are for the sampling of the new data, as the model then says.
    recording = read_for_models([model], data, reading, any_sampling=True)
    if has_gaps(recording):
        bridging = _refitted(model, cut_at_gaps(recording))
        recording = filled_by(bridging, recording)
    return _refitted(model, recording)


def _refitted(model: Model, recording: Recording) -> Model:
    """Return the model with weights of a recording without gaps, or whose gaps are filled."""
    offsets, scales = (tuple(values.tolist()) for values in model.scaling())
    records = [scaled(record, Scaling(offsets, scales)) for record in recording.known]
    arrangement = Arrangement(records, model.decimation, model.max_lag, 1)
    # Weights come from all records that are not for the test, as there is no selection.
    arrangement = replace(arrangement, records=[replace(record, role=None) for record in arrangement.records])
    with np.errstate(over="ignore", invalid="ignore"):
        largest = max(np.abs(arrangement.columns([m], arrangement.rows())).max(initial=0.0) for m in model.monomials)
    if not largest < np.sqrt(np.finfo(np.float64).max):
        raise NarxbenchError("data: found a term whose square is too large for a number; needed: smaller units")
    weights = _weights(model, arrangement)
    noise_model = model.noise
    if noise_model != Narx():
        segments = arrangement.segments(arrangement.estimates())
        fit = weigh_under(arrangement, model.monomials, segments, noise_model)
        if not fit.is_finite:
            raise NarxbenchError(f"data: the weights of {noise_model.name} diverge; allowed: a model of another noise")
        weights = weights_under_noise(arrangement, fit, model.terms, weights)
    # Errors of forecasts belong to the old weights.
    about = {name: value for name, value in model.about.items() if name != ABOUT}
    return replace(
        model,
        **weights.of_model(),
        sampling_time=recording.sampling_time or model.sampling_time,
        data_digest=recording.digest,
        about={**about, "made_by": f"narxbench {__version__}", "refit_of": model.data_digest},
    )


def _weights(model: Model, arrangement: Arrangement) -> Weights:
    """Return the weights of the terms by the rule that the model has its own by: least squares, a ridge, or 1."""
    kind, shrinkage = model.about.get("kind"), model.about.get("shrinkage")
    if kind == "last value" and len(model.terms) == 1:
        return last_value_weights(model.terms, len(arrangement.rows()))
    if kind == "unpruned" and isinstance(shrinkage, float) and shrinkage > 0:
        return ridge_regression(arrangement, model.monomials, model.terms, shrinkage)
    return least_squares(arrangement, model.monomials, model.terms)
