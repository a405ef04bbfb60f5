"""A polynomial NARX model of measured data: prediction, scores, files, equations and code."""

import json
import math
import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple, cast, get_args

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
from narxbench.model.export import Program, source
from narxbench.model.functions import completed, derived
from narxbench.model.prediction import simulated
from narxbench.model.system import DIVERGED
from narxbench.model.terms import OUTPUT, Monomial, parse_term, signal_name, term_name
from narxbench.model.working_point import Linearised, fixed_points, linearised

FORMAT, VERSION = "narxbench-model", 1
DIVERGENCE_FACTOR = 1e6
_PER_LINE = 3
NoiseModel = Literal["narx", "narmax", "noe"]
# What the error is, by the model of the noise.
_ERRORS = {"narmax": "the error is a moving average: e(k)", "noe": "the error is added to the output: NOE"}
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
    noise_model: NoiseModel = "narx"
    moving_average: list[float] = Field(default=[])


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
    noise_model : {"narx", "narmax", "noe"}
        Where the error enters: the equation (NARX), the equation as a moving average (NARMAX), or the output (NOE). A
        free run is the same for all; predictions some steps ahead use it.
    moving_average : tuple of float
        c_1, c_2, … of NARMAX, where ``e(k) + c_1 e(k-1) + …`` is the error of the equation.

    Raises
    ------
    NarxbenchError
        For terms that cannot be read or occur twice, and numbers that do not fit.

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
    noise_model: NoiseModel = "narx"
    moving_average: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        texts = {"terms": self.terms, "inputs": self.inputs, "output": [self.output], "data_digest": [self.data_digest]}
        for name, values in {**texts, "units": [*self.units, *self.units.values()]}.items():
            if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
                found = show(getattr(self, name))
                raise NarxbenchError(f"{name}: found {found}; allowed: text, or texts for each of them")
        inputs = tuple(self.inputs)
        terms = tuple(term_name(parse_term(term, len(inputs), current=True), len(inputs)) for term in self.terms)
        repeated = [term for i, term in enumerate(terms) if term in terms[:i]]
        if repeated or not terms:
            found = f"found {repeated[0]} twice" if repeated else "found none"
            raise NarxbenchError(f"terms: {found}; allowed: at least one, each once")
        numbers = {"coefficients": _numbers("coefficients", self.coefficients, (len(terms),), "one for each term")}
        order = np.size(np.array(self.moving_average, object))
        numbers["moving_average"] = _numbers("moving_average", self.moving_average, (order,), "any number of them")
        if self.noise_model not in get_args(NoiseModel) or (self.noise_model != "narmax" and order):
            found = f"found {show(self.noise_model)} with {_count(order, 'weight')} of a moving average"
            raise NarxbenchError(f"noise_model: {found}; allowed: narx, noe, or narmax with such weights")
        for name in ("offsets", "scales"):
            if (values := getattr(self, name)) is not None:
                numbers[name] = _numbers(name, values, (1 + len(inputs),), "one for the output and for each input")
        if min(numbers.get("scales", (1.0,))) <= 0:
            raise NarxbenchError(f"scales: found {min(numbers['scales'])}; allowed: positive numbers")
        if not is_whole_number(self.decimation, 1):
            raise NarxbenchError(f"decimation: found {show(self.decimation)}; allowed: a whole number from 1 on")
        if self.sampling_time is not None:
            (seconds,) = _numbers("sampling_time", [self.sampling_time], (1,), "one")
            if seconds <= 0:
                raise NarxbenchError(f"sampling_time: found {seconds}; allowed: seconds above 0, or None")
            object.__setattr__(self, "sampling_time", seconds)
        if self.covariance is not None:
            shape = (len(terms), len(terms))
            flat = _numbers("covariance", self.covariance, shape, "a row and a column for each term")
            rows = tuple(flat[i : i + len(terms)] for i in range(0, len(flat), len(terms)))
            if any(row[i] < 0 for i, row in enumerate(rows)):
                raise NarxbenchError("covariance: found a negative variance; allowed: variances of at least 0")
            object.__setattr__(self, "covariance", rows)
        plain = {"output": self.output, "units": dict(self.units), "about": dict(self.about), "inputs": inputs}
        try:
            plain = json.loads(canonical_json(plain).encode())
        except (TypeError, ValueError) as error:
            raise NarxbenchError(f"about, units: not plain data ({error}); allowed: what JSON can hold") from None
        own = {**numbers, "terms": terms, "inputs": inputs, "units": plain["units"], "about": plain["about"]}
        for name, value in own.items():
            object.__setattr__(self, name, value)

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
    ) -> NDArray[np.float64]:
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
            closer to the beginning is predicted from there. None: a free run, from the beginning always. NARMAX adds
            what is known of its past errors; where the error is added to the output (NOE), a free run is the best
            prediction, and is returned.
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
        frames: tuple[Any, ...] = (u, y_initial)
        index = next((each.index for each in frames if hasattr(each, "iloc")), None)
        inputs = self._inputs(u, samples, len(y) if steps is not None else None)
        count, first = len(inputs), self.initial_samples
        if steps is not None and not is_whole_number(steps, 1):
            raise NarxbenchError(f"steps: found {show(steps)}; allowed: a whole number from 1 on, or None")
        if len(y) > count or (steps is not None and len(y) < count):
            allowed = "at most as many" if steps is None else "as many"
            raise NarxbenchError(f"y: found {len(y)} outputs for {count} samples; allowed: {allowed}")
        if len(y) < first:
            lag = f"{_count(self.max_lag, 'step')} of {_count(self.decimation, 'sample')}"
            raise NarxbenchError(f"y: found {len(y)} outputs; needed: {first}, for the largest lag is {lag}")
        largest = float(np.abs(y).max(initial=0.0))
        bound = DIVERGENCE_FACTOR * largest
        if len(y) < count or not largest:
            bound = max(bound, DIVERGED)
        bound = min(bound, np.finfo(np.float64).max)
        offsets, scales = self.scaling()
        scaled = (inputs - offsets[1:]) / scales[1:]
        with np.errstate(over="ignore", invalid="ignore"):
            if steps is None or self.noise_model == "noe":
                own, output = (self.monomials, self.coefficients), {"offset": offsets[OUTPUT], "scale": scales[OUTPUT]}
                predicted, end = simulated(*own, scaled, y[:first], bound=bound, stride=self.decimation, **output)
            else:
                predicted, end = self._ahead(scaled, y, steps, bound)
        if end < count:
            kind = "a free run" if steps is None else f"a prediction {_count(steps, 'step')} ahead"
            found = f"{kind} of the model diverges (|y| > {bound:.3g}) at sample {end + 1}"
            raise DivergedError(f"{found}; allowed: inputs and first outputs for which the model is stable")
        if index is None or len(index) != count:
            return predicted
        # Pandas is there where its objects are.
        import pandas as pd

        return cast(NDArray[np.float64], pd.Series(predicted, index=index, name=self.output))

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
        found = fixed_points(self, u, centre, scale)
        rests = [rest for rest, size in found if near is not None or size < 1]
        if not rests or (near is None and len(rests) > 1):
            kind = "one stable state of rest, or y0 near the one that is meant" if near is None else "a state of rest"
            outputs = ", ".join(f"{rest:.6g} ({'' if size < 1 else 'not '}stable)" for rest, size in found[:6])
            raise NarxbenchError(f"u0: found the states of rest: {outputs or 'none'}; needed: {kind}")
        return linearised(self, u, rests[0] if near is None else min(rests, key=lambda rest: abs(rest - near)))

    def step_response(self, u0: ArrayLike, du: ArrayLike, steps: int, y0: float | None = None) -> NDArray[np.float64]:
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
        given = [] if values is None else np.atleast_1d(np.asarray(values, object)).tolist()
        return _numbers(name, given or np.zeros(0), (self.n_inputs,), "one for each input")

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
        expansions = []
        for monomial in self.monomials:
            expansion: dict[Monomial, Fraction] = {(): scales[OUTPUT]}
            for factor in monomial:
                product: dict[Monomial, Fraction] = {}
                for m, c in expansion.items():
                    c = c / scales[factor[0]]
                    for key, value in ((tuple(sorted((*m, factor))), c), (m, -c * offsets[factor[0]])):
                        product[key] = product.get(key, Fraction()) + value
                expansion = product
            expansions.append({m: c for m, c in expansion.items() if c})
        constant = {()} if offsets[OUTPUT] else set()
        monomials = sorted(constant.union(*expansions), key=lambda m: (len(m), m))
        sums = dict.fromkeys(monomials, Fraction()) | dict.fromkeys(constant, offsets[OUTPUT])
        for coefficient, expansion in zip(self.coefficients, expansions, strict=True):
            for m, c in expansion.items():
                sums[m] += Fraction(coefficient) * c
        try:
            coefficients = tuple(float(sums[m]) for m in monomials)
            transform = np.array([[float(e.get(m, 0)) for e in expansions] for m in monomials])
        except OverflowError:
            found = "their model has no expansion in double precision"
            raise NarxbenchError(f"offsets and scales: {found}; allowed: scales that are like the signals") from None
        return replace(
            self,
            terms=tuple(term_name(m, self.n_inputs) for m in monomials),
            coefficients=coefficients,
            covariance=None if self.covariance is None else _transformed(transform, np.array(self.covariance)),
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
    def load(cls, path: StrPath) -> "Model":
        """Return the model of a file that :meth:`save` wrote.

        Raises
        ------
        NarxbenchError
            For a file that cannot be read, is none of a model, has another version, or values that are not allowed.
        """
        content = read_bytes(path)
        try:
            found = pydantic_core.from_json(content, allow_inf_nan=False)
        except ValueError as error:
            raise NarxbenchError(f"{path}: not valid JSON ({error}); allowed: a file that Model.save wrote") from None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise NarxbenchError(f"{path}: not a model; allowed: a file that Model.save wrote")
        version = found.get("version")
        if version != VERSION or isinstance(version, bool):
            allowed = f"{VERSION}, which narxbench {__version__} reads"
            raise NarxbenchError(f"{path}: version: found {show(version)}; allowed: {allowed}")
        values = dict(validated(ModelFile, found, str(path)))
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
        number = _rounded(digits)
        text = "y(k) = " + " ".join(self._summands(number, str, " "))
        legend = "; ".join(self._legend(str, printable, number))
        return f"{text}\n{legend}" if legend else text

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
        number = _rounded(digits)

        def set_number(value: float) -> str:
            return re.sub(r"e([+-])0*(\d+)", lambda e: rf" \times 10^{{{e[1].strip('+')}{e[2]}}}", number(value))

        summands = self._summands(set_number, _latex_term, r"\,")
        lines = [" ".join(summands[i : i + _PER_LINE]) for i in range(0, len(summands), _PER_LINE)]
        body = " \\\\\n& {} ".join(lines)
        text = f"\\[\n\\begin{{array}}{{rl}}\ny(k) = & {body}\n\\end{{array}}\n\\]"
        set_text = (lambda name: f"${_latex_term(name)}$", lambda name: printable(name).translate(_LATEX))
        legend = "; ".join(self._legend(*set_text, lambda value: f"${set_number(value)}$"))
        return f"{text}\n{legend}." if legend else text

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
        own = model.monomials, model.coefficients, model.n_inputs
        # SysIdentPy takes columns as they are.
        functions = {} if language == "sysidentpy" else derived(self.inputs)
        return source(Program(*own, offsets, scales, self._comment(model, functions), functions), language, name)

    def _comment(self, model: "Model", functions: Mapping[int, Any]) -> list[str]:
        lines = [f"A polynomial NARX model, exported by narxbench {__version__}.", *model.equation(6).split("\n")[:1]]
        lines += model._legend(str, printable, repr, names=True, step=False)
        every = "every sample" if self.decimation == 1 else f"every {ordinal(self.decimation)} sample"
        time = "" if self.step_time is None else f": one step of k is {_duration(self.step_time)}"
        lines.append(f"Give {every} of the data{time}.")
        given = [printable(name) for place, name in enumerate(self.inputs) if place not in functions]
        if len(given) > 1:
            lines.append(f"Order of the inputs: {', '.join(given)}.")
        if self.data_digest:
            lines.append(f"SHA-256 of the data that it is from: {printable(self.data_digest)}")
        return lines

    def scaling(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return offset and scale of the output and each input, two arrays of shape (1 + inputs,)."""
        offsets = np.zeros(1 + self.n_inputs) if self.offsets is None else np.array(self.offsets)
        return offsets, np.ones(1 + self.n_inputs) if self.scales is None else np.array(self.scales)

    def _inputs(self, u: Any, samples: int | None, outputs: int | None) -> NDArray[np.float64]:
        """Return the inputs, shape (samples, inputs); of a model without any, an array without columns."""
        if samples is not None and not is_whole_number(samples, 0):
            raise NarxbenchError(f"samples: found {show(samples)}; allowed: a whole number from 0 on, or None")
        if u is not None and not self.n_inputs and not (isinstance(u, np.ndarray) and u.ndim == 2):
            raise NarxbenchError("u: the model has no inputs; allowed: None")
        if u is None and self.n_inputs:
            raise NarxbenchError(f"u: found null; needed: {', '.join(map(printable, self.inputs))}")
        if u is None:
            count = outputs if samples is None else samples
            if count is None:
                raise NarxbenchError("samples: found null; needed: how many to predict, for the model has no inputs")
            return np.zeros((count, 0))
        of_others = derived(self.inputs)
        own = [i for i in range(self.n_inputs) if i not in of_others]
        names = [self.inputs[i] for i in own]
        if hasattr(u, "iloc") and hasattr(u, "columns") and set(names) <= set(u.columns):
            u = u[names]
        if of_others:
            shape = np.shape(np.array(u, dtype=object))
            if (shape[1] if len(shape) == 2 else len(shape)) == len(own):
                known = finite_signals("u", u, len(own))
                given = np.zeros((len(known), self.n_inputs))
                given[:, own] = known
                u = completed(self.inputs, given)
        inputs = finite_signals("u", u, self.n_inputs)
        if samples not in (None, len(inputs)):
            raise NarxbenchError(f"samples: found {samples}, but {len(inputs)} of u; allowed: as many, or None")
        return inputs

    def _ahead(
        self, u: NDArray[np.float64], y: NDArray[np.float64], steps: int, bound: float
    ) -> tuple[NDArray[np.float64], int]:
        """Return predictions from outputs measured some steps before, and the first sample that diverges."""
        first, count, stride = self.initial_samples, len(y), self.decimation
        offsets, scales = self.scaling()
        measured = (y - offsets[OUTPUT]) / scales[OUTPUT]
        # What was predicted one step less ahead comes first, as lag 1 needs it. The first samples are measured in all.
        earlier: deque[NDArray[np.float64]] = deque(maxlen=self.max_lag)
        predicted = y.copy()
        errors = np.zeros(count)
        for step in range(min(steps, -((first - count) // stride))):
            value = np.zeros(count - first)
            for weight, monomial in zip(self.coefficients, self.monomials, strict=True):
                product = np.full(count - first, weight)
                for signal, lag in monomial:
                    past = slice(first - lag * stride, count - lag * stride)
                    if signal != OUTPUT:
                        product *= u[past, signal - 1]
                    else:
                        product *= (earlier[lag - 1] if lag <= len(earlier) else measured)[past]
                value += product
            if self.moving_average and step == 0:
                # It takes half a second to import.
                from scipy.signal import lfilter

                # The errors whose moving average the residuals of the equation are, zero before the first.
                residuals = measured[first:] - value
                for phase in range(min(stride, len(residuals))):
                    own = lfilter([1.0], [1.0, *self.moving_average], residuals[phase::stride])
                    errors[first + phase :: stride] = own
            for lag, weight in enumerate(self.moving_average, 1):
                # Later errors are not known yet where the prediction begins.
                if lag > step:
                    value[lag * stride :] += weight * errors[first:][: -lag * stride]
            predicted[first:] = value * scales[OUTPUT] + offsets[OUTPUT]
            earlier.appendleft((predicted - offsets[OUTPUT]) / scales[OUTPUT])
        # Only the last ones count: what is fewer steps ahead begins elsewhere.
        outside = np.flatnonzero(~(np.abs(predicted[first:]) <= bound))
        return predicted, first + int(outside[0]) if outside.size else count

    def _summands(self, number: Callable[[float], str], name: Callable[[str], str], times: str) -> list[str]:
        """Return the summands of the equation with their signs; the first has one only if it is negative."""
        summands: list[str] = []
        for weight, term in zip(self.coefficients, self.terms, strict=True):
            sign = ("- " if summands else "-") if weight < 0 else ("+ " if summands else "")
            summands.append(sign + number(abs(weight)) + ("" if term == "1" else times + name(term)))
        return summands

    def _legend(
        self,
        symbol: Callable[[str], str],
        text: Callable[[str], str],
        number: Callable[[float], str],
        *,
        names: bool = False,
        step: bool = True,
    ) -> list[str]:
        """Return what the signals are, unless that is plain or always with ``names``, and how long a step is."""
        symbols = [signal_name(signal, self.n_inputs) for signal in range(1 + self.n_inputs)]
        offsets, scales = (values.tolist() for values in self.scaling())
        lines = []
        for short, name, offset, scale in zip(symbols, [self.output, *self.inputs], offsets, scales, strict=True):
            line = f"{symbol(short)}: {text(name)}"
            if unit := self.units.get(name):
                line += f" ({text(unit)})"
            line += f", {'minus' if offset > 0 else 'plus'} {number(abs(offset))}" if offset else ""
            line += f", divided by {number(scale)}" if scale != 1 else ""
            lines.append(line)
        if lines == [f"{symbol(name)}: {text(name)}" for name in symbols] and not names:
            lines = []
        if self.noise_model != "narx":
            weighed = "".join(
                f" {'-' if weight < 0 else '+'} {number(abs(weight))} e(k-{lag})"
                for lag, weight in enumerate(self.moving_average, 1)
            )
            lines.append(text(_ERRORS[self.noise_model] + weighed))
        time = "" if self.step_time is None else text(_duration(self.step_time))
        if step and self.decimation > 1:
            lines.append(f"{symbol('k')} counts steps of {self.decimation} samples{f', {time}' if time else ''}")
        elif step and time:
            lines.append(f"{symbol('k')} counts samples of {time}")
        return lines


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


def _numbers(name: str, values: object, shape: tuple[int, ...], allowed: str) -> tuple[float, ...]:
    """Return finite numbers of a shape, row by row."""
    try:
        found = np.asarray(values)
    except ValueError:  # rows of different lengths
        found = np.array(None)
    if found.dtype.kind not in "iuf" or found.shape != shape or not np.isfinite(found).all():
        raise NarxbenchError(f"{name}: found {show(values)}; allowed: finite numbers, {allowed}")
    return tuple(found.astype(np.float64).ravel().tolist())


def _transformed(transform: NDArray[np.float64], covariance: NDArray[np.float64]) -> tuple[tuple[float, ...], ...]:
    """Return T C T', summed in the order of the columns on every machine."""
    half = sum(map(np.outer, transform.T, covariance), np.zeros(transform.shape))
    whole = sum(map(np.outer, half.T, transform.T), np.zeros((len(transform), len(transform))))
    whole = (whole + whole.T) / 2
    # What is no more than rounding may lie below 0.
    np.fill_diagonal(whole, np.maximum(whole.diagonal(), 0.0))
    return tuple(map(tuple, whole.tolist()))


def _rounded(digits: int) -> Callable[[float], str]:
    if not is_whole_number(digits, 1, 17):
        raise NarxbenchError(f"digits: found {show(digits)}; allowed: a whole number from 1 to 17")
    return lambda value: f"{value:.{digits}g}"


def _duration(seconds: float) -> str:
    units = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
    unit, length = next(((unit, length) for unit, length in units if seconds >= length), ("ns", 1e-9))
    return f"{seconds / length:.6g} {unit}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _latex_term(term: str) -> str:
    indexed = re.sub(r"u(\d+)", r"u_{\1}", term)
    return re.sub(r"\^(\d+)", r"^{\1}", indexed).replace("*", r"\,")


_LATEX = str.maketrans(
    {char: f"\\{char}" for char in "{}$&#%_"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"\u00b5": r"$\mu$", "\u03bc": r"$\mu$", "\u2126": r"$\Omega$", "\u03a9": r"$\Omega$"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "°": r"${}^\circ$"}
)
