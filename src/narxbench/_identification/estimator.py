"""A regressor by the conventions of scikit-learn, around :func:`narxbench.identify`.

It needs scikit-learn, as ``narxbench[sklearn]`` has it.
"""

import warnings
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, Self, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from narxbench._identification.data.experiments import LEAST_SAMPLES
from narxbench._identification.data.reading import read_recording
from narxbench._identification.identify import identify_recording
from narxbench._identification.options import describe
from narxbench._identification.settings import settings_from_python
from narxbench._io.errors import NarxbenchError, is_whole_number, show
from narxbench._model.indexes import first_gap, index_of

Floats = NDArray[np.float64]


class NarxRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A polynomial NARX model by the conventions of scikit-learn.

    Samples must be in order of time and evenly spaced: do not shuffle them or drop some. ``groups`` separates
    experiments. Parts of the samples take turns in selection. Split samples by
    :class:`sklearn.model_selection.TimeSeriesSplit`. Records with roles need :func:`narxbench.identify`. Parameters are
    settings of an identification, and None means an empty list or mapping.

    Parameters
    ----------
    {settings}

    Attributes
    ----------
    model_ : Model
        The model. Its inputs are named as the columns of ``X``, or ``u``, or ``u1``, ``u2``, ….
    identification_ : Identification
        All that shows how far to trust it.
    y_mean_ : float
        The mean output of the training data.
    n_features_in_ : int
        The number of inputs.
    feature_names_in_ : array of str, shape (inputs,)
        Names of the inputs, where ``X`` had names.

    Examples
    --------
    >>> import narxbench
    >>> u, y = narxbench.load_system("S1").simulate(600, snr_db=40)
    >>> regressor = narxbench.NarxRegressor(decimation=1, degree=2, y_lags=2, u_lags=2)
    >>> regressor = regressor.fit(u[:500, None], y[:500])
    >>> regressor.model_.terms
    ('y(k-1)', 'u(k-1)', 'y(k-1)*u(k-1)', 'u(k-1)^2')
    >>> regressor.score(u[500:, None], y[500:]) > 0.99
    True
    """

    def __init__(
        self,
        *,
        decimation: int | str | Sequence[int] = "auto",
        degree: int | str | Sequence[int] = "auto",
        y_lags: int | str | Sequence[int] = "auto",
        u_lags: int | str | Sequence[int] | Mapping[str, int | str | Sequence[int]] = "auto",
        delay: int | Literal["auto"] = "auto",
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        horizon: int | Literal["auto"] = "auto",
        effort: float = 20.0,
        noise: Literal["auto", "narx", "narmax", "ararx", "ararmax", "noe", "box-jenkins"] = "auto",
    ) -> None:
        # scikit-learn wants each parameter as an attribute of its name, unchanged.
        self.decimation = decimation
        self.degree = degree
        self.y_lags = y_lags
        self.u_lags = u_lags
        self.delay = delay
        self.include = include
        self.exclude = exclude
        self.horizon = horizon
        self.effort = effort
        self.noise = noise

    def fit(self, X: ArrayLike | None, y: ArrayLike, groups: ArrayLike | None = None) -> Self:  # noqa: N803
        """Identify a model.

        Parameters
        ----------
        X : array or frame, shape (samples, inputs), or None
            The inputs; None: the output depends on its own past only.
        y : array, shape (samples,)
            The output.
        groups : array, shape (samples,), optional
            The experiment of each sample. Samples of an experiment must be together.

        Raises
        ------
        NarxbenchError
            For a setting, and where no model can be found.
        ValueError
            For data that scikit-learn refuses.
        """
        warn_of_gaps(y if X is None else X, groups)
        inputs, outputs = self._checked_signals(X, y)
        input_names, output_name = self._signal_names()
        experiments = []
        for part in _experiment_slices(groups, len(outputs)):
            experiment = dict(zip(input_names, inputs[part].T, strict=True))
            experiment[output_name] = outputs[part]
            experiments.append(experiment)
        settings = settings_from_python(self.get_params(deep=False))
        # Arrays have NaN where a value is missing.
        recording = read_recording(experiments, input=input_names or None, output=output_name, time=False, missing=())
        self.identification_ = identify_recording(recording, settings)
        self.model_ = self.identification_.model
        self.y_mean_ = float(outputs.mean())
        return self

    def _checked_signals(self, X: ArrayLike | None, y: ArrayLike) -> tuple[Floats, Floats]:  # noqa: N803
        """Return inputs, of which there may be none, and output as arrays, after the checks of scikit-learn."""
        if X is None:
            # scikit-learn would refuse an array without columns.
            outputs = check_array(y, ensure_2d=False, dtype=np.float64, ensure_min_samples=LEAST_SAMPLES)
            outputs = column_or_1d(outputs)
            self.n_features_in_ = 0
            return np.empty((len(outputs), 0)), outputs
        inputs, outputs = validate_data(self, X, y, y_numeric=True, dtype=np.float64, ensure_min_samples=LEAST_SAMPLES)
        return inputs, np.asarray(outputs, np.float64)

    def _signal_names(self) -> tuple[list[str], str]:
        """Return the names of the inputs, from columns if these have names, and another name for the output."""
        names = [f"u{i}" for i in range(1, self.n_features_in_ + 1)]
        if self.n_features_in_ == 1:
            names = ["u"]
        if self.n_features_in_:
            names = list(getattr(self, "feature_names_in_", names))
        output_name = "y"
        while output_name in names:
            output_name += "_"
        return names, output_name

    def predict(
        self,
        X: ArrayLike | None,  # noqa: N803
        y_initial: ArrayLike | None = None,
        *,
        samples: int | None = None,
    ) -> Floats:
        """Return the free run of the model: from the inputs, and the outputs that it starts from.

        Parameters
        ----------
        X : array or frame, shape (samples, inputs), or None
            The inputs of one experiment; None where the model has none.
        y_initial : array, shape (at least ``model_.initial_samples``,), optional
            The measured outputs from the first sample on. Without them the run starts from the mean output of the
            training data. The first predictions are then this mean, and later ones are off until the model has
            forgotten it. A model that does not forget needs measured outputs.
        samples : int, optional
            How many samples to predict; needed without ``X``.

        Returns
        -------
        array of float, shape (samples,)
            The given outputs of the first ``model_.initial_samples``, and then the predicted ones.

        Raises
        ------
        DivergedError
            If the run diverges.
        NarxbenchError
            For too few outputs.
        """
        check_is_fitted(self)
        warn_of_gaps(X)
        inputs: Floats
        if X is None and not self.n_features_in_:
            if not is_whole_number(samples, 0):
                raise NarxbenchError(f"samples: found {show(samples)}; needed without X: a whole number from 0 on")
            inputs = np.empty((cast(int, samples), 0))
        else:
            inputs = validate_data(self, X, dtype=np.float64, reset=False)
        first = self.model_.initial_samples
        if y_initial is None:
            # A record that is shorter than the initial samples has no other prediction.
            y_initial = np.full(min(first, len(inputs)), self.y_mean_)
            if len(inputs) <= first:
                return y_initial
        return self.model_.predict(inputs, y_initial, samples=len(inputs))

    def forecast(
        self,
        X: ArrayLike | None,  # noqa: N803
        y: ArrayLike,
        X_future: ArrayLike | None = None,  # noqa: N803
        steps: int | None = None,
        confidence: float | None = None,
    ) -> Any:
        """Return the outputs that the model expects after a record, with the state that its noise has there.

        Parameters
        ----------
        X : array or frame, shape (samples, inputs), or None
            The inputs of the record; None where the model has none.
        y : array, shape (samples,)
            The measured outputs of the record.
        X_future : array or frame, shape (steps, inputs), optional
            The inputs after the record, as for :meth:`narxbench.Model.forecast`.
        steps : int, optional
            The number of samples after the record, needed without ``X_future``.
        confidence : {0.5, 0.8, 0.9, 0.95, 0.99}, optional
            The share of samples that a band holds; None: there is no band.

        Returns
        -------
        array of float or series, shape (steps,), or DataFrame
            The expected outputs; with a band the columns ``forecast``, ``lower`` and ``upper``. An index of the record
            goes on.

        Raises
        ------
        DivergedError
            If the forecast diverges.
        NarxbenchError
            As :meth:`narxbench.Identification.forecast`.
        """
        check_is_fitted(self)
        warn_of_gaps(y if X is None else X)
        inputs, future = self._inputs_with_index(X), self._inputs_with_index(X_future)
        if confidence is None:
            return self.model_.forecast(inputs, y, future, steps)
        return self.identification_.forecast(inputs, y, future, steps, confidence)

    def _inputs_with_index(self, X: ArrayLike | None) -> Any:  # noqa: N803
        """Return inputs as numbers after the checks of scikit-learn, as a frame if they have an index of pandas."""
        if X is None:
            return None
        inputs = validate_data(self, X, dtype=np.float64, reset=False)
        index = index_of(X)
        return inputs if index is None else pd.DataFrame(inputs, index)

    def score(self, X: ArrayLike | None, y: ArrayLike) -> float:  # noqa: N803
        """Return R² of the free run that starts from the first outputs, over the samples after them.

        Parameters
        ----------
        X : array or frame, shape (samples, inputs), or None
            The inputs; None where the model has none.
        y : array, shape (samples,)
            The measured outputs.

        Raises
        ------
        DivergedError
            If the run diverges.
        NarxbenchError
            For fewer than two samples after the first ones.
        """
        check_is_fitted(self)
        measured, first = column_or_1d(y), self.model_.initial_samples
        if len(measured) < first + 2:
            raise NarxbenchError(
                f"y: found {len(measured)} samples; needed: {first + 2}, for the model starts from the first {first}"
            )
        return float(r2_score(measured[first:], self.predict(X, measured, samples=len(measured))[first:]))

    def __sklearn_tags__(self) -> Tags:
        """Return what scikit-learn's own checks may expect."""
        tags = super().__sklearn_tags__()
        # Theirs draw each sample independently of the one before.
        tags.regressor_tags.poor_score = True
        return tags


