"""What the README says is what the repository holds."""

import csv
import json
import re
from pathlib import Path

import pytest

import narxbench
from narxbench.analysis.agreement import holm
from narxbench.model.dataset import write_signals
from narxbench.report.tables import rounded

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
NAMES = {"2D-UPSO": "upso2d", "GA": "ga"}


def kept_values():
    with (ROOT / "docs/results/published_and_reproduced.csv").open(encoding="utf-8") as stream:
        return [row for row in csv.DictReader(stream) if row["criterion"] == "bic" and row["metric"] in ("r", "nu_max")]


def test_results_table_is_that_of_the_kept_run():
    lines = re.findall(
        r"^\| (S\d) \| (2D-UPSO|GA) \| (\d+) \| (\S+) \| (\S+) \| (\S+) \| (\S+) \|$", README, re.MULTILINE
    )
    kept = {(r["system"], r["algorithm"], r["snr_db"], r["metric"]): r for r in kept_values()}
    assert len(lines) == 15
    for system, name, snr, r, r_published, nu_max, nu_max_published in lines:
        cell = (system, NAMES[name], snr)
        for metric, here, published in (("r", r, r_published), ("nu_max", nu_max, nu_max_published)):
            row = kept[(*cell, metric)]
            assert float(here) == float(rounded(float(row["reproduced"])))
            assert float(published) == float(row["published"])


def test_kept_results_are_those_of_a_full_run():
    with (ROOT / "docs/results/cells.csv").open(encoding="utf-8") as stream:
        cells = list(csv.DictReader(stream))
    assert len(cells) == 4 * 3 * 6
    assert {(row["runs"], row["evaluations"]) for row in cells} == {("40", "6000")}


def test_distances_are_those_of_the_kept_study():
    summary = json.loads((ROOT / "docs/fidelity/summary.json").read_text(encoding="utf-8"))
    lines = re.findall(r"^\| `(\S+)` \| (\S+ \[.*?\]) \| (\S+ \[.*?\]) \|", README, re.MULTILINE)
    assert len(lines) == 3

    def told(entry):
        return "{median:.3f} [{low:.3f}, {high:.3f}]".format(**entry["distance"])

    roles = {"cited-source": "base", "closest-consistent": "default", "closest": "closest"}
    for reading, upso, both in lines:
        found = [
            next(entry for role, entry in entries.items() if roles[reading] in role.split(", "))
            for entries in (summary["distances"]["upso2d"], summary["together"])
        ]
        assert [upso, both] == [told(entry) for entry in found]
    assert f"{summary['runs']:,} runs in all" in README
    whole = next(entry for entry in summary["whole"] if entry["upso2d"] == "base")
    low_to_high = "{median:g} [{low:g}, {high:g}]".format(**whole["distinguishable"])
    assert f"{low_to_high} with `cited-source`" in README


def test_clear_differences_are_those_of_the_kept_run():
    with (ROOT / "docs/results/published_and_reproduced.csv").open(encoding="utf-8") as stream:
        p_values = [float(row["p_value"]) for row in csv.DictReader(stream)]
    assert len(p_values) == 810
    assert f"({holm(p_values).count(False)} of the 810 values" in README


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_links_lead_somewhere(path):
    assert (ROOT / path).exists()


def test_library_example_runs(tmp_path, monkeypatch, capsys):
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    write_signals(tmp_path / "measurements.csv", *narxbench.load_system("S1").simulate(1000, snr_db=40))
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    assert "y(k-1)*u(k-1)" in capsys.readouterr().out
