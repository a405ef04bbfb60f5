"""Simulate a system and write its data set."""

import json
from functools import lru_cache
from typing import Any

from narxbench.experiment.study_settings import DataSet
from narxbench.model.dataset import signals_csv
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import canonical_json, read_bytes, sha256, write_atomically
from narxbench.model.system import System
from narxbench.pipeline.timing import timed


def data_set(*, system: dict[str, Any], snr_db: float, data: dict[str, Any], realisation: int | None = None) -> str:
    """Return the data set (CSV, columns u, y) of one system at one SNR; ``realisation`` is the run it is for."""
    return signals_csv(*DataSet.model_validate(data).simulate(System(**system), snr_db, realisation))


def simulate(output: str, log: str, **experiment: Any) -> None:
    """Write the data set of an experiment, the arguments of :func:`data_set`."""
    with timed(log):
        write_atomically(output, data_set(**experiment))


def check_data_set(path: str, run_seed: int, *, data: dict[str, Any], **experiment: Any) -> str:
    """Return the digest of the data file of a run, which must be what :func:`simulate` writes for the experiment."""
    digest = sha256(read_bytes(path))
    realisation = DataSet.model_validate(data).realisation_of(run_seed)
    # A changed number leaves a good CSV file, and searches would take it for measurements.
    if digest != _digest(canonical_json({**experiment, "data": data, "realisation": realisation})):
        raise NarxbenchError(
            f"{path}: damaged or edited, these settings make another data set; delete it and run again"
        )
    return digest


@lru_cache(maxsize=64)
def _digest(experiment: str) -> str:
    return sha256(data_set(**json.loads(experiment)))
