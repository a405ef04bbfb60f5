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

from narxbench._report.formats import count, cut, method_name, percent
from narxbench._studies.methods.ranking import ALL
from narxbench._studies.methods.score_file import TRUTH
from narxbench._studies.methods.views import LOWEST_J, Comparison, Row, View, values_of

SIZES = {"recovery_cost": 400, "ecdf": 400}
FILE_WIDTH = 960
_CHARACTER, _LINE = 6.6, 14  # pixels of a label
_TOP, _DEPTH = 30, 320  # pixels above the plot, and of the plot
_CURVES = 70  # per cent of the width; the rest is for labels
_BLUE, _GREY, _FAINT, _LIGHT = "#0b5394", "#8a8f96", "#565b62", "#d4d8dd"
# Widths of screens at which a label must not overlap anything: on any screen, or on wide ones only.
_ANY: tuple[float, ...] = (340, 420, 520, 640, 800, 920, 1080, 1240)
_WIDE = _ANY[-3:]
_LONGEST = 18  # characters of a label
# The first four of Okabe and Ito's palette, which readers with any form of colour blindness can distinguish.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")


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
    """Yield the places that are tried for a label, the closest to its point first."""
    yield _Offset(8, 0, "start")
    yield _Offset(-8, 0, "end")
    yield _Offset(0, -9, "middle")
    yield _Offset(0, 18, "middle")
    for distance in range(28, 200, 14):
        for dy in (-distance, distance):
            yield _Offset(4, dy, "start")
            yield _Offset(-4, dy, "end")


def leaderboard_figures(comparison: Comparison) -> dict[str, bytes]:
    """Return ``recovery_cost``, ``ecdf`` and ``situations`` of the first part of the data sets as SVG files by name."""
    views = comparison.within(comparison.parts[0])
    files = {}
    for name, drawing in drawings(views[0]).items():
        files[f"{name}.svg"] = file(drawing, SIZES[name])
    tiles = panels(views)
    n_across = 3
    row_height = tiles[0][1] + 12
    template = Markup('<svg x="{}" y="{}" width="{}" height="{}">{}</svg>')
    parts = []
    for place, (drawing, height) in enumerate(tiles):
        row, column = divmod(place, n_across)
        left = column * FILE_WIDTH // n_across + 8
        parts.append(template.format(left, row * row_height, FILE_WIDTH // n_across - 16, height, drawing))
    files["situations.svg"] = file(Markup("").join(parts), math.ceil(len(tiles) / n_across) * row_height)
    return files


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
    methods = [row for row in rows if row["seconds"] and not row["reference"]]
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
        colour = _GREY if row["last"] else _BLUE
        circles.append(circle.format(x, y, colour, method_name(row["method"]), percent(row["exact"]), row["seconds"]))
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
    """Return the share of targets that each search has reached within some evaluations: four of them in colour."""
    curve_by_method = {str(name): curve for name, curve in curves.groupby("method")}
    searches = [row for row in rows if row["method"] in curve_by_method]
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
        colour, width = _GREY, "1"
        if place < len(_COLOURS):
            colour, width = _COLOURS[place], "2.5"
        looks = f'fill="none" stroke="{colour}" stroke-width="{width}"'
        paths.append(Markup(f'<path d="{line}H1000" {looks} vector-effect="non-scaling-stroke"/>'))
        ends.append((_down(height / total), colour, _short(row)))
    box = f'<svg width="{_CURVES}%" y="{_TOP}" height="{_DEPTH}" viewBox="0 0 1000 1000" preserveAspectRatio="none">'
    # The best search is drawn last, above the others.
    parts.append(Markup("{}{}</svg>").format(Markup(box), Markup("").join(reversed(paths))))
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


def panels(views: Sequence[View]) -> list[tuple[Markup, int]]:
    """Return a drawing and its height in pixels for each view: recovery of the best methods and of the best search.

    They are the best ones in the first of the views.
    """
    best = (*views[0].ranked()[:4], *views[0].ranked(LOWEST_J)[:1])
    methods = list(dict.fromkeys(values_of(best, "method")))
    height = 40 + 22 * len(methods)
    tiles = []
    for view in views:
        rows = [row for row in view.rows() if row["method"] in methods]
        rows.sort(key=lambda row: methods.index(row["method"]))
        tiles.append((_panel(view.group, rows), height))
    return tiles


def _panel(group: str, rows: Sequence[Row]) -> Markup:
    """Return the recovery of some methods on a group of the data sets, each with its interval."""
    bottom = 24 + 22 * len(rows)
    parts = [Markup('<text x="0" y="14" font-weight="bold">{}</text>').format("all data" if group == ALL else group)]
    for level in (0, 0.5, 1):
        x = f"{44 + 50 * level}%"
        parts += [_line(x, 22, x, bottom, _LIGHT), _text(x, bottom + 13, percent(level), "middle", _FAINT)]
    for place, row in enumerate(rows):
        y = 34 + 22 * place
        parts.append(_text("0", y + 4, _short(row)))
        if row["exact"] is None:
            continue
        if _has_interval(row):
            low, high = f"{44 + 50 * row['exact_low']:.1f}%", f"{44 + 50 * row['exact_high']:.1f}%"
            parts.append(_line(low, y, high, y, _GREY, width=2))
        colour = _COLOURS[1] if row["searches"] else _BLUE
        circle = Markup('<circle cx="{:.1f}%" cy="{}" r="4.5" fill="{}"><title>{}</title></circle>')
        parts.append(circle.format(44 + 50 * row["exact"], y, colour, percent(row["exact"])))
    return Markup("").join(parts)


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
        x, dy = f"{label.x:.1f}%", offset.dy
        if abs(dy) > _LINE:
            above_text = 4 if dy > 0 else 0
            yield _line(x, label.y, x, label.y + dy - above_text, _GREY, width=0.5)
        roomy = Markup(' class="roomy"') if widths is _WIDE else ""
        text = Markup('<text x="{}" dx="{}" y="{:.0f}" text-anchor="{}"{}>{}</text>')
        yield text.format(x, offset.dx, label.baseline(offset), offset.anchor, roomy, label.text)


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
    return Markup(f'<line x1="{x1}" y1="{y1:.0f}" x2="{x2}" y2="{y2:.0f}" {looks}/>')


def _text(x: str, y: float, words: str, anchor: str = "start", colour: str = "") -> Markup:
    looks = ""
    if anchor != "start":
        looks += f' text-anchor="{anchor}"'
    if colour:
        looks += f' fill="{colour}"'
    return Markup(f'<text x="{x}" y="{y:.0f}"{looks}>{escape(words)}</text>')


def _short(row: Row) -> str:
    return cut(method_name(row["method"]), _LONGEST)
