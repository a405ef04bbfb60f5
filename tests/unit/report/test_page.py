"""The page: complete, escaped, self-contained and deterministic."""

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from types import SimpleNamespace

import pytest
from tests.unit.analysis.summaries import CRITERIA, UNKNOWN
from tests.unit.report.factory import few_claims, make_frames, make_settings, paper_summaries, render, summary, system

from narxbench.model.system import System
from narxbench.report.page import versions_of

VOID = ("meta", "br", "link", "img", "input")


class Page(HTMLParser):
    """Collects elements, ids, links and scripts, and checks that tags are closed in order."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.ids, self.links, self.scripts, self.open = [], [], [], [], []
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

    @property
    def data(self):
        return json.loads(self.scripts[0])


@pytest.fixture(scope="module")
def complete():
    return render(paper_summaries(), drawn=True)


@pytest.fixture(scope="module")
def page(complete):
    return Page(complete)


def test_the_page_is_well_formed_and_ids_are_unique(complete, page):
    assert not page.open
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert set(re.findall(r"url\(#([^)]+)\)", complete.split("<script")[0])) <= set(page.ids)
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_page_fits_into_8_mb_and_loads_nothing_from_elsewhere(complete, page):
    assert len(complete.encode()) <= 8_000_000
    links = [link for link in page.links if not link.startswith("#")]
    assert all(re.match(r"paper/((tables|figures)/[\w%.]+|run_info.md)$|https://arxiv", link) for link in links)
    tags = [tag for tag, _ in page.elements]
    assert "link" not in tags and "img" not in tags
    assert tags.count("script") == complete.count("<script") == complete.count("</script") == 3
    assert "default-src 'none'" in complete


def test_all_published_values_are_shown_beside_ours(complete):
    # The 660 values of the fitness tables; BIC on S1-S4 again in the comparisons (18 + 21 + 18 + 75) and GA on S4
    # (75); r and nu_max under BIC again, of 2D-UPSO on four systems and of GA on S4 (30).
    values = re.findall(r'<td class="(?:consistent|differs)" data-value="[\d.]+" data-published', complete)
    assert len(values) == 660 + 18 + 21 + 18 + 75 + 75 + 30
    assert complete.count("Distance from the published table") == 4 + 4 + 1
    assert "mean absolute difference of 375 values" in complete
    assert "of 810 values are consistent" in complete
    shown = complete.split("<script")[0]
    assert "incomplete" not in shown and "No published values" not in shown


def test_method_and_interpretations_are_linked_and_explained(complete):
    assert '<a href="#method-2d-upso">' in complete and '<h3 id="method-2d-upso">2D-UPSO</h3>' in complete
    assert "This page shows the interpretation <code>cited-source</code>" in complete
    assert '<a href="#interpretations-how-it-is-computed">below</a>' in complete
    assert '<figcaption id="interpretations-interpretations-effects-svg-caption">Change of the &lt;b&gt;' in complete
    assert "@misc{hafiz2018" in complete


def test_claims_have_marks_beside_colours(complete):
    marks = re.findall(r'<strong class="mark (\w+)">([^<]+)</strong>', complete)
    holds, fails = ("yes", "✓ holds"), ("no", "✗ does not hold")
    assert marks == [holds, holds, holds, fails, fails, ("open", "? cannot be judged")]
    assert "Holding here: 1 of 3</strong>; not holding: 1; cannot be judged: 1." in complete
    assert "holding 2, not 1." in complete
    assert "Claim 1 on ν<sub>max</sub>" in complete


def test_what_is_missing_is_told():
    summaries = [*paper_summaries(("S1",))[:-1], *paper_summaries((UNKNOWN,))]
    frames = make_frames(summaries)
    empty = {name: frames[name].iloc[:0] for name in ("run_length", "budget", "claims")}
    html = render(summaries, make_settings(["S1", UNKNOWN], seeds=5), told=[], **empty)
    assert "The study is incomplete" in html
    assert "<li>S1, 30 dB, GA, BIC</li>" in html
    assert "720 of the 810 published values have no reproduced counterpart" in html
    assert "No published values to compare with: &lt;script&gt;X." in html
    assert "5 runs of 6000 evaluations" in html
    assert "No claims were checked." in html
    assert html.count("Not available: no such statistics") == 2
    page = Page(html)
    assert not page.open
    assert "paper/tables/fitness_%3Cscript%3EX.csv" in page.links
    assert 'data-place="%3Cscript%3EX/50/upso2d/bic"' in html


def test_added_methods_are_compared_and_explored_the_same_each_time():
    methods = {"upso2d": ["bic"], "bounded": ["bic"]}
    summaries = [summary("S1", snr, name, algorithm="upso2d") for snr in (50, 40, 30) for name in methods]
    html, again = (render(summaries, make_settings(["S1"], methods=methods)) for _ in range(2))
    assert html == again
    data = Page(html).data
    assert "of 18 values are consistent" in html
    assert data["names"]["method"] == {"upso2d": "2D-UPSO", "bounded": "bounded"}
    assert len(set(data["colours"]["method"].values())) == 2


def test_the_explorer_has_every_condition_with_few_digits(page):
    data = page.data
    assert len(data["conditions"]) == len(data["budget"]) == 72
    assert len(data["run_length"]) == 12 * (4 + 4 + 4 * 3)
    assert {row["target_name"] for row in data["run_length"]} >= {"best known J", "median final J of GA"}
    assert set(data["measured"]) == {f"{name}/{snr}" for name in ("S1", "S2", "S3", "S4") for snr in (50, 40, 30)}
    first = data["conditions"][0]
    assert (first["system"], first["snr_db"], first["method"], first["criterion"]) == ("S1", "50", "upso2d", "bic")
    assert first["model"]["coefficients"][0] == 0.123457
    assert first["model"]["prediction"][1] == float(f"{37 / 7 + 1 / 3000:.4g}")
    assert first["curve"]["evaluations"][-1] == 6000 and len(first["cardinality"]) == 40
    assert list(data["systems"]["S1"]["labels"].values()) == ["T1", "T2", "T3", "T4"]
    diverging = next(each for each in data["conditions"] if each["criterion"] == CRITERIA[-1])
    assert diverging["model"]["prediction"] is None and diverging["curve"]["mean"][0] is None


def test_versions_that_differ_are_all_told():
    found = versions_of([summary(), summary() | {"versions": {"python": "3.12"}}])
    assert found["python"] == "3.11, 3.12"
    assert {"matplotlib", "plotly"} <= found.keys()


MARKUP = [
    "<script>alert(1)</script>",
    "\"'onfocus=alert(1) autofocus='",
    "<!--<script>--></style></title><img src=x onerror=alert(1)>",
    "{{ 7*7 }}{% raw %}]]>&lt;b&gt;\u2028\x85",
    "x\x00\x1b\u202e$\\require{x}$ [a](javascript:alert(1)) **b** `c`",
]


def page_with(text):
    """Return the page on which every text from settings, data and runs is ``text``."""
    summaries = []
    for criterion in ("bic", "aic-2"):
        made = summary(UNKNOWN, 30, "upso2d", criterion)
        versions = {"python": text, **made["versions"]}
        summaries.append(made | {"system": text, "method": text, "data_sha256": text, "versions": versions})
    systems = [System(text, system(UNKNOWN).equation, n_u=2, n_y=2, degree=2, description=text, reference=text)]
    settings = make_settings([text], methods={text: ["bic", "aic-2"]}) | {"data": {"excitation": {"file": text}}}
    settings["methods"][text]["settings"] = {"note": text}
    words = dict.fromkeys(("title", "quote", "source", "predicate"), text)
    told = [SimpleNamespace(**vars(claim) | words) for claim in few_claims()]
    verdicts = make_frames(summaries)["claims"].assign(evidence=text)
    return Page(render(summaries, settings, told=told, systems=systems, claims=verdicts))


@pytest.fixture(scope="module")
def harmless():
    return page_with("harmless")


@pytest.mark.parametrize("text", MARKUP, ids=lambda text: ascii(text)[:20])
def test_pages_show_any_text_as_text(harmless, text):
    page = page_with(text)
    assert page.elements == harmless.elements
    # Only the island of data tells the text; the code of the page stays as it is.
    assert len(page.scripts) == len(harmless.scripts) and page.scripts[1:] == harmless.scripts[1:]
    assert list(page.data["systems"]) == [text]
    elsewhere = [link for link in page.links if not re.match(r"#|paper/((tables|figures)/[\w%.-]+|run_info.md)$", link)]
    assert elsewhere == ["https://arxiv.org/abs/1812.08369"]
