"""A polynomial NARX model of measured data: prediction, scores, files, equations and code."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple, Protocol, cast

import numpy as np
import pydantic_core
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from narxbench.io.errors import NarxbenchError, is_whole_number, printable, show
from narxbench.io.files import StrPath, canonical_json, read_bytes, write_atomically
from narxbench.io.settings import Settings, validated
from narxbench.io.version import __version__
from narxbench.io.words import ordinal
from narxbench.model.dataset import as_signals, finite_signals
from narxbench.model.equation import duration, latex_of, legend, plain, text_of
from narxbench.model.export import Program, source
from narxbench.model.functions import completed, derived
from narxbench.model.noise_models import NoiseModel, NoiseName, noise_model_of
from narxbench.model.prediction import NoiseFilter, forecast_noise, predicted_ahead, simulated
from narxbench.model.system import DIVERGED
from narxbench.model.terms import OUTPUT, Monomial, parse_term, term_name
from narxbench.model.working_point import Linearised, fixed_points, linearised

Floats = NDArray[np.float64]

FORMAT, VERSION = "narxbench-model", 1
DIVERGENCE_FACTOR = 1e6
# A sum of squares so small, relative to the largest square, is nothing to divide by.
_NOTHING = 1e-300


class DivergedError(NarxbenchError):
    """Predictions that leave all bounds."""


class Scores(NamedTuple):
    """How well predictions agree with measured outputs; None where they diverge, or where nothing is scored.

    Attributes
    ----------
    rrse : float or None
        Root of the squared errors relative to those of the mean: 0 for a perfect model, 1 for one that is no better
        than the mean. None for a constant output, as the next two.
    nrmse : float or None
        Root mean squared error relative to the range of the output.
    fit_percent : float or None
        100 (1 - rrse).
    mae : float or None
        Mean absolute error, in the unit of the output.
    samples : int
        Samples scored.
    """

    rrse: float | None
    nrmse: float | None
    fit_percent: float | None
    mae: float | None
    samples: int


class ModelFile(Settings):
    """The keys of a file of a model."""

    format: Literal["narxbench-model"]
    version: int
    terms: list[str] = Field(min_length=1)
    coefficients: list[float]
    inputs: list[str]
    output: str
    decimation: int
    sampling_time: float | None
    units: dict[str, str]
    covariance: list[list[float]] | None
    offsets: list[float] | None
    scales: list[float] | None
    data_digest: str
    about: dict[str, Any]
    noise_model: NoiseName = "narx"
    moving_average: list[float] = Field(default=[])
    autoregression: list[float] = Field(default=[])
    is_integrated: bool = False
    degrees_of_freedom: float | None = None


class SearchOutcome(Protocol):
    """What a model is made of that a search has chosen."""

    @property
    def terms(self) -> Sequence[str]:
        """Names of the terms."""

    @property
    def coefficients(self) -> Sequence[float]:
        """Their weights."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs."""

    @property
    def offsets(self) -> tuple[float, ...]:
        """Offsets of the output and each input."""

    @property
    def scales(self) -> tuple[float, ...]:
        """Scales of the output and each input."""

    @property
    def details(self) -> Mapping[str, Any]:
        """``noise_model``, its name, and the values of ``noise``, if they were chosen."""


