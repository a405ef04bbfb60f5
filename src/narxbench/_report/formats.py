"""Names and numbers as readers see them, and the escaping of any text for the format of an output."""

import math
import re
from decimal import ROUND_HALF_UP, Decimal
from html import escape as _escape_html
from typing import Literal

from narxbench._fitness.criteria import parse_criterion
from narxbench._io.words import listed as listed
from narxbench._io.words import probability as probability
from narxbench._io.words import probability_words as probability_words

OutputFormat = Literal["plain", "markdown", "latex", "html"]
# The ways to show values that narxbench._report.table has.
Form = Literal["frequency", "share", "tenths", "effect", "significant", "count", "fitness", "number"]

MISSING = "–"
# Methods as readers know them, where that is not their name.
METHOD_TITLES = {"upso2d": "2D-UPSO", "ga": "GA"}


def method_name(name: str) -> str:
    """Return the name of a method as readers know it: ``upso2d`` is ``2D-UPSO``."""
    return METHOD_TITLES.get(name, name)


def criterion_name(name: str) -> str:
    """Return the name of a criterion as readers know it: ``aic-8`` is ``AIC (ϱ = 8)``."""
    return parse_criterion(name).title


def snr(snr_db: float) -> str:
    """Return a signal-to-noise ratio with its unit."""
    return f"{snr_db:g} dB"


def number(value: float) -> str:
    """Return a number with all its digits, without decimals if it is whole."""
    return str(int(value) if float(value).is_integer() else value)


def rounded(value: float) -> str:
    """Return a frequency or ratio rounded half up to two decimals, or exactly 0 and 1 without decimals."""
    if value in (0, 1):
        return str(int(value))
    # repr, because the nearest double of 0.975 is smaller and would be rounded down.
    return str(Decimal(repr(float(value))).quantize(Decimal("0.01"), ROUND_HALF_UP))


def shortened(value: float, digits: int = 4) -> str:
    """Return a number with this many significant digits and a true minus sign."""
    # The exponent keeps its hyphen.
    return f"{value:.{digits}g}".replace("-", "−", 1 if value < 0 else 0)


def fixed(value: float, digits: int) -> str:
    """Return a number with this many decimals and a true minus sign, but never a negative zero."""
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def signed(value: float, digits: int = 3) -> str:
    """Return a change with its sign, plus or minus, and zero without one."""
    text = fixed(value, digits)
    return f"+{text}" if value > 0 and text.strip("0.") else text


