"""Source text of programs that compute several outputs together, for use without this package."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from narxbench._io.errors import printable
from narxbench._io.version import __version__
from narxbench._model.equation import duration
from narxbench._model.export import (
    C_FUNCTIONS,
    MATLAB_FUNCTIONS,
    PYTHON_FUNCTIONS,
    comment_lines,
    function_value,
    scaled_value,
    source_in,
    unscaled_value,
)
from narxbench._model.functions import derived


class JointEquation(NamedTuple):
    """The equation of one output, whose terms are of all signals: the outputs, then the inputs.

    Attributes
    ----------
    output : int
        The position of the output.
    monomials : sequence of sequence of (int, int)
        The terms as products of signals and their lags, in samples.
    coefficients : sequence of float
        The weights of the terms.
    offsets, scales : sequence of float
        One for each signal. The sum of the terms is in units of ``(output - offset) / scale``.
    """

    output: int
    monomials: Sequence[Sequence[tuple[int, int]]]
    coefficients: Sequence[float]
    offsets: Sequence[float]
    scales: Sequence[float]

    @property
    def factors(self) -> list[tuple[int, int]]:
        """The different lagged signals in the terms, in order."""
        factors: set[tuple[int, int]] = set()
        for monomial in self.monomials:
            factors.update(monomial)
        return sorted(factors)


@dataclass(frozen=True)
class JointProgram:
    """Equations of several outputs as a program computes them.

    Attributes
    ----------
    outputs, inputs : sequence of str
        The signals, of which inputs that are functions of others are computed from these.
    equations : sequence of JointEquation
        In an order in which each depends on no later one at the same sample.
    step : int
        The number of samples of the data in one step of the program. All lags are multiples of it.
    sampling_time : float or None
        Seconds between samples, if known.
    texts : sequence of str
        The equations as readers see them.
    """

    outputs: Sequence[str]
    inputs: Sequence[str]
    equations: Sequence[JointEquation]
    step: int
    sampling_time: float | None
    texts: Sequence[str]

    @property
    def functions(self) -> Mapping[int, tuple[str, int]]:
        """The inputs that are computed from others, as :func:`narxbench._model.functions.derived` returns them."""
        return derived(self.inputs)

    @property
    def arguments(self) -> list[int]:
        """The positions of the inputs that are arguments of the program."""
        return [position for position in range(len(self.inputs)) if position not in self.functions]

    @property
    def factors(self) -> list[tuple[int, int]]:
        """The different lagged signals in all equations."""
        factors: set[tuple[int, int]] = set()
        for equation in self.equations:
            factors.update(equation.factors)
        return sorted(factors)

    def largest_lag(self, *, of_inputs: bool) -> int:
        """Return the largest lag of the outputs, or of the inputs, in steps of the program."""
        lags = [lag for signal, lag in self.factors if (signal >= len(self.outputs)) == of_inputs]
        return max(lags, default=0) // self.step

    @property
    def n_initial(self) -> int:
        """The number of first samples of the outputs that a free run needs."""
        return max(self.largest_lag(of_inputs=False), self.largest_lag(of_inputs=True))

    def statements(
        self,
        equation: JointEquation,
        output: Callable[[int, int], str],
        argument: Callable[[int, int], str],
        functions: Mapping[str, str],
    ) -> Iterator[str]:
        """Yield a definition for the variable of each lagged signal, then ``value`` and its summands.

        Parameters
        ----------
        equation : JointEquation
            The equation of an output.
        output, argument : callable
            Return the expression for an output, or an argument of the program, by its position and its lag in steps.
        functions : mapping of str to str
            The functions of inputs that have another form in the language than ``name(value)``.
        """
        n_outputs = len(self.outputs)
        for signal, lag in equation.factors:
            steps = lag // self.step
            if signal < n_outputs:
                value = output(signal, steps)
            else:
                function, position = self.functions.get(signal - n_outputs, ("", signal - n_outputs))
                value = function_value(function, argument(self.arguments.index(position), steps), functions)
            value = scaled_value(value, equation.offsets[signal], equation.scales[signal])
            yield f"{self._variable(signal, steps)} = {value}"

    def products(self, equation: JointEquation) -> list[str]:
        """Return each term of an equation with its weight, multiplied from left to right."""
        products = []
        for weight, monomial in zip(equation.coefficients, equation.monomials, strict=True):
            variables = [self._variable(signal, lag // self.step) for signal, lag in monomial]
            products.append(" * ".join([repr(weight), *variables]))
        return products

    def _variable(self, signal: int, steps: int) -> str:
        """Return the name of the variable that holds a lagged signal, such as ``y2_1`` or ``u1_0``."""
        if signal < len(self.outputs):
            return f"y{signal + 1}_{steps}"
        return f"u{signal - len(self.outputs) + 1}_{steps}"

    def comment(self) -> list[str]:
        """Return the lines at the top of the program."""
        lines = [f"Polynomial NARX models of several outputs, exported by narxbench {__version__}."]
        for text in self.texts:
            lines += text.split("\n")
        lines.append(f"Order of the outputs: {', '.join(map(printable, self.outputs))}.")
        if self.arguments:
            names = [printable(self.inputs[position]) for position in self.arguments]
            lines.append(f"Order of the inputs: {', '.join(names)}.")
        samples = "every sample" if self.step == 1 else f"every sample of {self.step}"
        time = ""
        if self.sampling_time is not None:
            time = f", {duration(self.step * self.sampling_time)} apart"
        lines.append(f"Give {samples} of the data{time}.")
        return lines


def result(equation: JointEquation) -> str:
    """Return the expression for an output, in which the variable ``value`` holds the sum of its terms."""
    return unscaled_value(equation.offsets[equation.output], equation.scales[equation.output])


def joint_source(program: JointProgram, language: str, name: str) -> str:
    """Return the source text of a program, as :meth:`narxbench.JointModel.export` describes it."""
    return source_in(_LANGUAGES, program, language, name)


def _python(program: JointProgram, name: str) -> Iterator[str]:
    yield from comment_lines(program.comment(), "#")
    if program.functions:
        yield from ("", "import math")
    has_inputs = bool(program.arguments)
    yield from ("", "")
    yield f"def {name}_step({'y_past, u_past' if has_inputs else 'y_past'}):"
    yield "    # Returns the list of the outputs at k; y_past[0] is that at k-1, y_past[1] that at k-2, ..."
    if has_inputs:
        yield "    # u_past[0] is the list of the inputs at k, u_past[1] that at k-1, ..."
    yield f"    y = [0.0] * {len(program.outputs)}"
    for equation in program.equations:
        for definition in program.statements(equation, _python_output, _python_input, PYTHON_FUNCTIONS):
            yield f"    {definition}"
        yield "    value = 0.0"
        for product in program.products(equation):
            yield f"    value += {product}"
        yield f"    y[{equation.output}] = {result(equation)}"
    yield "    return y"
    yield from ("", "")
    yield from _python_simulation(program, name)


def _python_output(position: int, steps: int) -> str:
    return f"y_past[{steps - 1}][{position}]" if steps else f"y[{position}]"


def _python_input(position: int, steps: int) -> str:
    return f"u_past[{steps}][{position}]"


def _python_simulation(program: JointProgram, name: str) -> Iterator[str]:
    """Yield the lines of the Python function that returns the free run."""
    n_initial, output_lag = program.n_initial, program.largest_lag(of_inputs=False)
    has_inputs = bool(program.arguments)
    yield f"def {name}_simulate({'u, y_initial' if has_inputs else 'y_initial, samples'}):"
    yield "    # Returns the free run, a list of the outputs for each sample."
    if has_inputs:
        yield "    # u has a list of the inputs for each sample."
    yield f"    # The first {n_initial} of y_initial, lists of measured outputs, are the beginning."
    yield f"    if len(y_initial) < {n_initial}:"
    yield f'        raise ValueError("y_initial: needed: {n_initial} samples")'
    yield f"    y = [list(outputs) for outputs in y_initial[:{n_initial}]]"
    yield f"    for k in range({n_initial}, {'len(u)' if has_inputs else 'samples'}):"
    y_past = f"y[k - {output_lag} : k][::-1]"
    arguments = y_past
    if has_inputs:
        arguments = f"{y_past}, u[k - {program.largest_lag(of_inputs=True)} : k + 1][::-1]"
    yield f"        y.append({name}_step({arguments}))"
    yield "    return y"


def _c(program: JointProgram, name: str) -> Iterator[str]:
    yield from comment_lines(program.comment(), "//")
    yield ""
    if program.functions:
        yield "#include <math.h>"
    yield from ("#include <stddef.h>", "")
    n_outputs, n_arguments = len(program.outputs), len(program.arguments)

    def output(position: int, steps: int) -> str:
        return f"y_past[{(steps - 1) * n_outputs + position}]" if steps else f"y[{position}]"

    def argument(position: int, steps: int) -> str:
        return f"u_past[{steps * n_arguments + position}]"

    yield f"// Fills in the {n_outputs} outputs y at k; the first {n_outputs} of y_past are those at k-1, then k-2, ..."
    parameters = "const double *y_past, double *y"
    if n_arguments:
        yield f"// The first {n_arguments} of u_past are the inputs at k, then those at k-1, ..."
        parameters = "const double *y_past, const double *u_past, double *y"
    yield f"void {name}_step({parameters})"
    yield "{"
    # A compiler would warn of arguments that are not used.
    yield "    (void)(y_past);"
    if n_arguments:
        yield "    (void)(u_past);"
    for equation in program.equations:
        yield "    {"
        for definition in program.statements(equation, output, argument, C_FUNCTIONS):
            yield f"        const double {definition};"
        yield "        double value = 0.0;"
        for product in program.products(equation):
            yield f"        value += {product};"
        yield f"        y[{equation.output}] = {result(equation)};"
        yield "    }"
    yield from ("}", "")
    yield from _c_simulation(program, name)


def _c_simulation(program: JointProgram, name: str) -> Iterator[str]:
    """Yield the lines of the C function that fills in the free run."""
    n_outputs, n_arguments, n_initial = len(program.outputs), len(program.arguments), program.n_initial
    output_rows = max(program.largest_lag(of_inputs=False), 1)
    input_rows = program.largest_lag(of_inputs=True) + 1
    yield f"// A free run: y holds the {n_outputs} outputs of the first sample, then those of the second, and so on."
    yield f"// Those of the first {n_initial} samples are given, and the others are filled in."
    parameters, arguments = "double *y, size_t samples", f"y_past, y + k * {n_outputs}"
    if n_arguments:
        yield f"// u holds the {n_arguments} inputs of the first sample, then those of the second, and so on."
        parameters, arguments = f"const double *u, {parameters}", f"y_past, u_past, y + k * {n_outputs}"
    yield f"void {name}_simulate({parameters})"
    yield "{"
    yield f"    double y_past[{output_rows * n_outputs}] = {{0.0}};"
    if n_arguments:
        yield f"    double u_past[{input_rows * n_arguments}];"
    yield f"    for (size_t k = {n_initial}; k < samples; k++) {{"
    if program.largest_lag(of_inputs=False):
        yield f"        for (size_t j = 0; j < {output_rows}; j++)"
        yield f"            for (size_t i = 0; i < {n_outputs}; i++)"
        yield f"                y_past[j * {n_outputs} + i] = y[(k - 1 - j) * {n_outputs} + i];"
    if n_arguments:
        yield f"        for (size_t j = 0; j < {input_rows}; j++)"
        yield f"            for (size_t i = 0; i < {n_arguments}; i++)"
        yield f"                u_past[j * {n_arguments} + i] = u[(k - j) * {n_arguments} + i];"
    yield f"        {name}_step({arguments});"
    yield "    }"
    yield "}"


def _matlab(program: JointProgram, name: str) -> Iterator[str]:
    n_outputs, n_arguments, n_initial = len(program.outputs), len(program.arguments), program.n_initial
    parameters = "u, y_initial" if n_arguments else "y_initial, samples"
    yield f"function y = {name}({parameters})"
    yield f"% {name}: the free run of a model, a column for each of the {n_outputs} outputs."
    if n_arguments:
        yield f"% u has a column for each of the {n_arguments} inputs."
    yield f"% The first {n_initial} rows of y_initial, measured outputs, are the beginning."
    yield "%"
    yield from comment_lines(program.comment(), "%")
    if n_arguments:
        if n_arguments == 1:
            yield "u = u(:);"
        yield f"if size(u, 2) ~= {n_arguments}"
        yield f"    error('u: needed: {n_arguments} columns');"
        yield "end"
        yield "samples = size(u, 1);"
    yield f"if size(y_initial, 1) < {n_initial} || size(y_initial, 2) ~= {n_outputs}"
    yield f"    error('y_initial: needed: {n_initial} rows and {n_outputs} columns');"
    yield "end"
    yield f"y = zeros(samples, {n_outputs});"
    yield f"y(1:{n_initial}, :) = y_initial(1:{n_initial}, :);"
    yield f"for k = {n_initial + 1}:samples"
    for equation in program.equations:
        for definition in program.statements(equation, _matlab_output, _matlab_input, MATLAB_FUNCTIONS):
            yield f"    {definition};"
        yield "    value = 0;"
        for product in program.products(equation):
            yield f"    value = value + {product};"
        yield f"    y(k, {equation.output + 1}) = {result(equation)};"
    yield "end"
    yield "end"


def _matlab_output(position: int, steps: int) -> str:
    return f"y({_matlab_row(steps)}, {position + 1})"


def _matlab_input(position: int, steps: int) -> str:
    return f"u({_matlab_row(steps)}, {position + 1})"


def _matlab_row(steps: int) -> str:
    return f"k - {steps}" if steps else "k"


_LANGUAGES = {"python": _python, "c": _c, "matlab": _matlab}