@dataclass(frozen=True, repr=False)
class Model:
    """A polynomial NARX model: y(k) is a weighted sum of terms, which are products of lagged outputs and inputs.

    Attributes
    ----------
    terms : tuple of str
        Names of the terms, such as ``"1"``, ``"y(k-1)"``, ``"y(k-1)*u(k-2)"``; with several inputs ``u1``, ``u2``, ….
        Any spelling is taken, and the canonical one kept.
    coefficients : tuple of float
        Their weights, in the same order.
    inputs : tuple of str
        Names of the inputs; empty for a model of the output alone.
    output : str
        Name of the output.
    decimation : int
        Samples of the data in one step of k: ``y(k-1)`` is the sample that many before.
    sampling_time : float or None
        Seconds between samples of the data, where it is known.
    units : mapping of str to str
        Units of signals by name, where they are known.
    covariance : tuple of tuple of float, or None
        Covariance of the coefficients.
    offsets, scales : tuple of float, or None
        Of the output and each input: the terms are of ``(signal - offset) / scale``, as their sum is. None: of the
        signals themselves.
    data_digest : str
        SHA-256 of the data that it is from.
    about : mapping
        How it was found, as plain data.
    noise_model : {"narx", "narmax", "ararx", "ararmax", "noe", "box-jenkins"}
        Where noise w(k) enters and which coefficients it has; :mod:`narxbench.model.noise_models` describes each. In
        the equation: white (NARX), a moving average (NARMAX), an autoregression (ARARX) or both (ARARMAX); on the
        output: white (NOE) or coloured (Box-Jenkins). Predictions some steps ahead forecast the noise; a free run is
        the same for all.
    moving_average : tuple of float
        c_1, c_2, … of ``D(q) w(k) = C(q) e(k)`` with white e(k) and ``C(q) = 1 + c_1 q^-1 + …``.
    autoregression : tuple of float
        d_1, d_2, … of ``D(q) = 1 + d_1 q^-1 + …``.
    is_integrated : bool
        Whether the noise drifts: D(q) has the factor ``1 - q^-1`` too.
    degrees_of_freedom : float or None
        Of Student-t, which e(k) is from; None: it is Gaussian.

    Raises
    ------
    NarxbenchError
        For terms that cannot be read or occur twice, numbers that do not fit, and coefficients of the noise that its
        model does not have or that make no stable filter.

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
        texts = {
            "terms": self.terms,
            "inputs": self.inputs,
            "output": [self.output],
            "data_digest": [self.data_digest],
            "units": [*self.units, *self.units.values()],
        }
        for name, values in texts.items():
            if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
                value = show(getattr(self, name))
                raise NarxbenchError(f"{name}: found {value}; allowed: text, or texts for each of them")

    def _canonical_terms(self) -> tuple[str, ...]:
        n_inputs = len(self.inputs)
        terms = [term_name(parse_term(term, n_inputs, current=True), n_inputs) for term in self.terms]
        repeated = [term for i, term in enumerate(terms) if term in terms[:i]]
        if repeated or not terms:
            finding = f"found {repeated[0]} twice" if repeated else "found none"
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
        inputs = tuple(self.inputs)
        values = {"units": dict(self.units), "about": dict(self.about), "output": self.output, "inputs": inputs}
        try:
            plain_data = json.loads(canonical_json(values).encode())
        except (TypeError, ValueError) as error:
            raise NarxbenchError(f"about, units: not plain data ({error}); allowed: what JSON can hold") from None
        return {"inputs": inputs, "units": plain_data["units"], "about": plain_data["about"]}

    @property
    def noise(self) -> NoiseModel:
        """The noise model with the lags of the coefficients that are not zero."""
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
        return [parse_term(term, self.n_inputs, current=True) for term in self.terms]

    @property
    def max_lag(self) -> int:
        """The largest lag of output and inputs, in steps."""
        return max((lag for monomial in self.monomials for _, lag in monomial), default=0)

    @property
    def initial_samples(self) -> int:
        """How many first outputs a prediction needs: largest lag times decimation."""
        return self.max_lag * self.decimation

    @property
    def step_time(self) -> float | None:
        """Seconds in one step of k, where that is known."""
        return None if self.sampling_time is None else self.decimation * self.sampling_time

    @property
    def standard_errors(self) -> tuple[float, ...] | None:
        """Standard errors of the coefficients, where their covariance is known."""
        rows = self.covariance
        return None if rows is None else tuple(math.sqrt(row[i]) for i, row in enumerate(rows))

    def predict(
        self, u: ArrayLike | None, y_initial: ArrayLike, steps: int | None = None, *, samples: int | None = None
    ) -> Floats:
        """Return what the model predicts from the inputs and from outputs that are given.

        Parameters
        ----------
        u : array or frame, shape (samples,) or (samples, inputs), or None
            The inputs; None for a model without any. A frame may have them in any order next to other columns. Inputs
            that are functions of others, such as ``abs(u)`` next to ``u``, may be left out.
        y_initial : array, shape (at least initial_samples,)
            The measured outputs from the first sample on. A free run uses ``initial_samples`` of them, however many
            are given.
        steps : int, optional
            From outputs measured how many steps of k before; it needs the outputs of all samples. A sample that is
            closer to the beginning is predicted from there. None: a free run, from the beginning always. What the
            noise model forecasts from the noise up to then is added: to the equation, or to a free run where the noise
            is on the output. Of white noise that is nothing, so that of NOE a free run is returned.
        samples : int, optional
            How many samples to return; needed for a free run without inputs.

        Returns
        -------
        array of float, shape (samples,)
            The given outputs of the first ``initial_samples``, and then the predicted ones. From a frame or series of
            pandas a series with its index.

        Raises
        ------
        DivergedError
            If a prediction is larger than 1e6 times the largest given output. Unless the outputs of all samples are
            given, the bound is at least 1e12, for it is not known how large outputs are.
        NarxbenchError
            For too few samples, other shapes, and numbers that are not finite.
        """
        y = finite_signals("y", y_initial)[:, 0]
        inputs = self._inputs(u, samples, None if steps is None else len(y))
        count = len(inputs)
        self._check_outputs(len(y), count, steps)
        bound = _divergence_bound(y, count)
        offsets, scales = self.scaling()
        scaled_inputs = (inputs - offsets[1:]) / scales[1:]
        with np.errstate(over="ignore", invalid="ignore"):
            if steps is None:
                predicted, end = self._free_run(scaled_inputs, y, bound)
            else:
                predicted, end = self._ahead(scaled_inputs, y, steps, bound)
        if end < count:
            kind = "a free run" if steps is None else f"a prediction {_count(steps, 'step')} ahead"
            finding = f"{kind} of the model diverges (|y| > {bound:.3g}) at sample {end + 1}"
            raise DivergedError(f"{finding}; allowed: inputs and first outputs for which the model is stable")
        return self._with_index(predicted, u, y_initial)

    def _check_outputs(self, n_outputs: int, samples: int, steps: int | None) -> None:
        if steps is not None and not is_whole_number(steps, 1):
            raise NarxbenchError(f"steps: found {show(steps)}; allowed: a whole number from 1 on, or None")
        if n_outputs > samples or (steps is not None and n_outputs < samples):
            allowed = "at most as many" if steps is None else "as many"
            raise NarxbenchError(f"y: found {n_outputs} outputs for {samples} samples; allowed: {allowed}")
        needed = self.initial_samples
        if n_outputs < needed:
            lag = f"{_count(self.max_lag, 'step')} of {_count(self.decimation, 'sample')}"
            raise NarxbenchError(f"y: found {n_outputs} outputs; needed: {needed}, for the largest lag is {lag}")

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
        """Return predictions from outputs measured some steps before, and the first sample that diverges."""
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
        # Only the last ones count: what is fewer steps ahead begins elsewhere.
        outside = np.flatnonzero(~(np.abs(predicted[first:]) <= bound))
        return predicted, first + int(outside[0]) if outside.size else len(y)

    def _with_index(self, predicted: Floats, *signals: Any) -> Floats:
        """Return predictions as a series with the index of the first frame or series of pandas, if there is one."""
        index = next((signal.index for signal in signals if hasattr(signal, "iloc")), None)
        if index is None or len(index) != len(predicted):
            return predicted
        # Pandas is there where its objects are.
        import pandas as pd

        return cast(Floats, pd.Series(predicted, index=index, name=self.output))

    def score(self, u: ArrayLike | None, y: ArrayLike, steps: int | None = None) -> Scores:
        """Return how well the model predicts measured outputs, after the ``initial_samples`` that it is given.

        Parameters
        ----------
        u, steps
            As for :meth:`predict`.
        y : array, shape (samples,)
            The measured outputs.

        Raises
        ------
        NarxbenchError
            As :meth:`predict`, but not for predictions that diverge, whose scores are None.
        """
        measured = finite_signals("y", y)[:, 0]
        count = len(self._inputs(u, None, len(measured)))
        if count != len(measured):
            raise NarxbenchError(f"u and y: found {count} and {len(measured)} samples; allowed: equally many")
        first = self.initial_samples
        try:
            predicted = self.predict(u, measured, steps, samples=count)
        except DivergedError:
            predicted = np.full(count, np.nan)
        return scores(measured[first:], predicted[first:])

    def linearised(self, u0: ArrayLike | None = None, y0: float | None = None) -> Linearised:
        """Return the model for small deviations from where it rests at constant inputs: coefficients, poles, gain.

        Parameters
        ----------
        u0 : float or array, shape (inputs,), or None
            The constant inputs; None for a model without any.
        y0 : float, optional
            An output: of the states of rest the nearest one is taken, stable or not. None: the only stable one.

        Raises
        ------
        NarxbenchError
            For inputs that do not fit, and where there is no such state, or without ``y0`` more than one.

        Examples
        --------
        >>> model = Model(("y(k-1)", "u(k-1)^2"), (0.5, 1.0), inputs=("u",), output="y")
        >>> around = model.linearised(3.0)
        >>> around.y, around.a, around.b, around.static_gain
        (18.0, array([0.5]), array([[0., 6.]]), (12.0,))
        """
        u = self._constant("u0", u0)
        (near,) = (None,) if y0 is None else _numbers("y0", [y0], (1,), "one")
        offsets, scales = (values.tolist()[OUTPUT] for values in self.scaling())
        centre, scale = (offsets, scales) if near is None else (near, max(scales, abs(near)))
        fixed = fixed_points(self, u, centre, scale)
        rests = [rest for rest, size in fixed if near is not None or size < 1]
        if not rests or (near is None and len(rests) > 1):
            kind = "one stable state of rest, or y0 near the one that is meant" if near is None else "a state of rest"
            outputs = ", ".join(f"{rest:.6g} ({'' if size < 1 else 'not '}stable)" for rest, size in fixed[:6])
            raise NarxbenchError(f"u0: found the states of rest: {outputs or 'none'}; needed: {kind}")
        return linearised(self, u, rests[0] if near is None else min(rests, key=lambda rest: abs(rest - near)))

    def step_response(self, u0: ArrayLike, du: ArrayLike, steps: int, y0: float | None = None) -> Floats:
        """Return the output after a step of the inputs from where the model rests.

        Parameters
        ----------
        u0, y0
            Where it rests, as for :meth:`linearised`.
        du : float or array, shape (inputs,)
            The height of the step of each input.
        steps : int
            How many steps of the model to return.

        Returns
        -------
        array of float, shape (steps,)
            Outputs in steps of the model, from that of the step on.

        Raises
        ------
        NarxbenchError
            As :meth:`linearised`; DivergedError for an output that leaves all bounds.

        Examples
        --------
        >>> model = Model(("y(k-1)", "u(k-1)^2"), (0.5, 1.0), inputs=("u",), output="y")
        >>> model.step_response(3.0, 1.0, steps=4)
        array([18.  , 25.  , 28.5 , 30.25])
        """
        if not is_whole_number(steps, 1):
            raise NarxbenchError(f"steps: found {show(steps)}; allowed: a whole number from 1 on")
        rest, first = self.linearised(u0, y0), self.max_lag
        heights = np.where(np.arange(first + steps) < first, 0.0, 1.0)[:, None] * self._constant("du", du)
        return self.decimated().predict(heights + np.array(rest.u), [rest.y] * first, samples=first + steps)[first:]

    def _constant(self, name: str, values: ArrayLike | None) -> tuple[float, ...]:
        constants = np.zeros(0) if values is None else np.atleast_1d(np.asarray(values, object))
        return _numbers(name, constants.tolist() or np.zeros(0), (self.n_inputs,), "one for each input")

    def decimated(self) -> "Model":
        """Return the same model for data of which only every ``decimation``-th sample is there."""
        return replace(self, decimation=1, sampling_time=self.step_time)

    def expanded(self) -> "Model":
        """Return the same function as a polynomial of the signals themselves, without offsets and scales.

        The coefficients are exact before they are rounded; their covariance is transformed with them.

        Raises
        ------
        NarxbenchError
            For a coefficient that is too large for a number of double precision.

        Examples
        --------
        >>> model = Model(("y(k-1)^2",), (3.0,), inputs=(), output="y", offsets=(2.0,), scales=(0.5,))
        >>> print(model.expanded().equation())
        y(k) = 26 - 24 y(k-1) + 6 y(k-1)^2
        """
        if self.offsets is None and self.scales is None:
            return self
        offsets, scales = ([Fraction(value) for value in values.tolist()] for values in self.scaling())
        expansions = [_expansion(monomial, offsets, scales) for monomial in self.monomials]
        sums: dict[Monomial, Fraction] = {(): offsets[OUTPUT]} if offsets[OUTPUT] else {}
        for coefficient, expansion in zip(self.coefficients, expansions, strict=True):
            for m, c in expansion.items():
                sums[m] = sums.get(m, Fraction()) + Fraction(coefficient) * c
        monomials = sorted(sums, key=lambda m: (len(m), m))
        try:
            coefficients = tuple(float(sums[m]) for m in monomials)
            rows = [_row(m, expansions) for m in monomials]
        except OverflowError:
            finding = "found values with which the model has no expansion in double precision"
            allowed = "scales that are like the signals"
            raise NarxbenchError(f"offsets and scales: {finding}; allowed: {allowed}") from None
        covariance = None
        if self.covariance is not None:
            covariance = _transformed(np.array(rows), np.array(self.covariance))
        return replace(
            self,
            terms=tuple(term_name(m, self.n_inputs) for m in monomials),
            coefficients=coefficients,
            covariance=covariance,
            offsets=None,
            scales=None,
        )

    def save(self, path: StrPath) -> None:
        """Write the model to a file in JSON, from which :meth:`load` gives an equal one.

        Raises
        ------
        NarxbenchError
            If the file cannot be written.
        """
        content = {"format": FORMAT, "version": VERSION, **{f.name: getattr(self, f.name) for f in fields(self)}}
        write_atomically(path, canonical_json(content, indent=1))

    @classmethod
    def from_search(cls, result: SearchOutcome) -> "Model":
        """Return the structure that a search has chosen as a model, in the units of the data.

        Its noise model is the one that the algorithm has chosen, if it chooses one.

        Parameters
        ----------
        result : SearchResult
            What :func:`narxbench.search` returned.

        Raises
        ------
        NarxbenchError
            If no structure was found.

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
        noise = {name: value for name, value in result.details.get("noise", {}).items() if name != "description"}
        return cls(
            tuple(result.terms),
            tuple(result.coefficients),
            inputs=result.inputs,
            output="y",
            offsets=result.offsets if any(result.offsets) else None,
            scales=result.scales if set(result.scales) != {1.0} else None,
            noise_model=result.details.get("noise_model", "narx"),
            **noise,
        )

    @classmethod
    def load(cls, path: StrPath) -> "Model":
        """Return the model of a file that :meth:`save` wrote.

        Raises
        ------
        NarxbenchError
            For a file that cannot be read, is none of a model, has another version, or values that are not allowed.
        """
        content = read_bytes(path)
        try:
            data = pydantic_core.from_json(content, allow_inf_nan=False)
        except ValueError as error:
            raise NarxbenchError(f"{path}: not valid JSON ({error}); allowed: a file that Model.save wrote") from None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise NarxbenchError(f"{path}: not a model; allowed: a file that Model.save wrote")
        version = data.get("version")
        if version != VERSION or isinstance(version, bool):
            allowed = f"{VERSION}, which narxbench {__version__} reads"
            raise NarxbenchError(f"{path}: version: found {show(version)}; allowed: {allowed}")
        values = dict(validated(ModelFile, data, str(path)))
        del values["format"], values["version"]
        try:
            return cls(**values)
        except NarxbenchError as error:
            raise NarxbenchError(f"{path}: {error}") from None

    def equation(self, digits: int = 4) -> str:
        """Return the model as text; below it what the signals are and how long a step is, where that is not plain.

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

    def latex(self, digits: int = 4) -> str:
        r"""Return the model as one displayed formula of LaTeX, and a sentence below it as for :meth:`equation`.

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
        """Return what a terminal shows: the equation."""
        return f"<Model: {self.equation()}>"

    def _repr_latex_(self) -> str:
        """Return what a notebook shows."""
        formula, _, legend = self.latex().removeprefix(r"\[").partition(r"\]")
        return f"$${formula}$${legend}"

    def export(self, language: str, name: str = "narx_model") -> str:
        """Return the source text of a program that predicts as the model does, at the model's own sampling.

        Parameters
        ----------
        language : {"python", "c", "matlab", "sysidentpy"}
            Python without packages, C99, a function for MATLAB and Octave, or an object of the package SysIdentPy 0.9.
        name : str
            What the names in it begin with: a letter, then letters, digits and underscores, at most 40.

        Returns
        -------
        str
            Its comment says what to give to it. Its operations are those of :meth:`predict`, in the same order, except
            for SysIdentPy's own.

        Raises
        ------
        NarxbenchError
            For another language or name, and for lags that SysIdentPy has no code for.
        """
        model = self.decimated()
        if language == "sysidentpy":
            model = model.expanded()
        offsets, scales = (values.tolist() for values in model.scaling())
        # SysIdentPy takes columns as they are.
        functions = {} if language == "sysidentpy" else derived(self.inputs)
        comment = self._comment(model, functions)
        program = Program(model.monomials, model.coefficients, model.n_inputs, offsets, scales, comment, functions)
        return source(program, language, name)

    def _comment(self, model: "Model", functions: Mapping[int, Any]) -> list[str]:
        equation = model.equation(6).split("\n")[0]
        lines = [f"A polynomial NARX model, exported by narxbench {__version__}.", equation]
        lines += legend(model, plain(None), with_plain_names=True, with_step=False)
        every = "every sample" if self.decimation == 1 else f"every {ordinal(self.decimation)} sample"
        time = "" if self.step_time is None else f": one step of k is {duration(self.step_time)}"
        lines.append(f"Give {every} of the data{time}.")
        inputs = [printable(name) for place, name in enumerate(self.inputs) if place not in functions]
        if len(inputs) > 1:
            lines.append(f"Order of the inputs: {', '.join(inputs)}.")
        if self.data_digest:
            lines.append(f"SHA-256 of the data that it is from: {printable(self.data_digest)}")
        return lines

    def scaling(self) -> tuple[Floats, Floats]:
        """Return offset and scale of the output and each input, two arrays of shape (1 + inputs,)."""
        offsets = np.zeros(1 + self.n_inputs) if self.offsets is None else np.array(self.offsets)
        return offsets, np.ones(1 + self.n_inputs) if self.scales is None else np.array(self.scales)

    def _inputs(self, u: Any, samples: int | None, outputs: int | None) -> Floats:
        """Return the inputs, shape (samples, inputs); of a model without any, an array without columns."""
        if samples is not None and not is_whole_number(samples, 0):
            raise NarxbenchError(f"samples: found {show(samples)}; allowed: a whole number from 0 on, or None")
        if u is None:
            return self._no_inputs(outputs if samples is None else samples)
        if not self.n_inputs and not (isinstance(u, np.ndarray) and u.ndim == 2):
            raise NarxbenchError("u: the model has no inputs; allowed: None")
        inputs = finite_signals("u", self._completed_inputs(u), self.n_inputs)
        if samples not in (None, len(inputs)):
            raise NarxbenchError(f"samples: found {samples}, but {len(inputs)} of u; allowed: as many, or None")
        return inputs

    def _no_inputs(self, samples: int | None) -> Floats:
        """Return an array without columns for so many samples."""
        if self.n_inputs:
            raise NarxbenchError(f"u: found null; needed: {', '.join(map(printable, self.inputs))}")
        if samples is None:
            raise NarxbenchError("samples: found null; needed: how many to predict, for the model has no inputs")
        return np.zeros((samples, 0))

    def _completed_inputs(self, u: Any) -> Any:
        """Return inputs in the order of the model, with functions of inputs that are left out computed."""
        functions = derived(self.inputs)
        measured = [place for place in range(self.n_inputs) if place not in functions]
        names = [self.inputs[place] for place in measured]
        if hasattr(u, "iloc") and hasattr(u, "columns") and set(names) <= set(u.columns):
            u = u[names]
        if not functions:
            return u
        shape = np.shape(np.array(u, dtype=object))
        n_columns = shape[1] if len(shape) == 2 else len(shape)
        if n_columns != len(measured):
            return u
        values = finite_signals("u", u, len(measured))
        inputs = np.zeros((len(values), self.n_inputs))
        inputs[:, measured] = values
        return completed(self.inputs, inputs)


