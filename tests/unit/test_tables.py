"""The paper's tables: content, order, rounding and escaping."""

import csv
import io
from pathlib import Path

import pytest
from cells import UNKNOWN, make_cell, paper_matrix, published, write_cells

from narxbench import tables
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import sealed_json
from narxbench.model.system import load_system


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        *[(0.975, "0.98"), (0.925, "0.93"), (0.125, "0.13"), (0.9, "0.90"), (42 / 66, "0.64"), (43 / 66, "0.65")],
        *[(1, "1"), (1.0, "1"), (0, "0"), (0.0, "0"), (0.995, "1.00"), (0.001, "0.00")],
    ],
)
def test_rounding_is_the_papers(value: float, shown: str) -> None:
    assert tables.rounded(value) == shown


def test_fitness_table_has_the_papers_rows_and_columns() -> None:
    table = tables.fitness_table("S1", paper_matrix(), published())
    assert [column.key for column in table.columns] == ["criterion", "snr_db", "T1", "T2", "T3", "T4", "r", "nu_max"]
    criteria = ["bic", "aic-2", "aic-8", "aic-64", "aic-256"]
    assert [row[:2] for row in table.rows] == [(criterion, snr) for criterion in criteria for snr in (50, 40, 30)]


def test_s4_columns_are_in_the_order_of_the_labels() -> None:
    cell = make_cell("S4", counts={"y(k-1)": 1, "u(k-1)": 2, "y(k-3)^2": 3, "u(k-3)^2": 4})
    row = rows_of(tables.to_csv(tables.fitness_table("S4", [cell], published())))[0]
    assert list(row)[2:-2] == [f"T{number}" for number in range(1, 24)]
    assert [float(row[label]) for label in ("T1", "T5", "T15", "T23")] == [0.025, 0.05, 0.075, 0.1]


def test_comparison_groups_rows_by_search() -> None:
    table = tables.comparison_table("S4", paper_matrix(), published(), "bic")
    assert [row[:2] for row in table.rows] == [(name, snr) for name in ("upso2d", "ga") for snr in (50, 40, 30)]


def test_searches_with_several_criteria_share_a_fitness_table() -> None:
    cells = [make_cell(search=name, criterion=c, algorithm="ga") for name in ("b", "a") for c in ("bic", "aic-2")]
    table = tables.fitness_table("S1", [*cells, make_cell(search="single")], published())
    assert [row[:2] for row in table.rows] == [("b", "bic"), ("b", "aic-2"), ("a", "bic"), ("a", "aic-2")]


def test_unknown_system_has_labels_in_equation_order() -> None:
    table = tables.fitness_table(UNKNOWN, [make_cell(UNKNOWN)], published())
    assert table.notes[-1] == "System terms: T1 u(k-1), T2 y(k-2)^2."


def test_shared_criterion() -> None:
    assert tables.shared_criterion({"a": ["aic-2", "bic"], "b": ["bic"]}) == "bic"
    assert tables.shared_criterion({"a": ["bic", "aic-8"], "b": ["aic-8"]}) == "aic-8"
    with pytest.raises(NarxbenchError, match="found no criterion"):
        tables.shared_criterion({})


def test_latex_escapes_any_name_and_groups_like_the_paper() -> None:
    name = r"a_b&c%$#{}~^\<x>|[1]--*"
    cells = [make_cell(name, snr_db=snr, search=search) for search in ("[s_1", "ga") for snr in (50, 30)]
    latex = tables.to_latex(tables.comparison_table(name, cells, published(), "bic"))
    assert (
        r"a\_b\&c\%\$\#\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}\textless{}x\textgreater{}"
        r"\textbar{}{[}1{]}-{}-{*}}" in latex
    )
    assert r"\multirow{2}{*}{{[}s\_1} & 50~dB" in latex
    assert r"\cmidrule(lr){3-4} \cmidrule(lr){5-6}" in latex
    assert latex.count(r"\midrule") == 2
    assert r"\nu_{\max}" in latex


def test_latex_of_all_tables_is_balanced() -> None:
    cells = paper_matrix()
    made = [tables.fitness_table(name, cells, published()) for name in ("S1", "S4")]
    made.append(tables.systems_table([load_system("S2"), load_system("S4")]))
    for table in made:
        latex = tables.to_latex(table).replace(r"\{", "").replace(r"\}", "")
        assert latex.count("{") == latex.count("}")
        assert latex.count(r"\begin") == latex.count(r"\end")


def test_markdown_escapes_any_name() -> None:
    table = tables.fitness_table(UNKNOWN, [make_cell(UNKNOWN, criterion="a|b")], published())
    markdown = tables.to_markdown(table)
    assert r"\<script\>X" in markdown
    assert r"| a\|b | 50 dB |" in markdown


def test_test_systems() -> None:
    table = tables.systems_table([load_system("S2"), load_system("S3")])
    equation = "y(k) = 0.5 + 0.5*y(k-1) + 0.8*u(k-2) + u(k-1)^2 - 0.05*y(k-2)^2"
    assert table.rows[0] == ("S2", equation, 5, 5, 2, 66)
    assert table.rows[1][2:] == (3, 3, 3, 84)
    assert r"{0.5\,y(k-1)}" in tables.to_latex(table)


def test_search_settings_are_listed_one_a_row() -> None:
    searches = {"upso2d": {"algorithm": "upso2d", "settings": {"ring": {"radius": 1}, "bound": None, "on": True}}}
    table = tables.settings_table(searches, 40, 6000)
    assert [row[2:] for row in table.rows] == [("ring.radius", "1"), ("bound", "null"), ("on", "true")]
    assert "40 runs of 6000" in table.notes[0]


def test_selection_frequency_holds_every_candidate_term() -> None:
    cells = [make_cell("S1", counts={"y(k-1)": 39}), make_cell(UNKNOWN)]
    rows = rows_of(tables.selection_frequency_csv(cells, published()))
    assert len(rows) == 66 + 15
    assert rows[1]["term"] == "y(k-1)"
    assert (rows[1]["label"], rows[1]["system_term"], rows[1]["count"], rows[1]["frequency"]) == (
        "T1",
        "true",
        "39",
        "0.975",
    )
    assert (rows[0]["label"], rows[0]["system_term"]) == ("", "false")


def test_cells_csv() -> None:
    cell = make_cell()
    cell["fitness"] = [None, None, -1.0]
    cell["spurious_frequency_max"]["term"] = None
    row = rows_of(tables.cells_csv([cell]))[0]
    assert (row["best_fitness"], row["median_fitness"], row["worst_spurious_term"]) == ("-1.0", "", "")
    assert float(row["r"]) == cell["spurious_ratio"]["value"]


def test_load_cells(tmp_path: Path) -> None:
    cells = [make_cell(), make_cell(snr_db=30)]
    paths = write_cells(cells, tmp_path)
    assert tables.load_cells(paths) == cells
    with pytest.raises(NarxbenchError, match="a second time"):
        tables.load_cells([paths[0], paths[0]])
    paths[0].write_text(sealed_json({"snr_db": 50}))
    with pytest.raises(NarxbenchError, match=r"0\.json: found no summary of a cell"):
        tables.load_cells(paths)
    for text in ("[]", "{", paths[1].read_text().replace("30", "31", 1)):
        paths[0].write_text(text)
        with pytest.raises(NarxbenchError, match=r"0\.json: .*; delete it and run again"):
            tables.load_cells(paths)
