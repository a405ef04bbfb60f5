"""One table in its four forms."""

import io
import math
import re
from dataclasses import replace

import pandas as pd
import pytest

from narxbench._report.table import Column, Compared, Table, to_html
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
    """Return the table with published values for two of its rows."""
    first = {"T1": Compared(1.0, 0.12, 0.381, 0.0001, False)}
    second = {"T1": Compared(0.9, 0.12, 0.381, 0.0001, True)}
    return replace(table, comparisons=(first, second, {}, {}))


def test_csv_has_published_values_and_verdicts_in_columns(compared):
    frame = pd.read_csv(io.StringIO(to_csv(compared)))
    assert list(frame) == ["method", "snr_db", "T1", "T1_published", "T1_different", "note"]
    assert list(frame["T1_published"].dropna()) == [1.0, 0.9] and list(frame["T1_different"].dropna()) == [False, True]


def test_markdown_shows_published_values_in_brackets(compared, table):
    lines = to_markdown(compared).splitlines()
    assert lines[4:6] == [
        "| \\[s\\_1 | 50 dB | 1 (1) | \\<b\\>\\_s\\| |",
        "| \\[s\\_1 | 37.5 dB | 0.98 (0.90) ≠ | ν<sub>max</sub> |",
    ]
    assert lines[6:8] == to_markdown(table).splitlines()[6:8]
    assert "published" in to_markdown(compared) and "published" not in to_markdown(table)


def test_latex_shows_published_values_in_a_line_below(compared, table):
    lines = [line.strip() for line in to_latex(compared).splitlines()]
    first = next(place for place, line in enumerate(lines) if "37.5~dB" in line)
    assert lines[first].startswith(r"& 37.5~dB & 0.98\rlap{$^{\dagger}$} & ")
    assert lines[first + 1] == r"&  & {\scriptsize(0.90)} &  \\"
    # Of the merged column each value spans the lines of its rows.
    assert r"\multirow{4}{*}{{[}s" in to_latex(compared) and r"\multirow{2}{*}{{[}s" in to_latex(table)
    assert r"\multirow{2}{*}{GA}" in to_latex(compared)


def test_latex_speaks_of_published_values_only_where_there_are_some(compared, table):
    assert "published" in to_latex(compared) and "published" not in to_latex(table)


def test_html_shows_what_a_value_is_compared_with(compared, table):
    html = to_html(compared, study="s", folder="up/")
    assert (
        '<td class="differs" data-value="0.98" data-published="0.90" data-interval="0.12–0.38" '
        'data-test="p &lt; 0.001">0.98<small>0.90&nbsp;≠</small><small class="more">0.12–0.38<br>p &lt; 0.001' in html
    )
    assert html.count("data-published") == 2 and "<small>1&nbsp;=</small>" in html


def test_html_escapes_names_links_the_file_and_has_a_line_for_the_value_that_is_looked_at(compared, table):
    html = to_html(compared, study="s", folder="up/")
    assert 'class="stub repeated"' in html and 'data-style="left:5.2rem"' in html
    assert NAME not in html and "&lt;b&gt;_s|" in html
    assert '<a href="up/tables/x_1.csv">csv</a>' in html and "<code>snakemake reports/s/tables/x_1.csv</code>" in html
    # That line follows the scrolled table.
    assert '</div>\n<p class="readout"' in html and "readout" not in to_html(table)


def test_a_table_is_narrow_unless_it_has_many_columns_or_long_texts(table):
    long = replace(table, data=table.data.assign(note="a" * 80))
    many = replace(table, columns=table.columns[:3] * 4)
    very_many = replace(table, columns=table.columns[:3] * 8)
    assert (table.width, long.width, many.width, very_many.width) == ("narrow", "wide", "wide", "dense")
    assert '<div class="table narrow">' in to_html(table)
    for wide_or_narrow, environment in ((table, "table"), (many, "table*"), (very_many, "table*")):
        assert re.findall(r"begin{(table.?)}", to_latex(wide_or_narrow)) == [environment]
