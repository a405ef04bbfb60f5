"""The report: complete, escaped, self-contained and deterministic."""

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest
from cells import CRITERIA, UNKNOWN, make_cell, paper_matrix, true_structure
from tests.browser.page import CITATION, ERRATA, METHOD, claims, published, render, statistics, with_model

from narxbench import report
from narxbench.report.explorer import explorer_data
from narxbench.report.markup import bibtex, markdown_html, markdown_sections, script_json
from narxbench.model.system import load_system
from narxbench.report.table_views import statistics_tables

SYSTEMS = ["S1", "S2", "S3", "S4"]
VOID = ("meta", "br", "link", "img", "input")


class Page(HTMLParser):
    """Collects ids and links, and checks that tags are closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def data_of(html: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html)
    assert found
    return dict(json.loads(found[1]))


@pytest.fixture(scope="module")
def complete() -> str:
    cells = paper_matrix()
    return render(SYSTEMS, cells, claims=claims(), statistics=statistics(cells))


def test_the_same_cells_give_the_same_page() -> None:
    cells = paper_matrix(("S1",))
    assert render(["S1"], cells) == render(["S1"], cells)


def test_the_page_is_well_formed_and_ids_are_unique(complete: str) -> None:
    page = Page(complete)
    assert not page.open
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert set(re.findall(r"url\(#([^)]+)\)", complete.split("<script")[0])) <= set(page.ids)
    levels = [int(tag[1]) for tag in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_page_fits_into_8_mb(complete: str) -> None:
    assert len(complete.encode()) <= 8_000_000


def test_nothing_is_loaded_from_elsewhere(complete: str) -> None:
    page = Page(complete)
    links = [link for link in page.links if not link.startswith("#")]
    known = re.compile(r"(tables|figures)/|(claims|statistics)\.json$|made\.md$|https://arxiv")
    assert all(known.match(link) for link in links)
    assert "link" not in page.tags
    assert page.tags.count("script") == complete.count("<script") == complete.count("</script") == 3
    assert "default-src 'none'" in complete


def test_all_published_values_are_shown_beside_ours(complete: str) -> None:
    # The 660 values of the fitness tables; BIC on S1-S4 again in the comparisons (18 + 21 + 18 + 75) and GA on S4
    # (75); r and nu_max under BIC again, of 2D-UPSO on four systems and of GA on S4 (30).
    cells = re.findall(r'<td class="(?:consistent|differs)" data-value="[\d.]+" data-published', complete)
    assert len(cells) == 660 + 18 + 21 + 18 + 75 + 75 + 30
    assert complete.count("Distance from the published table") == 4 + 4 + 1
    assert "mean absolute difference of 375 values" in complete
    assert "of 810 values are consistent" in complete
    assert "incomplete" not in complete.split("<script")[0]
    assert "No published values" not in complete


def test_a_value_has_interval_test_and_distance() -> None:
    counts = {"y(k-1)": 40, "u(k-1)": 10, "y(k-1)*u(k-1)": 40, "u(k-1)^2": 40}
    html = render(["S1"], [make_cell(counts=counts, snr_db=30)], searches={"upso2d": ["bic"]})
    cell = re.search(r'<td class="differs" data-value="0.25" (.*?)</td>', html)
    assert cell
    assert 'data-published="1" data-interval="0.12–0.38" data-test="p &lt; 0.001"' in cell[1]
    assert '1&nbsp;≠</small><small class="more">0.12–0.38<br>p &lt; 0.001' in cell[1]


def test_the_method_is_linked_and_explained(complete: str) -> None:
    assert '<a href="#method-2d-upso">' in complete
    assert '<h3 id="method-2d-upso">2D-UPSO</h3>' in complete
    assert "<code>velocity_bound</code>" in complete


def test_readings_are_shown_with_their_figures(complete: str) -> None:
    assert '<section id="readings"' in complete and "This page shows the reading <code>" in complete
    assert '<a href="#readings-how-it-is-computed">below</a>' in complete
    assert '<h3 id="readings-how-it-is-computed">' in complete
    # What is no part of the page is named, not linked.
    assert "every number is in <code>cells.csv</code>" in complete
    name = "readings-fidelity-effects-svg"
    assert f'id="{name}" role="img" aria-labelledby="{name}-caption"' in complete
    assert f'<figcaption id="{name}-caption">Change of the &lt;b&gt;distance&lt;/b&gt; by each option' in complete
    assert "<img" not in complete.split("<script")[0]


def test_claims_have_marks_beside_colours(complete: str) -> None:
    marks = re.findall(r'<strong class="mark (\w+)">([^<]+)</strong>', complete)
    assert marks == [
        ("yes", "✓ holds"),
        ("yes", "✓ holds"),
        ("yes", "✓ holds"),
        ("no", "✗ does not hold"),
        ("no", "✗ does not hold"),
        ("open", "? cannot be judged"),
    ]
    assert "Holding here: 1 of 3" in complete
    assert "Claim 1 on ν<sub>max</sub>" in complete
    assert "a &lt;b&gt;quote&lt;/b&gt;" in complete


def test_names_are_escaped() -> None:
    cells = [make_cell(UNKNOWN, snr, "upso2d", c) for snr in (50, 40, 30) for c in CRITERIA]
    html = render([UNKNOWN], cells, statistics=statistics(cells))
    page = Page(html)
    assert not page.open
    assert page.tags.count("script") == html.count("<script") == 3
    assert "&lt;script&gt;X" in html
    assert "tables/fitness_%3Cscript%3EX.csv" in html
    assert 'data-place="%3Cscript%3EX/50/upso2d/bic"' in html
    assert list(data_of(html)["systems"]) == [UNKNOWN]


def test_what_is_missing_is_told() -> None:
    cells = [*paper_matrix(("S1",))[:-1], *paper_matrix((UNKNOWN,))]
    html = render(["S1", UNKNOWN], cells, seeds=5)
    assert "The matrix is incomplete" in html
    assert "<li>S1, 30 dB, GA, BIC</li>" in html
    assert "720 of the 810 published values have no reproduced counterpart" in html
    assert "No published values to compare with: &lt;script&gt;X." in html
    assert "5 runs of 6000 evaluations" in html
    assert "No claims were checked." in html
    assert html.count("Not available: no such statistics") == 5
    assert not Page(html).open


def test_a_claim_without_a_side_is_not_judged() -> None:
    found = claims()
    del found["claims"][0]["here"]
    html = render(["S1"], paper_matrix(("S1",)), claims=found)
    assert "? cannot be judged</strong> Not evaluated." in html


def test_added_searches_are_compared_and_explored() -> None:
    searches = {"upso2d": ["bic"], "bounded": ["bic"]}
    cells = [make_cell("S1", snr, name, "bic", algorithm="upso2d") for snr in (50, 40, 30) for name in searches]
    html = render(["S1"], cells, searches=searches)
    assert "of 18 values are consistent" in html
    assert data_of(html)["names"]["search"] == {"upso2d": "2D-UPSO", "bounded": "bounded"}
    assert len(set(data_of(html)["colours"]["search"].values())) == 2


def test_the_explorer_has_every_cell_with_few_digits() -> None:
    cells = [with_model(cell) for cell in paper_matrix(("S1",))]
    data = explorer_data(cells, published(), statistics(cells))
    assert len(data["cells"]) == len(data["budget"]) == 18
    assert len(data["run_length"]) == 36
    assert set(data["measured"]) == {"S1/50", "S1/40", "S1/30"}
    first = data["cells"][0]
    assert first["model"]["coefficients"][0] == 0.123457
    assert first["model"]["prediction"][1] == float(f"{37 / 7 + 1 / 3000:.4g}")
    assert first["curve"]["mean"][0] is None
    assert data["systems"]["S1"]["labels"] == published().labels("S1", true_structure("S1")[0])
    diverging = next(cell for cell in data["cells"] if cell["criterion"] == CRITERIA[-1])
    assert diverging["model"]["prediction"] is None


def shown(view: Any) -> list[str]:
    return [re.sub(r"<[^>]+>|&lt;", lambda m: "<" if m[0] == "&lt;" else "", cell.html) for cell in view.rows[0]]


def test_statistics_are_shown_as_readers_expect() -> None:
    views = statistics_tables(statistics([make_cell(search="ga")]))
    assert shown(views["comparisons"]) == (
        ["S1", "50 dB", "BIC", "2D-UPSO", "GA", "40", "−20.0", "−10.0", "< 0.001", "0.012", "0.97", "large", "2D-UPSO"]
    )
    assert shown(views["recovery"])[3:] == ["GA", "3", "40", "0.08", "0.03", "0.20"]
    assert shown(views["gaps"])[4:] == ["−10.0", "–", "0.0", "0.0", "yes", "0.50"]
    assert statistics_tables({}) == {}


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({"p_holm": 0.3}, "no clear difference"),
        ({"median_a": None}, "GA"),
        ({"median_a": None, "median_b": None}, "no clear difference"),
        ({"median_a": -5.0}, "GA"),
    ],
)
def test_the_better_search_is_named_where_it_is_clear(change: dict[str, Any], verdict: str) -> None:
    found = statistics([make_cell(search="ga")])["comparisons"][0]
    assert shown(statistics_tables({"comparisons": [found | change]})["comparisons"])[-1] == verdict


def test_data_cannot_end_its_script() -> None:
    value = {"name": "</script><!--<script>\u2028", "number": 0.1}
    text = script_json(value)
    assert "<" not in text
    assert "\u2028" not in text
    assert json.loads(text) == value
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json([float("nan")])


def test_errata_are_complete() -> None:
    sections = markdown_sections(ERRATA, "erratum")
    assert len(sections) == 7
    assert sections[0][0] == "The tables of S4 do not use the appendix's order of terms"
    assert all("Evidence:" in body and "`" not in body for _, body in sections)


def test_markdown_is_escaped_and_keeps_its_tables() -> None:
    html = markdown_html("# T\n\n## A <b>\n\nx `y(k-1)` *e* [l](javascript:alert(1))\n\n| Q |\n|---|\n| ν_max |", "m")
    assert html.startswith('<h3 id="m-a-b">A &lt;b&gt;</h3>\n<p>x <code class="term">y(k-1)</code> <em>e</em>')
    assert "<a" not in html
    assert "<td>ν<sub>max</sub></td>" in html
    assert markdown_html(METHOD, "m").count("<table>") == 2


def test_citations_come_from_the_citation_file() -> None:
    software, paper = bibtex(CITATION)
    assert software.startswith("@software{narxbench2026,\n")
    assert f"version = {{{CITATION['version']}}}" in software
    assert paper.startswith("@misc{hafiz2018,\n")
    assert "author = {Hafiz, Faizal and Swain, Akshya and Mendes, Eduardo M. A. M. and Patel, Nitish}" in paper
    assert "eprint = {1812.08369}" in paper


def test_versions_that_differ_are_all_told() -> None:
    cells = [make_cell(), make_cell(snr_db=30)]
    cells[1]["versions"] = {"python": "3.12"}
    found = report.versions_of(cells)
    assert found["python"] == "3.11, 3.12"
    assert {"matplotlib", "plotly"} <= found.keys()


def test_true_structures_of_the_factory_are_those_of_the_systems() -> None:
    for name in SYSTEMS:
        terms, coefficients = true_structure(name)
        system = load_system(name)
        assert dict(zip(terms, coefficients, strict=True)) == dict(zip(system.terms, system.coefficients, strict=True))
