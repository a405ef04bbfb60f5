"""The published values: complete, and refused when damaged."""

from tests.unit.studies.paper.summaries import published, true_structure

from narxbench._report.formats import rounded
from narxbench._studies.paper.published import RUNS, published_count


def test_all_810_values_are_there():
    values = published().values
    tables = {"fitness_S1": 90, "fitness_S2": 105, "fitness_S3": 90, "fitness_S4": 375, "comparison_S4": 150}
    assert values["table"].value_counts().to_dict() == tables
    assert values["metric"].value_counts().to_dict() == {"nu": 678, "r": 66, "nu_max": 66}
    value = values.set_index(["table", "algorithm", "criterion", "snr_db", "metric", "label"])["published"]
    assert value["comparison_S4", "ga", "bic", 30, "nu", "T22"] == 0.95
    assert value["fitness_S1", "upso2d", "bic", 50, "r", ""] == 0.15


def test_every_frequency_is_a_rounded_multiple_of_one_fortieth():
    for value in published().values.query("metric != 'r'")["published"]:
        assert float(rounded(published_count(value) / RUNS)) == value
    assert [rounded(value) for value in (0.0, 1.0, 0.975, 0.005, 1 / 3)] == ["0", "1", "0.98", "0.01", "0.33"]


def test_s4_has_the_order_of_the_tables_not_of_the_appendix():
    labels = published().labels("S4", true_structure("S4")[0])
    assert list(labels)[:5] == ["y(k-1)", "y(k-2)", "y(k-3)", "y(k-4)", "u(k-1)"] and labels["y(k-3)^2"] == "T15"
    assert published().labels("S1", ["u(k-1)", "y(k-2)"]) == {"u(k-1)": "T1", "y(k-2)": "T2"}
