"""The pages in a browser: they open from disk, link to one another, and serve keyboards and screen readers."""

import re
import time

import pytest

from narxbench._studies.paper.site import PAGES

pytestmark = [pytest.mark.ci, pytest.mark.slow]

# Shows all that a reader can open: tabs and folded parts.
UNFOLD = """() => {
  document.querySelectorAll("details").forEach((part) => { part.open = true; });
  document.querySelectorAll(".panel").forEach((panel) => { panel.style.display = "block"; });
}"""
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

# Height of a screen and of a line of text in pixels; both are the same in every font.
SCREEN, LINE = 900, 24
# A narrow window is 400 pixels wide in Arial, in which this sample has a line of ARIAL_WIDTH pixels. In a wider font
# the window is as much wider as the sample, so that lines of the page break at about the same words.
SAMPLE = """Our numbers are 5.1 times as far from the published ones as two data sets of ours are from each other; a
rank test tells the tables from them (p 0.004). 51 of 738 values differ clearly. Reproduced minus published, on average:
2D-UPSO ν −0.01, r −0.15; GA ν −0.01, r −0.15. Multi-start: 90 % (80–100 %) on S1, 25 % (15–35 %) on S2, S3 and S4."""
ARIAL_WIDTH = 2406
TEXT_WIDTH = """(text) => {
  const canvas = document.createElement("canvas").getContext("2d");
  canvas.font = getComputedStyle(document.body).font;
  return canvas.measureText(text).width;
}"""


@pytest.fixture(params=PAGES)
def name(request):
    """Return the names of the pages in turn."""
    return request.param


# All pages


@pytest.mark.parametrize("which", ["complete", "small"])
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
    # Of radio buttons, arrow keys reach the others.
    stops = "a, button, select, input:not([type=radio]), input:checked, summary, [tabindex='0']"
    count = "(stops) => [...document.querySelectorAll(stops)].filter((stop) => stop.checkVisibility()).length"
    expected = page.evaluate(count, stops)
    outline = """() => {
      const focused = document.activeElement;
      return getComputedStyle(focused.matches("[type=radio]") ? focused.nextElementSibling : focused).outlineStyle;
    }"""
    reached = 0
    while page.evaluate("document.activeElement !== document.body"):
        assert page.evaluate(outline) != "none"
        reached += 1
        page.keyboard.press("Tab")
    assert reached == expected


# The main page


def test_the_main_page_is_light_and_short_and_its_first_screen_has_the_answers(
    open_page, complete, font, font_chromium
):
    assert complete["report"].stat().st_size < 1_500_000
    page = open_page(complete["report"], width=1300, browser=font_chromium)
    assert heading_fonts(page) == [font]
    top, bottom = answer_edges(page)
    assert 0 <= top <= bottom <= SCREEN
    assert page.evaluate("document.documentElement.scrollHeight") <= 12 * SCREEN
    # A narrow window has two screens of answers, less a line: one paragraph more would not fit.
    narrow = round(400 * page.evaluate(TEXT_WIDTH, SAMPLE) / ARIAL_WIDTH)
    page.set_viewport_size({"width": narrow, "height": SCREEN})
    top, bottom = answer_edges(page)
    assert 0 <= top <= bottom <= 2 * SCREEN - LINE


def answer_edges(page):
    """Return where the answers begin and end, in pixels from the top of the page."""
    box = page.locator("#answer").bounding_box()
    return box["y"], box["y"] + box["height"]


def heading_fonts(page):
    """Return the names of the fonts in which the browser shows the main heading."""
    session = page.context.new_cdp_session(page)
    for domain in ("DOM", "CSS"):
        session.send(f"{domain}.enable")
    root = session.send("DOM.getDocument")["root"]
    heading = session.send("DOM.querySelector", {"nodeId": root["nodeId"], "selector": "h1"})
    fonts = session.send("CSS.getPlatformFontsForNode", heading)["fonts"]
    return [font["familyName"] for font in fonts]


def test_tables_sort(open_page, complete):
    page = open_page(complete["report"])
    page.click("label[for=tab-2]")

    def column():
        return page.eval_on_selector_all("#fitness_S2 tbody tr", "rows => rows.map((r) => r.cells[3].dataset.value)")

    original = column()
    ascending, descending = sorted(original, key=float), sorted(original, key=float, reverse=True)
    for order, values in (("ascending", ascending), ("descending", descending), (None, original)):
        page.click('#fitness_S2 th[data-column="3"] button')
        assert page.get_attribute('#fitness_S2 th[data-column="3"]', "aria-sort") == order
        assert column() == values


def test_one_value_tells_its_interval_and_test(open_page, complete):
    page = open_page(complete["report"])
    page.focus("#fitness_S1 td[tabindex]")
    line = page.locator(".scroll:has(> #fitness_S1) + .readout")
    heads = "#fitness_S1 th[data-column] button"
    headings = page.eval_on_selector_all(heads, "heads => heads.map((head) => head.textContent)")
    assert line.inner_text().startswith(f"BIC, 50 dB, {headings[2]}: published ")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert line.inner_text().startswith(f"BIC, 40 dB, {headings[3]}: published ")
    assert re.search(
        r"Fisher’s exact test p .*: (not )?clearly different\. What is behind it: narxbench explain S1 ",
        line.inner_text(),
    )
    assert page.locator("#fitness_S1 td[tabindex]").count() == 1
    details = page.locator("#fitness_S1 .more").first
    assert not details.is_visible()
    page.focus("#more")
    page.keyboard.press("Space")
    assert details.is_visible()


def test_without_scripts_the_tables_are_there(open_page, complete):
    page = open_page(complete["statistics"], java_script_enabled=False)
    assert page.locator("#gaps tbody tr").count() == page.locator("#recovery tbody tr").count() == 72
    page = open_page(complete["report"], java_script_enabled=False)
    assert not page.locator("#fitness_S4").is_visible()
    page.click("label[for=tab-4]")
    assert page.locator("#fitness_S4").is_visible() and not page.locator("#fitness_S1").is_visible()
    assert page.locator("#fitness_S4 td").count() == 15 * 25
