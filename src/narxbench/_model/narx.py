"""A polynomial NARX model of measured data: prediction, scores, files, equations and code.

The module is long because users find all that a model can do in one class.
"""

import json
import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np
import pydantic_core
from numpy.typing import ArrayLike, NDArray

from narxbench._io.errors import FileError, NarxbenchError, did_you_mean, is_whole_number, printable, show
from narxbench._io.files import StrPath, canonical_json, read_bytes, write_atomically
from narxbench._io.version import __version__
from narxbench._io.words import ordinal
from narxbench._model.bridging import bridged
from narxbench._model.dataset import DIVERGED, DIVERGENCE_FACTOR, as_signals, finite_signals, outputs_with_gaps
from narxbench._model.equation import DIGITS, duration, latex_of, legend, plain, text_of
from narxbench._model.export import Program, source
from narxbench._model.forecasting import Forecaster
from narxbench._model.functions import derived
from narxbench._model.indexes import common_index, following_index, index_of
from narxbench._model.inputs import input_values
from narxbench._model.noise_models import NoiseModel, NoiseName, noise_model_of
from narxbench._model.prediction import NoiseFilter, forecast_noise, predicted_ahead, simulated
from narxbench._model.start import estimated_start
from narxbench._model.terms import INPUT, MAX_TERMS, OUTPUT, Monomial, lags_of, max_lag_of, parse_term, term_name
from narxbench._model.working_point import LinearModel, delay_of, fixed_points, linearised

Floats = NDArray[np.float64]
# The first outputs of a free run.
Initial = Literal["measured", "estimate"]

FORMAT, VERSION = "narxbench-model", 1


class DivergedError(NarxbenchError):
    """A prediction whose output grows beyond all bounds.

    Examples
    --------
    >>> import narxbench
    >>> model = narxbench.Model(("y(k-1)",), (2.0,), inputs=(), output="y")
    >>> try:
    ...     model.predict(None, y_initial=[1.0], samples=100)
    ... except narxbench.DivergedError:
    ...     print("no finite prediction")
    no finite prediction
    """


class Scores(NamedTuple):
    """How well predictions agree with measured outputs. Scores are None if they diverge or there are no outputs.

    Attributes
    ----------
    rrse : float or None
        Root relative squared error: the root of the sum of squared errors relative to the errors of the mean of the
        output. 0 for a perfect model, 1 for a model as good as the mean. For a constant output this and the next two
        are None.
    nrmse : float or None
        Root mean squared error relative to the range of the output.
    fit_percent : float or None
        100 (1 - rrse).
    mae : float or None
        Mean absolute error, in the unit of the output.
    samples : int
        The number of samples that were scored.
    """

    rrse: float | None
    nrmse: float | None
    fit_percent: float | None
    mae: float | None
    samples: int


@lru_cache(maxsize=1_000)
def _parsed_terms(terms: tuple[str, ...], n_inputs: int) -> tuple[tuple[Monomial, ...], int]:
    """Return terms as monomials, and the largest lag of output and inputs."""
    monomials = tuple(parse_term(term, n_inputs, current=True) for term in terms)
    return monomials, max_lag_of(monomials)