def cut(text: str, most: int) -> str:
    """Return a text cut to at most this many characters, the last of them an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def p_value(value: float) -> str:
    """Return a p-value with three decimals, or that it is below 0.001."""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def percent(part: float, whole: float = 1) -> str:
    """Return a share in whole per cent, or the mark of a missing value if the whole is 0."""
    return f"{100 * part / whole:.0f} %" if whole else MISSING


def share(value: float) -> str:
    """Return a share in whole per cent, in which only exactly none and all become 0 and 100."""
    text = percent(value)
    if 0 < value < 1:
        return {"0 %": "< 1 %", "100 %": "> 99 %"}.get(text, text)
    return text


def tenths(value: float) -> str:
    """Return a share in per cent with one decimal, in which only exactly none and all become 0 and 100."""
    if value in (0, 1):
        return percent(value)
    text = f"{100 * value:.1f} %"
    return {"0.0 %": "< 0.1 %", "100.0 %": "> 99.9 %"}.get(text, text)


def count(value: float) -> str:
    """Return a count, rounded to a whole number, its thousands separated by commas."""
    return f"{value:,.0f}".replace("-", "−")


def duration(seconds: float) -> str:
    """Return a time in seconds, minutes or hours, whichever has at most two digits."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def sentence(text: str) -> str:
    """Return a text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def significant(value: float, digits: int = 2) -> str:
    """Return a number with this many significant digits, or a limit that a tiny or huge one exceeds."""
    if not value:
        return "0"
    if abs(value) < 1e-4:
        return "> −0.0001" if value < 0 else "< 0.0001"
    if abs(value) > 1e6:
        return "< −1,000,000" if value < 0 else "> 1,000,000"
    rounded_size = float(f"{abs(value):.{digits}g}")
    decimals = max(0, digits - 1 - math.floor(math.log10(rounded_size)))
    return f"{math.copysign(rounded_size, value):,.{decimals}f}".replace("-", "−")


_TEXT = {
    "\\": "backslash",
    "^": "asciicircum",
    "~": "asciitilde",
    "<": "less",
    ">": "greater",
    "|": "bar",
    "–": "endash",
}
_SYMBOLS = {
    "ν": "nu",
    "ρ": "rho",
    "ϱ": "varrho",
    "σ": "sigma",
    "ω": "omega",
    "≥": "ge",
    "≤": "le",
    "≠": "ne",
    "↓": "downarrow",
    "↑": "uparrow",
}
_LATEX = str.maketrans(
    {char: f"\\{char}" for char in "{}$&#_%"}
    # A bracket or star after the end of a row would be read as an argument of \\.
    | {char: f"{{{char}}}" for char in '[]*"'}
    | {char: rf"\text{name}{{}}" for char, name in _TEXT.items()}
    | {char: rf"$\{name}$" for char, name in _SYMBOLS.items()}
    | {"−": "$-$", "\n": " "}
)


def escape(text: str, output_format: OutputFormat) -> str:
    """Return any text, as a user may have written it, in a form that the format shows literally."""
    if output_format == "latex":
        return text.translate(_LATEX).replace("--", "-{}-")
    if output_format == "html":
        return _escape_html(text)
    if output_format == "markdown":
        return re.sub(r"([\\`*_{}\[\]<>#|~!$&])", r"\\\1", text.replace("\n", " "))
    return text


def bold(text: str, output_format: OutputFormat) -> str:
    """Return a text that is escaped already in bold."""
    form = {"latex": r"\textbf{%s}", "markdown": "**%s**", "html": "<strong>%s</strong>", "plain": "%s"}
    return form[output_format] % text


# Terms, ν_max, labels of terms, orders of models, and symbols.
_MATH = re.compile(r"([yu]\(k-\d+\)(?:\^\d+|\*[yu]\(k-\d+\))*|ν_max|\bT\d+\b|\b[nN]_[uylt]\b|\b[rJ]\b)")


def format_math(text: str, output_format: OutputFormat) -> str:
    """Return a text of this project with terms, labels and symbols set as mathematics and the rest escaped."""
    parts = _MATH.split(text)
    # The split puts mathematics at every second place.
    parts[::2] = [escape(part, output_format) for part in parts[::2]]
    parts[1::2] = [_math(part, output_format) for part in parts[1::2]]
    shown = "".join(parts)
    # A label stays on the line of its term.
    if output_format == "latex":
        return re.sub(r"(\$T_\{\d+\}\$) ", r"\1~", shown)
    if output_format == "html":
        return shown.replace("</sub> <code>", "</sub>&nbsp;<code>")
    return shown


def format_equation(text: str, output_format: OutputFormat) -> str:
    """Return the equation of a system, in which no term is broken over two lines."""
    if output_format == "latex":
        return "$" + re.sub(r"\S{2,}", lambda word: f"{{{_latex_term(word[0])}}}", text) + "$"
    if output_format == "html":
        html = re.sub(r"\^(\d+)", r"<sup>\1</sup>", escape(text, "html")).replace("*", "\u2009").replace("-", "\u2212")
        return re.sub(r"[^ ]{2,}", r'<span class="term">\g<0></span>', html)
    return f"`{text}`" if output_format == "markdown" else text


def format_symbol(text: str, output_format: OutputFormat) -> str:
    """Return the symbol of a quantity, with its index after ``_``, as mathematics: ``c_1``, ``ps`` or ``ω``."""
    base, _, index = text.partition("_")
    if not text or output_format == "plain":
        return text
    if output_format == "latex":
        return rf"$\mathit{{{base}}}_{{{index}}}$".replace("_{}", "").replace(r"\mathit{ω}", r"\omega")
    italic_base = f"*{base}*" if output_format == "markdown" else f"<i>{base}</i>"
    return f"{italic_base}<sub>{index}</sub>".replace("<sub></sub>", "")


def _math(text: str, output_format: OutputFormat) -> str:
    """Return a term, a symbol of one letter, or a symbol with an index as mathematics."""
    if output_format == "plain":
        return text
    if "(" in text:
        forms = {"latex": f"${{{_latex_term(text)}}}$", "markdown": f"`{text}`", "html": f"<code>{text}</code>"}
        return forms[output_format]
    if len(text) == 1:
        return {"latex": f"${text}$", "markdown": f"*{text}*", "html": f"<i>{text}</i>"}[output_format]
    # "ν_max" and "N_t" have the index behind a line, labels such as "T3" have not.
    base, index = text[0], text[1:].removeprefix("_")
    if output_format == "latex":
        return r"$\nu_{\max}$" if text == "ν_max" else f"${base}_{{{index}}}$"
    if output_format == "markdown" and base == "T":
        return text
    return f"{base}<sub>{index}</sub>"


def _latex_term(term: str) -> str:
    return re.sub(r"\^(\d+)", r"^{\1}", term).replace("*", r"\,")