describe(NarxRegressor)


def warn_of_gaps(signals: object, groups: ArrayLike | None = None) -> None:
    """Warn if the index of pandas of some signals has uneven steps within an experiment, or may have experiments."""
    index = index_of(signals)
    if index is None:
        return
    if index.nlevels > 1 and groups is None:
        text = f"the index has {index.nlevels} levels; lags count rows: give groups, where a level is the experiment"
        warnings.warn(text, UserWarning, stacklevel=3)
    for part in _experiment_slices(groups, len(index)):
        place = first_gap(index[part])
        if place is not None:
            before, after = index[part][place], index[part][place + 1]
            text = f"the index has a gap between {before} and {after}; lags count rows: give groups, or fill the gap"
            warnings.warn(text, UserWarning, stacklevel=3)
            return


def _experiment_slices(groups: ArrayLike | None, samples: int) -> list[slice]:
    """Return where each experiment begins and ends."""
    if groups is None:
        return [slice(0, samples)]
    labels = np.asarray(groups)
    if labels.shape != (samples,):
        raise NarxbenchError(
            f"groups: found an array of shape {labels.shape}; needed: ({samples},), one for each sample"
        )
    starts = [0, *(np.flatnonzero(labels[1:] != labels[:-1]) + 1).tolist(), samples]
    if len(starts) - 1 > len(np.unique(labels)):
        raise NarxbenchError("groups: found an experiment in several places; allowed: its samples are together")
    return [slice(start, end) for start, end in pairwise(starts)]
