"""Source text of programs that predict as a model does, for use without this package."""

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from keyword import iskeyword
from typing import NamedTuple

from narxbench.io.errors import NarxbenchError, did_you_mean, show
from narxbench.model.terms import OUTPUT, Factor, Monomial, signal_name

_WIDTH = 110
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}", re.ASCII)
# Words of MATLAB and Octave, and names that the programs use; words of Python are taken too.
_TAKEN = {
    *("case", "catch", "classdef", "do", "else", "elseif", "end", "end_try_catch", "end_unwind_protect", "endfor"),
    *("endfunction", "endif", "endparfor", "endswitch", "endwhile", "function", "otherwise", "parfor", "persistent"),
    *("spmd", "switch", "until", "unwind_protect", "unwind_protect_cleanup"),
    *("FROLS", "Polynomial", "error", "k", "np", "numel", "samples", "size", "super", "u", "value", "y", "y_initial"),
    *("zeros",),
}
# Functions of inputs that a language calls otherwise.
_PYTHON = {
    **{name: f"math.{name}({{0}})" for name in ("sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "atan")},
    "sign": "(math.copysign(1.0, {0}) if {0} else 0.0)",
}
_C = {"abs": "fabs({0})", "sign": "(({0} > 0.0) - ({0} < 0.0))"}


class Program(NamedTuple):
    """What a program of a model computes, and the lines for readers at its top.

    The terms are of ``(signal - offset) / scale``, as their sum is, with an offset and a scale of the output and each
    input. ``functions`` are those of :func:`narxbench.model.functions.derived`.
    """

    monomials: Sequence[Monomial]
    coefficients: Sequence[float]
    n_inputs: int
    offsets: Sequence[float]
    scales: Sequence[float]
    comment: Sequence[str]
    functions: Mapping[int, tuple[str, int]] = {}

    @property
    def given(self) -> list[int]:
        """The places of the inputs that are given; the others are functions of them."""
        return [place for place in range(self.n_inputs) if place not in self.functions]

    @property
    def factors(self) -> list[Factor]:
        """Every lagged signal that occurs, once, in order."""
        return sorted({factor for monomial in self.monomials for factor in monomial})

    @property
    def lags(self) -> tuple[int, int]:
        """The largest lags of the output and of an input; a free run needs as many first outputs as the larger."""
        n_y = max((lag for signal, lag in self.factors if signal == OUTPUT), default=0)
        return n_y, max((lag for signal, lag in self.factors if signal != OUTPUT), default=0)

    def variable(self, factor: Factor) -> str:
        """Return the name of the variable that holds a lagged signal, such as ``y_1`` or ``u2_0``."""
        return f"{signal_name(factor[0], self.n_inputs)}_{factor[1]}"

    def variables(
        self, y: Callable[[int], str], u: Callable[[int, int], str], words: Mapping[str, str]
    ) -> Iterator[str]:
        """Yield a definition for each lagged signal, as the terms have it.

        ``y`` gives the expression for the output of a lag, ``u`` that for an input of a lag, by its place among the
        given ones; ``words`` are the functions of inputs that the language calls otherwise.
        """
        for signal, lag in self.factors:
            if signal == OUTPUT:
                value = y(lag)
            else:
                function, place = self.functions.get(signal - 1, ("", signal - 1))
                value = u(lag, self.given.index(place))
                value = words.get(function, f"{function}({{0}})").format(value) if function else value
            offset, scale = self.offsets[signal], self.scales[signal]
            value = f"({value} - {offset!r})".replace("- -", "+ ") if offset else value
            yield f"{self.variable((signal, lag))} = {value}{f' / {scale!r}' if scale != 1 else ''}"

    def products(self) -> list[str]:
        """Return each term with its weight, multiplied from left to right."""
        return [
            " * ".join([repr(weight), *map(self.variable, monomial)])
            for weight, monomial in zip(self.coefficients, self.monomials, strict=True)
        ]

    def result(self) -> str:
        """Return the expression for the output, of the sum of the terms."""
        offset, scale = self.offsets[OUTPUT], self.scales[OUTPUT]
        value = f"value * {scale!r}" if scale != 1 else "value"
        return f"{value} + {offset!r}".replace("+ -", "- ") if offset else value


def source(program: Program, language: str, name: str) -> str:
    """Return the source text of a program, as :meth:`narxbench.model.narx.Model.export` says."""
    if language not in _LANGUAGES:
        allowed = f"{', '.join(_LANGUAGES)}{did_you_mean(language, _LANGUAGES)}"
        raise NarxbenchError(f"language: found {show(language)}; allowed: {allowed}")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in _TAKEN or iskeyword(name):
        raise NarxbenchError(
            f"name: found {show(name)}; allowed: a letter, then letters, digits and _, at most 40, "
            "and no word of the language, such as narx_model"
        )
    return "\n".join(_LANGUAGES[language](program, name)) + "\n"


def _python(program: Program, name: str) -> Iterable[str]:
    inputs, (n_y, n_u) = len(program.given), program.lags
    initial = max(n_y, n_u)
    yield from _comment(program, "#")
    if program.functions:
        yield from ("", "import math")
    arguments = "y_past, u_past" if inputs else "y_past"
    yield from ("", "", f"def {name}_step({arguments}):", *(f"    # {line}" for line in _past(inputs)))
    if inputs > 1:
        yield f"    # u_past[0] is the list of the {inputs} inputs at k, u_past[1] the one at k-1, ..."
    variables = program.variables(
        lambda lag: f"y_past[{lag - 1}]",
        lambda lag, place: f"u_past[{lag}]" + (f"[{place}]" if inputs > 1 else ""),
        _PYTHON,
    )
    yield from (f"    {line}" for line in (*variables, "value = 0.0"))
    yield from (f"    value += {product}" for product in program.products())
    yield from (f"    return {program.result()}", "", "")
    length, u = ("len(u)", "u, ") if inputs else ("samples", "")
    yield f"def {name}_simulate({u}y_initial{'' if inputs else ', samples'}):"
    if inputs:
        each = "a number" if inputs == 1 else f"a list of the {inputs} inputs"
        yield f"    # Returns the free run, a list of len(u) outputs; u has {each} for each sample."
    else:
        yield "    # Returns the free run, a list of so many outputs."
    yield f"    # The first {initial} of y_initial, measured outputs, are the beginning."
    yield f"    if len(y_initial) < {initial}:"
    yield f'        raise ValueError("y_initial: needed: {initial} outputs")'
    yield f"    y = [float(value) for value in y_initial[:{initial}]]"
    yield f"    for k in range({initial}, {length}):"
    past = f"y[k - {n_y} : k][::-1]" + (f", u[k - {n_u} : k + 1][::-1]" if inputs else "")
    yield from (f"        y.append({name}_step({past}))", "    return y")


def _c(program: Program, name: str) -> Iterable[str]:
    inputs, (n_y, n_u) = len(program.given), program.lags
    initial = max(n_y, n_u)
    yield from _comment(program, "//")
    yield from ("", *(["#include <math.h>"] if program.functions else []), "#include <stddef.h>", "")
    yield from (f"// {line}" for line in _past(inputs))
    if inputs > 1:
        yield f"// u_past[{inputs} * j] to u_past[{inputs} * j + {inputs - 1}] are the {inputs} inputs at k-j."
    yield f"double {name}_step(const double *y_past{', const double *u_past' if inputs else ''})"
    yield "{"
    variables = program.variables(
        lambda lag: f"y_past[{lag - 1}]", lambda lag, place: f"u_past[{lag * inputs + place}]", _C
    )
    yield from (f"    const double {line};" for line in variables)
    yield "    double value = 0.0;"
    for array, used in (("y_past", n_y), ("u_past", any(signal != OUTPUT for signal, _ in program.factors))):
        if not used and (array == "y_past" or inputs):
            yield f"    (void)({array});"
    yield from (f"    value += {product};" for product in program.products())
    yield from (f"    return {program.result()};", "}", "")
    yield f"// A free run: y holds samples outputs; the first {initial} are given and the others are filled in."
    if inputs > 1:
        yield f"// u holds the {inputs} inputs of the first sample, then those of the second, and so on."
    yield f"void {name}_simulate({'const double *u, ' if inputs else ''}double *y, size_t samples)"
    yield "{"
    yield f"    double y_past[{max(n_y, 1)}] = {{0.0}};"
    if inputs:
        yield f"    double u_past[{(n_u + 1) * inputs}];"
    yield f"    for (size_t k = {initial}; k < samples; k++) {{"
    if n_y:
        yield f"        for (size_t j = 0; j < {n_y}; j++)"
        yield "            y_past[j] = y[k - 1 - j];"
    if inputs:
        yield f"        for (size_t j = 0; j < {n_u + 1}; j++)"
        yield f"            for (size_t i = 0; i < {inputs}; i++)"
        yield f"                u_past[j * {inputs} + i] = u[(k - j) * {inputs} + i];"
    yield f"        y[k] = {name}_step(y_past{', u_past' if inputs else ''});"
    yield from ("    }", "}")


def _matlab(program: Program, name: str) -> Iterable[str]:
    inputs, initial = len(program.given), max(program.lags)
    yield f"function y = {name}({'u, y_initial' if inputs else 'y_initial, samples'})"
    columns = f"u has a column for each of the {inputs} inputs" if inputs > 1 else "u is the input"
    about = f"; {columns}" if inputs else ""
    yield f"% {name}: the free run of a model, a column of outputs{about}."
    yield f"% The first {initial} of y_initial, measured outputs, are the beginning."
    yield "%"
    yield from _comment(program, "%")
    if inputs == 1:
        yield "u = u(:);"
    if inputs:
        yield from (f"if size(u, 2) ~= {inputs}", f"    error('u: needed: {inputs} columns');", "end")
        yield "samples = size(u, 1);"
    yield from (f"if numel(y_initial) < {initial}", f"    error('y_initial: needed: {initial} outputs');", "end")
    yield from ("y = zeros(samples, 1);", f"y(1:{initial}) = y_initial(1:{initial});", f"for k = {initial + 1}:samples")
    variables = program.variables(
        lambda lag: f"y(k - {lag})", lambda lag, place: f"u({f'k - {lag}' if lag else 'k'}, {place + 1})", {}
    )
    yield from (f"    {line};" for line in (*variables, "value = 0"))
    yield from (f"    value = value + {product};" for product in program.products())
    yield from (f"    y(k) = {program.result()};", "end", "end")


def _sysidentpy(program: Program, name: str) -> Iterable[str]:
    inputs = program.n_inputs
    if not program.factors:
        raise NarxbenchError("language: SysIdentPy has no model of the constant term alone; allowed: python, c, matlab")
    # It has no u(k): then each input is given one sample early, and its lags are one larger.
    early = int(any(signal != OUTPUT and lag == 0 for signal, lag in program.factors))
    lags = [
        sorted({lag + early * (s != OUTPUT) for signal, lag in program.factors if signal == s}) or [1]
        for s in range(1 + inputs)
    ]
    longest = max(max(some) for some in lags)
    initial = max(program.lags)
    padding = longest - initial
    # A code is 1000 times the signal plus the lag, which SysIdentPy separates by rounding.
    if longest >= 500:
        allowed = "at most 499, or python, c, matlab"
        raise NarxbenchError(f"language: found the lag {longest} for SysIdentPy; allowed: {allowed}")
    degree = max(map(len, program.monomials))
    codes = [
        sorted((1000 * (s + 1) + lag + early * (s != OUTPUT) for s, lag in m), reverse=True) + [0] * (degree - len(m))
        for m in program.monomials
    ]
    yield from _comment(program, "#")
    yield "#"
    if inputs:
        yield f"# {name}.predict(X=u, y=y) is the free run: u has the shape (samples, {inputs}), y (outputs, 1);"
        yield f"# of y the first {initial} count. With steps_ahead=1 it is one step ahead of y of all samples."
    else:
        yield f"# {name}.predict(y=y, forecast_horizon=n) is the free run of n outputs that follow the first"
        yield f"# {initial} of y, shape (outputs, 1). With steps_ahead=1 it is one step ahead of all of y."
    yield "import numpy as np"
    yield "from sysidentpy.basis_function import Polynomial"
    yield "from sysidentpy.model_structure_selection import FROLS"
    family = "FROLS"
    if early:
        family = f"{name}_class"
        yield from ("", "", f"class {family}(FROLS):")
        yield "    def predict(self, *, X, y, steps_ahead=None, forecast_horizon=None):"
        yield "        # SysIdentPy has no term of the current input: it is given each input one sample early."
        if padding:
            yield "        # Both begin with one sample more, for it takes the first predicted one from y otherwise."
        yield f"        X = np.vstack([{'X' if padding else 'X[1:]'}, X[-1:]])"
        if padding:
            yield "        y = np.vstack([np.zeros((1, 1)), y])"
        yield "        found = super().predict(X=X, y=y, steps_ahead=steps_ahead, forecast_horizon=forecast_horizon)"
        yield f"        return found[{padding}:]" if padding else "        return found"
        yield ""
    yield ""
    yield f"{name} = {family}("
    yield f"    xlag={(lags[1] if inputs == 1 else lags[1:]) if inputs else 1},"
    yield f"    ylag={lags[OUTPUT]!r},"
    yield f"    basis_function=Polynomial(degree={degree}),"
    yield f'    model_type="{"NARMAX" if inputs else "NAR"}",'
    yield ")"
    yield from (f"{name}.max_lag = {longest}", f"{name}.n_inputs = {inputs}")
    yield from (f"{name}.n_terms = {len(codes)}", f"{name}.err = [0.0] * {len(codes)}")
    yield f"{name}.final_model = np.array(["
    yield from (f"    {code!r}," for code in codes)
    yield "])"
    yield f"{name}.theta = np.array(["
    yield from (f"    [{weight!r}]," for weight in program.coefficients)
    yield "])"
    yield f"{name}.regressor_code = {name}.regressor_space({max(inputs, 1)})"
    yield f"{name}.pivv = np.array(["
    yield f"    np.flatnonzero(({name}.regressor_code == code).all(axis=1))[0] for code in {name}.final_model"
    yield "])"


_LANGUAGES = {"python": _python, "c": _c, "matlab": _matlab, "sysidentpy": _sysidentpy}


def _comment(program: Program, mark: str) -> Iterable[str]:
    for text in program.comment:
        for line in textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False):
            # A backslash at the end, in C also ??/, would make the next line part of the comment.
            yield f"{mark} {line}" + ("." if line.endswith(("\\", "??/")) else "")


def _past(inputs: int) -> list[str]:
    lines = ["Returns y(k); y_past[0] is y(k-1), y_past[1] is y(k-2), ..."]
    return [*lines, "u_past[0] is u(k), u_past[1] is u(k-1), ..."] if inputs == 1 else lines
