"""Run one cell of the sensitivity experiment, all seeds, and write its summary; its time goes to the log."""

from typing import Any

from narxbench.experiment.study_settings import Data
from narxbench.io.files import sealed_json, write_atomically
from narxbench.experiment.interpretations import Fitness
from narxbench.experiment.variations import run_cell
from narxbench.model.system import System
from narxbench.pipeline.timing import timed


def run_reading_cell(
    output: str,
    log: str,
    *,
    axes: dict[str, Any],
    system: dict[str, Any],
    data: dict[str, Any],
    fitness: dict[str, Any],
    settings: dict[str, Any],
    seeds: list[int],
    evaluations: int,
) -> None:
    """Write the summary of one algorithm and criterion on one system and SNR under one reading."""
    with timed(log):
        summary = run_cell(
            System(**system),
            float(axes["snr_db"]),
            axes["snr_db"],
            algorithm=axes["algorithm"],
            criterion=axes["criterion"],
            settings=settings,
            data=Data.model_validate(data),
            fitness=Fitness.model_validate(fitness),
            seeds=seeds,
            evaluations=evaluations,
        )
        write_atomically(output, sealed_json({"axes": axes, **summary}))
