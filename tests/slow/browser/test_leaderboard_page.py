"""The page of a comparison of methods in a browser: sorting and figures, by mouse and keyboard, anywhere."""

import pytest
from tests.unit.studies.methods.leaderboards import Compared

pytestmark = [pytest.mark.ci, pytest.mark.slow]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    paths = {}
    for name in ("large", "small"):
        folder = tmp_path_factory.mktemp(name)
        Compared.of_shape(folder, name).page(added=["ga"])
        paths[name] = folder / "report.html"
    return paths


@pytest.fixture(params=["large", "small"])
def leaderboard(request, pages):
    return pages[request.param]


@pytest.fixture
def large(pages):
    return pages["large"]


def cells(page, column):
    rows = f"rows => rows.filter((row) => !row.dataset.last).map((row) => row.cells[{column}].textContent)"
    return page.eval_on_selector_all("#ranking tbody tr", rows)


def numbers(page, column):
    return [float(text.split()[0]) for text in cells(page, column)]


def test_it_serves_everybody(open_page, serves_everybody, leaderboard):
    serves_everybody(open_page(leaderboard))


def test_a_heading_sorts_the_best_first_and_then_the_worst(open_page, large):
    page = open_page(large)
    for column, orders in ((1, ("descending", "ascending")), (3, ("ascending", "descending"))):
        for order in orders:
            page.focus(f'#ranking th[data-column="{column}"] button')
            page.keyboard.press("Enter")
            assert page.get_attribute(f'#ranking th[data-column="{column}"]', "aria-sort") == order
            values = numbers(page, column)
            assert values == sorted(values, reverse=order == "descending")
    # References stand last in either order.
    assert page.inner_text("#ranking tbody tr:last-child th").startswith(("all candidates", "truth"))


def test_without_scripts_all_is_there(open_page, leaderboard):
    page = open_page(leaderboard, java_script_enabled=False)
    assert page.locator("#ranking tbody tr:visible").count() in (4, 16)
    assert page.locator("#answer li:visible").count() >= 1 and page.locator(".plot svg").count() == 1
