"""Names, numbers, Markdown and SVG for readers: any text is shown literally in every format, and none is markup."""

import json
from html import unescape
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tests.unit.studies.paper.test_page import Page

from narxbench import NarxbenchError
from narxbench._report import formats
from narxbench._report.markup import inline_svg, markdown_headings, markdown_html, read_svg, script_json, visible


@pytest.mark.parametrize(
    ("form", "texts"),
    [
        (formats.rounded, {0.975: "0.98", 0.925: "0.93", 0.125: "0.13", 0.9: "0.90", 42 / 66: "0.64", 43 / 66: "0.65"}),
        (formats.rounded, {1: "1", 0.0: "0", 0.995: "1.00", 0.001: "0.00"}),
        (formats.signed, {0.1: "+0.100", -0.1: "−0.100", 0.0001: "0.000", -0.0001: "0.000"}),
        (formats.p_value, {0.00001: "< 0.001", 0.0123: "0.012"}),
        (formats.share, {0: "0 %", 0.001: "< 1 %", 0.005: "< 1 %", 0.714: "71 %", 0.9999: "> 99 %", 1: "100 %"}),
        (formats.count, {0: "0", 1234.5: "1,234", -3.0: "−3"}),
        (formats.significant, {0: "0", 0.00312: "0.0031", -0.0996: "−0.10", 0.999: "1.0", 9.96: "10", 12345: "12,000"}),
        (formats.significant, {-0.00001: "> −0.0001", 0.00001: "< 0.0001", 2e6: "> 1,000,000", -2e6: "< −1,000,000"}),
        (lambda value: formats.fixed(value, 1), {-20.04: "−20.0", -0.01: "0.0"}),
        (lambda whole: formats.percent(1, whole), {4: "25 %", 0: "–"}),
    ],
)
def test_names_and_numbers(form, texts):
    assert list(map(form, texts)) == list(texts.values())


@pytest.mark.parametrize(
    ("form", "symbols", "sentence"),
    [
        ("latex", r"$\mathit{c}_{1}$ $\mathit{ps}$ $\omega$ ", r"$T_{1}$~${y(k-1)^{2}\,u(k-2)}$, $\nu_{\max}$ \& r\_x"),
        ("markdown", "*c*<sub>1</sub> *ps* *ω* ", r"T1 `y(k-1)^2*u(k-2)`, ν<sub>max</sub> \& r\_x"),
        (
            "html",
            "<i>c</i><sub>1</sub> <i>ps</i> <i>ω</i> ",
            "T<sub>1</sub>&nbsp;<code>y(k-1)^2*u(k-2)</code>, ν<sub>max</sub> &amp; r_x",
        ),
        ("plain", "c_1 ps ω ", "T1 y(k-1)^2*u(k-2), ν_max & r_x"),
    ],
)
def test_symbols_are_mathematics_and_the_rest_is_escaped(form, symbols, sentence):
    assert " ".join(formats.format_symbol(name, form) for name in ("c_1", "ps", "ω", "")) == symbols
    assert formats.format_math("T1 y(k-1)^2*u(k-2), ν_max & r_x", form) == sentence


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\r", exclude_categories=["Cc", "Zl", "Zp"]), max_size=30)
)
@settings(max_examples=50)
def test_markdown_and_html_show_any_text_literally(text):
    shown = MarkdownIt("commonmark").enable("table").render(f"x {formats.escape(text, 'markdown')} x")
    assert unescape(shown.strip()).replace("<p>", "", 1).removesuffix("</p>").split() == f"x {text} x".split()
    html = formats.escape(text, "html")
    assert unescape(html) == text and not set(html) & set("<>\"'")


def test_markdown_is_escaped_and_keeps_its_tables_and_the_links_within_the_page():
    html = markdown_html("# T\n\n## A <b>\n\nx `y(k-1)` *e* [l](javascript:alert(1))\n\n| Q |\n|---|\n| ν_max |", "m")
    assert html.startswith('<h3 id="m-a-b">A &lt;b&gt;</h3>\n<p>x <code class="term">y(k-1)</code> <em>e</em>')
    assert "<a" not in html and '<th scope="col">Q</th>' in html and "<td>ν<sub>max</sub></td>" in html
    assert html.count('tabindex="0">\n<table>') == html.count("</table>\n</div>") == 1
    text = "# T\n\n## A *b*\n\n[a](#b) [x](f/a.csv) [y](../f/a.csv) [z](other.md) <https://d.org>\n\n## D\n"
    html = markdown_html(text, "m", deeper=0, files="f/")
    assert '<h2 id="m-a-b">A <em>b</em></h2>' in html and html.count("<a ") == 3
    assert '<a href="#m-b">a</a> <a href="f/a.csv">x</a> y z <a href="https://d.org">https://d.org</a>' in html
    assert markdown_headings(text, "m") == {"m-a-b": "A <em>b</em>", "m-d": "D"}


