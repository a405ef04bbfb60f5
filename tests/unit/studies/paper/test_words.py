"""Words are explained by the glossary, once in a text, as they are set there."""

from tests.unit.studies.paper.summaries import ROOT

from narxbench._report.formats import format_math
from narxbench._studies.paper.page import HOVER, WORDS
from narxbench._studies.paper.words import explained, glossary

MEANINGS = {"J": "the fitness", "r": "a share", "ν": "a frequency", "ν_max": 'the "largest"', "data set": "samples"}


def test_the_glossary_has_every_word_that_the_page_explains():
    meanings = glossary((ROOT / "docs/glossary.md").read_text(encoding="utf-8"))
    assert {*WORDS, *HOVER} <= meanings.keys()
    assert "Word" not in meanings and not set("`*[") & set("".join(meanings.values()))


def test_the_first_place_of_a_word_has_its_meaning():
    html = explained(format_math("ν and ν_max of ν, J over r: data sets, Data set, data set", "html"), MEANINGS)
    assert html == (
        '<abbr title="a frequency">ν</abbr> and <abbr title="the &quot;largest&quot;">ν<sub>max</sub></abbr> of ν, '
        '<abbr title="the fitness"><i>J</i></abbr> over <abbr title="a share"><i>r</i></abbr>: data sets, '
        '<abbr title="samples">Data set</abbr>, data set'
    )
