"""The replication report: LaTeX makes it of a small study, whole and the same each time."""

import re
import shutil
import subprocess

import pytest
from tests.workflow.project import unlike

from narxbench._study.latex import missing_parts

pytestmark = [pytest.mark.ci, pytest.mark.slow]
ARTICLE = "reports/tiny/article.pdf"


def test_the_article_is_built_from_the_results(copy, finished):
    missing = missing_parts() or [name for name in ("pdftotext", "pdfinfo") if not shutil.which(name)]
    if missing:
        pytest.skip(f"article: found no {', '.join(missing)}")
    copy.snakemake("article")
    article = (copy / ARTICLE).read_bytes()
    pages = int(re.search(r"^Pages: +(\d+)$", subprocess.check_output(["pdfinfo", copy / ARTICLE], text=True), re.M)[1])
    assert 4 <= pages <= 8
    text = subprocess.check_output(["pdftotext", copy / ARTICLE, "-"], text=True, encoding="utf-8")
    shown = " ".join(text.split())
    # References to tables, figures and literature are resolved, and no value is missing.
    assert not re.search(r"\?\?|\[\?\]|\bnan\b|\bNone\b|<<|<%", shown)
    # Small capitals come out of the PDF with spaces inside of words, and hyphens where a line ends.
    letters = re.sub(r"[\s-]", "", shown).lower()
    for words in ("Effect of the fitness function", "Comparative evaluation on", "References", "arXiv:1812.08369"):
        assert words.lower().replace(" ", "") in letters, shown[-2000:]
    # The other results stay as they were, and the same results make the same bytes.
    results = {name: content for name, content in copy.files().items() if "/article." not in name}
    assert unlike(results, finished.files()) == []
    copy.snakemake("article", "--forcerun", "article")
    assert (copy / ARTICLE).read_bytes() == article
