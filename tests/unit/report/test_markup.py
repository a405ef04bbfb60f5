"""Markdown and SVG as HTML, and data for scripts."""

import json
from itertools import pairwise

import pytest
from tests.unit.studies.paper.summaries import REFERENCE, ROOT
from tests.unit.studies.paper.test_page import Page

from narxbench._io.errors import NarxbenchError
from narxbench._io.yaml import read_mapping
from narxbench._report.markup import inline_svg, markdown_headings, markdown_html, read_svg, script_json, visible

SVG = """<?xml version="1.0"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd">
<svg xmlns:xlink="http://www.w3.org/1999/xlink" xmlns="http://www.w3.org/2000/svg" width="9pt" viewBox="0 0 400 80"
 id="x">
<metadata>2026</metadata><defs><style type="text/css">*{stroke-linejoin: round; stroke-linecap: butt}</style></defs>
<g clip-path="url(#c)"><use xlink:href="#g" transform="translate(1 2) scale(0.1)"
 style="fill: #0072b2; stroke: none"/></g>
<!-- a comment --></svg>"""
# Markup that can run, load or cover the page, and files that are no whole SVG.
HOSTILE = {
    "script": "<script>alert(1)</script>",
    "xhtml": '<script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>',
    "event": '<g onload="alert(1)"/>',
    "foreign": "<foreignObject><p>x</p></foreignObject>",
    "image": '<image href="https://x.org/a.png"/>',
    "link": '<a href="javascript:alert(1)"><path d="M 0 0"/></a>',
    "use": '<use href="https://x.org/a.svg#b"/>',
    "nearby": '<use xlink:href="other.svg"/>',
    "address": '<path style="fill: url(https://x.org/a)"/>',
    "escaped": r'<path fill="u\72l(x)"/>',
    "css": "<style>@import 'x'</style>",
    "covering": '<g style="position: fixed; inset: 0"/>',
    "class": '<g class="skip"/>',
    "animated": '<set attributeName="href" to="javascript:alert(1)"/>',
    "nested": "<g>" * 2000 + "</g>" * 2000,
    "cut": "<g><path d='M",
}
FILES = {name: SVG.replace("</svg>", f"{markup}</svg>") for name, markup in HOSTILE.items()}
ENTITIES = ['<!ENTITY a "aaaaaaaaaa">']
for name, following in pairwise("abcdefghi"):
    ENTITIES.append(f'<!ENTITY {following} "{f"&{name};" * 10}">')
FILES |= {
    "empty": "",
    "text": "no markup",
    "page": "<html><svg/></html>",
    "nameless": "<svg><g/></svg>",
    "bomb": f"<!DOCTYPE svg [{''.join(ENTITIES)}]>" + SVG.split("\n", 2)[2].replace("2026", "&i;"),
}


def test_markdown_is_escaped_and_keeps_its_tables():
    html = markdown_html("# T\n\n## A <b>\n\nx `y(k-1)` *e* [l](javascript:alert(1))\n\n| Q |\n|---|\n| ν_max |", "m")
    assert html.startswith('<h3 id="m-a-b">A &lt;b&gt;</h3>\n<p>x <code class="term">y(k-1)</code> <em>e</em>')
    assert "<a" not in html
    assert '<th scope="col">Q</th>' in html and "<td>ν<sub>max</sub></td>" in html
    assert html.count('tabindex="0">\n<table>') == html.count("</table>\n</div>") == 1


def test_links_stay_within_the_page():
    html = markdown_html("[a](#b) [c](other.md) <https://d.org>", "m")
    assert html == '<p><a href="#m-b">a</a> c <a href="https://d.org">https://d.org</a></p>\n'


def test_a_document_can_be_a_page_of_its_own():
    text = "# T\n\n## A *b*\n\n[x](f/a.csv) [y](../f/a.csv) [z](other.md)\n\n### C\n\n## D\n"
    html = markdown_html(text, "m", deeper=0, files="f/")
    assert '<h2 id="m-a-b">A <em>b</em></h2>' in html and '<h3 id="m-c">C</h3>' in html
    assert html.count("<a ") == 1 and '<a href="f/a.csv">x</a> y z' in html
    assert markdown_headings(text, "m") == {"m-a-b": "A <em>b</em>", "m-d": "D"}


