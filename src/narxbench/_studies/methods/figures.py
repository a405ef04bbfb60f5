"""The figures of a comparison of methods, as SVG that fits the width of its page or screen.

Horizontal places are per cent of the width; vertical places and the size of text are pixels. So text is as large on a
phone as on a desk. Labels stand next to the points that they name.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple

import pandas as pd
from markupsafe import Markup, escape

from narxbench._report.formats import count, cut, method_name, percent, tenths
from narxbench._report.table import Table
from narxbench._studies.methods.colours import colour_of
from narxbench._studies.methods.score_file import TRUTH
from narxbench._studies.methods.tables import breaks_table
from narxbench._studies.methods.views import Comparison, View, values_of
from narxbench._studies.methods.wants import LOWEST_J, Row

SIZES = {"recovery_cost": 480, "ecdf": 480}
FILE_WIDTH = 960
_CHARACTER, _LINE = 6.6, 14  # pixels of a label
_TOP, _DEPTH = 30, 400  # pixels above the plot, and of the plot
_CURVES = 70  # per cent of the width; the rest is for labels
_GREY, _FAINT, _LIGHT = "#8a8f96", "#565b62", "#d4d8dd"
# Widths of screens at which a label must not overlap anything: on any screen, or on wide ones only.
_ANY: tuple[float, ...] = (340, 420, 520, 640, 800, 920, 1080, 1240)
_WIDE = _ANY[-3:]
_LONGEST = 26  # characters of a label
_FARTHEST = 46  # pixels from a point to its label
# The best curves are wide.
_WIDE_CURVES = 4
# Sizes of the heat map in pixels: names of methods, heads of columns, and rows.
_NAMES, _HEADS, _ROW = 190, 130, 19
_SLANT = 70  # pixels that a slanted head may reach beyond the last column
_SHADE = "#58a6d8"


class _Area(NamedTuple):
    """A rectangle on a screen, in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, area: "_Area") -> bool:
        """Return whether the inner parts of two rectangles meet."""
        meets_across = self.left < area.right and area.left < self.right
        return meets_across and self.top < area.bottom and area.top < self.bottom


class _Offset(NamedTuple):
    """Where a label stands from its point, in pixels, and which of its ends is there."""

    dx: int
    dy: int
    anchor: str


class _Label(NamedTuple):
    """The text of a point, whose place is per cent of the width and pixels from the top."""

    x: float
    y: float
    text: str

    def baseline(self, offset: _Offset) -> float:
        """Return the baseline of the text; beside the point it is in the middle of its height."""
        height_above_baseline = 4 if abs(offset.dy) < 3 else 0
        return self.y + offset.dy + height_above_baseline

    def area(self, width: float, offset: _Offset) -> _Area:
        """Return the area of the text on a screen of some width."""
        text_width = _CHARACTER * len(self.text)
        to_left = {"start": 0.0, "middle": text_width / 2, "end": text_width}
        left = self.x * width / 100 + offset.dx - to_left[offset.anchor]
        baseline = self.baseline(offset)
        return _Area(left, baseline - 10, left + text_width, baseline + 3)


def _offsets() -> Iterator[_Offset]:
    """Yield the places that are tried for a label, the closest to its point first; none is far from it."""
    yield _Offset(8, 0, "start")
    yield _Offset(-8, 0, "end")
    yield _Offset(0, -9, "middle")
    yield _Offset(0, 18, "middle")
    for distance in range(10, _FARTHEST, 4):
        for dy in (-distance, distance):
            yield _Offset(10, dy, "start")
            yield _Offset(-10, dy, "end")
    for distance in range(14, _FARTHEST, 6):
        for dx in (distance, -distance):
            anchor = "start" if dx > 0 else "end"
            yield _Offset(dx, -distance, anchor)
            yield _Offset(dx, distance, anchor)