def test_markdown_brings_no_markup_of_its_own():
    lines = [
        "<script>alert(1)</script> <b onclick=alert(1)>x</b> <!-- <style> -->",
        "[l](javascript:alert(1)) <javascript:alert(1)> [d](data:text/html,x) [o](other.html)",
        "![t](https://x.org/a.png) ![u](data:image/png;base64,x) [r][r] &lt;script&gt; &#60;script&#62;",
        "\n[r]: javascript:alert(1)",
    ]
    page = Page(markdown_html("# T</title><script>\n\n## A <script>\n\n" + "\n".join(lines), "m"))
    harmless = Page(markdown_html("# T\n\n## A\n\nx\n\ny\n", "m"))
    assert page.elements == harmless.elements and page.links == harmless.links
    assert "<script>alert(1)</script> <b onclick=alert(1)>x</b>" in page.text


SVG = """<?xml version="1.0"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd">
<svg xmlns:xlink="http://www.w3.org/1999/xlink" xmlns="http://www.w3.org/2000/svg" width="9pt" viewBox="0 0 400 80"
 id="x">
<metadata>2026</metadata><defs><style type="text/css">*{stroke-linejoin: round; stroke-linecap: butt}</style></defs>
<g clip-path="url(#c)"><use xlink:href="#g" transform="translate(1 2) scale(0.1)"
 style="fill: #0072b2; stroke: none"/></g>
<!-- a comment --></svg>"""
# Markup that can run, load or cover the page.
HOSTILE = {
    "script": "<script>alert(1)</script>",
    "event": '<g onload="alert(1)"/>',
    "image": '<image href="https://x.org/a.png"/>',
    "use": '<use href="https://x.org/a.svg#b"/>',
    "address": '<path style="fill: url(https://x.org/a)"/>',
    "escaped": r'<path fill="u\72l(x)"/>',
    "css": "<style>@import 'x'</style>",
    "covering": '<g style="position: fixed; inset: 0"/>',
    "nested": "<g>" * 2000 + "</g>" * 2000,
    "cut": "<g><path d='M",
}
ENTITIES = [f'<!ENTITY {following} "{f"&{name};" * 10}">' for name, following in pairwise("abcdefghi")]
BOMB = f'<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa">{"".join(ENTITIES)}]>' + SVG.split("\n", 2)[2].replace("2026", "&i;")
# No whole SVG.
FILES = {"empty": "", "text": "no markup", "page": "<html><svg/></html>", "nameless": "<svg><g/></svg>", "bomb": BOMB}
FILES |= {name: SVG.replace("</svg>", f"{markup}</svg>") for name, markup in HOSTILE.items()}


@pytest.mark.parametrize("name", FILES)
def test_a_figure_that_is_none_is_reported_in_one_line(tmp_path, name):
    file = tmp_path / "effects.svg"
    file.write_text(SVG, encoding="utf-8")
    assert read_svg(file) == SVG
    file.write_text(FILES[name], encoding="utf-8")
    with pytest.raises(NarxbenchError, match=rf"^{file}: [^\n]*; delete it and run again$"):
        read_svg(file)


def test_svg_can_stand_next_to_others_with_readable_text_and_without_styles():
    assert inline_svg(SVG, "n") == (
        '<svg viewBox="0 0 400 80" id="n" data-style="min-width:360px;max-width:760px" role="img" '
        'aria-labelledby="n-caption">\n<defs />\n<g clip-path="url(#n-c)">'
        '<use href="#n-g" transform="translate(1 2) scale(0.1)" fill="#0072b2" stroke="none" /></g>\n</svg>'
    )
    panel = '<svg width="9" height="9" x="9" y="0" viewBox="0 0 9 9"><path id="a" d="M0 0L9 9"/></svg>'
    assert inline_svg(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 18 9">{panel}</svg>', "n") == (
        '<div class="tiles" id="n" role="img" aria-labelledby="n-caption">'
        '<svg viewBox="0 0 9 9"><path id="n-a" d="M0 0L9 9" /></svg></div>'
    )


def test_data_cannot_end_its_script_and_characters_that_control_are_shown():
    value = {"name": "</script><!--<script>\u2028", "number": 0.1}
    text = script_json(value)
    assert "<" not in text and "\u2028" not in text and json.loads(text) == value
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json([float("nan")])
    text = "level\u202e\x1b[2J\u2066 \x9b\u05d0 \t\n\u200d"
    shown = "level\\u202e\\u001b[2J\\u2066 \\u009b\u05d0 \t\n\u200d"
    assert visible(text) == shown
    assert json.loads(script_json({text: [text, 1.5, None]})) == {shown: [shown, 1.5, None]}
