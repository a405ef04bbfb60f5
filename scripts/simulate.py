"""Simulate a system and write its data set."""

from typing import Any

from pydantic import TypeAdapter

from narxbench.data import write_signals
from narxbench.signals import Excitation
from narxbench.systems import System
from narxbench.timing import timed


def simulate(
    output: str,
    log: str,
    *,
    system: dict[str, Any],
    snr_db: float,
    data: dict[str, Any],
    realisation: int | None = None,
) -> None:
    """Write the data set (columns u, y) of one system at one SNR; ``realisation`` is the run that it is for, if any."""
    with timed(log):
        signals = System(**system).simulate(
            data["samples"],
            snr_db=snr_db,
            seed=data["seed"],
            excitation=TypeAdapter(Excitation).validate_python(data["excitation"]),
            noise=data["noise"],
            washout=data["washout"],
            realisation=realisation,
        )
        write_signals(output, signals.u, signals.y)
