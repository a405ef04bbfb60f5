"""Equations of models for readers, as text and in LaTeX, with a legend of signals, noise and time."""

import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from narxbench._io.errors import NarxbenchError, is_whole_number, printable, show
from narxbench._model.noise_models import Narx
from narxbench._model.terms import signal_name

if TYPE_CHECKING:
    from narxbench._model.narx import Model

# This many terms with two factors fit on a line of a page.
_TERMS_PER_LINE = 3
# Significant digits of a number, as in most tables of measured values.
DIGITS = 4


@dataclass(frozen=True)
class Notation:
    """How the parts of an equation are written.

    Attributes
    ----------
    number : callable
        Writes a number inside a formula.
    term : callable
        Writes a product of lagged signals inside a formula.
    times : str
        The sign between a number and a term.
    formula : callable
        Sets a formula in running text.
    words : callable
        Writes text, such as the name of a signal.
    with_digits : callable
        Returns the notation with another number of significant digits.
    """

    number: Callable[[float], str]
    term: Callable[[str], str]
    times: str
    formula: Callable[[str], str]
    words: Callable[[str], str]
    with_digits: Callable[[int], "Notation"]

    def summands(self, weights: Sequence[float], terms: Sequence[str], *, is_first: bool = True) -> list[str]:
        """Return the summands of a sum with their signs. The first of the sum has a sign only if it is negative."""
        summands: list[str] = []
        for weight, term in zip(weights, terms, strict=True):
            summand = self.number(abs(weight))
            if term != "1":
                summand += self.times + self.term(term)
            sign = "- " if weight < 0 else "+ "
            if is_first and not summands:
                sign = "-" if weight < 0 else ""
            summands.append(sign + summand)
        return summands


def plain(digits: int | None) -> Notation:
    """Return the notation of plain text with this number of significant digits, or all digits if it is None."""
    number: Callable[[float], str] = repr
    if digits is not None:
        number = _rounded(digits)
    return Notation(number, str, " ", str, printable, plain)


def latex(digits: int) -> Notation:
    """Return the notation of LaTeX with this number of significant digits."""
    rounded = _rounded(digits)

    def power_of_ten(exponent: re.Match[str]) -> str:
        sign, number = exponent.groups()
        return rf" \times 10^{{{sign.strip('+')}{number}}}"

    def number(value: float) -> str:
        return re.sub(r"e([+-])0*(\d+)", power_of_ten, rounded(value))

    def words(text: str) -> str:
        return printable(text).translate(_LATEX)

    return Notation(number, _latex_term, r"\,", lambda formula: f"${formula}$", words, latex)


def text_of(model: "Model", digits: int) -> str:
    """Return the equation of a model as text with the legend below it."""
    notation = plain(digits)
    equation = "y(k) = " + " ".join(notation.summands(model.coefficients, model.terms))
    lines = legend(model, notation)
    if not lines:
        return equation
    return f"{equation}\n{'; '.join(lines)}"


def latex_of(model: "Model", digits: int) -> str:
    """Return the equation of a model as a displayed formula of LaTeX with the legend below it."""
    notation = latex(digits)
    summands = notation.summands(model.coefficients, model.terms)
    lines = [" ".join(summands[i : i + _TERMS_PER_LINE]) for i in range(0, len(summands), _TERMS_PER_LINE)]
    body = " \\\\\n& {} ".join(lines)
    formula = f"\\[\n\\begin{{array}}{{rl}}\ny(k) = & {body}\n\\end{{array}}\n\\]"
    phrases = legend(model, notation)
    if not phrases:
        return formula
    return f"{formula}\n{'; '.join(phrases)}."


def legend(model: "Model", notation: Notation, *, with_plain_names: bool = False, with_step: bool = True) -> list[str]:
    """Return phrases on the signals of a model, its noise, and the length of a step.

    Parameters
    ----------
    model : Model
        The model.
    notation : Notation
        How it is written.
    with_plain_names : bool
        Describe the signals even if each has the name that the equation gives it.
    with_step : bool
        Say how long a step is, if that is known.
    """
    symbols = [signal_name(signal, model.n_inputs) for signal in range(1 + model.n_inputs)]
    phrases = list(_signals(model, symbols, notation))
    plain_phrases = [f"{notation.formula(notation.term(symbol))}: {notation.words(symbol)}" for symbol in symbols]
    if phrases == plain_phrases and not with_plain_names:
        phrases = []
    phrases.append(noise_line(model, notation))
    if with_step:
        phrases.append(_step(model, notation))
    return [phrase for phrase in phrases if phrase]


