"""Which conditions of interpretations are compared, and their nearness."""

from dataclasses import replace

import pytest
from tests.unit.analysis.multiverses import BOUND, EXEMPLAR, TIES, choices, conditions_of, frame_of, multiverse
from tests.unit.analysis.summaries import published

from narxbench.analysis.multiverse_frame import make_multiverse
from narxbench.io.errors import NarxbenchError


@pytest.mark.parametrize(
    ("algorithm", "text", "message"),
    [
        ("upso2d", "tie=random", "tie: unknown design choice"),
        ("upso2d", f"{TIES}+{BOUND}", f"allowed: '{BOUND}\\+{TIES}'"),
        ("ga", TIES, f"ga: found interpretation '{TIES}'; allowed: 'baseline'"),
    ],
)
def test_interpretations_that_do_not_fit_the_design_choices(algorithm, text, message):
    with pytest.raises(NarxbenchError, match=message):
        multiverse(conditions_of("upso2d", "baseline"), conditions_of(algorithm, text, 1)[:1])


def test_without_its_baseline_nothing_is_compared():
    full = conditions_of("upso2d", "baseline")
    for groups, message in (
        ([conditions_of("ga", "baseline")], "none of upso2d under baseline for data seed 1, S1, 50 dB"),
        ([full[:-1]], "none of upso2d under baseline for data seed 3, S4, 30 dB"),
        ([full, conditions_of("ga", "baseline", 2)], "none of ga under baseline for data seed 3, S1, 50 dB"),
        ([full, conditions_of("stepwise", "baseline", 4)], "none of upso2d under baseline for data seed 4"),
    ):
        with pytest.raises(NarxbenchError, match=message):
            multiverse(*groups)


def test_an_algorithm_without_published_values_is_not_compared():
    without_ga = replace(published(), values=published().values.query("algorithm != 'ga'"))
    frame = frame_of(conditions_of("upso2d", "baseline"), conditions_of("ga", "baseline"))
    with pytest.raises(NarxbenchError, match=r"published_tables\.csv: found none of ga under bic"):
        make_multiverse(frame, choices(), without_ga)


def test_only_complete_interpretations_are_compared_and_in_their_order():
    found = multiverse(
        conditions_of("upso2d", TIES),
        conditions_of("upso2d", EXEMPLAR, 2),
        conditions_of("upso2d", f"{BOUND}+{TIES}"),
        conditions_of("upso2d", BOUND)[1:],
        conditions_of("upso2d", "baseline"),
        conditions_of("upso2d", "baseline", criterion="aic-2"),
    )
    assert found.texts("upso2d") == ["baseline", TIES, f"{BOUND}+{TIES}"]
    assert found.texts("upso2d", "aic-2") == ["baseline"]
    assert found.texts("ga") == []
    assert set(found.incomplete) == {("upso2d", BOUND), ("upso2d", EXEMPLAR)}
    first = found.conditions[["data_seed", "system", "snr_db"]].head(4)
    assert list(first.itertuples(index=False, name=None)) == [
        (1, "S1", 50),
        (1, "S1", 40),
        (1, "S1", 30),
        (1, "S2", 50),
    ]
