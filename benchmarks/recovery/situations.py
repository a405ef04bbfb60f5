"""Situations: how data are disturbed. Coefficients of filters are drawn anew for each data set, in stated ranges."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter

from benchmarks.recovery.plants import Floats, Plant
from narxbench._fitness.structure_fit import NoiseFilters
from narxbench._model.noise_models import (
    NOISE_NAMES,
    STUDENT_T,
    BoxJenkins,
    Distribution,
    Narmax,
    Narx,
    Noe,
    NoiseModel,
    Place,
)
from narxbench._model.terms import OUTPUT, Monomial
from narxbench._numerics.random_streams import generator

# Samples simulated before the first one that is used, and those after which a filter has settled.
WASHOUT, SETTLING = 500, 1000
FRESH_SAMPLES = 2000
# Data have diverged where they differ from the mean by this multiple of the noise-free spread.
DIVERGED = 50.0

MAIN, MANY, BREAKS, CALIBRATION = "main", "many candidates", "where it breaks", "calibration"


class Noise(NamedTuple):
    """Noise of unit variance, with the filter and the tails that it was drawn with."""

    values: Floats
    autoregression: Floats  # d_1, d_2, ...
    moving_average: Floats  # c_1, c_2, ...
    degrees_of_freedom: float = math.inf


class TrueNoise(NamedTuple):
    """A noise model that may represent the true one, with coefficients to begin with where they are known."""

    model: NoiseModel
    weights: tuple[Floats, Floats] | None = None


class Record(NamedTuple):
    """Measured inputs, shape (samples, inputs), and output."""

    inputs: Floats
    output: Floats


Draw = Callable[[np.random.Generator, int], Noise]
Disturb = Callable[[Record, float, np.random.Generator], Record]
Excite = Callable[[Plant, np.random.Generator, int], Floats]
Prepare = Callable[[Plant, np.random.Generator], tuple[Plant, Excite]]
Orders = Callable[[Plant], tuple[int, int, int] | None]


def filtered(
    rng: np.random.Generator, samples: int, autoregression: Floats | list[float], moving_average: Floats | list[float]
) -> Noise:
    """Return Gaussian noise behind the filter (1 + c_1 q^-1 + ...) / (1 + d_1 q^-1 + ...), of unit variance."""
    numerator, denominator = np.r_[1.0, moving_average], np.r_[1.0, autoregression]
    impulse = lfilter(numerator, denominator, np.r_[1.0, np.zeros(SETTLING)])
    values = lfilter(numerator, denominator, rng.standard_normal(SETTLING + samples))[SETTLING:]
    return Noise(values / np.sqrt(impulse @ impulse), denominator[1:], numerator[1:])


def _pair(radius: float, angle: float) -> list[float]:
    """Return the coefficients of a polynomial with a pair of conjugate zeros."""
    return [-2 * radius * math.cos(angle), radius * radius]


def white(rng: np.random.Generator, samples: int) -> Noise:
    """Return white Gaussian noise."""
    return filtered(rng, samples, [], [])


def first_order(rng: np.random.Generator, samples: int) -> Noise:
    """Return autoregressive noise with a pole between 0.7 and 0.95."""
    return filtered(rng, samples, [-rng.uniform(0.7, 0.95)], [])


def resonant(rng: np.random.Generator, samples: int) -> Noise:
    """Return autoregressive noise with a pair of poles: radius 0.75 to 0.95, any angle."""
    return filtered(rng, samples, _pair(rng.uniform(0.75, 0.95), rng.uniform(0, math.pi)), [])


def mixed(rng: np.random.Generator, samples: int) -> Noise:
    """Return noise of one pole (0.7 to 0.95) or a pair (radius 0.6 to 0.9), and a zero of size 0.3 to 0.9."""
    if rng.random() < 0.5:
        autoregression = [-rng.uniform(0.7, 0.95)]
    else:
        autoregression = _pair(rng.uniform(0.6, 0.9), rng.uniform(0, math.pi))
    return filtered(rng, samples, autoregression, [rng.choice([-1.0, 1.0]) * rng.uniform(0.3, 0.9)])


def fourth_order_average(rng: np.random.Generator, samples: int) -> Noise:
    """Return a moving average of order 4: two pairs of zeros of radius 0.3 to 0.9, any angle."""
    first = _pair(rng.uniform(0.3, 0.9), rng.uniform(0, math.pi))
    second = _pair(rng.uniform(0.3, 0.9), rng.uniform(0, math.pi))
    return filtered(rng, samples, [], np.convolve([1.0, *first], [1.0, *second])[1:])


def student(rng: np.random.Generator, samples: int) -> Noise:
    """Return white noise of Student-t with 3 degrees of freedom."""
    nothing = np.zeros(0)
    return Noise(rng.standard_t(3, samples) / math.sqrt(3.0), nothing, nothing, 3.0)


def outliers(record: Record, spread: float, rng: np.random.Generator) -> Record:
    """Add outliers of 1 to 3 spreads to 2 % of the samples."""
    hits = rng.random(len(record.output)) < 0.02
    sizes = rng.choice([-1.0, 1.0], len(hits)) * rng.uniform(1, 3, len(hits)) * spread
    return record._replace(output=record.output + hits * sizes)


def drift(record: Record, spread: float, rng: np.random.Generator) -> Record:
    """Add a sinusoid of 1 to 2 periods with an amplitude of 0.05 to 0.2 spreads."""
    phase = np.linspace(0, 2 * math.pi * rng.uniform(1, 2), len(record.output)) + rng.uniform(0, 2 * math.pi)
    return record._replace(output=record.output + rng.uniform(0.05, 0.2) * spread * np.sin(phase))


def random_walk(record: Record, spread: float, rng: np.random.Generator) -> Record:
    """Add a random walk that has a standard deviation of 0.1 to 0.4 spreads at its end."""
    samples = len(record.output)
    steps = rng.uniform(0.1, 0.4) * spread / math.sqrt(samples) * rng.standard_normal(samples)
    return record._replace(output=record.output + np.cumsum(steps))


def input_noise(record: Record, spread: float, rng: np.random.Generator) -> Record:
    """Add white noise to the measured inputs, 20 dB below each."""
    size = 0.1 * record.inputs.std(axis=0)
    return record._replace(inputs=record.inputs + size * rng.standard_normal(record.inputs.shape))


def proportional(record: Record, spread: float, rng: np.random.Generator) -> Record:
    """Add noise whose standard deviation is 0.05 to 0.2 of the magnitude of the output."""
    noise = rng.uniform(0.05, 0.2) * np.abs(record.output) * rng.standard_normal(len(record.output))
    return record._replace(output=record.output + noise)


def own_input(plant: Plant, rng: np.random.Generator, samples: int) -> Floats:
    """Return the input of the plant, each of several inputs drawn on its own."""
    inputs = []
    for _ in range(plant.n_inputs):
        inputs.append(plant.excitation.samples(rng, samples))
    return np.column_stack(inputs)


def binary_input(plant: Plant, rng: np.random.Generator, samples: int) -> Floats:
    """Return a random binary input with mean and spread of the plant's own."""
    reference = own_input(plant, rng, samples)
    signs = rng.choice([-1.0, 1.0], reference.shape)
    values: Floats = reference.mean(axis=0) + reference.std(axis=0) * signs
    return values