def leaderboard_figures(comparison: Comparison) -> dict[str, bytes]:
    """Return ``situations``, ``recovery_cost`` and ``ecdf`` of the first part of the data sets as SVG files by name."""
    views = comparison.within(comparison.parts[0])
    heat = breaks_table("breaks", views)
    files = {"situations.svg": file(heat_map(heat), _HEADS + _ROW * len(heat.data) + 8)}
    for name, drawing in drawings(views[0]).items():
        files[f"{name}.svg"] = file(drawing, SIZES[name])
    return files


def heat_map(table: Table) -> Markup:
    """Return the exact recovery of each method in each group of data, as shaded cells with numbers in per cent."""
    groups = table.columns[1:]
    width = (FILE_WIDTH - _NAMES - _SLANT) / max(1, len(groups))
    size = min(12.0, width / 2.6)
    parts = []
    for place, column in enumerate(groups):
        x = _NAMES + width * (place + 0.5) + 4
        head = Markup('<text transform="translate({:.1f} {}) rotate(-60)">{}</text>')
        parts.append(head.format(x, _HEADS - 6, cut(column.heading, 20)))
    for row, values in enumerate(table.data.itertuples(index=False, name=None)):
        y = _HEADS + _ROW * row
        name = cut(method_name(values[0]), _LONGEST)
        parts.append(_text(str(_NAMES - 6), y + 13, name, "end"))
        for place, value in enumerate(values[1:]):
            if not pd.isna(value):
                parts += _cell(_NAMES + width * place, y, width, value, size)
    return Markup("").join(parts)


def _cell(x: float, y: float, width: float, share: float, size: float) -> Iterator[Markup]:
    """Yield a cell of the heat map, the stronger the shade the larger the share, and its number."""
    cell = Markup('<rect x="{:.1f}" y="{}" width="{:.1f}" height="{}" fill="{}" fill-opacity="{:.2f}"/>')
    yield cell.format(x + 0.5, y, width - 1, _ROW - 1, _SHADE, 0.9 * share)
    number = Markup('<text x="{:.1f}" y="{}" text-anchor="middle" font-size="{:.1f}">{}</text>')
    yield number.format(x + width / 2, y + 13, size, whole_percent(share))


def whole_percent(share: float) -> str:
    """Return a share in whole per cent without the sign; only exactly none and all are 0 and 100."""
    number = round(100 * share)
    if 0 < share < 1:
        number = min(99, max(1, number))
    return str(number)


def drawings(view: View) -> dict[str, Markup]:
    """Return the content of the figures ``recovery_cost`` and ``ecdf`` of a view."""
    return {"recovery_cost": recovery_cost(view.rows()), "ecdf": ecdf(view.frame("ecdf"), view.rows(LOWEST_J))}


def file(drawing: Markup, height: int) -> bytes:
    """Return a drawing as a file, on white."""
    looks = 'font-family="Helvetica Neue, Arial, Liberation Sans, sans-serif" font-size="12"'
    size = f'width="{FILE_WIDTH}" height="{height}" viewBox="0 0 {FILE_WIDTH} {height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {looks}>'
    return f'{head}<rect width="100%" height="100%" fill="#fff"/>{drawing}</svg>\n'.encode()


def recovery_cost(rows: Sequence[Row]) -> Markup:
    """Return exact recovery against CPU seconds: a point with its interval for each method, references as lines."""
    rows = [row for row in rows if row["exact"] is not None]
    references = [row for row in rows if row["reference"]]
    methods = [row for row in rows if row["seconds"] and not row["last"]]
    low, high = _decades(values_of(methods, "seconds"))

    def across(seconds: float) -> float:
        return 4 + 92 * (math.log10(seconds) - low) / (high - low)

    parts = [*_levels("exact recovery")]
    for power in range(low, high + 1):
        parts += _tick(across(10.0**power), f"{10.0**power:g}" if power < 3 else count(10**power))
    parts.append(_text("50%", _TOP + _DEPTH + 40, "CPU seconds of a run", "middle"))
    for row in references:
        parts += _reference_line(row)
    labels, circles = [], []
    circle = Markup('<circle cx="{:.1f}%" cy="{:.0f}" r="4.5" fill="{}"><title>{}: {}, {:.2g} s</title></circle>')
    for row in methods:
        x, y = across(row["seconds"]), _down(row["exact"])
        labels.append(_Label(x, y, _short(row)))
        if _has_interval(row):
            place = f"{x:.1f}%"
            parts.append(_line(place, _down(row["exact_low"]), place, _down(row["exact_high"]), _LIGHT))
        colour = colour_of(row["method"])
        circles.append(circle.format(x, y, colour, method_name(row["method"]), tenths(row["exact"]), row["seconds"]))
    parts += _labels(labels, list(map(_down, values_of(references, "exact"))))
    return Markup("").join(parts + circles)


