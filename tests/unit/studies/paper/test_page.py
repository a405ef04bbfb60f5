"""The pages: complete, escaped, self-contained and deterministic; what they say, and where each number comes from."""

import json
import posixpath
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from itertools import product

import numpy as np
import pandas as pd
import pytest
from ruamel.yaml import YAML
from tests.tiers import mostly_slow
from tests.unit.studies.paper.runs import FURTHER_PAGES, RECORD, SHOWN, Run, make_settings
from tests.unit.studies.paper.summaries import UNKNOWN, make_summary, paper_summaries
from tests.unit.studies.steps import read

VOID = ("meta", "br", "link", "img", "input")


class Page(HTMLParser):
    """Collects elements, ids, links, scripts and texts, and checks that tags are closed in order.

    ``texts`` are by the source of the innermost block that they stand in, ``blocks`` are sources with their content.
    """

    def __init__(self, html):
        super().__init__()
        self.elements, self.ids, self.links, self.scripts = [], [], [], []
        self.texts, self.blocks, self.open, self.inside = [], [], [], []
        self.feed(html)

    def _add(self, text):
        for content in self.inside:
            content.append(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        assert len(values) == len(attrs)
        self.elements.append((tag, tuple(values)))
        if "id" in values:
            self.ids.append(values["id"])
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        self._add(self.get_starttag_text())
        if tag not in VOID:
            source = values.get("data-source")
            if source:
                self.inside.append([])
                self.blocks.append((source, self.inside[-1]))
            self.open.append((tag, source or (self.open[-1][1] if self.open else ""), bool(source)))

    def handle_endtag(self, tag):
        opened, _, is_block = self.open.pop()
        assert opened == tag
        if is_block:
            self.inside.pop()

    def handle_data(self, data):
        tags = [tag for tag, *_ in self.open]
        if tags[-1:] == ["script"]:
            self.scripts.append(data)
        elif "style" not in tags:
            self.texts.append((self.open[-1][1] if self.open else "", data))
            self._add(data)

    def check_structure(self):
        """Check that all is closed, ids are unique, headings are in order, and nothing else is loaded."""
        assert not self.open
        assert len(self.ids) == len(set(self.ids))
        tags, _ = zip(*self.elements, strict=True)
        levels = list(map(int, re.findall(r"\bh([1-6])\b", " ".join(tags))))
        assert levels[0] == 1 and levels.count(1) == 1
        assert max(np.diff(levels), default=0) <= 1
        assert not {"link", "img", "iframe"} & {*tags}

    @property
    def text(self):
        return re.sub(r"\s+", " ", "".join(text for _, text in self.texts))


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
        assert not re.search(r"(^| )(on|style)", " ".join(names))


@pytest.fixture(scope="module")
def pages(complete):
    return complete.usual_pages


@pytest.fixture(scope="module")
def trial(complete, tmp_path_factory):
    """Return the pages of a run of all conditions of the paper, with a tenth of its runs."""
    run = Run(tmp_path_factory.mktemp("trial"), paper_summaries(runs=4), make_settings(seeds=4))
    return run.pages(kept_conditions=complete.frames["conditions"])


def check_link(pages, name, link):
    """Check that a link of a page leads to a place on a page, to a file of the study, or to another site."""
    if link.startswith("https:"):
        return
    place = name if name == "report.html" else f"paper/{name}"
    address, _, anchor = link.partition("#")
    target = place
    if address:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(place), address))
    if re.match(r"paper/(tables|figures)/[\w%.]+$", target):
        return
    page_name = posixpath.basename(target)
    assert target in ("report.html", f"paper/{page_name}"), (name, link)
    assert not anchor or anchor in pages[page_name].ids, (name, link)


def of_readers(pages):
    """Return the pages that people read, by name."""
    return {name: html for name, html in pages.items() if not name.startswith("fixed/")}


def parsed_pages(pages):
    """Return the parsed pages that people read, by name."""
    return {name: Page(html) for name, html in of_readers(pages).items()}


def test_there_are_four_pages_each_well_formed_and_every_link_leads_somewhere(pages):
    assert [*of_readers(pages)] == ["report.html", *(f"{name}.html" for name in FURTHER_PAGES)]
    parsed = parsed_pages(pages)
    for name, page in parsed.items():
        page.check_structure()
        check_policy(pages[name])
        for link in page.links:
            check_link(parsed, name, link)


