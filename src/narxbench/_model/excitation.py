"""Excitation: the input signals that drive a simulated system.

Each kind of excitation is a settings model with its own value of the key ``kind``; ``samples`` draws the signal. A held
and a binary input are made of another input: without one, of the input that the system has (``for_system``).
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


class _Input(Settings):
    """Base of all inputs."""

    def for_system(self, own: "Excitation") -> "Excitation":
        """Return the input for a system that has an input of its own."""
        return self  # type: ignore[return-value]

    @property
    def recorded_file(self) -> str:
        """The file that it is read from; empty if it is drawn."""
        return ""


class UniformInput(_Input):
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


class GaussianInput(_Input):
    """White Gaussian input with zero mean and standard deviation ``sd``."""

    kind: Literal["gaussian"] = "gaussian"
    sd: float = Field(default=1.0, gt=0)

    def samples(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return the input, of shape (size,)."""
        return self.sd * np.array(standard_normal(rng, size))


class AutoregressiveInput(_Input):
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


class RecordedInput(_Input):
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

    @property
    def recorded_file(self) -> str:
        """The file that it is read from."""
        return self.file


Source = Annotated[UniformInput | GaussianInput | AutoregressiveInput | RecordedInput, Field(discriminator="kind")]


class _ChangedInput(_Input):
    """An input that is made of another one."""

    source: Source | None = None
    """The input that it is made of; null: that of the system, or else a white one, uniform on (-1, 1)."""

    @property
    def recorded_file(self) -> str:
        """The file that the other input is read from; empty if it is drawn."""
        return self.source.recorded_file if self.source else ""

    def for_system(self, own: "Excitation") -> "Excitation":
        """Return this input, made of that of a system unless it says what it is made of."""
        if self.source or isinstance(own, _ChangedInput):
            return self  # type: ignore[return-value]
        return self.model_copy(update={"source": own})  # type: ignore[return-value]

    def _source_samples(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        source = self.source or UniformInput()
        return source.samples(rng, size)


class HeldInput(_ChangedInput):
    """Another input, each value of which is held for ``hold`` samples, as when a plant is sampled faster."""

    kind: Literal["held"] = "held"
    hold: int = Field(default=5, ge=1, le=1000)

    def samples(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return the input, of shape (size,)."""
        return np.repeat(self._source_samples(rng, -(-size // self.hold)), self.hold)[:size]


class BinaryInput(_ChangedInput):
    """Another input, reduced to two levels: its mean plus or minus its standard deviation, whichever is nearer."""

    kind: Literal["binary"] = "binary"

    def samples(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return the input, of shape (size,)."""
        values = self._source_samples(rng, size)
        # Correctly rounded sums: the same bytes on every machine.
        mean = math.fsum(values.tolist()) / size
        spread = math.sqrt(math.fsum((value - mean) * (value - mean) for value in values.tolist()) / size)
        return np.where(values < mean, mean - spread, mean + spread)


Excitation = Annotated[
    UniformInput | GaussianInput | AutoregressiveInput | RecordedInput | HeldInput | BinaryInput,
    Field(discriminator="kind"),
]


class _ExcitationSettings(Settings):
    """Settings with the one field by which messages know an excitation."""

    excitation: Excitation


def excitation_of(values: object, source: str = "") -> Excitation:
    """Return the excitation that plain data describe, or the excitation itself; errors name ``source``, if any."""
    return validated(_ExcitationSettings, {"excitation": values}, source).excitation
