"""The paper's tables as it prints them: content, order, marks, and the kept medians."""

import re
from itertools import product

import pytest
from tests.lookups import item_with, values_of
from tests.unit.studies.paper.factory import few_claims, make_frames, make_settings, summary, system, value_rows
from tests.unit.studies.paper.summaries import CRITERIA, METHODS_AND_CRITERIA, UNKNOWN, published

from narxbench._studies.paper import printed
from narxbench._studies.paper.frames import framed
from narxbench._studies.paper.tables import paper_tables
from narxbench._study.table_files import to_csv, to_latex, to_markdown

SOURCES = ["this run", "paper", "kept, as described", "kept, closest"]


@pytest.fixture(scope="module")
def summaries():
    places = product(("S1", "S2"), (50, 30), METHODS_AND_CRITERIA)
    return [summary(name, snr_db, *case) for name, snr_db, case in places]


@pytest.fixture(scope="module")
def frames(summaries):
    return make_frames(summaries)


@pytest.fixture(scope="module")
def values(frames):
    return printed.value_tables(
        frames, published(), ["S1", "S2"], is_compared=True, kept=framed("values", value_rows())
    )


@pytest.fixture(scope="module")
def tables(summaries, frames, values):
    settings = make_settings(["S1", "S2"]) | {"snr_db": [50.0, 30.0]}
    systems = [system("S1"), system("S2")]
    return paper_tables(values, frames, summaries, settings, systems, few_claims(), published(), is_trial=False)


def test_tables_are_those_of_the_paper_then_what_the_run_has_besides(tables):
    names = [*printed.NUMERALS, "selection_S1", "selection_S2", "claims", "final_structures_S1", "final_structures_S2"]
    assert list(tables) == names


def test_columns_and_rows_are_in_the_papers_order(tables):
    keys = values_of(tables["table_4"].columns, "key")
    assert keys == ["group", "snr_db", "source", "T1", "T2", "T3", "T4", "T5", "r", "nu_max"]
    places = tables["table_4"].data[["group", "snr_db", "source"]].itertuples(index=False, name=None)
    criteria = ["BIC", "AIC (ϱ = 2)", "AIC (ϱ = 8)", "AIC (ϱ = 64)", "AIC (ϱ = 256)"]
    assert list(places) == list(product(criteria, (50.0, 40.0, 30.0), SOURCES))
    assert list(dict.fromkeys(tables["table_7"].data["group"])) == ["2D-UPSO", "GA"]
    assert values_of(tables["table_7"].columns[-3:], "key") == ["T23", "r", "nu_max"]


def test_every_published_value_has_its_place(tables):
    names = {**{f"fitness_{name}": table for table, name in printed.FITNESS_TABLES.items()}, "comparison_S4": "table_7"}
    titles = {"upso2d": "2D-UPSO", "ga": "GA"}
    criteria = dict(zip(CRITERIA, dict.fromkeys(tables["table_3"].data["group"]), strict=True))
    indexed = {name: tables[name].data.set_index(["group", "snr_db", "source"]) for name in names.values()}
    for value in published().values.itertuples(index=False):
        group = criteria[value.criterion] if value.table.startswith("fitness") else titles[value.algorithm]
        row = indexed[names[value.table]].loc[(group, value.snr_db, "paper")]
        assert row[value.label or value.metric] == value.published, value


def test_every_value_of_the_run_has_its_place(values, frames):
    metrics = frames["metrics"].set_index(["system", "snr_db", "method", "criterion"])
    of_run = {}
    for table in values.values():
        for condition in table.conditions:
            if condition.run:
                of_run[condition.place] = condition.run
    # What the run lacks, at 40 dB, has no value.
    assert set(of_run) == set(metrics.index)
    for place, run in of_run.items():
        assert (run["r"], run["nu_max"]) == (metrics.loc[place, "r"], metrics.loc[place, "nu_max"])
    selection = frames["selection"]
    terms = selection[(selection["system"] == "S2") & (selection["snr_db"] == 30) & (selection["criterion"] == "bic")]
    terms = terms[terms["method"] == "ga"].set_index("label")["frequency"]
    assert of_run["S2", 30.0, "ga", "bic"]["T3"] == terms["T3"]


