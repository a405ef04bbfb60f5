"""How white noise e(k) enters the simulation of a system; :meth:`narxbench.model.system.System.simulate` adds it."""

from typing import TYPE_CHECKING, Literal

# Kinds of noise, and for each where it enters, as the end of a sentence "noise ...".
NOISES = {"output": "on the measured output", "equation": "inside the equation"}
if TYPE_CHECKING:
    NoiseKind = str
else:
    NoiseKind = Literal[tuple(NOISES)]
