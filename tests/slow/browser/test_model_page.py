"""The page of a measured model in a browser: it opens from disk, and serves keyboards, screen readers and paper."""

import re
from pathlib import Path

import pytest

import narxbench

pytestmark = [pytest.mark.ci, pytest.mark.slow]
DATA = Path(__file__).parents[3] / "data/buck"


@pytest.fixture(scope="session")
def model_page(tmp_path_factory):
    identification = narxbench.identify(
        DATA / "buck_id.csv", input="input", output="y", test=DATA / "buck_valid.csv", effort=4
    )
    return narxbench.write_report(identification, tmp_path_factory.mktemp("model"))


def test_it_serves_everybody(open_page, serves_everybody, model_page):
    serves_everybody(open_page(model_page))


def test_it_zooms_and_prints_on_few_pages(open_page, model_page, tmp_path):
    page = open_page(model_page)
    page.get_by_role("button", name="zoom in").click()
    assert "of 999" in page.locator("main").inner_text()
    page.pdf(path=tmp_path / "page.pdf")
    assert len(re.findall(rb"/Type\s*/Page\b", (tmp_path / "page.pdf").read_bytes())) < 5
    page.emulate_media(media="print")
    assert page.locator("#fit-static").is_visible() and not page.locator("#chart").is_visible()
    assert not page.get_by_text("Licences of third parties").is_visible()
    assert "paper" not in page.content().lower()


def test_a_look_at_the_data_serves_everybody(open_page, serves_everybody, tmp_path):
    data = narxbench.look(DATA / "buck_id.csv", "y", input="input", test=DATA / "buck_valid.csv")
    narxbench.write_look(data, tmp_path / "data.html")
    serves_everybody(open_page(tmp_path / "data.html"))
