"""The pages: complete, escaped, self-contained and deterministic; and the answers on the main one."""

import posixpath
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from tests.tiers import mostly_slow
from tests.unit.studies.paper import factory
from tests.unit.studies.paper.factory import few_claims, make_frames, make_settings, paper_summaries, render, summary
from tests.unit.studies.paper.summaries import UNKNOWN

from narxbench._model.system import System
from narxbench._studies.paper.site import PAGES

VOID = ("meta", "br", "link", "img", "input")


class Page(HTMLParser):
    """Collects elements, ids, links, scripts and text, and checks that tags are closed in order."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.ids, self.links, self.scripts, self.texts, self.open = [], [], [], [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        elif "style" not in self.open:
            self.texts.append(data)

    def check_structure(self):
        """Check that all is closed, ids are unique, headings are in order, and nothing else is loaded."""
        assert not self.open
        assert len(self.ids) == len(set(self.ids))
        levels = [int(tag[1]) for tag, _ in self.elements if re.fullmatch(r"h[1-6]", tag)]
        assert levels[0] == 1 and levels.count(1) == 1
        assert max(np.diff(levels), default=0) <= 1
        assert not {"link", "img", "iframe"} & {tag for tag, _ in self.elements}

    @property
    def text(self):
        return re.sub(r"\s+", " ", "".join(self.texts))


def check_policy(html):
    """Check that a policy allows the texts of a page's script and style elements, and nothing else needs leave."""
    page = Page(html)
    policy = dict(part.split(" ", 1) for part in re.search(r'Policy" content="([^"]*)"', html)[1].split("; "))
    texts = {
        "script-src": re.findall(r"<script>(.*?)</script>", html, re.DOTALL),
        "style-src": re.findall(r"<style>(.*?)</style>", html, re.DOTALL),
    }
    for directive, texts_of_elements in texts.items():
        hashes = {f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in texts_of_elements}
        allowed = set(policy.pop(directive, "").split())
        assert allowed == hashes, directive
    assert policy == {"default-src": "'none'", "base-uri": "'none'", "form-action": "'none'"}
    assert len(texts["style-src"]) == 1 == [tag for tag, _ in page.elements].count("style")
    for _, names in page.elements:
        for name in names:
            assert not name.startswith(("on", "style"))


@pytest.fixture(scope="module", params=[False, pytest.param(True, marks=pytest.mark.slow)], ids=["bare", "drawn"])
def complete(request):
    return render(paper_summaries(), drawn=request.param)


@pytest.fixture(scope="module")
def main(complete):
    return complete["report.html"]


FILES_OF_THE_STUDY = r"paper/(tables|figures|interpretations)/[\w%.]+$|paper/(run_info.md|manifest.csv)$"


def check_link(pages, name, link):
    """Check that a link of a page leads to a place on a page, to a file of the study, or to another site."""
    if link.startswith("https:"):
        return
    place = name if name == "report.html" else f"paper/{name}"
    address, _, anchor = link.partition("#")
    target = place
    if address:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(place), address))
    if re.match(FILES_OF_THE_STUDY, target):
        return
    page_name = posixpath.basename(target)
    assert target in ("report.html", f"paper/{page_name}"), (name, link)
    assert not anchor or anchor in pages[page_name].ids, (name, link)


def test_every_page_is_well_formed_and_leads_somewhere(complete):
    assert list(complete) == [f"{name}.html" for name in PAGES]
    pages = {name: Page(html) for name, html in complete.items()}
    for name, page in pages.items():
        page.check_structure()
        for link in page.links:
            check_link(pages, name, link)


def test_the_policy_of_every_page_allows_its_own_texts_alone(complete):
    for html in complete.values():
        check_policy(html)


def test_the_main_page_is_small_and_answers_first(main):
    assert len(main.encode()) <= 1_500_000
    text = Page(main).text
    first = text[: text.index("The paper’s claims under each interpretation")]
    questions = (
        "Does the paper hold? Of its 3 claims 1 holds, 1 cannot be judged and 1 fails, on S4 alone.",
        "Are the numbers reproduced? No. As described, 0 of 4 tables lie within 1.5",
        "Why not: what brings them nearer",
        "Which method finds the true structure?",
        "Is 2D-UPSO worth using? Hardly.",
        "What should I use instead? Use pem",
        "as described: input white, uniform between −1 and 1; noise on the measured output; data seed 1.",
    )
    places = [first.index(question) for question in questions]
    assert places == sorted(places)


def test_no_page_shows_raw_markup_or_missing_numbers(complete):
    for name, html in complete.items():
        text = Page(html).text
        assert re.findall(r"<su[bp]>|&lt;|(?<!is-)\bnan\b|\bNone\b|\bNaN\b|ν_max|\{\{ |%\}", text) == [], name


