"""The status of a run: its searches, whether it is a trial, and whether it equals the results that are kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import pandas as pd

from narxbench._algorithms.registry import algorithm, algorithm_names
from narxbench._report.formats import count
from narxbench._studies.paper.claims import CRITERIA, GA, SYSTEMS, UPSO
from narxbench._studies.paper.frames import main_methods
from narxbench._studies.paper.published import EVALUATIONS, RUNS, SNRS
from narxbench._study.design_choices import DesignChoices, interpretation_settings, interpretation_text

_METHODS = [*product([UPSO], CRITERIA), (GA, "bic")]
# The conditions of the paper: system, SNR, algorithm and criterion.
PAPER_CONDITIONS = [(*place, *method) for place, method in product(product(SYSTEMS, SNRS), _METHODS)]
_PLACE = ["system", "snr_db", "algorithm", "criterion"]


@dataclass(frozen=True)
class RunStatus:
    """The size of a run: searches made and planned, and the runs and evaluations of a condition by its settings.

    ``shortfalls`` say what a trial lacks of the paper's study. A complete run has none. ``is_of_paper`` is whether any
    system of the run is one of the paper's.
    """

    searches: int
    planned: int
    runs: str
    evaluations: str
    shortfalls: Sequence[str]
    is_of_paper: bool

    @property
    def is_complete(self) -> bool:
        """Whether the run has all that the paper has."""
        return self.is_of_paper and not self.shortfalls

    @property
    def is_trial(self) -> bool:
        """Whether the run is one of the paper's systems, with less than the paper has."""
        return self.is_of_paper and bool(self.shortfalls)


def run_status(
    settings: Mapping[str, Any], metrics: pd.DataFrame, agreement_values: pd.DataFrame, choices: DesignChoices
) -> RunStatus:
    """Return the status of a run, from the settings of its study and its frames."""
    of_paper = set(agreement_values.loc[agreement_values["method"] != "", "system"])
    of_main_method = metrics["method"].isin(main_methods(metrics).values())
    return RunStatus(
        searches=int(metrics["runs"].sum()),
        planned=_planned(settings),
        runs=count(len(settings["seeds"])),
        evaluations=count(settings["evaluations"]),
        shortfalls=_shortfalls(metrics[of_main_method & metrics["system"].isin(of_paper)], settings, choices),
        is_of_paper=bool(of_paper),
    )


def _planned(settings: Mapping[str, Any]) -> int:
    """Return how many searches a study asks for. A deterministic algorithm is run once."""
    searches, installed = 0, algorithm_names()
    for method in settings["methods"].values():
        name = method["algorithm"]
        is_deterministic = name in installed and algorithm(name).about.deterministic
        searches += len(method["criteria"]) * (1 if is_deterministic else len(settings["seeds"]))
    return searches * len(settings["systems"]) * len(settings["snr_db"])


def _shortfalls(metrics: pd.DataFrame, settings: Mapping[str, Any], choices: DesignChoices) -> list[str]:
    """Return what conditions of the paper's systems lack of the paper's study: conditions, runs, evaluations."""
    of_paper = metrics.set_index(_PLACE)
    of_paper = of_paper[of_paper.index.isin(PAPER_CONDITIONS)]
    if of_paper.empty:
        return [f"none of the paper’s {len(PAPER_CONDITIONS)} conditions"]
    shortfalls = []
    n_conditions = len(set(of_paper.index))
    if n_conditions < len(PAPER_CONDITIONS):
        shortfalls.append(f"{n_conditions} of the paper’s {len(PAPER_CONDITIONS)} conditions")
    runs, evaluations = of_paper["runs"].min(), of_paper["evaluations"].min()
    if runs < RUNS:
        shortfalls.append(f"{runs} of the paper’s {RUNS} runs")
    needed = interpreted_evaluations(settings, choices)
    if evaluations < needed:
        owner = "the paper’s" if needed == EVALUATIONS else "its interpretation’s"
        shortfalls.append(f"{count(evaluations)} of {owner} {count(needed)} evaluations")
    return shortfalls


def interpreted_evaluations(settings: Mapping[str, Any], choices: DesignChoices) -> int:
    """Return the evaluations of a run by the interpretation of a study."""
    chosen = interpretation_settings(choices, choices.named[settings["interpretation"]])
    evaluations: int = chosen["search"]["evaluations"]
    return evaluations


def compare_with_kept(
    conditions: pd.DataFrame, kept: pd.DataFrame, settings: Mapping[str, Any], choices: DesignChoices
) -> dict[str, Any]:
    """Return how the conditions of a run compare with the kept ones: the frames ``conditions`` of both.

    ``compared`` conditions have a kept one of the same size, interpretation and data seed, and as many are ``equal``.
    ``different`` has the names of the others.
    """
    chosen = choices.named[settings["interpretation"]]
    # The kept conditions name an interpretation by its options, for each algorithm those that concern it.
    texts = {name: interpretation_text(choices, chosen, name) for name in conditions["algorithm"].unique()}
    run = conditions.assign(interpretation=conditions["algorithm"].map(texts))
    identity = [*_PLACE, "data_seed", "interpretation", "runs", "evaluations"]
    results = [name for name in conditions.columns if name not in (*identity, "method")]
    both = run.merge(kept, on=identity, suffixes=("", "_kept"))
    is_equal = pd.Series(True, both.index)
    for name in results:
        # As text, for a missing number does not equal itself, and some values are tuples of numbers.
        is_equal &= both[name].map(repr) == both[f"{name}_kept"].map(repr)
    places = both.loc[~is_equal, _PLACE].itertuples(index=False, name=None)
    different = [f"{system} {snr:g} dB {name} {criterion}" for system, snr, name, criterion in places]
    return {"compared": len(both), "equal": int(is_equal.sum()), "different": different}
