"""The page of the provenance: counts, versions, digests and settings."""

import ruamel.yaml
from tests.unit.studies.paper.factory import make_frames, make_material, make_settings, paper_summaries, summary

from narxbench._studies.paper.page import pages
from narxbench._studies.paper.provenance_page import run_counts


def test_runs_are_counted_by_method():
    metrics = make_frames(paper_summaries(("S1",)))["metrics"]
    assert run_counts(metrics) == {
        "all methods": (18, 720, 4_320_000),
        "2D-UPSO": (15, 600, 3_600_000),
        "GA": (3, 120, 720_000),
    }


def test_digests_and_settings_stand_on_the_page():
    settings = make_settings(["S1"], seeds=5) | {"scenarios": None}
    html = pages(make_material([summary(), summary(method="ga")], settings))["provenance.html"]
    assert html.count(f"<code>{'50'.ljust(64, '0')}</code>") == 1
    assert f'<tr><th scope="row">upso2d</th><td class="left"><code>{"a" * 64}</code></td></tr>' in html
    shown = ruamel.yaml.YAML(typ="safe").load(html.split('<pre tabindex="0">')[-1].split("</pre>")[0])
    assert shown["seeds"] == 5 and shown["methods"]["upso2d"] == settings["methods"]["upso2d"]
    assert "scenarios" not in shown
    # Files of the study stand in its folder, in which this page is.
    assert 'href="run_info.md"' in html and 'href="manifest.csv"' in html