def _reference_line(row: Row) -> list[Markup]:
    """Return the exact recovery of a reference as a line with its name."""
    y = _down(row["exact"])
    words = "system terms" if row["method"] == TRUTH else "all candidate terms"
    return [_line("0%", y, "100%", y, _GREY, dash="6 4"), _text("100%", y - 5, words, "end", _FAINT)]


def _decades(seconds: Sequence[float]) -> tuple[int, int]:
    """Return the powers of ten, at least two, between which all values lie; 0 and 1 without a value."""
    if not seconds:
        return 0, 1
    low = math.floor(math.log10(min(seconds)))
    return low, max(math.ceil(math.log10(max(seconds))), low + 1)


def ecdf(curves: pd.DataFrame, rows: Sequence[Row]) -> Markup:
    """Return the share of targets that each search has reached within some evaluations; the best curves are wide."""
    curve_by_method = {str(name): curve for name, curve in curves.groupby("method")}
    searches = [row for row in rows if row["method"] in curve_by_method and not row["last"]]
    most_evaluations = 10
    if len(curves):
        most_evaluations = max(most_evaluations, curves["evaluations"].max())

    def across(evaluations: float) -> float:
        return 1000 * math.log10(evaluations) / math.log10(most_evaluations)

    parts = [*_levels("targets reached", _CURVES)]
    for power in range(math.floor(math.log10(most_evaluations)) + 1):
        parts += _tick(_CURVES * across(10.0**power) / 1000, count(10**power))
    parts.append(_text(f"{_CURVES / 2}%", _TOP + _DEPTH + 40, "evaluations of J", "middle"))
    paths: list[Markup] = []
    ends = []
    for place, row in enumerate(searches):
        curve = curve_by_method[row["method"]]
        total = curve["total"].iloc[0]
        line, height = "M0 1000", 0
        for evaluations, reached in zip(curve["evaluations"], curve["reached"], strict=True):
            if reached > height:
                line, height = f"{line}H{across(evaluations):.0f}V{1000 - 1000 * reached / total:.0f}", reached
        colour, width = colour_of(row["method"]), "2.5" if place < _WIDE_CURVES else "1.2"
        looks = f'fill="none" stroke="{colour}" stroke-width="{width}"'
        path = f'<path d="{line}H1000" {looks} vector-effect="non-scaling-stroke"/>'
        paths.append(Markup(path))  # nosec B704 # numbers and listed colours
        ends.append((_down(height / total), colour, _short(row)))
    box = f'<svg width="{_CURVES}%" y="{_TOP}" height="{_DEPTH}" viewBox="0 0 1000 1000" preserveAspectRatio="none">'
    # The best search is drawn last, above the others.
    parts.append(Markup("{}{}</svg>").format(Markup(box), Markup("").join(reversed(paths))))  # nosec B704 # constants
    return Markup("").join([*parts, *_labels_at_ends(ends[: _DEPTH // _LINE])])


def _labels_at_ends(ends: Sequence[tuple[float, str, str]]) -> Iterator[Markup]:
    """Yield the labels of curves, each with a line from the end of its curve; an end is height, colour and name."""
    ends = sorted(ends, key=itemgetter(0))
    # Labels keep their distance: moved down where they crowd, and up again at the bottom.
    places = list(accumulate(map(itemgetter(0), ends), lambda above, y: max(y, above + _LINE)))
    for n_below, (y, colour, name) in enumerate(reversed(ends)):
        middle = min(places[-1 - n_below], _TOP + _DEPTH - _LINE * n_below)
        yield _line(f"{_CURVES}%", y, f"{_CURVES + 2}%", middle, colour)
        yield _text(f"{_CURVES + 2.5}%", middle + 4, name)


def _has_interval(row: Row) -> bool:
    return row["exact_low"] is not None and row["exact_high"] is not None


def _labels(labels: Sequence[_Label], lines: Sequence[float]) -> Iterator[Markup]:
    """Yield labels next to their points such that nothing overlaps.

    A label that has no place on a narrow screen is left out there. ``lines`` are the heights of the references, whose
    texts stand at the right.
    """
    occupied: dict[float, list[_Area]] = {}
    for width in _ANY:
        circles = [_Area(x * width / 100 - 5, y - 5, x * width / 100 + 5, y + 5) for x, y, _ in labels]
        occupied[width] = circles + [_Area(width - 130, y - 16, width, y) for y in lines]
    for label in labels:
        place = _free_place(label, occupied)
        if place is None:
            continue
        widths, offset = place
        for width in widths:
            occupied[width].append(label.area(width, offset))
        x = f"{label.x:.1f}%"
        if abs(offset.dy) >= 10 and offset.anchor != "middle":
            yield _leader(x, label.y, offset)
        roomy = Markup(' class="roomy"') if widths is _WIDE else ""
        text = Markup('<text x="{}" dx="{}" y="{:.0f}" text-anchor="{}"{}>{}</text>')
        yield text.format(x, offset.dx, label.baseline(offset), offset.anchor, roomy, label.text)


def _leader(x: str, y: float, offset: _Offset) -> Markup:
    """Return a thin line from a point to its label; its own drawing begins at the point and is measured in pixels."""
    end_x = offset.dx - 2 if offset.dx > 0 else offset.dx + 2
    end_y = offset.dy - 3
    line = f'<line x1="0" y1="0" x2="{end_x}" y2="{end_y}" stroke="{_GREY}" stroke-width="0.7"/>'
    leader = f'<svg x="{x}" y="{y:.0f}" width="1" height="1" overflow="visible">{line}</svg>'
    return Markup(leader)  # nosec B704 # numbers


def _free_place(label: _Label, occupied: Mapping[float, Sequence[_Area]]) -> tuple[tuple[float, ...], _Offset] | None:
    """Return the first place of a label that is free on all screens, or on wide ones, with these widths."""
    for widths in (_ANY, _WIDE):
        for offset in _offsets():
            if all(_is_free(label.area(width, offset), width, occupied[width]) for width in widths):
                return widths, offset
    return None


def _is_free(area: _Area, width: float, occupied: Sequence[_Area]) -> bool:
    """Return whether an area is inside the plot and overlaps no other."""
    is_inside = area.left >= 30 and area.right <= width and area.top >= 12 and area.bottom <= _TOP + _DEPTH + 6
    return is_inside and not any(map(area.overlaps, occupied))


def _levels(words: str, width: float = 100) -> Iterator[Markup]:
    """Yield the horizontal lines of a plot of shares with their labels, and what the shares are of."""
    for level in (0, 0.25, 0.5, 0.75, 1):
        yield _line("0%", _down(level), f"{width}%", _down(level), _LIGHT)
        yield _text("0%", _down(level) - 3, percent(level), colour=_FAINT)
    yield _text("0%", 10, words)


def _tick(x: float, words: str) -> list[Markup]:
    place, bottom = f"{x:.1f}%", _TOP + _DEPTH
    anchor = "middle" if x > 1 else "start"
    return [_line(place, bottom, place, bottom + 5, _GREY), _text(place, bottom + 20, words, anchor, _FAINT)]


def _down(share: float) -> float:
    """Return the vertical place of a share, in pixels."""
    return _TOP + _DEPTH * (1 - share)


def _line(x1: str, y1: float, x2: str, y2: float, colour: str, *, width: float = 1, dash: str = "") -> Markup:
    looks = f'stroke="{colour}" stroke-width="{width}"'
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


def _short(row: Row) -> str:
    return cut(method_name(row["method"]), _LONGEST)
