"""Damaged files of every step of every kind of study; tests/workflow/test_readers.py tries a few."""

import pytest
from tests.workflow.jobs import jobs_of
from tests.workflow.test_measured import MINE
from tests.workflow.test_readers import try_damages

pytestmark = pytest.mark.slow

BOARD = """\
page: methods
interpretation: as-described
systems: [S1, piroddi2003]
snr_db: [40]
seeds: 2
seeds_per_job: 2
evaluations: 300
data: {seeds: 1}
methods:
  upso2d: {criteria: [bic]}
  ga: {criteria: [bic]}
  frols: {algorithm: frols, criteria: [bic]}
scenarios:
  base: {description: as it is}
  noisy: {description: much noise, snr_db: [20]}
figures: {snr_db: 40}
statistics: {bootstrap_samples: 50}
"""
STUDIES = {
    "tiny": {
        "search": 200,
        "summarise": 500,
        "analyse": 500,
        "tables": 400,
        "figures": 100,
        "interpretations": 60,
        "page": 200,
        "manifest": 100,
    },
    "board": {"score": 200, "rank": 400, "ranking_tables": 300, "ranking_figures": 100, "leaderboard": 200},
    "mine": {
        "brief_search": 150,
        "rank_configurations": 150,
        "thorough_search": 150,
        "choose_structure": 200,
        "resample": 150,
        "conclude": 60,
        "run_info": 50,
    },
}


@pytest.mark.parametrize("study", STUDIES)
def test_damaged_files(finished, tmp_path, monkeypatch, study):
    project = finished.copied(tmp_path / "project")
    if study != "tiny":
        project = project.with_study(study, {"board": BOARD, "mine": MINE}[study])
        project.snakemake()
    found = jobs_of(project)
    monkeypatch.chdir(project.root)
    for script, examples in STUDIES[study].items():
        assert found[script].outcome() == ""
        try_damages(found[script], examples)
