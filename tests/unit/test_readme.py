"""The commands and examples of the README work."""

import re
import runpy
import shlex
from pathlib import Path

import pytest
import yaml
from tests.command import python

import narxbench

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_library_example_runs(tmp_path, monkeypatch, capsys):
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    u, y = narxbench.load_system("S1").simulate(1000, snr_db=40)
    narxbench.write_signals(tmp_path / "measurements.csv", u, y)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    assert "y(k-1)*u(k-1)" in capsys.readouterr().out


def count_words(page):
    """Return how many words without numbers a page has, without figures, styles and scripts."""
    main = page.read_text(encoding="utf-8").partition("<main")[2].partition("</main>")[0]
    text = re.sub("<[^>]*>", " ", re.sub(r"<(svg|script|style)\b.*?</\1>", " ", main, flags=re.DOTALL))
    return sum(bool(re.search("[A-Za-z]", word)) and not re.search("[0-9]", word) for word in text.split())


@pytest.mark.slow
def test_the_command_on_the_buck_converter_makes_what_the_repository_keeps(tmp_path):
    (command,) = re.findall(r"^python3 -m uv run narxbench (identify .*)$", README, re.MULTILINE)
    (tmp_path / "data").symlink_to(ROOT / "data")
    printed = python("-m", "narxbench", *shlex.split(command), folder=tmp_path).out
    assert len(printed.splitlines()) <= 25
    assert count_words(tmp_path / "report/report.html") <= 400
    created, kept = tmp_path / "report/identification.json", ROOT / "data/reference/buck/identification.json"
    assert created.read_bytes() == kept.read_bytes(), f"run narxbench {command}, and copy report/identification.json"


def test_quotes_are_those_of_the_reference_results():
    quoted = runpy.run_path(str(ROOT / "docs/quote_answer.py"))["quoted"]
    assert quoted(README) == README, "run python docs/quote_answer.py"
    assert "**Use " in README and "Kept: medians over 10 data seeds" in README
    # Kept results name their study, date and commit.
    assert len(re.findall(r"Study \*\w+\*, \d{4}-\d\d-\d\d, commit `[0-9a-f]{8}`\.", README)) == 2
    assert not re.search(r"\bp [<0-9]|least possible", README)


def test_the_readme_is_short():
    shown = re.sub(r"<!--.*?-->", "", README)
    assert len(re.findall(r"\S*\w\S*", shown)) <= 700


def test_the_paper_is_cited_as_in_the_citation_file():
    paper, source = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    assert f"https://doi.org/{paper['doi']}" in README and paper["url"] in README
    assert paper["url"].split("/")[-1] in paper["doi"] and source["url"] == f"https://doi.org/{source['doi']}"
