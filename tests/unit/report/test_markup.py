"""Markdown and SVG as HTML, and data for scripts."""

import json

import pytest
from tests.unit.analysis.summaries import REFERENCE, ROOT

from narxbench.io.yaml import read_mapping
from narxbench.report.markup import inline_svg, markdown_headings, markdown_html, markdown_sections, script_json

SVG = (
    '<?xml version="1.0"?>\n<svg width="9pt" id="x"><metadata>2026</metadata>'
    '<style>*{a}</style><use xlink:href="#g"/></svg>'
)


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


def test_images_become_figures():
    html = markdown_html("![A <b> *c*](f/x.svg)\n\n![other](y.svg)", "m", {"f/x.svg": SVG})
    assert '<figcaption id="m-f-x-svg-caption">A &lt;b&gt; *c*</figcaption></figure>' in html
    assert 'id="m-f-x-svg" role="img" aria-labelledby="m-f-x-svg-caption">' in html
    assert html.count("<img") == 1


def test_an_svg_keeps_its_text_readable():
    root = inline_svg('<svg width="396pt" viewBox="0 0 400 80"><g/></svg>', "n").split(">")[0]
    assert root.startswith('<svg viewBox="0 0 400 80" style="min-width:360px;max-width:640px"')


def test_svg_can_stand_beside_others():
    assert inline_svg(SVG, "n") == (
        '<svg id="n" role="img" aria-labelledby="n-caption"><style>#n *{a}</style><use href="#n-g"/></svg>'
    )


def test_errata_are_complete():
    sections = markdown_sections((ROOT / "docs" / "errata.md").read_text(encoding="utf-8"), "erratum")
    assert len(sections) == 12
    assert sections[0][0] == "The tables of S4 do not use the appendix's order of terms"
    assert all("Evidence:" in body and "`" not in body for _, body in sections)


def test_data_cannot_end_its_script():
    value = {"name": "</script><!--<script>\u2028", "number": 0.1}
    text = script_json(value)
    assert "<" not in text
    assert "\u2028" not in text
    assert json.loads(text) == value
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json([float("nan")])


def test_the_citation_agrees_with_the_citation_file():
    known = read_mapping(ROOT / "CITATION.cff")
    paper, software = (REFERENCE / "citation.bib").read_text(encoding="utf-8").split("\n\n")
    for entry, source in ((software, known), (paper, known["references"][0])):
        year = str(source.get("year") or source["date-released"])[:4]
        assert f"title = {{{{{source['title']}}}}}" in entry and f"year = {{{year}}}" in entry
        assert all(person.get("family-names", person.get("name")) in entry for person in source["authors"])
    assert f"version = {{{known['version']}}}" in software
    assert known["references"][0]["notes"].removeprefix("arXiv:") in paper


def test_the_subscript_of_our_tables_is_the_only_markup():
    html = markdown_html("| ν<sub>max</sub> | <sub>other</sub> |\n|---|---|\n| 1 | <b>2</b> |\n", "x")
    assert html.count("<sub>max</sub>") == 1
    assert "<b>" not in html and "<sub>other" not in html
    drawn = markdown_html("![<b> of ν_max](a/b.svg)\n", "x", {"a/b.svg": "<svg><g/></svg>"})
    assert "&lt;b&gt; of ν<sub>max</sub></figcaption>" in drawn
