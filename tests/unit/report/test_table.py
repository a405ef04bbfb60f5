"""One table in its four forms."""

import io
import math

import pandas as pd
import pytest

from narxbench.report.table import Column, Table, condition_of, to_csv, to_html, to_latex, to_markdown

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
    places = tuple(map(condition_of, data.assign(system="S1", criterion="bic").to_dict("records")))
    return Table("x_1", f"Of {NAME}", columns, data, ("ν_max: T1 y(k-1).",), 2, 1, places)


def test_csv_has_full_precision_and_nothing_for_what_is_missing(table):
    lines = to_csv(table).splitlines()
    assert lines[0] == "method,snr_db,T1,note"
    assert lines[2:] == ["[s_1,37.5,0.975,ν_max", "ga,50,,", "ga,37.5,0.3333333333333333,r"]
    assert pd.read_csv(io.StringIO(to_csv(table)))["T1"][3] == 1 / 3


def test_markdown_escapes_names_and_sets_symbols(table):
    assert to_markdown(table) == (
        "**Of \\<b\\>\\_s\\|**\n\n| Method | SNR | T1 | Note |\n| :--- | ---: | ---: | :--- |\n"
        "| \\[s\\_1 | 50 dB | 1 | \\<b\\>\\_s\\| |\n| \\[s\\_1 | 37.5 dB | 0.98 | ν<sub>max</sub> |\n"
        "| GA | 50 dB | – |  |\n| GA | 37.5 dB | 0.33 | *r* |\n\nν<sub>max</sub>: T1 `y(k-1)`.\n"
    )


def test_markdown_tells_equal_headings_apart(table):
    columns = (Column("T1", "r", "Mean"), Column("note", "r", "Share"))
    text = to_markdown(Table("x", "X", columns, table.data))
    assert "| Mean: *r* | Share: *r* |" in text


def test_latex_groups_like_the_paper(table):
    latex = to_latex(table)
    assert r"\multirow{2}{*}{{[}s\_1} & 50~dB & 1 & \raggedright\let\\=\tabularnewline \textless{}b" in latex
    assert r"\cmidrule(lr){3-3}\cmidrule(lr){4-4}" in latex
    assert latex.count(r"\midrule") == 2
    plain = latex.replace(r"\{", "").replace(r"\}", "")
    assert plain.count("{") == plain.count("}")
    assert latex.count(r"\begin") == latex.count(r"\end")


def test_html_shows_what_stands_beside_a_value(table):
    found = {"published": 0.9, "difference": 0.075, "low": 0.12, "high": 0.381, "p_value": 0.0001, "consistent": False}
    html = to_html(table, {(table.conditions[1], "T1"): found}, study="s", folder="up/")
    assert (
        '<td class="differs" data-value="0.98" data-published="0.90" data-interval="0.12–0.38" '
        'data-test="p &lt; 0.001">0.98<small>0.90&nbsp;≠</small><small class="more">0.12–0.38<br>p &lt; 0.001' in html
    )
    assert html.count("data-published") == 1
    assert '<tr data-place="S1/37.5/%5Bs_1/bic">' in html
    assert 'class="stub repeated"' in html and 'style="left:5.2rem"' in html
    assert NAME not in html and "&lt;b&gt;_s|" in html
    assert '<a href="up/tables/x_1.csv">csv</a>' in html and "<code>snakemake reports/s/tables/x_1.csv</code>" in html
    assert "0.075 (mean absolute difference of 1 values); 0 of 1 consistent." in html


def test_a_table_without_rows_has_every_form(table):
    empty = Table("x", "X", table.columns, table.data.iloc[:0], row_headers=2, merged=1)
    assert [form(empty).count("50 dB") for form in (to_csv, to_markdown, to_latex, to_html)] == [0] * 4
