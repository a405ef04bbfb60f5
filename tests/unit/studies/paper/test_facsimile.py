"""The paper's tables and figures as it prints them: content, order, and what stands on each line."""

import re
from itertools import product

import pytest
from tests.lookups import item_with, values_of
from tests.unit.studies.paper.factory import make_frames, make_settings, summary, system, value_rows
from tests.unit.studies.paper.summaries import CRITERIA, METHODS_AND_CRITERIA, published

from narxbench._report.table import to_html
from narxbench._studies.paper import facsimile, facsimile_figures
from narxbench._studies.paper.frames import framed
from narxbench._study.design_choices import load_design_choices
from narxbench._study.table_files import to_latex, to_markdown

SOURCES = ["published", "as described", "closest"]


@pytest.fixture(scope="module")
def summaries():
    places = product(("S1", "S2"), (50, 30), METHODS_AND_CRITERIA)
    return [summary(name, snr_db, *case) for name, snr_db, case in places]


@pytest.fixture(scope="module")
def tables(summaries):
    settings = make_settings(["S1", "S2"]) | {"snr_db": [50.0, 30.0]}
    values = framed("values", value_rows())
    systems = [system("S1"), system("S2")]
    return facsimile.facsimile_tables(values, summaries, settings, systems, published(), load_design_choices())


def test_tables_are_those_of_the_paper_then_the_final_structures(tables):
    assert list(tables) == [*facsimile.NUMERALS, "final_structures_S1", "final_structures_S2"]


def test_columns_and_rows_stand_in_the_paper_s_order(tables):
    keys = values_of(tables["table_4"].columns, "key")
    assert keys == ["group", "snr_db", "source", "T1", "T2", "T3", "T4", "T5", "r", "nu_max"]
    places = tables["table_4"].data[["group", "snr_db", "source"]].itertuples(index=False, name=None)
    criteria = ["BIC", "AIC (ϱ = 2)", "AIC (ϱ = 8)", "AIC (ϱ = 64)", "AIC (ϱ = 256)"]
    assert list(places) == list(product(criteria, (50.0, 40.0, 30.0), SOURCES))
    assert list(dict.fromkeys(tables["table_7"].data["group"])) == ["2D-UPSO", "GA"]
    assert values_of(tables["table_7"].columns[-3:], "key") == ["T23", "r", "nu_max"]


def test_every_published_value_stands_in_its_place(tables):
    names = {
        **{f"fitness_{name}": table for table, name in facsimile.FITNESS_TABLES.items()},
        "comparison_S4": "table_7",
    }
    titles = {"upso2d": "2D-UPSO", "ga": "GA"}
    criteria = dict(zip(CRITERIA, dict.fromkeys(tables["table_3"].data["group"]), strict=True))
    indexed = {name: tables[name].data.set_index(["group", "snr_db", "source"]) for name in names.values()}
    for value in published().values.itertuples(index=False):
        group = criteria[value.criterion] if value.table.startswith("fitness") else titles[value.algorithm]
        row = indexed[names[value.table]].loc[(group, value.snr_db, "published")]
        assert row[value.label or value.metric] == value.published, value


def test_a_clearly_different_value_is_bold_and_tells_its_command(tables):
    html, latex, markdown = to_html(tables["table_4"]), to_latex(tables["table_4"]), to_markdown(tables["table_4"])
    command = "narxbench explain S2 --criterion bic --snr 30 nu_max"
    assert html.count(f'title="{command}"') == 3 and html.count(f'title="{command}"><strong>0.50</strong>') == 1
    assert latex.count(r"\textbf{0.50}") == 1 == latex.count(r"\textbf{")
    assert markdown.count("**0.50**") == 1
    assert 'title="narxbench explain S4 --criterion bic --snr 50 --method ga T3"' in to_html(tables["table_7"])


def test_notes_say_on_how_many_data_sets_the_values_rest(tables):
    assert (
        "As described and closest: medians over 10 data sets under BIC and 3 data sets under AIC."
        in (tables["table_3"].notes[-1])
    )
    assert "medians over 10 data sets." in tables["table_7"].notes[-1]


def test_settings_are_named_in_words(tables):
    latex = to_latex(tables["table_2"])
    assert "crossover probability" in latex and r"\_" not in latex
    assert list(tables["table_2"].data["published"]) == [80, 0.45, 0.01, 30, 0.729, 1.49, 1.49, 0.2, 0.7, 10]


def test_final_structures_stand_next_to_the_true_coefficients(summaries, tables):
    data = tables["final_structures_S2"].data.set_index("term")
    assert list(data["label"])[:5] == ["T1", "T2", "T3", "T4", "T5"]
    assert list(data["true"])[:5] == [0.5, 0.5, 0.8, -0.05, 1.0]
    assert list(data.columns[2:]) == ["upso2d 50", "upso2d 30", "ga 50", "ga 30"]
    shown = item_with(summaries, system="S2", snr_db=30, method="ga", criterion="bic")
    final = dict(zip(shown["final_structure"], shown["final_model"]["coefficients"], strict=True))
    column = data["ga 30"].rename({"constant": "1"}).dropna()
    assert column.to_dict() == final


def test_without_the_closest_interpretation_its_lines_are_left_out(summaries):
    values = framed("values", value_rows())
    by_condition = facsimile.values_by_condition(values[values["role"] != "closest"])
    assert by_condition.sources == SOURCES[:2]


@pytest.fixture(scope="module")
def frames():
    return make_frames([summary(name, 30, method) for name, method in product(("S1", "S4"), ("upso2d", "ga"))])


def captions(svg):
    return re.findall(r"<!-- (\([a-z]\) .*?) -->", svg.decode())


def test_figures_have_the_paper_s_panels(frames):
    files = facsimile_figures.facsimile_figures(frames, make_settings(["S1", "S4"]))
    assert set(files) == {"figure_1.pdf", "figure_1.svg", "figure_2.pdf", "figure_2.svg"}
    assert captions(files["figure_1.svg"]) == ["(a) S1 and S4"]
    # S4 is left out, as in the paper.
    assert captions(files["figure_2.svg"]) == ["(a) S1 + GA", "(b) S1 + 2D-UPSO"]


@pytest.mark.slow
def test_figure_2_shows_s4_where_it_is_alone(frames):
    alone = frames["selection"][frames["selection"]["system"] == "S4"]
    assert captions(facsimile_figures.term_frequency(alone)["svg"]) == ["(a) S4 + GA", "(b) S4 + 2D-UPSO"]
