"""Facets of scenarios, by which readers find the data that are like theirs."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from narxbench._model.noise import NOISES
from narxbench._report.formats import count, snr

# The choices of a reader, in their order on the page.
FACETS = {
    "noise": "Noise",
    "length": "Samples",
    "snr": "SNR",
    "input": "Input",
    "sampling": "Sampling",
    "candidates": "Candidate terms",
}
_WHITE = ("output", "equation")
_USUAL_INPUT = "the system’s own"
_USUAL_SAMPLING = "as the system’s source has it"


def facets_of(
    scenarios: Mapping[str, Mapping[str, Any]], scores: pd.DataFrame, usual_noise: str
) -> dict[str, dict[str, str]]:
    """Return the value of each of `FACETS` for each scenario that has scores, in words.

    ``usual_noise`` is the kind of noise of scenarios that name none.
    """
    values = {}
    for name, scenario in scenarios.items():
        own_scores = scores[scores["scenario"] == name]
        if len(own_scores):
            values[name] = {
                "noise": _noise(scenario, usual_noise),
                "length": _range(own_scores["samples"], count),
                "snr": _range(own_scores["snr_db"], snr),
                "input": _input(scenario),
                "sampling": _sampling(scenario),
                "candidates": _candidates(scenario, own_scores),
            }
    return values


def _noise(scenario: Mapping[str, Any], usual: str) -> str:
    """Return where and how noise enters, by the words of its kind."""
    kind = scenario.get("noise") or usual
    words = NOISES[kind].words
    return f"white, {words}" if kind in _WHITE else words


def _range(values: pd.Series, words: Callable[[float], str]) -> str:
    """Return the least and the greatest value in words; one if they look the same."""
    low, high = words(values.min()), words(values.max())
    return low if low == high else f"{low} to {high}"


def _input(scenario: Mapping[str, Any]) -> str:
    excitation = scenario.get("excitation")
    return str(excitation["kind"]) if excitation else _USUAL_INPUT


def _sampling(scenario: Mapping[str, Any]) -> str:
    factor = scenario.get("oversampling")
    return f"{factor} times as fast" if factor else _USUAL_SAMPLING


def _candidates(scenario: Mapping[str, Any], scores: pd.DataFrame) -> str:
    """Return the number of candidate terms, if a scenario sets it; else that systems have their own."""
    if any(scenario.get(key) for key in ("n_u", "n_y", "degree")):
        return _range(scores["n_terms"], count)
    return "as the system has them"
