"""The published values: complete, and refused when damaged."""

from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from cells import REFERENCE, published

from narxbench.io.errors import NarxbenchError
from narxbench.analysis.published import RUNS, Place, load_published, published_count
from narxbench.report.tables import rounded

TABLES = (REFERENCE / "published_tables.csv").read_text(encoding="utf-8")
TERMS = (REFERENCE / "system_terms.csv").read_text(encoding="utf-8")


def load(folder: Path, tables: str = TABLES, terms: str = TERMS) -> None:
    (folder / "tables.csv").write_text(tables, encoding="utf-8")
    (folder / "terms.csv").write_text(terms, encoding="utf-8")
    load_published(folder / "tables.csv", folder / "terms.csv")


def test_all_810_values_are_there() -> None:
    values = published().values
    assert len(values) == 810
    assert Counter(place.table for place in values) == {
        "fitness_S1": 90,
        "fitness_S2": 105,
        "fitness_S3": 90,
        "fitness_S4": 375,
        "comparison_S4": 150,
    }
    assert Counter(place.metric for place in values) == {"nu": 678, "r": 66, "nu_max": 66}


def test_values_printed_in_both_tables_of_s4_agree() -> None:
    values = published().values
    again = [place for place in values if place.table == "comparison_S4" and place.algorithm == "upso2d"]
    assert len(again) == 75
    assert all(values[place] == values[place._replace(table="fitness_S4")] for place in again)


def test_every_frequency_is_a_rounded_multiple_of_one_fortieth() -> None:
    for place, value in published().values.items():
        if place.metric != "r":
            assert Decimal(rounded(published_count(value) / RUNS)) == Decimal(str(value))


def test_lookup() -> None:
    known = published()
    assert known.value(Place("comparison_S4", "S4", "ga", "bic", 30, "nu", "T22")) == 0.95
    assert known.value(Place("fitness_S1", "S1", "upso2d", "bic", 50, "r")) == 0.15
    assert known.value(Place("fitness_S1", "S1", "ga", "bic", 50, "r")) is None


def test_s4_has_the_order_of_the_tables_not_of_the_appendix() -> None:
    known = published()
    appendix = sorted(known.system_terms["S4"].values(), key=lambda entry: int(entry.appendix_label[1:]))
    labels = known.labels("S4", [entry.term for entry in appendix])
    assert list(labels.values()) == [f"T{number}" for number in range(1, 24)]
    assert list(labels)[:5] == ["y(k-1)", "y(k-2)", "y(k-3)", "y(k-4)", "u(k-1)"]
    assert labels["y(k-3)^2"] == "T15"


def test_labels_of_other_systems_follow_the_equation() -> None:
    assert published().labels("X", ["u(k-1)", "y(k-2)"]) == {"u(k-1)": "T1", "y(k-2)": "T2"}
    assert published().labels("S1", ["u(k-1)", "y(k-2)"]) == {"u(k-1)": "T1", "y(k-2)": "T2"}


def test_a_changed_system_is_not_the_published_one() -> None:
    terms, coefficients = ["y(k-1)", "u(k-1)", "y(k-1)*u(k-1)", "u(k-1)^2"], [0.5, 0.3, 0.3, 0.5]
    known = published()
    assert known.is_published("S1", terms, coefficients)
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
        ("fitness_S1,S1,upso2d,bic,50,nu,T1,0.97", "line 2, column value: found '0.97'.*1/40"),
        ("fitness_S1,S1,upso2d,bic,50,nu,T1", "line 2: found 7 columns; allowed: 8"),
        (f"{FIRST}\n{FIRST}", "line 3: found the place of an earlier line again"),
    ],
)
def test_damaged_values_are_refused(tmp_path: Path, row: str, message: str) -> None:
    with pytest.raises(NarxbenchError, match=message):
        load(tmp_path, TABLES.replace(FIRST, row, 1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("S1,T2,", "S1,T3,", "line 3, column label: found 'T3'; allowed: T2"),
        ("y(k-1)*u(k-1)", "u(k-1)*y(k-1)", r"line 4, column term.*canonical name y\(k-1\)\*u\(k-1\)"),
        ("y(k-1)*u(k-1)", "z(k-1)", "line 4, column term"),
        ("T2,u(k-1),0.3,T2", "T2,y(k-1),0.3,T2", "line 3, column term.*once"),
        ("0.3,T2", "x,T2", "line 3, column coefficient: found 'x'"),
        ("0.3,T2", "0.3,2", "line 3, column appendix_label: found '2'"),
        ("system,label", "label,system", "line 1: found columns label,system"),
    ],
)
def test_damaged_terms_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(NarxbenchError, match=message):
        load(tmp_path, terms=TERMS.replace(old, new, 1))


def test_missing_and_empty_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NarxbenchError, match="cannot be read"):
        load_published(tmp_path / "none.csv", tmp_path / "none.csv")
    with pytest.raises(NarxbenchError, match="found no rows"):
        load(tmp_path, TABLES.splitlines()[0] + "\n")
