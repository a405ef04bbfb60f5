"""The pages: complete, escaped, self-contained and deterministic; what they say, and where each number comes from."""

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
from tests.unit.studies.paper.factory import (
    NO_FAILURES,
    few_claims,
    make_frames,
    make_kept,
    make_material,
    make_settings,
    paper_summaries,
    render,
    summary,
)
from tests.unit.studies.paper.summaries import UNKNOWN, make_summary

from narxbench._model.system import System
from narxbench._studies.paper.kept import KeptResults
from narxbench._studies.paper.kept_files import FILES
from narxbench._studies.paper.page import pages, reproducible_pages
from narxbench._studies.paper.report_page import answer_line
from narxbench._studies.paper.site import PAGES
from narxbench._studies.paper.status import compare_with_kept, run_status
from narxbench._study.design_choices import load_design_choices
from narxbench._study.run_record import StepTime

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
def trial():
    summaries = [
        summary(place["system"], place["snr_db"], place["method"], place["criterion"], runs=4)
        for place in paper_summaries()
    ]
    kept = make_kept(few_claims(), make_frames(paper_summaries())["conditions"])
    return render(summaries, make_settings(seeds=4), kept=kept)


@pytest.fixture(scope="module")
def main(complete):
    return complete["report.html"]


FILES_OF_THE_STUDY = r"paper/(tables|figures)/[\w%.]+$"


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


def test_there_are_four_pages_each_well_formed_and_every_link_leads_somewhere(complete):
    assert list(complete) == [f"{name}.html" for name in PAGES] and len(PAGES) == 4
    pages = {name: Page(html) for name, html in complete.items()}
    for name, page in pages.items():
        page.check_structure()
        for link in page.links:
            check_link(pages, name, link)


def test_the_policy_of_every_page_allows_its_own_texts_alone(complete):
    for html in complete.values():
        check_policy(html)


def test_no_page_shows_raw_markup_or_missing_numbers(complete, trial):
    for rendered in (complete, trial):
        for name, html in rendered.items():
            text = Page(html).text
            assert re.findall(r"<su[bp]>|&lt;|(?<!is-)\bnan\b|\bNone\b|\bNaN\b|ν_max|\{\{ |%\}", text) == [], name


# Where each number comes from.


class Blocks(HTMLParser):
    """Collects the texts of a page by the source of the innermost block that they stand in; "" outside of blocks."""

    def __init__(self, html):
        super().__init__()
        self.open, self.texts = [], {}
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            source = dict(attrs).get("data-source")
            self.open.append((tag, source or (self.open[-1][1] if self.open else "")))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if not {"style", "script", "title"} & {tag for tag, _ in self.open} and self.open:
            self.texts.setdefault(self.open[-1][1], []).append(data)


def blocks_of(html):
    """Return the outermost and the inner blocks of a page: pairs of source and content, in their order."""
    blocks, starts = [], []
    for match in re.finditer(r"<(/?)(\w+)([^>]*)>", re.sub(r"<(script|style)>.*?</\1>", "", html, flags=re.DOTALL)):
        closing, tag, rest = match[1], match[2], match[3]
        if tag in VOID or rest.endswith("/"):
            continue
        if not closing:
            source = re.search(r'data-source="(\w+)"', rest)
            starts.append((tag, source and source[1], match.end()))
            continue
        opened, source, start = starts.pop()
        assert opened == tag
        if source:
            blocks.append(
                (start, source, re.sub(r"<(script|style)>.*?</\1>", "", html, flags=re.DOTALL)[start : match.start()])
            )
    return [(source, content) for _, source, content in sorted(blocks)]


SOURCES = {"run", "settings", "published", "kept"}
# Names with digits: systems, terms, the method, the paper's title.
NAMES = re.compile(r"S[1-4]|2D-UPSO|T\d+|SHA-256")


def test_every_digit_outside_of_names_stands_in_a_block_with_a_source(complete, trial):
    for rendered in (complete, trial):
        for name, html in rendered.items():
            texts = Blocks(html).texts
            assert texts.keys() <= SOURCES | {""}
            outside = NAMES.sub("", " ".join(texts.get("", [])))
            assert re.findall(r".{0,20}\d.{0,20}", outside) == [], name


def other_run():
    """Return the summaries and the record of a run in which every value is another one."""
    summaries = []
    for place in paper_summaries():
        runs = 40
        counts = {}
        for number, term in enumerate(place["candidates"]):
            counts[term] = (7 * number + 3) % 31 + 1
        histories = [[(1, 2000.0 + seed), (50 * seed, -1234.5 - 7 * seed)] for seed in range(1, runs + 1)]
        changed = make_summary(
            place["system"], place["snr_db"], place["method"], place["criterion"], counts=counts, histories=histories
        )
        changed["data_sha256"] = place["data_sha256"][::-1].replace("0", "9")
        changed["algorithm_sha256"] = "b" * 64
        changed["versions"] = {"python": "3.12", "narxbench": "0.3.0"}
        changed["seals"] = {name: seal.replace("0", "7") for name, seal in changed["seals"].items()}
        summaries.append(changed)
    record = factory.RECORD.model_copy(
        update={
            **{"command": "snakemake --cores 64", "settings": "", "date": "2027-11-12T10:11:12Z", "commit": "f" * 40},
            **{"changed_files": 5, "machine": "another machine", "wall_seconds": 7654.0},
            "steps": [StepTime(step="search", jobs=98, cpu_seconds=10.0, wall_seconds=11.0)],
        }
    )
    return summaries, record