@dataclass(frozen=True, repr=False)
class Model:
    """A polynomial NARX model: y(k) is a weighted sum of terms, which are products of lagged outputs and inputs.

    Attributes
    ----------
    terms : tuple of str
        Names of the terms, such as ``"1"``, ``"y(k-1)"``, ``"y(k-1)*u(k-2)"``. Several inputs are called ``u1``,
        ``u2``, …. Terms may be written in any spelling. The model keeps the canonical one.
    coefficients : tuple of float
        The weights of the terms, in the same order.
    inputs : tuple of str
        Names of the inputs, empty for a model of the output alone.
    output : str
        Name of the output.
    decimation : int
        The number of samples of the data in one step of k: ``y(k-1)`` is the sample that many samples earlier.
    sampling_time : float or None
        Seconds between samples of the data, if known.
    units : mapping of str to str
        Units of signals by name, where they are known.
    covariance : tuple of tuple of float, or None
        Covariance of the coefficients.
    offsets, scales : tuple of float, or None
        One for the output and for each input. Terms and their sum are in units of ``(signal - offset) / scale``. None:
        terms and their sum are in the units of the signals.
    data_digest : str
        SHA-256 of the data that the model was identified from.
    about : mapping
        How the model was found, as plain data.
    noise_model : {"narx", "narmax", "ararx", "ararmax", "noe", "box-jenkins"}
        Where noise w(k) enters and which coefficients it has, as :mod:`narxbench._model.noise_models` describes. In
        the equation: white (NARX), a moving average (NARMAX), an autoregression (ARARX) or both (ARARMAX); on the
        output: white (NOE) or coloured (Box-Jenkins). Predictions some steps ahead forecast the noise. A free run is
        the same for all.
    moving_average : tuple of float
        c_1, c_2, … of ``D(q) w(k) = C(q) e(k)`` with white e(k) and ``C(q) = 1 + c_1 q^-1 + …``.
    autoregression : tuple of float
        d_1, d_2, … of ``D(q) = 1 + d_1 q^-1 + …``.
    is_integrated : bool
        Whether the noise drifts: D(q) has the factor ``1 - q^-1`` too.
    degrees_of_freedom : float or None
        Degrees of freedom of the Student-t distribution of e(k). None: e(k) is Gaussian.

    Raises
    ------
    NarxbenchError
        If a term cannot be read or occurs twice, numbers do not fit, the noise model does not have such coefficients,
        or they make no stable filter.

    Examples
    --------
    >>> model = Model(("y(k-1)", "u(k-2)"), (0.5, 1.0), inputs=("u",), output="y")
    >>> model.predict(u=[1.0, 2.0, 3.0, 4.0], y_initial=[0.0, 2.0])
    array([0., 2., 2., 3.])
    >>> print(model.equation())
    y(k) = 0.5 y(k-1) + 1 u(k-2)
    """

    terms: tuple[str, ...]
    coefficients: tuple[float, ...]
    inputs: tuple[str, ...]
    output: str
    decimation: int = 1
    sampling_time: float | None = None
    units: Mapping[str, str] = field(default_factory=dict, hash=False)
    covariance: tuple[tuple[float, ...], ...] | None = None
    offsets: tuple[float, ...] | None = None
    scales: tuple[float, ...] | None = None
    data_digest: str = ""
    about: Mapping[str, Any] = field(default_factory=dict, hash=False)
    noise_model: NoiseName = "narx"
    moving_average: tuple[float, ...] = ()
    autoregression: tuple[float, ...] = ()
    is_integrated: bool = False
    degrees_of_freedom: float | None = None

    def __post_init__(self) -> None:
        self._check_texts()
        terms = self._canonical_terms()
        values = {
            "terms": terms,
            "coefficients": _numbers("coefficients", self.coefficients, (len(terms),), "one for each term"),
            "sampling_time": self._checked_sampling_time(),
            "covariance": self._checked_covariance(len(terms)),
            **self._checked_scaling(),
            **self._checked_noise(),
            **self._plain_values(),
        }
        if not is_whole_number(self.decimation, 1):
            raise NarxbenchError(f"decimation: found {show(self.decimation)}; allowed: a whole number from 1 on")
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _check_texts(self) -> None:
        """Raise NarxbenchError for a value that is not text, or whose entries are not."""
        for name in ("units", "about"):
            if not isinstance(getattr(self, name), Mapping):
                raise NarxbenchError(f"{name}: found {show(getattr(self, name))}; allowed: a mapping")
        texts = {
            "terms": self.terms,
            "inputs": self.inputs,
            "output": [self.output],
            "data_digest": [self.data_digest],
            "units": [*self.units, *self.units.values()],
        }
        for name, values in texts.items():
            if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
                finding = show(getattr(self, name))
                raise NarxbenchError(f"{name}: found {finding}; allowed: text, or texts for each of them")

    def _canonical_terms(self) -> tuple[str, ...]:
        """Return the canonical names of the terms."""
        n_inputs = len(self.inputs)
        terms = [term_name(parse_term(term, n_inputs, current=True), n_inputs) for term in self.terms]
        finding = ""
        if not terms:
            finding = "found none"
        repeated = [term for i, term in enumerate(terms) if term in terms[:i]]
        if repeated:
            finding = f"found {repeated[0]} twice"
        if finding:
            raise NarxbenchError(f"terms: {finding}; allowed: at least one, each once")
        return tuple(terms)

    def _checked_sampling_time(self) -> float | None:
        if self.sampling_time is None:
            return None
        (seconds,) = _numbers("sampling_time", [self.sampling_time], (1,), "one")
        if seconds <= 0:
            raise NarxbenchError(f"sampling_time: found {seconds}; allowed: seconds above 0, or None")
        return seconds

    def _checked_covariance(self, n_terms: int) -> tuple[tuple[float, ...], ...] | None:
        if self.covariance is None:
            return None
        flat = _numbers("covariance", self.covariance, (n_terms, n_terms), "a row and a column for each term")
        rows = tuple(flat[i : i + n_terms] for i in range(0, len(flat), n_terms))
        if any(row[i] < 0 for i, row in enumerate(rows)):
            raise NarxbenchError("covariance: found a negative variance; allowed: variances of at least 0")
        return rows

    def _checked_scaling(self) -> dict[str, tuple[float, ...] | None]:
        scaling: dict[str, tuple[float, ...] | None] = {"offsets": None, "scales": None}
        for name in scaling:
            numbers = getattr(self, name)
            if numbers is not None:
                shape = (1 + len(self.inputs),)
                scaling[name] = _numbers(name, numbers, shape, "one for the output and for each input")
        smallest = min(scaling["scales"] or (1.0,))
        if smallest <= 0:
            raise NarxbenchError(f"scales: found {smallest}; allowed: positive numbers")
        return scaling

    def _checked_noise(self) -> dict[str, Any]:
        """Return the values that describe the noise, as plain numbers."""
        filters = {}
        for name in ("autoregression", "moving_average"):
            order = np.size(np.array(getattr(self, name), object))
            filters[name] = _numbers(name, getattr(self, name), (order,), "any number of them")
        degrees_of_freedom = self.degrees_of_freedom
        if degrees_of_freedom is not None:
            (degrees_of_freedom,) = _numbers("degrees_of_freedom", degrees_of_freedom, (), "one above 0, or None")
        values = {**filters, "is_integrated": self.is_integrated, "degrees_of_freedom": degrees_of_freedom}
        noise_model_of(
            self.noise_model,
            filters["autoregression"],
            filters["moving_average"],
            is_integrated=self.is_integrated,
            degrees_of_freedom=degrees_of_freedom,
        )
        return values

    def _plain_values(self) -> dict[str, Any]:
        """Return copies of the values that only need to be plain data."""
        inputs = tuple(self.inputs)
        values = {"units": dict(self.units), "about": dict(self.about), "output": self.output, "inputs": inputs}
        try:
            plain_data = json.loads(canonical_json(values).encode())
        except (TypeError, ValueError) as error:
            raise NarxbenchError(f"about, units: not plain data ({error}); allowed: what JSON can hold") from None
        return {"inputs": inputs, "units": plain_data["units"], "about": plain_data["about"]}

    @property
    def noise(self) -> NoiseModel:
        """The noise model, in which the coefficients that are not zero are free."""
        return noise_model_of(
            self.noise_model,
            self.autoregression,
            self.moving_average,
            is_integrated=self.is_integrated,
            degrees_of_freedom=self.degrees_of_freedom,
        )

    @property
    def n_inputs(self) -> int:
        """The number of inputs."""
        return len(self.inputs)

    @property
    def monomials(self) -> list[Monomial]:
        """The terms as monomials."""
        monomials, _ = _parsed_terms(self.terms, self.n_inputs)
        return list(monomials)

    @property
    def max_lag(self) -> int:
        """The largest lag of output and inputs, in steps."""
        _, largest = _parsed_terms(self.terms, self.n_inputs)
        return largest

    @property
    def degree(self) -> int:
        """The largest number of factors in a term."""
        return max(map(len, self.monomials))

    @property
    def lags(self) -> dict[str, list[int]]:
        """The lags of the output and of each input that occur in terms, in steps."""
        signals = enumerate([self.output, *self.inputs])
        return {name: lags_of(self.monomials, signal) for signal, name in signals}

    @property
    def initial_samples(self) -> int:
        """The number of first outputs that a prediction needs: largest lag times decimation."""
        return self.max_lag * self.decimation

    @property
    def step_time(self) -> float | None:
        """Seconds in one step of k, if known."""
        if self.sampling_time is None:
            return None
        return self.decimation * self.sampling_time

    @property
    def standard_errors(self) -> tuple[float, ...] | None:
        """Standard errors of the coefficients, if their covariance is known."""
        if self.covariance is None:
            return None
        return tuple(math.sqrt(row[i]) for i, row in enumerate(self.covariance))

    def predict(
        self,
        u: ArrayLike | None,
        y_initial: ArrayLike,
        steps: int | None = None,
        *,
        samples: int | None = None,
        initial: Initial = "measured",
    ) -> Floats:
        """Return the output that the model predicts from the inputs and from measured outputs.

        Parameters
        ----------
        u : array or frame, shape (samples,) or (samples, inputs), or None
            The inputs, None for a model without inputs. A frame may have them in any order next to other columns. A
            frame that has none of their names is taken by position. Inputs that are functions of others, such as
            ``abs(u)`` next to ``u``, may be left out.
        y_initial : array, shape (at least initial_samples,)
            The measured outputs from the first sample on. A free run uses only the first ``initial_samples``. Later
            ones may be missing (NaN): predictions some steps ahead go through a gap, and refer to the
            prediction of the model for the missing outputs. However long a gap is, none of it counts as measured.
        steps : int, optional
            The prediction horizon in steps of k: each sample is predicted from the outputs measured up to that many
            steps earlier, so all outputs must be given. A sample closer to the beginning is predicted from there. None:
            a free run, in which each sample is predicted from the beginning. The noise model adds its forecast of the
            noise, to the equation or, if the noise is on the output, to the free run. The forecast of white noise is
            zero, so the result of NOE is a free run.
        samples : int, optional
            The number of samples to return, needed for a free run without inputs.
        initial : {"measured", "estimate"}
            The first outputs of a free run: as measured, with their noise, or estimated, such that the run is closest
            to the given outputs of its first 100 steps, or 10 times the largest lag if that is more.

        Returns
        -------
        array of float, shape (samples,)
            The outputs of the first ``initial_samples``, then the predicted ones. If an argument is a frame or
            series of pandas, the result is a series with its index.

        Raises
        ------
        DivergedError
            If a prediction is larger than 1e6 times the largest measured output. If outputs of some samples are not
            given, the bound is at least 1e12, because the size of the output is not known.
        NarxbenchError
            If there are too few samples, a shape is wrong, or a number is not finite.
        """
        y = outputs_with_gaps("y", y_initial, self.initial_samples)
        n_outputs = None if steps is None else len(y)
        inputs = self._inputs(u, samples, n_outputs)
        count = len(inputs)
        self._check_outputs(len(y), count, steps)
        _check_initial(initial, steps)
        bound = divergence_bound(y, count)
        offsets, scales = self.scaling()
        scaled_inputs = (inputs - offsets[1:]) / scales[1:]
        with np.errstate(over="ignore", invalid="ignore"):
            if initial == "estimate" or steps is not None:
                y = self._without_gaps(scaled_inputs[: len(y)], y, bound)
            if initial == "estimate":
                y = estimated_start(self, scaled_inputs, y, bound)
            if steps is None:
                predicted, end = self._free_run(scaled_inputs, y, bound)
            else:
                predicted, end = self._ahead(scaled_inputs, y, steps, bound)
        if end < count:
            kind = "a free run"
            if steps is not None:
                kind = f"a prediction {_count(steps, 'step')} ahead"
            finding = f"{kind} of the model diverges (|y| > {bound:.3g}) at sample {end + 1}"
            raise DivergedError(f"{finding}; allowed: inputs and first outputs for which the model is stable")
        return self._with_index(predicted, u, y_initial)

    def _check_outputs(self, n_outputs: int, samples: int, steps: int | None) -> None:
        """Raise NarxbenchError for an impossible horizon, or a number of outputs that does not fit."""
        is_free_run = steps is None
        if not is_free_run and not is_whole_number(steps, 1):
            raise NarxbenchError(f"steps: found {show(steps)}; allowed: a whole number from 1 on, or None")
        if n_outputs > samples or (not is_free_run and n_outputs < samples):
            allowed = "at most as many" if is_free_run else "as many"
            raise NarxbenchError(f"y: found {n_outputs} outputs for {samples} samples; allowed: {allowed}")
        self._check_enough_outputs(n_outputs)

    def _check_enough_outputs(self, n_outputs: int) -> None:
        needed = self.initial_samples
        if n_outputs < needed:
            lag = f"{_count(self.max_lag, 'step')} of {_count(self.decimation, 'sample')}"
            raise NarxbenchError(f"y: found {n_outputs} outputs; needed: {needed}, for the largest lag is {lag}")

    def _without_gaps(self, u: Floats, y: Floats, bound: float) -> Floats:
        """Return outputs, shape (samples,), in which the model's predictions for scaled inputs replace NaN.

        DivergedError is raised if one of them exceeds the bound.
        """
        if not np.isnan(y).any():
            return y
        filled, end = bridged(self, u, y, bound)
        if end < len(y):
            finding = f"the prediction of missing outputs diverges (|y| > {bound:.3g}) at sample {end + 1}"
            raise DivergedError(f"{finding}; allowed: outputs and inputs for which the model is stable")
        return filled

    def _free_run(self, u: Floats, y: Floats, bound: float) -> tuple[Floats, int]:
        """Return the free run for scaled inputs, and the first sample that diverges."""
        offsets, scales = self.scaling()
        return simulated(
            self.monomials,
            self.coefficients,
            u,
            y[: self.initial_samples],
            bound=bound,
            stride=self.decimation,
            offset=offsets[OUTPUT],
            scale=scales[OUTPUT],
        )

    def _ahead(self, u: Floats, y: Floats, steps: int, bound: float) -> tuple[Floats, int]:
        """Return predictions some steps ahead for scaled inputs, and the first sample that diverges."""
        first = self.initial_samples
        noise_filter = NoiseFilter(self.autoregression, self.moving_average, self.is_integrated)
        if self.noise.place == "output":
            predicted, end = self._free_run(u, y, bound)
            if end < len(y) or noise_filter.is_white:
                return predicted, end
            predicted[first:] += forecast_noise((y - predicted)[first:], steps, noise_filter, self.decimation)
        else:
            offsets, scales = self.scaling()
            predicted = predicted_ahead(
                self.monomials,
                self.coefficients,
                u,
                y,
                steps,
                noise_filter,
                initial_samples=first,
                stride=self.decimation,
                offset=offsets[OUTPUT],
                scale=scales[OUTPUT],
            )
        outside = np.flatnonzero(~(np.abs(predicted[first:]) <= bound))
        if outside.size:
            return predicted, first + int(outside[0])
        return predicted, len(y)

    def _with_index(self, predicted: Floats, *signals: Any) -> Floats:
        """Return predictions as a series with the index of the first signal that is a frame or series of pandas."""
        pandas_signals = [signal for signal in signals if hasattr(signal, "iloc")]
        if not pandas_signals or len(pandas_signals[0].index) != len(predicted):
            return predicted
        # Only users of frames import pandas.
        import pandas as pd

        return cast(Floats, pd.Series(predicted, index=pandas_signals[0].index, name=self.output))

    def forecast(
        self,
        u: ArrayLike | None,
        y: ArrayLike,
        u_future: ArrayLike | None = None,
        steps: int | None = None,
        *,
        initial: Initial = "measured",
    ) -> Floats:
        """Return the outputs that the model expects after a record.

        The forecast begins with the last measured outputs, and has the forecast of the noise, from the noise that the
        record shows. Noise on the output is the difference of the outputs from a free run over the whole record.

        Parameters
        ----------
        u : array or frame, shape (samples,) or (samples, inputs), or None
            The inputs of the record, as for :meth:`predict`.
        y : array, shape (samples,)
            The measured outputs of the record. After the first ``initial_samples`` some may be missing (NaN).
        u_future : array or frame, shape (steps,) or (steps, inputs), optional
            The inputs of the samples after the record. Of a model whose inputs act later, the last ones may be missing.
        steps : int, optional
            The number of samples after the record, needed without ``u_future``. By default as many as that has.
        initial : {"measured", "estimate"}
            The first outputs of the free run, as for :meth:`predict`. They matter where the noise is on the output.

        Returns
        -------
        array of float, shape (steps,)
            The expected outputs. If an argument is a frame or series of pandas, the result is a series whose index
            continues after the record.

        Raises
        ------
        DivergedError
            If a forecast, or the free run over the record, is larger than 1e6 times the largest measured output.
        NarxbenchError
            If there are too few samples, a shape is wrong, a number is not finite, or the index of ``u_future`` does
            not follow the record.

        Examples
        --------
        >>> model = Model(("y(k-1)",), (0.5,), (), "y", noise_model="narmax", moving_average=(0.5,))
        >>> model.forecast(None, [0.0, 1.0, 4.0], steps=3)
        array([3.5  , 1.75 , 0.875])
        """
        measured = outputs_with_gaps("y", y, self.initial_samples)
        count = len(measured)
        past = self._inputs(u, None, count)
        if len(past) != count:
            raise NarxbenchError(f"u and y: found {len(past)} and {count} samples; allowed: equally many")
        self._check_enough_outputs(count)
        _check_initial(initial, None)
        future = self._future_inputs(u_future, steps)
        if not len(future) or not count:
            return np.zeros(0)
        index = following_index(common_index(u, y), index_of(u_future), len(future))
        with np.errstate(over="ignore", invalid="ignore"):
            filled = self.filled(past, measured)
        forecaster = self.forecaster(np.concatenate([past, future]), filled, initial)
        (forecast,) = forecaster.forecasts([count - 1], len(future))
        if not np.isfinite(forecast).all():
            sample = int(np.flatnonzero(~np.isfinite(forecast))[0]) + 1
            finding = f"the forecast of the model diverges {_count(sample, 'sample')} after the record"
            raise DivergedError(f"{finding}; allowed: inputs and outputs for which the model is stable")
        if index is None:
            return cast(Floats, forecast)
        import pandas as pd

        return cast(Floats, pd.Series(forecast, index=index, name=self.output))

    def filled(self, u: Floats, y: Floats) -> Floats:
        """Return outputs of a record in which the model's predictions replace the missing ones (NaN).

        ``u`` has the shape (samples, inputs). DivergedError is raised if a prediction diverges.
        """
        offsets, scales = self.scaling()
        return self._without_gaps((u - offsets[1:]) / scales[1:], y, divergence_bound(y, len(y)))

    def forecaster(self, u: Floats, y: Floats, initial: Initial = "measured") -> Forecaster:
        """Return a forecaster from any sample of a record. The arguments are as for :meth:`forecast`, but arrays.

        ``u`` has the inputs of the record and those after it, shape (at least len(y), inputs).
        """
        bound = divergence_bound(y, len(y))
        with np.errstate(over="ignore", invalid="ignore"):
            start = y[: self.initial_samples]
            if initial == "estimate":
                offsets, scales = self.scaling()
                start = estimated_start(self, (u - offsets[1:]) / scales[1:], y, bound)
            return Forecaster(self, u, y, start, bound)

    def _future_inputs(self, u_future: Any, steps: int | None) -> Floats:
        """Return the inputs after a record, shape (steps, inputs), with zeros where none is needed."""
        if steps is not None and not is_whole_number(steps, 0):
            raise NarxbenchError(f"steps: found {show(steps)}; allowed: a whole number from 0 on, or None")
        if u_future is None:
            if steps is None:
                raise NarxbenchError("steps: found null; needed: how many samples to forecast, or u_future")
            future = np.zeros((0, self.n_inputs))
        else:
            future = self._inputs(u_future, None, None, "u_future")
            if steps is None:
                steps = len(future)
        delays = [delay_of(self, INPUT + number) for number in range(self.n_inputs)]
        shortest = min((delay for delay in delays if delay is not None), default=steps)
        needed = max(0, steps - shortest)
        if len(future) < needed:
            finding = f"found {_count(len(future), 'sample')} after the record"
            raise NarxbenchError(f"u_future: {finding}; needed: {needed}, to forecast {steps}")
        padding = np.zeros((max(0, steps - len(future)), self.n_inputs))
        return np.concatenate([future[:steps], padding])

    def score(self, u: ArrayLike | None, y: ArrayLike, steps: int | None = None) -> Scores:
        """Return how well the model predicts measured outputs, without the first ``initial_samples``.

        Missing outputs (NaN) are not scored either: the prediction goes through gaps as in :meth:`predict`.

        Parameters
        ----------
        u, steps
            As for :meth:`predict`.
        y : array, shape (samples,)
            The measured outputs.

        Raises
        ------
        NarxbenchError
            As :meth:`predict`, except that predictions that diverge have the scores None.
        """
        measured = outputs_with_gaps("y", y, self.initial_samples)
        count = len(self._inputs(u, None, len(measured)))
        if count != len(measured):
            raise NarxbenchError(f"u and y: found {count} and {len(measured)} samples; allowed: equally many")
        first = self.initial_samples
        try:
            predicted = self.predict(u, measured, steps, samples=count)
        except DivergedError:
            predicted = np.full(count, np.nan)
        is_scored = ~np.isnan(measured)
        is_scored[:first] = False
        return scores(measured[is_scored], predicted[is_scored])

    def linearised(self, u0: ArrayLike | None = None, y0: float | None = None) -> LinearModel:
        """Return the model for small deviations from a state of rest at constant inputs: coefficients, poles, gain.

        Parameters
        ----------
        u0 : float or array, shape (inputs,), or None
            The constant inputs, None for a model without inputs.
        y0 : float, optional
            An output: the model is linearised at the state of rest nearest to it, stable or not. None: at the only
            stable state of rest.

        Raises
        ------
        NarxbenchError
            If the inputs do not fit, there is no such state, or there are several and ``y0`` is None.

        Examples
        --------
        >>> model = Model(("y(k-1)", "u(k-1)^2"), (0.5, 1.0), inputs=("u",), output="y")
        >>> around = model.linearised(3.0)
        >>> around.y, around.a, around.b, around.static_gain
        (18.0, array([0.5]), array([[0., 6.]]), (12.0,))
        """
        u = self._constant("u0", u0)
        if y0 is None:
            rest = self._stable_rest(u)
        else:
            (near,) = _numbers("y0", [y0], (1,), "one")
            rest = self._nearest_rest(u, near)
        return linearised(self, u, rest)

    def _stable_rest(self, u: tuple[float, ...]) -> float:
        """Return the output of the only stable state of rest."""
        offsets, scales = self.scaling()
        points = fixed_points(self, u, float(offsets[OUTPUT]), float(scales[OUTPUT]))
        stable = [output for output, size in points if size < 1]
        if len(stable) != 1:
            needed = "one stable state of rest, or y0 near the one that is meant"
            raise NarxbenchError(f"u0: found the states of rest: {_listed_rests(points)}; needed: {needed}")
        return stable[0]

    def _nearest_rest(self, u: tuple[float, ...], near: float) -> float:
        """Return the output of the state of rest nearest to an output."""
        scale = max(float(self.scaling()[1][OUTPUT]), abs(near))
        outputs = [output for output, _ in fixed_points(self, u, near, scale)]
        if not outputs:
            raise NarxbenchError("u0: found the states of rest: none; needed: a state of rest")
        return min(outputs, key=lambda output: abs(output - near))

    def step_response(self, u0: ArrayLike, du: ArrayLike, steps: int, y0: float | None = None) -> Floats:
        """Return the response of the output to a step of the inputs from a state of rest.

        Parameters
        ----------
        u0, y0
            The state of rest, as for :meth:`linearised`.
        du : float or array, shape (inputs,)
            The height of the step of each input.
        steps : int
            The number of steps of the model to return.

        Returns
        -------
        array of float, shape (steps,)
            The output in steps of the model, from the moment of the step on.

        Raises
        ------
        NarxbenchError
            As :meth:`linearised`, and DivergedError if the output grows beyond all bounds.

        Examples
        --------
        >>> model = Model(("y(k-1)", "u(k-1)^2"), (0.5, 1.0), inputs=("u",), output="y")
        >>> model.step_response(3.0, 1.0, steps=4)
        array([18.  , 25.  , 28.5 , 30.25])
        """
        if not is_whole_number(steps, 1):
            raise NarxbenchError(f"steps: found {show(steps)}; allowed: a whole number from 1 on")
        rest, first = self.linearised(u0, y0), self.max_lag
        samples = first + steps
        unit_step = np.where(np.arange(samples) < first, 0.0, 1.0)
        inputs = unit_step[:, None] * self._constant("du", du) + np.array(rest.u)
        return self.decimated().predict(inputs, [rest.y] * first, samples=samples)[first:]

    def _constant(self, name: str, values: ArrayLike | None) -> tuple[float, ...]:
        """Return one number for each input."""
        constants: list[Any] = []
        if values is not None:
            constants = np.atleast_1d(np.asarray(values, object)).tolist()
        return _numbers(name, constants or np.zeros(0), (self.n_inputs,), "one for each input")

    def decimated(self) -> "Model":
        """Return this model for data that consist only of every ``decimation``-th sample."""
        return replace(self, decimation=1, sampling_time=self.step_time)

    def expanded(self) -> "Model":
        """Return this model as a polynomial of the signals in their own units, without offsets and scales.

        The coefficients are computed exactly and rounded once. Their covariance is transformed with them.

        Raises
        ------
        NarxbenchError
            If a coefficient is too large for double precision, or there would be very many terms.

        Examples
        --------
        >>> model = Model(("y(k-1)^2",), (3.0,), inputs=(), output="y", offsets=(2.0,), scales=(0.5,))
        >>> print(model.expanded().equation())
        y(k) = 26 - 24 y(k-1) + 6 y(k-1)^2
        """
        if self.offsets is None and self.scales is None:
            return self
        self._check_expansion()
        offsets, scales = (list(map(Fraction, values.tolist())) for values in self.scaling())
        expansions = [_expansion(monomial, offsets, scales) for monomial in self.monomials]
        sums = _weighted_sum(expansions, self.coefficients)
        if offsets[OUTPUT]:
            sums[()] = sums.get((), Fraction()) + offsets[OUTPUT]
        monomials = sorted(sums, key=lambda monomial: (len(monomial), monomial))
        try:
            coefficients = tuple(float(sums[monomial]) for monomial in monomials)
            rows = [_row(monomial, expansions) for monomial in monomials]
        except OverflowError:
            finding = "found values with which the model has no expansion in double precision"
            allowed = "scales that are like the signals"
            raise NarxbenchError(f"offsets and scales: {finding}; allowed: {allowed}") from None
        covariance = None
        if self.covariance is not None:
            covariance = _transformed(np.array(rows), np.array(self.covariance))
        return replace(
            self,
            terms=tuple(term_name(monomial, self.n_inputs) for monomial in monomials),
            coefficients=coefficients,
            covariance=covariance,
            offsets=None,
            scales=None,
        )

    def _check_expansion(self) -> None:
        """Raise NarxbenchError if the expansion may have more terms than the candidates of a search."""
        n_terms = 0
        for monomial in self.monomials:
            n_terms += math.prod(count + 1 for count in Counter(monomial).values())
        if n_terms > MAX_TERMS:
            finding = f"found terms whose expansion has up to {printable(str(n_terms), 30)} terms"
            raise NarxbenchError(f"terms: {finding}; allowed: fewer terms, of a lower degree")

    def save(self, path: StrPath) -> None:
        """Write the model to a file in JSON, from which :meth:`load` returns an equal model.

        Raises
        ------
        NarxbenchError
            If the file cannot be written.
        """
        write_atomically(path, model_text(self), durable=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the model as plain data, as :meth:`save` writes it.

        Examples
        --------
        >>> content = Model(("y(k-1)", "u(k-1)"), (0.5, 1.0), ("u",), "y").to_dict()
        >>> content["format"], content["version"], content["coefficients"]
        ('narxbench-model', 1, [0.5, 1.0])
        """
        content: dict[str, Any] = {"format": FORMAT, "version": VERSION}
        for attribute in fields(self):
            content[attribute.name] = getattr(self, attribute.name)
        # JSON has lists in place of tuples.
        return cast(dict[str, Any], json.loads(canonical_json(content)))

    @classmethod
    def from_search(cls, result: Any) -> "Model":
        """Return the structure that a search has chosen as a model, in the units of the data.

        The model has the noise model that the algorithm has chosen, if it chooses one.

        Parameters
        ----------
        result : SearchResult
            The result of :func:`narxbench.search`.

        Raises
        ------
        NarxbenchError
            If the search has found no structure.

        Examples
        --------
        >>> import narxbench
        >>> u, y = narxbench.load_system("S1").simulate(1000, snr_db=40)
        >>> problem = narxbench.StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=300)
        >>> model = Model.from_search(narxbench.search(problem, seed=1))
        >>> model.noise_model
        'noe'
        >>> model.predict(u, y[:2]).shape
        (1000,)
        """
        if not result.terms:
            raise NarxbenchError("result: found no structure; allowed: the result of a search that found one")
        values = dict(result.details.get("noise", {}))
        values.pop("description", None)
        if any(result.offsets):
            values["offsets"] = result.offsets
        if set(result.scales) != {1.0}:
            values["scales"] = result.scales
        return cls(
            tuple(result.terms),
            tuple(result.coefficients),
            inputs=result.inputs,
            output="y",
            noise_model=result.details.get("noise_model", "narx"),
            **values,
        )

    @classmethod
    def load(cls, path: StrPath) -> "Model":
        """Return the model of a file that :meth:`save` wrote.

        Raises
        ------
        NarxbenchError
            If the file cannot be read, is not a model file, has another version, or has values that are not allowed.
        """
        content = read_bytes(path)
        try:
            data = pydantic_core.from_json(content, allow_inf_nan=False)
        except ValueError as error:
            raise FileError(f"{path}: not valid JSON ({error}); allowed: a file that Model.save wrote") from None
        return cls.from_dict(data, str(path))

    @classmethod
    def from_dict(cls, data: object, source: str = "model") -> "Model":
        """Return the model of plain data that :meth:`to_dict` returned. Errors name the source.

        Raises
        ------
        FileError
            If the data are not of a model, are of another version, or have values that are not allowed.

        Examples
        --------
        >>> model = Model(("y(k-1)", "u(k-1)"), (0.5, 1.0), ("u",), "y")
        >>> Model.from_dict(model.to_dict()) == model
        True
        """
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise FileError(f"{source}: not a model; allowed: a file that Model.save wrote")
        check_version(data, VERSION, source)
        values = {key: value for key, value in data.items() if key not in ("format", "version")}
        _check_keys(values, source)
        try:
            return cls(**values)
        except NarxbenchError as error:
            raise FileError(f"{source}: {error}") from None

    def equation(self, digits: int = DIGITS) -> str:
        """Return the equation as text, with a line below it on the signals, the noise and the steps, where needed.

        Parameters
        ----------
        digits : int
            Significant digits of the numbers, from 1 to 17.

        Examples
        --------
        >>> model = Model(("y(k-1)", "u(k)"), (0.85, -2.0), ("speed",), "torque", decimation=12, sampling_time=1e-5)
        >>> print(model.equation())
        y(k) = 0.85 y(k-1) - 2 u(k)
        y: torque; u: speed; k counts steps of 12 samples, 120 µs
        """
        return text_of(self, digits)

    def latex(self, digits: int = DIGITS) -> str:
        r"""Return the equation as a displayed formula of LaTeX, with a sentence below it as for :meth:`equation`.

        Examples
        --------
        >>> print(Model(("y(k-1)^2", "u2(k)"), (0.85, -2e-5), ("u1", "u2"), "y").latex())
        \[
        \begin{array}{rl}
        y(k) = & 0.85\,y(k-1)^{2} - 2 \times 10^{-5}\,u_{2}(k)
        \end{array}
        \]
        """
        return latex_of(self, digits)

    def __repr__(self) -> str:
        """Return the equation, which a terminal shows."""
        return f"<Model: {self.equation()}>"

    def _repr_latex_(self) -> str:
        """Return the equation in LaTeX, which a notebook shows."""
        formula, _, sentence = self.latex().removeprefix(r"\[").partition(r"\]")
        return f"$${formula}$${sentence}"

    def export(self, language: str, name: str = "narx_model") -> str:
        """Return the source text of a program that predicts as the model does, one step of the model at a time.

        Parameters
        ----------
        language : {"python", "c", "matlab", "sysidentpy"}
            Python without packages, C99, a function for MATLAB and Octave, or an object of the package SysIdentPy 0.9.
        name : str
            The beginning of the names in the program: a letter, then letters, digits and underscores, at most 40
            characters.

        Returns
        -------
        str
            The program. A comment at the top describes its arguments. It has the same operations as :meth:`predict`, in
            the same order. SysIdentPy has other operations.

        Raises
        ------
        NarxbenchError
            If the language or the name is not allowed, or a lag is too long for SysIdentPy.

        Examples
        --------
        >>> program = Model(("y(k-1)", "u(k)"), (0.5, 1.0), inputs=("u",), output="y").export("c")
        >>> [line for line in program.splitlines() if line.startswith("double")]
        ['double narx_model_step(const double *y_past, const double *u_past)']
        """
        model = self.decimated()
        if language != "sysidentpy":
            return source(self._program(model, derived(self.inputs)), language, name)
        # SysIdentPy does not compute functions of inputs, which are columns like the others.
        return source(self._program(model.expanded(), {}), language, name)

    def write_fmu(self, path: StrPath, name: str = "narx_model", *, with_binary: bool = True) -> None:
        """Write the model as a Functional Mock-up Unit (FMI 2.0, co-simulation) for Simulink, Dymola and other tools.

        It makes a free run at the model's own sampling. Parameters ``past u(k-1)``, ``past y(k-1)``, … are the state
        that it begins in, by default the offsets of the model, or zero. The output follows the present input at once if
        the model has such a term.

        Parameters
        ----------
        path : path
            The file, ``*.fmu``.
        name : str
            The name of the unit, as for :meth:`export`.
        with_binary : bool
            Whether to compile it for this machine with ``cc``. If not, it has its sources only, for tools that compile.

        Raises
        ------
        NarxbenchError
            If the name is not allowed, the compiler is missing, or the file cannot be written.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> model = Model(("y(k-1)", "u(k-1)"), (0.5, 1.0), ("u",), "y", sampling_time=0.1)
        >>> with TemporaryDirectory() as folder:
        ...     model.write_fmu(f"{folder}/model.fmu", with_binary=False)
        """
        # Imported only for a unit.
        from narxbench._model.fmu import fmu_bytes

        model = self.decimated()
        program = self._program(model, derived(self.inputs))
        code = source(program, "c", name)
        write_atomically(path, fmu_bytes(model, program, code, name, with_binary=with_binary))

    def _program(self, model: "Model", functions: Mapping[int, Any]) -> Program:
        """Return the program of this model at its sampling, which computes some inputs from others."""
        offsets, scales = (values.tolist() for values in model.scaling())
        comment = self._comment(model, functions)
        return Program(model.monomials, model.coefficients, model.n_inputs, offsets, scales, comment, functions)

    def _comment(self, model: "Model", functions: Mapping[int, Any]) -> list[str]:
        equation = model.equation(6).split("\n")[0]
        lines = [f"A polynomial NARX model, exported by narxbench {__version__}.", equation]
        lines += legend(model, plain(None), with_plain_names=True, with_step=False)
        samples = "every sample"
        if self.decimation > 1:
            samples = f"every {ordinal(self.decimation)} sample"
        sampling = f"Give {samples} of the data"
        if self.step_time is not None:
            sampling += f": one step of k is {duration(self.step_time)}"
        lines.append(f"{sampling}.")
        inputs = [printable(name) for position, name in enumerate(self.inputs) if position not in functions]
        if len(inputs) > 1:
            lines.append(f"Order of the inputs: {', '.join(inputs)}.")
        if self.data_digest:
            lines.append(f"SHA-256 of the data that it is from: {printable(self.data_digest)}")
        return lines

    def scaling(self) -> tuple[Floats, Floats]:
        """Return offset and scale of the output and each input, two arrays of shape (1 + inputs,)."""
        offsets, scales = np.zeros(1 + self.n_inputs), np.ones(1 + self.n_inputs)
        if self.offsets is not None:
            offsets[:] = self.offsets
        if self.scales is not None:
            scales[:] = self.scales
        return offsets, scales

    def _inputs(self, u: Any, samples: int | None, n_outputs: int | None, name: str = "u") -> Floats:
        """Return the inputs, shape (samples, inputs), which has no columns for a model without inputs."""
        return input_values(self.inputs, u, samples, n_outputs, name)


def model_text(model: Model) -> str:
    """Return the content of the file of a model, in JSON."""
    return canonical_json(model.to_dict(), indent=1)


def _check_keys(values: Mapping[str, Any], source: str) -> None:
    """Raise FileError for an unknown key of a model file, or a missing one."""
    keys = [attribute.name for attribute in fields(Model)]
    for key in map(str, values):
        if key not in keys:
            allowed = f"{', '.join(keys)}{did_you_mean(key, keys)}"
            raise FileError(f"{source}: {printable(key)}: unknown key; allowed: {allowed}")
    for key in keys:
        if key not in values:
            raise FileError(f"{source}: {key}: missing; needed: a file that Model.save wrote")


def check_version(data: Mapping[str, Any], allowed_version: int, source: str) -> None:
    """Raise FileError if plain data of a file are of another version than the one that is read."""
    version = data.get("version")
    if version != allowed_version or isinstance(version, bool):
        allowed = f"{allowed_version}, which narxbench {__version__} reads"
        raise FileError(f"{source}: version: found {show(version)}; allowed: {allowed}")


def scores(measured: ArrayLike, predicted: ArrayLike) -> Scores:
    """Return how well predictions agree with as many measured outputs. Those that are not finite have diverged."""
    y = finite_signals("measured", measured)[:, 0]
    predictions = as_signals("predicted", predicted)[:, 0]
    count = len(y)
    if not count or not np.isfinite(predictions).all():
        return Scores(None, None, None, None, count)
    # Squares of large numbers would overflow. Division by a power of two is exact.
    exponent = math.frexp(max(np.abs(y).max(), np.abs(predictions).max()))[1]
    values = np.ldexp(y, -exponent).tolist()
    errors = (np.ldexp(y, -exponent) - np.ldexp(predictions, -exponent)).tolist()
    # math.fsum is correctly rounded, whereas NumPy's sums depend on the processor's vector width.
    mean = math.fsum(values) / count
    squared_errors = math.fsum(error * error for error in errors)
    mae = float(np.ldexp(math.fsum(map(abs, errors)) / count, exponent))
    spread = math.fsum((value - mean) * (value - mean) for value in values)
    extent = max(values) - min(values)
    # A sum of squares with few digits is too small to divide by.
    if not extent or spread < sys.float_info.min:
        return Scores(None, None, None, mae, count)
    rrse = math.sqrt(squared_errors / spread)
    return Scores(rrse, math.sqrt(squared_errors / count) / extent, 100 * (1 - rrse), mae, count)


def _check_initial(initial: object, steps: int | None) -> None:
    """Raise NarxbenchError for an unknown way to begin, or one of free runs for predictions some steps ahead."""
    if initial not in get_args(Initial):
        hint = did_you_mean(initial, get_args(Initial))
        raise NarxbenchError(f"initial: found {show(initial)}; allowed: {', '.join(get_args(Initial))}{hint}")
    if initial == "estimate" and steps is not None:
        raise NarxbenchError(f"initial: found estimate with steps {steps}; allowed: for a free run, without steps")


def divergence_bound(y: Floats, samples: int) -> float:
    """Return the magnitude above which predictions of some samples from measured outputs have diverged."""
    largest = float(np.abs(y[~np.isnan(y)]).max(initial=0.0))
    bound = DIVERGENCE_FACTOR * largest
    if len(y) < samples or not largest:
        bound = max(bound, DIVERGED)
    return min(bound, np.finfo(np.float64).max)


def _numbers(name: str, values: object, shape: tuple[int, ...], allowed: str) -> tuple[float, ...]:
    """Return finite numbers of a shape, row by row."""
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        array = np.array(None)
    if array.dtype.kind not in "iuf" or array.shape != shape or not np.isfinite(array).all():
        raise NarxbenchError(f"{name}: found {show(values)}; allowed: finite numbers, {allowed}")
    return tuple(array.astype(np.float64).ravel().tolist())


def _expansion(monomial: Monomial, offsets: list[Fraction], scales: list[Fraction]) -> dict[Monomial, Fraction]:
    """Return a term of scaled signals, times the scale of the output, as a polynomial of the signals."""
    expansion: dict[Monomial, Fraction] = {(): scales[OUTPUT]}
    for factor in monomial:
        signal = factor[0]
        product: dict[Monomial, Fraction] = {}
        for partial, coefficient in expansion.items():
            scaled = coefficient / scales[signal]
            with_factor = tuple(sorted((*partial, factor)))
            product[with_factor] = product.get(with_factor, Fraction()) + scaled
            product[partial] = product.get(partial, Fraction()) - scaled * offsets[signal]
        expansion = product
    return {product: coefficient for product, coefficient in expansion.items() if coefficient}


def _weighted_sum(polynomials: list[dict[Monomial, Fraction]], weights: Sequence[float]) -> dict[Monomial, Fraction]:
    """Return the weighted sum of some polynomials, each of which is a coefficient for each monomial."""
    sums: dict[Monomial, Fraction] = {}
    for weight, polynomial in zip(weights, polynomials, strict=True):
        for monomial, coefficient in polynomial.items():
            sums[monomial] = sums.get(monomial, Fraction()) + Fraction(weight) * coefficient
    return sums


def _row(monomial: Monomial, expansions: list[dict[Monomial, Fraction]]) -> list[float]:
    """Return the coefficients of a monomial in each expansion."""
    return [float(expansion.get(monomial, 0)) for expansion in expansions]


def _transformed(transform: Floats, covariance: Floats) -> tuple[tuple[float, ...], ...]:
    """Return T C T', summed in the order of the columns on every machine."""
    half = sum(map(np.outer, transform.T, covariance), np.zeros(transform.shape))
    whole = sum(map(np.outer, half.T, transform.T), np.zeros((len(transform), len(transform))))
    whole = (whole + whole.T) / 2
    # Rounding may make a variance negative.
    np.fill_diagonal(whole, np.maximum(whole.diagonal(), 0.0))
    return tuple(map(tuple, whole.tolist()))


def _listed_rests(points: list[tuple[float, float]]) -> str:
    """Return the first states of rest as a list in words."""
    phrases = []
    for output, size in points[:6]:
        stability = "stable" if size < 1 else "not stable"
        phrases.append(f"{output:.6g} ({stability})")
    return ", ".join(phrases) or "none"


def _count(number: int, noun: str) -> str:
    """Return a number of things in words."""
    return f"1 {noun}" if number == 1 else f"{number} {noun}s"
