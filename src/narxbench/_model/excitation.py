"""Excitation: the input signals that drive a simulated system.

Each kind of excitation is a settings model with its own value of the key ``kind``; ``samples`` draws the signal.
"""

from itertools import accumulate
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from narxbench._io.errors import NarxbenchError
from narxbench._io.settings import Settings, validated
from narxbench._model.dataset import read_signals
from narxbench._numerics.random_streams import standard_normal


class UniformInput(Settings):
    """White input, uniform on (low, high)."""

    kind: Literal["uniform"] = "uniform"
    low: float = -1.0
    high: float = 1.0

    @model_validator(mode="after")
    def _ordered(self) -> "UniformInput":
        if not self.low < self.high:
            raise ValueError(f"found low {self.low:g} and high {self.high:g}; allowed: low below high")
        return self

    def samples(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return the input, of shape (size,)."""
        return self.low + (self.high - self.low) * rng.random(size)


class GaussianInput(Settings):
    """White Gaussian input with zero mean and standard deviation ``sd``."""

    kind: Literal["gaussian"] = "gaussian"
    sd: float = Field(default=1.0, gt=0)

    def samples(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return the input, of shape (size,)."""
        return self.sd * np.array(standard_normal(rng, size))


class AutoregressiveInput(Settings):
    """Gaussian input of standard deviation ``sd``, coloured by u(k) = pole u(k-1) + white noise."""

    kind: Literal["autoregressive"] = "autoregressive"
    sd: float = Field(default=1.0, gt=0)
    pole: float = Field(default=0.9, gt=-1, lt=1)

    def samples(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return the input, of shape (size,)."""
        white = standard_normal(rng, size)
        gain = float(np.sqrt(1.0 - self.pole * self.pole))
        coloured = accumulate(white, lambda previous, e: self.pole * previous + gain * e)
        return self.sd * np.array(list(coloured))


class RecordedInput(Settings):
    """Input read from the column ``u`` of a CSV file, which has at least as many samples as are simulated.

    The washout uses the first samples.
    """

    kind: Literal["recorded"] = "recorded"
    file: str = Field(min_length=1)

    def samples(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return the first samples of the file, of shape (size,); nothing is drawn."""
        (recorded,) = read_signals(self.file, ("u",))
        if len(recorded) < size:
            raise NarxbenchError(f"{self.file}: found {len(recorded)} samples; allowed: at least {size} (with washout)")
        return recorded[:size]


Excitation = Annotated[UniformInput | GaussianInput | AutoregressiveInput | RecordedInput, Field(discriminator="kind")]


class _ExcitationSettings(Settings):
    """Settings with the one field by which messages know an excitation."""

    excitation: Excitation


def excitation_of(values: object, source: str = "") -> Excitation:
    """Return the excitation that plain data describe, or the excitation itself; errors name ``source``, if any."""
    return validated(_ExcitationSettings, {"excitation": values}, source).excitation