# Where each number comes from.


def test_every_digit_outside_of_names_stands_in_a_block_with_a_source(pages, trial):
    for name, html in [*of_readers(pages).items(), *of_readers(trial).items()]:
        raw = r"<su[bp]>|&lt;|(?<!is-)\bnan\b|\bNone\b|\bNaN\b|ν_max|\{\{ |%\}"
        page = Page(html)
        assert re.findall(raw, page.text) == [], name
        assert {source for source, _ in page.texts} <= {"run", "settings", "published", "kept", ""}
        # Names with digits: systems, terms, the method, the paper's title.
        outside = " ".join(text for source, text in page.texts if not source)
        outside = re.sub(r"S[1-4]|2D-UPSO|T\d+|SHA-256", "", outside)
        assert re.findall(r".{0,20}\d.{0,20}", outside) == [], name


OTHER_RECORD = {
    **{"command": "snakemake --cores 64", "settings": "", "date": "2027-11-12T10:11:12Z", "commit": "f" * 40},
    **{"changed_files": 5, "machine": "another machine", "wall_seconds": 7654.0},
    "steps": {"search": 10.0},
}


def other_summaries():
    """Return the summaries of a run in which every value is another one."""
    summaries = []
    for place in paper_summaries():
        counts = {term: (7 * number + 3) % 31 + 1 for number, term in enumerate(place["candidates"])}
        histories = [[(1, 2000.0 + seed), (50 * seed, -1234.5 - 7 * seed)] for seed in range(1, 41)]
        key = (place[name] for name in ("system", "snr_db", "method", "criterion"))
        changed = make_summary(*key, counts=counts, histories=histories)
        changed["data_sha256"] = place["data_sha256"][::-1].replace("0", "9")
        changed["algorithm_sha256"] = "b" * 64
        changed["versions"] = {"python": "3.12", "narxbench": "0.3.0"}
        changed["seals"] = {name: seal.replace("0", "7") for name, seal in changed["seals"].items()}
        summaries.append(changed)
    return summaries


def test_what_a_page_says_of_a_run_follows_from_the_run_and_nothing_else_does(complete, pages, tmp_path):
    second = Run(tmp_path, other_summaries())
    verdicts = pd.read_csv(second.frames["claims"], keep_default_na=False)
    changed = {"verdict": "holds", "held": 4, "missed": 0, "places": 9, "evidence": "At 4 of 9."}
    verdicts.loc[verdicts["side"] == "here", list(changed)] = list(changed.values())
    verdicts.to_csv(second.frames["claims"], index=False)
    after = second.pages(OTHER_RECORD, kept_conditions=complete.frames["conditions"])
    n_of_run = 0
    for name, html in of_readers(pages).items():
        for (source, text), (source_after, text_after) in zip(Page(html).blocks, Page(after[name]).blocks, strict=True):
            assert source == source_after
            n_of_run += source == "run"
            assert (text != text_after) == (source == "run"), (name, text)
    assert n_of_run > 10


def test_without_kept_results_a_report_is_complete_and_says_what_is_missing(complete):
    with_kept, complete.kept = complete.kept, {}
    without = complete.pages()
    complete.kept = with_kept
    page = Page(without["report.html"])
    assert "Complete run" in page.text and "kept results missing" in page.text
    assert "data/reference/interpretations/conditions.csv" in page.text
    assert '<details class="kept"' not in without["as_printed.html"]


# What it says.


def test_the_first_screen_says_what_ran_which_tables_differ_and_which_claims_hold(complete, pages):
    page = Page(pages["report.html"])
    order = (
        *("Complete run", "Searches", "2,880 of 2,880", "40 runs × 6,000 evaluations", "2026-05-17", "5 min"),
        *("01234567", "72 of 72 conditions equal", "snakemake --cores 3 --config seeds=40", "Your tables:"),
        *("The claims in this run: 6 hold, 11 undecided, 1 fail", "Every system and SNR; one clear miss fails"),
        *("Kept results", "As described, on", "Each claim"),
    )
    places = list(map(page.text.index, order))
    assert places == sorted(places)
    agreement = pd.read_csv(complete.frames["agreement"]).set_index("table")
    assert list(agreement["compared"]) == [90, 105, 90, 375, 75, 735]
    lower, higher = agreement.loc["all", ["lower", "higher"]]
    assert f"Your tables: {lower + higher} of 735 values differ clearly" in page.text
    values = f"{lower + higher} of 735 values differ clearly ({lower} lower, {higher} higher)"
    assert pages["fixed/answer.txt"] == f"{values}; claims: 6 hold, 11 undecided, 1 fails.\n"


