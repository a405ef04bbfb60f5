"""How many samples of fresh records the bands about forecasts hold: ``python -m benchmarks.forecasts [--quick]``.

Writes ``benchmarks/forecasts.md``. A system under five kinds of noise and two series without inputs give many data sets
each. The models that are identified from them forecast fresh records from many samples on.
"""

import os

# One thread, set before numpy is imported.
os.environ |= {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "NUMBA")}

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import narxbench
from benchmarks.common import ROOT, number, table, write_page
from narxbench._identification.validation.bands import BAND
from narxbench._identification.validation.forecasts import half_widths
from narxbench._model.prediction import NoiseFilter

RESULT = ROOT / "benchmarks" / "forecasts.md"
SAMPLES, TESTED = 1000, 2000
# Forecasts of the fresh record start at every this many samples, after some that show the state of the noise.
FIRST_ORIGIN, EVERY = 200, 7
HORIZONS = (1, 40)
# The input represents this many samples; the standard deviation of the innovations.
HELD, INNOVATION = 4, 0.3
SETS = {"full": 10, "quick": 2}
SETTINGS: dict[str, Any] = {"decimation": 1, "degree": 2, "effort": 0.3}
WITH_INPUT, WITHOUT_INPUT = {**SETTINGS, "y_lags": 2, "u_lags": 2}, {**SETTINGS, "y_lags": 12, "degree": 1}

Floats = NDArray[np.float64]


class Series(NamedTuple):
    """Inputs, None of a series without any, and the output."""

    u: Floats | None
    y: Floats

    @property
    def inputs(self) -> Floats:
        """All inputs, shape (samples, inputs)."""
        if self.u is None:
            return np.zeros((len(self.y), 0))
        return self.u[:, None]

    def split(self) -> tuple["Series", "Series"]:
        """Return the part that a model is identified from, and the fresh record that it forecasts."""
        if self.u is None:
            return Series(None, self.y[:SAMPLES]), Series(None, self.y[SAMPLES:])
        return Series(self.u[:SAMPLES], self.y[:SAMPLES]), Series(self.u[SAMPLES:], self.y[SAMPLES:])


def coloured(innovations: Floats, autoregression: tuple[float, ...], moving_average: tuple[float, ...]) -> Floats:
    """Return the noise behind the filter of an ARMA model."""
    # The inverse of a filter has its polynomials exchanged.
    return NoiseFilter(moving_average, autoregression).innovations(innovations)


