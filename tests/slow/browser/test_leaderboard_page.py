"""The leaderboard in a browser: choices, sorting and charts work by mouse and keyboard, on any screen."""

import pytest
from tests.unit.report import leaderboards

pytestmark = [pytest.mark.ci, pytest.mark.slow]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder, made = tmp_path_factory.mktemp("leaderboard"), {}
    for name in ("large", "small"):
        made[name] = folder / f"{name}.html"
        made[name].write_text(leaderboards.render(leaderboards.shape(name)), encoding="utf-8")
    return made


@pytest.fixture(params=["large", "small"])
def leaderboard(request, pages):
    return pages[request.param]


@pytest.fixture
def large(pages):
    return pages["large"]


def cells(page, table, column):
    rows = f"rows => rows.filter((row) => !row.hidden).map((row) => row.cells[{column}].textContent)"
    return page.eval_on_selector_all(f"#{table} tbody tr", rows)


@pytest.mark.parametrize(("shape", "scheme"), [("large", "light"), ("small", "dark")])
def test_it_serves_everybody(open_page, axe, pages, shape, scheme):
    page = open_page(pages[shape], scheme=scheme)
    for width in (360, 800, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    page.evaluate(axe)
    found = page.evaluate("axe.run().then((result) => result.violations)")
    assert [(v["id"], [node["html"][:200] for node in v["nodes"][:3]]) for v in found] == []


def test_the_leaderboard_of_a_scenario_is_chosen_and_sorted_by_keyboard(open_page, large):
    page = open_page(large)
    everywhere = cells(page, "board", 2)
    page.select_option("#board-group", label="scenario-3")
    assert page.inner_text("#board-of") == "scenario-3"
    chosen = cells(page, "board", 2)
    assert len(chosen) == len(everywhere) and chosen != everywhere
    for order, sign in (("ascending", 1), ("descending", -1)):
        page.focus('#board th[data-column="4"] button')
        page.keyboard.press("Enter")
        assert page.get_attribute('#board th[data-column="4"]', "aria-sort") == order
        found = cells(page, "board", 4)
        assert found == sorted(found, key=lambda text: sign * float(text)) and len(found) == len(chosen)
    # What is missing stands last in either order.
    page.click('#board th[data-column="8"] button')
    assert cells(page, "board", 8)[-1] == "–"
    page.click('#board th[data-column="8"] button')
    assert cells(page, "board", 8)[-1] == "–"


def test_rows_are_chosen(open_page, large):
    page = open_page(large)
    choices = page.locator('form[data-rows="pairs"] select')
    choices.nth(0).select_option("scenario-2")
    choices.nth(1).select_option("")
    assert len(cells(page, "pairs", 0)) == 14 * 13 / 2
    assert set(cells(page, "pairs", 0)) == {"scenario-2"}
    page.locator('form[data-rows="each_exception"] select').nth(1).select_option("GA")
    assert set(cells(page, "each_exception", 2)) == {"GA"}


def test_the_heat_map_follows_the_choices(open_page, large):
    page = open_page(large)
    before = cells(page, "heat", 2)
    page.select_option("#heat-measure", "gap")
    page.select_option("#heat-group", label="scenario-2")
    assert page.inner_text("#heat-of") == "gap, scenario-2"
    assert cells(page, "heat", 2) != before


def test_curves_follow_choices_pointer_and_keys(open_page, leaderboard):
    page = open_page(leaderboard)
    now = page.locator("#curves-now")
    last = now.inner_text()
    assert last.startswith("Within 6,000 evaluations: ")
    page.focus("#curves svg")
    page.keyboard.press("Home")
    assert now.inner_text().startswith("Within 1 evaluation: ")
    page.select_option("#curves-x", "seconds")
    assert "CPU second" in now.inner_text()
    page.click('[data-show="0"]')
    assert page.locator("#curves path").count() == 0 and now.inner_text() == "Nothing to show."
    page.click('[data-show="999"]')
    assert page.locator("#curves path").count() == page.locator("#curves-methods input").count()


def test_without_scripts_the_tables_are_there(open_page, leaderboard):
    page = open_page(leaderboard, java_script_enabled=False)
    assert page.locator("#speed noscript").is_visible()
    assert page.locator("#board tbody tr:visible").count() in (2, 14)
    assert not page.locator("#board-group").is_visible()
