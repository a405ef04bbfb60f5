"""The figures of a comparison of methods, as SVG that fits the width of the page or screen it stands on.

Across, places are per cent of the width; down, and in the size of text, they are pixels. So text stays as large on a
phone as on a desk. Labels stand next to what they name.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate

import pandas as pd
from markupsafe import Markup, escape

from narxbench.report.formats import count, method_name, percent
from narxbench.studies.methods.ranking import ALL
from narxbench.studies.methods.score_file import TRUTH
from narxbench.studies.methods.views import LOWEST_J, Comparison, Row, View

SIZES = {"recovery_cost": 400, "ecdf": 400}
FILE_WIDTH = 960
_CHARACTER, _LINE = 6.6, 14  # pixels of a label
_TOP, _DEPTH = 30, 320  # pixels above the plot, and of the plot
_CURVES = 70  # per cent of the width; the rest is for labels
_BLUE, _GREY, _FAINT, _LIGHT = "#0b5394", "#8a8f96", "#565b62", "#d4d8dd"
# Widths between which a label must be free: on any screen, or on wide ones.
_ANY: tuple[float, ...] = (340, 420, 520, 640, 800, 920, 1080, 1240)
_WIDE = _ANY[-3:]
_Area = tuple[float, float, float, float]  # left, top, right and bottom in pixels
_LONGEST = 18  # characters of a label
# The first four of Okabe and Ito's palette, which readers with any form of colour blindness can distinguish.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")


def leaderboard_figures(comparison: Comparison) -> dict[str, bytes]:
    """Return ``recovery_cost``, ``ecdf`` and ``situations`` of the first part of the data sets as SVG files by name."""
    views = comparison.within(comparison.parts[0])
    found = {f"{name}.svg": file(drawn, SIZES[name]) for name, drawn in drawings(views[0]).items()}
    shown = panels(views)
    across, height = 3, shown[0][1] + 12
    placed = (
        Markup('<svg x="{}" y="{}" width="{}" height="{}">{}</svg>').format(
            place % across * FILE_WIDTH // across + 8, place // across * height, FILE_WIDTH // across - 16, size, drawn
        )
        for place, (drawn, size) in enumerate(shown)
    )
    return found | {"situations.svg": file(Markup("").join(placed), math.ceil(len(shown) / across) * height)}


def drawings(view: View) -> dict[str, Markup]:
    """Return the content of the figures ``recovery_cost`` and ``ecdf`` of a view."""
    return {"recovery_cost": recovery_cost(view.rows()), "ecdf": ecdf(view.of("ecdf"), view.rows(LOWEST_J))}


def file(drawn: Markup, height: int) -> bytes:
    """Return a drawing as a file, on white."""
    looks = 'font-family="Helvetica Neue, Arial, Liberation Sans, sans-serif" font-size="12"'
    size = f'width="{FILE_WIDTH}" height="{height}" viewBox="0 0 {FILE_WIDTH} {height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {looks}>'
    return f'{head}<rect width="100%" height="100%" fill="#fff"/>{drawn}</svg>\n'.encode()


def recovery_cost(rows: Sequence[Row]) -> Markup:
    """Return exact recovery against CPU seconds, a point with its interval for each method, references as lines."""
    known = [row for row in rows if row["seconds"] and row["exact"] is not None and not row["reference"]]
    decades = [math.log10(row["seconds"]) for row in known] or [0.0]
    low, high = math.floor(min(decades)), max(math.ceil(max(decades)), math.floor(min(decades)) + 1)

    def across(seconds: float) -> float:
        return 4 + 92 * (math.log10(seconds) - low) / (high - low)

    parts = [*_levels("exact recovery")]
    for power in range(low, high + 1):
        parts += _tick(across(10.0**power), f"{10.0**power:g}" if power < 3 else count(10**power))
    parts.append(_text("50%", _TOP + _DEPTH + 40, "CPU seconds of a run", "middle"))
    lines = [row for row in rows if row["reference"] and row["exact"] is not None]
    for row in lines:
        words = "system terms" if row["method"] == TRUTH else "all candidate terms"
        parts.append(_line("0%", _down(row["exact"]), "100%", _down(row["exact"]), _GREY, dash="6 4"))
        parts.append(_text("100%", _down(row["exact"]) - 5, words, "end", _FAINT))
    points = [(across(row["seconds"]), _down(row["exact"])) for row in known]
    for row, (x, _) in zip(known, points, strict=True):
        if None not in (row["exact_low"], row["exact_high"]):
            parts.append(_line(f"{x:.1f}%", _down(row["exact_low"]), f"{x:.1f}%", _down(row["exact_high"]), _LIGHT))
    labels = [(x, y, _short(row)) for row, (x, y) in zip(known, points, strict=True)]
    parts += _labels(labels, [_down(row["exact"]) for row in lines])
    circle = Markup('<circle cx="{:.1f}%" cy="{:.0f}" r="4.5" fill="{}"><title>{}: {}, {:.2g} s</title></circle>')
    for row, (x, y) in zip(known, points, strict=True):
        name = method_name(row["method"])
        parts.append(circle.format(x, y, _GREY if row["last"] else _BLUE, name, percent(row["exact"]), row["seconds"]))
    return Markup("").join(parts)


def ecdf(curves: pd.DataFrame, rows: Sequence[Row]) -> Markup:
    """Return the share of targets that each search has reached within some evaluations: four of them in colour."""
    own = {str(name): of for name, of in curves.groupby("method")}
    shown = [row for row in rows if row["method"] in own]
    most = max(curves["evaluations"].max(), 10) if len(curves) else 10

    def across(evaluations: float) -> float:
        return 1000 * math.log10(evaluations) / math.log10(most)

    parts = [*_levels("targets reached", _CURVES)]
    for power in range(math.floor(math.log10(most)) + 1):
        parts += _tick(_CURVES * across(10.0**power) / 1000, count(10**power))
    parts.append(_text(f"{_CURVES / 2}%", _TOP + _DEPTH + 40, "evaluations of J", "middle"))
    paths: list[Markup] = []
    ends = []
    for place, row in enumerate(shown):
        of, line = own[row["method"]], "M0 1000"
        total, last = of["total"].iloc[0], 0
        for evaluations, reached in zip(of["evaluations"], of["reached"], strict=True):
            if reached > last:
                line, last = f"{line}H{across(evaluations):.0f}V{1000 - 1000 * reached / total:.0f}", reached
        colour = _COLOURS[place] if place < 4 else _GREY
        looks = f'fill="none" stroke="{colour}" stroke-width="{2.5 if place < 4 else 1}"'
        paths.insert(0, Markup(f'<path d="{line}H1000" {looks} vector-effect="non-scaling-stroke"/>'))
        ends.append((_down(last / total), colour, _short(row)))
    box = f'<svg width="{_CURVES}%" y="{_TOP}" height="{_DEPTH}" viewBox="0 0 1000 1000" preserveAspectRatio="none">'
    parts.append(Markup("{}{}</svg>").format(Markup(box), Markup("").join(paths)))
    ends = sorted(ends[: _DEPTH // _LINE], key=lambda end: end[0])
    # Labels keep their distance: moved down where they crowd, and up again at the bottom.
    places = list(accumulate((y for y, *_ in ends), lambda before, y: max(y, before + _LINE)))
    for left, (y, colour, name) in enumerate(reversed(ends)):
        middle = min(places[-1 - left], _TOP + _DEPTH - _LINE * left)
        parts.append(_line(f"{_CURVES}%", y, f"{_CURVES + 2}%", middle, colour))
        parts.append(_text(f"{_CURVES + 2.5}%", middle + 4, name))
    return Markup("").join(parts)


def panels(views: Sequence[View]) -> list[tuple[Markup, int]]:
    """Return drawing and height in pixels for each group: recovery of the best methods, and of the best search.

    They are the best ones in the first of the views.
    """
    best = (*views[0].ranked()[:4], *views[0].ranked(LOWEST_J)[:1])
    names = list(dict.fromkeys(row["method"] for row in best))
    found = ((view.group, {row["method"]: row for row in view.rows()}) for view in views)
    height = 40 + 22 * len(names)
    return [(_panel(group, [rows[name] for name in names if name in rows]), height) for group, rows in found]


def _panel(group: str, rows: Sequence[Row]) -> Markup:
    bottom = 24 + 22 * len(rows)
    parts = [Markup('<text x="0" y="14" font-weight="bold">{}</text>').format("all data" if group == ALL else group)]
    for level in (0, 0.5, 1):
        at = f"{44 + 50 * level}%"
        parts += [_line(at, 22, at, bottom, _LIGHT), _text(at, bottom + 13, percent(level), "middle", _FAINT)]
    for place, row in enumerate(rows):
        y = 34 + 22 * place
        parts.append(_text("0", y + 4, _short(row)))
        if row["exact"] is not None:
            if None not in (row["exact_low"], row["exact_high"]):
                low, high = (f"{44 + 50 * row[key]:.1f}%" for key in ("exact_low", "exact_high"))
                parts.append(_line(low, y, high, y, _GREY, width=2))
            colour = _COLOURS[1] if row["searches"] else _BLUE
            circle = Markup('<circle cx="{:.1f}%" cy="{}" r="4.5" fill="{}"><title>{}</title></circle>')
            parts.append(circle.format(44 + 50 * row["exact"], y, colour, percent(row["exact"])))
    return Markup("").join(parts)


def _labels(points: Sequence[tuple[float, float, str]], lines: Sequence[float]) -> Iterator[Markup]:
    """Yield labels next to points, where nothing overlaps; what has no place on a narrow screen is left out there."""
    taken: dict[float, list[_Area]] = {
        width: [
            *((x * width / 100 - 5, y - 5, x * width / 100 + 5, y + 5) for x, y, _ in points),
            *((width - 130, y - 16, width, y) for y in lines),
        ]
        for width in _ANY
    }

    def free(width: float, box: _Area) -> bool:
        left, top, right, bottom = box
        inside = left >= 30 and right <= width and top >= 12 and bottom <= _TOP + _DEPTH + 6
        return inside and not any(left < c and a < right and top < d and b < bottom for a, b, c, d in taken[width])

    for x, y, text in points:
        choices = ((widths, at) for widths in (_ANY, _WIDE) for at in _PLACES)
        fitting = (each for each in choices if all(free(width, _box(width, x, y, text, each[1])) for width in each[0]))
        widths, (dx, dy, anchor) = next(fitting, ((), (0, 0, "")))
        for width in widths:
            taken[width].append(_box(width, x, y, text, (dx, dy, anchor)))
        if abs(dy) > _LINE:
            yield _line(f"{x:.1f}%", y, f"{x:.1f}%", y + dy - (4 if dy > 0 else 0), _GREY, width=0.5)
        if widths:
            roomy = Markup(' class="roomy"') if widths is _WIDE else ""
            label = Markup('<text x="{:.1f}%" dx="{}" y="{:.0f}" text-anchor="{}"{}>{}</text>')
            yield label.format(x, dx, y + dy + (4 if abs(dy) < 3 else 0), anchor, roomy, text)


_PLACES = [
    *((8, 0, "start"), (-8, 0, "end"), (0, -9, "middle"), (0, 18, "middle")),
    *((dx, dy, at) for far in range(28, 200, 14) for dy in (-far, far) for dx, at in ((4, "start"), (-4, "end"))),
]


def _box(width: float, x: float, y: float, text: str, at: tuple[int, int, str]) -> _Area:
    dx, dy, anchor = at
    long, start = _CHARACTER * len(text), x * width / 100 + dx
    left = start - {"start": 0.0, "middle": long / 2, "end": long}[anchor]
    base = y + dy + (4 if abs(dy) < 3 else 0)
    return left, base - 10, left + long, base + 3


def _levels(words: str, width: float = 100) -> Iterator[Markup]:
    for level in (0, 0.25, 0.5, 0.75, 1):
        yield _line("0%", _down(level), f"{width}%", _down(level), _LIGHT)
        yield _text("0%", _down(level) - 3, percent(level), colour=_FAINT)
    yield _text("0%", 10, words)


def _tick(x: float, words: str) -> list[Markup]:
    at, bottom = f"{x:.1f}%", _TOP + _DEPTH
    return [
        _line(at, bottom, at, bottom + 5, _GREY),
        _text(at, bottom + 20, words, "middle" if x > 1 else "start", _FAINT),
    ]


def _down(share: float) -> float:
    return _TOP + _DEPTH * (1 - share)


def _line(x1: str, y1: float, x2: str, y2: float, colour: str, *, width: float = 1, dash: str = "") -> Markup:
    looks = f'stroke="{colour}" stroke-width="{width}"{f" stroke-dasharray={chr(34)}{dash}{chr(34)}" if dash else ""}'
    return Markup(f'<line x1="{x1}" y1="{y1:.0f}" x2="{x2}" y2="{y2:.0f}" {looks}/>')


def _text(x: str, y: float, words: str, anchor: str = "start", colour: str = "") -> Markup:
    looks = (f' text-anchor="{anchor}"' if anchor != "start" else "") + (f' fill="{colour}"' if colour else "")
    return Markup(f'<text x="{x}" y="{y:.0f}"{looks}>{escape(words)}</text>')


def _short(row: Row) -> str:
    name = method_name(row["method"])
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