def scores(measured: ArrayLike, predicted: ArrayLike) -> Scores:
    """Return how well predictions agree with as many measured outputs; those that are not finite have diverged."""
    y = finite_signals("measured", measured)[:, 0]
    p = as_signals("predicted", predicted)[:, 0]
    if len(p) != len(y):
        raise NarxbenchError(f"measured, predicted: found {len(y)} and {len(p)} samples; allowed: equally many")
    count = len(y)
    if not count or not np.isfinite(p).all():
        return Scores(None, None, None, None, count)
    # By a power of two, which rounds nothing: squares of large numbers would overflow.
    exponent = math.frexp(max(np.abs(y).max(), np.abs(p).max()))[1]
    values, guesses = np.ldexp(y, -exponent).tolist(), np.ldexp(p, -exponent).tolist()
    # math.fsum is correctly rounded; NumPy's sums depend on the processor's vector width.
    mean = math.fsum(values) / count
    errors = [a - b for a, b in zip(values, guesses, strict=True)]
    squares = math.fsum(e * e for e in errors)
    mae = float(np.ldexp(math.fsum(map(abs, errors)) / count, exponent))
    spread = math.fsum((a - mean) * (a - mean) for a in values)
    extent = max(values) - min(values)
    if not extent or spread < _NOTHING:
        return Scores(None, None, None, mae, count)
    rrse = math.sqrt(squares / spread)
    return Scores(rrse, math.sqrt(squares / count) / extent, 100 * (1 - rrse), mae, count)