def test_claims_are_ordered_by_how_far_they_hold_and_have_marks_next_to_colours(main):
    assert re.findall(r"scope=\"rowgroup\" colspan=\"5\">([^<]+)<", main) == [
        "Hold as described: 1 claim",
        "Fail as described: 1 claim",
        "Cannot be judged as described: 1 claim",
    ]
    marks = re.findall(r'<span class="mark (\w+)">([^<]+)</span>', main)
    holds, fails, unjudged = ("yes", "✓ holds"), ("no", "✗ fails"), ("open", "? cannot be judged")
    assert marks == 3 * [holds] + 3 * [fails] + 3 * [unjudged]
    assert main.count("</span><small>5 / 0 / 0 of 5</small>") == 6
    assert "Claim 1 on ν<sub>max</sub>" in main
    assert "14 of 40" in main


@pytest.mark.slow
def test_missing_conditions_are_reported():
    summaries = [*paper_summaries(("S1",))[:-1], *paper_summaries((UNKNOWN,))]
    html = render(summaries, make_settings(["S1", UNKNOWN], seeds=5))["report.html"]
    text = Page(html).text
    assert "The study is incomplete. 1 condition is missing: which." in text
    assert "<li>S1, 30 dB, GA, BIC</li>" in html
    assert "of the 735 published values have no reproduced counterpart" in text
    assert f"Without published values: {UNKNOWN}." in text
    assert "5 runs of 6,000 evaluations" in text and "the paper has 40 of 6,000" in text
    assert "paper/tables/fitness_%3Cscript%3EX.csv" in Page(html).links


def test_a_study_of_other_systems_is_not_about_the_paper():
    equation = "y(k) = 0.5*u(k-1)"
    mill = System("mill", equation, n_u=2, n_y=2, degree=2, description="A mill.", reference="Miller (2020)")
    summaries = []
    for snr_db, name in product((50, 40, 30), ("upso2d", "ga")):
        summaries.append(summary(UNKNOWN, snr_db, name) | {"system": "mill"})
    methods = {"upso2d": ["bic"], "ga": ["bic"]}
    html = render(summaries, make_settings(["mill"], methods=methods), systems=[mill])["report.html"]
    page = Page(html)
    assert "Structure selection on mill" in page.text
    assert "A mill." in page.text and "Miller (2020)" in page.text
    before_citation = page.text.split("How to cite")[0]
    assert not re.search(r"Hafiz, Swain, Mendes and Patel|[Pp]ublished|the paper|claim|[Ee]rrat", before_citation)
    assert not {"claims", "near", "scatter", "errata"} & set(page.ids)


MARKUP = [
    "<script>alert(1)</script>\"'onfocus=alert(1) autofocus='",
    "<!--<script>--></style></title><img src=x onerror=alert(1)>",
    "{{ 7*7 }}{% raw %}]]>&lt;b&gt;\u2028\x85x\x00\x1b\u202e$\\require{x}$ [a](javascript:alert(1)) **b** `c`",
]


def pages_with(text):
    """Return the pages on which every text from settings, data and runs is ``text``."""
    summaries = []
    for criterion in ("bic", "aic-2"):
        content = summary(UNKNOWN, 30, "upso2d", criterion)
        versions = {"python": text, **content["versions"]}
        summaries.append(content | {"system": text, "method": text, "data_sha256": text, "versions": versions})
    systems = [System(text, factory.system(UNKNOWN).equation, n_u=2, n_y=2, degree=2, description=text, reference=text)]
    settings = make_settings([text], methods={text: ["bic", "aic-2"]})
    settings["data"]["excitation"] = {"kind": "recorded", "file": text}
    settings["methods"][text]["settings"] = {"note": text}
    words = dict.fromkeys(("title", "quote", "source", "predicate"), text)
    stated = [SimpleNamespace(**vars(claim) | words) for claim in few_claims()]
    verdicts = make_frames(summaries)["claims"].assign(evidence=text)
    pages = render(summaries, settings, stated=stated, systems=systems, claims=verdicts)
    return {name: Page(html) for name, html in pages.items()}


@pytest.fixture(scope="module")
def harmless():
    return pages_with("harmless")


@pytest.mark.parametrize("text", mostly_slow(MARKUP, MARKUP[-1]))
def test_pages_show_any_text_as_text(harmless, text):
    for name, page in pages_with(text).items():
        assert page.elements == harmless[name].elements, name
        # Only the island of data, which comes first, tells the text; the code of a page stays as it is.
        assert len(page.scripts) == len(harmless[name].scripts)
        assert page.scripts[-1:] == harmless[name].scripts[-1:]
        assert "javascript" not in {link.lower()[:10] for link in page.links}
