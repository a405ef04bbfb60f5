"""The page of a comparison of methods in a browser: views, sorting and figures, by mouse and keyboard, anywhere."""

import pytest
from tests.unit.studies.methods import leaderboards

from narxbench._studies.methods.views import Comparison

pytestmark = [pytest.mark.ci, pytest.mark.slow]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder, paths = tmp_path_factory.mktemp("leaderboard"), {}
    for name in ("large", "small"):
        paths[name] = folder / f"{name}.html"
        comparison = leaderboards.comparison(leaderboards.shape(name))
        paths[name].write_text(leaderboards.render(comparison), encoding="utf-8")
    return paths


@pytest.fixture(params=["large", "small"])
def leaderboard(request, pages):
    return pages[request.param]


@pytest.fixture
def large(pages):
    return pages["large"]


def cells(page, table, column):
    rows = f"rows => rows.filter((row) => !row.dataset.last).map((row) => row.cells[{column}].firstChild.textContent)"
    return page.eval_on_selector_all(f"#{table} tbody tr", rows)


def test_it_serves_everybody(open_page, serves_everybody, leaderboard):
    serves_everybody(open_page(leaderboard))


def choose(page, **view):
    for name, value in view.items():
        page.select_option(f"#view-{name}", value)


def texts_of(page, parts):
    """Return the text of each part of a page."""
    return {part: page.inner_text(part) for part in parts}


def test_a_view_changes_text_tables_and_figures_and_the_address_brings_it_back(open_page, large):
    page = open_page(large)
    parts = ("#answer", "#identify-board tbody", "#search-board tbody", '[data-slot="ecdf"]', "#situations", "#heat")
    before = texts_of(page, parts)
    choose(page, set="development", data="scenario-3", want="lowest-j")
    after = texts_of(page, parts)
    for part in parts:
        assert after[part] != before[part], part
    assert page.locator("#answer li:visible").count() == 1 and "not confirmatory" in after["#answer"]
    assert page.inner_text("#search-caption") == "Searches: scenario-3, development data sets"
    assert page.evaluate("document.querySelector('#contests > :first-child').id") == "search"
    address = page.evaluate("location.hash")
    assert address == "#want=lowest-j&data=scenario-3&set=development"
    again = open_page(large, fragment=address)
    assert texts_of(again, parts) == after
    choose(again, want="terms", data="all", set="held-out")
    assert texts_of(again, parts) == before


@pytest.fixture
def with_facets(tmp_path):
    """Return a page with a scenario of less data and one of other noise."""
    frames = leaderboards.shape("large")
    changes = {"scenario-2": {"noise": "equation"}, "scenario-3": {"noise": "equation", "oversampling": 5}}
    scenarios = {}
    for name in sorted(frames["scores"]["scenario"].unique()):
        scenarios[name] = {"description": f"what {name} is", **changes.get(name, {})}
    settings = leaderboards.settings(frames, scenarios=scenarios)
    shown = Comparison(frames, settings, leaderboards.cost(leaderboards.methods_of(frames)))
    path = tmp_path / "facets.html"
    path.write_text(leaderboards.render(shown), encoding="utf-8")
    return path


def test_a_reader_chooses_what_the_data_are_like(open_page, with_facets):
    page = open_page(with_facets)
    assert page.locator("select[data-facet]").count() == 2
    page.select_option("#facet-noise", "white, inside the equation")
    assert page.input_value("#view-data") == "scenario-2" and "data=scenario-2" in page.evaluate("location.hash")
    assert page.is_hidden("#nearest")
    page.select_option("#facet-sampling", "5 times as fast")
    assert page.input_value("#view-data") == "scenario-3" and page.is_hidden("#nearest")
    # No data set has both: the nearest one is shown, and said to be another.
    page.select_option("#facet-noise", "white, on the measured output")
    assert page.input_value("#view-data") == "scenario-1"
    assert page.inner_text("#nearest").startswith("No data sets have all of this together. Shown is scenario-1")
    page.select_option("#facet-noise", "")
    assert page.input_value("#view-data") == "all" and page.is_hidden("#nearest")


def test_a_heading_of_the_map_opens_its_situation(open_page, large):
    page = open_page(large)
    page.click('.breaks thead a:has-text("scenario-4")')
    page.wait_for_function("document.querySelector('#view-data').value === 'scenario-4'")
    assert page.inner_text("#identify-caption").endswith("scenario-4, held-out data sets")
    assert page.locator('#differences [data-slot="differences"] table:visible').count() == 1


def test_the_aim_orders_the_methods(open_page, large):
    page = open_page(large)
    for want, column in (("terms", 1), ("new-data", 9)):
        choose(page, want=want)
        shown = [float(text.split()[0]) for text in cells(page, "identify-board", column)]
        assert shown == sorted(shown, reverse=want == "terms")


def numbers(page, column):
    return list(map(float, cells(page, "identify-board", column)))


def test_a_heading_sorts_the_best_first_and_then_the_worst(open_page, large):
    page = open_page(large)
    for column, orders in ((2, ("descending", "ascending")), (3, ("ascending", "descending"))):
        for order in orders:
            page.focus(f'#identify-board th[data-column="{column}"] button')
            page.keyboard.press("Enter")
            assert page.get_attribute(f'#identify-board th[data-column="{column}"]', "aria-sort") == order
            values = numbers(page, column)
            assert values == sorted(values, reverse=order == "descending")
    assert page.evaluate("location.hash").endswith("&sort=identify-board,3,descending")
    again = open_page(large, fragment=page.evaluate("location.hash"))
    assert numbers(again, 3) == values
    # A missing value stands last in either order, and references after it.
    for _ in range(2):
        page.click('#identify-board th[data-column="5"] button')
        assert cells(page, "identify-board", 5)[-1] == "–"
        assert page.inner_text("#identify-board tbody tr:last-child th").startswith(("all candidates", "truth"))


def test_the_heat_table_follows_its_measure_and_the_view(open_page, large):
    page = open_page(large)
    before = page.inner_text("#heat")
    page.select_option("#heat-measure", "gap")
    choose(page, data="scenario-2")
    assert page.inner_text("#heat-caption") == "Methods by system: gap, scenario-2, held-out data sets"
    assert page.inner_text("#heat") != before
    choose(page, set="development")
    assert page.locator("#heat thead th").count() == 1 + 15


def test_without_scripts_the_first_view_is_there(open_page, leaderboard):
    page = open_page(leaderboard, java_script_enabled=False)
    assert page.locator("#identify-board tbody tr:visible").count() in (4, 16)
    assert page.locator("#answer li:visible").count() >= 1 and page.locator(".plot svg").count() > 2
    assert not page.locator("#view").is_visible()
