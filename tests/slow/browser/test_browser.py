"""The pages in a browser: they open from disk, link to one another, and serve keyboards and screen readers."""

import re
import time

import pytest
from tests.workflow.project import wait_for

pytestmark = [pytest.mark.ci, pytest.mark.slow]
PAGES = ("report", "as_printed", "interpretations", "method")

# Shows all that a reader can open.
UNFOLD = """() => document.querySelectorAll("details").forEach((part) => { part.open = true; })"""
# The markup that a page would have if text of a file came into it unescaped.
FOREIGN = """<script>window.ran = 1</script>
<p class="foreign" style="color: rgb(1, 2, 3)" onclick="window.ran = 2">x</p>
<style>p.foreign { color: rgb(1, 2, 3); }</style><a class="foreign" href="javascript:window.ran = 3">x</a>
<img src="https://example.org/a.png" onerror="window.ran = 4"><svg><script>window.ran = 5</script></svg>"""
HEADINGS = "[...document.querySelectorAll('h1, h2, h3, h4')].map((heading) => heading.textContent.trim())"
# The text of a page never has markup, missing values of Python or JavaScript, or an empty place in a sentence.
NEVER = (
    r"</?(sub|sup|code|i)>|(?<!is-)\bnan\b|\bNaN\b|\bNone\b(?! of|:)|\bundefined\b|\[object|\{\{ |\{%|Infinity|\binf\b"
)

# The words of a page that a screen shows, without those that are drawn in figures.
WORDS = r"""() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange(), words = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (parent.closest("svg, script, style, .hidden, .skip") || !parent.checkVisibility()) continue;
    for (const word of node.data.matchAll(/\S+/g)) {
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const box = range.getBoundingClientRect();
      if (box.height > 0 && box.bottom > 0 && box.top < innerHeight) words.push(word[0]);
    }
  }
  return words;
}"""
MOST_WORDS = 180
SCREEN = {"width": 1280, "height": 900}


@pytest.fixture(params=PAGES)
def name(request):
    """Return the names of the pages in turn."""
    return request.param


# All pages


@pytest.mark.parametrize("which", ["complete", "trial", "small"])
def test_a_page_serves_everybody(open_page, serves_everybody, request, which, name):
    """Nothing is missing in the text, and names that are markup stay text."""
    page = open_page(request.getfixturevalue(which)[name])
    assert page.evaluate("typeof X") == "undefined"
    page.evaluate(UNFOLD)
    serves_everybody(page)
    text = page.inner_text("body")
    match = re.search(NEVER, text)
    assert match is None, text[max(0, match.start() - 40) : match.end() + 40]
    headings = page.evaluate(HEADINGS)
    assert all(headings) and len(headings) == len(set(headings))


def test_markup_that_came_into_a_page_has_no_effect(chromium, complete, tmp_path, name):
    text = complete[name].read_text(encoding="utf-8")
    assert text.count('tabindex="-1">') == 1
    path = tmp_path / f"{name}.html"
    path.write_text(text.replace('tabindex="-1">', f'tabindex="-1">{FOREIGN}'), encoding="utf-8")
    page = chromium.new_page()
    messages, requests = [], []
    page.on("console", lambda message: messages.append(message.text))
    page.on("request", lambda request: requests.append(request))
    page.goto(path.as_uri())
    page.evaluate("() => { for (const part of document.querySelectorAll('.foreign')) part.click(); }")
    # The policy of the page forbids Playwright's own way to wait.
    for _ in range(50):
        if sum("Content Security Policy" in message for message in messages) >= 6:
            break
        time.sleep(0.1)
    else:
        raise AssertionError("still not refused after 5 seconds")
    colour = page.evaluate("getComputedStyle(document.querySelector('p.foreign')).color")
    assert page.evaluate("window.ran") is None and colour != "rgb(1, 2, 3)"
    (foreign_request,) = [request for request in requests if request.url != page.url]
    assert (foreign_request.url, foreign_request.failure) == ("https://example.org/a.png", "csp")
    page.close()


