"""The figures of a comparison of methods, as SVG that fits the width of its page or screen.

Horizontal places are per cent of the width. Vertical places and the size of text are pixels. So text is as large on a
phone as on a desk.
"""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate

import pandas as pd
from markupsafe import Markup, escape

from narxbench._report.formats import MISSING, cut, significant
from narxbench._studies.methods.metrics import EXACT, FRESH, SIZE, ComparisonMetric, mean_transformed
from narxbench._studies.methods.score_file import TIME, TRUTH
from narxbench._studies.methods.tables import name_of, situations
from narxbench._studies.methods.views import Comparison, Row, View

FILE_WIDTH = 960  # pixels
_LINE = 17  # pixels from one line of text of 12 pixels to the next
_CHARACTER = 7  # pixels that a character of such text takes at most
HEIGHT = FILE_WIDTH // 2
# A line of text and a gap are above the plot of error against terms, two lines and a gap below.
_TOP, _DEPTH = 2 * _LINE, HEIGHT - 5 * _LINE
_PLOT = 74  # per cent of the width, the rest is for labels
_GREY, _FAINT, _LIGHT, _POINT, _TRUTH = "#8a8f96", "#565b62", "#d4d8dd", "#0072b2", "#d55e00"
_LONGEST = 26  # characters of a label
# Ticks of both axes: 1, 2 and 5 times the powers of ten.
_STEPS = (1, 2, 5)
_SHADE = "#58a6d8"


def heat_cell(view: View, method: str) -> tuple[str, float]:
    """Return the exact recovery of a method in a group of data: in whole per cent without the sign, and as a share."""
    row = view.row(method)
    if row is None or row["last"] == 1 or row[EXACT.name] is None:
        return MISSING, 0.0
    if row["not_run"] == row["data_sets"]:
        return TIME, 0.0
    return _whole_percent(row[EXACT.name]), row[EXACT.name]


def _whole_percent(share: float) -> str:
    """Return a share in whole per cent without the sign. Only exactly none and all are 0 and 100."""
    number = round(100 * share)
    if 0 < share < 1:
        number = min(99, max(1, number))
    return str(number)


def leaderboard_figures(comparison: Comparison) -> dict[str, bytes]:
    """Return ``situations`` and ``terms_error`` as SVG files by name."""
    methods = comparison.whole.rows()
    return {
        "situations.svg": _file(*heat_map(methods, situations(comparison))),
        "terms_error.svg": _file(terms_error(comparison), HEIGHT),
    }


def _file(drawing: Markup, height: int) -> bytes:
    """Return a drawing as a file, on white."""
    looks = 'font-family="Helvetica Neue, Arial, Liberation Sans, sans-serif" font-size="12"'
    size = f'width="{FILE_WIDTH}" height="{height}" viewBox="0 0 {FILE_WIDTH} {height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {looks}>'
    return f'{head}<rect width="100%" height="100%" fill="#fff"/>{drawing}</svg>\n'.encode()


def heat_map(methods: Sequence[Row], views: Sequence[View]) -> tuple[Markup, int]:
    """Return the exact recovery of each method in each group of data, as shaded cells with per cents, and its height.

    The heads of the columns are turned by 60 degrees, so that the last one reaches beyond its column.
    """
    heads, names = [cut(view.title, _LONGEST) for view in views], [cut(name_of(row), _LONGEST) for row in methods]
    length, left = (_CHARACTER * (1 + max(map(len, texts), default=0)) for texts in (heads, names))
    width = (FILE_WIDTH - left - length / 2) / max(1, len(views))
    size = min(12.0, width / 2.6)
    parts = []
    for place, head in enumerate(heads):
        x = left + width * (place + 0.5) + 4
        slanted = Markup('<text transform="translate({:.1f} {}) rotate(-60)">{}</text>')
        parts.append(slanted.format(x, length - 6, head))
    for number, (row, name) in enumerate(zip(methods, names, strict=True)):
        y = length + _LINE * number
        parts.append(_text(str(left - 6), y + 13, name, "end"))
        for place, view in enumerate(views):
            parts += _cell(left + width * place, y, width, *heat_cell(view, row["method"]), size)
    return Markup("").join(parts), length + _LINE * (len(methods) + 1)


def _cell(x: float, y: float, width: float, words: str, share: float, size: float) -> Iterator[Markup]:
    """Yield a cell of the heat map, the stronger the shade the larger the share, and its number."""
    shape = Markup('<rect x="{:.1f}" y="{}" width="{:.1f}" height="{}" fill="{}" fill-opacity="{:.2f}"/>')
    yield shape.format(x + 0.5, y, width - 1, _LINE - 1, _SHADE, 0.9 * share)
    number = Markup('<text x="{:.1f}" y="{}" text-anchor="middle" font-size="{:.1f}">{}</text>')
    yield number.format(x + width / 2, y + 13, size, words)