@pytest.mark.parametrize("drawn", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_what_a_page_says_of_a_run_follows_from_the_run_and_nothing_else_does(drawn):
    kept = make_kept(few_claims(), make_frames(paper_summaries())["conditions"])
    before = render(paper_summaries(), drawn=drawn, kept=kept)
    summaries, record = other_run()
    verdicts = make_frames(summaries)["claims"]
    changed = {"verdict": "holds", "held": 4, "missed": 0, "places": 9, "evidence": "At 4 of 9."}
    verdicts.loc[verdicts["side"] == "here", list(changed)] = list(changed.values())
    after = render(summaries, drawn=drawn, kept=kept, record=record, claims=verdicts)
    n_of_run = 0
    for name in before:
        old, new = blocks_of(before[name]), blocks_of(after[name])
        assert [source for source, _ in old] == [source for source, _ in new]
        for (source, text), (_, changed) in zip(old, new, strict=True):
            if source == "run":
                n_of_run += 1
                assert text != changed, (name, text[:300])
            else:
                assert text == changed, (name, text[:300])
    assert n_of_run > 10


def test_without_kept_results_a_report_is_complete_and_says_what_is_missing(main):
    pages = render(paper_summaries(), kept=KeptResults())
    page = Page(pages["report.html"])
    assert "Complete run" in page.text and "kept results missing" in page.text
    for file in FILES.values():
        assert f"data/reference/{file}" in page.text
        assert f"data/reference/{file}" in Page(pages["interpretations.html"]).text
    assert '<details class="kept"' not in pages["as_printed.html"]
    of_run = [content for source, content in blocks_of(pages["report.html"]) if source == "run"]
    with_kept = [content for source, content in blocks_of(main) if source == "run"]
    # The comparison with the kept conditions and the fold of kept verdicts are all that is missing.
    assert of_run[1:3] == with_kept[1:3]


# What it says.


def test_the_first_screen_says_what_ran_which_tables_differ_and_which_claims_hold(main):
    page = Page(main)
    order = (
        *("Complete run", "Searches", "2,880 of 2,880", "40 runs × 6,000 evaluations", "2026-05-17", "5 min"),
        *("01234567", "72 of 72 conditions equal", "snakemake --cores 3 --config seeds=40", "Your tables:"),
        *("The claims in this run: 1 hold, 1 undecided, 1 fail", "Every place; one clear miss fails", "Kept results"),
        *("As described, on 5 data seeds, 46 to 56 of 735 values differ clearly", "Each claim"),
    )
    places = [page.text.index(text) for text in order]
    assert places == sorted(places)
    frame = make_frames(paper_summaries())["agreement"].set_index("table")
    total = frame.loc["all"]
    assert f"Your tables: {total['lower'] + total['higher']} of 735 values differ clearly" in page.text
    assert list(frame["compared"]) == [90, 105, 90, 375, 75, 735]


def test_a_trial_draws_no_conclusion(trial):
    report, printed = Page(trial["report.html"]).text, Page(trial["as_printed.html"]).text
    assert "Trial run: no conclusions. 4 of the paper’s 40 runs." in report
    assert "Your tables: not compared" in report and "The claims in this run: not judged" in report
    assert "90 of 90" in report and "150 of 150" in report
    for text in (report, printed):
        assert not re.search(
            r"differ clearly|clearly (lower|higher)|\bhold(s)?\b|\bfails?\b|undecided", text.split("How to cite")[0]
        )
    assert 'class="differs"' not in trial["as_printed.html"]
    assert "no kept run of this size" in report


@pytest.fixture(scope="module")
def frames():
    return make_frames(paper_summaries())


@pytest.mark.parametrize(
    ("column", "value", "shortfall"),
    [
        ("evaluations", 5999, "5,999 of the paper’s 6,000 evaluations"),
        ("runs", 39, "39 of the paper’s 40 runs"),
        ("criterion", "aic-16", "71 of the paper’s 72 conditions"),
    ],
)
def test_one_condition_with_less_than_the_paper_makes_a_trial(frames, column, value, shortfall):
    metrics = frames["metrics"].copy()
    status = run_status(make_settings(), metrics, frames["agreement_values"], load_design_choices())
    assert status.is_complete and not status.is_trial and status.searches == status.planned == 2880
    metrics.loc[metrics.index[-1], column] = value
    status = run_status(make_settings(), metrics, frames["agreement_values"], load_design_choices())
    assert status.is_trial and status.shortfalls == [shortfall]


def test_a_trial_is_measured_by_the_evaluations_of_its_interpretation(frames):
    choices = load_design_choices()
    fewer = choices.model_copy(update={"interpretations": {"short": {"evaluations": "3000"}}})
    metrics, settings = frames["metrics"].assign(evaluations=2999), make_settings() | {"interpretation": "short"}
    status = run_status(settings, metrics, frames["agreement_values"], fewer)
    assert status.shortfalls == ["2,999 of its interpretation’s 3,000 evaluations"]
    metrics["evaluations"] = 3000
    assert run_status(settings, metrics, frames["agreement_values"], fewer).is_complete


def test_a_condition_that_is_not_the_kept_one_is_named(frames):
    conditions, choices = frames["conditions"], load_design_choices()
    changed = conditions.copy()
    changed.loc[3, "best_fitness"] = 1.0
    comparison = compare_with_kept(conditions, changed, make_settings(), choices)
    assert (comparison.compared, comparison.equal) == (72, 71)
    assert list(comparison.different) == ["S1 50 dB upso2d aic-64"]
    for column, value in (("data_seed", 2), ("runs", 39), ("interpretation", "ring=2")):
        assert (
            compare_with_kept(conditions, conditions.assign(**{column: value}), make_settings(), choices).compared == 0
        )


def test_failed_runs_are_counted_and_named():
    failures = NO_FAILURES.copy()
    failures.loc[0] = ["S1", 30.0, 1, "baseline", "ga", "bic", 40, 3, "the process was too slow"]
    rendered = render(paper_summaries(("S1",)), failures=failures)
    assert ", 3 failed" in Page(rendered["report.html"]).text
    assert "S1, 30 dB, GA, BIC3 of 40the process was too slow" in Page(rendered["method.html"]).text
    assert "failed" not in Page(render(paper_summaries(("S1",)))["report.html"]).text


def test_each_value_of_the_run_leads_to_its_data_its_run_files_and_its_command(complete):
    links = re.findall(r'<a tabindex="-1" href="method.html#([\w-]+)"', complete["as_printed.html"])
    method = complete["method.html"]
    # The published values, those of 2D-UPSO twice that two tables print, and those of GA on S1 to S3.
    assert len(links) == 735 + 75 + 3 * (6 + 7 + 6)
    origins = dict(re.findall(r'<pre id="(condition-[\w-]+)" tabindex="0">(.*?)</pre>', method, re.DOTALL))
    assert set(links) == set(origins) and len(origins) == 72
    text = origins["condition-S2-30dB-upso2d-aic-8"]
    assert "data/paper/problems/baseline/data-1/S2/30dB.csv" in text and f"seed 40  {40:064x}" in text
    assert (
        "snakemake --cores 2 --config seeds=40 -- data/paper/conditions/baseline/data-1/S2/30dB/upso2d/aic-8.json"
        in text
    )


def test_a_study_of_other_systems_is_not_about_the_paper():
    equation = "y(k) = 0.5*u(k-1)"
    mill = System("mill", equation, n_u=2, n_y=2, degree=2, description="A mill.", reference="Miller (2020)")
    summaries = []
    for snr_db, name in product((50, 40, 30), ("upso2d", "ga")):
        summaries.append(summary(UNKNOWN, snr_db, name) | {"system": "mill"})
    methods = {"upso2d": ["bic"], "ga": ["bic"]}
    pages = render(summaries, make_settings(["mill"], methods=methods), systems=[mill])
    page = Page(pages["report.html"])
    assert "Structure selection by 2D-UPSO and GA" in page.text and "mill, further" in page.text
    before_citation = page.text.split("How to cite")[0]
    assert not re.search(r"Hafiz|[Pp]ublished|claim|Kept|Trial", before_citation)
    assert "A mill." in Page(pages["method.html"]).text and "Miller (2020)" in Page(pages["method.html"]).text
    assert "selection_mill" in Page(pages["as_printed.html"]).ids


def test_reproducible_pages_do_not_depend_on_the_record():
    other = factory.RECORD.model_copy(update={"command": "snakemake --cores 64", "commit": ""})
    first, second = (make_material(paper_summaries(("S1",)), record=record) for record in (factory.RECORD, other))
    assert reproducible_pages(first) == reproducible_pages(second)
    assert pages(first) != pages(second)


def test_the_answer_in_a_line():
    assert re.fullmatch(
        r"\d+ of 735 values differ clearly \(\d+ lower, \d+ higher\); claims: 1 holds, 1 undecided, 1 fails\.",
        answer_line(make_material(paper_summaries())),
    )
    assert answer_line(make_material(paper_summaries(("S1",)))) == (
        "Trial run: no conclusions (18 of the paper’s 72 conditions)."
    )
    assert answer_line(make_material([summary(UNKNOWN)], make_settings([UNKNOWN]))) == (
        "40 searches of systems that the paper does not have."
    )


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
    rendered = render(summaries, settings, stated=stated, systems=systems, claims=verdicts)
    return {name: Page(html) for name, html in rendered.items()}


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