def _divergence_bound(y: Floats, samples: int) -> float:
    """Return the magnitude above which predictions of so many samples from these outputs diverge."""
    largest = float(np.abs(y).max(initial=0.0))
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
        for m, coefficient in expansion.items():
            c = coefficient / scales[signal]
            with_factor = tuple(sorted((*m, factor)))
            product[with_factor] = product.get(with_factor, Fraction()) + c
            product[m] = product.get(m, Fraction()) - c * offsets[signal]
        expansion = product
    return {m: c for m, c in expansion.items() if c}


def _row(monomial: Monomial, expansions: list[dict[Monomial, Fraction]]) -> list[float]:
    """Return the coefficients of a monomial in each expansion."""
    return [float(expansion.get(monomial, 0)) for expansion in expansions]


def _transformed(transform: Floats, covariance: Floats) -> tuple[tuple[float, ...], ...]:
    """Return T C T', summed in the order of the columns on every machine."""
    half = sum(map(np.outer, transform.T, covariance), np.zeros(transform.shape))
    whole = sum(map(np.outer, half.T, transform.T), np.zeros((len(transform), len(transform))))
    whole = (whole + whole.T) / 2
    # What is no more than rounding may lie below 0.
    np.fill_diagonal(whole, np.maximum(whole.diagonal(), 0.0))
    return tuple(map(tuple, whole.tolist()))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