def test_a_trial_draws_no_conclusion(trial):
    report, printed = Page(trial["report.html"]).text, Page(trial["as_printed.html"]).text
    assert "Trial run: no conclusions. 4 of the paper’s 40 runs." in report
    assert "Your tables: not compared" in report and "The claims in this run: not judged" in report
    assert "90 of 90" in report and "150 of 150" in report
    for text in (report, printed):
        conclusion = r"differ clearly|clearly (lower|higher)|\bhold(s)?\b|\bfails?\b|undecided"
        assert not re.search(conclusion, text.split("How to cite")[0])
    assert 'class="differs"' not in trial["as_printed.html"]
    assert "no kept run of this size" in report


def test_a_trial_says_what_it_lacks_of_the_paper_and_of_its_interpretation(small, tmp_path):
    lacking = "18 of the paper’s 72 conditions"
    assert small.usual_pages["fixed/answer.txt"] == f"Trial run: no conclusions ({lacking}).\n"
    text = read(SHOWN["choices"]).replace("  reset: {restart-count: reset}", '  reset: {evaluations: "3000"}')
    short = Run(tmp_path, paper_summaries(("S1",), runs=4, evaluations=2999), make_settings(["S1"], seeds=4))
    short.settings["interpretation"] = "reset"
    answer = short.pages(choices=short.write("choices.yaml", text))["fixed/answer.txt"]
    evaluations = "2,999 of its interpretation’s 3,000 evaluations"
    assert f"({lacking}, 4 of the paper’s 40 runs and {evaluations})" in answer


def test_a_condition_that_is_not_the_kept_one_is_named(small, tmp_path):
    kept = pd.read_csv(small.frames["conditions"])
    kept.loc[3, "best_fitness"] = 1.0
    kept.to_csv(tmp_path / "kept.csv", index=False)
    method = Page(small.pages(kept_conditions=str(tmp_path / "kept.csv"))["method.html"]).text
    assert "17 of 18 conditions equal the kept ones" in method and "Different: S1 50 dB upso2d aic-64." in method


def test_failed_runs_are_counted_and_named(tmp_path):
    summaries = paper_summaries(("S1",))
    summaries[-1]["failures"] = {"3": "the process was too slow", "9": "the process was lost"}
    pages = Run(tmp_path, summaries).pages()
    assert ", 2 failed" in Page(pages["report.html"]).text
    assert "S1, 30 dB, GA, BIC2 of 40the process was too slow" in Page(pages["method.html"]).text


def test_each_value_of_the_run_leads_to_its_data_its_run_files_and_its_command(pages):
    links = re.findall(r'<a tabindex="-1" href="method.html#([\w-]+)"', pages["as_printed.html"])
    # The published values, those of 2D-UPSO twice that two tables print, and those of GA on S1 to S3.
    assert len(links) == 735 + 75 + 3 * (6 + 7 + 6)
    origins = dict(
        re.findall(r'<pre id="(condition-[\w-]+)" tabindex="0">(.*?)</pre>', pages["method.html"], re.DOTALL)
    )
    assert set(links) == set(origins) and len(origins) == 72
    text = origins["condition-S2-30dB-upso2d-aic-8"]
    assert "data/paper/problems/baseline/data-1/S2/30dB.csv" in text and f"seed 40  {40:064x}" in text
    target = "data/paper/conditions/baseline/data-1/S2/30dB/upso2d/aic-8.json"
    assert f"snakemake --cores 2 --config seeds=40 -- {target}" in text


