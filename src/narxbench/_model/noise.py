"""Kinds of noise in simulated data: how white noise e(k) becomes a disturbance, and where it enters.

:meth:`narxbench._model.system.System.simulate` adds it. To add a kind of noise, name it in :data:`NOISES` with the
function that returns the measured signals.

All sums are correctly rounded and loops run over plain floats, so that data are the same on every machine.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from narxbench._io.errors import NarxbenchError
from narxbench._model.dataset import Signals
from narxbench._numerics.random_streams import standard_normal

Floats = NDArray[np.float64]
# Returns what a controller adds to u(k) once it has the sample number k and the output y(k).
Controller = Callable[[int, float], float]


# Simulates the system from rest, with a disturbance inside its equation and perhaps a controller of its input.
Respond = Callable[..., Signals]


@dataclass(frozen=True)
class CleanExperiment:
    """An experiment without noise, and the noise that is to be added.

    Attributes
    ----------
    clean : Signals
        The input, and the output without noise. All arrays have the same length.
    e : array
        White Gaussian noise with the variance that belongs to the SNR.
    noise_share : float
        The standard deviation of noise as a share of the standard deviation of its signal, by the SNR.
    respond : callable
        Simulates the system again.
    draws : numpy.random.Generator
        For all further draws.
    """

    clean: Signals
    e: Floats
    noise_share: float
    respond: Respond
    draws: np.random.Generator


# Filters D(q) w(k) = C(q) e(k), each by d_1, d_2, ... and c_1, c_2, ....
FILTERS: Mapping[str, tuple[Sequence[float], Sequence[float]]] = {
    "slow": ((-0.9,), ()),
    "resonant": ((-0.86, 0.64), (0.6,)),
    "fourth order": ((), (-0.5, 0.04, -0.4, 0.31)),
}
# After this many samples an impulse response has vanished: 0.9^1000 is 1e-46.
SETTLED = 1000

# Sizes of the kinds of noise, which the comparison of methods describes.
# Outliers: their share of the samples, and their least and largest size in standard deviations of the output.
OUTLIER_SHARE, OUTLIER_SIZES = 0.02, (1.0, 3.0)
# Half a turn of a sinusoid takes this share of a record. Its amplitude is a share of the output's standard deviation.
DRIFT_HALF_PERIOD, DRIFT_AMPLITUDE = 1 / 3, 0.15
# The standard deviation of the noise on the measured input, as a share of the standard deviation of the input: 20 dB.
INPUT_NOISE = 0.1
# What a controller subtracts, in standard deviations of the input for each standard deviation of the output.
FEEDBACK = 0.2


def filtered(e: Floats, autoregression: Sequence[float] = (), moving_average: Sequence[float] = ()) -> Floats:
    """Return filtered white noise, of the same variance as the white noise, from a filter that starts at rest.

    The impulse response is scaled to a sum of squares of 1.
    """
    impulse = _run_filter([1.0] + [0.0] * SETTLED, autoregression, moving_average)
    gain = math.sqrt(math.fsum(h * h for h in impulse))
    return np.array(_run_filter(e.tolist(), autoregression, moving_average)) / gain


def _run_filter(e: list[float], autoregression: Sequence[float], moving_average: Sequence[float]) -> list[float]:
    w: list[float] = []
    for k, innovation in enumerate(e):
        value = innovation
        for lag, coefficient in enumerate(moving_average, start=1):
            if k >= lag:
                value += coefficient * e[k - lag]
        for lag, coefficient in enumerate(autoregression, start=1):
            if k >= lag:
                value -= coefficient * w[k - lag]
        w.append(value)
    return w


def mean_of(signal: Floats) -> float:
    """Return the mean of a signal."""
    return math.fsum(signal.tolist()) / len(signal)


def spread_of(signal: Floats) -> float:
    """Return the standard deviation of a signal."""
    mean = mean_of(signal)
    return math.sqrt(math.fsum((value - mean) * (value - mean) for value in signal.tolist()) / len(signal))


def _size_of(value: float) -> float:
    """Return the size of a signal that noise is in proportion to, or raise NarxbenchError if it is 0."""
    if not value > 0.0:
        raise NarxbenchError("simulate: noise: found an output that does not vary; allowed: 'output' or 'equation'")
    return value


def _with_output_noise(experiment: CleanExperiment, w: Floats) -> Signals:
    return Signals(experiment.clean.u, experiment.clean.y + w)


def _on_output(experiment: CleanExperiment) -> Signals:
    return _with_output_noise(experiment, experiment.e)


def _inside_equation(experiment: CleanExperiment) -> Signals:
    return experiment.respond(experiment.e)


def _filtered_on_output(name: str, experiment: CleanExperiment) -> Signals:
    return _with_output_noise(experiment, filtered(experiment.e, *FILTERS[name]))


def _filtered_inside_equation(name: str, experiment: CleanExperiment) -> Signals:
    return experiment.respond(filtered(experiment.e, *FILTERS[name]))


def _with_outliers(experiment: CleanExperiment) -> Signals:
    """Return the output with white noise, a few samples of it far off."""
    chances, sizes, signs = experiment.draws.random((3, len(experiment.e)))
    least, largest = OUTLIER_SIZES
    sizes = (least + (largest - least) * sizes) * np.where(signs < 0.5, -1.0, 1.0)
    is_outlier = chances < OUTLIER_SHARE
    return _with_output_noise(experiment, experiment.e + spread_of(experiment.clean.y) * is_outlier * sizes)


def _student(experiment: CleanExperiment) -> Signals:
    """Return the output with white noise of Student's t with 3 degrees of freedom, scaled to the variance of e(k)."""
    # Z_0 / sqrt((Z_1^2 + Z_2^2 + Z_3^2) / 3) has the variance 3.
    a, b, c = np.array(standard_normal(experiment.draws, 3 * len(experiment.e))).reshape(3, -1)
    return _with_output_noise(experiment, experiment.e / np.sqrt(a * a + b * b + c * c))


