"""The options to which the closest interpretation owes its nearness, by system; and where J misleads."""

import math

import pandas as pd
import pytest
from tests.unit.studies.paper.summaries import make_summary, published

from narxbench._studies.paper.causes import causes, misleading
from narxbench._studies.paper.frames import conditions_frame
from narxbench._study.design_choices import load_design_choices

CHOICES = load_design_choices()
BOUND, RESET = "velocity-bound=1.75", "restart-count=reset"
BOTH = f"{BOUND}+{RESET}"


def conditions(*spurious):
    """Return conditions of S1 and S4, each (interpretation, median J, spurious terms on S1, on S4)."""
    frames = []
    for text, median, *counts in spurious:
        for system, count in zip(("S1", "S4"), counts, strict=True):
            frame = conditions_frame([make_summary(system, 50)], published())
            frame = frame.assign(interpretation=text, spurious=count, median_fitness=float(median))
            frames += [frame.assign(data_seed=1), frame.assign(data_seed=2)]
    return pd.concat(frames, ignore_index=True)


def reported(frame, text=BOTH):
    rows = causes(frame, published(), CHOICES, {"upso2d": text}).to_dict("records")
    return {(row["system"], row["design_choice"]): row for row in rows}


# The paper has 13 spurious terms on S1 and 42 on S4 at 50 dB.
WITHOUT_BOUND, WITHOUT_RESET = (RESET, -2.0, 0, 42), (BOUND, -1.0, 13, 20)


def test_each_system_has_the_option_without_which_it_is_farther():
    rows = reported(conditions((BOTH, -1.0, 13, 42), WITHOUT_BOUND, WITHOUT_RESET))
    assert set(rows) == {("S1", "velocity-bound"), ("S4", "restart-count")}
    bound = rows["S1", "velocity-bound"]
    assert (bound["part"], bound["option"], bound["seeds"]) == ("upso2d", "1.75", 2)
    assert bound["with"] < bound["without"] and "not bounded" in bound["contradicts"]
    # J is worse with the bound than without.
    assert (bound["worse"], rows["S4", "restart-count"]["worse"]) == (1.0, 0.0)


def test_an_option_without_which_the_rest_was_not_run_is_judged_alone():
    alone = reported(conditions(("baseline", -2.0, 0, 42), (BOUND, -1.0, 13, 42), (BOTH, -1.0, 13, 42)))
    assert ("S1", "velocity-bound") in alone
    assert reported(conditions((BOTH, -1.0, 13, 42))) == {}
    assert reported(conditions(("baseline", -2.0, 0, 42)), "baseline") == {}
    # On other data no J is worse.
    text = "input=uniform-small"
    rows = reported(conditions(("baseline", -2.0, 0, 42), (text, -1.0, 13, 42)), text)
    assert math.isnan(rows["S1", "input"]["worse"])


@pytest.mark.parametrize(
    ("best", "misled"), [([-3.0, -1.0], 1), ([-2.0, -1.0], 0), ([-2.0000001, -1.0], 0), ([math.nan, -2.5], 1)]
)
def test_j_misleads_where_any_run_is_below_the_truth(best, misled):
    rows = [("S1", 30.0, 1, fitness, -2.0) for fitness in best] + [("S1", 50.0, 1, -2.0, -2.0)]
    frame = pd.DataFrame(rows, columns=["system", "snr_db", "data_seed", "best_fitness", "true_fitness"])
    assert misleading(frame).to_dict("records") == [{"system": "S1", "misled": misled, "data_sets": 2}]
