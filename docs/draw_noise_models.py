"""Draw which noise is which: python docs/draw_noise_models.py.

It writes docs/images/noise_models.svg for docs/noise_models.md; a test checks that the kept picture is current. System
S1 is simulated with each kind of noise. A row shows a short stretch of the noise w(k), its autocorrelation, and the
autocorrelation of the errors that the true model makes one step ahead, which is what a plot of residuals shows.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from narxbench._numerics.random_streams import generator, standard_normal

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs/images/noise_models.svg"

SAMPLES, SETTLING, LARGEST_LAG = 2000, 200, 15
NOISE_SHARE = 0.1  # standard deviation of the noise; that of the output of S1 is about 0.34
SHOWN = slice(400, 500)

# Letters have 15 units of 560: on a phone the picture is about 360 pixels wide, and they are 9 pixels high and more.
WIDTH, TOP, ROW, PLOT, FOOT = 560, 62, 104, 62, 44
SERIES, OF_NOISE, OF_ERRORS = (12, 208), (236, 146), (402, 146)
STYLE = """
text { font-family: sans-serif; font-size: 15px; fill: #222 }
.small { fill: #555 }
.middle { text-anchor: middle }
.end { text-anchor: end }
.paper { fill: #fff }
.frame { fill: #f6f7f8 }
.zero { stroke: #999 }
.series { fill: none; stroke: #2a6f97; stroke-width: 1.3 }
.bar { stroke: #2a6f97; stroke-width: 4 }
"""

Series = list[float]
Draw = Callable[[np.random.Generator], Series]


@dataclass(frozen=True)
class Example:
    """A kind of noise to draw."""

    title: str
    name: str  # of the noise model
    place: str
    draw: Draw


def white(rng: np.random.Generator) -> Series:
    """Return white Gaussian noise."""
    return standard_normal(rng, SETTLING + SAMPLES)


def filtered(autoregression: Sequence[float], moving_average: Sequence[float]) -> Draw:
    """Return a function that draws white noise behind a filter with d_1, d_2, ... and c_1, c_2, ..."""

    def draw(rng: np.random.Generator) -> Series:
        innovations = white(rng)
        noise: Series = []
        for k, innovation in enumerate(innovations):
            value = innovation
            for lag, weight in enumerate(moving_average[:k], 1):
                value += weight * innovations[k - lag]
            for lag, weight in enumerate(autoregression[:k], 1):
                value -= weight * noise[k - lag]
            noise.append(value)
        return noise

    return draw


def with_outliers(rng: np.random.Generator) -> Series:
    """Return white noise in which one sample of fifty is far off."""
    noise = white(rng)
    is_outlier = rng.random(len(noise)) < 0.02
    jumps = rng.choice([-9.0, 9.0], len(noise))
    return [value + float(jump) if hit else value for value, hit, jump in zip(noise, is_outlier, jumps, strict=True)]


def drifting(rng: np.random.Generator) -> Series:
    """Return white noise on a random walk."""
    noise: Series = []
    level = 0.0
    for value, step in zip(white(rng), white(rng), strict=True):
        level += 0.4 * step
        noise.append(value + level)
    return noise


EXAMPLES = (
    Example("White, in the equation", "NARX", "equation", white),
    Example("White, on the output", "NOE", "output", white),
    Example("Moving average, in the equation", "NARMAX", "equation", filtered([], [0.9, 0.7, 0.4])),
    Example("Autoregression, in the equation", "ARARX", "equation", filtered([-0.9], [])),
    Example("Coloured, on the output", "Box-Jenkins", "output", filtered([-1.5, 0.8], [0.5])),
    Example("Outliers, on the output", "NOE, Student-t", "output", with_outliers),
    Example("Drift, on the output", "integrated", "output", drifting),
)


def noise_of(example: Example) -> Series:
    """Return the noise of an example, with the standard deviation ``NOISE_SHARE``."""
    noise = example.draw(generator(purpose="draw noise models", noise=example.title))[SETTLING:]
    mean = math.fsum(noise) / SAMPLES
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in noise) / SAMPLES)
    return [NOISE_SHARE * (value - mean) / spread for value in noise]


def predicted(output: float, input_value: float) -> float:
    """Return the right-hand side of system S1."""
    return 0.5 * output + 0.3 * input_value + 0.3 * output * input_value + 0.5 * input_value * input_value


def one_step_errors(example: Example, noise: Series) -> Series:
    """Return the errors of the true model one step ahead, from measured outputs with the noise of an example."""
    inputs = generator(purpose="draw noise models", signal="u").uniform(-1.0, 1.0, SAMPLES).tolist()
    state, before = 0.0, 0.0
    errors: Series = []
    for k in range(1, SAMPLES):
        if example.place == "equation":
            measured = predicted(before, inputs[k - 1]) + noise[k]
        else:
            state = predicted(state, inputs[k - 1])
            measured = state + noise[k]
        errors.append(measured - predicted(before, inputs[k - 1]))
        before = measured
    return errors


def autocorrelation(series: Series) -> Series:
    """Return the autocorrelation of a series at the lags 0 to ``LARGEST_LAG``."""
    mean = math.fsum(series) / len(series)
    centred = [value - mean for value in series]
    products = [
        math.fsum(now * past for now, past in zip(centred[lag:], centred, strict=False))
        for lag in range(LARGEST_LAG + 1)
    ]
    return [product / products[0] for product in products]


def series_plot(series: Series, top: float) -> list[str]:
    """Return the plot of a series about its mean, as high as its largest value."""
    left, width = SERIES
    mean = math.fsum(series) / len(series)
    series = [value - mean for value in series]
    middle, scale = top + PLOT / 2, 0.46 * PLOT / max(map(abs, series))
    step = width / (len(series) - 1)
    points = " ".join(f"{left + step * k:.1f},{middle - scale * value:.1f}" for k, value in enumerate(series))
    return [
        f'<rect class="frame" x="{left}" y="{top}" width="{width}" height="{PLOT}"/>',
        f'<line class="zero" x1="{left}" y1="{middle:.1f}" x2="{left + width}" y2="{middle:.1f}"/>',
        f'<polyline class="series" points="{points}"/>',
    ]


def autocorrelation_plot(series: Series, place: tuple[int, int], top: float) -> list[str]:
    """Return the plot of an autocorrelation."""
    left, width = place
    zero, scale = top + 0.66 * PLOT, 0.62 * PLOT
    parts = [
        f'<rect class="frame" x="{left}" y="{top}" width="{width}" height="{PLOT}"/>',
        f'<line class="zero" x1="{left}" y1="{zero:.1f}" x2="{left + width}" y2="{zero:.1f}"/>',
    ]
    for lag, value in enumerate(autocorrelation(series)):
        x = left + 6 + (width - 12) * lag / LARGEST_LAG
        parts.append(f'<line class="bar" x1="{x:.1f}" y1="{zero:.1f}" x2="{x:.1f}" y2="{zero - scale * value:.1f}"/>')
    return parts


def row(example: Example, top: float) -> list[str]:
    """Return a row of the picture."""
    noise = noise_of(example)
    return [
        f'<text x="{SERIES[0]}" y="{top + 16}">{example.title}</text>',
        f'<text class="small end" x="{sum(OF_ERRORS)}" y="{top + 16}">{example.name}</text>',
        *series_plot(noise[SHOWN], top + 25),
        *autocorrelation_plot(noise, OF_NOISE, top + 25),
        *autocorrelation_plot(one_step_errors(example, noise), OF_ERRORS, top + 25),
    ]


def caption(place: tuple[int, int], y: float, lines: Sequence[str]) -> list[str]:
    """Return lines of text above or below a column."""
    x = place[0] + place[1] / 2
    return [f'<text class="small middle" x="{x}" y="{y + 19 * i}">{line}</text>' for i, line in enumerate(lines)]


def picture() -> str:
    """Return the picture as SVG: a row for each kind of noise."""
    height = TOP + ROW * len(EXAMPLES) + FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'role="img">',
        "<title>Which noise is which</title>",
        "<desc>For each kind of noise 100 samples, its autocorrelation, and that of the errors one step ahead.</desc>",
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{height}"/>',
        *caption(SERIES, 40, ["noise w(k)"]),
        *caption(OF_NOISE, 21, ["autocorrelation", "of w(k)"]),
        *caption(OF_ERRORS, 21, ["autocorrelation", "of one-step errors"]),
    ]
    for number, example in enumerate(EXAMPLES):
        parts += row(example, TOP + ROW * number)
    bottom = TOP + ROW * len(EXAMPLES) + 4
    parts += caption(SERIES, bottom, ["100 samples"])
    for place in (OF_NOISE, OF_ERRORS):
        parts += caption(place, bottom, [f"lags 0 to {LARGEST_LAG}"])
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
