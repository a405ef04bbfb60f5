"""Why the numbers are where they are: what each option of the closest interpretation does, and where J misleads.

Both are read off the conditions of the study of interpretations, by system: what matters on one need not on another.
"""

import math
from collections.abc import Collection, Mapping

import pandas as pd

from narxbench.studies.paper.agreement import compare
from narxbench.studies.paper.published import Published
from narxbench.study.design_choices import DesignChoices, interpretation_text, parse_interpretation

# Final J are stored to six decimals, so that two of them may differ by their rounding alone.
SAME_J = 1.5e-6
CAUSES = ["algorithm", "part", "design_choice", "option", "contradicts", "system", "with", "without", "seeds", "worse"]
_ENOUGH = 0.5  # of the largest fall of the deviance on a system


def causes(
    conditions: pd.DataFrame, published: Published, choices: DesignChoices, closest: Mapping[str, str]
) -> pd.DataFrame:
    """Return on each system the options of the closest interpretation that bring its deviance down most.

    An option is judged next to the others of the closest interpretation, or alone where that was not run without it:
    by the median deviance ``with`` and ``without`` it, under BIC, over the data ``seeds`` on which both were run. The
    rows of a system are those with the largest fall of the deviance and with at least half of that. ``worse`` is the
    share of the data sets on which it makes the median final J worse; missing where it changes what J is computed on.
    """
    conditions = conditions[conditions["criterion"] == "bic"]
    values = compare(conditions, published.once)
    sums = values.groupby(["algorithm", "interpretation", "data_seed", "system"])["deviance"].sum()
    final = conditions.fillna({"median_fitness": math.inf})
    final = final.set_index(["algorithm", "interpretation", "system", "data_seed", "snr_db"])["median_fitness"]
    rows = []
    for algorithm, text in closest.items():
        run = {of for name, of in sums.index.droplevel(["data_seed", "system"]) if name == algorithm}
        for name, option in parse_interpretation(choices, text).items():
            if pair := _pair(choices, text, name, algorithm, run):
                both = _side_by_side(sums.loc[algorithm], pair)
                found = both.groupby("system").median().assign(seeds=both.groupby("system").size())
                ends, choice = _side_by_side(final.loc[algorithm], pair), choices.design_choices[name]
                worse = (ends["with"] > ends["without"] + SAME_J).groupby("system").mean()
                found["worse"] = math.nan if choice.part in ("data", "fitness") else worse
                about = (algorithm, choice.part, name, option, choice.options[option].contradicts)
                rows += [(*about, *row) for row in found.itertuples(name=None)]
    frame = pd.DataFrame(rows, columns=CAUSES)
    fall = frame["without"] - frame["with"]
    largest = fall.groupby([frame["algorithm"], frame["system"]]).transform("max")
    frame = frame[(fall > 0) & (fall >= _ENOUGH * largest)]
    return frame.sort_values(["algorithm", "system"], ascending=[False, True], kind="stable", ignore_index=True)


def _side_by_side(values: pd.Series, pair: tuple[str, str]) -> pd.DataFrame:
    return pd.concat([values.loc[text] for text in pair], axis=1, keys=["with", "without"]).dropna()


def _pair(choices: DesignChoices, text: str, name: str, algorithm: str, run: Collection[str]) -> tuple[str, str] | None:
    """Return two interpretations that were run and differ in one option of ``text`` alone, with and without it."""
    others = parse_interpretation(choices, text)
    own = {name: others.pop(name)}
    for rest in (others, {}):
        pair = [interpretation_text(choices, rest | of, algorithm) for of in (own, {})]
        if {*pair} <= {*run}:
            return pair[0], pair[1]
    return None


def misleading(conditions: pd.DataFrame) -> pd.DataFrame:
    """Return on how many ``data_sets`` of a ``system`` J is ``misled``: the lowest known is not the true structure's.

    The conditions are of one interpretation of the data and of one criterion.
    """
    finite = conditions.fillna({"best_fitness": math.inf, "true_fitness": math.inf})
    lowest = finite.groupby(["system", "snr_db", "data_seed"], sort=False)[["best_fitness", "true_fitness"]].min()
    misled = lowest["best_fitness"] < lowest["true_fitness"] - SAME_J
    return misled.groupby("system", sort=False).agg(misled="sum", data_sets="size").reset_index()