def test_the_keyboard_reaches_everything(open_page, complete, name):
    page = open_page(complete[name])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    # The row of a table leads to where its values come from, so that the links of the values need no stops.
    stops = "a:not([tabindex='-1']), button, summary, [tabindex='0']"
    count = "(stops) => [...document.querySelectorAll(stops)].filter((stop) => stop.checkVisibility()).length"
    expected = page.evaluate(count, stops)
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    reached = 0
    while page.evaluate("document.activeElement !== document.body"):
        assert page.evaluate(outline) != "none"
        reached += 1
        page.keyboard.press("Tab")
    assert reached == expected


# The report


@pytest.fixture(params=["complete", "trial"])
def report(request):
    """Return the report of a complete run, and of a trial."""
    return request.getfixturevalue(request.param)["report"]


def test_the_first_screen_has_few_words(open_page, report):
    page = open_page(report, width=SCREEN["width"])
    assert page.viewport_size == SCREEN
    page.evaluate(UNFOLD)
    words = [word for word in page.evaluate(WORDS) if is_word(word)]
    assert 100 < len(words) <= MOST_WORDS, f"{len(words)}: {' '.join(words)}"


def is_word(text):
    """Return whether a text is no number and no symbol: it has two letters, no digit, and is no Roman number."""
    return re.search(r"[^\W\d_]{2}", text) and not re.search(r"\d|^[IVX]+\W*$", text)


def test_the_first_screen_has_what_ran_the_tables_and_the_claims(open_page, report):
    page = open_page(report, width=SCREEN["width"])
    edges = []
    for selector in (".strip", "#tables", "#claims"):
        box = page.locator(selector).bounding_box()
        edges += [box["y"], box["y"] + box["height"]]
    assert edges == sorted(edges) and edges[0] >= 0 and edges[-1] <= SCREEN["height"], edges
    # Below the first screen stand the claims one by one, and nothing long.
    assert page.evaluate("document.documentElement.scrollHeight") <= 5 * SCREEN["height"]
    # On a narrow screen they come in the same order, before any figure.
    page.set_viewport_size({"width": 390, "height": SCREEN["height"]})
    tops = [page.locator(selector).bounding_box()["y"] for selector in (".strip", "#tables", "#claims", "#figures")]
    assert tops == sorted(tops)
    assert tops[1] <= SCREEN["height"]


def test_the_report_is_light_and_prints_on_few_pages(open_page, report, tmp_path):
    assert report.stat().st_size < 1_500_000
    open_page(report).pdf(path=tmp_path / "page.pdf", format="A4")
    assert len(re.findall(rb"/Type\s*/Page\b", (tmp_path / "page.pdf").read_bytes())) <= 8


# The tables as printed, and where their values come from


@pytest.mark.parametrize("has_scripts", [True, False])
def test_a_value_leads_to_its_condition_in_a_fold_that_opens(chromium, complete, has_scripts):
    page = chromium.new_page(java_script_enabled=has_scripts)
    page.goto(complete["report"].as_uri())
    page.get_by_role("link", name="V", exact=True).click()
    assert page.url.endswith("paper/as_printed.html#table_5")
    # Of 2D-UPSO under BIC at 50 dB, the run stands below the paper.
    page.locator("#table_5 tr.run td a").first.click()
    assert page.url.endswith("paper/method.html#condition-S3-50dB-upso2d-bic")
    condition = page.locator("#condition-S3-50dB-upso2d-bic")
    condition.wait_for(state="visible")
    wait_for(
        lambda: 0 <= condition.bounding_box()["y"] < page.viewport_size["height"], "the condition on the screen", 10
    )
    assert "data/paper/problems/baseline/data-1/S3/50dB.csv" in condition.inner_text()
    assert page.locator(".origin pre").count() == 72
    assert sum(origin.is_visible() for origin in page.locator(".origin pre").all()) == 1
    page.close()


def test_without_scripts_the_tables_are_there(open_page, complete):
    page = open_page(complete["as_printed"], java_script_enabled=False)
    # Of each of 15 conditions, 23 terms, r and nu_max of the paper and of the run.
    assert page.locator("#table_6 .values").first.locator("tr.run td, tr.paper td").count() == 15 * 25 * 2
    assert not page.locator("#table_6 .kept .values").is_visible()
    page.locator("#table_6 .kept summary").click()
    assert page.locator("#table_6 .kept .values").is_visible()
    page = open_page(complete["report"], java_script_enabled=False)
    assert page.locator("#each-claim table").first.locator("tbody tr").count() == 18