def _proportional(experiment: CleanExperiment) -> Signals:
    """Return the output with noise in proportion to its magnitude, of the variance of e(k) on average."""
    y = experiment.clean.y
    root_mean_square = _size_of(math.sqrt(math.fsum((y * y).tolist()) / len(y)))
    return _with_output_noise(experiment, experiment.e * np.abs(y) / root_mean_square)


def _drifting(experiment: CleanExperiment) -> Signals:
    """Return the output with white noise and a slow sinusoid."""
    samples = len(experiment.e)
    # A rotation with rational coefficients, by close to pi / (half a period) each sample.
    tangent = 0.5 * math.pi / (DRIFT_HALF_PERIOD * samples)
    cosine, sine = (1 - tangent * tangent) / (1 + tangent * tangent), 2 * tangent / (1 + tangent * tangent)
    a, b, rotated = 1.0, 0.0, list[float]()
    for _ in range(samples):
        rotated.append(b)
        a, b = cosine * a - sine * b, sine * a + cosine * b
    amplitude = DRIFT_AMPLITUDE * spread_of(experiment.clean.y)
    return _with_output_noise(experiment, experiment.e + amplitude * np.array(rotated))


def _on_input_too(experiment: CleanExperiment) -> Signals:
    """Return the output with white noise, and a measured input with white noise."""
    u = experiment.clean.u
    noise = np.array(standard_normal(experiment.draws, len(u)))
    return Signals(u + INPUT_NOISE * spread_of(u) * noise, experiment.clean.y + experiment.e)


def _on_input_equally(experiment: CleanExperiment) -> Signals:
    """Return the output with white noise, and the input with other white noise at the same SNR."""
    u = experiment.clean.u
    noise = np.array(standard_normal(experiment.draws, len(u)))
    return Signals(u + experiment.noise_share * spread_of(u) * noise, experiment.clean.y + experiment.e)


def _in_closed_loop(experiment: CleanExperiment) -> Signals:
    """Return the signals under a proportional controller, which acts on the measured output."""
    u, y = experiment.clean
    gain = FEEDBACK * spread_of(u) / _size_of(spread_of(y))
    setpoint = mean_of(y)
    e: list[float] = experiment.e.tolist()

    def controller(k: int, output: float) -> float:
        return -gain * (output + e[k] - setpoint)

    controlled = experiment.respond(np.zeros(len(u)), controller)
    return Signals(controlled.u, controlled.y + experiment.e)


# The measured signals of an experiment, by the name of the noise in settings.
NOISES: dict[str, Callable[[CleanExperiment], Signals]] = {
    # On the measured output, and inside the equation.
    "output": _on_output,
    "equation": _inside_equation,
    # Coloured: AR(1) with the pole 0.9, a resonant ARMA(2, 1), MA(4).
    "ar-output": partial(_filtered_on_output, "slow"),
    "ar-equation": partial(_filtered_inside_equation, "slow"),
    "arma-output": partial(_filtered_on_output, "resonant"),
    "ma-equation": partial(_filtered_inside_equation, "fourth order"),
    # On the measured output: of another distribution, or not of the same size everywhere.
    "outliers": _with_outliers,
    "student-t": _student,
    "proportional": _proportional,
    "drift": _drifting,
    # On the measured output and the measured input, 20 dB below it or at the same SNR.
    "input": _on_input_too,
    "input-output": _on_input_equally,
    # On the measured output, which a controller feeds back.
    "closed-loop": _in_closed_loop,
}
if TYPE_CHECKING:
    NoiseKind = str
else:
    NoiseKind = Literal[tuple(NOISES)]