def _signals(model: "Model", symbols: Sequence[str], notation: Notation) -> Iterator[str]:
    """Yield a phrase for each signal: its symbol, name, unit, offset and scale."""
    offsets, scales = (values.tolist() for values in model.scaling())
    names = [model.output, *model.inputs]
    for symbol, name, offset, scale in zip(symbols, names, offsets, scales, strict=True):
        line = f"{notation.formula(notation.term(symbol))}: {notation.words(name)}"
        unit = model.units.get(name)
        if unit:
            line += f" ({notation.words(unit)})"
        if offset:
            # If a signal varies little about its level, the last digits of the level matter.
            level = notation.with_digits(_level_digits(offset, scale)).number(abs(offset))
            operation = "minus" if offset > 0 else "plus"
            line += f", {operation} {notation.formula(level)}"
        if scale != 1:
            line += f", divided by {notation.formula(notation.number(scale))}"
        yield line


def _level_digits(offset: float, scale: float) -> int:
    """Return the number of significant digits of an offset: enough to show a variation of the size of the scale."""
    if scale == 1.0:
        return sys.float_info.dig
    needed = DIGITS + math.ceil(math.log10(max(1.0, abs(offset) / scale)))
    return min(needed, sys.float_info.dig)


def noise_line(model: "Model", notation: Notation) -> str:
    """Return a phrase on the noise model and its coefficients, empty for white Gaussian noise in the equation."""
    noise = model.noise
    if noise == Narx():
        return ""
    line = f"noise: {noise.family.words} ({noise.title})"
    if noise.is_integrated:
        line += ", integrated"
    if not noise.is_white:
        formula = notation.formula(_noise_formula(model, notation))
        line += f", {formula} with white {notation.formula('e(k)')}"
    if not noise.distribution.is_gaussian:
        line += f", {noise.distribution.title}"
    return line


def _noise_formula(model: "Model", notation: Notation) -> str:
    """Return the formula of the noise w(k), made of white noise e(k). v(k) is its difference if it is integrated."""
    noise = model.noise
    signal = "v" if noise.is_integrated else "w"
    ar_weights = [-model.autoregression[lag - 1] for lag in noise.ar_lags]
    ma_weights = [model.moving_average[lag - 1] for lag in noise.ma_lags]
    summands = notation.summands(ar_weights, [f"{signal}(k-{lag})" for lag in noise.ar_lags])
    innovation = "+ e(k)" if summands else "e(k)"
    summands.append(innovation)
    summands += notation.summands(ma_weights, [f"e(k-{lag})" for lag in noise.ma_lags], is_first=False)
    noise_sum = " ".join(summands)
    if not noise.is_integrated:
        return f"w(k) = {noise_sum}"
    if not noise.ar_lags:
        return f"w(k) = w(k-1) + {noise_sum}"
    return f"w(k) = w(k-1) + v(k), v(k) = {noise_sum}"


def _step(model: "Model", notation: Notation) -> str:
    """Return a phrase on the length of a step, empty if a step is a sample of unknown length."""
    symbol = notation.formula("k")
    step_time = ""
    if model.step_time is not None:
        step_time = notation.words(duration(model.step_time))
    if model.decimation > 1:
        phrase = f"{symbol} counts steps of {model.decimation} samples"
        return f"{phrase}, {step_time}" if step_time else phrase
    return f"{symbol} counts samples of {step_time}" if step_time else ""


def duration(seconds: float) -> str:
    """Return a duration in the largest of s, ms, µs and ns that is not longer than it.

    Examples
    --------
    >>> duration(0.0125)
    '12.5 ms'
    """
    for unit, length in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= length:
            return f"{seconds / length:.6g} {unit}"
    return f"{seconds / 1e-9:.6g} ns"


def _rounded(digits: int) -> Callable[[float], str]:
    """Return the function that writes a number with this number of significant digits."""
    if not is_whole_number(digits, 1, 17):
        raise NarxbenchError(f"digits: found {show(digits)}; allowed: a whole number from 1 to 17")
    return lambda value: f"{value:.{digits}g}"


def _latex_term(term: str) -> str:
    indexed = re.sub(r"u(\d+)", r"u_{\1}", term)
    return re.sub(r"\^(\d+)", r"^{\1}", indexed).replace("*", r"\,")


_LATEX = str.maketrans(
    {char: f"\\{char}" for char in "{}$&#%_"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"\u00b5": r"$\mu$", "\u03bc": r"$\mu$", "\u2126": r"$\Omega$", "\u03a9": r"$\Omega$"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "°": r"${}^\circ$"}
)
