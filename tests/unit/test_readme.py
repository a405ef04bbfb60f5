"""What the README says is what the repository holds."""

import csv
import re
from pathlib import Path

import pytest

import narxbench
from narxbench.data import write_signals
from narxbench.tables import rounded

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


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_links_lead_somewhere(path):
    assert (ROOT / path).exists()


def test_library_example_runs(tmp_path, monkeypatch, capsys):
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    write_signals(tmp_path / "measurements.csv", *narxbench.load_system("S1").simulate(1000, snr_db=40))
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    assert "y(k-1)*u(k-1)" in capsys.readouterr().out
