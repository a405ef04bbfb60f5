"""The page in a browser: it opens from disk, shows every condition, and serves keyboards, screen readers and paper."""

import shutil
import subprocess
import time

import pytest

pytestmark = [pytest.mark.ci, pytest.mark.slow]

CHARTS = ("frequency", "prediction", "curve", "cardinality", "run-length", "budget")
# Layout shifts since the page opened, summed up as browsers do it for "cumulative layout shift".
SHIFTS = """() => new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((each) => { sum += each.value; }))
    .observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(sum), 300);
})"""
# Choose every enabled combination in turn; return what each shows.
EVERY_CONDITION = """() => {
  const selects = [...document.querySelectorAll("#explorer-choices select")];
  const seen = [];
  const visit = (depth) => {
    if (depth === selects.length) {
      const shapes = (id, shape) => document.querySelectorAll(`#${id} ${shape}`).length;
      seen.push({
        choice: selects.map((select) => select.value).join("/"),
        hash: decodeURIComponent(location.hash),
        summary: document.querySelector("#explorer-summary").textContent,
        bars: shapes("frequency", ".barlayer .point"),
        lines: shapes("prediction", ".scatterlayer .trace"),
        curves: shapes("curve", ".scatterlayer .trace"),
        sizes: shapes("cardinality", ".barlayer .point"),
        terms: shapes("coefficients", "tbody tr"),
        equation: document.querySelector("#equation").textContent,
      });
      return;
    }
    for (const value of [...selects[depth].options].map((option) => option.value)) {
      const option = [...selects[depth].options].find((each) => each.value === value);
      if (option.disabled) continue;
      selects[depth].value = value;
      selects[depth].dispatchEvent(new Event("change", { bubbles: true }));
      visit(depth + 1);
    }
  };
  visit(0);
  return seen;
}"""


def eventually(condition):
    """Wait for what the page does a moment later; the policy of the page forbids Playwright's own way to wait."""
    for _ in range(50):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("still not so after 5 seconds")


def column(page, table, index):
    return page.eval_on_selector_all(f"#{table} tbody tr", f"rows => rows.map((r) => r.cells[{index}].dataset.value)")


def test_it_opens_without_a_jump(open_page, complete):
    page = open_page(complete)
    for chart in CHARTS:
        assert page.locator(f"#{chart} .main-svg").first.is_visible()
        assert page.locator(f"#{chart}-text").inner_text()
    assert page.evaluate(SHIFTS) < 0.1


def test_every_condition_is_shown(open_page, complete):
    page = open_page(complete)
    seen = page.evaluate(EVERY_CONDITION)
    assert len({each["choice"] for each in seen}) == len(seen) == 4 * 3 * (5 + 1)
    for each in seen:
        assert each["hash"] == f"#explorer/{each['choice']}"
        assert each["summary"].startswith(each["choice"].split("/")[0])
        assert each["bars"] in (66, 84)
        assert each["lines"] == (1 if each["choice"].endswith("aic-256") else 3)
        assert each["curves"] >= 3
        assert each["sizes"] >= 1
        assert each["terms"] >= 4
        assert each["equation"].startswith("y(k) = ")
    rows = "rows => rows.map((row) => [row.dataset.place, Number(row.cells[row.cells.length - 1].textContent)])"
    summaries = {each["choice"]: each["summary"] for each in seen}
    for place, nu_max in page.eval_on_selector_all("#comparison_S1 tr[data-place]:has(td:not([class]))", rows):
        assert f"νmax = {nu_max:.2f} (" in summaries[place]


def test_a_method_without_the_criterion_falls_back_to_one_that_it_has(open_page, complete):
    page = open_page(complete, fragment="#explorer/S2/40/upso2d/aic-8")
    assert page.locator("#explorer-summary").inner_text().startswith("S2, 40 dB, 2D-UPSO, AIC (ϱ = 8): 40 runs")
    page.select_option("#explorer-choices-method", "ga")
    assert page.locator("#explorer-summary").inner_text().startswith("S2, 40 dB, GA, BIC")
    assert page.locator("#explorer-choices-criterion option:disabled").count() == 4


def test_rows_lead_to_the_explorer(open_page, complete):
    page = open_page(complete)
    page.click('#fitness_S4 tr[data-place="S4/30/upso2d/aic-64"] a')
    summary = page.locator("#explorer-summary")
    eventually(lambda: summary.inner_text().startswith("S4, 30 dB, 2D-UPSO, AIC (ϱ = 64)"))


