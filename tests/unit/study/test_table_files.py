"""One table in its four forms."""

import io
import math
import re
from dataclasses import replace

import pandas as pd
import pytest

from narxbench._report.table import Column, Table
from narxbench._report.templating import to_html
from narxbench._study.table_files import to_csv, to_latex, to_markdown

NAME = "<b>_s|"


@pytest.fixture
def table():
    data = pd.DataFrame(
        {
            "method": ["[s_1", "[s_1", "ga", "ga"],
            "snr_db": [50.0, 37.5] * 2,
            "T1": [1.0, 0.975, math.nan, 1 / 3],
            "note": [NAME, "ν_max", "", "r"],
            "unused": range(4),
        }
    )
    columns = (
        Column("method", "Method", kind="method"),
        Column("snr_db", "SNR", kind="snr"),
        Column("T1", "T1", "ν of system terms", "frequency"),
        Column("note", "Note", "Spurious", "prose"),
    )
    return Table("x_1", f"Of {NAME}", columns, data, ("ν_max: T1 y(k-1).",), 2, 1)


def test_csv_has_full_precision_and_nothing_for_what_is_missing(table):
    lines = to_csv(table).splitlines()
    assert lines[0] == "method,snr_db,T1,note"
    assert lines[2:] == ["[s_1,37.5,0.975,ν_max", "ga,50,,", "ga,37.5,0.3333333333333333,r"]
    assert pd.read_csv(io.StringIO(to_csv(table)))["T1"][3] == 1 / 3


def test_a_spreadsheet_finds_no_formula(table):
    texts, numbers = ["=1+1", "@x", "\t=2", "-2+3"], [-1.5, 2.0, -3e-7, 0.0]
    data = pd.DataFrame({"note": texts, "T1": numbers})
    lines = to_csv(Table("x", "X", (Column("note", "Note"), Column("T1", "T1", kind="number")), data)).splitlines()
    assert lines == ["note,T1", "'=1+1,-1.5", "'@x,2.0", "'\t=2,-3e-07", "'-2+3,0.0"]


def test_markdown_escapes_names_and_sets_symbols(table):
    assert to_markdown(table) == (
        "**Of \\<b\\>\\_s\\|**\n\n| Method | SNR | T1 | Note |\n| :--- | ---: | ---: | :--- |\n"
        "| \\[s\\_1 | 50 dB | 1 | \\<b\\>\\_s\\| |\n| \\[s\\_1 | 37.5 dB | 0.98 | ν<sub>max</sub> |\n"
        "| GA | 50 dB | – |  |\n| GA | 37.5 dB | 0.33 | *r* |\n\nν<sub>max</sub>: T1 `y(k-1)`.\n"
    )


def test_latex_groups_like_the_paper(table):
    latex = to_latex(table)
    assert r"\multirow{2}{*}{{[}s\_1} & 50~dB & 1 & \raggedright\let\\=\tabularnewline \textless{}b" in latex
    assert r"\cmidrule(lr){3-3}\cmidrule(lr){4-4}" in latex
    assert latex.count(r"\midrule") == 2
    plain = latex.replace(r"\{", "").replace(r"\}", "")
    assert plain.count("{") == plain.count("}")
    assert latex.count(r"\begin") == latex.count(r"\end")


@pytest.fixture
def compared(table):
    """Return the table with a value that differs clearly in two of its rows."""
    return replace(table, marks=({}, {"T1": "lower"}, {}, {"T1": "higher"}))


def test_csv_names_what_differs_in_a_last_column(compared):
    frame = pd.read_csv(io.StringIO(to_csv(compared)))
    assert list(frame) == ["method", "snr_db", "T1", "note", "differs"]
    assert list(frame["differs"].dropna()) == ["T1 lower", "T1 higher"]


def test_marked_values_are_bold_with_an_arrow_and_others_as_without(compared, table):
    lines = to_markdown(compared).splitlines()
    assert lines[5] == "| \\[s\\_1 | 37.5 dB | **0.98** ↓ | ν<sub>max</sub> |"
    assert lines[4] == to_markdown(table).splitlines()[4]
    latex = to_latex(compared)
    assert r"\textbf{0.98} $\downarrow$" in latex and r"\textbf{0.33} $\uparrow$" in latex
    assert r"\textbf" not in to_latex(table)


def test_html_escapes_names(table):
    html = to_html(table)
    assert 'class="stub repeated"' in html and 'data-style="left:5.2rem"' in html
    assert NAME not in html and "&lt;b&gt;_s|" in html


def test_a_table_is_narrow_unless_it_has_many_columns_or_long_texts(table):
    long = replace(table, data=table.data.assign(note="a" * 80))
    many = replace(table, columns=table.columns[:3] * 4)
    very_many = replace(table, columns=table.columns[:3] * 8)
    assert (table.width, long.width, many.width, very_many.width) == ("narrow", "wide", "wide", "dense")
    assert '<div class="table narrow">' in to_html(table)
    for wide_or_narrow, environment in ((table, "table"), (many, "table*"), (very_many, "table*")):
        assert re.findall(r"begin{(table.?)}", to_latex(wide_or_narrow)) == [environment]
