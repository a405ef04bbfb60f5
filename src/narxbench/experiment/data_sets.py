"""The data sets of a study: simulated systems as CSV."""

from collections.abc import Mapping
from typing import Any

import pydantic

from narxbench.model.dataset import signals_csv
from narxbench.model.excitation import Excitation
from narxbench.model.system import System

_EXCITATION: pydantic.TypeAdapter[Excitation] = pydantic.TypeAdapter(Excitation)


def simulated_csv(
    *, system: Mapping[str, Any], snr_db: float, seed: int, data: Mapping[str, Any], realisation: int | None = None
) -> str:
    """Return the data set (CSV, columns u, y) of one system at one SNR.

    Parameters
    ----------
    system : mapping
        Arguments of :class:`~narxbench.model.system.System`.
    snr_db : float
        Signal-to-noise ratio in dB.
    seed : int
        Seed of input and noise.
    data : mapping
        ``samples``, ``washout``, ``excitation`` and ``noise``.
    realisation : int, optional
        The run that it is for, where each has input and noise of its own.

    Raises
    ------
    NarxbenchError
        If the output diverges.
    """
    signals = System(**system).simulate(
        data["samples"],
        snr_db=snr_db,
        seed=seed,
        excitation=_EXCITATION.validate_python(data["excitation"]),
        noise=data["noise"],
        washout=data["washout"],
        realisation=realisation,
    )
    return signals_csv(*signals)
