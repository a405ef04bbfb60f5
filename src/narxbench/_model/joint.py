"""Models of several outputs that run together: each output is computed from the others of the same run."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any, cast

import numpy as np
import pydantic_core
from numpy.typing import ArrayLike, NDArray

from narxbench._io.errors import FileError, NarxbenchError, is_whole_number, printable, show
from narxbench._io.files import StrPath, canonical_json, read_bytes, write_atomically
from narxbench._io.words import listed
from narxbench._model.dataset import finite_signals
from narxbench._model.equation import DIGITS
from narxbench._model.functions import FUNCTIONS, parsed
from narxbench._model.indexes import common_index, following_index, index_of
from narxbench._model.inputs import columns_of_frame, input_values
from narxbench._model.joint_export import JointEquation, JointProgram, joint_source
from narxbench._model.narx import DivergedError, Model, Scores, check_version, divergence_bound, scores
from narxbench._model.terms import OUTPUT
from narxbench._numerics.compilation import compiled

Floats = NDArray[np.float64]

JOINT_FORMAT, JOINT_VERSION = "narxbench-joint-model", 1


@dataclass(frozen=True, repr=False)
class JointModel:
    """Models of several outputs that predict together, from the inputs alone.

    If the model of an output has another output among its inputs, it takes the value that the model of the other
    computes in the same run.

    Attributes
    ----------
    models : tuple of Model
        One for each output. Outputs are found among the inputs of the others by their names.

    Raises
    ------
    NarxbenchError
        If there are fewer than two models, two of the same output or of different sampling times, an input that is a
        function of an output, or outputs that depend on one another at the same sample.

    Examples
    --------
    >>> upper = Model(("y(k-1)", "u(k-1)"), (0.5, 1.0), ("pump",), "upper")
    >>> lower = Model(("y(k-1)", "u(k-1)"), (0.5, 0.25), ("upper",), "lower")
    >>> both = JointModel((upper, lower))
    >>> both.outputs, both.inputs
    (('upper', 'lower'), ('pump',))
    >>> both.simulate([1.0, 0.0, 0.0, 0.0], [[0.0, 0.0]])
    array([[0.  , 0.  ],
           [1.  , 0.  ],
           [0.5 , 0.25],
           [0.25, 0.25]])
    """

    models: tuple[Model, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", tuple(self.models))
        if len(self.models) < 2 or not all(isinstance(model, Model) for model in self.models):
            raise NarxbenchError(f"models: found {show(self.models)}; allowed: two or more models")
        if len(set(self.outputs)) < len(self.outputs):
            outputs = ", ".join(map(printable, self.outputs))
            raise NarxbenchError(f"models: found the outputs {outputs}; allowed: each output once")
        if len({model.sampling_time for model in self.models}) > 1:
            times = ", ".join(str(model.sampling_time) for model in self.models)
            raise NarxbenchError(f"models: found the sampling times {times}; allowed: the same for all")
        for name in self.inputs:
            function, argument = parsed(name) or ("", "")
            if function in FUNCTIONS and argument in self.outputs:
                finding = f"found the input {printable(name)}, a function of the output {printable(argument)}"
                raise NarxbenchError(f"models: {finding}; allowed: functions of inputs")
        self._order()

    def _order(self) -> list[int]:
        """Return the positions of the outputs in an order in which each depends on no later one at the same sample."""
        needed_by_output: dict[int, set[int]] = {}
        for position, equation in enumerate(self.equations):
            present = {signal for signal, lag in equation.factors if lag == 0}
            needed_by_output[position] = present & set(range(self.n_outputs))
        try:
            return list(TopologicalSorter(needed_by_output).static_order())
        except CycleError as error:
            loop = listed([printable(self.outputs[position]) for position in error.args[1][1:]])
            finding = f"found {loop}, which depend on one another at the same sample"
            raise NarxbenchError(f"models: {finding}; allowed: outputs that act on one another later") from None

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs."""
        return tuple(model.output for model in self.models)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs of all models that are not outputs, in their order."""
        names: dict[str, None] = {}
        for model in self.models:
            names |= dict.fromkeys(model.inputs)
        return tuple(name for name in names if name not in self.outputs)

    @property
    def n_outputs(self) -> int:
        """The number of outputs."""
        return len(self.models)

    @property
    def initial_samples(self) -> int:
        """The number of first samples of all outputs that a run needs."""
        return max(model.initial_samples for model in self.models)

    @property
    def equations(self) -> list[JointEquation]:
        """The equation of each output, whose terms are of all signals: the outputs, then the inputs."""
        names = [*self.outputs, *self.inputs]
        equations = []
        for model in self.models:
            signals = [names.index(name) for name in (model.output, *model.inputs)]
            offsets, scales = np.zeros(len(names)), np.ones(len(names))
            offsets[signals], scales[signals] = model.scaling()
            monomials = []
            for monomial in model.monomials:
                monomials.append([(signals[signal], lag * model.decimation) for signal, lag in monomial])
            equations.append(
                JointEquation(signals[OUTPUT], monomials, model.coefficients, offsets.tolist(), scales.tolist())
            )
        return equations

    def simulate(self, u: ArrayLike | None, y_initial: ArrayLike, *, samples: int | None = None) -> Floats:
        """Return the free run of all outputs together.

        Parameters
        ----------
        u : array or frame, shape (samples,) or (samples, inputs), or None
            The inputs, None for a model without inputs. A frame may have them in any order next to other columns.
        y_initial : array or frame, shape (at least initial_samples, outputs)
            The measured outputs from the first sample on, of which the first ``initial_samples`` count.
        samples : int, optional
            The number of samples to return, needed without inputs.

        Returns
        -------
        array of float, shape (samples, outputs)
            The measured outputs of the first ``initial_samples``, then the computed ones. If an argument is a frame of
            pandas, the result is a frame with its index.

        Raises
        ------
        DivergedError
            If an output is larger than 1e6 times the largest measured one, as in :meth:`narxbench.Model.predict`.
        NarxbenchError
            If there are too few samples, a shape is wrong, or a number is not finite.
        """
        initial = self._output_values("y", y_initial)
        inputs = input_values(self.inputs, u, samples, None)
        count, first = len(inputs), self.initial_samples
        if len(initial) > count:
            raise NarxbenchError(f"y: found {len(initial)} outputs for {count} samples; allowed: at most as many")
        states = np.zeros((count, self.n_outputs))
        states[:first] = initial[:first]
        bounds = [divergence_bound(series, count) for series in initial.T]
        no_noise = np.zeros_like(states)
        run, end = self._run(inputs, states, states, no_noise, no_noise, bounds, first)
        if end < count:
            finding = f"a joint free run of the models diverges at sample {end + 1}"
            raise DivergedError(f"{finding}; allowed: inputs and first outputs for which they are stable")
        return self._with_index(run, common_index(u, y_initial) if len(initial) == count else index_of(u))

    def _output_values(self, argument: str, y: Any) -> Floats:
        """Return measured outputs, shape (samples, outputs), which are enough to begin with."""
        values = finite_signals(argument, columns_of_frame(y, self.outputs, argument), self.n_outputs)
        if len(values) < self.initial_samples:
            needed = f"{self.initial_samples}, the largest lag in samples"
            raise NarxbenchError(f"{argument}: found {len(values)} samples of the outputs; needed: {needed}")
        return values

    def _with_index(self, run: Floats, index: Any) -> Floats:
        """Return a run as a frame with an index of pandas, or as it is without one."""
        if index is None or len(index) != len(run):
            return run
        import pandas as pd

        return cast(Floats, pd.DataFrame(run, index=index, columns=list(self.outputs)))

    def _run(
        self,
        inputs: Floats,
        states: Floats,
        outputs: Floats,
        noise: Floats,
        disturbances: Floats,
        bounds: Sequence[float],
        first: int,
    ) -> tuple[Floats, int]:
        """Return the outputs of a run from a sample on, and the first sample at which one diverges.

        Parameters
        ----------
        inputs : array, shape (samples, inputs)
            The inputs.
        states : array, shape (samples, outputs)
            The past that each output depends on, before the first sample.
        outputs : array, shape (samples, outputs)
            The values of each output that the other outputs depend on, before the first sample.
        noise : array, shape (samples, outputs)
            Added to the state of each output, for the other outputs.
        disturbances : array, shape (samples, outputs)
            Added to the sum of the terms of each output.
        bounds : sequence of float
            The magnitude above which each output has diverged.
        first : int
            The first sample to compute.
        """
        n_outputs, order, equations = self.n_outputs, self._order(), self.equations
        signals = np.hstack([states, outputs, inputs, disturbances])
        term_ends, factor_ends, factors, weights = [], [], list[tuple[int, int, float, float]](), list[float]()
        for position in order:
            equation = equations[position]
            for weight, monomial in zip(equation.coefficients, equation.monomials, strict=True):
                for signal, lag in monomial:
                    # Other outputs depend on an output with its noise.
                    column = signal if signal == position else n_outputs + signal
                    factors.append((column, lag, equation.offsets[signal], equation.scales[signal]))
                weights.append(weight)
                factor_ends.append(len(factors))
            factors.append((signals.shape[1] - n_outputs + position, 0, 0.0, 1.0))
            weights.append(1.0)
            factor_ends.append(len(factors))
            term_ends.append(len(weights))
        columns, delays, offsets, scales = zip(*factors, strict=True)
        output_scaling = [(equation.offsets[i], equation.scales[i]) for i, equation in enumerate(equations)]
        with np.errstate(over="ignore", invalid="ignore"):
            end = _simulate_jointly(
                np.array(order, np.int64),
                np.array(term_ends, np.int64),
                np.array(factor_ends, np.int64),
                np.array(columns, np.int64),
                np.array(delays, np.int64),
                np.array(offsets, np.float64),
                np.array(scales, np.float64),
                np.array(weights, np.float64),
                np.array(output_scaling, np.float64),
                signals,
                noise,
                np.array(bounds, np.float64),
                first,
            )
        return signals[:, n_outputs : 2 * n_outputs].copy(), int(end)

    def score(self, u: ArrayLike | None, y: ArrayLike) -> dict[str, Scores]:
        """Return how well the joint free run predicts each measured output, without the first ``initial_samples``.

        Parameters
        ----------
        u
            As for :meth:`simulate`.
        y : array or frame, shape (samples, outputs)
            The measured outputs.

        Raises
        ------
        NarxbenchError
            As :meth:`simulate`, except that a run that diverges has the scores None.
        """
        measured = self._output_values("y", y)
        first, count = self.initial_samples, len(measured)
        try:
            run = np.asarray(self.simulate(u, measured, samples=count))
        except DivergedError:
            run = np.full_like(measured, np.nan)
        by_output = {}
        for position, name in enumerate(self.outputs):
            by_output[name] = scores(measured[first:, position], run[first:, position])
        return by_output

    def forecast(
        self, u: ArrayLike | None, y: ArrayLike, u_future: ArrayLike | None = None, steps: int | None = None
    ) -> Floats:
        """Return the outputs that the models expect after a record.

        The forecast begins with the last measured outputs, and each has the forecast of its noise, as for
        :meth:`narxbench.Model.forecast`. Over the record each model takes the other outputs as measured, and after it
        as expected.

        Parameters
        ----------
        u, y
            Inputs and outputs of the record, as for :meth:`score`.
        u_future : array or frame, shape (samples,) or (samples, inputs), optional
            The inputs of the samples after the record.
        steps : int, optional
            The number of samples after the record: needed without inputs, at most as many as ``u_future`` has.

        Returns
        -------
        array of float, shape (steps, outputs)
            The expected outputs. If an argument is a frame of pandas, a frame whose index continues after the record.

        Raises
        ------
        DivergedError
            If a forecast, or a free run over the record, grows beyond all bounds.
        NarxbenchError
            As :meth:`score`, and if ``u_future`` is too short or its index does not follow the record.
        """
        measured = self._output_values("y", y)
        count = len(measured)
        past = input_values(self.inputs, u, count, None)
        future = self._future_inputs(u_future, steps)
        inputs = np.concatenate([past, future])
        total = len(inputs)
        outputs = np.concatenate([measured, np.zeros((len(future), self.n_outputs))])
        states, noise, disturbances = outputs.copy(), np.zeros_like(outputs), np.zeros_like(outputs)
        measured_signals = np.hstack([measured, past])
        names = [*self.outputs, *self.inputs]
        for position, model in enumerate(self.models):
            columns = [names.index(name) for name in model.inputs]
            forecaster = model.forecaster(measured_signals[:, columns], measured[:, position])
            (expected,) = forecaster.noise_forecasts([count - 1], total - count)
            states[:count, position] = forecaster.states
            target = noise if model.noise.place == "output" else disturbances
            target[count:, position] = expected
        bounds = [divergence_bound(series, count) for series in measured.T]
        run, end = self._run(inputs, states, outputs, noise, disturbances, bounds, count)
        if end < total or not np.isfinite(run).all():
            finding = "the joint forecast of the models diverges"
            raise DivergedError(f"{finding}; allowed: inputs and outputs for which they are stable")
        index = following_index(common_index(u, y), index_of(u_future), total - count)
        return self._with_index(run[count:], index)

    def _future_inputs(self, u_future: Any, steps: int | None) -> Floats:
        """Return the inputs after a record, shape (steps, inputs)."""
        if steps is not None and not is_whole_number(steps, 0):
            raise NarxbenchError(f"steps: found {show(steps)}; allowed: a whole number from 0 on, or None")
        if u_future is None and not self.inputs and steps is None:
            raise NarxbenchError("steps: found null; needed: how many samples to forecast")
        if u_future is None and self.inputs:
            raise NarxbenchError(f"u_future: found null; needed: {', '.join(map(printable, self.inputs))}")
        future = input_values(self.inputs, u_future, None, steps, "u_future")
        if steps is not None and len(future) < steps:
            raise NarxbenchError(f"u_future: found {len(future)} samples; needed: {steps}")
        return future[:steps]

    def equation(self, digits: int = DIGITS) -> str:
        """Return the equations of all outputs as text, as :meth:`narxbench.Model.equation` does."""
        return "\n".join(model.equation(digits) for model in self.models)

    def __repr__(self) -> str:
        """Return the equations, which a terminal shows."""
        return f"<JointModel: {self.equation()}>"

    def export(self, language: str, name: str = "narx_model") -> str:
        """Return the source text of a program that computes all outputs together, one sample at a time.

        Parameters
        ----------
        language : {"python", "c", "matlab"}
            Python without packages, C99, or a function for MATLAB and Octave.
        name : str
            The beginning of the names in the program, as for :meth:`narxbench.Model.export`.

        Returns
        -------
        str
            The program. A comment at the top describes its arguments, and how often to call it. It has the same
            operations as :meth:`simulate`, in the same order.

        Raises
        ------
        NarxbenchError
            If the language or the name is not allowed.
        """
        return joint_source(
            JointProgram(
                self.outputs,
                self.inputs,
                [self.equations[position] for position in self._order()],
                math.gcd(*(model.decimation for model in self.models)),
                self.models[0].sampling_time,
                [model.equation(6) for model in self.models],
            ),
            language,
            name,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the models as plain data, as :meth:`save` writes them."""
        models = [model.to_dict() for model in self.models]
        return {"format": JOINT_FORMAT, "version": JOINT_VERSION, "models": models}

    @classmethod
    def from_dict(cls, data: object, source: str = "joint model") -> "JointModel":
        """Return the joint model of plain data that :meth:`to_dict` returned. Errors name the source."""
        if not isinstance(data, dict) or data.get("format") != JOINT_FORMAT or not isinstance(data.get("models"), list):
            raise FileError(f"{source}: not a joint model; allowed: a file that JointModel.save wrote")
        check_version(data, JOINT_VERSION, source)
        models = []
        for number, content in enumerate(data["models"], 1):
            models.append(Model.from_dict(content, f"{source}: model {number}"))
        try:
            return cls(tuple(models))
        except NarxbenchError as error:
            raise FileError(f"{source}: {error}") from None

    def save(self, path: StrPath) -> None:
        """Write the models to a file in JSON, from which :meth:`load` returns equal ones.

        Raises
        ------
        NarxbenchError
            If the file cannot be written.
        """
        write_atomically(path, canonical_json(self.to_dict(), indent=1), durable=True)

    @classmethod
    def load(cls, path: StrPath) -> "JointModel":
        """Return the joint model of a file that :meth:`save`, or ``narxbench identify --joint``, wrote.

        Raises
        ------
        NarxbenchError
            If the file cannot be read, is none of these, has another version, or has values that are not allowed.
        """
        source = printable(str(path), 500)
        try:
            content = pydantic_core.from_json(read_bytes(path), allow_inf_nan=False)
        except ValueError as error:
            raise FileError(f"{source}: not valid JSON ({error}); allowed: a file that JointModel.save wrote") from None
        if isinstance(content, dict) and isinstance(content.get("model"), dict):
            content = content["model"]
        return cls.from_dict(content, source)


@compiled
def _simulate_jointly(  # type: ignore[no-untyped-def]
    order,
    term_ends,
    factor_ends,
    columns,
    delays,
    offsets,
    scales,
    weights,
    output_scaling,
    signals,
    noise,
    bounds,
    first,
):
    # Returns the first sample at which an output is outside its bound. Equations are in the order of computation, and
    # signals have the same columns as in JointModel._run.
    n_outputs = order.shape[0]
    for k in range(first, signals.shape[0]):
        t = 0
        f = 0
        for place in range(n_outputs):
            output = order[place]
            value = 0.0
            while t < term_ends[place]:
                product = weights[t]
                while f < factor_ends[t]:
                    product *= (signals[k - delays[f], columns[f]] - offsets[f]) / scales[f]
                    f += 1
                value += product
                t += 1
            value = value * output_scaling[output, 1] + output_scaling[output, 0]
            if not abs(value) <= bounds[output]:
                return k
            signals[k, output] = value
            signals[k, n_outputs + output] = value + noise[k, output]
    return signals.shape[0]