def held_input(plant: Plant, rng: np.random.Generator, samples: int, *, hold: int) -> Floats:
    """Return the input of the plant, each value held for some samples."""
    values: Floats = np.repeat(own_input(plant, rng, samples // hold + 1), hold, axis=0)
    return values[:samples]


def as_is(plant: Plant, rng: np.random.Generator) -> tuple[Plant, Excite]:
    """Return the plant and its own input."""
    return plant, own_input


def with_binary_input(plant: Plant, rng: np.random.Generator) -> tuple[Plant, Excite]:
    """Return the plant and a binary input."""
    return plant, binary_input


def oversampled(plant: Plant, rng: np.random.Generator) -> tuple[Plant, Excite]:
    """Return the plant at 5 to 10 times the sampling rate, y(k) = y(k-1) + (f - y(k-1)) / rate, and a held input."""
    rate = int(rng.integers(5, 11))
    weights = dict(zip(plant.monomials, np.divide(plant.weights, rate).tolist(), strict=True))
    previous: Monomial = ((OUTPUT, 1),)
    weights[previous] = weights.get(previous, 0.0) + 1.0 - 1.0 / rate
    slow = replace(plant, monomials=tuple(weights), weights=tuple(weights.values()))
    return slow, partial(held_input, hold=rate)


def own_orders(plant: Plant) -> tuple[int, int, int]:
    """Return n_y, n_u and the degree of the candidates."""
    return plant.n_y, plant.n_u, plant.degree


def missing_orders(plant: Plant) -> tuple[int, int, int] | None:
    """Return orders whose lags are one too small for the true terms; None where no lag is larger than 1."""
    y_lag, u_lag = plant.largest_lag(of_output=True), plant.largest_lag(of_output=False)
    if max(y_lag, u_lag) < 2:
        return None
    return max(y_lag - 1, 1), max(u_lag - 1, 1), plant.degree


@dataclass(frozen=True)
class Situation:
    """How the data of a plant are made.

    Attributes
    ----------
    words : str
        What it is, for readers.
    place : str
        Where the noise enters: ``"output"`` or ``"equation"``.
    snr_db : float
        Variance of the noise-free output over that of the noise where it enters, in dB.
    draw : function
        Draws the noise, of unit variance.
    disturb : function, optional
        What else happens to the record.
    part : str
        The part of the page.
    noise_models : tuple of NoiseModel
        What may represent the true noise; by default the noise model of the draw.
    is_level_hidden : bool
        Whether the noise hides the level of the output.
    prepare, orders : function
        Return the plant and its input, and n_y, n_u and the degree of the candidates.
    plants : tuple of str
        The plants to simulate; none are all.
    kind : str
        The kind of noise in the table of the calibration.
    """

    words: str
    place: Place = "output"
    snr_db: float = 20.0
    draw: Draw = white
    disturb: Disturb | None = None
    samples: int = 2000
    part: str = MAIN
    prepare: Prepare = as_is
    orders: Orders = own_orders
    noise_models: tuple[NoiseModel, ...] = ()
    is_level_hidden: bool = False
    plants: tuple[str, ...] = ()
    kind: str = ""


_HEAVY = tuple(Noe(distribution=distribution) for distribution in STUDENT_T)
_DRIFTING = (
    BoxJenkins(ma_lags=(1,), is_integrated=True),
    BoxJenkins(ma_lags=(1, 2), is_integrated=True),
    BoxJenkins(ar_lags=(1,), ma_lags=(1,), is_integrated=True),
    BoxJenkins(ar_lags=(1,), ma_lags=(1,)),
)
_FEW = ("S1", "S3", "mao1997", "huang2023", "nonsysid-ar-nfir")


def _fixed_orders(lag: int) -> Orders:
    return lambda plant: (lag, lag, 3)


SITUATIONS: dict[str, Situation] = {
    "white output, 20 dB": Situation("white noise on the output"),
    "white output, 40 dB": Situation("white noise on the output", snr_db=40.0),
    "white output, 10 dB": Situation("white noise on the output", snr_db=10.0),
    "white equation, 20 dB": Situation("white noise in the equation", "equation"),
    "500 samples": Situation("white noise on the output", snr_db=40.0, samples=500),
    "200 samples": Situation("white noise on the output", snr_db=40.0, samples=200),
    "AR(1) output": Situation("AR(1) on the output, pole 0.7 to 0.95", draw=first_order),
    "AR(2) output": Situation("AR(2) on the output, poles of radius 0.75 to 0.95, any angle", draw=resonant),
    "ARARX": Situation("AR(1) in the equation, pole 0.7 to 0.95", "equation", draw=first_order),
    "Box-Jenkins": Situation(
        "ARMA(1 or 2, 1) on the output: pole 0.7 to 0.95, or poles of radius 0.6 to 0.9; zero of size 0.3 to 0.9",
        draw=mixed,
    ),
    "MA(4) equation": Situation(
        "MA(4) in the equation, two pairs of zeros of radius 0.3 to 0.9", "equation", draw=fourth_order_average
    ),
    "outliers": Situation(
        "white noise on the output, and 2 % of the samples off by 1 to 3 spreads",
        snr_db=40.0,
        disturb=outliers,
        noise_models=_HEAVY,
    ),
    "t(3) output": Situation("white Student-t noise on the output, 3 degrees of freedom", draw=student),
    "t(3) equation": Situation("white Student-t noise in the equation, 3 degrees of freedom", "equation", draw=student),
    "drift": Situation(
        "white noise on the output, and a sinusoid of 1 to 2 periods, 0.05 to 0.2 spreads",
        snr_db=30.0,
        disturb=drift,
        noise_models=_DRIFTING,
        is_level_hidden=True,
    ),
    "random walk": Situation(
        "white noise on the output, and a random walk of 0.1 to 0.4 spreads at its end",
        snr_db=28.0,
        disturb=random_walk,
        noise_models=_DRIFTING,
        is_level_hidden=True,
    ),
    "input noise": Situation(
        "white noise on the output, and white noise 20 dB below the inputs on the measured inputs",
        snr_db=40.0,
        disturb=input_noise,
        noise_models=(Narx(), Noe(), Narmax(ma_lags=(1, 2)), BoxJenkins(ma_lags=(1, 2))),
    ),
    "455 candidates": Situation(
        "white noise on the output; lags up to 6, degree 3", part=MANY, orders=_fixed_orders(6), plants=_FEW
    ),
    "1,771 candidates": Situation(
        "white noise on the output; lags up to 10, degree 3",
        part=MANY,
        orders=_fixed_orders(10),
        plants=_FEW,
    ),
    "binary input": Situation(
        "white noise on the output; a random binary input, whose powers are alike",
        snr_db=40.0,
        part=BREAKS,
        prepare=with_binary_input,
    ),
    "oversampling": Situation(
        "white noise on the output; the plant sampled 5 to 10 times faster, the input held as long",
        snr_db=40.0,
        part=BREAKS,
        prepare=oversampled,
    ),
    "0 dB": Situation("white noise on the output", snr_db=0.0, part=BREAKS),
    "missing lags": Situation(
        "white noise on the output; n_y and n_u are one less than the largest true lag (at least 1)",
        snr_db=40.0,
        part=BREAKS,
        orders=missing_orders,
    ),
    "proportional noise": Situation(
        "noise on the output of 0.05 to 0.2 of its magnitude, and white noise",
        snr_db=40.0,
        disturb=proportional,
        part=BREAKS,
        noise_models=(Noe(), *_HEAVY),
    ),
}


def names_of_parts(*parts: str) -> list[str]:
    """Return the names of the situations of some parts of the page."""
    return [name for name, situation in SITUATIONS.items() if situation.part in parts]


# Of these situations the calibration has data sets of its own, with more noise and fewer samples.
CALIBRATION_KINDS = (
    *("white output, 20 dB", "white equation, 20 dB", "AR(1) output", "AR(2) output", "ARARX", "Box-Jenkins"),
    *("MA(4) equation", "outliers", "t(3) output", "t(3) equation", "drift", "random walk"),
)
CALIBRATION_LEVELS = tuple(product((5.0, 10.0, 20.0), (500, 1000)))


def calibration_name(kind: str, level: tuple[float, int]) -> str:
    """Return the name of a situation of the calibration."""
    return f"{kind}: {level[0]:g} dB, {level[1]} samples"


SITUATIONS |= {
    calibration_name(kind, level): replace(
        SITUATIONS[kind], snr_db=level[0], samples=level[1], part=CALIBRATION, kind=kind.partition(",")[0]
    )
    for kind, level in product(CALIBRATION_KINDS, CALIBRATION_LEVELS)
}


@dataclass(frozen=True)
class DataSet:
    """Data to search in, with all that a judge may know."""

    plant: Plant
    record: Record
    fresh: Record
    candidates: list[Monomial]
    true_noise: tuple[TrueNoise, ...]
    is_level_hidden: bool

    @property
    def is_inside(self) -> bool:
        """Whether all true terms are candidates."""
        return set(self.plant.monomials) <= set(self.candidates)


class DivergedError(Exception):
    """Data without bounds."""


def make_data(plant: Plant, name: str, seed: int) -> DataSet | None:
    """Return a data set of a situation; None where the situation has no meaning for the plant.

    The input belongs to the plant and the seed, the noise to the situation, too.
    """
    situation = SITUATIONS[name]
    axes: dict[str, object] = {"system": plant.name, "seed": seed}
    plant, excite = situation.prepare(plant, generator(purpose="recovery plant", situation=name, **axes))
    orders = situation.orders(plant)
    if orders is None:
        return None
    total = WASHOUT + situation.samples
    inputs = excite(plant, generator(purpose="recovery input", **axes), total)
    rng = generator(purpose="recovery noise", situation=name, **axes)
    noise = situation.draw(rng, total)
    clean = plant.respond(inputs)
    spread = float(clean[WASHOUT:].std())
    disturbance = spread * 10 ** (-situation.snr_db / 20) * noise.values
    output = plant.respond(inputs, disturbance) if situation.place == "equation" else clean + disturbance
    if not np.abs(output - clean[WASHOUT:].mean()).max() < DIVERGED * spread:
        raise DivergedError
    record = Record(inputs[WASHOUT:], output[WASHOUT:])
    if situation.disturb is not None:
        record = situation.disturb(record, spread, rng)
    return DataSet(
        plant,
        record,
        _fresh(plant, excite, axes),
        plant.candidates(*orders),
        tuple(_true_noise(situation, noise)),
        situation.is_level_hidden,
    )


def _fresh(plant: Plant, excite: Excite, axes: dict[str, object]) -> Record:
    inputs = excite(plant, generator(purpose="recovery fresh input", **axes), WASHOUT + FRESH_SAMPLES)
    output = plant.respond(inputs)
    if not np.isfinite(output).all():
        raise DivergedError
    return Record(inputs[WASHOUT:], output[WASHOUT:])


def _true_noise(situation: Situation, noise: Noise) -> Iterable[TrueNoise]:
    if situation.noise_models:
        return [TrueNoise(model) for model in situation.noise_models]
    ar_order, ma_order = len(noise.autoregression), len(noise.moving_average)
    ar_lags, ma_lags = tuple(range(1, ar_order + 1)), tuple(range(1, ma_order + 1))
    filters = NoiseFilters(NOISE_NAMES, largest_order=max(1, ar_order, ma_order))
    assert (ar_lags, ma_lags) in filters.lags(situation.place)
    model = filters.noise_model(situation.place, ar_lags, ma_lags, distribution=Distribution(noise.degrees_of_freedom))
    return [TrueNoise(model, (noise.autoregression, noise.moving_average))]
