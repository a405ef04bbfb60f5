"""The paper's tables: their content and order."""

import math
from itertools import product

import pytest
from tests.lookups import values_of
from tests.unit.studies.paper.factory import few_claims, make_frames, make_settings, paper_summaries, summary, system
from tests.unit.studies.paper.summaries import CRITERIA, UNKNOWN, published

from narxbench._algorithms.registry import algorithm
from narxbench._report.table import to_html
from narxbench._studies.paper import tables
from narxbench._study.table_files import table_files, to_csv, to_latex, to_markdown


@pytest.fixture(scope="module")
def study():
    settings = make_settings(["S1", "S4"])
    summaries = sorted(paper_summaries(("S1", "S4")), key=lambda summary: str(summary["criterion"]))
    return tables.paper_tables(make_frames(summaries), settings, [system("S1"), system("S4")], few_claims())


def rows(table, keys):
    return list(table.data[keys].itertuples(index=False, name=None))


def test_all_tables_are_made_in_three_forms(study):
    files = table_files(study)
    assert set(files) == set(map(".".join, product(study, ("csv", "md", "tex"))))
    for table in study.values():
        assert len(table.data)


def test_fitness_table_has_the_papers_rows_and_columns(study):
    table = study["fitness_S1"]
    assert values_of(table.columns, "key") == ["criterion", "snr_db", "r", "nu_max", "T1", "T2", "T3", "T4"]
    assert rows(table, ["criterion", "snr_db"]) == list(product(CRITERIA, (50, 40, 30)))
    assert table.notes[-1] == "System terms: T1 y(k-1), T2 u(k-1), T3 y(k-1)*u(k-1), T4 u(k-1)^2."


def test_published_values_stand_next_to_those_of_their_condition(study):
    place = ["table", "algorithm", "criterion", "snr_db", "metric", "label"]
    printed = published().values.set_index(place).sort_index()["published"]
    for table, criterion, snr_db, row in (("fitness_S1", "aic-8", 40, 7), ("fitness_S4", "bic", 30, 2)):
        values = printed[table, "upso2d", criterion, snr_db]
        expected = {label or metric: value for (metric, label), value in values.items()}
        comparisons = study[table].comparisons[row]
        assert {key: comparison.published for key, comparison in comparisons.items()} == expected
    # Of GA the paper has values on S4 only.
    assert list(map(len, study["comparison_S1"].comparisons)) == [6] * 3 + [0] * 3
    assert list(map(len, study["comparison_S4"].comparisons)) == [25] * 6


def test_a_system_of_ones_own_is_shown_without_the_paper():
    frames = make_frames([summary(UNKNOWN), summary(UNKNOWN, method="ga")])
    for table in (tables.fitness_table(UNKNOWN, frames), tables.comparison_table(UNKNOWN, frames, "bic")):
        assert not table.compared
        for form in (to_csv, to_markdown, to_latex, to_html):
            text = form(table).lower()
            assert "published" not in text and "paper" not in text


def test_by_how_much_j_misleads_is_reported_where_it_does():
    frame = make_frames([summary("S1"), summary("S2"), summary("S3")])["gaps"]
    frame["criterion_failure"] = frame["criterion_failure"].astype(object)
    # Of the last the J of the true structure is not finite.
    pairs = [(-807.74, -807.7, True), (-807.7, -807.7, False), (-807.7, math.nan, None)]
    for row, (best, true, fails) in enumerate(pairs):
        frame.loc[row, ["best_known", "true_structure", "criterion_failure"]] = [best, true, fails]
    assert list(tables.gaps_table(frame).data["misleads"].fillna("")) == ["yes, by 0.040", "no", ""]


@pytest.mark.parametrize(
    ("methods", "criterion"),
    [({"a": ["aic-2", "bic"], "b": ["bic"]}, "bic"), ({"a": ["bic", "aic-8"], "b": ["aic-8"]}, "aic-8")],
)
def test_shared_criterion(methods, criterion):
    assert tables.shared_criterion(make_settings(methods=methods)) == criterion


def test_settings_of_the_paper_have_its_symbols():
    methods = {}
    for name in ("upso2d", "ga"):
        methods[name] = {"algorithm": name, "settings": algorithm(name).settings({}).model_dump(mode="json")}
    table = tables.settings_table(make_settings() | {"methods": methods})
    symbols = [row for row in rows(table, ["method", "setting", "symbol"]) if row[2]]
    assert [symbol for _, _, symbol in symbols] == ["ps", "ω", "c_1", "c_2", "u_0", "u_f", "RG", "N", "p_c", "p_m"]
    assert symbols[4] == ("upso2d", "unification start", "u_0")
    assert "40 runs of 6000" in table.notes[0]


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, "2D-UPSO"),
        ({"p_holm": 0.3}, "no clear difference"),
        ({"median_a": math.nan}, "GA"),
        ({"median_a": math.nan, "median_b": math.nan}, "no clear difference"),
        ({"median_a": -5.0}, "GA"),
    ],
)
def test_the_better_method_is_named_where_it_is_clear(change, verdict):
    comparisons = make_frames([summary(), summary(method="ga")])["comparisons"]
    values = {"median_a": -20.04, "median_b": -10.0, "p_value": 0.00001, "p_holm": 0.012, "a12": 0.97}
    values |= {"magnitude": "large", **change}
    shown = tables.method_comparison_table(comparisons.assign(**values)).rows("plain")[0]
    assert shown[-1] == verdict
    if not change:
        numbers = ["40", "−20.0", "−10.0", "< 0.001", "0.012", "0.97"]
        assert shown == ["S1", "50 dB", "BIC", "2D-UPSO", "GA", *numbers, "large", verdict]


def test_claims_table():
    table = tables.claims_table(few_claims(), make_frames([summary()])["claims"])
    assert to_csv(table).splitlines()[1:] == [
        "Claim 0 on ν_max,section V,needs every place,holds,holds,Holds.,Holds.",
        "Claim 1 on ν_max,section V,needs every place,holds,undecided,Holds.,Holds.",
        "Claim 2 on ν_max,section V,needs every place,fails,cannot be judged,Holds.,Holds.",
    ]
    # The evidence would not fit a printed page.
    assert to_markdown(table).count("Holds.") == 6 and "Holds." not in to_latex(table)
    assert to_latex(table).count("cannot be judged") == 1


def test_names_of_the_papers_tables():
    names = ("fitness_S1", "comparison_S4", "all", "other_S1")
    shown = ["fitness functions, S1", "methods, S4", "all", "other_S1"]
    assert [tables.table_name(name) for name in names] == shown
