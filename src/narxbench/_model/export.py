"""Source text of programs that predict as a model does, for use without this package."""

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from keyword import iskeyword
from typing import Any, NamedTuple, TypeVar

from narxbench._io.errors import NarxbenchError, did_you_mean, show
from narxbench._model.terms import OUTPUT, Factor, Monomial, signal_name

# A program of any kind.
P = TypeVar("P")

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}", re.ASCII)
# Words of MATLAB and Octave, and names that the programs use. Words of Python are reserved too.
_RESERVED = {
    *("case", "catch", "classdef", "do", "else", "elseif", "end", "end_try_catch", "end_unwind_protect", "endfor"),
    *("endfunction", "endif", "endparfor", "endswitch", "endwhile", "function", "otherwise", "parfor", "persistent"),
    *("spmd", "switch", "until", "unwind_protect", "unwind_protect_cleanup"),
    *("FROLS", "Polynomial", "error", "k", "np", "numel", "samples", "size", "super", "u", "value", "y", "y_initial"),
    *("zeros",),
}
_RECIPROCAL = "(1.0 / {0})"
# Functions of inputs that have another form in a language than ``name(value)``.
PYTHON_FUNCTIONS = {
    **{name: f"math.{name}({{0}})" for name in ("sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "atan")},
    "sign": "(math.copysign(1.0, {0}) if {0} else 0.0)",
    "reciprocal": _RECIPROCAL,
}
C_FUNCTIONS = {"abs": "fabs({0})", "sign": "(({0} > 0.0) - ({0} < 0.0))", "reciprocal": _RECIPROCAL}
MATLAB_FUNCTIONS = {"reciprocal": _RECIPROCAL}


class Program(NamedTuple):
    """A model as a program computes it.

    Attributes
    ----------
    monomials : sequence of Monomial
        The terms, which are products of ``(signal - offset) / scale``.
    coefficients : sequence of float
        The weights of the terms.
    n_inputs : int
        The number of inputs.
    offsets, scales : sequence of float
        One for the output and for each input. The sum of the terms is in units of ``(output - offset) / scale``.
    comment : sequence of str
        Lines for readers at the top of the program.
    functions : mapping of int to (str, int)
        The inputs that the program computes from others, as :func:`narxbench._model.functions.derived` returns them.
    """

    monomials: Sequence[Monomial]
    coefficients: Sequence[float]
    n_inputs: int
    offsets: Sequence[float]
    scales: Sequence[float]
    comment: Sequence[str]
    functions: Mapping[int, tuple[str, int]] = {}

    @property
    def arguments(self) -> list[int]:
        """The positions of the inputs that are arguments of the program, which computes the others from them."""
        return [position for position in range(self.n_inputs) if position not in self.functions]

    @property
    def factors(self) -> list[Factor]:
        """The different lagged signals in the terms, in order."""
        factors: set[Factor] = set()
        for monomial in self.monomials:
            factors.update(monomial)
        return sorted(factors)

    @property
    def lags(self) -> tuple[int, int]:
        """The largest lag of the output and the largest lag of an input."""
        output_lags = [lag for signal, lag in self.factors if signal == OUTPUT]
        input_lags = [lag for signal, lag in self.factors if signal != OUTPUT]
        return max(output_lags, default=0), max(input_lags, default=0)

    @property
    def n_initial(self) -> int:
        """The number of first outputs that a free run needs."""
        return max(self.lags)

    def variable(self, factor: Factor) -> str:
        """Return the name of the variable that holds a lagged signal, such as ``y_1`` or ``u2_0``."""
        return f"{signal_name(factor[0], self.n_inputs)}_{factor[1]}"

    def definitions(
        self, output: Callable[[int], str], argument: Callable[[int, int], str], functions: Mapping[str, str]
    ) -> Iterator[str]:
        """Yield a definition for the variable of each lagged signal, with offset and scale.

        Parameters
        ----------
        output : callable
            Returns the expression for the output with a lag.
        argument : callable
            Returns the expression for an input with a lag, by its position among the arguments.
        functions : mapping of str to str
            The functions of inputs that have another form in the language than ``name(value)``.
        """
        for signal, lag in self.factors:
            if signal == OUTPUT:
                value = output(lag)
            else:
                function, position = self.functions.get(signal - 1, ("", signal - 1))
                value = function_value(function, argument(lag, self.arguments.index(position)), functions)
            value = scaled_value(value, self.offsets[signal], self.scales[signal])
            yield f"{self.variable((signal, lag))} = {value}"

    def products(self) -> list[str]:
        """Return each term with its weight, multiplied from left to right."""
        products = []
        for weight, monomial in zip(self.coefficients, self.monomials, strict=True):
            products.append(" * ".join([repr(weight), *map(self.variable, monomial)]))
        return products

    def result(self) -> str:
        """Return the expression for the output, in which the variable ``value`` holds the sum of the terms."""
        return unscaled_value(self.offsets[OUTPUT], self.scales[OUTPUT])


def function_value(function: str, value: str, functions: Mapping[str, str]) -> str:
    """Return the expression for a function of a value, or the value itself if the name of the function is empty.

    ``functions`` has those that have another form in the language than ``name(value)``.
    """
    if not function:
        return value
    return functions.get(function, f"{function}({{0}})").format(value)


def scaled_value(value: str, offset: float, scale: float) -> str:
    """Return the expression for a signal in the units of the terms."""
    if offset:
        value = f"({value} - {offset!r})".replace("- -", "+ ")
    if scale != 1:
        value = f"{value} / {scale!r}"
    return value


def unscaled_value(offset: float, scale: float) -> str:
    """Return the expression for an output in its unit, in which the variable ``value`` holds the sum of the terms."""
    value = "value"
    if scale != 1:
        value = f"{value} * {scale!r}"
    if offset:
        value = f"{value} + {offset!r}".replace("+ -", "- ")
    return value


def source(program: Program, language: str, name: str) -> str:
    """Return the source text of a program, as :meth:`narxbench._model.narx.Model.export` describes it."""
    return source_in(_LANGUAGES, program, language, name)


def source_in(languages: Mapping[str, Callable[[P, str], Iterator[str]]], program: P, language: str, name: str) -> str:
    """Return the source text of a program in one of some languages, whose functions yield its lines."""
    if language not in languages:
        allowed = f"{', '.join(languages)}{did_you_mean(language, languages)}"
        raise NarxbenchError(f"language: found {show(language)}; allowed: {allowed}")
    check_name(name)
    return "\n".join(languages[language](program, name)) + "\n"


def check_name(name: object) -> None:
    """Raise NarxbenchError for the name of a program that a language would not take."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in _RESERVED or iskeyword(name):
        raise NarxbenchError(
            f"name: found {show(name)}; allowed: a letter, then letters, digits and _, at most 40, "
            "and no word of the language, such as narx_model"
        )


def _python(program: Program, name: str) -> Iterator[str]:
    yield from comment_lines(program.comment, "#")
    if program.functions:
        yield from ("", "import math")
    yield from ("", "")
    yield from _python_step(program, name)
    yield from ("", "")
    yield from _python_simulation(program, name)


def _python_step(program: Program, name: str) -> Iterator[str]:
    """Yield the lines of the Python function that returns the next output."""
    n_arguments = len(program.arguments)

    def argument(lag: int, position: int) -> str:
        if n_arguments > 1:
            return f"u_past[{lag}][{position}]"
        return f"u_past[{lag}]"

    arguments = "y_past, u_past" if n_arguments else "y_past"
    yield f"def {name}_step({arguments}):"
    for line in _meaning_of_past(n_arguments):
        yield f"    # {line}"
    if n_arguments > 1:
        yield f"    # u_past[0] is the list of the {n_arguments} inputs at k, u_past[1] the one at k-1, ..."
    for definition in program.definitions(lambda lag: f"y_past[{lag - 1}]", argument, PYTHON_FUNCTIONS):
        yield f"    {definition}"
    yield "    value = 0.0"
    for product in program.products():
        yield f"    value += {product}"
    yield f"    return {program.result()}"


def _python_simulation(program: Program, name: str) -> Iterator[str]:
    """Yield the lines of the Python function that returns the free run."""
    n_arguments, n_initial, (output_lag, input_lag) = len(program.arguments), program.n_initial, program.lags
    if n_arguments:
        inputs = "a number" if n_arguments == 1 else f"a list of the {n_arguments} inputs"
        yield f"def {name}_simulate(u, y_initial):"
        yield f"    # Returns the free run, a list of len(u) outputs; u has {inputs} for each sample."
    else:
        yield f"def {name}_simulate(y_initial, samples):"
        yield "    # Returns the free run, a list of this many outputs."
    yield f"    # The first {n_initial} of y_initial, measured outputs, are the beginning."
    yield f"    if len(y_initial) < {n_initial}:"
    yield f'        raise ValueError("y_initial: needed: {n_initial} outputs")'
    yield f"    y = [float(value) for value in y_initial[:{n_initial}]]"
    y_past = f"y[k - {output_lag} : k][::-1]"
    if n_arguments:
        yield f"    for k in range({n_initial}, len(u)):"
        yield f"        y.append({name}_step({y_past}, u[k - {input_lag} : k + 1][::-1]))"
    else:
        yield f"    for k in range({n_initial}, samples):"
        yield f"        y.append({name}_step({y_past}))"
    yield "    return y"


def _c(program: Program, name: str) -> Iterator[str]:
    yield from comment_lines(program.comment, "//")
    yield ""
    if program.functions:
        yield "#include <math.h>"
    yield from ("#include <stddef.h>", "")
    yield from _c_step(program, name)
    yield ""
    yield from _c_simulation(program, name)


def _c_step(program: Program, name: str) -> Iterator[str]:
    """Yield the lines of the C function that returns the next output."""
    n_arguments = len(program.arguments)
    for line in _meaning_of_past(n_arguments):
        yield f"// {line}"
    if n_arguments > 1:
        last = f"u_past[{n_arguments} * j + {n_arguments - 1}]"
        yield f"// u_past[{n_arguments} * j] to {last} are the {n_arguments} inputs at k-j."
    arguments = "const double *y_past"
    if n_arguments:
        arguments += ", const double *u_past"
    yield f"double {name}_step({arguments})"
    yield "{"
    definitions = program.definitions(
        lambda lag: f"y_past[{lag - 1}]", lambda lag, position: f"u_past[{lag * n_arguments + position}]", C_FUNCTIONS
    )
    for definition in definitions:
        yield f"    const double {definition};"
    yield "    double value = 0.0;"
    # A compiler would warn of arguments that are not used.
    signals = {signal for signal, _ in program.factors}
    if OUTPUT not in signals:
        yield "    (void)(y_past);"
    if n_arguments and not signals - {OUTPUT}:
        yield "    (void)(u_past);"
    for product in program.products():
        yield f"    value += {product};"
    yield f"    return {program.result()};"
    yield "}"


def _c_simulation(program: Program, name: str) -> Iterator[str]:
    """Yield the lines of the C function that fills in the free run."""
    n_arguments, n_initial, (output_lag, input_lag) = len(program.arguments), program.n_initial, program.lags
    yield f"// A free run: y holds samples outputs; the first {n_initial} are given and the others are filled in."
    if n_arguments > 1:
        yield f"// u holds the {n_arguments} inputs of the first sample, then those of the second, and so on."
    arguments = "double *y, size_t samples"
    step_arguments = "y_past"
    if n_arguments:
        arguments = f"const double *u, {arguments}"
        step_arguments += ", u_past"
    yield f"void {name}_simulate({arguments})"
    yield "{"
    yield f"    double y_past[{max(output_lag, 1)}] = {{0.0}};"
    if n_arguments:
        yield f"    double u_past[{(input_lag + 1) * n_arguments}];"
    yield f"    for (size_t k = {n_initial}; k < samples; k++) {{"
    if output_lag:
        yield f"        for (size_t j = 0; j < {output_lag}; j++)"
        yield "            y_past[j] = y[k - 1 - j];"
    if n_arguments:
        yield f"        for (size_t j = 0; j < {input_lag + 1}; j++)"
        yield f"            for (size_t i = 0; i < {n_arguments}; i++)"
        yield f"                u_past[j * {n_arguments} + i] = u[(k - j) * {n_arguments} + i];"
    yield f"        y[k] = {name}_step({step_arguments});"
    yield "    }"
    yield "}"


def _matlab(program: Program, name: str) -> Iterator[str]:
    n_arguments, n_initial = len(program.arguments), program.n_initial
    arguments, inputs = "y_initial, samples", ""
    if n_arguments == 1:
        arguments, inputs = "u, y_initial", "; u is the input"
    elif n_arguments > 1:
        arguments, inputs = "u, y_initial", f"; u has a column for each of the {n_arguments} inputs"
    yield f"function y = {name}({arguments})"
    yield f"% {name}: the free run of a model, a column of outputs{inputs}."
    yield f"% The first {n_initial} of y_initial, measured outputs, are the beginning."
    yield "%"
    yield from comment_lines(program.comment, "%")
    if n_arguments == 1:
        yield "u = u(:);"
    if n_arguments:
        yield f"if size(u, 2) ~= {n_arguments}"
        yield f"    error('u: needed: {n_arguments} columns');"
        yield "end"
        yield "samples = size(u, 1);"
    yield f"if numel(y_initial) < {n_initial}"
    yield f"    error('y_initial: needed: {n_initial} outputs');"
    yield "end"
    yield "y = zeros(samples, 1);"
    yield f"y(1:{n_initial}) = y_initial(1:{n_initial});"
    yield f"for k = {n_initial + 1}:samples"
    for definition in program.definitions(lambda lag: f"y(k - {lag})", _matlab_input, MATLAB_FUNCTIONS):
        yield f"    {definition};"
    yield "    value = 0;"
    for product in program.products():
        yield f"    value = value + {product};"
    yield f"    y(k) = {program.result()};"
    yield "end"
    yield "end"


def _matlab_input(lag: int, position: int) -> str:
    row = f"k - {lag}" if lag else "k"
    return f"u({row}, {position + 1})"


def _sysidentpy(program: Program, name: str) -> Iterator[str]:
    """Yield the lines of a program for SysIdentPy.

    SysIdentPy cannot express ``u(k)``. If a term has the current input, each input is given one sample early, and all
    lags of inputs are larger by one.
    """
    if not program.factors:
        raise NarxbenchError("language: SysIdentPy has no model of the constant term alone; allowed: python, c, matlab")
    has_current_input = any(signal != OUTPUT and lag == 0 for signal, lag in program.factors)
    shifts = [0] + [int(has_current_input)] * program.n_inputs
    lags: list[list[int]] = [[] for _ in shifts]
    for signal, lag in program.factors:
        lags[signal].append(lag + shifts[signal])
    # A signal that no term has still needs a lag.
    lags = [signal_lags or [1] for signal_lags in lags]
    longest_lag = max(map(max, lags))
    # SysIdentPy separates signal and lag by rounding.
    if longest_lag >= 500:
        allowed = "at most 499, or python, c, matlab"
        raise NarxbenchError(f"language: found the lag {longest_lag} for SysIdentPy; allowed: {allowed}")
    n_inputs, n_initial = program.n_inputs, program.n_initial
    yield from comment_lines(program.comment, "#")
    yield "#"
    if n_inputs:
        yield f"# {name}.predict(X=u, y=y) is the free run: u has the shape (samples, {n_inputs}), y (outputs, 1);"
        yield f"# of y the first {n_initial} count. With steps_ahead=1 it is one step ahead of y of all samples."
    else:
        yield f"# {name}.predict(y=y, forecast_horizon=n) is the free run of n outputs that follow the first"
        yield f"# {n_initial} of y, shape (outputs, 1). With steps_ahead=1 it is one step ahead of all of y."
    yield "import numpy as np"
    yield "from sysidentpy.basis_function import Polynomial"
    yield "from sysidentpy.model_structure_selection import FROLS"
    class_name = "FROLS"
    if has_current_input:
        class_name = f"{name}_class"
        yield from ("", "")
        yield from _sysidentpy_class(class_name, padding=longest_lag - n_initial)
        yield ""
    yield ""
    yield from _sysidentpy_model(program, lags, shifts, name, class_name)


def _sysidentpy_class(class_name: str, padding: int) -> Iterator[str]:
    """Yield the lines of a class that gives SysIdentPy each input one sample early.

    ``padding`` is 1 if this makes the longest lag longer, and 0 if the output has a lag that is at least as long.
    """
    yield f"class {class_name}(FROLS):"
    yield "    def predict(self, *, X, y, steps_ahead=None, forecast_horizon=None):"
    yield "        # SysIdentPy has no term of the current input: it is given each input one sample early."
    prediction = "super().predict(X=X, y=y, steps_ahead=steps_ahead, forecast_horizon=forecast_horizon)"
    if padding:
        yield "        # Both begin with one sample more, for it takes the first predicted one from y otherwise."
        yield "        X = np.vstack([X, X[-1:]])"
        yield "        y = np.vstack([np.zeros((1, 1)), y])"
        yield f"        found = {prediction}"
        yield f"        return found[{padding}:]"
    else:
        yield "        X = np.vstack([X[1:], X[-1:]])"
        yield f"        found = {prediction}"
        yield "        return found"


def _sysidentpy_model(
    program: Program, lags: list[list[int]], shifts: list[int], name: str, class_name: str
) -> Iterator[str]:
    """Yield the lines that make an object of SysIdentPy and set its fitted attributes.

    Its code of a term has 1000 times the number of the signal plus the lag for each factor.
    """
    output_lags, *lags_of_inputs = lags
    degree = max(map(len, program.monomials))
    model_type = "NARMAX"
    input_lags: Any = lags_of_inputs
    if not lags_of_inputs:
        model_type = "NAR"
        input_lags = 1
    elif len(lags_of_inputs) == 1:
        input_lags = lags_of_inputs[0]
    n_terms = len(program.monomials)
    yield f"{name} = {class_name}("
    yield f"    xlag={input_lags},"
    yield f"    ylag={output_lags},"
    yield f"    basis_function=Polynomial(degree={degree}),"
    yield f'    model_type="{model_type}",'
    yield ")"
    yield f"{name}.max_lag = {max(map(max, lags))}"
    yield f"{name}.n_inputs = {program.n_inputs}"
    yield f"{name}.n_terms = {n_terms}"
    yield f"{name}.err = [0.0] * {n_terms}"
    yield f"{name}.final_model = np.array(["
    for monomial in program.monomials:
        code = sorted((1000 * (signal + 1) + lag + shifts[signal] for signal, lag in monomial), reverse=True)
        yield f"    {code + [0] * (degree - len(code))},"
    yield "])"
    yield f"{name}.theta = np.array(["
    for weight in program.coefficients:
        yield f"    [{weight!r}],"
    yield "])"
    yield f"{name}.regressor_code = {name}.regressor_space({max(program.n_inputs, 1)})"
    yield f"{name}.pivv = np.array(["
    yield f"    np.flatnonzero(({name}.regressor_code == code).all(axis=1))[0] for code in {name}.final_model"
    yield "])"


_LANGUAGES = {"python": _python, "c": _c, "matlab": _matlab, "sysidentpy": _sysidentpy}


def comment_lines(texts: Sequence[str], mark: str) -> Iterator[str]:
    """Yield the lines of the comment at the top of a program."""
    for text in texts:
        for line in textwrap.wrap(text, break_long_words=False, break_on_hyphens=False):
            comment = f"{mark} {line}"
            # A backslash at the end, in C also ??/, would make the next line part of the comment.
            if line.endswith(("\\", "??/")):
                comment += "."
            yield comment


def _meaning_of_past(n_arguments: int) -> list[str]:
    """Return sentences on the arguments and the result of a step."""
    lines = ["Returns y(k); y_past[0] is y(k-1), y_past[1] is y(k-2), ..."]
    if n_arguments == 1:
        lines.append("u_past[0] is u(k), u_past[1] is u(k-1), ...")
    return lines