def test_a_study_of_other_systems_is_not_about_the_paper(tmp_path):
    summaries = [make_summary(UNKNOWN, *case) for case in product((50, 40, 30), ("upso2d", "ga"))]
    run = Run(tmp_path, summaries, make_settings([UNKNOWN], methods={"upso2d": ["bic"], "ga": ["bic"]}))
    pages = run.pages()
    page = Page(pages["report.html"])
    assert "Structure selection by 2D-UPSO and GA" in page.text and f"{UNKNOWN}, further" in page.text
    before_citation = page.text.split("How to cite")[0]
    assert not re.search(r"Hafiz|[Pp]ublished|claim|Kept|Trial", before_citation)
    assert pages["fixed/answer.txt"] == "240 searches of systems that the paper does not have.\n"
    assert "every output term is spurious" in Page(pages["method.html"]).text
    assert f"selection_{UNKNOWN}" in Page(pages["as_printed.html"]).ids
    markdown = run.tables[f"selection_{UNKNOWN}.md"]
    assert markdown.count("this run") == 6 and "Paper:" not in markdown


def method_page(small, settings):
    """Return the page of the method of the small run under other settings."""
    before, small.settings = small.settings, settings
    html = small.pages()["method.html"]
    small.settings = before
    return html


def test_answers_that_are_not_the_baselines_and_values_of_the_studys_own_are_marked(small):
    html = small.usual_pages["method.html"]
    assert "no answer contradicts" in html and "not the baseline" not in html
    n_answers = html.count('role="rowheader"')
    methods = {"upso2d": ["bic"], "upso2d-bounded": ["bic"], "ga": ["bic"]}
    settings = make_settings(["S1"], methods=methods, error="one-step", velocity_bound="1", bounded_rows="terms")
    settings["evaluations"] = 900
    settings["methods"]["upso2d-bounded"]["settings"]["velocity_bound"] = 1.25
    before, small.settings = small.settings, settings
    html = small.pages()["method.html"]
    small.settings = before
    assert html.count("not the baseline") == 5 and html.count('<strong class="mark no">contradicts</strong>') == 2
    # A choice that needs another one is shown where either departs, and one that methods answer differently for each.
    assert html.count('role="rowheader"') == n_answers + 2
    for setting in ("evaluations: 900", "velocity_bound: 1.25"):
        place = html.index(f"<code>{setting}</code>")
        assert "a value of the study’s own" in html[place - 400 : place]


MARKUP = [
    "<script>alert(1)</script>\"'onfocus=alert(1) autofocus='",
    "<!--<script>--></style></title><img src=x onerror=alert(1)>",
    "{{ 7*7 }}{% raw %}]]>&lt;b&gt;\u2028\x85x\x00\x1b\u202e$\\require{x}$ [a](javascript:alert(1)) **b** `c`",
]


def pages_with(folder, text):
    """Return the pages on which every text from settings, data and runs is ``text``."""
    summaries = []
    for criterion in ("bic", "aic-2"):
        content = make_summary("S1", 30, "upso2d", criterion, failures={"2": text})
        versions = {"python": text, **content["versions"]}
        summaries.append(content | {"data_sha256": text, "versions": versions})
    settings = make_settings(["S1"], methods={"upso2d": ["bic", "aic-2"]})
    settings["data"]["excitation"] = {"kind": "recorded", "file": text}
    settings["methods"]["upso2d"]["settings"]["note"] = text
    claims = YAML(typ="safe").load(read(SHOWN["claim_texts"]))
    for claim in claims["claims"]:
        claim |= dict.fromkeys(("title", "quote", "source"), text)
    run = Run(folder, summaries, settings)
    pages = run.pages(
        RECORD | {"command": text, "machine": text}, claim_texts=run.write("claims.yaml", json.dumps(claims))
    )
    return parsed_pages(pages)


@pytest.fixture(scope="module")
def harmless(tmp_path_factory):
    return pages_with(tmp_path_factory.mktemp("harmless"), "harmless")


@pytest.mark.parametrize("text", mostly_slow(MARKUP, MARKUP[-1]))
def test_pages_show_any_text_as_text(harmless, tmp_path, text):
    for name, page in pages_with(tmp_path, text).items():
        assert page.elements == harmless[name].elements, name
        # Only the island of data, which comes first, tells the text; the code of a page stays as it is.
        assert len(page.scripts) == len(harmless[name].scripts)
        assert page.scripts[-1:] == harmless[name].scripts[-1:]
        assert not re.search(r"^javascript", "\n".join(page.links), re.IGNORECASE | re.MULTILINE)
