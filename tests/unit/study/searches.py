"""Data sets, run files and summaries of a tiny problem, made by the steps of the rules."""

from pathlib import Path
from typing import Any

from tests.unit.studies.steps import read, step

SYSTEM = {"name": "X1", "equation": "y(k) = 0.4*y(k-1) + u(k-1)", "n_u": 2, "n_y": 2, "degree": 2}
DATA = {"samples": 200, "washout": 10, "excitation": {"kind": "uniform"}, "noise": "output"}
STRUCTURE = {"n_u": 2, "n_y": 2, "degree": 2, "n_validation": 60, "estimation": "before_validation"}
STRUCTURE |= {"error": "free_run"}
CONDITION = {"system": "X1", "snr_db": 37.5, "data_seed": 3, "interpretation": "baseline", "method": "mine"}
CONDITION |= {"criterion": "aic-6.5"}
SETTINGS = {"population_size": 10}
METHOD = {"condition": CONDITION, "structure": STRUCTURE, "algorithm": "ga", "settings": SETTINGS, "evaluations": 200}
AXES = {"system": "X1", "snr_db": "37.5"}


def simulation(seed: int = 3) -> dict[str, Any]:
    """Return the parameters of a data set."""
    return {"system": SYSTEM, "snr_db": 37.5, "seed": seed, "data": DATA}


def simulate(path: Path, seed: int = 3) -> str:
    """Write a data set and return its path; that of a realisation has its number."""
    return step("simulate", {"simulation": simulation(seed)}, output={"": [str(path)]})[0]


def search(path: Path, data: str | list[str], seeds: list[int], *, seed: int = 3, **changes: Any) -> str:
    """Search with each seed, write the run file and return its path."""
    params = {"run": {**METHOD, "axes": AXES, "time_limit": 60.0, **changes}, "seeds": seeds}
    output = {"": [str(path)]}
    return step("search", params, input={"data": data}, output=output, simulation=simulation(seed))[0]


def summarise(path: Path, runs: list[str], data: str | list[str], seeds: list[int], **changes: Any) -> str:
    """Summarise run files and return the text of the summary."""
    params = {"run": {**METHOD, "axes": AXES, "time_limit": 60.0, **changes}, "seeds": seeds, "threshold": 0.9}
    inputs, output = {"runs": runs, "data": data}, {"": [str(path)]}
    return read(step("summarise", params, input=inputs, output=output, simulation=simulation())[0])