def with_noise(
    draws: np.random.Generator, place: str, autoregression: tuple[float, ...], moving_average: tuple[float, ...]
) -> Series:
    """Return signals of a bilinear system with noise in its equation or on its output."""
    samples = SAMPLES + TESTED
    u = np.repeat(draws.normal(size=samples // HELD + 1), HELD)[:samples]
    w = coloured(INNOVATION * draws.normal(size=samples), autoregression, moving_average)
    nothing = np.zeros(samples)
    in_equation, on_output = (w, nothing) if place == "equation" else (nothing, w)
    y = np.zeros(samples)
    for k in range(2, samples):
        y[k] = 0.7 * y[k - 1] + 0.5 * u[k - 1] + 0.2 * u[k - 1] ** 2 + 0.1 * y[k - 2] * u[k - 1] + in_equation[k]
    return Series(u, y + on_output)


def oscillation(draws: np.random.Generator) -> Series:
    """Return a damped oscillation of 25 samples that noise keeps going, without an input."""
    innovations = draws.normal(size=SAMPLES + TESTED)
    return Series(None, coloured(innovations, (-1.84, 0.9), ()))


def season(draws: np.random.Generator) -> Series:
    """Return a season of 12 samples whose shape wanders slowly, without an input."""
    innovations = draws.normal(size=SAMPLES + TESTED)
    return Series(None, coloured(innovations, (-0.5, *[0.0] * 10, -0.9, 0.45), ()))


CASES: dict[str, tuple[Callable[[np.random.Generator], Series], dict[str, Any]]] = {
    "white noise in the equation": (lambda draws: with_noise(draws, "equation", (), ()), WITH_INPUT),
    "MA(1) in the equation": (lambda draws: with_noise(draws, "equation", (), (0.7,)), WITH_INPUT),
    "AR(1) in the equation": (lambda draws: with_noise(draws, "equation", (-0.8,), ()), WITH_INPUT),
    "white noise on the output": (lambda draws: with_noise(draws, "output", (), ()), WITH_INPUT),
    "AR(1) on the output": (lambda draws: with_noise(draws, "output", (-0.9,), ()), WITH_INPUT),
    "oscillation, no input": (oscillation, WITHOUT_INPUT),
    "season of 12, no input": (season, WITHOUT_INPUT),
}


class ForecastCoverage(NamedTuple):
    """By horizon, the share of forecasts of one record in the band, and the half width by the RMSE of these."""

    shares: Floats
    widths: Floats


def held(signals: Series, settings: dict[str, Any]) -> ForecastCoverage:
    """Return what the bands of an identification hold of a fresh record."""
    identified, fresh = signals.split()
    model = narxbench.identify(identified.u, identified.y, **settings).model
    origins = np.arange(FIRST_ORIGIN, TESTED - HORIZONS[-1], EVERY)
    following = fresh.y[origins[:, None] + np.arange(1, HORIZONS[-1] + 1)]
    errors = np.abs(following - model.forecaster(fresh.inputs, fresh.y).forecasts(origins.tolist(), HORIZONS[-1]))
    widths = half_widths(model, HORIZONS[-1], BAND)
    return ForecastCoverage((errors <= widths).mean(axis=0), widths / np.sqrt((errors**2).mean(axis=0)))


def rows_of(name: str, results: list[ForecastCoverage]) -> list[list[str]]:
    """Return the rows of a case: shares over all data sets, their range, and the median width."""
    # By data set and horizon.
    all_shares, all_widths = map(np.array, zip(*results, strict=True))
    rows = []
    for horizon in HORIZONS:
        width = float(np.median(all_widths[:, horizon - 1]))
        rows.append([name, str(horizon), *_share_cells(all_shares[:, horizon - 1]), number(width)])
    rows.append([name, f"1 to {HORIZONS[-1]}", *_share_cells(all_shares.mean(axis=1)), ""])
    return rows


def _share_cells(shares: Floats) -> list[str]:
    """Return the mean of the shares of all data sets, and their range, as text."""
    return [f"{np.mean(shares):.3f}", f"{min(shares):.2f} to {max(shares):.2f}"]


def report(sets: int) -> str:
    """Measure on all data sets, and return the page."""
    rows = []
    for place, (name, (make, settings)) in enumerate(CASES.items()):
        results = []
        for seed in range(1, sets + 1):
            results.append(held(make(np.random.default_rng([place, seed])), settings))
        rows += rows_of(name, results)
        print(*rows[-1], sep="  ", flush=True)
    header = ["noise", "samples ahead", "held", "of one record", "half width by RMSE"]
    return TEXT.format(
        table=table(header, rows), sets=sets, samples=SAMPLES, tested=TESTED, band=f"{100 * BAND:.0f} %", every=EVERY
    )


TEXT = """# What the bands about forecasts hold

`python -m benchmarks.forecasts` makes this file. Of each kind of noise, {sets} data sets of {samples} samples were
identified (effort 0.3, candidates of degree 2 and lags 1 and 2, or without an input of degree 1 and lags 1 to 12;
noise models as found). The model forecast a fresh record of {tested} samples from every {every}th sample on, and the
{band} band was laid about the forecasts. *Held* is the share of the measured samples within the band, on average over
data sets, and *of one record* its range. Innovations are Gaussian. A random input is held for 4 samples.

{table}
Normal errors of one variance need a half width of 1.64 RMSE. Bands are too narrow if inputs go beyond their range, if
the process changes, and if a record is short for how slow its noise is.
"""


def main() -> None:
    """Measure, and write the file."""
    write_page(__doc__, RESULT, report, SETS)


if __name__ == "__main__":
    main()