def _points(comparison: Comparison) -> list[tuple[str, float, float, bool]]:
    """Return name, number of terms and error of each method, and whether it is the truth.

    Number and error are of the systems whose terms are candidates.
    """
    systems = comparison.whole.frame("systems").dropna(subset=EXACT.name)
    methods = []
    for row in comparison.whole.rows():
        of_method = systems[systems["method"] == row["method"]]
        values = []
        for metric in (SIZE, FRESH):
            by_system = of_method.groupby("system")[metric.name].agg(partial(_mean_of_system, metric)).dropna()
            values.append(metric.inverse(math.fsum(by_system) / len(by_system)) if len(by_system) else math.nan)
        if row["last"] != 1 and all(map(math.isfinite, values)):
            methods.append((name_of(row), values[0], values[1], row["method"] == TRUTH))
    return methods


def _mean_of_system(metric: ComparisonMetric, values: pd.Series) -> float:
    return mean_transformed(metric, list(values))


def terms_error(comparison: Comparison) -> Markup:
    """Return the error on fresh data against the number of terms: a point for each method, the truth marked."""
    shown = sorted(_points(comparison), key=lambda point: -point[2])
    if not shown:
        return _text("0%", _TOP, "The true terms are not among the candidate terms.")
    left, right = _limits([1.0, *(size for _, size, _, _ in shown)])
    low, high = _limits([error for _, _, error, _ in shown])

    def across(size: float) -> float:
        return 4 + (_PLOT - 6) * math.log(size / left) / math.log(right / left)

    def down(error: float) -> float:
        return _TOP + _DEPTH * (1 - math.log(error / low) / math.log(high / low))

    parts = [_text("0%", 12, "error on fresh data, share of the spread")]
    for error in _ticks(low, high):
        parts.append(_line("0%", down(error), f"{_PLOT}%", down(error), _LIGHT))
        parts.append(_text("0%", down(error) - 3, significant(error, 1), colour=_FAINT))
    for size in _ticks(left, right):
        parts.append(_text(f"{across(size):.1f}%", _TOP + _DEPTH + 20, f"{size:g}", "middle", _FAINT))
    parts.append(_text(f"{_PLOT / 2}%", _TOP + _DEPTH + 40, "chosen terms for each true term", "middle"))
    true_place = f"{across(1.0):.1f}%"
    parts.append(_line(true_place, _TOP, true_place, _TOP + _DEPTH, _TRUTH, dash="6 4"))
    places = _label_places([down(error) for _, _, error, _ in shown])
    for (name, size, error, is_truth), place in zip(shown, places, strict=True):
        x, y = f"{across(size):.1f}%", down(error)
        colour = _TRUTH if is_truth else _POINT
        parts.append(_line(x, y, f"{_PLOT + 1}%", place, _LIGHT))
        circle = Markup('<circle cx="{}" cy="{:.0f}" r="{}" fill="{}"/>')
        parts.append(circle.format(x, y, 7 if is_truth else 4.5, colour))
        parts.append(_text(f"{_PLOT + 1.5}%", place + 4, cut(name, _LONGEST)))
    return Markup("").join(parts)


def _limits(values: Sequence[float]) -> tuple[float, float]:
    """Return limits beyond all values, at ticks, with at least a factor of two between them."""
    low, high = min(values) / 1.05, max(values) * 1.05
    ticks = list(_ticks(low / 10, high * 10))
    below = max(tick for tick in ticks if tick <= low)
    above = min(tick for tick in ticks if tick >= high)
    return below, above


def _ticks(low: float, high: float) -> Iterator[float]:
    """Yield the ticks between two limits."""
    for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        for step in _STEPS:
            tick = step * 10.0**power
            if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9):
                yield tick


def _label_places(heights: Sequence[float]) -> list[float]:
    """Return the heights of labels next to their points: moved down where they crowd, and up again at the bottom."""
    places = list(accumulate(heights, lambda above, height: max(height, above + _LINE)))
    lowest = _TOP + _DEPTH
    for number in reversed(range(len(places))):
        places[number] = min(places[number], lowest)
        lowest = places[number] - _LINE
    return places


def _line(x1: str, y1: float, x2: str, y2: float, colour: str, *, dash: str = "") -> Markup:
    looks = f'stroke="{colour}"'
    if dash:
        looks += f' stroke-dasharray="{dash}"'
    line = f'<line x1="{x1}" y1="{y1:.0f}" x2="{x2}" y2="{y2:.0f}" {looks}/>'
    return Markup(line)  # nosec B704 # numbers and listed colours


def _text(x: str, y: float, words: str, anchor: str = "start", colour: str = "") -> Markup:
    looks = ""
    if anchor != "start":
        looks += f' text-anchor="{anchor}"'
    if colour:
        looks += f' fill="{colour}"'
    return Markup(f'<text x="{x}" y="{y:.0f}"{looks}>{escape(words)}</text>')  # nosec B704 # the words are escaped
