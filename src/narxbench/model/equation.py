"""Equations of models for readers, as text and in LaTeX, with a legend of signals, noise and time."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from narxbench.io.errors import NarxbenchError, is_whole_number, printable, show
from narxbench.model.noise_models import Narx
from narxbench.model.terms import signal_name

if TYPE_CHECKING:
    from narxbench.model.narx import Model

_TERMS_PER_LINE = 3
# Digits of a level beyond those before the variation, and of any number.
LEVEL_DIGITS, MOST_DIGITS = 4, 15


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
        Stands between a number and a term.
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
        """Return the summands of a sum with their signs; the first of the sum has one only if it is negative."""
        summands: list[str] = []
        for weight, term in zip(weights, terms, strict=True):
            factor = "" if term == "1" else self.times + self.term(term)
            summand = self.number(abs(weight)) + factor
            if is_first and not summands:
                summands.append(f"-{summand}" if weight < 0 else summand)
            else:
                summands.append(f"- {summand}" if weight < 0 else f"+ {summand}")
        return summands


def plain(digits: int | None) -> Notation:
    """Return the notation of plain text with so many significant digits, or as many as a number has."""
    return Notation(repr if digits is None else _rounded(digits), str, " ", str, printable, plain)


def latex(digits: int) -> Notation:
    """Return the notation of LaTeX with so many significant digits."""
    rounded = _rounded(digits)

    def number(value: float) -> str:
        return re.sub(r"e([+-])0*(\d+)", lambda e: rf" \times 10^{{{e[1].strip('+')}{e[2]}}}", rounded(value))

    def words(text: str) -> str:
        return printable(text).translate(_LATEX)

    return Notation(number, _latex_term, r"\,", lambda formula: f"${formula}$", words, latex)


def text_of(model: "Model", digits: int) -> str:
    """Return the equation of a model as text with the legend below it."""
    notation = plain(digits)
    equation = "y(k) = " + " ".join(notation.summands(model.coefficients, model.terms))
    lines = legend(model, notation)
    return f"{equation}\n{'; '.join(lines)}" if lines else equation


def latex_of(model: "Model", digits: int) -> str:
    """Return the equation of a model as a displayed formula of LaTeX with the legend below it."""
    notation = latex(digits)
    summands = notation.summands(model.coefficients, model.terms)
    lines = [" ".join(summands[i : i + _TERMS_PER_LINE]) for i in range(0, len(summands), _TERMS_PER_LINE)]
    body = " \\\\\n& {} ".join(lines)
    formula = f"\\[\n\\begin{{array}}{{rl}}\ny(k) = & {body}\n\\end{{array}}\n\\]"
    sentences = legend(model, notation)
    return f"{formula}\n{'; '.join(sentences)}." if sentences else formula


def legend(model: "Model", notation: Notation, *, with_plain_names: bool = False, with_step: bool = True) -> list[str]:
    """Return what the signals of a model are, what its noise is, and how long a step is.

    Parameters
    ----------
    model : Model
        The model.
    notation : Notation
        How it is written.
    with_plain_names : bool
        Name the signals even if each is called as in the equation.
    with_step : bool
        Say how long a step is, where that is known.
    """
    symbols = [signal_name(signal, model.n_inputs) for signal in range(1 + model.n_inputs)]
    signals = list(_signals(model, symbols, notation))
    plain_signals = [f"{notation.formula(notation.term(symbol))}: {notation.words(symbol)}" for symbol in symbols]
    lines = [] if signals == plain_signals and not with_plain_names else signals
    noise = noise_line(model, notation)
    step = _step(model, notation) if with_step else ""
    return lines + [line for line in (noise, step) if line]


def _signals(model: "Model", symbols: Sequence[str], notation: Notation) -> Iterator[str]:
    offsets, scales = (values.tolist() for values in model.scaling())
    names = [model.output, *model.inputs]
    for symbol, name, offset, scale in zip(symbols, names, offsets, scales, strict=True):
        line = f"{notation.formula(notation.term(symbol))}: {notation.words(name)}"
        if unit := model.units.get(name):
            line += f" ({notation.words(unit)})"
        if offset:
            # Where a signal varies little about its level, the last digits of the level matter.
            level = notation.with_digits(_level_digits(offset, scale)).number(abs(offset))
            line += f", {'minus' if offset > 0 else 'plus'} {notation.formula(level)}"
        if scale != 1:
            line += f", divided by {notation.formula(notation.number(scale))}"
        yield line


def _level_digits(offset: float, scale: float) -> int:
    """Return the significant digits of an offset that are those of a signal which is scaled by its variation."""
    if scale == 1.0:
        return MOST_DIGITS
    needed = LEVEL_DIGITS + math.ceil(math.log10(max(1.0, abs(offset) / scale)))
    return min(needed, MOST_DIGITS)


def noise_line(model: "Model", notation: Notation) -> str:
    """Return the noise model in words with its coefficients; nothing for white Gaussian noise in the equation."""
    noise = model.noise
    if noise == Narx():
        return ""
    line = f"noise: {noise.words} ({noise.title})"
    if noise.is_integrated:
        line += ", integrated"
    if not noise.is_white:
        formula = notation.formula(_noise_formula(model, notation))
        line += f", {formula} with white {notation.formula('e(k)')}"
    if not noise.distribution.is_gaussian:
        line += f", {noise.distribution.title}"
    return line


def _noise_formula(model: "Model", notation: Notation) -> str:
    """Return how the noise w(k) follows from white noise e(k); v(k) are its differences if it is integrated."""
    noise = model.noise
    signal = "v" if noise.is_integrated else "w"
    ar_weights = [-model.autoregression[lag - 1] for lag in noise.ar_lags]
    ma_weights = [model.moving_average[lag - 1] for lag in noise.ma_lags]
    summands = notation.summands(ar_weights, [f"{signal}(k-{lag})" for lag in noise.ar_lags])
    summands.append("+ e(k)" if summands else "e(k)")
    summands += notation.summands(ma_weights, [f"e(k-{lag})" for lag in noise.ma_lags], is_first=False)
    noise_sum = " ".join(summands)
    if not noise.is_integrated:
        return f"w(k) = {noise_sum}"
    if not noise.ar_lags:
        return f"w(k) = w(k-1) + {noise_sum}"
    return f"w(k) = w(k-1) + v(k), v(k) = {noise_sum}"


def _step(model: "Model", notation: Notation) -> str:
    time = "" if model.step_time is None else notation.words(duration(model.step_time))
    symbol = notation.formula("k")
    if model.decimation > 1:
        return f"{symbol} counts steps of {model.decimation} samples{f', {time}' if time else ''}"
    return f"{symbol} counts samples of {time}" if time else ""


def duration(seconds: float) -> str:
    """Return seconds in the largest unit that is not longer."""
    units = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
    unit, length = next(((unit, length) for unit, length in units if seconds >= length), ("ns", 1e-9))
    return f"{seconds / length:.6g} {unit}"


def _rounded(digits: int) -> Callable[[float], str]:
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
