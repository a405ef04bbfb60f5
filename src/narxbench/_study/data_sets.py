"""The data sets of a study: simulated systems as CSV."""

from collections.abc import Mapping
from typing import Any

from narxbench._model.dataset import signals_csv
from narxbench._model.excitation import excitation_of
from narxbench._model.system import System


def simulated_csv(
    *, system: Mapping[str, Any], snr_db: float, seed: int, data: Mapping[str, Any], realisation: int | None = None
) -> str:
    """Return the data set (CSV, columns u, y) of one system at one SNR.

    ``system`` has the arguments of :class:`~narxbench._model.system.System`, ``data`` those of its ``simulate``, as
    plain data. An excitation in ``data`` prevails over the system's. Where each run has input and noise of its
    own, ``realisation`` is the run, or 0 for data that no run sees.
    """
    excitation = data["excitation"]
    if excitation is not None:
        excitation = excitation_of(excitation, "data")
    signals = System(**system).simulate(
        data["samples"],
        snr_db=snr_db,
        seed=seed,
        excitation=excitation,
        noise=data["noise"],
        washout=data["washout"],
        realisation=realisation,
        **{name: data[name] for name in ("snr_of", "own_noise") if name in data},
    )
    return signals_csv(*signals)