def test_what_differs_clearly_is_marked_on_its_side(tables, values, frames):
    agreement = frames["agreement_values"]
    clear = agreement[agreement["different"].eq(True)]
    lower, higher = (clear["difference"] < 0).sum(), (clear["difference"] > 0).sum()
    marks = []
    for table in values.values():
        marks += [mark for condition in table.conditions for mark in condition.marks.values()]
    assert (marks.count("lower"), marks.count("higher")) == (lower, higher) and lower + higher > 0
    table = tables["table_4"]
    n_marks = sum(map(len, table.marks))
    assert n_marks == len(re.findall(r"\*\*[\d.]+\*\* [↓↑]", to_markdown(table))) > 0
    assert n_marks == len(re.findall(r"\\textbf\{[\d.]+\} \$\\(?:down|up)arrow\$", to_latex(table)))
    differs = [line.rpartition(",")[2] for line in to_csv(table).splitlines()]
    assert differs[0] == "differs" and sum(len(cell.split("; ")) for cell in differs[1:] if cell) == n_marks


def test_a_trial_marks_and_judges_nothing(summaries, frames):
    values = printed.value_tables(frames, published(), ["S1", "S2"], is_compared=False)
    settings = make_settings(["S1", "S2"]) | {"snr_db": [50.0, 30.0]}
    systems = [system("S1"), system("S2")]
    tables = paper_tables(values, frames, summaries, settings, systems, few_claims(), published(), is_trial=True)
    for name in printed.FITNESS_TABLES:
        assert not tables[name].marks and "differs" not in to_csv(tables[name]).splitlines()[0]
        assert list(dict.fromkeys(tables[name].data["source"])) == SOURCES[:2]
    assert set(tables["claims"].data["run"]) == {"trial run, not judged"}


def test_what_the_paper_does_not_tabulate_has_a_table_for_each_system(values):
    places = [condition.place for condition in values["selection_S1"].conditions]
    assert places == [("S1", 50.0, "ga", "bic"), ("S1", 30.0, "ga", "bic")]


def test_a_system_of_ones_own_is_shown_without_the_paper():
    frames = make_frames([summary(UNKNOWN), summary(UNKNOWN, method="ga")])
    values = printed.value_tables(frames, published(), [UNKNOWN], is_compared=False)
    assert [name for name, table in values.items() if table.values] == [f"selection_{UNKNOWN}"]
    table = printed.as_table(values[f"selection_{UNKNOWN}"])
    assert list(table.data["source"]) == ["this run"] * 2 and len(table.notes) == 1


def test_settings_are_named_in_words(tables):
    latex = to_latex(tables["table_2"])
    assert "crossover probability" in latex and r"\_" not in latex
    assert list(tables["table_2"].data["published"]) == [80, 0.45, 0.01, 30, 0.729, 1.49, 1.49, 0.2, 0.7, 10]


def test_final_structures_are_next_to_the_true_coefficients(summaries, tables):
    data = tables["final_structures_S2"].data.set_index("term")
    assert list(data["label"])[:5] == ["T1", "T2", "T3", "T4", "T5"]
    assert list(data["true"])[:5] == [0.5, 0.5, 0.8, -0.05, 1.0]
    assert list(data.columns[2:]) == ["upso2d 50", "upso2d 30", "ga 50", "ga 30"]
    shown = item_with(summaries, system="S2", snr_db=30, method="ga", criterion="bic")
    final = dict(zip(shown["final_structure"], shown["final_model"]["coefficients"], strict=True))
    column = data["ga 30"].rename({"constant": "1"}).dropna()
    assert column.to_dict() == final
