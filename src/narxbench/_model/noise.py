"""How white noise e(k) enters the simulation of a system; :meth:`narxbench._model.system.System.simulate` adds it.

To add a kind of noise, name it in :data:`NOISES` with the function that adds it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Returns the output of the system, which starts at rest, with a disturbance inside its equation.
Respond = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Noise:
    """A kind of noise.

    Attributes
    ----------
    words : str
        Where the noise enters, as the end of a sentence "noise ...".
    measured : callable
        Returns the measured output, of the same length as its arguments, for the noise e(k), which is white and has
        the variance that belongs to the SNR, the output without noise, and the response of the system.
    """

    words: str
    measured: Callable[[Floats, Floats, Respond], Floats]


def _on_output(e: Floats, clean: Floats, respond: Respond) -> Floats:
    return clean + e


def _inside_equation(e: Floats, clean: Floats, respond: Respond) -> Floats:
    return respond(e)


NOISES = {
    "output": Noise("on the measured output", _on_output),
    "equation": Noise("inside the equation", _inside_equation),
}
if TYPE_CHECKING:
    NoiseKind = str
else:
    NoiseKind = Literal[tuple(NOISES)]