def test_svg_can_stand_next_to_others_with_readable_text_and_without_styles():
    assert inline_svg(SVG, "n") == (
        '<svg viewBox="0 0 400 80" id="n" data-style="min-width:360px;max-width:760px" role="img" '
        'aria-labelledby="n-caption">\n<defs />\n<g clip-path="url(#n-c)">'
        '<use href="#n-g" transform="translate(1 2) scale(0.1)" fill="#0072b2" stroke="none" /></g>\n</svg>'
    )


def test_panels_of_an_svg_stand_where_the_page_has_room():
    panel = '<svg width="9" height="9" x="9" y="0" viewBox="0 0 9 9"><path id="a" d="M0 0L9 9"/></svg>'
    drawn = inline_svg(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 18 9">{panel}</svg>', "n")
    assert drawn == (
        '<div class="tiles" id="n" role="img" aria-labelledby="n-caption">'
        '<svg viewBox="0 0 9 9"><path id="n-a" d="M0 0L9 9" /></svg></div>'
    )


def test_data_cannot_end_its_script():
    value = {"name": "</script><!--<script>\u2028", "number": 0.1}
    text = script_json(value)
    assert "<" not in text
    assert "\u2028" not in text
    assert json.loads(text) == value
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json([float("nan")])


def test_characters_that_control_are_shown():
    text = "level\u202e\x1b[2J\u2066 \x9b\u05d0 \t\n\u200d"
    shown = "level\\u202e\\u001b[2J\\u2066 \\u009b\u05d0 \t\n\u200d"
    assert visible(text) == shown
    assert json.loads(script_json({text: [text, 1.5, None]})) == {shown: [shown, 1.5, None]}


def test_the_citation_agrees_with_the_citation_file():
    citation = read_mapping(ROOT / "CITATION.cff")
    paper, software = (REFERENCE / "citation.bib").read_text(encoding="utf-8").split("\n\n")
    for entry, source in ((software, citation), (paper, citation["references"][0])):
        year = str(source.get("year") or source["date-released"])[:4]
        assert f"title = {{{{{source['title']}}}}}" in entry and f"year = {{{year}}}" in entry
        for person in source["authors"]:
            assert person.get("family-names", person.get("name")) in entry
    assert f"version = {{{citation['version']}}}" in software
    assert citation["references"][0]["notes"].removeprefix("arXiv:") in paper


@pytest.mark.parametrize("name", FILES)
def test_a_figure_that_is_none_is_reported_in_one_line(tmp_path, name):
    file = tmp_path / "effects.svg"
    file.write_text(SVG, encoding="utf-8")
    assert read_svg(file) == SVG
    file.write_text(FILES[name], encoding="utf-8")
    with pytest.raises(NarxbenchError, match=rf"^{file}: [^\n]*; delete it and run again$"):
        read_svg(file)


def test_markdown_brings_no_markup_of_its_own():
    lines = [
        "<script>alert(1)</script> <b onclick=alert(1)>x</b> <!-- <style> -->",
        "[l](javascript:alert(1)) <javascript:alert(1)> [d](data:text/html,x) [v](vbscript:x) [o](other.html)",
        "![t](https://x.org/a.png) ![u](data:image/png;base64,x) [r][r] &lt;script&gt; &#60;script&#62;",
        "\n[r]: javascript:alert(1)",
    ]
    harmless = Page(markdown_html("# T\n\n## A\n\nx\n\ny\n", "m"))
    page = Page(markdown_html("# T</title><script>\n\n## A <script>\n\n" + "\n".join(lines), "m"))
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in harmless.elements] and page.links == harmless.links
    assert "<script>alert(1)</script> <b onclick=alert(1)>x</b>" in page.text
    assert "t u [r][r] <script> <script>" in page.text
