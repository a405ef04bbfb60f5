"""A regressor by the conventions of scikit-learn, around :func:`narxbench.identification.identify.identify`.

It needs scikit-learn, as ``narxbench[sklearn]`` has it.

Examples
--------
>>> import narxbench
>>> u, y = narxbench.load_system("S1").simulate(600, snr_db=40)
>>> regressor = narxbench.NarxRegressor(decimation=1, degree=2, y_lags=2, u_lags=2, resamples=0)
>>> regressor = regressor.fit(u[:500, None], y[:500])
>>> regressor.model_.terms
('y(k-1)', 'u(k-1)', 'y(k-1)*u(k-1)', 'u(k-1)^2')
>>> regressor.score(u[500:, None], y[500:]) > 0.99
True
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from narxbench.identification.data.reading import LEAST_SAMPLES
from narxbench.identification.identify import identify
from narxbench.io.errors import NarxbenchError, is_whole_number, show

Lags = Literal["auto"] | int | Sequence[int] | str


class NarxRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A polynomial NARX model by the conventions of scikit-learn.

    Samples are in order of time, evenly spaced: neither shuffle them, nor leave some out. ``groups`` tells experiments
    apart. Parts of the samples take turns in selection. Split them by ``sklearn.model_selection.TimeSeriesSplit``.
    Records with roles need :func:`narxbench.identify`.

    Parameters
    ----------
    decimation, degree, y_lags, u_lags, delay, y_degree, u_degree, include, exclude, centre, method, method_settings, \
error, criterion, seed, seeds, blocks, selection, divergent, effort, resamples, threshold, confidence, noise
        Settings of :class:`narxbench.identification.settings.IdentificationSettings`, with its defaults. None stands
        for an empty ``include``, ``exclude`` or ``method_settings``.

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
    """

    def __init__(
        self,
        *,
        decimation: Literal["auto"] | int | Sequence[int] = "auto",
        degree: Literal["auto"] | int | Sequence[int] = "auto",
        y_lags: Lags = "auto",
        u_lags: Lags | Mapping[str, Lags] = "auto",
        delay: Literal["auto"] | int = "auto",
        y_degree: int | None = None,
        u_degree: int | None = None,
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        centre: Literal["auto"] | bool = False,
        method: str = "multistart",
        method_settings: Mapping[str, Any] | None = None,
        error: str = "auto",
        criterion: str = "bic",
        seed: int = 1,
        seeds: int = 4,
        blocks: int = 8,
        selection: str = "mean",
        divergent: float = 0.0,
        effort: float = 20.0,
        resamples: int = 0,
        threshold: float = 0.5,
        confidence: float = 0.95,
        noise: str = "auto",
    ) -> None:
        # scikit-learn wants each argument as an attribute of its name, as it came.
        given = dict(locals())
        del given["self"]
        self.__dict__.update(given)

    def fit(self, X: ArrayLike | None, y: ArrayLike, groups: ArrayLike | None = None) -> Self:  # noqa: N803
        """Identify a model.

        Parameters
        ----------
        X : array or frame, shape (samples, inputs), or None
            The inputs; None: the output depends on its own past only.
        y : array, shape (samples,)
            The output.
        groups : array, shape (samples,), optional
            The experiment that each sample is of; those of an experiment stand together.

        Raises
        ------
        NarxbenchError
            For a setting, and where no model can be found.
        ValueError
            For data that scikit-learn refuses.
        """
        if X is None:
            # scikit-learn would refuse an array without columns.
            outputs = column_or_1d(check_array(y, ensure_2d=False, dtype=np.float64, ensure_min_samples=LEAST_SAMPLES))
            self.n_features_in_, inputs = 0, np.empty((len(outputs), 0))
        else:
            least: dict[str, Any] = {"dtype": np.float64, "ensure_min_samples": LEAST_SAMPLES}
            inputs, outputs = validate_data(self, X, y, y_numeric=True, **least)
            outputs = np.asarray(outputs, np.float64)
        count = inputs.shape[1]
        names = ["u"] if count == 1 else [f"u{i}" for i in range(1, count + 1)]
        names = list(getattr(self, "feature_names_in_", names)) if count else []
        output = "y"
        while output in names:
            output += "_"
        empty = ("include", "exclude", "method_settings")
        given = self.get_params().items()
        settings: dict[str, Any] = {name: value for name, value in given if value is not None or name not in empty}
        experiments = [
            {**dict(zip(names, inputs[part].T, strict=True)), output: outputs[part]}
            for part in _parts(groups, len(outputs))
        ]
        self.identification_ = identify(experiments, input=names or None, output=output, time=False, **settings)
        self.model_ = self.identification_.model
        self.y_mean_ = float(outputs.mean())
        return self

    def predict(
        self,
        X: ArrayLike | None,  # noqa: N803
        y_initial: ArrayLike | None = None,
        *,
        samples: int | None = None,
    ) -> NDArray[np.float64]:
        """Return the free run of the model: from the inputs, and the outputs that it starts from.

        Parameters
        ----------
        X : array or frame, shape (samples, inputs), or None
            The inputs of one experiment; None where the model has none.
        y_initial : array, shape (at least ``model_.initial_samples``,), optional
            The measured outputs from the first sample on. Without them nothing says where the run starts: it starts
            from the mean output of the training data, so that the first predictions are that mean, and those after
            them are off until the model has forgotten it. A model that does not forget needs measured outputs.
        samples : int, optional
            How many samples to predict; needed without ``X``.

        Returns
        -------
        array of float, shape (samples,)
            The given outputs of the first ``model_.initial_samples``, and then the predicted ones.

        Raises
        ------
        DivergedError
            If the run leaves all bounds.
        NarxbenchError
            For too few outputs.
        """
        check_is_fitted(self)
        inputs: NDArray[np.float64]
        if X is None and not self.n_features_in_:
            if not is_whole_number(samples, 0):
                raise NarxbenchError(f"samples: found {show(samples)}; needed without X: a whole number from 0 on")
            inputs = np.empty((cast(int, samples), 0))
        else:
            inputs = validate_data(self, X, dtype=np.float64, reset=False)
        first = self.model_.initial_samples
        if y_initial is None:
            # A record that is shorter than what the run starts from has no other prediction.
            y_initial = np.full(min(first, len(inputs)), self.y_mean_)
            if len(inputs) <= first:
                return y_initial
        return self.model_.predict(inputs, y_initial, samples=len(inputs))

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
            If the run leaves all bounds.
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


def _parts(groups: ArrayLike | None, samples: int) -> list[slice]:
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
        raise NarxbenchError("groups: found an experiment in several places; allowed: its samples stand together")
    return [slice(start, end) for start, end in pairwise(starts)]
