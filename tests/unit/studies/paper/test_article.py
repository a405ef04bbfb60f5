"""The text of the replication report: it says what the frames say, and what to install where LaTeX is missing."""

import re
from itertools import product

import pandas as pd
import pytest
from tests.unit.studies.paper.factory import make_material, make_settings, summary
from tests.unit.studies.paper.summaries import REFERENCE

from narxbench._io.errors import NarxbenchError
from narxbench._studies.paper import article
from narxbench._study import latex

LITERATURE = (REFERENCE / "references.bib").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def material():
    places = product(("S2", "S4"), (("upso2d", "bic"), ("upso2d", "aic-256"), ("ga", "bic")))
    settings = make_settings(["S2", "S4"])
    settings["data"] |= {"samples": 2000, "validation_samples": 600}
    return make_material([summary(name, 30.0, *search) for name, search in places], settings)


@pytest.fixture(scope="module")
def kept(material):
    """Return conditions of two data sets, the second of which has the counts of the first."""
    first = material.frames["conditions"]
    return pd.concat([first, first.assign(data_seed=2)], ignore_index=True)


@pytest.fixture(scope="module")
def text(material, kept):
    return article.article(material, kept, "1.2.3")


def test_every_place_of_the_text_is_filled(text):
    assert not re.search(r"<<|>>|<%|%>|\bnan\b|\bNone\b|\{\{", text)
    assert text.count(r"\begin{table") == text.count(r"\end{table") and "narxbench 1.2.3" in text


def test_tables_have_the_paper_s_numbers(text):
    labels = re.findall(r"\\label\{tab:([\w-]+)\}", text)
    assert labels[:7] == [f"table-{number}" for number in range(1, 8)]
    referred = set(re.findall(r"\\ref\{tab:([\w-]+)\}", text))
    assert referred <= set(labels)


def test_every_citation_has_an_entry(material, text):
    entries = set(re.findall(r"^@\w+\{(\w+),", article.references(material, LITERATURE), re.MULTILINE))
    assert set(re.findall(r"\\cite\{(\w+)\}", text)) == entries


def test_sums_of_published_counts_are_written_out(text):
    assert "2 + 25 + 0 + 13 at 50 dB, 3 + 19 + 4 + 14 at 40 dB and 8 + 15 + 2 + 15 at 30 dB" in text
    assert "The kept results have no run with such a constraint." in text


def test_tables_beyond_the_yardstick_are_open(material, text):
    tables = material.frames["by_table"]
    of_closest = tables[tables["role"] == "closest"]
    assert (of_closest["deviance"] > 1.5 * of_closest["own_deviance"]).all()
    for system in of_closest["system"]:
        assert f"{system}, 2D-UPSO under BIC: 30 against 15" in text


@pytest.mark.parametrize(("program", "missing"), [("pdflatex", "pdflatex"), ("bibtex", "bibtex")])
def test_without_latex_one_line_says_what_to_install(monkeypatch, program, missing):
    monkeypatch.setattr(latex.shutil, "which", lambda name: None if name == program else f"/usr/bin/{name}")
    with pytest.raises(NarxbenchError) as raised:
        latex.check_latex()
    packages = "texlive-latex-recommended texlive-latex-extra texlive-publishers texlive-fonts-recommended"
    assert str(raised.value) == f"LaTeX: found no {missing}; on Debian: apt-get install {packages}"


def test_a_file_of_latex_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(latex, "PROGRAMS", ())
    monkeypatch.setattr(
        latex.subprocess, "run", lambda command, **_: type("Done", (), {"returncode": int("cls" in command[1])})
    )
    with pytest.raises(NarxbenchError, match=r"^LaTeX: found no IEEEtran\.cls; on Debian"):
        latex.check_latex()
