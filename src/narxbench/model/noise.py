"""Kinds of noise: how white noise e(k) enters the simulation of a system.

A kind of noise is one entry of :data:`NOISES`. Settings, the simulation and what readers see of it ask that entry.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

Signal = NDArray[np.float64]


@dataclass(frozen=True)
class Noise:
    """A kind of noise.

    Attributes
    ----------
    words : str
        Where it enters, as the end of "noise ...".
    disturbed : function
        Returns the measured output, shape (samples,), from the noise-free output, e, and a function that returns the
        output of the equation with a signal of that shape added to its right side.
    """

    words: str
    disturbed: Callable[[Signal, Signal, Callable[[Signal], Signal]], Signal]


NOISES = {
    "output": Noise("on the measured output", lambda clean, e, respond: clean + e),
    "equation": Noise("inside the equation", lambda clean, e, respond: respond(e)),
}
if TYPE_CHECKING:
    NoiseKind = str
else:
    NoiseKind = Literal[tuple(NOISES)]
