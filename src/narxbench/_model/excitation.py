"""Excitation: the input signals that drive a simulated system.

Each kind of excitation is a settings model with its value of the key ``kind``, and ``samples`` draws the signal. A held
and a binary input are made of another input: without one, of the input that the system has (:func:`input_for_system`).
"""

import math
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
        """Return the first samples of the file, of shape (size,), without random numbers."""
        (recorded,) = read_signals(self.file, ("u",))
        if len(recorded) < size:
            raise NarxbenchError(f"{self.file}: found {len(recorded)} samples; allowed: at least {size} (with washout)")
        return recorded[:size]


Source = Annotated[UniformInput | GaussianInput | AutoregressiveInput | RecordedInput, Field(discriminator="kind")]


class HeldInput(Settings):
    """Another input, each value of which is held for ``hold`` samples, as when a plant is sampled faster."""

    source: Source | None = None
    """The input that it is made of; null: that of the system, or else a white one, uniform on (-1, 1)."""
    kind: Literal["held"] = "held"
    hold: int = Field(default=5, ge=1, le=1000)

    def samples(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return the input, of shape (size,)."""
        source = self.source or UniformInput()
        return np.repeat(source.samples(rng, -(-size // self.hold)), self.hold)[:size]


class BinaryInput(Settings):
    """Another input, reduced to two levels: its mean plus or minus its standard deviation, whichever is nearer."""

    source: Source | None = None
    """The input that it is made of; null: that of the system, or else a white one, uniform on (-1, 1)."""
    kind: Literal["binary"] = "binary"

    def samples(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return the input, of shape (size,)."""
        values = (self.source or UniformInput()).samples(rng, size)
        # Correctly rounded sums: the same bytes on every machine.
        mean = math.fsum(values.tolist()) / size
        spread = math.sqrt(math.fsum((value - mean) * (value - mean) for value in values.tolist()) / size)
        return np.where(values < mean, mean - spread, mean + spread)


Excitation = Annotated[
    UniformInput | GaussianInput | AutoregressiveInput | RecordedInput | HeldInput | BinaryInput,
    Field(discriminator="kind"),
]


class _ExcitationSettings(Settings):
    """Settings with one field, for messages about an excitation."""

    excitation: Excitation


def input_for_system(excitation: Excitation, system_input: Excitation) -> Excitation:
    """Return an input for a system. One that is made of an unnamed input is made of the input of the system."""
    if not isinstance(excitation, HeldInput | BinaryInput) or excitation.source:
        return excitation
    if isinstance(system_input, HeldInput | BinaryInput):
        return excitation
    return excitation.model_copy(update={"source": system_input})


def recorded_file(excitation: Excitation) -> str:
    """Return the file that an input, or its source, is read from, or an empty text if it is drawn."""
    source = excitation.source if isinstance(excitation, HeldInput | BinaryInput) else excitation
    return source.file if isinstance(source, RecordedInput) else ""


def excitation_of(values: object, source: str = "") -> Excitation:
    """Return the excitation that plain data describe, or the excitation itself. Errors name ``source``, if any."""
    return validated(_ExcitationSettings, {"excitation": values}, source).excitation
