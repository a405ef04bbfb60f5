"""The files by which others cite and check the project: CITATION.cff and codecheck.yml."""

from pathlib import Path

import yaml
from tests.lookups import names_of

ROOT = Path(__file__).parents[2]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_codecheck_names_the_paper_and_files_with_comments():
    """As https://codecheck.org.uk/spec/config/1.0/ asks of authors."""
    assert "\n---\n" in (ROOT / "codecheck.yml").read_text(encoding="utf-8")
    check = yaml.safe_load((ROOT / "codecheck.yml").read_text(encoding="utf-8"))
    assert check.keys() == {"version", "manifest", "paper"}
    for entry in check["manifest"]:
        assert entry.keys() == {"file", "comment"} and entry["file"].startswith("reports/") and entry["comment"]
    paper = CITATION["references"][0]
    expected = {"title": paper["title"], "reference": f"https://doi.org/{paper['doi']}"}
    assert check["paper"] | expected == check["paper"]
    names = [f"{person['given-names']} {person['family-names']}" for person in paper["authors"]]
    assert names_of(check["paper"]["authors"]) == names


def test_the_citation_in_bibtex_is_that_of_the_citation_file():
    paper, software = (ROOT / "data/reference/citation.bib").read_text(encoding="utf-8").split("\n\n")
    for entry, source in ((software, CITATION), (paper, CITATION["references"][0])):
        year = str(source.get("year") or source["date-released"])[:4]
        assert f"title = {{{{{source['title']}}}}}" in entry and f"year = {{{year}}}" in entry
        for person in source["authors"]:
            assert person.get("family-names", person.get("name")) in entry
    assert f"version = {{{CITATION['version']}}}" in software
    assert CITATION["references"][0]["notes"].removeprefix("arXiv:") in paper