def test_tables_sort(open_page, complete):
    page = open_page(complete)
    button = page.locator('#fitness_S2 th[data-column="7"] button')
    original = column(page, "fitness_S2", 7)
    for order, wanted in (
        ("ascending", sorted(original, key=float)),
        ("descending", sorted(original, key=float, reverse=True)),
        (None, original),
    ):
        button.click()
        assert page.get_attribute('#fitness_S2 th[data-column="7"]', "aria-sort") == order
        assert column(page, "fitness_S2", 7) == wanted
    assert page.locator("table.sortable").count() >= 15


def test_headings_of_the_wide_table_stay_in_view(open_page, complete):
    page = open_page(complete, width=800)
    box = page.locator(".scroll:has(> #fitness_S4)")
    box.evaluate("(box) => { box.scrollLeft = 600; box.scrollTop = 200; }")
    frame = box.bounding_box()
    for selector, limit in (("tbody tr:nth-child(9) th:nth-of-type(2)", "x"), ("thead th[data-column='20']", "y")):
        place = page.locator(f"#fitness_S4 {selector}").bounding_box()
        assert frame[limit] <= place[limit] < frame[limit] + 200


def test_the_keyboard_reaches_everything(open_page, complete):
    page = open_page(complete)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    wanted = page.evaluate(
        "[...document.querySelectorAll('a, button, select, input, summary, [tabindex=\"0\"]')]"
        ".filter((e) => e.checkVisibility()).length"
    )
    found = 0
    while page.evaluate("document.activeElement !== document.body"):
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        found += 1
        page.keyboard.press("Tab")
    assert found == wanted


def test_one_value_tells_its_interval_and_test(open_page, complete):
    page = open_page(complete)
    page.focus("#fitness_S1 td[tabindex]")
    line = page.locator(".scroll:has(> #fitness_S1) + .readout")
    assert line.inner_text().startswith("BIC, 50 dB, T1: published 1, reproduced ")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert line.inner_text().startswith("BIC, 40 dB, T2: published 1, reproduced ")
    assert "Fisher’s exact test p " in line.inner_text()
    assert page.locator("#fitness_S1 td[tabindex]").count() == 1
    more = page.locator("#fitness_S1 .more").first
    assert not more.is_visible()
    page.focus("#more")
    page.keyboard.press("Space")
    assert more.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("which", ["complete", "small"])
def test_axe_finds_nothing(open_page, axe, request, which, scheme):
    page = open_page(request.getfixturevalue(which), scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    page.evaluate(axe)
    found = page.evaluate("axe.run().then((result) => result.violations)")
    assert [(v["id"], [node["html"][:200] for node in v["nodes"][:3]]) for v in found] == []


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_nothing_overflows(open_page, complete, width):
    for scheme in ("light", "dark"):
        page = open_page(complete, width=width, scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_scheme_can_change_while_the_page_is_open(open_page, complete):
    page = open_page(complete)
    colour = "getComputedStyle(document.querySelector('#curve .xtick text')).fill"
    light = page.evaluate(colour)
    page.emulate_media(color_scheme="dark")
    eventually(lambda: page.evaluate(colour) != light)


def test_paper_shows_what_is_closed_on_the_screen(open_page, complete, tmp_path):
    page = open_page(complete)
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert page.locator("#verdict details[open]").count() == 0
    if shutil.which("pdftotext") is None:
        pytest.skip("no pdftotext is installed")
    command = ["pdftotext", "-layout", str(tmp_path / "report.pdf"), "-"]
    text = " ".join(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    for wanted in ("Evidence: in the comparison on S4", "✗ does not hold", "S1, 50 dB, 2D-UPSO, BIC: 40 runs", "@misc"):
        assert wanted in text


def test_names_stay_text_and_what_is_missing_is_told(open_page, small):
    page = open_page(small)
    assert page.evaluate("typeof X") == "undefined"
    assert page.locator("#explorer-choices-system option").all_inner_texts() == ["S1", "<script>X"]
    seen = page.evaluate(EVERY_CONDITION)
    assert [each["choice"] for each in seen if each["choice"].startswith("S1")] == ["S1/30/ga/bic"]
    assert len(seen) == 6
    assert page.get_by_text("No claims were checked.").is_visible()


def test_without_scripts_the_tables_are_there(open_page, complete):
    page = open_page(complete, java_script_enabled=False)
    assert page.locator("noscript").is_visible()
    assert page.locator("#fitness_S4 td").count() == 15 * 25
