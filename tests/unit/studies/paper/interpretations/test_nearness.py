"""Which conditions of interpretations are compared, and their nearness."""

from tests.unit.studies.paper.interpretations.interpretation_studies import BOUND, EXEMPLAR, TIES, conditions_of, study


def test_only_complete_interpretations_are_compared_and_in_their_order():
    compared_study = study(
        conditions_of("upso2d", TIES),
        conditions_of("upso2d", EXEMPLAR, 2),
        conditions_of("upso2d", f"{BOUND}+{TIES}"),
        conditions_of("upso2d", BOUND)[1:],
        conditions_of("upso2d", "baseline"),
        conditions_of("upso2d", "baseline", criterion="aic-2"),
    )
    assert compared_study.texts("upso2d") == ["baseline", TIES, f"{BOUND}+{TIES}"]
    assert compared_study.texts("upso2d", "aic-2") == ["baseline"]
    assert compared_study.texts("ga") == []
    assert set(compared_study.incomplete) == {("upso2d", BOUND), ("upso2d", EXEMPLAR)}
    first = compared_study.conditions[["data_seed", "system", "snr_db"]].head(4)
    assert first.to_numpy().tolist() == [[1, "S1", 50], [1, "S1", 40], [1, "S1", 30], [1, "S2", 50]]
