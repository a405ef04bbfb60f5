"""The published values: complete, and refused when damaged."""

import pytest
from tests.unit.analysis.summaries import REFERENCE, published, true_structure

from narxbench.analysis.published import RUNS, load_published, printed, published_count
from narxbench.io.errors import NarxbenchError

TABLES = (REFERENCE / "published_tables.csv").read_text(encoding="utf-8")
TERMS = (REFERENCE / "system_terms.csv").read_text(encoding="utf-8")


def load(folder, tables=TABLES, terms=TERMS):
    (folder / "tables.csv").write_text(tables, encoding="utf-8")
    (folder / "terms.csv").write_text(terms, encoding="utf-8")
    load_published(folder / "tables.csv", folder / "terms.csv")


def test_all_810_values_are_there():
    values = published().values
    tables = {"fitness_S1": 90, "fitness_S2": 105, "fitness_S3": 90, "fitness_S4": 375, "comparison_S4": 150}
    assert values["table"].value_counts().to_dict() == tables
    assert values["metric"].value_counts().to_dict() == {"nu": 678, "r": 66, "nu_max": 66}
    value = values.set_index(["table", "algorithm", "criterion", "snr_db", "metric", "label"])["published"]
    assert value["comparison_S4", "ga", "bic", 30, "nu", "T22"] == 0.95
    assert value["fitness_S1", "upso2d", "bic", 50, "r", ""] == 0.15


def test_values_printed_in_both_tables_of_s4_agree():
    values = published().values
    place = [name for name in values if name not in ("table", "published")]
    both = values[values["system"] == "S4"].groupby(place)["published"]
    assert (both.nunique() == 1).all()
    assert (both.size() == 2).sum() == 75


def test_every_frequency_is_a_rounded_multiple_of_one_fortieth():
    for value in published().values.query("metric != 'r'")["published"]:
        assert float(printed(published_count(value) / RUNS)) == value
    assert [printed(value) for value in (0.0, 1.0, 0.975, 0.005, 1 / 3)] == ["0", "1", "0.98", "0.01", "0.33"]


def test_s4_has_the_order_of_the_tables_not_of_the_appendix():
    labels = published().labels("S4", true_structure("S4")[0])
    assert list(labels.values()) == [f"T{number}" for number in range(1, 24)]
    assert list(labels)[:5] == ["y(k-1)", "y(k-2)", "y(k-3)", "y(k-4)", "u(k-1)"]
    assert labels["y(k-3)^2"] == "T15"


def test_labels_of_other_systems_follow_the_equation():
    for system in ("X", "S1"):
        assert published().labels(system, ["u(k-1)", "y(k-2)"]) == {"u(k-1)": "T1", "y(k-2)": "T2"}


def test_a_changed_system_is_not_the_published_one():
    terms, coefficients = ["y(k-1)", "u(k-1)", "y(k-1)*u(k-1)", "u(k-1)^2"], [0.5, 0.3, 0.3, 0.5]
    known = published()
    assert known.is_published("S1", terms, coefficients)
    assert known.is_published("S1", terms[::-1], coefficients[::-1])
    assert not known.is_published("S1", terms, [0.6, 0.3, 0.3, 0.5])
    assert not known.is_published("X", terms, coefficients)


FIRST = "fitness_S1,S1,upso2d,bic,50,nu,T1,1.0"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("fitness_S1,S9,upso2d,bic,50,nu,T1,1.0", "line 2, column system: found 'S9'; allowed: one of S1, S2, S3, S4"),
        ("fitnes_S1,S1,upso2d,bic,50,nu,T1,1.0", "line 2, column table: found 'fitnes_S1'.*did you mean 'fitness_S1'"),
        ("fitness_S1,S1,upso2d,bic,50,mu,T1,1.0", "line 2, column metric: found 'mu'"),
        ("fitness_S1,S1,upso2d,bic,50,nu,T5,1.0", "line 2, column term: found 'T5'; allowed: one of T1, T2, T3, T4"),
        ("fitness_S1,S1,upso2d,bic,50,r,T1,1.0", "line 2, column term: found 'T1'; allowed: nothing for r"),
        ("fitness_S1,S1,,bic,50,nu,T1,1.0", "line 2, column algorithm: found ''"),
        ("fitness_S1,S1,upso2d,bic,5e1,nu,T1,1.0", "line 2, column snr_db: found '5e1'"),
        ("fitness_S1,S1,upso2d,bic,50,nu,T1,1.2", "line 2, column value: found '1.2'"),
        ("fitness_S1,S1,upso2d,bic,50,nu,T1,nan", "line 2, column value: found 'nan'"),
        ("fitness_S1,S1,upso2d,bic,50,nu,T1,0.97", "line 2, column value: found 0.97.*1/40"),
        (f"{FIRST}\n{FIRST}", "line 3, column metric: found 'nu'; allowed: each value once"),
    ],
)
def test_damaged_values_are_refused(tmp_path, row, message):
    with pytest.raises(NarxbenchError, match=message):
        load(tmp_path, TABLES.replace(FIRST, row, 1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("S1,T2,", "S1,T3,", "line 3, column label: found 'T3'; allowed: T2"),
        ("y(k-1)*u(k-1)", "u(k-1)*y(k-1)", "line 4, column term.*canonical name"),
        ("y(k-1)*u(k-1)", "z(k-1)", "line 4, column term"),
        ("T2,u(k-1),0.3,T2", "T2,y(k-1),0.3,T2", "line 3, column term.*once"),
        ("0.3,T2", "0,T2", "line 3, column coefficient: found '0'; allowed: a number other than 0"),
        ("0.3,T2", "0.3,2", "line 3, column appendix_label: found '2'"),
        ("system,label", "label,system", "line 1: found columns label,system"),
    ],
)
def test_damaged_terms_are_refused(tmp_path, old, new, message):
    with pytest.raises(NarxbenchError, match=message):
        load(tmp_path, terms=TERMS.replace(old, new, 1))
