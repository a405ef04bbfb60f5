"""The causes of the numbers: the effect of each option of the closest interpretation, and where J misleads.

Both follow from the conditions of the study of interpretations, by system: what matters on one need not matter on
another.
"""

import math
from collections.abc import Collection, Mapping

import pandas as pd

from narxbench._studies.paper.agreement import compare
from narxbench._studies.paper.published import Published
from narxbench._study.design_choices import DesignChoices, interpretation_text, parse_interpretation

# Final J are stored to six decimals, so that two of them may differ by their rounding alone.
SAME_J = 1.5e-6
CAUSES = ["algorithm", "part", "design_choice", "option", "contradicts", "system", "with", "without", "seeds", "worse"]
_ENOUGH = 0.5  # of the largest fall of the deviance on a system


def causes(
    conditions: pd.DataFrame, published: Published, choices: DesignChoices, closest: Mapping[str, str]
) -> pd.DataFrame:
    """Return for each system the options of the closest interpretation that lower its deviance most.

    An option is judged together with the others of the closest interpretation, or alone where that was not run without
    it: by the median deviance ``with`` and ``without`` it, under BIC, over the data ``seeds`` on which both were run.
    The rows of a system are the option with the largest fall of the deviance, and those with at least half of that.
    ``worse`` is the share of the data sets on which the option makes the median final J worse; it is missing for
    options that change what J is computed on.
    """
    under_bic = conditions[conditions["criterion"] == "bic"]
    compared = compare(under_bic, published.once)
    deviances = compared.groupby(["algorithm", "interpretation", "data_seed", "system"])["deviance"].sum()
    final = under_bic.fillna({"median_fitness": math.inf})
    final = final.set_index(["algorithm", "interpretation", "system", "data_seed", "snr_db"])["median_fitness"]
    rows = []
    for algorithm, text in closest.items():
        was_run = set(compared.loc[compared["algorithm"] == algorithm, "interpretation"])
        for name, option in parse_interpretation(choices, text).items():
            pair = _pair(choices, text, name, algorithm, was_run)
            if pair is None:
                continue
            choice = choices.design_choices[name]
            by_system = _side_by_side(deviances.loc[algorithm], pair).groupby("system")
            changes = by_system.median().assign(seeds=by_system.size(), worse=math.nan)
            if choice.part not in ("data", "fitness"):
                ends = _side_by_side(final.loc[algorithm], pair)
                changes["worse"] = (ends["with"] > ends["without"] + SAME_J).groupby("system").mean()
            about = (algorithm, choice.part, name, option, choice.options[option].contradicts)
            for change in changes.itertuples(name=None):
                rows.append((*about, *change))
    frame = pd.DataFrame(rows, columns=CAUSES)
    fall = frame["without"] - frame["with"]
    largest = fall.groupby([frame["algorithm"], frame["system"]]).transform("max")
    frame = frame[(fall > 0) & (fall >= _ENOUGH * largest)]
    return frame.sort_values(["algorithm", "system"], ascending=[False, True], kind="stable", ignore_index=True)


def _side_by_side(values: pd.Series, pair: tuple[str, str]) -> pd.DataFrame:
    """Return the values of two interpretations, with an option and without it, where both were run."""
    return pd.concat([values.loc[text] for text in pair], axis=1, keys=["with", "without"]).dropna()


def _pair(
    choices: DesignChoices, text: str, name: str, algorithm: str, was_run: Collection[str]
) -> tuple[str, str] | None:
    """Return two interpretations that were run and differ in one option of ``text`` alone, with and without it."""
    rest = parse_interpretation(choices, text)
    option = {name: rest.pop(name)}
    for remaining in (rest, {}):
        with_option = interpretation_text(choices, remaining | option, algorithm)
        without = interpretation_text(choices, remaining, algorithm)
        if with_option in was_run and without in was_run:
            return with_option, without
    return None


def misleading(conditions: pd.DataFrame) -> pd.DataFrame:
    """Return on how many ``data_sets`` of a ``system`` J is ``misled``: the lowest J is not that of the true structure.

    The conditions are of one interpretation of the data and of one criterion.
    """
    finite = conditions.fillna({"best_fitness": math.inf, "true_fitness": math.inf})
    lowest = finite.groupby(["system", "snr_db", "data_seed"], sort=False)[["best_fitness", "true_fitness"]].min()
    misled = lowest["best_fitness"] < lowest["true_fitness"] - SAME_J
    return misled.groupby("system", sort=False).agg(misled="sum", data_sets="size").reset_index()
