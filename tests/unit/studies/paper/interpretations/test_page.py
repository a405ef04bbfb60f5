"""The page of a study of interpretations shows its document, with figures and tables."""

import re

import pytest
from tests.unit.studies.paper.summaries import REFERENCE, ROOT

from narxbench._studies.paper.page import interpretations_only


@pytest.fixture(scope="module")
def page():
    document_figures = sorted((REFERENCE / "paper" / "interpretations").glob("*.svg"))
    document = REFERENCE / "paper" / "interpretations.md"
    files = {"about": ROOT / "CITATION.cff", "document": document, "document_figures": document_figures}
    return interpretations_only(files, {"study": "mine"})


def test_the_document_is_one_block_of_the_run(page):
    # The licences of fonts in its figures come from elsewhere.
    assert re.findall(r'data-source="(\w+)"', page) == ["run", "published"]


def test_figures_are_drawn_within_the_page_and_tables_linked(page):
    text = page
    document = text[text.index('<div id="document"') :]
    assert len(re.findall("<figure", document)) == 2
    links = set(re.findall(r'href="(interpretations/[^"]*)"', document))
    assert links == {f"interpretations/{name}.csv" for name in ("nearness", "values", "role_verdicts", "effects")}


def test_every_link_within_the_page_has_its_heading(page):
    text = page
    targets = set(re.findall(r'href="#(text-[^"]*)"', text))
    assert len(targets) > 3
    assert targets <= set(re.findall(r'id="([^"]*)"', text))
