"""The report: complete, escaped, self-contained and deterministic."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from cells import CRITERIA, ROOT, UNKNOWN, make_cell, paper_matrix, published, true_structure

from narxbench import plots, report
from narxbench.systems import System, load_system

ERRATA = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")


def config(systems: list[str], seeds: int = 40) -> dict[str, Any]:
    return {
        "systems": systems,
        "snr_db": [50, 40, 30],
        "seeds": list(range(1, seeds + 1)),
        "evaluations": 6000,
        "searches": {
            "upso2d": {"algorithm": "upso2d", "criteria": list(CRITERIA), "settings": {"swarm_size": 30}},
            "ga": {"algorithm": "ga", "criteria": ["bic"], "settings": {}},
        },
        "figures": {"snr_db": 30},
    }


def render(systems: list[str], cells: list[dict[str, Any]], seeds: int = 40) -> str:
    figures = {
        "convergence": plots.convergence(cells, 30)["svg"].decode(),
        "term_frequency": plots.term_frequency(cells, 30, published())["svg"].decode(),
    }
    unknown = System(UNKNOWN, "y(k) = 0.5*u(k-1) - 0.25*y(k-2)^2", n_u=2, n_y=2, degree=2)
    return report.render_report(
        config=config(systems, seeds),
        cells=cells,
        systems=[unknown if name == UNKNOWN else load_system(name) for name in systems],
        published=published(),
        figures=figures,
        errata=ERRATA,
        versions=report.versions_of(cells),
    )


class Page(HTMLParser):
    """Collects ids and links, and checks that tags are closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tables: list[int] = []
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in ("meta", "br", "link", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def complete() -> str:
    return render(["S1", "S2", "S3", "S4"], paper_matrix())


def test_the_same_cells_give_the_same_page() -> None:
    cells = paper_matrix(("S1",))
    assert render(["S1"], cells) == render(["S1"], cells)


def test_the_page_is_well_formed_and_ids_are_unique(complete: str) -> None:
    page = Page(complete)
    assert not page.open
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert set(re.findall(r"url\(#([^)]+)\)", complete)) <= set(page.ids)


def test_nothing_is_loaded_from_elsewhere(complete: str) -> None:
    links = [link for link in Page(complete).links if not link.startswith("#")]
    assert all(re.match(r"(tables|figures)/", link) for link in links)
    assert "<script" not in complete
    assert "@import" not in complete


def test_all_published_values_are_shown_beside_ours(complete: str) -> None:
    # The 660 values of the fitness tables; BIC on S1-S4 again in the comparisons (18 + 21 + 18 + 75) and GA on S4
    # (75); r and nu_max under BIC again, of 2D-UPSO on four systems and of GA on S4 (30).
    assert len(re.findall(r'<td class="(?:consistent|differs)"', complete)) == 660 + 18 + 21 + 18 + 75 + 75 + 30
    assert "incomplete" not in complete
    assert "No published values" not in complete


def test_names_are_escaped() -> None:
    html = render([UNKNOWN], [make_cell(UNKNOWN, snr, "upso2d", c) for snr in (50, 40, 30) for c in CRITERIA])
    assert "<script" not in html
    assert "&lt;script&gt;X" in html
    assert "tables/fitness_%3Cscript%3EX.csv" in html
    assert not Page(html).open


def test_what_is_missing_is_told() -> None:
    cells = [*paper_matrix(("S1",))[:-1], *paper_matrix((UNKNOWN,))]
    html = render(["S1", UNKNOWN], cells, seeds=5)
    assert "The matrix is incomplete" in html
    assert "<li>S1, 30 dB, GA, BIC</li>" in html
    assert "720 of the 810 published values have no reproduced counterpart" in html
    assert "No published values to compare with: &lt;script&gt;X." in html
    assert "5 runs of 6000 evaluations" in html


def test_errata_are_complete() -> None:
    html = report.errata_html(ERRATA)
    assert html.count("<h3>") == 7
    assert html.count("<em>") == 1
    assert "`" not in html
    assert report.errata_html("# T\n\n## A <b>\n\nx `a*b*c` *e*") == (
        "<h3>A &lt;b&gt;</h3>\n<p>x <code>a*b*c</code> <em>e</em></p>"
    )


def test_versions_that_differ_are_all_told() -> None:
    cells = [make_cell(), make_cell(snr_db=30)]
    cells[1]["versions"] = {"python": "3.12"}
    assert report.versions_of(cells)["python"] == "3.11, 3.12"


def test_true_structures_of_the_factory_are_those_of_the_systems() -> None:
    for name in ("S1", "S2", "S3", "S4"):
        terms, coefficients = true_structure(name)
        system = load_system(name)
        assert dict(zip(terms, coefficients, strict=True)) == dict(zip(system.terms, system.coefficients, strict=True))
