"""Snakemake's own report: it is made without a network, and holds every table and figure with its caption."""

import json
import re
from html import unescape

import pytest
from project import QUICK, ROOT

# A reported file by the caption of workflow/report, as the quick configuration makes them.
SYSTEMS = ("S1", "S2", "S3", "S4")
CATEGORIES = {
    "Tables": {
        "test_systems": ["tables/test_systems.csv"],
        "search_settings": ["tables/search_settings.csv"],
        "fitness": [f"tables/fitness_{system}.csv" for system in SYSTEMS],
        "comparison": [f"tables/comparison_{system}.csv" for system in SYSTEMS],
        "cells": ["tables/cells.csv"],
        "recovery": ["tables/recovery.csv"],
        "search_comparison": ["tables/search_comparison.csv"],
    },
    "Figures": {
        "convergence": ["figures/convergence.svg"],
        "term_frequency": ["figures/term_frequency.svg"],
    },
    "Agreement": {
        "agreement": ["tables/agreement.csv"],
        "claims": ["tables/claims.md"],
        "report": ["report.html"],
    },
}
RULE = re.compile(r"^rule (\w+):\n((?:(?: .*)?\n)+)", re.MULTILINE)


@pytest.fixture
def report(complete, monkeypatch):
    """The text of the report, made where every connection is refused."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
        monkeypatch.setenv(name.upper(), "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    printed = complete.snakemake(*QUICK, "--report", "x.html", cores=1)
    assert "Report created" in printed
    assert "Traceback" not in printed
    return (complete / "x.html").read_text(encoding="utf-8")


def test_report_holds_every_table_and_figure_with_its_caption(report):
    assert not re.search(r"<(script|link|img)\b[^>]*\b(src|href)=[\"']?(https?:)?//", report)
    results, categories = (value_of(name, report) for name in ("results", "categories"))
    found = {name: sorted(file for files in parts.values() for file in files) for name, parts in categories.items()}
    assert found == {
        name: sorted(f"reports/{file}" for files in captions.values() for file in files)
        for name, captions in CATEGORIES.items()
    }
    for captions in CATEGORIES.values():
        for caption, files in captions.items():
            text = (ROOT / "workflow" / "report" / f"{caption}.rst").read_text(encoding="utf-8")
            words = r".+?".join(map(re.escape, re.split(r"\{\{.*?\}\}", plain(text))))
            for file in files:
                shown = plain(re.sub("<[^>]*>", "", results[f"reports/{file}"]["caption"]))
                assert re.fullmatch(words, shown), file
                system = re.search(r"_(S\d)\.csv", file)
                assert not system or system[1] in shown, file


def test_every_caption_is_used():
    captions = {path.stem for path in (ROOT / "workflow" / "report").iterdir()}
    assert captions == {caption for category in CATEGORIES.values() for caption in category}


def test_every_rule_reports_one_form_of_its_tables_and_figures():
    rules = {
        name: re.search(r"^    output:\n((?: {8}.*\n)+)", body, re.MULTILINE)[1]
        for path in (ROOT / "workflow" / "rules").glob("*.smk")
        for name, body in RULE.findall(path.read_text(encoding="utf-8"))
        if "output:" in body
    }
    made = {name: set(re.findall(r"reports/(?:tables|figures)/[^\"]+", output)) for name, output in rules.items()}
    reported = {
        name: set(re.findall(r"report\(\s*\"(reports/(?:tables|figures)/[^\"]+)\"", output))
        for name, output in rules.items()
    }
    makers = {name for name, files in made.items() if files}
    assert len(makers) >= 9
    assert [name for name in makers if not reported[name]] == []
    for name in makers:
        # Not two forms of the same table or figure.
        assert len({file.rsplit(".", 1)[0] for file in reported[name]}) == len(reported[name]), name


def value_of(name, report):
    """Return the JSON that the page assigns to a variable."""
    start = re.search(rf'<script id="{name}">\s*var {name} = ', report).end()
    return json.JSONDecoder().raw_decode(report, start)[0]


def plain(text):
    return " ".join(unescape(text).split())
